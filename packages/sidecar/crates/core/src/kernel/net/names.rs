//! Sockets with names in the filesystem: binding makes a node there, connecting finds it. A name that begins with NUL lies outside it.
//! The node's number is the address: a renamed socket is still found, a removed one never is, even when another has its name.

use super::address::Address;
use crate::kernel::fs::{Body, Last, User, WRITE};
use crate::kernel::{Errno, Process};

/// Longest name (Linux's `sun_path`).
const MAX_NAME: usize = 107;

const USER: User = User::Guest;

fn check(path: &[u8]) -> Result<Option<Address>, Errno> {
    if path.is_empty() || path.len() > MAX_NAME {
        return Err(Errno::EINVAL);
    }
    if path[0] == 0 {
        return Ok(Some(Address::Abstract(path.to_vec())));
    }
    if path.contains(&0) { Err(Errno::EINVAL) } else { Ok(None) }
}

/// Makes the name. `EADDRINUSE` when there is anything of that name.
pub(super) fn make(process: &Process, path: &[u8]) -> Result<Address, Errno> {
    if let Some(address) = check(path)? {
        return Ok(address);
    }
    let mut tree = process.kernel.files.lock();
    let end = tree.walk(USER, process.files.cwd(), path, Last::Name)?;
    if end.node.is_some() {
        return Err(Errno::EADDRINUSE);
    }
    let ino = tree.create(USER, &end, Body::Socket, 0o777 & !process.files.umask())?;
    Ok(Address::File(ino, path.to_vec()))
}

/// Finds the name. `ECONNREFUSED` when it is no socket's.
pub(super) fn find(process: &Process, path: &[u8]) -> Result<Address, Errno> {
    if let Some(address) = check(path)? {
        return Ok(address);
    }
    let tree = process.kernel.files.lock();
    let ino = tree.walk(USER, process.files.cwd(), path, Last::Follow)?.existing()?;
    if !matches!(tree.node(ino)?.body, Body::Socket) {
        return Err(Errno::ECONNREFUSED);
    }
    tree.check(USER, ino, WRITE)?;
    Ok(Address::File(ino, path.to_vec()))
}
