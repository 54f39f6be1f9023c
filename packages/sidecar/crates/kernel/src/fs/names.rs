//! Changes names in directories: creates, removes and renames files.
//!
//! The checks run in Linux's order, so that a call with several errors fails with Linux's error.
//! Next: `attributes.rs`.

use super::node::{Body, Directory, Ino, Meta};
use super::tree::{FileSystem, SEARCH, WRITE, now};
use super::user::{Owner, User};
use super::walk::{Location, MemoryEnd, Name};
use super::watch::Change;
use coldframe_error::Errno;
use std::sync::Arc;

const STICKY: u32 = 0o1000;
const SET_GROUP: u32 = 0o2000;

impl FileSystem {
    /// Creates an inode with a new name. The caller must clear the bits of the umask in `mode`.
    /// Fails with `EEXIST` if the name exists.
    pub(crate) fn create(&mut self, user: &User, end: &MemoryEnd, body: Body, mode: u32) -> Result<Ino, Errno> {
        let name = self.free_name(end, matches!(body, Body::Directory(_)))?;
        self.may_change(user, end.parent)?;
        let parent = &self.node(end.parent)?.meta;
        let inherits = parent.mode & SET_GROUP != 0;
        let own = user.owner();
        let owner = if inherits { Owner { gid: parent.gid, ..own } } else { own };
        let is_directory = matches!(body, Body::Directory(_));
        let mode = if inherits && is_directory { mode | SET_GROUP } else { mode };
        let body = if is_directory { Body::Directory(Directory::new()) } else { body };
        let ino = self.add(body, mode, owner)?;
        self.enter(end.parent, name, ino)?;
        if is_directory {
            self.node_mut(end.parent)?.meta.links += 1;
        }
        self.notify_name(Change::Created, end.parent, name);
        Ok(ino)
    }

    /// Adds the name `end` for an existing file. Fails with `EPERM` for a directory, and for a file
    /// of another user that `user` may not read and write.
    pub(crate) fn link(&mut self, user: &User, ino: Ino, end: &MemoryEnd) -> Result<(), Errno> {
        let name = self.free_name(end, false)?;
        let node = self.node(ino)?;
        // As with Linux's protected_hardlinks, a program cannot keep a file of another user alive.
        let harmless = matches!(node.body, Body::File(_)) && node.allows(user, 6);
        if !user.owns(node.meta.uid) && !harmless {
            return Err(Errno::EPERM);
        }
        self.may_change(user, end.parent)?;
        if self.node(ino)?.is_directory() {
            return Err(Errno::EPERM);
        }
        self.reserve(0, 1)?;
        let node = self.node_mut(ino)?;
        node.meta.links += 1;
        node.meta.ctime = now();
        self.enter(end.parent, name, ino)?;
        self.notify_inode(Change::Attributes, ino);
        self.notify_name(Change::Created, end.parent, name);
        Ok(())
    }

    pub(crate) fn unlink(&mut self, user: &User, end: &MemoryEnd) -> Result<(), Errno> {
        let Name::Plain(name) = &end.name else { return Err(Errno::EISDIR) };
        let ino = end.existing()?;
        if end.slash {
            return Err(if self.node(ino)?.is_directory() { Errno::EISDIR } else { Errno::ENOTDIR });
        }
        self.may_remove(user, end.parent, ino)?;
        if self.node(ino)?.is_directory() {
            return Err(Errno::EISDIR);
        }
        self.leave(end.parent, name)?;
        self.drop_link(ino)?;
        self.notify_name(Change::Removed, end.parent, name);
        Ok(())
    }

    pub(crate) fn rmdir(&mut self, user: &User, end: &MemoryEnd) -> Result<(), Errno> {
        let name = match &end.name {
            Name::Plain(name) => name,
            Name::Root => return Err(Errno::EBUSY),
            Name::Dot => return Err(Errno::EINVAL),
            Name::DotDot => return Err(Errno::ENOTEMPTY),
        };
        let ino = end.existing()?;
        self.may_remove(user, end.parent, ino)?;
        if !self.is_empty(ino)? {
            return Err(Errno::ENOTEMPTY);
        }
        self.leave(end.parent, name)?;
        self.drop_directory(end.parent, ino)?;
        self.notify_name(Change::Removed, end.parent, name);
        Ok(())
    }

