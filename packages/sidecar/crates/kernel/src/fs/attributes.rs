//! Changes the attributes that `stat` shows: modes, owners, times. A program can change only the
//! files of its user, and a program of the user 0 all files. Other changes fail with `EPERM`. Next:
//! `data.rs`.

use super::node::{Ino, Type};
use super::tree::{FileSystem, now};
use super::user::User;
use super::watch::Change;
use coldframe_error::Errno;

const SET_IDS: u32 = 0o6000;
const SET_GROUP: u32 = 0o2000;

impl FileSystem {
    pub(crate) fn chmod(&mut self, user: &User, ino: Ino, mode: u32) -> Result<(), Errno> {
        if self.node(ino)?.kind() == Type::Link {
            return Err(Errno::EOPNOTSUPP);
        }
        self.only_owner(user, ino)?;
        let meta = &mut self.node_mut(ino)?.meta;
        // Otherwise a member of no privileged group could make a file with that group's id.
        let kept = if user.is_in(meta.gid) { 0o7777 } else { 0o7777 & !SET_GROUP };
        meta.mode = mode & kept;
        meta.ctime = now();
        self.notify_content(Change::Attributes, ino);
        Ok(())
    }

    /// Changes the owner and the group. `None` keeps an id. A program without the user 0 can only
    /// keep the ids of its own file, or set one of its groups. Every other change fails with
    /// `EPERM`.
    pub(crate) fn chown(&mut self, user: &User, ino: Ino, uid: Option<u32>, gid: Option<u32>) -> Result<(), Errno> {
        let node = self.node(ino)?;
        let foreign =
            uid.is_some_and(|uid| uid != node.meta.uid) || gid.is_some_and(|gid| gid != node.meta.gid && !user.is_in(gid));
        let touched = uid.is_some() || gid.is_some();
        if user.is_restricted() && (foreign || (touched && !user.owns(node.meta.uid))) {
            return Err(Errno::EPERM);
        }
        let clears = touched && !node.is_directory();
        let meta = &mut self.node_mut(ino)?.meta;
        meta.uid = uid.unwrap_or(meta.uid);
        meta.gid = gid.unwrap_or(meta.gid);
        if clears {
            meta.mode &= !SET_IDS;
        }
        meta.ctime = now();
        self.notify_content(Change::Attributes, ino);
        Ok(())
    }

    pub(crate) fn utimes(&mut self, user: &User, ino: Ino, atime: i64, mtime: i64) -> Result<(), Errno> {
        self.only_owner(user, ino)?;
        let meta = &mut self.node_mut(ino)?.meta;
        (meta.atime, meta.mtime, meta.ctime) = (atime, mtime, now());
        self.notify_content(Change::Attributes, ino);
        Ok(())
    }

    pub(super) fn only_owner(&self, user: &User, ino: Ino) -> Result<(), Errno> {
        if user.owns(self.node(ino)?.meta.uid) { Ok(()) } else { Err(Errno::EPERM) }
    }
}
