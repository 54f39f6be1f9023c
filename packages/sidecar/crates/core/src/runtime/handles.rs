//! Handles: the files, archives and watches that the embedder has open in a runtime, by number. All
//! handles of a runtime are closed when the runtime ends.
//!
//! A number belongs to one runtime and is not reused in the runtime. A call locks only its own
//! handle.
//! Next: `fs/embedder/` of the crate `kernel`.

use super::{Files, Generation, Inner};
use crate::checks::check_owner;
use coldframe_error::Error;
use coldframe_ids::HandleId;
use coldframe_kernel::Changes;
use coldframe_kernel::{Archive, EmbedderFile, EmbedderWatch, Kernel, Waiter};
use coldframe_kernel::{OpenOptions, Owner};
use coldframe_panics::runtime::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The largest number of handles that a runtime may have open.
const MAX_OPEN: usize = 1_024;

/// The open handles of a runtime.
#[derive(Default)]
pub(super) struct HandleTable {
    /// The last allotted handle.
    last: Option<HandleId>,
    /// The highest handle that a pause or a rollback has invalidated, and the error for a use of
    /// such a handle.
    invalidated: Option<(HandleId, Error)>,
    open: HashMap<HandleId, Arc<Handle>>,
    closed: bool,
}

enum Handle {
    File(EmbedderFile),
    Watch(EmbedderWatch),
    Archive(Mutex<Archive>),
}

/// The purpose of an archive handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveUse {
    /// The embedder reads the archive: the file tree at a path is packed.
    Export,
    /// The embedder writes the archive, which is unpacked into a path.
    Import {
        /// Whether each file has the owner in the archive.
        keeps_owners: bool,
    },
}

/// The open handles of a replaced generation.
#[must_use = "the watches of the handles must end"]
pub(super) struct OldHandles {
    kernel: Arc<Kernel>,
    open: HashMap<HandleId, Arc<Handle>>,
}

impl OldHandles {
    /// Closes the handles.
    pub(super) fn close(self) {
        self.open.into_values().for_each(|handle| close(&self.kernel, &handle));
    }
}

impl Inner {
    pub(super) fn close_handles(&self) {
        let open = {
            let mut table = self.handles.lock();
            table.closed = true;
            std::mem::take(&mut table.open)
        };
        let kernel = self.kernel();
        open.into_values().for_each(|handle| close(&kernel, &handle));
    }

    /// Returns the last allotted handle.
    pub(super) fn last_handle(&self) -> Option<HandleId> {
        self.handles.lock().last
    }

    /// Continues after the handles that were assigned before the runtime was paused. The old
    /// handles are invalid.
    pub(super) fn continue_handles(&self, last: Option<HandleId>) {
        let mut table = self.handles.lock();
        table.last = last;
        table.invalidate(Error::RuntimePaused);
    }

    /// Replaces the generation, and invalidates the handles of the previous generation. The caller
    /// closes the returned handles without a lock, because that waits for the previous files.
    pub(super) fn replace_generation(&self, generation: Generation) -> OldHandles {
        let mut table = self.handles.lock();
        let before = std::mem::replace(&mut *self.generation.write(), generation);
        table.invalidate(Error::RolledBack);
        OldHandles { kernel: before.kernel, open: std::mem::take(&mut table.open) }
    }

    fn allot(&self, kernel: &Arc<Kernel>, handle: Handle) -> Result<HandleId, Error> {
        let mut table = self.handles.lock();
        let is_current = Arc::ptr_eq(kernel, &self.generation.read().kernel);
        let refused = match (table.closed, table.open.len() < MAX_OPEN) {
            (true, _) => Some(Error::RuntimeDisposed),
            _ if !is_current => Some(Error::RolledBack),
            (false, false) => {
                Some(Error::ResourceExhausted { resource: "open files and watches of a runtime", limit: MAX_OPEN as u64 })
            }
            (false, true) => None,
        };
        if let Some(error) = refused {
            drop(table);
            close(kernel, &handle);
            return Err(error);
        }
        let mut id = following(table.last);
        while table.open.contains_key(&id) {
            id = following(Some(id));
        }
        table.last = Some(id);
        table.open.insert(id, Arc::new(handle));
        Ok(id)
    }

