//! The family's table: which number is which call, and what its integers mean (`docs/internals/guest-abi.md`). Next: `walk.rs`.

use super::node::{Body, Ino};
use super::open;
use super::stat::{Stat, put_numbers};
use super::tree::{FileSystem, READ, User, WRITE, now};
use super::walk::{End, Last};
use crate::kernel::{Answer, Arguments, Errno, Process};
use crate::program::Program;
use parking_lot::MutexGuard;
use std::sync::Arc;

const USER: User = User::Guest;
/// What tmpfs answers as its type.
const TMPFS: f64 = 0x0102_1994 as f64;
const BLOCK: u64 = 4_096;

/// Carries out a call of the family.
pub(crate) fn call(program: &Arc<Program>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    let process = &program.process;
    match number & 0xff {
        0x00 => open::open(process, &arguments.path(0)?, arguments.number(2)?, arguments.number(3)?),
        0x01 => open::close(process, arguments.int(0)),
        0x02 => {
            let (fd, offset) = (arguments.int(0), offset(arguments.int(3))?);
            open::read(program, fd, arguments.bytes_mut(1)?, offset)
        }
        0x03 => open::write(program, arguments.int(0), arguments.bytes(1)?, offset(arguments.int(3))?),
        0x05 => {
            let stat = open::fstat(process, arguments.int(0))?;
            stat.put(arguments.bytes_mut(1)?).map(|()| 0)
        }
        0x0e => open::readdir(process, arguments, 1),
        0x0f => open::ftruncate(process, arguments.int(0), arguments.number(1)?),
        0x11 | 0x13 | 0x15 | 0x16 => by_descriptor(process, number & 0xff, arguments),
        0x19 => open::lseek(process, arguments.int(0), arguments.int(1), arguments.int(2)),
        0x1b => {
            let path = process.files.getcwd(&process.kernel.files.lock())?;
            arguments.put(0, &path)
        }
        0x21 => Ok(i64::from(process.files.set_umask(arguments.number(0)?))),
        other => by_path(process, other, arguments),
    }
}

/// A position, or none for -1.
fn offset(number: i64) -> Result<Option<u64>, Errno> {
    if number == -1 {
        return Ok(None);
    }
    u64::try_from(number).map(Some).map_err(|_| Errno::EINVAL)
}

/// An owner, or none for -1 (also as a u32).
fn owner(number: i64) -> Result<Option<u32>, Errno> {
    if number == -1 || number == i64::from(u32::MAX) {
        return Ok(None);
    }
    u32::try_from(number).map(Some).map_err(|_| Errno::EINVAL)
}

/// Calls that change what a descriptor stands for.
fn by_descriptor(process: &Process, call: u32, arguments: &Arguments<'_>) -> Answer {
    let description = process.files.descriptors.lock().get(arguments.int(0))?;
    let Some(ino) = description.held() else { return if call == 0x16 { Err(Errno::EINVAL) } else { Ok(0) } };
    let mut tree = process.kernel.files.lock();
    match call {
        0x11 => tree.chmod(USER, ino, arguments.int(1) as u32),
        0x13 => tree.chown(USER, ino, owner(arguments.int(1))?, owner(arguments.int(2))?),
        0x15 => utimes(&mut tree, ino, arguments.int(1), arguments.int(2)),
        _ => Ok(()),
    }?;
    Ok(0)
}

/// The lowest number leaves a time as it is, the highest is the present.
fn utimes(tree: &mut FileSystem, ino: Ino, atime: i64, mtime: i64) -> Result<(), Errno> {
    let meta = tree.node(ino)?.meta;
    let time = |asked: i64, old: i64| match asked {
        i64::MIN => old,
        i64::MAX => now(),
        asked => asked,
    };
    tree.utimes(USER, ino, time(atime, meta.atime), time(mtime, meta.mtime))
}

/// A walk's two ends: the tree, locked, and where the path leads.
struct Walked<'p> {
    process: &'p Process,
    tree: MutexGuard<'p, FileSystem>,
}

impl Walked<'_> {
    fn end(&self, path: &[u8], last: Last) -> Result<End, Errno> {
        self.tree.walk(USER, self.process.files.cwd(), path, last)
    }

    fn node(&self, path: &[u8], follow: bool) -> Result<Ino, Errno> {
        self.end(path, if follow { Last::Follow } else { Last::Stay })?.existing()
    }
}

