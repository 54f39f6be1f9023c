//! The functions of the object that are about a runtime's files: each is one call of the core. Next: `opened.rs`, what stays open.

use coldframe_core::{Error, FileSystemOptions, FileType, Files, MountOptions};
use napi::Env;
use napi::bindgen_prelude::{Object, Result};

use crate::arguments::{Arguments, wrong};
use crate::embedded::{Body, Embedded};
use crate::values::{self, Raw};

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] = &[
    ("readFile", read),
    ("writeFile", write),
    ("listFiles", list),
    ("statFile", stat),
    ("makeDirectory", mkdir),
    ("removeFile", remove),
    ("renameFile", rename),
];

/// Mounts as one list of text: guest path, host path, `ro`, `rw` or `overlay`, and so on. Of a file system of the SDK's the second is its number,
/// and the third `app-ro` or `app-rw`.
pub fn mounts(arguments: &Arguments<'_>, at: usize) -> Result<(Vec<MountOptions>, Vec<FileSystemOptions>)> {
    let flat: Vec<String> = arguments.optional(at, "mounts", "a list of strings")?.unwrap_or_default();
    let (mut mounts, mut systems) = (Vec::new(), Vec::new());
    for three in flat.chunks(3) {
        let [guest_path, host_path, access] = three else { break };
        let (guest_path, read_only) = (guest_path.clone(), !access.ends_with("rw"));
        match host_path.parse().ok().filter(|_| access.starts_with("app")) {
            Some(number) => systems.push(FileSystemOptions { guest_path, number, read_only }),
            None => {
                mounts.push(MountOptions { guest_path, host_path: host_path.into(), read_only, overlay: access == "overlay" })
            }
        }
    }
    Ok((mounts, systems))
}

pub struct Call<'a> {
    pub env: &'a Env,
    pub files: Files,
    pub path: String,
}

/// The runtime's number and a path are what every call begins with.
pub fn begin<'a>(this: &Embedded, env: &'a Env, arguments: &Arguments<'_>) -> Result<Call<'a>> {
    let runtime = this.runtime(env, arguments.number(0, "runtime")?)?;
    Ok(Call { env, files: runtime.files(), path: arguments.required(1, "path", "a string")? })
}

impl Call<'_> {
    pub fn end<T>(&self, result: std::result::Result<T, Error>) -> Result<T> {
        result.map_err(|error| values::thrown(self.env, &error, None))
    }
}

fn read(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let offset = arguments.whole(2, "offset", u64::MAX)?;
    let length = usize::try_from(arguments.whole(3, "length", u32::MAX.into())?).unwrap_or(0);
    let (data, size) = call.end(call.files.read(&call.path, offset, length))?;
    let mut reply = Object::new(env)?;
    reply.set("data", values::bytes(env, data)?)?;
    reply.set("size", size as f64)?;
    Raw::new(env, reply).map(Some)
}

fn write(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let data: &[u8] = arguments.required(2, "data", "a Uint8Array")?;
    let append = flag(env, &arguments, 3, "append")?;
    let mode = arguments.optional_whole(4, "mode")?.map(permissions);
    let written = match mode {
        Some(mode) => call.files.write_with_mode(&call.path, data, append, mode),
        None => call.files.write(&call.path, data, append),
    };
    call.end(written).map(|()| None)
}

fn list(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let entries = call.end(call.files.list(&call.path))?;
    let types: Vec<&str> = entries.iter().map(|entry| file_type(entry.kind)).collect();
    let names: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
    let mut reply = Object::new(env)?;
    reply.set("names", names)?;
    reply.set("types", types)?;
    Raw::new(env, reply).map(Some)
}

fn stat(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let follow = flag(env, &arguments, 2, "follow")?;
    let stat = call.end(call.files.stat(&call.path, follow))?;
    let us = |nanoseconds: i64| nanoseconds.div_euclid(1_000) as f64;
    let mut reply = Object::new(env)?;
    reply.set("type", file_type(stat.kind))?;
    let numbers = [
        ("mode", f64::from(stat.mode)),
        ("size", stat.size as f64),
        ("ino", stat.ino as f64),
        ("nlink", stat.links as f64),
        ("uid", f64::from(stat.uid)),
        ("gid", f64::from(stat.gid)),
        ("atimeUs", us(stat.atime_ns)),
        ("mtimeUs", us(stat.mtime_ns)),
        ("ctimeUs", us(stat.ctime_ns)),
        ("birthtimeUs", us(stat.birthtime_ns)),
    ];
    for (name, number) in numbers {
        reply.set(name, number)?;
    }
    Raw::new(env, reply).map(Some)
}

fn mkdir(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let recursive = flag(env, &arguments, 2, "recursive")?;
    call.end(call.files.mkdir(&call.path, recursive)).map(|()| None)
}

fn remove(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let recursive = flag(env, &arguments, 2, "recursive")?;
    call.end(call.files.remove(&call.path, recursive)).map(|()| None)
}

fn rename(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let to: String = arguments.required(2, "to", "a string")?;
    call.end(call.files.rename(&call.path, &to)).map(|()| None)
}

pub fn flag(env: &Env, arguments: &Arguments<'_>, at: usize, name: &str) -> Result<bool> {
    let flag: Option<bool> = arguments.optional(at, name, "true or false")?;
    flag.ok_or_else(|| wrong(env, name, "true or false", "undefined"))
}

/// What fits into 32 bits; the core takes the bits that are permissions.
pub fn permissions(mode: u64) -> u32 {
    u32::try_from(mode).unwrap_or(u32::MAX)
}

fn file_type(kind: FileType) -> &'static str {
    match kind {
        FileType::File => "file",
        FileType::Directory => "directory",
        FileType::Link => "symlink",
        FileType::Other => "other",
    }
}
