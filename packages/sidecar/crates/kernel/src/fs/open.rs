//! Opening: what a path stands for becomes something that can be read and written. Next: `descriptors.rs` beside this folder, `io.rs`.

use super::content::Content;
use super::guard::Wanted;
use super::mounts::{HostFile, How};
use super::node::{Body, Device, Ino, Type};
use super::overlay::{self, Raise, Raised};
use super::stat::Stat;
use super::tree::{FileSystem, READ, User, WRITE};
use super::view::{Guard, View};
use super::walk::{HostSpot, Last, Place, Side, Spot};
use crate::permissions::operations::files;
use crate::usage::{Charge, Resource};
use coldframe_error::Errno;

const CREATE: u32 = 0o100;
const EXCLUSIVE: u32 = 0o200;
const TRUNCATE: u32 = 0o1000;
pub(super) const APPEND: u32 = 0o2000;
const DIRECTORY: u32 = 0o200_000;
const NO_FOLLOW: u32 = 0o400_000;
/// O_PATH and O_TMPFILE, which Node has no use for.
const UNSUPPORTED: u32 = 0o10_000_000 | 0o20_000_000;
/// Bytes that are copied at a time between a mount and memory.
pub(super) const PIECE: usize = 256 << 10;
/// Bytes that one call copies: a kill, and everybody else's files of the runtime, wait meanwhile.
const MOST_COPIED: u64 = 8 << 20;

/// What was opened.
pub(crate) enum Opened {
    Memory(Ino),
    Directory(Place),
    Device(Device, Ino),
    Host(HostFile),
}

/// Opens what `path` leads to; makes it, if the flags ask for it. `mode` has the umask taken off.
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
                Last::CreateNew
            } else {
                Last::Create
            }
        }
        (false, true) => Last::Stay,
        (false, false) => Last::Follow,
    };
    match view.walk(tree, path, last, wanted(flags))? {
        Side::Memory(spot) => in_memory(tree, view.user, &spot, flags, mode),
        Side::Host(spot) => {
            if let Some(stat) = &spot.stat {
                allowed(view.user, stat, flags)?;
                if stat.kind == Type::Directory {
                    return Ok(Opened::Directory(Place::There(spot.mount, spot.path)));
                }
            }
            let changes = flags & 3 != 0 || flags & TRUNCATE != 0 || spot.stat.is_none();
            if changes && tree.is_overlay(spot.mount) {
                if spot.stat.is_none() && !creates {
                    return Err(Errno::ENOENT);
                }
                if spot.stat.is_some_and(|stat| stat.kind != Type::File) {
                    return Err(Errno::EACCES);
                }
                // What is cut at once need not be read; that it may be was looked at above.
                // While bytes were copied the path may have come to lead elsewhere: whether that may be opened is asked anew.
                let again = match overlay::raise(tree, &spot, Raise::Itself, flags & TRUNCATE == 0)? {
                    Raised::AtOnce => view.walk_again(tree, path, last),
                    Raised::Unlocked => view.walk(tree, path, last, wanted(flags)),
                };
                let Side::Memory(spot) = again? else { return Err(Errno::EBUSY) };
                return in_memory(tree, view.user, &spot, flags, mode);
            }
            if let Some(fd) = tree.mount(spot.mount)?.proc().map_or(Ok(None), |proc| proc.own_stream(&spot.path))? {
                return Ok(Opened::Device(Device::Descriptor(fd), 0));
            }
            host(tree, view.user, &spot, flags, mode).map(Opened::Host)
        }
    }
}

/// What opening with these flags does.
fn wanted(flags: u32) -> Wanted {
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
    Wanted { found, directory, missing }
}

fn in_memory(tree: &mut FileSystem, user: User, spot: &Spot, flags: u32, mode: u32) -> Result<Opened, Errno> {
    let Some(ino) = spot.node else {
        if flags & CREATE == 0 {
            return Err(Errno::ENOENT);
        }
        return tree.create(user, spot, Body::File(Content::new()), mode).map(Opened::Memory);
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
        Body::Directory(_) => Ok(Opened::Directory(Place::Here(ino))),
        // Nobody has a terminal.
        Body::Device(Device::Tty) => Err(Errno::ENXIO),
        Body::Device(device) => Ok(Opened::Device(device, ino)),
        Body::Link(_) | Body::Mount(_) => Err(Errno::ELOOP),
        Body::Socket => Err(Errno::ENXIO),
    }
}

