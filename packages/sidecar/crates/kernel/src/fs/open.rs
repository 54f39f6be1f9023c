//! Opens paths: finds or creates the file and returns an object for reading and writing. The checks
//! run in Linux's order. Next: `../descriptors.rs` and `io.rs`.

use super::content::Content;
use super::guard::RequestedOperations;
use super::lock::Guard;
use super::mounts::{HostFile, OpenFlags};
use super::node::{Body, Device, Ino, Type};
use super::overlay::{self, Raise, Raised};
use super::stat::Stat;
use super::tree::{FileSystem, READ, WRITE};
use super::user::User;
use super::view::View;
use super::walk::{FinalLink, Location, MemoryEnd, MountEnd, PathEnd};
use crate::ids::Fd;
use crate::permissions::operations::files;
use crate::steps::MAX_TRANSFER;
use crate::usage::{Charge, Footprint, Resource, fitted};
use coldframe_error::Errno;

const CREATE: u32 = 0o100;
const EXCLUSIVE: u32 = 0o200;
const TRUNCATE: u32 = 0o1000;
pub(super) const APPEND: u32 = 0o2000;
const DIRECTORY: u32 = 0o200_000;
const NO_FOLLOW: u32 = 0o400_000;
/// `O_PATH` and `O_TMPFILE`, which Node does not use. An open with these flags fails with
/// `EOPNOTSUPP`.
const UNSUPPORTED: u32 = 0o10_000_000 | 0o20_000_000;
/// The number of bytes that are copied at a time between a mount and memory.
pub(super) const PIECE: usize = 256 << 10;
/// The kernel memory of an open file of `/proc` in bytes, besides its text.
pub(super) const TEXT_COST: u64 = 256;

/// An opened file, directory or device.
pub(crate) enum Opened {
    Memory(Ino),
    Directory(Location),
    Device(Device, Ino),
    /// A stream or socket that the process has open, as a path in `/proc/self/fd` names it.
    Descriptor(Fd),
    Host(HostFile),
}

/// Opens the file at `path`. Creates the file if `flags` has `O_CREAT`. The caller must clear the
/// bits of the umask in `mode`.
pub(super) fn find(tree: &mut Guard<'_>, view: &View<'_>, path: &[u8], flags: u32, mode: u32) -> Result<Opened, Errno> {
    let creates = flags & CREATE != 0;
    if flags & 3 == 3 || (creates && flags & DIRECTORY != 0) {
        return Err(Errno::EINVAL);
    }
    if flags & UNSUPPORTED != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let exclusive = flags & EXCLUSIVE != 0;
    let last = match (creates, flags & NO_FOLLOW != 0) {
        (true, stays) => {
            if stays || exclusive {
                FinalLink::CreateNew
            } else {
                FinalLink::Create
            }
        }
        (false, true) => FinalLink::Stay,
        (false, false) => FinalLink::Follow,
    };
    match view.walk(tree, path, last, wanted(flags))? {
        PathEnd::Memory(end) => in_memory(tree, &view.user, &end, flags, mode),
        PathEnd::Mount(end) => {
            if let Some(stat) = &end.stat {
                allowed(&view.user, stat, flags)?;
                if stat.kind == Type::Directory {
                    return Ok(Opened::Directory(Location::Mount(end.mount, end.path)));
                }
            }
            let changes = flags & 3 != 0 || flags & TRUNCATE != 0 || end.stat.is_none();
            if changes && tree.is_overlay(end.mount) {
                if end.stat.is_none() && !creates {
                    return Err(Errno::ENOENT);
                }
                if end.stat.is_some_and(|stat| stat.kind != Type::File) {
                    return Err(Errno::EACCES);
                }
                // The bytes of a file that the call truncates need not be read. The check above
                // allowed the truncation. If the tree was unlocked during the raise, the path may
                // lead to another file, so the permission is checked again.
                let again = match overlay::raise(tree, &end, Raise::Itself, flags & TRUNCATE == 0)? {
                    Raised::AtOnce => view.walk_again(tree, path, last),
                    Raised::Unlocked => view.walk(tree, path, last, wanted(flags)),
                };
                let PathEnd::Memory(end) = again? else { return Err(Errno::EBUSY) };
                return in_memory(tree, &view.user, &end, flags, mode);
            }
            if let Some(fd) = tree.mount(end.mount)?.proc().map_or(Ok(None), |proc| proc.own_stream(&end.path))? {
                return Ok(Opened::Descriptor(fd));
            }
            host(tree, &view.user, &end, flags, mode).map(Opened::Host)
        }
    }
}

