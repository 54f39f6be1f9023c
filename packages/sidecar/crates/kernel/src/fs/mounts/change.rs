//! Changes files in a writable mount. In a read-only mount, every change fails with `EROFS`. As on
//! Linux, only checks of the path's last name precede: for example, `mkdir` of an existing path
//! fails with `EEXIST`.
//!
//! A guest must not be able to harm programs of the host machine through a mount. The guest's links
//! stay inside the mount (`traps.rs`), and set-id bits are never set. Next: `mod.rs`.

use super::super::app_file_system::App;
use super::super::user::GUEST;
use super::super::walk::{MountEnd, Name};
use super::walk::{parts, path};
use super::{HostFile, Mount};
use cap_std::fs::{DirBuilder, DirBuilderExt, Permissions, PermissionsExt};
use coldframe_error::Errno;
use std::ffi::OsStr;
use std::fs::FileTimes;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, SystemTime};

fn done(result: std::io::Result<()>) -> Result<(), Errno> {
    result.map_err(|error| Errno::of(&error))
}

impl Mount {
    pub(in crate::fs) fn writable(&self) -> Result<(), Errno> {
        if self.read_only { Err(Errno::EROFS) } else { Ok(()) }
    }

    pub(in crate::fs) fn mkdir(&self, end: &MountEnd, mode: u32) -> Result<(), Errno> {
        self.free(end, true)?;
        if let Some(app) = self.app() {
            return app.mkdir(&end.path, mode);
        }
        done(self.root()?.create_dir_with(path(&end.path), DirBuilder::new().mode(mode & 0o777)))
    }

    pub(in crate::fs) fn symlink(&self, target: &[u8], end: &MountEnd) -> Result<(), Errno> {
        self.free(end, false)?;
        if let Some(app) = self.app() {
            return app.symlink(target, &end.path);
        }
        self.check_link(&end.path, target)?;
        done(self.root()?.symlink_contents(OsStr::from_bytes(target), path(&end.path)))
    }

    pub(in crate::fs) fn link(&self, from: &MountEnd, to: &MountEnd) -> Result<(), Errno> {
        self.free(to, false)?;
        if from.stat.is_some_and(|stat| stat.kind == super::super::node::Type::Directory) {
            return Err(Errno::EPERM);
        }
        if self.app().is_some() {
            return Err(Errno::EOPNOTSUPP);
        }
        self.check_move(from, &to.path)?;
        done(self.root()?.hard_link(path(&from.path), self.root()?, path(&to.path)))
    }

    pub(in crate::fs) fn unlink(&self, end: &MountEnd) -> Result<(), Errno> {
        if !matches!(end.name, Name::Plain(_)) {
            return Err(Errno::EISDIR);
        }
        self.writable()?;
        let stat = end.stat.ok_or(Errno::ENOENT)?;
        if stat.kind == super::super::node::Type::Directory {
            return Err(Errno::EISDIR);
        }
        if end.slash {
            return Err(Errno::ENOTDIR);
        }
        if let Some(app) = self.app() {
            return app.remove(&end.path);
        }
        done(self.root()?.remove_file(path(&end.path)))
    }

    pub(in crate::fs) fn rmdir(&self, end: &MountEnd) -> Result<(), Errno> {
        match end.name {
            Name::Plain(_) => {}
            Name::Root => return Err(Errno::EBUSY),
            Name::Dot => return Err(Errno::EINVAL),
            Name::DotDot => return Err(Errno::ENOTEMPTY),
        }
        self.writable()?;
        if self.holds_mount(&end.path) {
            return Err(Errno::EBUSY);
        }
        let stat = end.stat.ok_or(Errno::ENOENT)?;
        if let Some(app) = self.app() {
            if stat.kind != super::super::node::Type::Directory {
                return Err(Errno::ENOTDIR);
            }
            return app.remove(&end.path);
        }
        done(self.root()?.remove_dir(path(&end.path)))
    }

    pub(in crate::fs) fn remove_all(&self, end: &MountEnd) -> Result<(), Errno> {
        if !matches!(end.name, Name::Plain(_)) {
            return self.rmdir(end);
        }
        self.writable()?;
        if self.holds_mount(&end.path) {
            return Err(Errno::EBUSY);
        }
        done(self.root()?.remove_dir_all(path(&end.path)))
    }

    pub(in crate::fs) fn rename(&self, from: &MountEnd, to: &MountEnd) -> Result<(), Errno> {
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
        if let Some(app) = self.app() {
            return rename_in(app, from, to);
        }
        self.check_move(from, &to.path)?;
        done(self.root()?.rename(path(&from.path), self.root()?, path(&to.path)))
    }

