//! Operations on descriptors: opening, reading, writing, seeking, listing and changes of
//! attributes. Each operation selects the code for the kind of object that the descriptor refers
//! to. Next: `data.rs`.

use super::guard::check_open;
use super::mounts::Listing;
use super::node::{Device, MAX_NAME, Type};
use super::open::{self, Opened};
use super::process::ProcessFiles;
use super::stat::Stat;
use super::tree::{FileSystem, ROOT, now};
use super::view::View;
use super::walk::Location;
use crate::caller::Caller;
use crate::descriptors::{Description, HeldObject, Position, Target};
use crate::ids::Fd;
use crate::permissions::operations::files;
use crate::steps::MAX_TRANSFER;
use crate::terminal::WindowSize;
use crate::usage::{Charge, Resource};
use crate::{Answer, Arguments, Process, Start};
use coldframe_error::Errno;
use coldframe_sys as sys;
use std::sync::Arc;

/// The maximum number of bytes that one read of a random device returns. A longer read would occupy
/// the worker for too long.
const MOST_RANDOM: usize = 256 << 10;

/// Returns the directory of `start`. Returns `None` for the working directory. Fails with `ENOTDIR`
/// for a descriptor of another object.
pub(super) fn start(process: &Process, start: Start) -> Result<Option<Location>, Errno> {
    match start {
        Start::WorkingDirectory => Ok(None),
        Start::Root => Ok(Some(Location::Memory(ROOT))),
        Start::Descriptor(fd) => match &process.files.descriptors.lock().get(fd)?.target {
            Target::Directory(place) => Ok(Some(place.clone())),
            Target::Lost => Err(Errno::EIO),
            _ => Err(Errno::ENOTDIR),
        },
    }
}

/// Returns the absolute form of a path that starts at `from`. Links and dots stay in the path.
pub(super) fn absolute(process: &Process, from: Start, path: Vec<u8>) -> Result<Vec<u8>, Errno> {
    if matches!(path.first(), None | Some(b'/')) {
        return Ok(path);
    }
    let place = start(process, from)?;
    let tree = process.kernel.files.lock();
    let folder = match place {
        Some(place) => tree.path_of(&place)?,
        None => process.files.getcwd(&tree)?,
    };
    Ok([&folder, &b"/"[..], &path].concat())
}

pub(crate) fn open(process: &Process, view: &View<'_>, path: &[u8], flags: u32, mode: u32) -> Result<Fd, Errno> {
    let files: &ProcessFiles = &process.files;
    // The descriptors' lock must be free during the path walk, because a path through `/proc` reads
    // the descriptors.
    if !files.descriptors.lock().has_room() {
        return Err(Errno::EMFILE);
    }
    let mut tree = view.lock();
    let target = match open::find(&mut tree, view, path, flags, mode & 0o7777 & !view.umask)? {
        Opened::Memory(ino) => Target::File(ino),
        Opened::Directory(place) => Target::Directory(place),
        Opened::Descriptor(fd) => {
            drop(tree);
            let again = files.descriptors.lock().get(fd).map_err(|_| Errno::ENOENT)?;
            return process.add_descriptor(again);
        }
        Opened::Device(device @ (Device::Tty | Device::TerminalMaker | Device::Terminal(_)), _) => {
            drop(tree);
            return match device {
                Device::Terminal(number) => process.open_slave(number, flags),
                Device::TerminalMaker => process.open_master(WindowSize::default(), flags),
                _ => process.open_controlling(flags),
            };
        }
        Opened::Device(device, ino) => Target::Device(device, ino),
        Opened::Host(file) => Target::Host(Box::new(file)),
    };
    let description = Description::new(target, flags);
    if let Some(HeldObject::Node(ino)) = description.held() {
        tree.hold(ino);
    }
    drop(tree);
    // The descriptor is still free, because a process makes one call at a time.
    process.add_descriptor(Arc::new(description))
}

/// A function that reads from an offset.
type Reader<'a> = &'a mut dyn FnMut(u64, &mut [u8]) -> Result<usize, Errno>;

