//! The embedder's changes of modes, owners, times and links. An error has the name of the failed
//! call and the path. Next: `handles.rs`.

use super::super::user::Owner;
use super::{EmbedderFiles, PERMISSIONS};
use crate::arguments::MAX_PATH;
use crate::permissions::operations::files;
use coldframe_error::Errno;
use coldframe_error::Error;

/// The kernel's value for a time that does not change.
const UNCHANGED: i64 = i64::MIN;

impl EmbedderFiles<'_> {
    /// Sets the permission bits of a file, without the set-id bits.
    pub fn chmod(&self, path: &str, mode: u32, follow: bool) -> Result<(), Error> {
        self.explained("chmod", path, |path| self.view.chmod(path, mode & PERMISSIONS, follow))
    }

    /// Sets the owner and the group of a file.
    pub fn chown(&self, path: &str, owner: Owner, follow: bool) -> Result<(), Error> {
        self.explained("chown", path, |path| self.view.chown(path, Some(owner.uid), Some(owner.gid), follow))
    }

    /// Sets times in nanoseconds since 1970. `None` leaves a time unchanged.
    pub fn utimes(&self, path: &str, atime: Option<i64>, mtime: Option<i64>, follow: bool) -> Result<(), Error> {
        let (atime, mtime) = (atime.unwrap_or(UNCHANGED), mtime.unwrap_or(UNCHANGED));
        self.explained("utime", path, |path| self.view.utimes(path, atime, mtime, follow))
    }

    /// Creates a symbolic link. The target need not exist.
    pub fn symlink(&self, target: &str, path: &str) -> Result<(), Error> {
        self.explained("symlink", path, |path| {
            if target.contains('\0') {
                return Err(Errno::EINVAL);
            }
            if target.len() > MAX_PATH {
                return Err(Errno::ENAMETOOLONG);
            }
            self.view.symlink(target.as_bytes(), path)
        })
    }

    /// Adds the name `to` for the file `from`.
    pub fn link(&self, from: &str, to: &str) -> Result<(), Error> {
        self.explained("link", to, |_| Ok(()))?;
        self.explained("link", from, |from| self.view.link(from, to.as_bytes()))
    }

    /// Returns a symbolic link's target. Invalid UTF-8 is replaced by U+FFFD.
    pub fn readlink(&self, path: &str) -> Result<String, Error> {
        let target = self.explained("readlink", path, |path| self.view.readlink(path))?;
        Ok(String::from_utf8_lossy(&target).into_owned())
    }

    /// Sets a user attribute of a file, or removes the attribute for the value `None`.
    pub fn set_attribute(&self, path: &str, name: &str, value: Option<&[u8]>) -> Result<(), Error> {
        let call = if value.is_some() { "setxattr" } else { "removexattr" };
        self.explained(call, path, |path| match value {
            Some(value) => self.view.set_attribute(path, name.as_bytes(), value, 0, true),
            None => self.view.remove_attribute(path, name.as_bytes(), true),
        })
    }

    /// Returns the user attributes of a file, sorted by name. Invalid UTF-8 of a name is replaced
    /// by U+FFFD.
    pub fn attributes(&self, path: &str) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let pair = |(name, value): (&[u8], &[u8])| (String::from_utf8_lossy(name).into_owned(), value.to_vec());
        self.explained("listxattr", path, |path| {
            self.view.with_attributes(path, true, files::STAT, |_, _, attributes| Ok(attributes.pairs().map(pair).collect()))
        })
    }
}
