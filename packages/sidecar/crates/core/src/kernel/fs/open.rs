//! Opening, and what is done with a descriptor: reading, writing, listing. Next: `data.rs`.

use super::node::{Body, Device, Ino};
use super::stat::Stat;
use super::tree::{FileSystem, GUEST, READ, User, WRITE, now};
use super::walk::{Last, Name};
use crate::kernel::descriptors::{Description, Target};
use crate::kernel::{Answer, Arguments, Errno, Process};
use crate::program::{Program, Written};
use crate::sys;
use std::ops::Bound;
use std::sync::Arc;

const CREATE: u32 = 0o100;
const EXCLUSIVE: u32 = 0o200;
const TRUNCATE: u32 = 0o1000;
const APPEND: u32 = 0o2000;
const DIRECTORY: u32 = 0o200_000;
const NO_FOLLOW: u32 = 0o400_000;
/// O_PATH and O_TMPFILE, which Node has no use for.
const UNSUPPORTED: u32 = 0o10_000_000 | 0o20_000_000;
/// Bytes that one read of a random device gives: more would hold the worker for long.
const MOST_RANDOM: usize = 256 << 10;

pub(crate) fn open(process: &Process, path: &[u8], flags: u32, mode: u32) -> Answer {
    if flags & 3 == 3 {
        return Err(Errno::EINVAL);
    }
    if flags & UNSUPPORTED != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let mut descriptors = process.files.descriptors.lock();
    if !descriptors.has_room() {
        return Err(Errno::EMFILE);
    }
    let mut tree = process.kernel.files.lock();
    let mode = mode & 0o7777 & !process.files.umask();
    let ino = find(&mut tree, process.files.cwd(), path, flags, mode)?;
    let target = match &tree.node(ino)?.body {
        Body::File(_) => Target::File(ino),
        Body::Directory(_) => Target::Directory(ino),
        Body::Device(Device::Descriptor(fd)) => {
            let again = descriptors.get(i64::from(*fd)).map_err(|_| Errno::ENOENT)?;
            return descriptors.add(again);
        }
        Body::Device(device) => Target::Device(*device, ino),
        Body::Link(_) => return Err(Errno::ELOOP),
    };
    let fd = descriptors.add(Arc::new(Description::new(target, flags)))?;
    tree.hold(ino);
    Ok(fd)
}

/// The node that `open` is about; made, if the flags ask for it.
pub(crate) fn find(tree: &mut FileSystem, cwd: Option<Ino>, path: &[u8], flags: u32, mode: u32) -> Result<Ino, Errno> {
    let user = User::Guest;
    let creates = flags & CREATE != 0;
    if creates && path.ends_with(b"/") && matches!(tree.walk(user, cwd, path, Last::Name)?.name, Name::Plain(_)) {
        return Err(Errno::EISDIR);
    }
    let stays = flags & NO_FOLLOW != 0 || (creates && flags & EXCLUSIVE != 0);
    let end = tree.walk(user, cwd, path, if stays { Last::Stay } else { Last::Follow })?;
    let Some(ino) = end.node else {
        if !creates {
            return Err(Errno::ENOENT);
        }
        return tree.create(user, &end, Body::File(super::content::Content::new()), mode);
    };
    let is_directory = tree.node(ino)?.is_directory();
    if creates && flags & EXCLUSIVE != 0 {
        return Err(Errno::EEXIST);
    }
    if creates && is_directory {
        return Err(Errno::EISDIR);
    }
    if flags & DIRECTORY != 0 && !is_directory {
        return Err(Errno::ENOTDIR);
    }
    if matches!(tree.node(ino)?.body, Body::Link(_)) {
        return Err(Errno::ELOOP);
    }
    let mut wanted = if flags & 3 == 1 { 0 } else { READ };
    if flags & 3 != 0 || flags & TRUNCATE != 0 {
        if is_directory {
            return Err(Errno::EISDIR);
        }
        wanted |= WRITE;
    }
    tree.check(user, ino, wanted)?;
    if flags & TRUNCATE != 0 && tree.content(ino).is_ok() {
        tree.truncate(ino, 0)?;
    }
    Ok(ino)
}

pub(crate) fn close(process: &Process, fd: i64) -> Answer {
    let left = process.files.descriptors.lock().close(fd)?;
    if let Some(ino) = left {
        process.kernel.files.lock().release(ino);
    }
    Ok(0)
}

/// `offset` is none for the descriptor's own position.
pub(crate) fn read(program: &Program, fd: i64, buffer: &mut [u8], offset: Option<u64>) -> Answer {
    let process = &program.process;
    let description = process.files.descriptors.lock().get(fd)?;
    if !description.reads() {
        return Err(Errno::EBADF);
    }
    let count = match description.target {
        Target::Stream(_) if offset.is_some() => return Err(Errno::ESPIPE),
        Target::Stream(_) => program.read(buffer),
        Target::Directory(_) => return Err(Errno::EISDIR),
        Target::Device(device, _) => read_device(device, buffer)?,
        Target::File(ino) => {
            let mut position = description.position.lock();
            let count = process.kernel.files.lock().read(ino, offset.unwrap_or(position.offset), buffer)?;
            if offset.is_none() {
                position.offset += count as u64;
            }
            count
        }
    };
    i64::try_from(count).map_err(|_| Errno::EINVAL)
}

