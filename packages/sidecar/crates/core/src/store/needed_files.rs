//! The files that a live process needs: the snapshots of its paused runtimes. If such a file is
//! removed, the paused runtime is lost. When the process has ended, the file is useless.
//!
//! For each file the process locks one byte of the file `needed`. A hash of the snapshot's file
//! name selects the byte. The system releases the locks whenever the process ends. No cleanup is
//! necessary, and a killed process does not occupy disk space forever. Next: `shares.rs`.

use super::folder::is_file_at;
use coldframe_panics::process::Mutex;
use coldframe_sys::{LAST_BYTE, is_byte_locked, lock_byte, unlock_all, unlock_byte};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The name of the file with the locks.
const NAME: &str = "needed";

/// The files that live processes need.
pub(super) struct NeededFiles {
    path: PathBuf,
    locks: Mutex<Option<Locks>>,
}

struct Locks {
    file: File,
    /// The bytes locked by this process. The system's check reports a process's own locks as free.
    bytes: HashSet<u64>,
}

impl Drop for Locks {
    fn drop(&mut self) {
        // Closing the file also releases the locks, unless a starting child has a copy of the
        // descriptor.
        let _ = unlock_all(&self.file);
    }
}

impl NeededFiles {
    /// Makes the object for the folder at `path`, without disk access.
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.join(NAME), locks: Mutex::default() }
    }

    /// Marks `file` as needed.
    pub(super) fn hold(&self, file: &Path) -> io::Result<()> {
        let mut locks = self.locks.lock();
        self.refresh(&mut locks, true)?;
        let Some(locks) = &mut *locks else { return Ok(()) };
        let byte = byte_of(file);
        lock_byte(&locks.file, byte)?;
        locks.bytes.insert(byte);
        Ok(())
    }

    /// Marks `file` as no longer needed by this process.
    pub(super) fn release(&self, file: &Path) {
        if let Some(locks) = &mut *self.locks.lock()
            && locks.bytes.remove(&byte_of(file))
        {
            // A lock that cannot be released now is released when the process ends.
            let _ = unlock_byte(&locks.file, byte_of(file));
        }
    }

    /// Returns a function that checks whether a live process needs a file.
    pub(super) fn check(&self) -> io::Result<impl Fn(&Path) -> io::Result<bool>> {
        let mut locks = self.locks.lock();
        self.refresh(&mut locks, false)?;
        Ok(move |file: &Path| {
            let Some(locks) = &*locks else { return Ok(false) };
            let byte = byte_of(file);
            Ok(locks.bytes.contains(&byte) || is_byte_locked(&locks.file, byte)?)
        })
    }

    /// Opens the file with the locks, unless the file is already open and still in the folder. If
    /// the file or the folder was replaced, locks the held bytes in the new file.
    fn refresh(&self, locks: &mut Option<Locks>, create: bool) -> io::Result<()> {
        if locks.as_ref().is_some_and(|locks| is_file_at(&self.path, &locks.file)) {
            return Ok(());
        }
        let held = locks.as_ref().map(|locks| locks.bytes.clone()).unwrap_or_default();
        let file = match self.open(create || !held.is_empty()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *locks = None;
                return Ok(());
            }
            opened => opened?,
        };
        held.iter().try_for_each(|byte| lock_byte(&file, *byte))?;
        *locks = Some(Locks { file, bytes: held });
        Ok(())
    }

    fn open(&self, create: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(create).truncate(false).mode(0o600);
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&self.path)
    }
}

/// Returns the number of the byte that is locked for `file`: a hash of the file's name.
fn byte_of(file: &Path) -> u64 {
    let hash = Sha256::digest(file.file_name().map_or(&[][..], OsStr::as_bytes));
    hash.first_chunk().map_or(0, |first| u64::from_le_bytes(*first)) % LAST_BYTE
}
