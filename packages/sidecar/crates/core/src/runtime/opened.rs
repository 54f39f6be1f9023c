//! What the caller outside has open in a runtime, by numbers: files for streams, archives, watches. All of it is closed with the runtime.
//!
//! A number belongs to one runtime and is not used again in it. Whatever is done with one locks that one only, and not while the host's
//! disk is waited for. Next: `kernel/fs/outside/`.

use super::{Files, Inner};
use crate::kernel::{Archive, Kernel, OutsideFile, OutsideWatch, Waiter};
use crate::options::OpenOptions;
use crate::outcome::Changes;
use coldframe_error::Error;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// How many a runtime may have.
const MOST: usize = 1_024;

#[derive(Default)]
pub(super) struct Table {
    last: u32,
    /// What numbers up to this one meant is gone, and why.
    gone: (u32, Option<Error>),
    open: HashMap<u32, Arc<Opened>>,
    closed: bool,
}

enum Opened {
    File(OutsideFile),
    Watch(OutsideWatch),
    Archive(Mutex<Archive>),
}

/// What an archive is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveUse {
    /// It is read: what lies at a path, packed.
    Export,
    /// It is written: what is in it is unpacked below a path.
    Import,
}

impl Inner {
    pub(super) fn close_opened(&self) {
        let open = {
            let mut table = self.opened.lock();
            table.closed = true;
            std::mem::take(&mut table.open)
        };
        let kernel = self.kernel();
        open.into_values().for_each(|opened| close(&kernel, &opened));
    }

    /// The last number that was given.
    pub(super) fn last_opened(&self) -> u32 {
        self.opened.lock().last
    }

    /// Numbers up to this one were given before the runtime slept: what they meant is gone.
    pub(super) fn opened_before(&self, last: u32) {
        let mut table = self.opened.lock();
        table.last = last;
        table.gone = (last, Some(Error::RuntimePaused));
    }

    /// Exchanges the kernel. What the caller has open in the one before is closed.
    pub(super) fn exchange(&self, kernel: Arc<Kernel>) -> Arc<Kernel> {
        let (before, open) = {
            let mut table = self.opened.lock();
            let before = std::mem::replace(&mut *self.kernel.write(), kernel);
            table.gone = (table.last, Some(Error::RolledBack));
            (before, std::mem::take(&mut table.open))
        };
        open.into_values().for_each(|opened| close(&before, &opened));
        before
    }

    fn number(&self, kernel: &Arc<Kernel>, opened: Opened) -> Result<u32, Error> {
        let mut table = self.opened.lock();
        let is_current = Arc::ptr_eq(kernel, &self.kernel.read());
        let refused = match (table.closed, table.open.len() < MOST) {
            (true, _) => Some(Error::RuntimeDisposed),
            _ if !is_current => Some(Error::RolledBack),
            (false, false) => {
                Some(Error::ResourceExhausted { resource: "open files and watches of a runtime", limit: MOST as u64 })
            }
            (false, true) => None,
        };
        if let Some(error) = refused {
            drop(table);
            close(kernel, &opened);
            return Err(error);
        }
        loop {
            table.last = table.last.checked_add(1).unwrap_or(1);
            if !table.open.contains_key(&table.last) {
                break;
            }
        }
        let number = table.last;
        table.open.insert(number, Arc::new(opened));
        Ok(number)
    }

    fn opened(&self, number: u32) -> Result<Arc<Opened>, Error> {
        let table = self.opened.lock();
        table.open.get(&number).cloned().ok_or_else(|| table.missing(number))
    }
}

impl Table {
    fn missing(&self, number: u32) -> Error {
        match &self.gone {
            (last, Some(why)) if (1..=*last).contains(&number) => why.clone(),
            _ => unknown(number),
        }
    }
}

fn close(kernel: &Kernel, opened: &Opened) {
    let outside = kernel.outside();
    match opened {
        Opened::File(file) => outside.close(file),
        Opened::Watch(watch) => outside.unwatch(watch),
        Opened::Archive(archive) => outside.drop_archive(&mut archive.lock()),
    }
}

fn unknown(number: u32) -> Error {
    Error::InvalidRequest {
        what: "handle".to_owned(),
        expected: "the number of a file or a watch that is open in the runtime".to_owned(),
        received: number.to_string(),
    }
}

impl Files {
    /// Opens a file, for reading or writing it in pieces: its number, and its size.
    pub fn open(&self, path: &str, options: OpenOptions) -> Result<(u32, u64), Error> {
        let (file, size) = self.outside()?.open(path, options)?;
        Ok((self.inner.number(&self.kernel, Opened::File(file))?, size))
    }