/// Reads at most [`MAX_TRANSFER`] bytes from a descriptor. Without `offset`, reads from the
/// description's position and moves the position.
pub(crate) fn read(program: &dyn Caller, fd: Fd, buffer: &mut [u8], offset: Option<u64>) -> Answer {
    let wanted = buffer.len().min(MAX_TRANSFER);
    let buffer = &mut buffer[..wanted];
    let process = program.process();
    let description = process.files.descriptors.lock().get(fd)?;
    if !description.reads() {
        return Err(Errno::EBADF);
    }
    let positioned = |read: Reader<'_>, buffer: &mut [u8]| {
        let mut position = description.position.lock();
        let count = read(offset.unwrap_or(position.offset), buffer)?;
        if offset.is_none() {
            position.offset += count as u64;
        }
        Ok(count)
    };
    let count = match &description.target {
        Target::Stream { .. } | Target::Socket(_) if offset.is_some() => return Err(Errno::ESPIPE),
        Target::Stream { owner, .. } => {
            process.kernel.with_program(program, *owner, |owner| owner.read_input(buffer)).unwrap_or(0)
        }
        Target::Socket(id) => process.kernel.sockets.read_for(process, *id, buffer, true)?,
        Target::Directory(_) => return Err(Errno::EISDIR),
        Target::Device(device, _) => read_device(*device, buffer)?,
        Target::File(ino) => positioned(&mut |at, buffer| process.kernel.files.lock().read(*ino, at, buffer), buffer)?,
        Target::Host(file) => positioned(&mut |at, buffer| file.read(at, buffer), buffer)?,
        Target::Lost => return Err(Errno::EIO),
    };
    i64::try_from(count).map_err(|_| Errno::EINVAL)
}

fn read_device(device: Device, buffer: &mut [u8]) -> Result<usize, Errno> {
    match device {
        Device::Null | Device::Tty | Device::TerminalMaker | Device::Terminal(_) => Ok(0),
        Device::Zero | Device::Full => {
            buffer.fill(0);
            Ok(buffer.len())
        }
        Device::Random => {
            let count = buffer.len().min(MOST_RANDOM);
            sys::entropy(&mut buffer[..count]).map_err(|_| Errno::EIO)?;
            Ok(count)
        }
    }
}

/// Writes at most [`MAX_TRANSFER`] bytes to a descriptor. Without `offset`, writes at the
/// description's position and moves the position.
pub(crate) fn write(program: &dyn Caller, fd: Fd, bytes: &[u8], offset: Option<u64>) -> Answer {
    let bytes = &bytes[..bytes.len().min(MAX_TRANSFER)];
    let process = program.process();
    let description = process.files.descriptors.lock().get(fd)?;
    if !description.writes() {
        return Err(Errno::EBADF);
    }
    let count = match &description.target {
        Target::Stream { .. } | Target::Socket(_) if offset.is_some() => return Err(Errno::ESPIPE),
        Target::Stream { owner, fd, .. } => {
            match process.kernel.with_program(program, *owner, |owner| owner.write_output(*fd, bytes)) {
                Some(taken) => taken?,
                // The program that owns the stream has ended. The output of the program's remaining
                // children is dropped.
                None => bytes.len(),
            }
        }
        Target::Socket(id) => process.kernel.sockets.write_for(process, *id, bytes)?,
        Target::Directory(_) => return Err(Errno::EBADF),
        Target::Device(Device::Full, _) => return Err(Errno::ENOSPC),
        Target::Device(..) => bytes.len(),
        Target::File(ino) => {
            let mut position = description.position.lock();
            // On Linux, a positioned write to a file opened for appending appends.
            let at = if description.appends() { None } else { Some(offset.unwrap_or(position.offset)) };
            let (end, count) = process.kernel.files.lock().write(*ino, at, bytes)?;
            if offset.is_none() && count > 0 {
                position.offset = end;
            }
            count
        }
        Target::Host(file) => {
            let mut position = description.position.lock();
            let at = offset.unwrap_or(position.offset);
            let count = file.write(at, bytes)?;
            if offset.is_none() && count > 0 {
                let appended = description.appends();
                position.offset = if appended { file.stat()?.size } else { at + count as u64 };
            }
            count
        }
        Target::Lost => return Err(Errno::EIO),
    };
    i64::try_from(count).map_err(|_| Errno::EINVAL)
}

