//! Unix sockets with names in the filesystem. A bind creates an inode, and a connect finds the
//! inode. A name that begins with NUL is not in the filesystem.
//!
//! The inode's number is the address. A connect therefore reaches a renamed socket. A removed
//! socket cannot be reached, even if another socket now has the removed socket's name. Next:
//! `address.rs`.

use super::address::Address;
use crate::Process;
use crate::fs::{Body, FilesLock, FinalLink, Ino, Location, PathEnd, RequestedOperations, User, WRITE};
use crate::permissions::operations::files;
use coldframe_error::Errno;

/// The length of the longest name in bytes (Linux's `sun_path`).
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

/// Creates the inode of a Unix socket and returns the socket's address. An abstract name needs no
/// inode. Fails with `EADDRINUSE` if the path exists, and with `EACCES` in a mounted directory.
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
    let ino = tree.create(&view.user, &spot, Body::Socket, 0o777 & !view.umask)?;
    Ok(Address::File(ino, path.to_vec()))
}

/// Returns the address of the Unix socket at `path` for the embedder. The embedder uses absolute
/// paths, and permissions do not apply. Fails like [`find`].
pub(super) fn find_for_embedder(files: &FilesLock, path: &str) -> Result<Address, Errno> {
    if let Some(address) = check(path.as_bytes())? {
        return Ok(address);
    }
    let tree = files.lock();
    let PathEnd::Memory(spot) = tree.walk(&User::EMBEDDER, None, path.as_bytes(), FinalLink::Follow)? else {
        return Err(Errno::EACCES);
    };
    let ino = spot.existing()?;
    match tree.node(ino)?.body {
        Body::Socket => Ok(Address::File(ino, path.as_bytes().to_vec())),
        _ => Err(Errno::ECONNREFUSED),
    }
}

/// Returns the present path of a bound socket. Returns the path of the bind call if the inode has
/// no path now.
pub(super) fn path_of(files: &FilesLock, ino: Ino, bound: &[u8]) -> Vec<u8> {
    files.lock().path_of(&Location::Memory(ino)).unwrap_or_else(|_| bound.to_vec())
}

/// Returns the address of the Unix socket at `path`. Fails with `ECONNREFUSED` if the file is no
/// socket, and with `EACCES` in a mounted directory.
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
    tree.check(&view.user, ino, WRITE)?;
    Ok(Address::File(ino, path.to_vec()))
}
