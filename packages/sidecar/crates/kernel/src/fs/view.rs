//! Operations on paths, for whoever asks: a program through its system calls (`calls.rs`), or the caller outside (`outside.rs`).
//!
//! Each walks its path and then does the thing where the walk ended: in memory or in a mounted folder. Memory is locked meanwhile, so
//! that what the walk found is still so. Next: `open.rs`.

use super::guard::Wanted;
use super::node::{Body, Directory, Type};
use super::open::{self, Opened};
use super::overlay::Raise;
use super::stat::Stat;
use super::tree::{FileSystem, READ, User, WRITE, now};
use super::walk::{HostSpot, Last, Place, Side, Spot};
use crate::permissions::Permissions;
use crate::permissions::operations::{Operations, files};
use coldframe_error::Errno;
use parking_lot::{Mutex, MutexGuard};

/// What tmpfs answers as its type.
const TMPFS: f64 = 0x0102_1994 as f64;
const BLOCK: u64 = 4_096;
/// Bytes of the mode that can be changed.
const PERMISSIONS: u32 = 0o7777;

/// The filesystem, locked. A call that has to wait for the host's disk unlocks it meanwhile, and then walks again.
pub(super) type Guard<'g> = MutexGuard<'g, FileSystem>;

/// Who looks, and from where.
pub(crate) struct View<'k> {
    pub(crate) files: &'k Mutex<FileSystem>,
    pub(crate) user: User,
    pub(crate) cwd: Option<Place>,
    pub(crate) umask: u32,
    /// Whom to ask what may be done; nobody for the caller outside.
    pub(crate) permissions: Option<&'k Permissions>,
}

/// A time that is set: see `utimes` in `docs/internals/guest-abi.md`.
pub(super) fn time(asked: i64, old: i64) -> i64 {
    match asked {
        i64::MIN => old,
        i64::MAX => now(),
        asked => asked,
    }
}

fn last(follow: bool) -> Last {
    if follow { Last::Follow } else { Last::Stay }
}

