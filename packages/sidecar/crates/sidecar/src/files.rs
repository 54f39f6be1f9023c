//! Requests about a runtime's files: each is one call of the core, answered at once.

use coldframe_core as core;
use coldframe_core::{FileType as CoreType, MountOptions, Runtime};
use coldframe_protocol::Request;
use coldframe_protocol::messages::{Empty, FileData, FileNames, FileStatus, FileType, Kind, Mount};

use crate::wire;

/// Bytes that one reply may carry: what fits into a frame together with the rest of it.
const MOST: u64 = (32 << 20) - 1_024;

/// A mount of a message as the core takes it.
pub fn mount(mount: Mount<'_>) -> MountOptions {
    MountOptions {
        guest_path: mount.guest_path.to_owned(),
        host_path: mount.host_path.into(),
        read_only: mount.read_only,
        overlay: mount.overlay == Some(true),
    }
}

/// Whose files a request is about; none for a request that is not about files.
pub fn runtime(request: &Request<'_>) -> Option<u32> {
    Some(match request {
        Request::FileRead(read) => read.runtime,
        Request::FileWrite(write) => write.runtime,
        Request::FileList(list) => list.runtime,
        Request::FileStat(stat) => stat.runtime,
        Request::FileMkdir(tree) | Request::FileRemove(tree) => tree.runtime,
        Request::FileRename(rename) => rename.runtime,
        _ => return None,
    })
}

/// Carries a request out; the frame that answers it.
pub fn answer(id: u32, request: &Request<'_>, runtime: &Runtime) -> Vec<u8> {
    carry_out(id, request, &runtime.files()).unwrap_or_else(|error| wire::error(id, &wire::failure(&error, None)))
}

fn carry_out(id: u32, request: &Request<'_>, files: &core::Files) -> Result<Vec<u8>, core::Error> {
    let kind = Kind::Reply;
    match request {
        Request::FileRead(read) => {
            let most = usize::try_from(read.length.min(MOST)).unwrap_or(0);
            let (data, size) = files.read(read.path, read.offset.unwrap_or(0), most)?;
            return Ok(wire::frame(kind, id, &FileData { data: &data, size }, 64 + data.len()));
        }
        Request::FileList(list) => {
            let entries = files.list(list.path)?;
            let names = entries.iter().map(|entry| entry.name.as_str()).collect();
            let types = entries.iter().map(|entry| file_type(entry.kind)).collect();
            return Ok(wire::frame(kind, id, &FileNames { names, types }, 64 + 32 * entries.len()));
        }
        Request::FileStat(stat) => {
            let status = status(&files.stat(stat.path, stat.follow.unwrap_or(true))?);
            return Ok(wire::frame(kind, id, &status, 256));
        }
        Request::FileWrite(write) => files.write(write.path, write.data, write.append.unwrap_or(false))?,
        Request::FileMkdir(tree) => files.mkdir(tree.path, tree.recursive.unwrap_or(false))?,
        Request::FileRemove(tree) => files.remove(tree.path, tree.recursive.unwrap_or(false))?,
        Request::FileRename(rename) => files.rename(rename.from, rename.to)?,
        _ => {}
    }
    Ok(wire::frame(kind, id, &Empty {}, 64))
}

fn file_type(kind: CoreType) -> FileType {
    match kind {
        CoreType::File => FileType::File,
        CoreType::Directory => FileType::Directory,
        CoreType::Link => FileType::Symlink,
        CoreType::Other => FileType::Other,
    }
}

fn status(stat: &core::FileStat) -> FileStatus {
    let us = |nanoseconds: i64| nanoseconds.div_euclid(1_000);
    FileStatus {
        r#type: file_type(stat.kind),
        mode: stat.mode,
        size: stat.size,
        ino: stat.ino,
        nlink: stat.links,
        uid: stat.uid,
        gid: stat.gid,
        atime_us: us(stat.atime_ns),
        mtime_us: us(stat.mtime_ns),
        ctime_us: us(stat.ctime_ns),
        birthtime_us: us(stat.birthtime_ns),
    }
}
