//! The lock of a runtime's files.
//!
//! A guest's system call holds the lock during a path walk, so for milliseconds. Control threads
//! therefore do not take the lock (`control.rs`). Next: `tree.rs`, the locked filesystem.

use super::tree::FileSystem;
use crate::control::check_may_wait;
use coldframe_panics::runtime::{Mutex, MutexGuard};

/// A runtime's files behind their lock.
pub(crate) struct FilesLock(Mutex<FileSystem>);

/// The locked filesystem. A call that waits for the host machine's disk unlocks the filesystem
/// during the wait. After the wait, the call resolves the path again or uses files that the call
/// has opened before.
pub(crate) type Guard<'g> = MutexGuard<'g, FileSystem>;

impl FilesLock {
    pub(crate) fn new(files: FileSystem) -> Self {
        Self(Mutex::new(files))
    }

    /// Locks the files. May wait for a guest, so no control thread may call this function.
    pub(crate) fn lock(&self) -> Guard<'_> {
        check_may_wait();
        self.0.lock()
    }

    /// Locks the files, unless another thread holds the lock.
    pub(crate) fn try_lock(&self) -> Option<Guard<'_>> {
        self.0.try_lock()
    }
}