    pub(in crate::fs) fn chmod(&self, end: &MountEnd, mode: u32) -> Result<(), Errno> {
        self.writable()?;
        self.only_owner(end)?;
        if end.stat.is_some_and(|stat| stat.kind == super::super::node::Type::Link) {
            return Err(Errno::EOPNOTSUPP);
        }
        if let Some(app) = self.app() {
            return app.chmod(&end.path, mode);
        }
        done(self.root()?.set_permissions(path(&end.path), Permissions::from_mode(mode & 0o1777)))
    }

    pub(in crate::fs) fn chown(&self, end: &MountEnd, uid: Option<u32>, gid: Option<u32>) -> Result<(), Errno> {
        self.writable()?;
        let stat = end.stat.ok_or(Errno::ENOENT)?;
        let same = uid.is_none_or(|uid| uid == stat.uid) && gid.is_none_or(|gid| gid == stat.gid);
        if same { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// Sets the access time and the modification time. In a host directory, only files and
    /// directories have settable times. Other types fail with `EOPNOTSUPP`.
    pub(in crate::fs) fn utimes(&self, end: &MountEnd, atime: i64, mtime: i64) -> Result<(), Errno> {
        self.writable()?;
        self.only_owner(end)?;
        let stat = end.stat.ok_or(Errno::ENOENT)?;
        if let Some(app) = self.app() {
            return app.utimes(&end.path, atime, mtime);
        }
        match stat.kind {
            super::super::node::Type::Directory | super::super::node::Type::File => {
                let opened = self.root()?.open(path(&end.path));
                done(opened.and_then(|file| file.into_std().set_times(times(atime, mtime))))
            }
            _ => Err(Errno::EOPNOTSUPP),
        }
    }

    fn only_owner(&self, end: &MountEnd) -> Result<(), Errno> {
        if end.stat.ok_or(Errno::ENOENT)?.uid == GUEST { Ok(()) } else { Err(Errno::EPERM) }
    }

    fn free(&self, end: &MountEnd, for_directory: bool) -> Result<(), Errno> {
        if end.stat.is_some() || !matches!(end.name, Name::Plain(_)) {
            return Err(Errno::EEXIST);
        }
        if end.slash && !for_directory {
            return Err(Errno::ENOENT);
        }
        self.writable()
    }

    /// Returns whether a mount point is at the path `at` or below `at`.
    fn holds_mount(&self, at: &[u8]) -> bool {
        self.inner.read().iter().any(|(inner, _)| parts(inner).take(parts(at).count()).eq(parts(at)))
    }
}

impl HostFile {
    pub(in crate::fs) fn utimes(&self, atime: i64, mtime: i64) -> Result<(), Errno> {
        self.mount.writable()?;
        if let Some(app) = self.mount.app() {
            return app.utimes(&self.path, atime, mtime);
        }
        let file = self.folder_file()?.try_clone().map_err(|error| Errno::of(&error))?;
        done(file.into_std().set_times(times(atime, mtime)))
    }

    pub(in crate::fs) fn chmod(&self, mode: u32) -> Result<(), Errno> {
        self.mount.writable()?;
        if let Some(app) = self.mount.app() {
            return app.chmod(&self.path, mode);
        }
        done(self.folder_file()?.set_permissions(Permissions::from_mode(mode & 0o1777)))
    }
}

/// Checks a rename in an app file system as Linux does, and then renames. The embedder must check
/// whether a directory that the rename replaces is empty.
fn rename_in(app: &App, from: &MountEnd, to: &MountEnd) -> Result<(), Errno> {
    use super::super::node::Type::Directory;
    let is_directory = from.stat.is_some_and(|stat| stat.kind == Directory);
    if from.path == to.path {
        return Ok(());
    }
    if is_directory && to.path.strip_prefix(&from.path[..]).is_some_and(|rest| rest.first() == Some(&b'/')) {
        return Err(Errno::EINVAL);
    }
    match to.stat.map(|stat| stat.kind == Directory) {
        Some(true) if !is_directory => Err(Errno::EISDIR),
        Some(false) if is_directory => Err(Errno::ENOTDIR),
        _ => app.rename(&from.path, &to.path),
    }
}

fn times(atime: i64, mtime: i64) -> FileTimes {
    let time = |nanoseconds: i64| {
        let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
        if nanoseconds < 0 { SystemTime::UNIX_EPOCH - distance } else { SystemTime::UNIX_EPOCH + distance }
    };
    FileTimes::new().set_accessed(time(atime)).set_modified(time(mtime))
}