    /// Removes a directory with its content. The time is proportional to the number of inodes, at
    /// any depth. Fails with `EBUSY` if the directory contains a mount.
    pub(crate) fn remove_all(&mut self, user: &User, end: &MemoryEnd) -> Result<(), Errno> {
        let Name::Plain(name) = &end.name else { return self.rmdir(user, end) };
        let top = end.existing()?;
        self.may_remove(user, end.parent, top)?;
        let (mut directories, mut others, mut left) = (Vec::new(), Vec::new(), vec![top]);
        while let Some(directory) = left.pop() {
            directories.push(directory);
            for entry in self.directory(directory)?.names.after(None) {
                let (_, child) = entry?;
                match self.node(child)?.body {
                    Body::Mount(_) => return Err(Errno::EBUSY),
                    Body::Directory(_) if self.is_overlay_root(child) => return Err(Errno::EBUSY),
                    Body::Directory(_) => left.push(child),
                    _ => others.push(child),
                }
            }
        }
        self.leave(end.parent, name)?;
        self.lose_directory(end.parent)?;
        for other in others {
            self.drop_link(other)?;
        }
        for directory in directories {
            self.empty(directory)?;
            self.notify_inode(Change::Removed, directory);
            self.collect(directory);
        }
        self.notify_name(Change::Removed, end.parent, name);
        Ok(())
    }

    pub(crate) fn rename(&mut self, user: &User, from: &MemoryEnd, to: &MemoryEnd) -> Result<(), Errno> {
        let (Name::Plain(old_name), Name::Plain(new_name)) = (&from.name, &to.name) else { return Err(Errno::EBUSY) };
        let ino = from.existing()?;
        let is_directory = self.node(ino)?.is_directory();
        if !is_directory && (from.slash || to.slash) {
            return Err(Errno::ENOTDIR);
        }
        if is_directory && self.is_in(to.parent, ino)? {
            return Err(Errno::EINVAL);
        }
        if let Some(target) = to.node
            && self.node(target)?.is_directory()
            && self.is_in(from.parent, target)?
        {
            return Err(Errno::ENOTEMPTY);
        }
        if to.node == Some(ino) {
            return Ok(());
        }
        // A mount cannot move away from the path that the embedder chose, because permission rules
        // use that path.
        if is_directory && self.holds_mount(ino)? {
            return Err(Errno::EBUSY);
        }
        self.may_remove(user, from.parent, ino)?;
        match to.node {
            None => self.may_change(user, to.parent)?,
            Some(target) => {
                self.may_remove(user, to.parent, target)?;
                match (is_directory, self.node(target)?.is_directory()) {
                    (true, false) => return Err(Errno::ENOTDIR),
                    (false, true) => return Err(Errno::EISDIR),
                    _ => {}
                }
            }
        }
        if is_directory && from.parent != to.parent {
            self.check(user, ino, WRITE)?;
        }
        if let Some(target) = to.node {
            if is_directory && !self.is_empty(target)? {
                return Err(Errno::ENOTEMPTY);
            }
            self.leave(to.parent, new_name)?;
            if is_directory {
                self.drop_directory(to.parent, target)?;
            } else {
                self.drop_link(target)?;
            }
        }
        self.leave(from.parent, old_name)?;
        self.enter(to.parent, new_name, ino)?;
        self.node_mut(ino)?.meta.ctime = now();
        if is_directory {
            self.lose_directory(from.parent)?;
            self.node_mut(to.parent)?.meta.links += 1;
        }
        self.notify_move((from.parent, old_name), (to.parent, new_name));
        self.notify_inode(Change::Moved, ino);
        Ok(())
    }