    fn handle(&self, id: HandleId) -> Result<Arc<Handle>, Error> {
        let table = self.handles.lock();
        table.open.get(&id).cloned().ok_or_else(|| table.missing(id))
    }
}

/// Returns the handle that follows `last`. No handle has the number 0.
fn following(last: Option<HandleId>) -> HandleId {
    HandleId::new(last.and_then(|last| last.get().checked_add(1)).unwrap_or(1))
}

impl HandleTable {
    fn missing(&self, id: HandleId) -> Error {
        match &self.invalidated {
            Some((last, reason)) if id <= *last && id.get() != 0 => reason.clone(),
            _ => unknown(id),
        }
    }

    /// Invalidates all handles that were allotted until now.
    fn invalidate(&mut self, reason: Error) {
        self.invalidated = self.last.map(|last| (last, reason));
    }
}

fn close(kernel: &Kernel, handle: &Handle) {
    let files = kernel.embedder_files();
    match handle {
        Handle::File(file) => files.close(file),
        Handle::Watch(watch) => files.unwatch(watch),
        Handle::Archive(archive) => files.drop_archive(&mut archive.lock()),
    }
}

fn unknown(id: HandleId) -> Error {
    Error::InvalidRequest {
        what: "handle".to_owned(),
        expected: "the number of a file or a watch that is open in the runtime".to_owned(),
        received: id.to_string(),
    }
}

impl Files {
    /// Opens a file for reading or writing in pieces. Returns the handle and the file's size.
    pub fn open(&self, path: &str, options: OpenOptions) -> Result<(HandleId, u64), Error> {
        let (file, size) = self.embedder_files()?.open(path, options)?;
        Ok((self.inner.allot(&self.kernel, Handle::File(file))?, size))
    }

    /// Writes a file like [`Files::write`]. A new file has the permissions `mode`.
    pub fn write_with_mode(&self, path: &str, bytes: &[u8], append: bool, mode: u32) -> Result<(), Error> {
        self.embedder_files()?.write_with_mode(path, bytes, append, mode)
    }

    /// Opens an archive of the file tree at `path`, or an archive that is unpacked into `path`.
    pub fn open_archive(&self, path: &str, purpose: ArchiveUse) -> Result<HandleId, Error> {
        let files = self.embedder_files()?;
        let archive = match purpose {
            ArchiveUse::Export => files.export(path)?,
            ArchiveUse::Import { keeps_owners } => files.import(path, keeps_owners)?,
        };
        self.inner.allot(&self.kernel, Handle::Archive(Mutex::new(archive)))
    }

    /// Reads at most `most` bytes of an open file at `offset`. Returns the bytes and the file's
    /// size. For an archive, returns the next bytes, and an empty result at the end.
    pub fn read_open(&self, id: HandleId, offset: u64, most: usize) -> Result<(Vec<u8>, u64), Error> {
        let files = self.embedder_files()?;
        match &*self.inner.handle(id)? {
            Handle::File(file) => files.read_open(file, offset, most),
            Handle::Archive(archive) => files.read_archive(&mut archive.lock(), most).map(|bytes| (bytes, 0)),
            Handle::Watch(_) => Err(unknown(id)),
        }
    }

    /// Writes to an open file at `offset`, or at the end of a file that was opened for appending.
    /// For an archive, writes the next bytes.
    pub fn write_open(&self, id: HandleId, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let files = self.embedder_files()?;
        let written = match &*self.inner.handle(id)? {
            Handle::File(file) => files.write_open(file, offset, bytes),
            Handle::Archive(archive) => files.write_archive(&mut archive.lock(), bytes),
            Handle::Watch(_) => Err(unknown(id)),
        };
        self.inner.send_warnings();
        written
    }

