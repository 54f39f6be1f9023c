//! Unix sockets with names in the filesystem: a bind creates an inode there, a connect finds the
//! inode. A name that begins with NUL is not in the filesystem.
//!
//! The inode's number is the address. A renamed socket is therefore still found, and a removed
//! socket is never found, even if another socket gets its name. Next: `address.rs`.

use super::address::Address;
use crate::Process;
use crate::fs::{Body, FileSystem, FinalLink, Ino, Location, PathEnd, RequestedOperations, User, WRITE};
use crate::permissions::operations::files;
use coldframe_error::Errno;
use parking_lot::Mutex;

/// Longest name (Linux's `sun_path`).
const MAX_NAME: usize = 107;

fn check(path: &[u8]) -> Result<Option<Address>, Errno> {
    if path.is_empty() || path.len() > MAX_NAME {
        return Err(Errno::EINVAL);
    }
    if path[0] == 0 {
        return Ok(Some(Address::Abstract(path.to_vec())));
    }
    if path.contains(&0) { Err(Errno::EINVAL) } else { Ok(None) }
}

/// Creates the name. `EADDRINUSE` if the name exists, `EACCES` in a mounted directory.
pub(super) fn make(process: &Process, path: &[u8]) -> Result<Address, Errno> {
    if let Some(address) = check(path)? {
        return Ok(address);
    }
    let view = process.files.view(&process.kernel.files);
    let mut tree = process.kernel.files.lock();
    let PathEnd::Memory(spot) = view.walk(&tree, path, FinalLink::Name, RequestedOperations::only(files::WRITE))? else {
        return Err(Errno::EACCES);
    };
    if spot.node.is_some() {
        return Err(Errno::EADDRINUSE);
    }
    let ino = tree.create(view.user, &spot, Body::Socket, 0o777 & !view.umask)?;
    Ok(Address::File(ino, path.to_vec()))
}

/// Finds the name for the embedder, which uses absolute paths and is not subject to permissions.
pub(super) fn find_for_embedder(files: &Mutex<FileSystem>, path: &str) -> Result<Address, Errno> {
    if let Some(address) = check(path.as_bytes())? {
        return Ok(address);
    }
    let tree = files.lock();
    let PathEnd::Memory(spot) = tree.walk(User::Host, None, path.as_bytes(), FinalLink::Follow)? else {
        return Err(Errno::EACCES);
    };
    let ino = spot.existing()?;
    match tree.node(ino)?.body {
        Body::Socket => Ok(Address::File(ino, path.as_bytes().to_vec())),
        _ => Err(Errno::ECONNREFUSED),
    }
}

/// Returns the present path of a bound socket, or the path of the bind call if the inode has no
/// path now.
pub(super) fn path_of(files: &Mutex<FileSystem>, ino: Ino, bound: &[u8]) -> Vec<u8> {
    files.lock().path_of(&Location::Memory(ino)).unwrap_or_else(|_| bound.to_vec())
}

/// Finds the name. `ECONNREFUSED` if the file is no socket, `EACCES` in a mounted directory.
pub(super) fn find(process: &Process, path: &[u8]) -> Result<Address, Errno> {
    if let Some(address) = check(path)? {
        return Ok(address);
    }
    let view = process.files.view(&process.kernel.files);
    let tree = process.kernel.files.lock();
    let PathEnd::Memory(spot) = view.walk(&tree, path, FinalLink::Follow, RequestedOperations::only(files::WRITE))? else {
        return Err(Errno::EACCES);
    };
    let ino = spot.existing()?;
    if !matches!(tree.node(ino)?.body, Body::Socket) {
        return Err(Errno::ECONNREFUSED);
    }
    tree.check(view.user, ino, WRITE)?;
    Ok(Address::File(ino, path.to_vec()))
}