impl View<'_> {
    pub(super) fn lock(&self) -> Guard<'_> {
        self.files.lock()
    }

    /// What there is to say about the last `EACCES`, once.
    pub(crate) fn reason(&self) -> Option<String> {
        self.lock().reason.take()
    }

    /// A call of the guest has failed with `EACCES`.
    pub(super) fn end_denied_call(&self) {
        self.lock().reason.end_call();
    }

    pub(crate) fn stat(&self, path: &[u8], follow: bool) -> Result<Stat, Errno> {
        let tree = self.lock();
        match self.walk(&tree, path, last(follow), Wanted::only(files::STAT))? {
            Side::Memory(spot) => {
                let ino = spot.existing()?;
                Ok(Stat::of(ino, tree.node(ino)?))
            }
            Side::Host(spot) => spot.stat.ok_or(Errno::ENOENT),
        }
    }

    /// `wanted` are the bits 4, 2 and 1 of reading, writing and executing.
    pub(crate) fn access(&self, path: &[u8], wanted: u32) -> Result<(), Errno> {
        if wanted & !7 != 0 {
            return Err(Errno::EINVAL);
        }
        let tree = self.lock();
        let [read, write, execute] = [(4, files::READ), (2, files::WRITE), (1, files::EXECUTE)]
            .map(|(bit, asked)| if wanted & bit != 0 { asked } else { 0 });
        let asks = Wanted { directory: files::STAT | write, ..Wanted::only(files::STAT | read | write | execute) };
        match self.walk(&tree, path, Last::Follow, asks)? {
            Side::Memory(spot) => tree.check(self.user, spot.existing()?, wanted),
            Side::Host(spot) => {
                let stat = spot.stat.ok_or(Errno::ENOENT)?;
                if wanted & WRITE != 0 && !tree.is_overlay(spot.mount) {
                    tree.mount(spot.mount)?.writable()?;
                }
                if stat.allows(self.user, wanted) { Ok(()) } else { Err(Errno::EACCES) }
            }
        }
    }

    pub(crate) fn mkdir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let mode = mode & 0o1777 & !self.umask;
        self.change(
            path,
            (Last::Name, files::CREATE_DIR),
            Raise::Holder,
            |tree, spot| tree.create(self.user, &spot, Body::Directory(Directory::new()), mode).map(drop),
            |tree, spot| tree.mount(spot.mount)?.mkdir(&spot, mode),
        )
    }

    pub(crate) fn rmdir(&self, path: &[u8]) -> Result<(), Errno> {
        let user = self.user;
        self.change(
            path,
            (Last::Name, files::RM),
            Raise::Itself,
            |tree, spot| tree.rmdir(user, &spot),
            |tree, spot| tree.mount(spot.mount)?.rmdir(&spot),
        )
    }

    pub(crate) fn unlink(&self, path: &[u8]) -> Result<(), Errno> {
        let mut tree = self.lock();
        match self.walk(&tree, path, Last::Name, Wanted::only(files::RM))? {
            Side::Memory(spot) => tree.unlink(self.user, &spot),
            Side::Host(spot) if tree.is_overlay(spot.mount) => tree.unlink_below(self.user, &spot),
            Side::Host(spot) => tree.mount(spot.mount)?.unlink(&spot),
        }
    }

    pub(crate) fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let mut tree = self.lock();
        // First the one, then the other as it is then: both may lie in an overlay.
        let wanted = Wanted::only(files::RENAME);
        self.walk_to(&mut tree, from, Last::Name, wanted, Raise::Itself)?;
        let new = self.walk_to(&mut tree, to, Last::Name, wanted, Raise::Itself)?;
        let old = self.walk_again(&tree, from, Last::Name)?;
        self.may_move(&tree, (from, Last::Name), to, false)?;
        match (old, new) {
            (Side::Memory(from), Side::Memory(to)) => tree.rename(self.user, &from, &to),
            (Side::Host(from), Side::Host(to)) if from.mount == to.mount => tree.mount(from.mount)?.rename(&from, &to),
            _ => Err(Errno::EXDEV),
        }
    }

    pub(crate) fn link(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let mut tree = self.lock();
        let wanted = Wanted::only(files::LINK);
        let old = self.walk_to(&mut tree, from, Last::Stay, wanted, Raise::Itself)?;
        let found = match &old {
            Side::Memory(spot) => spot.node.is_some(),
            Side::Host(spot) => spot.stat.is_some(),
        };
        if !found {
            return Err(Errno::ENOENT);
        }
        let new = self.walk_to(&mut tree, to, Last::Name, wanted, Raise::Holder)?;
        self.may_move(&tree, (from, Last::Stay), to, true)?;
        match (old, new) {
            (Side::Memory(_), Side::Host(to)) if to.stat.is_some() => Err(Errno::EEXIST),
            (Side::Memory(from), Side::Memory(to)) => tree.link(self.user, from.existing()?, &to),
            (Side::Host(from), Side::Host(to)) if from.mount == to.mount => tree.mount(from.mount)?.link(&from, &to),
            _ => Err(Errno::EXDEV),
        }
    }

    pub(crate) fn symlink(&self, target: &[u8], path: &[u8]) -> Result<(), Errno> {
        if target.is_empty() {
            return Err(Errno::ENOENT);
        }
        self.change(
            path,
            (Last::Name, files::SYMLINK),
            Raise::Holder,
            |tree, spot| tree.create(self.user, &spot, Body::Link(target.into()), 0o777).map(drop),
            |tree, spot| tree.mount(spot.mount)?.symlink(target, &spot),
        )
    }

    pub(crate) fn readlink(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let tree = self.lock();
        match self.walk(&tree, path, Last::Stay, Wanted::only(files::READLINK))? {
            Side::Memory(spot) => match &tree.node(spot.existing()?)?.body {
                Body::Link(target) => Ok(target.to_vec()),
                _ => Err(Errno::EINVAL),
            },
            Side::Host(spot) if spot.stat.ok_or(Errno::ENOENT)?.kind == Type::Link => {
                let mount = tree.mount(spot.mount)?;
                mount.proc().map_or_else(|| mount.read_link(&spot.path), |proc| proc.read_link(&tree, &spot.path))
            }
            Side::Host(_) => Err(Errno::EINVAL),
        }
    }

    pub(crate) fn chmod(&self, path: &[u8], mode: u32, follow: bool) -> Result<(), Errno> {
        let (user, mode) = (self.user, mode & PERMISSIONS);
        self.change(
            path,
            (last(follow), files::CHMOD),
            Raise::Itself,
            |tree, spot| tree.chmod(user, spot.existing()?, mode),
            |tree, spot| tree.mount(spot.mount)?.chmod(&spot, mode),
        )
    }

    pub(crate) fn chown(&self, path: &[u8], uid: Option<u32>, gid: Option<u32>, follow: bool) -> Result<(), Errno> {
        let user = self.user;
        self.change(
            path,
            (last(follow), files::CHOWN),
            Raise::Itself,
            |tree, spot| tree.chown(user, spot.existing()?, uid, gid),
            |tree, spot| tree.mount(spot.mount)?.chown(&spot, uid, gid),
        )
    }

    pub(crate) fn utimes(&self, path: &[u8], atime: i64, mtime: i64, follow: bool) -> Result<(), Errno> {
        let user = self.user;
        self.change(
            path,
            (last(follow), files::UTIMES),
            Raise::Itself,
            |tree, spot| {
                let ino = spot.existing()?;
                let meta = tree.node(ino)?.meta;
                tree.utimes(user, ino, time(atime, meta.atime), time(mtime, meta.mtime))
            },
            |tree, spot| {
                let stat = spot.stat.ok_or(Errno::ENOENT)?;
                tree.mount(spot.mount)?.utimes(&spot, time(atime, stat.atime), time(mtime, stat.mtime))
            },
        )
    }

    pub(crate) fn truncate(&self, path: &[u8], len: u64) -> Result<(), Errno> {
        let mut tree = self.lock();
        match self.walk_to(&mut tree, path, Last::Follow, Wanted::only(files::TRUNCATE), Raise::Itself)? {
            Side::Memory(spot) => {
                let ino = spot.existing()?;
                tree.content(ino)?;
                tree.check(self.user, ino, WRITE)?;
                tree.truncate(ino, len)
            }
            Side::Host(spot) => open::host(&tree, self.user, &spot, 1, 0)?.truncate(len),
        }
    }

    /// Type, block size, blocks, free blocks twice, inodes, free inodes. A mount shows the space in memory too: the host's is not told.
    pub(crate) fn space(&self, path: &[u8]) -> Result<[f64; 7], Errno> {
        let tree = self.lock();
        if let Side::Memory(spot) = self.walk(&tree, path, Last::Follow, Wanted::only(files::STAT))? {
            spot.existing()?;
        }
        let (limits, used) = (&tree.limits, &tree.used);
        let free = (limits.bytes.saturating_sub(used.bytes) / BLOCK) as f64;
        let blocks = (limits.bytes / BLOCK) as f64;
        let free_inodes = limits.inodes.saturating_sub(used.inodes) as f64;
        Ok([TMPFS, BLOCK as f64, blocks, free, free, limits.inodes as f64, free_inodes])
    }

    /// As libuv copies: the copy takes the mode too. In memory it shares the bytes with the original. Where it stopped, if there is more to copy
    /// than one call may; the next one goes on from there.
    pub(crate) fn copy_file(&self, from: &[u8], to: &[u8], exclusive: bool, at: u64) -> Result<Option<u64>, Errno> {
        const WRITE_ONLY: u32 = 0o1;
        const CREATE_AND_WRITE: u32 = 0o101;
        const EXCLUSIVE: u32 = 0o200;
        let mut tree = self.lock();
        let source = open::find(&mut tree, self, from, 0, 0)?;
        let mode = source.mode(&tree)?;
        if let Opened::Directory(_) = source {
            return Err(Errno::EISDIR);
        }
        // Held: memory may be unlocked before the copy is done.
        source.hold(&mut tree);
        let flags = match (at, exclusive) {
            (1.., _) => WRITE_ONLY,
            (0, true) => CREATE_AND_WRITE | EXCLUSIVE,
            (0, false) => CREATE_AND_WRITE,
        };
        let copied = match open::find(&mut tree, self, to, flags, mode & !self.umask) {
            Ok(target) => {
                target.hold(&mut tree);
                let copied = self.copy_opened(&mut tree, (&source, &target), (to, mode), at);
                target.release(&mut tree);
                copied
            }
            Err(error) => Err(error),
        };
        source.release(&mut tree);
        copied
    }

    fn copy_opened(
        &self,
        tree: &mut Guard<'_>,
        (source, target): (&Opened, &Opened),
        (to, mode): (&[u8], u32),
        at: u64,
    ) -> Result<Option<u64>, Errno> {
        match (source, target) {
            (Opened::Memory(one), Opened::Memory(other)) if one == other => return Ok(None),
            (Opened::Memory(one), Opened::Memory(other)) => tree.share(*one, *other)?,
            _ => {
                if let Some(at) = open::copy(tree, source, target, at)? {
                    return Ok(Some(at));
                }
            }
        }
        // Bytes may go where modes may not be changed.
        if !self.allows(tree, to, files::CHMOD) {
            return Ok(None);
        }
        match target.chmod(tree, self.user, mode) {
            // Where there are no modes, a copy has none.
            Ok(()) | Err(Errno::EOPNOTSUPP) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Changes something where the path ends.
    fn change(
        &self,
        path: &[u8],
        (last, operation): (Last, Operations),
        what: Raise,
        here: impl FnOnce(&mut FileSystem, Spot) -> Result<(), Errno>,
        there: impl FnOnce(&FileSystem, HostSpot) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let mut tree = self.lock();
        match self.walk_to(&mut tree, path, last, Wanted::only(operation), what)? {
            Side::Memory(spot) => here(&mut tree, spot),
            Side::Host(spot) => there(&tree, spot),
        }
    }

    /// The whole file, if `room` holds it; its length.
    pub(crate) fn read_file(&self, path: &[u8], room: &mut [u8]) -> Result<u64, Errno> {
        let mut tree = self.lock();
        match self.walk(&tree, path, Last::Follow, Wanted::only(files::READ))? {
            Side::Memory(spot) => {
                let ino = spot.existing()?;
                tree.check(self.user, ino, READ)?;
                let len = tree.content(ino)?.len();
                if len <= room.len() as u64 {
                    tree.read(ino, 0, room)?;
                }
                Ok(len)
            }
            Side::Host(spot) => {
                let stat = spot.stat.ok_or(Errno::ENOENT)?;
                if stat.kind == Type::Directory {
                    return Err(Errno::EISDIR);
                }
                if stat.size > room.len() as u64 {
                    return if stat.allows(self.user, READ) { Ok(stat.size) } else { Err(Errno::EACCES) };
                }
                let file = open::host(&tree, self.user, &spot, 0, 0)?;
                drop(tree);
                let mut done = 0;
                while let count @ 1.. = file.read(done as u64, &mut room[done..])? {
                    done += count;
                }
                // It may have grown since: the caller asks again with what it needs now.
                let len = if done == room.len() { file.len()?.max(done as u64) } else { done as u64 };
                Ok(len)
            }
        }
    }
}
