//! Changing what lies in a mount that allows it. In a read-only one every call is `EROFS`, before it looks at anything, as on Linux.
//!
//! A guest cannot lay traps for programs of the host: links that it makes or moves stay within the mount (`traps.rs`), and set-id bits are not set. Next: `mod.rs`.

use super::super::tree::GUEST;
use super::super::walk::{HostSpot, Name};
use super::walk::{parts, path};
use super::{HostFile, Mount};
use crate::kernel::Errno;
use cap_std::fs::{DirBuilder, DirBuilderExt, Permissions, PermissionsExt};
use std::ffi::OsStr;
use std::fs::FileTimes;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, SystemTime};

fn done(result: std::io::Result<()>) -> Result<(), Errno> {
    result.map_err(|error| Errno::of(&error))
}

impl Mount {
    pub(in crate::kernel::fs) fn writable(&self) -> Result<(), Errno> {
        if self.read_only { Err(Errno::EROFS) } else { Ok(()) }
    }

    pub(in crate::kernel::fs) fn mkdir(&self, spot: &HostSpot, mode: u32) -> Result<(), Errno> {
        self.free(spot, true)?;
        done(self.root()?.create_dir_with(path(&spot.path), DirBuilder::new().mode(mode & 0o777)))
    }

    pub(in crate::kernel::fs) fn symlink(&self, target: &[u8], spot: &HostSpot) -> Result<(), Errno> {
        self.free(spot, false)?;
        self.check_link(&spot.path, target)?;
        done(self.root()?.symlink_contents(OsStr::from_bytes(target), path(&spot.path)))
    }

    pub(in crate::kernel::fs) fn link(&self, from: &HostSpot, to: &HostSpot) -> Result<(), Errno> {
        self.free(to, false)?;
        if from.stat.is_some_and(|stat| stat.kind == super::super::node::Type::Directory) {
            return Err(Errno::EPERM);
        }
        self.check_move(from, &to.path)?;
        done(self.root()?.hard_link(path(&from.path), self.root()?, path(&to.path)))
    }

    pub(in crate::kernel::fs) fn unlink(&self, spot: &HostSpot) -> Result<(), Errno> {
        if !matches!(spot.name, Name::Plain(_)) {
            return Err(Errno::EISDIR);
        }
        self.writable()?;
        let stat = spot.stat.ok_or(Errno::ENOENT)?;
        if stat.kind == super::super::node::Type::Directory {
            return Err(Errno::EISDIR);
        }
        if spot.slash {
            return Err(Errno::ENOTDIR);
        }
        done(self.root()?.remove_file(path(&spot.path)))
    }

    pub(in crate::kernel::fs) fn rmdir(&self, spot: &HostSpot) -> Result<(), Errno> {
        match spot.name {
            Name::Plain(_) => {}
            Name::Root => return Err(Errno::EBUSY),
            Name::Dot => return Err(Errno::EINVAL),
            Name::DotDot => return Err(Errno::ENOTEMPTY),
        }
        self.writable()?;
        if self.holds_mount(&spot.path) {
            return Err(Errno::EBUSY);
        }
        spot.stat.ok_or(Errno::ENOENT)?;
        done(self.root()?.remove_dir(path(&spot.path)))
    }

    pub(in crate::kernel::fs) fn remove_all(&self, spot: &HostSpot) -> Result<(), Errno> {
        if !matches!(spot.name, Name::Plain(_)) {
            return self.rmdir(spot);
        }
        self.writable()?;
        if self.holds_mount(&spot.path) {
            return Err(Errno::EBUSY);
        }
        done(self.root()?.remove_dir_all(path(&spot.path)))
    }

    pub(in crate::kernel::fs) fn rename(&self, from: &HostSpot, to: &HostSpot) -> Result<(), Errno> {
        if !matches!((&from.name, &to.name), (Name::Plain(_), Name::Plain(_))) {
            return Err(Errno::EBUSY);
        }
        self.writable()?;
        if self.holds_mount(&from.path) || self.holds_mount(&to.path) {
            return Err(Errno::EBUSY);
        }
        let stat = from.stat.ok_or(Errno::ENOENT)?;
        if stat.kind != super::super::node::Type::Directory && (from.slash || to.slash) {
            return Err(Errno::ENOTDIR);
        }
        self.check_move(from, &to.path)?;
        done(self.root()?.rename(path(&from.path), self.root()?, path(&to.path)))
    }

    pub(in crate::kernel::fs) fn chmod(&self, spot: &HostSpot, mode: u32) -> Result<(), Errno> {
        self.writable()?;
        self.only_owner(spot)?;
        if spot.stat.is_some_and(|stat| stat.kind == super::super::node::Type::Link) {
            return Err(Errno::EOPNOTSUPP);
        }
        done(self.root()?.set_permissions(path(&spot.path), Permissions::from_mode(mode & 0o1777)))
    }

    pub(in crate::kernel::fs) fn chown(&self, spot: &HostSpot, uid: Option<u32>, gid: Option<u32>) -> Result<(), Errno> {
        self.writable()?;
        let stat = spot.stat.ok_or(Errno::ENOENT)?;
        let same = uid.is_none_or(|uid| uid == stat.uid) && gid.is_none_or(|gid| gid == stat.gid);
        if same { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// The access and the modification time. A link's own times stay as they are.
    pub(in crate::kernel::fs) fn utimes(&self, spot: &HostSpot, atime: i64, mtime: i64) -> Result<(), Errno> {
        self.writable()?;
        self.only_owner(spot)?;
        let stat = spot.stat.ok_or(Errno::ENOENT)?;
        match stat.kind {
            super::super::node::Type::Directory | super::super::node::Type::File => {
                let opened = self.root()?.open(path(&spot.path));
                done(opened.and_then(|file| file.into_std().set_times(times(atime, mtime))))
            }
            _ => Err(Errno::EOPNOTSUPP),
        }
    }

    fn only_owner(&self, spot: &HostSpot) -> Result<(), Errno> {
        if spot.stat.ok_or(Errno::ENOENT)?.uid == GUEST { Ok(()) } else { Err(Errno::EPERM) }
    }

    fn free(&self, spot: &HostSpot, for_directory: bool) -> Result<(), Errno> {
        if spot.stat.is_some() || !matches!(spot.name, Name::Plain(_)) {
            return Err(Errno::EEXIST);
        }
        if spot.slash && !for_directory {
            return Err(Errno::ENOENT);
        }
        self.writable()
    }

    /// Whether something is mounted at or below the path.
    fn holds_mount(&self, at: &[u8]) -> bool {
        self.inner.read().iter().any(|(inner, _)| parts(inner).take(parts(at).count()).eq(parts(at)))
    }
}

impl HostFile {
    pub(in crate::kernel::fs) fn utimes(&self, atime: i64, mtime: i64) -> Result<(), Errno> {
        self.mount.writable()?;
        let file = self.folder_file()?.try_clone().map_err(|error| Errno::of(&error))?;
        done(file.into_std().set_times(times(atime, mtime)))
    }

    pub(in crate::kernel::fs) fn chmod(&self, mode: u32) -> Result<(), Errno> {
        self.mount.writable()?;
        done(self.folder_file()?.set_permissions(Permissions::from_mode(mode & 0o1777)))
    }
}

fn times(atime: i64, mtime: i64) -> FileTimes {
    let time = |nanoseconds: i64| {
        let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
        if nanoseconds < 0 { SystemTime::UNIX_EPOCH - distance } else { SystemTime::UNIX_EPOCH + distance }
    };
    FileTimes::new().set_accessed(time(atime)).set_modified(time(mtime))
}
