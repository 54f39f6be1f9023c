//! A runtime's files for the embedder, one whole file at a time. Next: `handles.rs`, files that
//! stay open.

use super::{Inner, Runtime};
use crate::checks::check_owner;
use coldframe_error::Error;
use coldframe_kernel::FileStat;
use coldframe_kernel::Kernel;
use coldframe_kernel::{DirectoryEntry, EmbedderFiles, Owner};
use coldframe_panics::reach;
use std::sync::Arc;

/// A runtime's files for the embedder. Permissions of the guest's user do not apply. Paths are
/// absolute guest paths. A failed file operation returns [`Error::File`], whose code is the error
/// number's name.
pub struct Files {
    pub(super) inner: Arc<Inner>,
    /// The kernel when this object was made. Handles belong to that kernel.
    pub(super) kernel: Arc<Kernel>,
    /// The owner of new files and of written files. `None` means the default.
    owner: Option<Owner>,
}

impl Runtime {
    /// Returns the runtime's files.
    pub fn files(&self) -> Files {
        Files { inner: self.inner.clone(), kernel: self.inner.kernel(), owner: None }
    }
}

impl Runtime {
    /// Runs `work` while this thread holds the lock of the files, like a guest's long system call.
    #[cfg(feature = "testing")]
    pub fn while_files_are_held<R>(&self, work: impl FnOnce() -> R) -> R {
        let kernel = self.inner.kernel();
        let _held = kernel.hold_files();
        work()
    }
}

impl Files {
    pub(super) fn embedder_files(&self) -> Result<EmbedderFiles<'_>, Error> {
        if self.inner.programs.lock().disposed {
            return Err(Error::RuntimeDisposed);
        }
        let files = self.kernel.embedder_files();
        Ok(match self.owner {
            Some(owner) => files.owned_by(owner),
            None => files,
        })
    }

    /// Returns the files with another owner of new files and of written files. Fails if no file can
    /// have the owner.
    pub fn owned_by(self, owner: Owner) -> Result<Self, Error> {
        check_owner("owner", owner)?;
        Ok(Self { owner: Some(owner), ..self })
    }

    /// With `append`, appends to the file at `path`. Otherwise replaces the file. Makes missing
    /// parent directories.
    pub fn write(&self, path: &str, bytes: &[u8], append: bool) -> Result<(), Error> {
        let written = self.embedder_files()?.write(path, bytes, append);
        self.inner.send_warnings();
        written
    }

    /// Reads at most `most` bytes of the file at `path`, from `offset`. Returns the bytes and the
    /// file's size.
    pub fn read(&self, path: &str, offset: u64, most: usize) -> Result<(Vec<u8>, u64), Error> {
        self.embedder_files()?.read(path, offset, most)
    }

    /// Lists a directory in the order of the names.
    pub fn list(&self, path: &str) -> Result<Vec<DirectoryEntry>, Error> {
        self.embedder_files()?.list(path)
    }

    /// Returns the attributes of a file. `follow` selects the target of a symbolic link instead of
    /// the link.
    pub fn stat(&self, path: &str, follow: bool) -> Result<FileStat, Error> {
        reach("owner-request", path.as_bytes());
        self.embedder_files()?.stat(path, follow)
    }

    /// Makes a directory. With `recursive`, makes missing parents and accepts an existing
    /// directory.
    pub fn mkdir(&self, path: &str, recursive: bool) -> Result<(), Error> {
        self.embedder_files()?.mkdir(path, recursive)
    }

    /// Removes a file, a link or an empty directory. With `recursive`, removes a directory and its
    /// content.
    pub fn remove(&self, path: &str, recursive: bool) -> Result<(), Error> {
        self.embedder_files()?.remove(path, recursive)
    }

    /// Renames a file. An existing file at `to` is replaced.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.embedder_files()?.rename(from, to)
    }
}
