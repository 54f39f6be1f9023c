//! The functions of the object that are about what stays open in a runtime: files for streams, archives, watches; and those that set what
//! `stat` shows. Each is one call of the core; only the next changes of a watch come later, as the end of a request.

use std::sync::Arc;

use coldframe_core::{ArchiveUse, ChangeKind, Changes, OpenOptions};
use napi::Env;
use napi::bindgen_prelude::{Object, Result};

use crate::arguments::{Arguments, wrong};
use crate::embedded::{Body, Embedded};
use crate::files::{begin, flag, permissions};
use crate::outlet::Event;
use crate::values::{self, Raw};

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] = &[
    ("openFile", open),
    ("closeFile", close),
    ("pullFile", pull),
    ("pushFile", push),
    ("watchFile", watch),
    ("nextChanges", next_changes),
    ("setFile", set),
    ("linkFile", link),
    ("readLink", readlink),
];

/// `runtime, path, for, mode`.
fn open(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let purpose: String = arguments.required(2, "for", "a string")?;
    let mode = arguments.optional_whole(3, "mode")?.map(permissions);
    let options = |truncate| OpenOptions { write: true, truncate, append: !truncate, mode };
    let opened = match purpose.as_str() {
        "read" => call.files.open(&call.path, OpenOptions::default()),
        "write" => call.files.open(&call.path, options(true)),
        "append" => call.files.open(&call.path, options(false)),
        "export" => call.files.open_archive(&call.path, ArchiveUse::Export).map(|handle| (handle, 0)),
        "import" => call.files.open_archive(&call.path, ArchiveUse::Import).map(|handle| (handle, 0)),
        other => return Err(wrong(env, "for", "read, write, append, export or import", other)),
    };
    let (number, size) = call.end(opened)?;
    handle(env, number, size, false).map(Some)
}

fn handle(env: &Env, number: u32, size: u64, directory: bool) -> Result<Raw> {
    let mut reply = Object::new(env)?;
    reply.set("handle", number)?;
    reply.set("size", size as f64)?;
    reply.set("directory", directory)?;
    Raw::new(env, reply)
}

/// `runtime, handle, discard`.
fn close(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let files = this.runtime(env, arguments.number(0, "runtime")?)?.files();
    let closed = files.close(arguments.number(1, "handle")?, flag(env, &arguments, 2, "discard")?);
    closed.map_err(|error| values::thrown(env, &error, None)).map(|()| None)
}

/// `runtime, handle, offset, length`.
fn pull(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let files = this.runtime(env, arguments.number(0, "runtime")?)?.files();
    let (number, offset) = (arguments.number(1, "handle")?, arguments.whole(2, "offset", u64::MAX)?);
    let length = usize::try_from(arguments.whole(3, "length", u32::MAX.into())?).unwrap_or(0);
    let (data, size) = files.read_open(number, offset, length).map_err(|error| values::thrown(env, &error, None))?;
    let mut reply = Object::new(env)?;
    reply.set("data", values::bytes(env, data)?)?;
    reply.set("size", size as f64)?;
    Raw::new(env, reply).map(Some)
}

/// `runtime, handle, offset, data`.
fn push(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let files = this.runtime(env, arguments.number(0, "runtime")?)?.files();
    let (number, offset) = (arguments.number(1, "handle")?, arguments.whole(2, "offset", u64::MAX)?);
    let data: &[u8] = arguments.required(3, "data", "a Uint8Array")?;
    files.write_open(number, offset, data).map_err(|error| values::thrown(env, &error, None)).map(|()| None)
}

/// `runtime, path, recursive`.
fn watch(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let (number, directory) = call.end(call.files.watch(&call.path, flag(env, &arguments, 2, "recursive")?))?;
    handle(env, number, 0, directory).map(Some)
}

/// `id, runtime, handle`: a request.
fn next_changes(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let files = this.runtime(env, arguments.number(1, "runtime")?)?.files();
    let number = arguments.number(2, "handle")?;
    this.wait_without_program(env, id);
    let outlet = Arc::clone(&this.outlet);
    let asked = files.next_changes(number, move |changes| outlet.tell(Event::Changes(id, changes)));
    asked.map_err(|error| {
        this.waits_no_more(env, id);
        values::thrown(env, &error, None)
    })?;
    Ok(None)
}

/// What a request for changes ends with.
pub fn changes(env: &Env, changes: Option<Changes>) -> Result<Raw> {
    let ended = changes.is_none();
    let Changes { changes, overflow } = changes.unwrap_or_default();
    let type_of = |kind| if kind == ChangeKind::Name { "rename" } else { "change" };
    let types: Vec<&str> = changes.iter().map(|change| type_of(change.kind)).collect();
    let names: Vec<String> = changes.into_iter().map(|change| change.name).collect();
    let mut reply = Object::new(env)?;
    reply.set("names", names)?;
    reply.set("types", types)?;
    reply.set("overflow", overflow)?;
    reply.set("ended", ended)?;
    Raw::new(env, reply)
}

/// `runtime, path, follow, mode, atimeUs, mtimeUs`.
fn set(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let follow = flag(env, &arguments, 2, "follow")?;
    if let Some(mode) = arguments.optional_whole(3, "mode")? {
        call.end(call.files.chmod(&call.path, permissions(mode), follow))?;
    }
    let time = |at, name| -> Result<Option<i64>> {
        let us: Option<f64> = arguments.optional(at, name, "a number of microseconds")?;
        // The conversion saturates.
        Ok(us.map(|us| (us as i64).saturating_mul(1_000)))
    };
    let (atime, mtime) = (time(4, "atimeUs")?, time(5, "mtimeUs")?);
    if atime.is_some() || mtime.is_some() {
        call.end(call.files.utimes(&call.path, atime, mtime, follow))?;
    }
    Ok(None)
}

/// `runtime, path, target, hard`.
fn link(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let target: String = arguments.required(2, "target", "a string")?;
    let made = match flag(env, &arguments, 3, "hard")? {
        true => call.files.link(&target, &call.path),
        false => call.files.symlink(&target, &call.path),
    };
    call.end(made).map(|()| None)
}

/// `runtime, path`.
fn readlink(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let call = begin(this, env, &arguments)?;
    let target = call.end(call.files.readlink(&call.path))?;
    Raw::new(env, target).map(Some)
}
