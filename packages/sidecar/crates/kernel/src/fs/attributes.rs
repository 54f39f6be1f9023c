//! Changes the attributes that `stat` shows: modes, owners, times. A guest can change only the
//! guest's own files. Other changes of a guest fail with `EPERM`. Next: `data.rs`.

use super::node::{Ino, Type};
use super::tree::{FileSystem, GUEST, User, now};
use coldframe_error::Errno;

const SET_IDS: u32 = 0o6000;

impl FileSystem {
    pub(crate) fn chmod(&mut self, user: User, ino: Ino, mode: u32) -> Result<(), Errno> {
        if self.node(ino)?.kind() == Type::Link {
            return Err(Errno::EOPNOTSUPP);
        }
        self.only_owner(user, ino)?;
        let meta = &mut self.node_mut(ino)?.meta;
        meta.mode = mode & 0o7777;
        meta.ctime = now();
        self.notify_content(ino);
        Ok(())
    }

    /// Changes the owner and the group. `None` keeps an id. A guest can only keep the ids of its
    /// own file or set the guest's group. Every other change of a guest fails with `EPERM`.
    pub(crate) fn chown(&mut self, user: User, ino: Ino, uid: Option<u32>, gid: Option<u32>) -> Result<(), Errno> {
        let node = self.node(ino)?;
        let foreign = uid.is_some_and(|uid| uid != node.meta.uid) || gid.is_some_and(|gid| gid != node.meta.gid && gid != GUEST);
        let touched = uid.is_some() || gid.is_some();
        if user == User::Guest && (foreign || (touched && !node.meta.owned_by(user))) {
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
        self.notify_content(ino);
        Ok(())
    }

    pub(crate) fn utimes(&mut self, user: User, ino: Ino, atime: i64, mtime: i64) -> Result<(), Errno> {
        self.only_owner(user, ino)?;
        let meta = &mut self.node_mut(ino)?.meta;
        (meta.atime, meta.mtime, meta.ctime) = (atime, mtime, now());
        self.notify_content(ino);
        Ok(())
    }

    fn only_owner(&self, user: User, ino: Ino) -> Result<(), Errno> {
        if self.node(ino)?.meta.owned_by(user) { Ok(()) } else { Err(Errno::EPERM) }
    }
}
