//! Sockets with names in the filesystem: binding makes a node there, connecting finds it. A name that begins with NUL lies outside it.
//! The node's number is the address: a renamed socket is still found, a removed one never is, even when another has its name.

use super::address::Address;
use crate::kernel::fs::{Body, Last, Side, WRITE, Wanted};
use crate::kernel::permissions::operations::files;
use crate::kernel::{Errno, Process};

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

/// Makes the name. `EADDRINUSE` when there is anything of that name; in a mounted folder nobody can.
pub(super) fn make(process: &Process, path: &[u8]) -> Result<Address, Errno> {
    if let Some(address) = check(path)? {
        return Ok(address);
    }
    let view = process.files.view(&process.kernel.files);
    let mut tree = process.kernel.files.lock();
    let Side::Memory(spot) = view.walk(&tree, path, Last::Name, Wanted::only(files::WRITE))? else { return Err(Errno::EACCES) };
    if spot.node.is_some() {
        return Err(Errno::EADDRINUSE);
    }
    let ino = tree.create(view.user, &spot, Body::Socket, 0o777 & !view.umask)?;
    Ok(Address::File(ino, path.to_vec()))
}

/// Finds the name. `ECONNREFUSED` when it is no socket's, `EACCES` in a mounted folder.
pub(super) fn find(process: &Process, path: &[u8]) -> Result<Address, Errno> {
    if let Some(address) = check(path)? {
        return Ok(address);
    }
    let view = process.files.view(&process.kernel.files);
    let tree = process.kernel.files.lock();
    let Side::Memory(spot) = view.walk(&tree, path, Last::Follow, Wanted::only(files::WRITE))? else { return Err(Errno::EACCES) };
    let ino = spot.existing()?;
    if !matches!(tree.node(ino)?.body, Body::Socket) {
        return Err(Errno::ECONNREFUSED);
    }
    tree.check(view.user, ino, WRITE)?;
    Ok(Address::File(ino, path.to_vec()))
}