/// Whether something that is there may be opened with these flags.
fn allowed(user: User, stat: &Stat, flags: u32) -> Result<(), Errno> {
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

/// Opens a file of the host. Sockets, pipes and devices of the host are `EACCES`.
pub(super) fn host(tree: &FileSystem, user: User, spot: &HostSpot, flags: u32, mode: u32) -> Result<HostFile, Errno> {
    if let Some(stat) = &spot.stat {
        allowed(user, stat, flags)?;
        match stat.kind {
            Type::File => {}
            Type::Directory => return Err(Errno::EISDIR),
            _ => return Err(Errno::EACCES),
        }
    } else if flags & CREATE == 0 {
        return Err(Errno::ENOENT);
    }
    let mount = tree.mount(spot.mount)?;
    if let Some(proc) = mount.proc() {
        let text = proc.text(tree, &spot.path)?;
        let charge = Charge::of(&tree.usage, Resource::Kernel, text.len() as u64).ok_or(Errno::ENOMEM)?;
        let file = HostFile::of_text(mount.clone(), spot.mount, &spot.path, text)?;
        return Ok(file.paid(charge));
    }
    let charge = Charge::of(&tree.usage, Resource::HostFiles, 1).ok_or(Errno::ENFILE)?;
    let how = How {
        read: flags & 3 != 1,
        write: flags & 3 != 0,
        append: flags & APPEND != 0,
        truncate: flags & TRUNCATE != 0,
        create: spot.stat.is_none().then_some(mode),
    };
    mount.open(spot.mount, &spot.path, how).map(|file| file.paid(charge))
}

impl Opened {
    /// Permissions of what was opened.
    pub(super) fn mode(&self, tree: &FileSystem) -> Result<u32, Errno> {
        match self {
            Self::Memory(ino) | Self::Device(_, ino) | Self::Directory(Place::Here(ino)) => Ok(tree.node(*ino)?.meta.mode),
            Self::Host(file) => Ok(file.stat()?.mode),
            Self::Directory(Place::There(..)) => Err(Errno::EISDIR),
        }
    }

    /// It lives on without a name from now on.
    pub(super) fn hold(&self, tree: &mut FileSystem) {
        if let Some(ino) = self.node() {
            tree.hold(ino);
        }
    }

    /// ... and no longer does.
    pub(super) fn release(&self, tree: &mut FileSystem) {
        if let Some(ino) = self.node() {
            tree.release(ino);
        }
    }

    fn node(&self) -> Option<Ino> {
        match self {
            Self::Memory(ino) | Self::Device(_, ino) | Self::Directory(Place::Here(ino)) => Some(*ino),
            Self::Host(_) | Self::Directory(Place::There(..)) => None,
        }
    }

    pub(super) fn chmod(&self, tree: &mut FileSystem, user: User, mode: u32) -> Result<(), Errno> {
        match self {
            Self::Memory(ino) => tree.chmod(user, *ino, mode),
            Self::Host(file) => file.chmod(mode),
            Self::Device(..) | Self::Directory(_) => Ok(()),
        }
    }
}

/// Copies bytes between a mount and memory, or within a mount, from `at` on. As many as one call may: where it stopped, if there are more. Memory
/// is not locked while the host's disk is waited for, and a program that is told to end ends.
pub(super) fn copy(tree: &mut Guard<'_>, source: &Opened, target: &Opened, at: u64) -> Result<Option<u64>, Errno> {
    let mut buffer = vec![0; PIECE];
    let (mut at, most) = (at, at.saturating_add(MOST_COPIED));
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
        Opened::Device(..) | Opened::Directory(_) => Ok(()),
    }?;
    Ok(None)
}
