//! Requests about a runtime's files: each is one call of the core, answered at once. Next: `opened.rs`, what stays open.

use coldframe_core as core;
use coldframe_core::{FileSystemOptions, FileType as CoreType, MountOptions, Runtime};
use coldframe_protocol::Request;
use coldframe_protocol::messages::{Empty, FileData, FileNames, FileStatus, FileType, Kind, Mount};

use crate::opened;
use crate::wire;

/// Bytes that one reply may carry: what fits into a frame together with the rest of it.
pub const MOST: u64 = (32 << 20) - 1_024;

/// Mounts of a message as the core takes them: folders, and file systems of the SDK's.
pub fn mounts(all: Vec<Mount<'_>>) -> (Vec<MountOptions>, Vec<FileSystemOptions>) {
    let (mut mounts, mut systems) = (Vec::new(), Vec::new());
    for Mount { guest_path, host_path, read_only, overlay, file_system } in all {
        let guest_path = guest_path.to_owned();
        match file_system {
            Some(number) => systems.push(FileSystemOptions { guest_path, number, read_only }),
            None => {
                mounts.push(MountOptions { guest_path, host_path: host_path.into(), read_only, overlay: overlay == Some(true) })
            }
        }
    }
    (mounts, systems)
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
        request => return opened::runtime(request),
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
        Request::FileWrite(write) => {
            let append = write.append.unwrap_or(false);
            match write.mode {
                Some(mode) => files.write_with_mode(write.path, write.data, append, mode)?,
                None => files.write(write.path, write.data, append)?,
            }
        }
        Request::FileMkdir(tree) => files.mkdir(tree.path, tree.recursive.unwrap_or(false))?,
        Request::FileRemove(tree) => files.remove(tree.path, tree.recursive.unwrap_or(false))?,
        Request::FileRename(rename) => files.rename(rename.from, rename.to)?,
        request => return opened::carry_out(id, request, files),
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