/// Returns the operations that an open call with these flags needs.
fn wanted(flags: u32) -> RequestedOperations {
    let mut found = match flags & 3 {
        0 => files::READ,
        1 => files::WRITE,
        _ => files::READ | files::WRITE,
    };
    if flags & TRUNCATE != 0 {
        found |= files::WRITE | files::TRUNCATE;
    }
    let directory = if found == files::READ { files::READDIR } else { found };
    let missing = if flags & CREATE != 0 { found & !files::TRUNCATE | files::WRITE } else { found };
    RequestedOperations { found, directory, missing }
}

fn in_memory(tree: &mut FileSystem, user: &User, end: &MemoryEnd, flags: u32, mode: u32) -> Result<Opened, Errno> {
    let Some(ino) = end.node else {
        if flags & CREATE == 0 {
            return Err(Errno::ENOENT);
        }
        return tree.create(user, end, Body::File(Content::new()), mode).map(Opened::Memory);
    };
    let node = tree.node(ino)?;
    allowed(user, &Stat::of(ino, node), flags)?;
    match node.body {
        Body::File(_) => {
            if flags & TRUNCATE != 0 {
                tree.truncate(ino, 0)?;
            }
            Ok(Opened::Memory(ino))
        }
        Body::Directory(_) => Ok(Opened::Directory(Location::Memory(ino))),
        Body::Device(device) => Ok(Opened::Device(device, ino)),
        Body::Link(_) | Body::Mount(_) => Err(Errno::ELOOP),
        Body::Socket => Err(Errno::ENXIO),
    }
}

/// Fails if `user` must not open an existing file with these flags.
fn allowed(user: &User, stat: &Stat, flags: u32) -> Result<(), Errno> {
    let is_directory = stat.kind == Type::Directory;
    let mut wanted = if flags & 3 == 1 { 0 } else { READ };
    if flags & CREATE != 0 && flags & EXCLUSIVE != 0 {
        return Err(Errno::EEXIST);
    }
    if flags & CREATE != 0 && is_directory {
        return Err(Errno::EISDIR);
    }
    if flags & DIRECTORY != 0 && !is_directory {
        return Err(Errno::ENOTDIR);
    }
    if stat.kind == Type::Link {
        return Err(Errno::ELOOP);
    }
    if flags & 3 != 0 || flags & TRUNCATE != 0 {
        if is_directory {
            return Err(Errno::EISDIR);
        }
        wanted |= WRITE;
    }
    if stat.allows(user, wanted) { Ok(()) } else { Err(Errno::EACCES) }
}

