//! Modes, times and links, from outside.

use super::{EmbedderFiles, MAX_PATH, PERMISSIONS};
use coldframe_error::Errno;
use coldframe_error::Error;

/// A time that is to stay as it is, in the kernel's calls.
const AS_IT_IS: i64 = i64::MIN;

impl EmbedderFiles<'_> {
    /// Sets the permission bits.
    pub fn chmod(&self, path: &str, mode: u32, follow: bool) -> Result<(), Error> {
        self.explained("chmod", path, |path| self.view.chmod(path, mode & PERMISSIONS, follow))
    }

    /// Sets times in nanoseconds since 1970; one that is not given stays as it is.
    pub fn utimes(&self, path: &str, atime: Option<i64>, mtime: Option<i64>, follow: bool) -> Result<(), Error> {
        let (atime, mtime) = (atime.unwrap_or(AS_IT_IS), mtime.unwrap_or(AS_IT_IS));
        self.explained("utime", path, |path| self.view.utimes(path, atime, mtime, follow))
    }

    /// Makes a symbolic link; its target is any text.
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

    /// Gives a file a further name.
    pub fn link(&self, from: &str, to: &str) -> Result<(), Error> {
        self.explained("link", to, |_| Ok(()))?;
        self.explained("link", from, |from| self.view.link(from, to.as_bytes()))
    }

    /// Where a symbolic link leads; what is not UTF-8 in it is replaced.
    pub fn readlink(&self, path: &str) -> Result<String, Error> {
        let target = self.explained("readlink", path, |path| self.view.readlink(path))?;
        Ok(String::from_utf8_lossy(&target).into_owned())
    }
}