fn by_path(process: &Process, call: u32, arguments: &mut Arguments<'_>) -> Answer {
    if !(0x04..=0x22).contains(&call) {
        return Err(Errno::ENOSYS);
    }
    let path = arguments.path(0)?;
    let mut at = Walked { process, tree: process.kernel.files.lock() };
    let done = match call {
        0x04 => {
            let ino = at.node(&path, arguments.int(4) != 0)?;
            Stat::of(ino, at.tree.node(ino)?).put(arguments.bytes_mut(2)?)
        }
        0x06 => {
            let ino = at.node(&path, true)?;
            at.tree.access(USER, ino, arguments.number(2)?)
        }
        0x07 => {
            let mode = arguments.number::<u32>(2)? & 0o1777 & !process.files.umask();
            let end = at.end(&path, Last::Name)?;
            at.tree.create(USER, &end, Body::Directory(super::node::Directory::new(end.parent)), mode).map(|_| ())
        }
        0x08 => {
            let end = at.end(&path, Last::Name)?;
            at.tree.rmdir(USER, &end)
        }
        0x09 => {
            let end = at.end(&path, Last::Name)?;
            at.tree.unlink(USER, &end)
        }
        0x0a => {
            let (from, to) = (at.end(&path, Last::Name)?, at.end(&arguments.path(2)?, Last::Name)?);
            at.tree.rename(USER, &from, &to)
        }
        0x0b => {
            let (from, to) = (at.node(&path, false)?, at.end(&arguments.path(2)?, Last::Name)?);
            at.tree.link(USER, from, &to)
        }
        0x0c => {
            if path.is_empty() {
                return Err(Errno::ENOENT);
            }
            let end = at.end(&arguments.path(2)?, Last::Name)?;
            at.tree.create(USER, &end, Body::Link(path.into()), 0o777).map(|_| ())
        }
        0x0d => {
            let ino = at.node(&path, false)?;
            let Body::Link(target) = &at.tree.node(ino)?.body else { return Err(Errno::EINVAL) };
            return arguments.put(2, target);
        }
        0x10 => {
            let ino = at.node(&path, arguments.int(3) != 0)?;
            at.tree.chmod(USER, ino, arguments.number(2)?)
        }
        0x12 => {
            let ino = at.node(&path, arguments.int(4) != 0)?;
            at.tree.chown(USER, ino, owner(arguments.int(2))?, owner(arguments.int(3))?)
        }
        0x14 => {
            let ino = at.node(&path, arguments.int(4) != 0)?;
            utimes(&mut at.tree, ino, arguments.int(2), arguments.int(3))
        }
        0x17 => return arguments.put(2, &realpath(&at, &path)?),
        0x18 => {
            at.node(&path, true)?;
            put_numbers(&space(&at.tree), arguments.bytes_mut(2)?)
        }
        0x1a => process.files.chdir(&mut at.tree, &path),
        0x1c => copy_file(&mut at, &path, &arguments.path(2)?, arguments.int(4)),
        0x1d => {
            let ino = at.node(&path, true)?;
            return Ok(i64::from(at.tree.node(ino)?.is_directory()));
        }
        0x1e => return read_file(&mut at, &path, arguments),
        0x22 => {
            let ino = at.node(&path, true)?;
            at.tree.content(ino)?;
            at.tree.check(USER, ino, WRITE)?;
            at.tree.truncate(ino, arguments.number(2)?)
        }
        _ => Err(Errno::ENOSYS),
    };
    done.map(|()| 0)
}

fn realpath(at: &Walked<'_>, path: &[u8]) -> Result<Vec<u8>, Errno> {
    let end = at.end(path, Last::Follow)?;
    let ino = end.existing()?;
    if at.tree.node(ino)?.is_directory() {
        return at.tree.path_of(ino);
    }
    let super::walk::Name::Plain(name) = &end.name else { return Err(Errno::ENOENT) };
    let mut path = at.tree.path_of(end.parent)?;
    if path.len() > 1 {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    Ok(path)
}

/// Type, block size, blocks, free blocks twice, inodes, free inodes.
fn space(tree: &FileSystem) -> [f64; 7] {
    let (limits, used) = (&tree.limits, &tree.used);
    let free = (limits.bytes.saturating_sub(used.bytes) / BLOCK) as f64;
    let blocks = (limits.bytes / BLOCK) as f64;
    let files = limits.inodes as f64;
    [TMPFS, BLOCK as f64, blocks, free, free, files, limits.inodes.saturating_sub(used.inodes) as f64]
}

/// As libuv copies: the copy takes the mode too. It shares the bytes with the original.
fn copy_file(at: &mut Walked<'_>, from: &[u8], to: &[u8], mode: i64) -> Result<(), Errno> {
    const WRITE_AND_CREATE: u32 = 0o101;
    const EXCLUSIVE: u32 = 0o200;
    let source = at.node(from, true)?;
    at.tree.check(USER, source, READ)?;
    let meta = at.tree.node(source)?.meta;
    let flags = if mode & 1 == 0 { WRITE_AND_CREATE } else { WRITE_AND_CREATE | EXCLUSIVE };
    at.tree.content(source)?;
    let target = open::find(&mut at.tree, at.process.files.cwd(), to, flags, meta.mode & !at.process.files.umask())?;
    if source == target {
        return Ok(());
    }
    at.tree.share(source, target)?;
    at.tree.chmod(USER, target, meta.mode)
}

/// The whole file, if the buffer holds it; its length.
fn read_file(at: &mut Walked<'_>, path: &[u8], arguments: &mut Arguments<'_>) -> Answer {
    let ino = at.node(path, true)?;
    at.tree.check(USER, ino, READ)?;
    let len = at.tree.content(ino)?.len();
    let room = arguments.bytes_mut(2)?;
    if len <= room.len() as u64 {
        at.tree.read(ino, 0, room)?;
    }
    i64::try_from(len).map_err(|_| Errno::EFBIG)
}