fn read_device(device: Device, buffer: &mut [u8]) -> Result<usize, Errno> {
    match device {
        Device::Null | Device::Descriptor(_) => Ok(0),
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

pub(crate) fn write(program: &Program, fd: i64, bytes: &[u8], offset: Option<u64>) -> Answer {
    let process = &program.process;
    let description = process.files.descriptors.lock().get(fd)?;
    if !description.writes() {
        return Err(Errno::EBADF);
    }
    let count = match description.target {
        Target::Stream(_) if offset.is_some() => return Err(Errno::ESPIPE),
        Target::Stream(stream) => match program.write(stream, bytes) {
            Written::Taken(count) => count,
            Written::Full => return Err(Errno::EAGAIN),
        },
        Target::Directory(_) => return Err(Errno::EBADF),
        Target::Device(Device::Full, _) => return Err(Errno::ENOSPC),
        Target::Device(..) => bytes.len(),
        Target::File(ino) => {
            let mut position = description.position.lock();
            // A positioned write to a file that was opened for appending appends, on Linux.
            let at = if description.flags & APPEND != 0 { None } else { Some(offset.unwrap_or(position.offset)) };
            let (end, count) = process.kernel.files.lock().write(ino, at, bytes)?;
            if offset.is_none() {
                position.offset = end;
            }
            count
        }
    };
    i64::try_from(count).map_err(|_| Errno::EINVAL)
}

pub(crate) fn fstat(process: &Process, fd: i64) -> Result<Stat, Errno> {
    let description = process.files.descriptors.lock().get(fd)?;
    match (description.target, description.held()) {
        (_, Some(ino)) => Ok(Stat::of(ino, process.kernel.files.lock().node(ino)?)),
        (Target::Stream(stream), None) => Ok(Stat::of_stream(u64::from(stream), GUEST, now())),
        _ => Err(Errno::EBADF),
    }
}

pub(crate) fn ftruncate(process: &Process, fd: i64, len: u64) -> Answer {
    let description = process.files.descriptors.lock().get(fd)?;
    let Target::File(ino) = description.target else { return Err(Errno::EINVAL) };
    if !description.writes() {
        return Err(Errno::EINVAL);
    }
    process.kernel.files.lock().truncate(ino, len)?;
    Ok(0)
}

pub(crate) fn lseek(process: &Process, fd: i64, offset: i64, whence: i64) -> Answer {
    let description = process.files.descriptors.lock().get(fd)?;
    let (Target::File(ino) | Target::Directory(ino) | Target::Device(_, ino)) = description.target else {
        return Err(Errno::ESPIPE);
    };
    let mut position = description.position.lock();
    let from = match whence {
        0 => 0,
        1 => i64::try_from(position.offset).map_err(|_| Errno::EOVERFLOW)?,
        2 => i64::try_from(process.kernel.files.lock().node(ino)?.size()).map_err(|_| Errno::EOVERFLOW)?,
        _ => return Err(Errno::EINVAL),
    };
    let to = from.checked_add(offset).ok_or(Errno::EOVERFLOW)?;
    position.offset = u64::try_from(to).map_err(|_| Errno::EINVAL)?;
    position.after = None;
    Ok(to)
}

/// Fills the buffer at `index` with entries: type, 0, the name's length as u16, the name. 0 at the end.
pub(crate) fn readdir(process: &Process, arguments: &mut Arguments<'_>, index: usize) -> Answer {
    let description = process.files.descriptors.lock().get(arguments.int(0))?;
    let Target::Directory(ino) = description.target else { return Err(Errno::ENOTDIR) };
    let room = arguments.bytes_mut(index)?;
    let mut position = description.position.lock();
    let mut tree = process.kernel.files.lock();
    tree.was_read(ino)?;
    let from = position.after.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let (mut used, mut last) = (0, None);
    for (name, entry) in tree.directory(ino)?.names.range::<[u8], _>((from, Bound::Unbounded)) {
        let end = used + 4 + name.len();
        let Some(place) = room.get_mut(used..end) else { break };
        place[0] = tree.node(*entry)?.kind().dirent();
        place[1] = 0;
        place[2..4].copy_from_slice(&(name.len() as u16).to_le_bytes());
        place[4..].copy_from_slice(name);
        (used, last) = (end, Some(name));
    }
    match last {
        Some(last) => position.after = Some(last.clone()),
        // Nothing was listed: either nothing is left, or the buffer holds no name.
        None if room.len() < 4 + super::node::MAX_NAME => return Err(Errno::EINVAL),
        None => {}
    }
    i64::try_from(used).map_err(|_| Errno::EINVAL)
}