/// Opens a file of a mount. Sockets, pipes and devices of the host machine fail with `EACCES`.
pub(super) fn host(tree: &FileSystem, user: &User, end: &MountEnd, flags: u32, mode: u32) -> Result<HostFile, Errno> {
    if let Some(stat) = &end.stat {
        allowed(user, stat, flags)?;
        match stat.kind {
            Type::File => {}
            Type::Directory => return Err(Errno::EISDIR),
            _ => return Err(Errno::EACCES),
        }
    } else if flags & CREATE == 0 {
        return Err(Errno::ENOENT);
    }
    let mount = tree.mount(end.mount)?;
    if let Some(proc) = mount.proc() {
        let text = fitted(proc.text(tree, &end.path)?);
        let charge = Charge::of(&tree.usage, Resource::Kernel, TEXT_COST + text.footprint()).ok_or(Errno::ENOMEM)?;
        let file = HostFile::of_text(mount.clone(), end.mount, &end.path, text)?;
        return Ok(file.with_charge(charge));
    }
    if mount.is_library() {
        if flags & 3 != 0 || flags & TRUNCATE != 0 || end.stat.is_none() {
            return Err(Errno::EROFS);
        }
        return mount.open_library(end.mount, &end.path);
    }
    let charge = Charge::of(&tree.usage, Resource::HostFiles, 1).ok_or(Errno::ENFILE)?;
    let how = OpenFlags {
        read: flags & 3 != 1,
        write: flags & 3 != 0,
        append: flags & APPEND != 0,
        truncate: flags & TRUNCATE != 0,
        create: end.stat.is_none().then_some(mode),
    };
    mount.open(end.mount, &end.path, how).map(|file| file.with_charge(charge))
}

impl Opened {
    /// Returns the mode bits of the opened file. Fails with `EISDIR` for a directory of a mount.
    pub(super) fn mode(&self, tree: &FileSystem) -> Result<u32, Errno> {
        match self {
            Self::Memory(ino) | Self::Device(_, ino) | Self::Directory(Location::Memory(ino)) => Ok(tree.node(*ino)?.meta.mode),
            Self::Host(file) => Ok(file.stat()?.mode),
            Self::Descriptor(_) => Err(Errno::ENOENT),
            Self::Directory(Location::Mount(..)) => Err(Errno::EISDIR),
        }
    }

    /// Counts an open of the inode, so that the inode stays after the removal of its last name.
    pub(super) fn hold(&self, tree: &mut FileSystem) {
        if let Some(ino) = self.node() {
            tree.hold(ino);
        }
    }

    /// Removes the open that [`Self::hold`] counted.
    pub(super) fn release(&self, tree: &mut FileSystem) {
        if let Some(ino) = self.node() {
            tree.release(ino);
        }
    }

    fn node(&self) -> Option<Ino> {
        match self {
            Self::Memory(ino) | Self::Device(_, ino) | Self::Directory(Location::Memory(ino)) => Some(*ino),
            Self::Host(_) | Self::Descriptor(_) | Self::Directory(Location::Mount(..)) => None,
        }
    }

    pub(super) fn chmod(&self, tree: &mut FileSystem, user: &User, mode: u32) -> Result<(), Errno> {
        match self {
            Self::Memory(ino) => tree.chmod(user, *ino, mode),
            Self::Host(file) => file.chmod(mode),
            Self::Device(..) | Self::Descriptor(_) | Self::Directory(_) => Ok(()),
        }
    }
}

/// Copies bytes from `at` between a mount and memory, or within a mount. Copies at most
/// [`MAX_TRANSFER`] bytes. Returns the offset at which to continue, if bytes are left. The
/// filesystem is unlocked while the call waits for the host machine's disk. The copy fails with
/// `EINTR` if the program must end.
pub(super) fn copy(tree: &mut Guard<'_>, source: &Opened, target: &Opened, at: u64) -> Result<Option<u64>, Errno> {
    let mut buffer = vec![0; PIECE];
    let (mut at, most) = (at, at.saturating_add(MAX_TRANSFER as u64));
    loop {
        if tree.must_stop() {
            return Err(Errno::EINTR);
        }
        let count = source.read(tree, at, &mut buffer)?;
        if count == 0 {
            break;
        }
        let mut written = 0;
        while written < count {
            match target.write(tree, at + written as u64, &buffer[written..count])? {
                0 => return Err(Errno::EIO),
                more => written += more,
            }
        }
        at += count as u64;
        if at >= most {
            return Ok(Some(at));
        }
    }
    match target {
        Opened::Memory(ino) => tree.truncate(*ino, at),
        Opened::Host(file) => file.truncate(at),
        Opened::Device(..) | Opened::Descriptor(_) | Opened::Directory(_) => Ok(()),
    }?;
    Ok(None)
}