pub(crate) fn fstat(process: &Process, fd: Fd) -> Result<Stat, Errno> {
    let description = process.files.descriptors.lock().get(fd)?;
    let tree = process.kernel.files.lock();
    match &description.target {
        Target::Stream { fd, .. } => Ok(Stat::of_stream(u64::from(*fd), process.files.user().owner(), now())),
        Target::Socket(id) => Ok(match process.kernel.sockets.terminal_number(*id) {
            Some(number) => Stat::of_terminal(number, process.files.user().owner(), now()),
            None => Stat::of_socket(u64::from(id.get()), process.files.user().owner(), now()),
        }),
        Target::File(ino) | Target::Device(_, ino) => Ok(Stat::of(*ino, tree.node(*ino)?)),
        Target::Directory(place) => tree.stat_of(place),
        Target::Host(file) => file.stat(),
        Target::Lost => Err(Errno::EIO),
    }
}

pub(crate) fn ftruncate(process: &Process, fd: Fd, len: u64) -> Answer {
    let description = process.files.descriptors.lock().get(fd)?;
    match &description.target {
        Target::File(ino) if description.writes() => {
            let mut tree = process.kernel.files.lock();
            check_open(process, &tree, &description.target, files::TRUNCATE)?;
            tree.truncate(*ino, len)?;
        }
        Target::Host(file) if description.writes() => {
            check_open(process, &process.kernel.files.lock(), &description.target, files::TRUNCATE)?;
            file.truncate(len)?;
        }
        Target::Lost => return Err(Errno::EIO),
        _ => return Err(Errno::EINVAL),
    }
    Ok(0)
}

pub(crate) fn lseek(process: &Process, fd: Fd, offset: i64, whence: i64) -> Answer {
    let description = process.files.descriptors.lock().get(fd)?;
    if let Target::Stream { .. } | Target::Socket(_) = description.target {
        return Err(Errno::ESPIPE);
    }
    if let Target::Lost = description.target {
        return Err(Errno::EIO);
    }
    let size = if whence == 2 { fstat(process, fd)?.size } else { 0 };
    let mut position = description.position.lock();
    let from = match whence {
        0 => 0,
        1 => position.offset,
        2 => size,
        _ => return Err(Errno::EINVAL),
    };
    let to = i64::try_from(from).ok().and_then(|from| from.checked_add(offset)).ok_or(Errno::EOVERFLOW)?;
    let offset = u64::try_from(to).map_err(|_| Errno::EINVAL)?;
    *position = Position { offset, ..Position::default() };
    Ok(to)
}

/// A change of an open file, with the call's integers.
#[derive(Clone, Copy)]
pub(crate) enum Change {
    Mode(i64),
    /// The owner and the group.
    Owner(i64, i64),
    /// The times of the last access and of the last change.
    Times(i64, i64),
    /// No change of the file: its bytes are written to the disk.
    Sync,
}

/// Applies `change` to the file of a descriptor.
pub(crate) fn change(process: &Process, fd: Fd, change: Change) -> Answer {
    let description = process.files.descriptors.lock().get(fd)?;
    let mut tree = process.kernel.files.lock();
    let operation = match change {
        Change::Mode(_) => files::CHMOD,
        Change::Owner(..) => files::CHOWN,
        Change::Times(..) => files::UTIMES,
        Change::Sync => 0,
    };
    check_open(process, &tree, &description.target, operation)?;
    let user = process.files.user();
    match (&description.target, change) {
        (Target::Lost, _) => Err(Errno::EIO),
        (Target::Stream { .. } | Target::Socket(_), Change::Sync) => Err(Errno::EINVAL),
        (Target::Stream { .. } | Target::Socket(_), _) => Ok(()),
        (Target::File(ino) | Target::Device(_, ino) | Target::Directory(Location::Memory(ino)), _) => match change {
            Change::Mode(mode) => tree.chmod(&user, *ino, mode as u32),
            Change::Owner(uid, gid) => tree.chown(&user, *ino, super::calls::owner(uid)?, super::calls::owner(gid)?),
            Change::Times(atime, mtime) => {
                let meta = tree.node(*ino)?.meta;
                tree.utimes(&user, *ino, super::view::time(atime, meta.atime), super::view::time(mtime, meta.mtime))
            }
            Change::Sync => Ok(()),
        },
        (Target::Host(file), Change::Mode(_) | Change::Times(..)) if user.is_foreign() && !user.owns(file.stat()?.uid) => {
            Err(Errno::EPERM)
        }
        (Target::Host(file), Change::Mode(mode)) => file.chmod(mode as u32),
        (Target::Host(file), Change::Times(atime, mtime)) => {
            let stat = file.stat()?;
            file.utimes(super::view::time(atime, stat.atime), super::view::time(mtime, stat.mtime))
        }
        (Target::Host(file), Change::Sync) if description.writes() => file.sync(),
        (_, Change::Sync) => Ok(()),
        (_, Change::Mode(_) | Change::Owner(..) | Change::Times(..)) => Err(Errno::EPERM),
    }?;
    Ok(0)
}

