//! Operations on paths, for a program through its system calls (`calls.rs`) and for the embedder
//! (`embedder/`).
//!
//! Each operation resolves its path and then acts on the path's end, in memory or in a mount. The
//! filesystem stays locked between the path walk and the action, so the result of the path walk
//! stays valid. Next: `open.rs`.

use super::guard::RequestedOperations;
use super::lock::{FilesLock, Guard};
use super::node::{Body, Directory, Type};
use super::open::{self, Opened};
use super::overlay::Raise;
use super::stat::Stat;
use super::tree::{FileSystem, READ, WRITE, now};
use super::user::User;
use super::walk::{FinalLink, Location, MemoryEnd, MountEnd, PathEnd};
use crate::permissions::Permissions;
use crate::permissions::operations::{Operations, files};
use crate::steps::MAX_TRANSFER;
use coldframe_error::Errno;
use coldframe_panics::reach;

/// The filesystem type that `statfs` returns: tmpfs.
const TMPFS: f64 = 0x0102_1994 as f64;
const BLOCK: u64 = 4_096;
/// The mode bits that can be changed.
const PERMISSIONS: u32 = 0o7777;

/// One user's access to the filesystem, with a working directory.
pub(crate) struct View<'k> {
    pub(crate) files: &'k FilesLock,
    pub(crate) user: User,
    pub(crate) cwd: Option<Location>,
    pub(crate) umask: u32,
    /// The permissions to check. `None` for the embedder.
    pub(crate) permissions: Option<&'k Permissions>,
}

/// Returns the time that `utimes` sets. `docs/internals/guest-abi.md` has the special values.
pub(super) fn time(requested: i64, old: i64) -> i64 {
    match requested {
        i64::MIN => old,
        i64::MAX => now(),
        requested => requested,
    }
}

/// Fails with `EPERM` if a user that the host machine does not know does not own a file of a mount.
/// The mount checks all other users.
fn only_owner(user: &User, end: &MountEnd) -> Result<(), Errno> {
    let is_allowed = !user.is_foreign() || user.owns(end.stat.ok_or(Errno::ENOENT)?.uid);
    if is_allowed { Ok(()) } else { Err(Errno::EPERM) }
}

fn last(follow: bool) -> FinalLink {
    if follow { FinalLink::Follow } else { FinalLink::Stay }
}

