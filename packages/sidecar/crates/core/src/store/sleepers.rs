//! Which files a living process needs: runtimes of its sleep on them, and would be lost with them, but are nothing to anybody when the process is gone.
//!
//! For each it locks one byte of the file `sleepers`, at a place that the name of the snapshot's file says. The system lets go of the locks when the process ends, however
//! it does; so nothing has to be cleared up, and nothing that was killed holds disk space for ever.

use super::folder::lies_at;
use coldframe_sys::{LAST_BYTE, is_byte_locked, lock_byte, unlock_all, unlock_byte};
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What the file is called.
const NAME: &str = "sleepers";

/// See the module.
pub(super) struct Sleepers {
    path: PathBuf,
    own: Mutex<Option<Own>>,
}

struct Own {
    file: File,
    /// The bytes that it has locked itself: of those the system would say that they are free.
    bytes: HashSet<u64>,
}

impl Drop for Own {
    fn drop(&mut self) {
        // Closing does it too, unless a child that is being started has a copy.
        let _ = unlock_all(&self.file);
    }
}

impl Sleepers {
    /// Of the folder at `path`. Nothing is touched.
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.join(NAME), own: Mutex::default() }
    }

    /// From now on `file` is needed.
    pub(super) fn hold(&self, file: &Path) -> io::Result<()> {
        let mut own = self.own.lock();
        self.follow(&mut own, true)?;
        let Some(own) = &mut *own else { return Ok(()) };
        let byte = byte_of(file);
        lock_byte(&own.file, byte)?;
        own.bytes.insert(byte);
        Ok(())
    }

    /// It is not needed any more, by this process.
    pub(super) fn let_go(&self, file: &Path) {
        if let Some(own) = &mut *self.own.lock()
            && own.bytes.remove(&byte_of(file))
        {
            // What cannot be unlocked is unlocked when the process ends.
            let _ = unlock_byte(&own.file, byte_of(file));
        }
    }

    /// What says of files whether somebody needs them.
    pub(super) fn look(&self) -> io::Result<impl Fn(&Path) -> io::Result<bool>> {
        let mut own = self.own.lock();
        self.follow(&mut own, false)?;
        Ok(move |file: &Path| {
            let Some(own) = &*own else { return Ok(false) };
            let byte = byte_of(file);
            Ok(own.bytes.contains(&byte) || is_byte_locked(&own.file, byte)?)
        })
    }

    /// Opens the file that lies there now, unless that is open. If somebody has removed the one before, or its folder, what was held is held in this one too.
    fn follow(&self, own: &mut Option<Own>, create: bool) -> io::Result<()> {
        if own.as_ref().is_some_and(|own| lies_at(&self.path, &own.file)) {
            return Ok(());
        }
        let held = own.as_ref().map(|own| own.bytes.clone()).unwrap_or_default();
        let file = match self.open(create || !held.is_empty()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *own = None;
                return Ok(());
            }
            opened => opened?,
        };
        held.iter().try_for_each(|byte| lock_byte(&file, *byte))?;
        *own = Some(Own { file, bytes: held });
        Ok(())
    }

    fn open(&self, create: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(create).truncate(false).mode(0o600);
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&self.path)
    }
}

/// The byte that stands for a file: no two have the same, as far as hashes go.
fn byte_of(file: &Path) -> u64 {
    let hash = Sha256::digest(file.file_name().map_or(&[][..], OsStr::as_bytes));
    hash.first_chunk().map_or(0, |first| u64::from_le_bytes(*first)) % LAST_BYTE
}