    /// As [`Files::write`]; a file that is made gets these permissions.
    pub fn write_with_mode(&self, path: &str, bytes: &[u8], append: bool, mode: u32) -> Result<(), Error> {
        self.outside()?.write_with_mode(path, bytes, append, mode)
    }

    /// Opens an archive of what lies at `path`, or for unpacking below it.
    pub fn open_archive(&self, path: &str, purpose: ArchiveUse) -> Result<u32, Error> {
        let outside = self.outside()?;
        let archive = match purpose {
            ArchiveUse::Export => outside.export(path)?,
            ArchiveUse::Import => outside.import(path)?,
        };
        self.inner.number(&self.kernel, Opened::Archive(Mutex::new(archive)))
    }

    /// At most `most` bytes of a file that is open, from `offset` on, and its size; of an archive the next bytes, none at its end.
    pub fn read_open(&self, number: u32, offset: u64, most: usize) -> Result<(Vec<u8>, u64), Error> {
        let outside = self.outside()?;
        match &*self.inner.opened(number)? {
            Opened::File(file) => outside.read_open(file, offset, most),
            Opened::Archive(archive) => outside.read_archive(&mut archive.lock(), most).map(|bytes| (bytes, 0)),
            Opened::Watch(_) => Err(unknown(number)),
        }
    }

    /// Writes to a file that is open, at `offset`, or at its end if it was opened so; of an archive the next bytes.
    pub fn write_open(&self, number: u32, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let outside = self.outside()?;
        let written = match &*self.inner.opened(number)? {
            Opened::File(file) => outside.write_open(file, offset, bytes),
            Opened::Archive(archive) => outside.write_archive(&mut archive.lock(), bytes),
            Opened::Watch(_) => Err(unknown(number)),
        };
        self.inner.tell_warnings();
        written
    }

    /// Closes a file, an archive or a watch. An archive that is unpacked must be complete unless it is given up.
    pub fn close(&self, number: u32, give_up: bool) -> Result<(), Error> {
        let outside = self.outside()?;
        let opened = {
            let mut table = self.inner.opened.lock();
            table.open.remove(&number).ok_or_else(|| table.missing(number))?
        };
        let ended = match &*opened {
            Opened::Archive(archive) if !give_up => outside.finish_archive(&mut archive.lock()),
            _ => Ok(()),
        };
        close(&self.kernel, &opened);
        ended
    }

    /// Watches what lies at `path`: a number, and whether it is a directory.
    pub fn watch(&self, path: &str, recursive: bool) -> Result<(u32, bool), Error> {
        let (watch, is_directory) = self.outside()?.watch(path, recursive)?;
        Ok((self.inner.number(&self.kernel, Opened::Watch(watch))?, is_directory))
    }

    /// Asks for a watch's next batch; `done` may be called before this returns, and is called with none when the watch ends. It must not
    /// block or call back.
    pub fn next_changes(&self, number: u32, done: impl FnOnce(Option<Changes>) + Send + 'static) -> Result<(), Error> {
        self.outside()?;
        let opened = self.inner.opened(number)?;
        let Opened::Watch(watch) = &*opened else { return Err(unknown(number)) };
        let waiter: Waiter = Box::new(done);
        if watch.next(waiter) {
            return Ok(());
        }
        Err(Error::InvalidRequest {
            what: "handle".to_owned(),
            expected: "a watch that nobody waits for".to_owned(),
            received: number.to_string(),
        })
    }

    /// Sets permissions; of a link itself unless `follow`.
    pub fn chmod(&self, path: &str, mode: u32, follow: bool) -> Result<(), Error> {
        self.outside()?.chmod(path, mode, follow)
    }

    /// Sets times, in nanoseconds since 1970; what is not given stays as it is.
    pub fn utimes(&self, path: &str, atime: Option<i64>, mtime: Option<i64>, follow: bool) -> Result<(), Error> {
        self.outside()?.utimes(path, atime, mtime, follow)
    }

    /// Makes a symbolic link at `path`.
    pub fn symlink(&self, target: &str, path: &str) -> Result<(), Error> {
        self.outside()?.symlink(target, path)
    }

    /// Gives the file `from` a further name.
    pub fn link(&self, from: &str, to: &str) -> Result<(), Error> {
        self.outside()?.link(from, to)
    }

    /// Where a symbolic link leads.
    pub fn readlink(&self, path: &str) -> Result<String, Error> {
        self.outside()?.readlink(path)
    }
}