    /// Closes a handle. Without `give_up`, the call fails if the archive that is being unpacked is
    /// incomplete.
    pub fn close(&self, id: HandleId, give_up: bool) -> Result<(), Error> {
        let files = self.embedder_files()?;
        let handle = {
            let mut table = self.inner.handles.lock();
            table.open.remove(&id).ok_or_else(|| table.missing(id))?
        };
        let ended = match &*handle {
            Handle::Archive(archive) if !give_up => files.finish_archive(&mut archive.lock()),
            _ => Ok(()),
        };
        close(&self.kernel, &handle);
        ended
    }

    /// Watches the file at `path`, with typed events if `typed` is set. Returns the handle and
    /// whether the file is a directory.
    pub fn watch(&self, path: &str, recursive: bool, typed: bool) -> Result<(HandleId, bool), Error> {
        let (watch, is_directory) = self.embedder_files()?.watch(path, recursive, typed)?;
        Ok((self.inner.allot(&self.kernel, Handle::Watch(watch))?, is_directory))
    }

    /// Waits for the next changes of a watch. `done` may be called before this call returns, and
    /// receives `None` when the watch ends. `done` must not block or call the runtime.
    pub fn next_changes(&self, id: HandleId, done: impl FnOnce(Option<Changes>) + Send + 'static) -> Result<(), Error> {
        self.embedder_files()?;
        let handle = self.inner.handle(id)?;
        let Handle::Watch(watch) = &*handle else { return Err(unknown(id)) };
        let waiter: Waiter = Box::new(done);
        if watch.next(waiter) {
            return Ok(());
        }
        Err(Error::InvalidRequest {
            what: "handle".to_owned(),
            expected: "a watch without a pending wait".to_owned(),
            received: id.to_string(),
        })
    }

    /// Returns the changes of a watch until now that no request has received.
    pub fn drain(&self, id: HandleId) -> Result<Changes, Error> {
        let files = self.embedder_files()?;
        match &*self.inner.handle(id)? {
            Handle::Watch(watch) => Ok(files.drain(watch)),
            _ => Err(unknown(id)),
        }
    }

    /// Sets the permissions of a file. `follow` selects the target of a symbolic link instead of
    /// the link.
    pub fn chmod(&self, path: &str, mode: u32, follow: bool) -> Result<(), Error> {
        self.embedder_files()?.chmod(path, mode, follow)
    }

    /// Sets the owner and the group of a file. `follow` selects the target of a symbolic link
    /// instead of the link.
    pub fn chown(&self, path: &str, owner: Owner, follow: bool) -> Result<(), Error> {
        check_owner("owner", owner)?;
        self.embedder_files()?.chown(path, owner, follow)
    }

    /// Sets the times of a file, in nanoseconds since 1970. An omitted time stays unchanged.
    pub fn utimes(&self, path: &str, atime: Option<i64>, mtime: Option<i64>, follow: bool) -> Result<(), Error> {
        self.embedder_files()?.utimes(path, atime, mtime, follow)
    }

    /// Makes a symbolic link at `path`.
    pub fn symlink(&self, target: &str, path: &str) -> Result<(), Error> {
        self.embedder_files()?.symlink(target, path)
    }

    /// Makes a hard link `to` to the file `from`.
    pub fn link(&self, from: &str, to: &str) -> Result<(), Error> {
        self.embedder_files()?.link(from, to)
    }

    /// Returns the target of a symbolic link.
    pub fn readlink(&self, path: &str) -> Result<String, Error> {
        self.embedder_files()?.readlink(path)
    }

    /// Sets a user attribute of a file, or removes the attribute for the value `None`.
    pub fn set_attribute(&self, path: &str, name: &str, value: Option<&[u8]>) -> Result<(), Error> {
        let set = self.embedder_files()?.set_attribute(path, name, value);
        self.inner.send_warnings();
        set
    }

    /// Returns the user attributes of a file, sorted by name.
    pub fn attributes(&self, path: &str) -> Result<Vec<(String, Vec<u8>)>, Error> {
        self.embedder_files()?.attributes(path)
    }
}