    /// Returns the last name of `end`. Fails with `EEXIST` if the name exists. Fails with `ENOENT`
    /// if the directory was removed, or a slash follows the name of a file.
    fn free_name<'e>(&self, end: &'e MemoryEnd, for_directory: bool) -> Result<&'e [u8], Errno> {
        match &end.name {
            Name::Plain(name) if end.node.is_none() => {
                if end.slash && !for_directory {
                    return Err(Errno::ENOENT);
                }
                // A removed directory accepts no new names.
                if self.node(end.parent)?.meta.links == 0 { Err(Errno::ENOENT) } else { Ok(name) }
            }
            _ => Err(Errno::EEXIST),
        }
    }

    fn may_change(&self, user: &User, directory: Ino) -> Result<(), Errno> {
        self.check(user, directory, WRITE | SEARCH)
    }

    fn may_remove(&self, user: &User, directory: Ino, ino: Ino) -> Result<(), Errno> {
        self.may_remove_from(user, directory, self.node(ino)?.meta.uid)
    }

    /// Fails with `EACCES` or `EPERM` if `user` must not remove a file of `owner` from a directory.
    pub(super) fn may_remove_from(&self, user: &User, directory: Ino, owner: u32) -> Result<(), Errno> {
        self.may_change(user, directory)?;
        let holder: &Meta = &self.node(directory)?.meta;
        if holder.mode & STICKY != 0 && !user.owns(holder.uid) && !user.owns(owner) {
            return Err(Errno::EPERM);
        }
        Ok(())
    }

    /// Sets the times of a directory whose names have changed.
    pub(super) fn touch(&mut self, directory: Ino) -> Result<(), Errno> {
        self.change(directory, |_| {})
    }

    /// Returns whether `ino` is `ancestor` or an inode below `ancestor`.
    fn is_in(&self, ino: Ino, ancestor: Ino) -> Result<bool, Errno> {
        let mut at = ino;
        loop {
            if at == ancestor {
                return Ok(true);
            }
            let parent = self.node(at)?.parent()?;
            if parent == at {
                return Ok(false);
            }
            at = parent;
        }
    }

    /// Returns whether a directory contains a mount at any depth.
    fn holds_mount(&self, ino: Ino) -> Result<bool, Errno> {
        for mount in &self.mounts {
            if let Location::Memory(parent) = mount.parent
                && self.is_in(parent, ino)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds a name for the inode `ino` to a directory, and stores the directory and the name in the
    /// inode.
    pub(super) fn enter(&mut self, directory: Ino, name: &[u8], ino: Ino) -> Result<(), Errno> {
        self.node_mut(ino)?.set_place(directory, Arc::from(name));
        self.change(directory, |names| names.names.insert(name, ino))
    }

    fn leave(&mut self, directory: Ino, name: &[u8]) -> Result<(), Errno> {
        self.hide(directory, name)?;
        self.change(directory, |names| names.names.remove(name))
    }

    fn change(&mut self, directory: Ino, change: impl FnOnce(&mut Directory)) -> Result<(), Errno> {
        let now = now();
        let node = self.node_mut(directory)?;
        (node.meta.mtime, node.meta.ctime) = (now, now);
        let Body::Directory(names) = &mut node.body else { return Err(Errno::ENOTDIR) };
        change(names);
        Ok(())
    }

    fn drop_link(&mut self, ino: Ino) -> Result<(), Errno> {
        let meta = &mut self.node_mut(ino)?.meta;
        meta.links -= 1;
        meta.ctime = now();
        let last = meta.links == 0;
        self.notify_inode(if last { Change::Removed } else { Change::Attributes }, ino);
        if last {
            self.collect(ino);
        } else {
            self.return_space(0, 1);
        }
        Ok(())
    }

    /// Removes all names of a removed directory and sets the link count to zero.
    fn empty(&mut self, ino: Ino) -> Result<(), Errno> {
        let hidden = self.node(ino)?.inodes() - 1;
        let node = self.node_mut(ino)?;
        (node.meta.links, node.meta.ctime) = (0, now());
        node.body = Body::Directory(Directory::new());
        self.return_space(0, hidden);
        Ok(())
    }

    /// Lowers the link count of a directory that has lost a subdirectory. The count stays at least
    /// 2, because the count of a folder on the host machine may be too small.
    fn lose_directory(&mut self, ino: Ino) -> Result<(), Errno> {
        let meta = &mut self.node_mut(ino)?.meta;
        meta.links = meta.links.saturating_sub(1).max(2);
        Ok(())
    }

    fn drop_directory(&mut self, parent: Ino, ino: Ino) -> Result<(), Errno> {
        self.empty(ino)?;
        self.lose_directory(parent)?;
        self.notify_inode(Change::Removed, ino);
        self.collect(ino);
        Ok(())
    }
}
