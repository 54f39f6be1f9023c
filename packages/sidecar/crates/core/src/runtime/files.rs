//! What the caller outside does with a runtime's files, a whole file at a time. Next: `opened.rs`, those that it keeps open.

use super::{Inner, Runtime};
use crate::kernel::{Kernel, Outside};
use crate::outcome::{Entry, FileStat};
use coldframe_error::Error;
use std::sync::Arc;

/// A runtime's files, for its owner: permissions of the guest's user do not count. Paths are absolute guest paths; an error is
/// [`Error::File`], whose code is the error number's name.
pub struct Files {
    pub(super) inner: Arc<Inner>,
    /// The runtime's when this was asked for: what is done with numbers of open files is done with the files that they meant then.
    pub(super) kernel: Arc<Kernel>,
}

impl Runtime {
    /// Its files.
    pub fn files(&self) -> Files {
        Files { inner: self.inner.clone(), kernel: self.inner.kernel() }
    }
}

impl Files {
    pub(super) fn outside(&self) -> Result<Outside<'_>, Error> {
        if self.inner.programs.lock().disposed { Err(Error::RuntimeDisposed) } else { Ok(self.kernel.outside()) }
    }

    /// Replaces the file at `path`, or adds to its end; directories above it are made.
    pub fn write(&self, path: &str, bytes: &[u8], append: bool) -> Result<(), Error> {
        let written = self.outside()?.write(path, bytes, append);
        self.inner.tell_warnings();
        written
    }

    /// At most `most` bytes from `offset` on, and the file's size.
    pub fn read(&self, path: &str, offset: u64, most: usize) -> Result<(Vec<u8>, u64), Error> {
        self.outside()?.read(path, offset, most)
    }

    /// What a directory holds, in the order of the names.
    pub fn list(&self, path: &str) -> Result<Vec<Entry>, Error> {
        self.outside()?.list(path)
    }

    /// What is known of a file; of a link itself unless `follow`.
    pub fn stat(&self, path: &str, follow: bool) -> Result<FileStat, Error> {
        self.outside()?.stat(path, follow)
    }

    /// Makes a directory; with `recursive` those above it too, and it may be there already.
    pub fn mkdir(&self, path: &str, recursive: bool) -> Result<(), Error> {
        self.outside()?.mkdir(path, recursive)
    }

    /// Removes a file, a link or an empty directory; with `recursive` a directory and what it holds.
    pub fn remove(&self, path: &str, recursive: bool) -> Result<(), Error> {
        self.outside()?.remove(path, recursive)
    }

    /// Gives a file another name, in place of what has it.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.outside()?.rename(from, to)
    }
}