impl View<'_> {
    pub(super) fn lock(&self) -> Guard<'_> {
        self.files.lock()
    }

    /// Removes and returns the explanation of the last `EACCES`.
    pub(crate) fn reason(&self) -> Option<String> {
        self.lock().reason.take()
    }

    /// Marks the end of a guest's call that failed with `EACCES`.
    pub(crate) fn end_denied_call(&self) {
        self.lock().reason.end_call();
    }

    pub(crate) fn stat(&self, path: &[u8], follow: bool) -> Result<Stat, Errno> {
        let tree = self.lock();
        match self.walk(&tree, path, last(follow), RequestedOperations::only(files::STAT))? {
            PathEnd::Memory(end) => {
                let ino = end.existing()?;
                Ok(Stat::of(ino, tree.node(ino)?))
            }
            PathEnd::Mount(end) => end.stat.ok_or(Errno::ENOENT),
        }
    }

    /// Fails with `EACCES` if the user lacks access to a file, and with `EROFS` for writing in a
    /// read-only mount. `wanted` has the bits 4, 2 and 1 for reading, writing and executing.
    pub(crate) fn access(&self, path: &[u8], wanted: u32) -> Result<(), Errno> {
        if wanted & !7 != 0 {
            return Err(Errno::EINVAL);
        }
        reach("guest-call", path);
        reach("process-lock", path);
        let tree = self.lock();
        let [read, write, execute] = [(4, files::READ), (2, files::WRITE), (1, files::EXECUTE)]
            .map(|(bit, operation)| if wanted & bit != 0 { operation } else { 0 });
        let operations = RequestedOperations {
            directory: files::STAT | write,
            ..RequestedOperations::only(files::STAT | read | write | execute)
        };
        match self.walk(&tree, path, FinalLink::Follow, operations)? {
            PathEnd::Memory(end) => tree.check(&self.user, end.existing()?, wanted),
            PathEnd::Mount(end) => {
                let stat = end.stat.ok_or(Errno::ENOENT)?;
                if wanted & WRITE != 0 && !tree.is_overlay(end.mount) {
                    tree.mount(end.mount)?.writable()?;
                }
                if stat.allows(&self.user, wanted) { Ok(()) } else { Err(Errno::EACCES) }
            }
        }
    }

    pub(crate) fn mkdir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let mode = mode & 0o1777 & !self.umask;
        self.change(
            path,
            (FinalLink::Name, files::CREATE_DIR),
            Raise::Holder,
            |tree, end| {
                reach("file-lock", path);
                tree.create(&self.user, &end, Body::Directory(Directory::new()), mode).map(drop)
            },
            |tree, end| tree.mount(end.mount)?.mkdir(&end, mode),
        )
    }

    pub(crate) fn rmdir(&self, path: &[u8]) -> Result<(), Errno> {
        let user = &self.user;
        self.change(
            path,
            (FinalLink::Name, files::RM),
            Raise::Itself,
            |tree, end| tree.rmdir(user, &end),
            |tree, end| tree.mount(end.mount)?.rmdir(&end),
        )
    }

    pub(crate) fn unlink(&self, path: &[u8]) -> Result<(), Errno> {
        let mut tree = self.lock();
        match self.walk(&tree, path, FinalLink::Name, RequestedOperations::only(files::RM))? {
            PathEnd::Memory(end) => tree.unlink(&self.user, &end),
            PathEnd::Mount(end) if tree.is_overlay(end.mount) => tree.unlink_below(&self.user, &end),
            PathEnd::Mount(end) => tree.mount(end.mount)?.unlink(&end),
        }
    }

    pub(crate) fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let mut tree = self.lock();
        // The old path is resolved again after the new path, because raising the new path's
        // directory may change an overlay.
        let wanted = RequestedOperations::only(files::RENAME);
        self.walk_to(&mut tree, from, FinalLink::Name, wanted, Raise::Itself)?;
        let new = self.walk_to(&mut tree, to, FinalLink::Name, wanted, Raise::Itself)?;
        let old = self.walk_again(&tree, from, FinalLink::Name)?;
        self.may_move(&tree, (from, FinalLink::Name), to, false)?;
        match (old, new) {
            (PathEnd::Memory(from), PathEnd::Memory(to)) => tree.rename(&self.user, &from, &to),
            (PathEnd::Mount(from), PathEnd::Mount(to)) if from.mount == to.mount => tree.mount(from.mount)?.rename(&from, &to),
            _ => Err(Errno::EXDEV),
        }
    }

    pub(crate) fn link(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let mut tree = self.lock();
        let wanted = RequestedOperations::only(files::LINK);
        let old = self.walk_to(&mut tree, from, FinalLink::Stay, wanted, Raise::Itself)?;
        let found = match &old {
            PathEnd::Memory(end) => end.node.is_some(),
            PathEnd::Mount(end) => end.stat.is_some(),
        };
        if !found {
            return Err(Errno::ENOENT);
        }
        let new = self.walk_to(&mut tree, to, FinalLink::Name, wanted, Raise::Holder)?;
        self.may_move(&tree, (from, FinalLink::Stay), to, true)?;
        match (old, new) {
            (PathEnd::Memory(_), PathEnd::Mount(to)) if to.stat.is_some() => Err(Errno::EEXIST),
            (PathEnd::Memory(from), PathEnd::Memory(to)) => tree.link(&self.user, from.existing()?, &to),
            (PathEnd::Mount(from), PathEnd::Mount(to)) if from.mount == to.mount => tree.mount(from.mount)?.link(&from, &to),
            _ => Err(Errno::EXDEV),
        }
    }

    pub(crate) fn symlink(&self, target: &[u8], path: &[u8]) -> Result<(), Errno> {
        if target.is_empty() {
            return Err(Errno::ENOENT);
        }
        self.change(
            path,
            (FinalLink::Name, files::SYMLINK),
            Raise::Holder,
            |tree, end| tree.create(&self.user, &end, Body::Link(target.into()), 0o777).map(drop),
            |tree, end| tree.mount(end.mount)?.symlink(target, &end),
        )
    }

    pub(crate) fn readlink(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let tree = self.lock();
        match self.walk(&tree, path, FinalLink::Stay, RequestedOperations::only(files::READLINK))? {
            PathEnd::Memory(end) => match &tree.node(end.existing()?)?.body {
                Body::Link(target) => Ok(target.to_vec()),
                _ => Err(Errno::EINVAL),
            },
            PathEnd::Mount(end) if end.stat.ok_or(Errno::ENOENT)?.kind == Type::Link => {
                let mount = tree.mount(end.mount)?;
                mount.proc().map_or_else(|| mount.read_link(&end.path), |proc| proc.read_link(&tree, &end.path))
            }
            PathEnd::Mount(_) => Err(Errno::EINVAL),
        }
    }

    pub(crate) fn chmod(&self, path: &[u8], mode: u32, follow: bool) -> Result<(), Errno> {
        let (user, mode) = (&self.user, mode & PERMISSIONS);
        self.change(
            path,
            (last(follow), files::CHMOD),
            Raise::Itself,
            |tree, end| tree.chmod(user, end.existing()?, mode),
            |tree, end| {
                only_owner(user, &end)?;
                tree.mount(end.mount)?.chmod(&end, mode)
            },
        )
    }

    pub(crate) fn chown(&self, path: &[u8], uid: Option<u32>, gid: Option<u32>, follow: bool) -> Result<(), Errno> {
        let user = &self.user;
        self.change(
            path,
            (last(follow), files::CHOWN),
            Raise::Itself,
            |tree, end| tree.chown(user, end.existing()?, uid, gid),
            |tree, end| tree.mount(end.mount)?.chown(&end, uid, gid),
        )
    }

    pub(crate) fn utimes(&self, path: &[u8], atime: i64, mtime: i64, follow: bool) -> Result<(), Errno> {
        let user = &self.user;
        self.change(
            path,
            (last(follow), files::UTIMES),
            Raise::Itself,
            |tree, end| {
                let ino = end.existing()?;
                let meta = tree.node(ino)?.meta;
                tree.utimes(user, ino, time(atime, meta.atime), time(mtime, meta.mtime))
            },
            |tree, end| {
                only_owner(user, &end)?;
                let stat = end.stat.ok_or(Errno::ENOENT)?;
                tree.mount(end.mount)?.utimes(&end, time(atime, stat.atime), time(mtime, stat.mtime))
            },
        )
    }

    pub(crate) fn truncate(&self, path: &[u8], len: u64) -> Result<(), Errno> {
        let mut tree = self.lock();
        match self.walk_to(&mut tree, path, FinalLink::Follow, RequestedOperations::only(files::TRUNCATE), Raise::Itself)? {
            PathEnd::Memory(end) => {
                let ino = end.existing()?;
                tree.content(ino)?;
                tree.check(&self.user, ino, WRITE)?;
                tree.truncate(ino, len)
            }
            PathEnd::Mount(end) => open::host(&tree, &self.user, &end, 1, 0)?.truncate(len),
        }
    }

    /// Returns the type, the block size, the blocks, the free blocks twice, the inodes and the free
    /// inodes. For a mount, the numbers describe the filesystem in memory, because the host
    /// machine's space is secret.
    pub(crate) fn space(&self, path: &[u8]) -> Result<[f64; 7], Errno> {
        let tree = self.lock();
        if let PathEnd::Memory(end) = self.walk(&tree, path, FinalLink::Follow, RequestedOperations::only(files::STAT))? {
            end.existing()?;
        }
        let (limits, used) = (&tree.limits, &tree.used);
        let free = (limits.bytes.saturating_sub(used.bytes) / BLOCK) as f64;
        let blocks = (limits.bytes / BLOCK) as f64;
        let free_inodes = limits.inodes.saturating_sub(used.inodes) as f64;
        Ok([TMPFS, BLOCK as f64, blocks, free, free, limits.inodes as f64, free_inodes])
    }

    /// Copies a file and its mode, as libuv does. In memory, the copy shares the original's bytes.
    /// If the file is larger than one call may copy, returns the offset for the next call.
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
        // The hold prevents the removal of the file, because the filesystem may be unlocked during
        // the copy.
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
        // A program may be permitted to copy bytes, but not to change modes.
        if !self.allows(tree, to, files::CHMOD) {
            return Ok(None);
        }
        match target.chmod(tree, &self.user, mode) {
            // In a filesystem without modes, the copy succeeds without the mode.
            Ok(()) | Err(Errno::EOPNOTSUPP) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Resolves a path and calls `here` for an end in memory, or `there` for an end in a mount.
    /// Raises a file of an overlay before the call.
    fn change(
        &self,
        path: &[u8],
        (last, operation): (FinalLink, Operations),
        what: Raise,
        here: impl FnOnce(&mut FileSystem, MemoryEnd) -> Result<(), Errno>,
        there: impl FnOnce(&FileSystem, MountEnd) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let mut tree = self.lock();
        match self.walk_to(&mut tree, path, last, RequestedOperations::only(operation), what)? {
            PathEnd::Memory(end) => here(&mut tree, end),
            PathEnd::Mount(end) => there(&tree, end),
        }
    }

    /// Reads the whole file into `room` if the file fits and has at most [`MAX_TRANSFER`] bytes.
    /// Returns the file's length, also if no byte was read.
    pub(crate) fn read_file(&self, path: &[u8], room: &mut [u8]) -> Result<u64, Errno> {
        let most = room.len().min(MAX_TRANSFER);
        let room = &mut room[..most];
        let mut tree = self.lock();
        match self.walk(&tree, path, FinalLink::Follow, RequestedOperations::only(files::READ))? {
            PathEnd::Memory(end) => {
                let ino = end.existing()?;
                tree.check(&self.user, ino, READ)?;
                let len = tree.content(ino)?.len();
                // The steps may suffice for a part only. The caller then reads through a
                // descriptor.
                if len <= room.len() as u64 && tree.read(ino, 0, room)? as u64 != len {
                    return Err(Errno::ELOOP);
                }
                Ok(len)
            }
            PathEnd::Mount(end) => {
                let stat = end.stat.ok_or(Errno::ENOENT)?;
                if stat.kind == Type::Directory {
                    return Err(Errno::EISDIR);
                }
                if stat.size > room.len() as u64 {
                    return if stat.allows(&self.user, READ) { Ok(stat.size) } else { Err(Errno::EACCES) };
                }
                let file = open::host(&tree, &self.user, &end, 0, 0)?;
                drop(tree);
                let mut done = 0;
                while let count @ 1.. = file.read(done as u64, &mut room[done..])? {
                    done += count;
                }
                // The file may have grown since the length was read. The caller then retries with a
                // larger buffer.
                let len = if done == room.len() { file.len()?.max(done as u64) } else { done as u64 };
                Ok(len)
            }
        }
    }
}