/// Fills the buffer at `index` with directory entries. An entry is the type, a zero byte, the
/// name's length as u16, and the name. Returns the number of bytes written, 0 at the directory's
/// end. Fails with `EINVAL` if the longest name does not fit into the buffer.
pub(crate) fn readdir(process: &Process, arguments: &mut Arguments<'_>, index: usize) -> Answer {
    let description = process.files.descriptors.lock().get(arguments.fd(0)?)?;
    let Target::Directory(place) = &description.target else { return Err(Errno::ENOTDIR) };
    let mut room = arguments.bytes_mut(index)?;
    if room.len() < 4 + MAX_NAME {
        return Err(Errno::EINVAL);
    }
    let whole = room.len();
    let mut position = description.position.lock();
    let mut tree = process.kernel.files.lock();
    let place = &tree.present(place.clone());
    if position.listing.is_none() {
        let listing = match place {
            Location::Memory(ino) => tree.merged(*ino)?,
            Location::Mount(mount, path) => Some(tree.mount(*mount)?.list(path)?),
        };
        if let Some(listing) = listing {
            keep(&tree, &mut position, listing)?;
        }
    }
    match place {
        Location::Memory(ino) if position.listing.is_none() => {
            tree.was_read(*ino)?;
            let mut last = None;
            for entry in tree.directory(*ino)?.names.after(position.after.as_deref()) {
                // If the steps are used up, the next call continues after the last name.
                let (name, entry) = match entry {
                    Ok(entry) => entry,
                    Err(_) if last.is_some() => break,
                    Err(error) => return Err(error),
                };
                if !put_entry(&mut room, name, tree.node(entry)?.kind()) {
                    break;
                }
                last = Some(name);
            }
            if let Some(last) = last {
                position.after = Some(last.into());
            }
        }
        _ => {
            drop(tree);
            let Some(listing) = &mut position.listing else { return Err(Errno::EIO) };
            while let Some((name, kind)) = listing.next()? {
                if !put_entry(&mut room, &name, kind) {
                    listing.keep((name, kind));
                    break;
                }
            }
        }
    }
    i64::try_from(whole - room.len()).map_err(|_| Errno::EINVAL)
}

/// Stores a listing for the next call, and charges the memory and the host machine's descriptor of
/// the listing.
fn keep(tree: &FileSystem, position: &mut Position, listing: Listing) -> Result<(), Errno> {
    let mut held = vec![Charge::of(&tree.usage, Resource::Kernel, listing.cost()).ok_or(Errno::ENOMEM)?];
    if listing.is_open() {
        held.push(Charge::of(&tree.usage, Resource::HostFiles, 1).ok_or(Errno::ENFILE)?);
    }
    (position.held, position.listing) = (held, Some(Box::new(listing)));
    Ok(())
}

/// Writes an entry to the start of `room` and removes the written part from `room`. Returns false
/// if the entry does not fit.
fn put_entry(room: &mut &mut [u8], name: &[u8], kind: Type) -> bool {
    let len = 4 + name.len();
    if len > room.len() {
        return false;
    }
    let (place, left) = std::mem::take(room).split_at_mut(len);
    place[0] = kind.dirent();
    place[1] = 0;
    place[2..4].copy_from_slice(&(name.len() as u16).to_le_bytes());
    place[4..].copy_from_slice(name);
    *room = left;
    true
}
