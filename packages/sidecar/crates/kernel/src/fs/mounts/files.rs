//! Opens and reads the files and directories of mounts. The text of a `/proc` file is made when the
//! file is opened. Next: `change.rs`.

mod snapshot;

pub(in crate::fs) use snapshot::OpenedAs;
pub(crate) use snapshot::{HostFileSnapshot, ListingSnapshot};

use super::super::app_file_system::App;
use super::super::node::{MAX_NAME, Type};
use super::super::stat::Stat;
use super::Mount;
use super::walk::{kind_of, path};
use crate::usage::{Charge, Footprint};
use cap_std::fs::{File, FileExt, OpenOptions, OpenOptionsExt, ReadDir};
use coldframe_error::Errno;
use std::collections::HashSet;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

/// An open file of a mount.
pub(crate) struct HostFile {
    bytes: Bytes,
    pub(crate) mount: Arc<Mount>,
    /// The mount's number. `path` is the path in the mount that the open call used.
    pub(crate) number: usize,
    pub(crate) path: Vec<u8>,
    /// The charge for the host machine's descriptor or for the memory of the text.
    _charge: Option<Charge>,
}

enum Bytes {
    Folder(File),
    /// A file of the library of Python. All programs share the open file.
    Library(Arc<File>),
    Text {
        text: Vec<u8>,
        stat: Stat,
    },
    /// A file of an app file system. Each access uses the file's path.
    App {
        appends: bool,
    },
}

/// The flags of an open call on a mount.
#[derive(Clone, Copy)]
pub(crate) struct OpenFlags {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) append: bool,
    pub(crate) truncate: bool,
    /// The mode of the file to create. `Some` requires that the file does not exist.
    pub(crate) create: Option<u32>,
}

/// The names of a directory that the listing has not returned yet.
pub(crate) struct Listing {
    entries: Option<ReadDir>,
    more: Vec<(Vec<u8>, Type)>,
    /// An entry that did not fit into the last buffer.
    kept: Option<(Vec<u8>, Type)>,
    hidden: HashSet<Vec<u8>>,
    /// Whether the listing was restored from a snapshot that does not store all entries. Reading
    /// past the stored entries fails.
    is_incomplete: bool,
}

/// Converts an error of the host machine. `EMFILE` means that the sidecar's process has no
/// descriptor left. For the guest, this is a limit of the system: `ENFILE`.
pub(super) fn of(error: std::io::Error) -> Errno {
    match Errno::of(&error) {
        Errno::EMFILE => Errno::ENFILE,
        errno => errno,
    }
}

impl Mount {
    /// Opens a regular file. The caller's path walk fails for files of other types. If a file of
    /// another type has replaced the file after the path walk, the open fails. The open neither
    /// waits nor affects such a file.
    pub(crate) fn open(self: &Arc<Self>, number: usize, at: &[u8], how: OpenFlags) -> Result<HostFile, Errno> {
        if self.read_only && (how.write || how.truncate || how.create.is_some()) {
            return Err(Errno::EROFS);
        }
        if let Some(app) = self.app() {
            match how.create {
                Some(mode) => app.create(at, mode)?,
                None if how.truncate => app.truncate(at, 0)?,
                None => {}
            }
            let bytes = Bytes::App { appends: how.append };
            return Ok(HostFile { bytes, mount: self.clone(), number, path: at.to_vec(), _charge: None });
        }
        let mut options = OpenOptions::new();
        options.read(how.read || !how.write).write(how.write || how.truncate).append(how.append && how.write);
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_NOFOLLOW | libc::O_CLOEXEC);
        if let Some(mode) = how.create {
            options.write(true).create_new(true).mode(mode & 0o777);
        }
        let file = self.root()?.open_with(path(at), &options).map_err(of)?;
        if !file.metadata().map_err(of)?.is_file() {
            return Err(Errno::EACCES);
        }
        if how.truncate {
            file.set_len(0).map_err(of)?;
        }
        Ok(HostFile { bytes: Bytes::Folder(file), mount: self.clone(), number, path: at.to_vec(), _charge: None })
    }

    pub(crate) fn list(&self, at: &[u8]) -> Result<Listing, Errno> {
        if let Some(proc) = self.proc() {
            return Ok(Listing { entries: None, more: proc.list(at)?, kept: None, hidden: HashSet::new(), is_incomplete: false });
        }
        if let Some(app) = self.app() {
            let hidden: HashSet<Vec<u8>> = self.inner_names(at).into_iter().collect();
            let mut more = app.list(at)?;
            more.retain(|(name, _)| !hidden.contains(name));
            more.extend(hidden.into_iter().map(|name| (name, Type::Directory)));
            return Ok(Listing { entries: None, more, kept: None, hidden: HashSet::new(), is_incomplete: false });
        }
        if self.is_library() {
            let more = self.list_library(at)?;
            return Ok(Listing { entries: None, more, kept: None, hidden: HashSet::new(), is_incomplete: false });
        }
        let root = self.root()?;
        let entries = if at.is_empty() { root.entries() } else { root.read_dir(path(at)) }.map_err(of)?;
        let hidden = self.inner_names(at);
        let more = hidden.iter().map(|name| (name.clone(), Type::Directory)).collect();
        Ok(Listing { entries: Some(entries), more, kept: None, hidden: hidden.into_iter().collect(), is_incomplete: false })
    }

    /// Lists the folder of a raised directory. The names in `own` replace the folder's entries of
    /// the same names, and the names in `gone` are hidden. If the folder does not exist, the
    /// listing has only the names in `own`.
    pub(in crate::fs) fn list_under(
        &self,
        at: &[u8],
        own: Vec<(Vec<u8>, Type)>,
        gone: impl Iterator<Item = Vec<u8>>,
    ) -> Result<Listing, Errno> {
        let hidden = own.iter().map(|(name, _)| name.clone()).chain(gone).collect();
        let entries = match self.list(at) {
            Ok(listing) => listing.entries,
            Err(Errno::ENOENT | Errno::ENOTDIR) => None,
            Err(error) => return Err(error),
        };
        Ok(Listing { entries, more: own, kept: None, hidden, is_incomplete: false })
    }
}

impl HostFile {
    /// Makes an open file of `/proc` with the text `text`.
    pub(crate) fn of_text(mount: Arc<Mount>, number: usize, path: &[u8], text: Vec<u8>) -> Result<Self, Errno> {
        let stat = mount.stat(number, path)?;
        Ok(Self { bytes: Bytes::Text { text, stat }, mount, number, path: path.to_vec(), _charge: None })
    }

    /// Makes an open file of the library of Python.
    pub(super) fn of_library(file: Arc<File>, mount: Arc<Mount>, number: usize, path: &[u8]) -> Self {
        Self { bytes: Bytes::Library(file), mount, number, path: path.to_vec(), _charge: None }
    }

    /// Adds a charge that stays while the file is open.
    pub(crate) fn with_charge(self, charge: Charge) -> Self {
        Self { _charge: Some(charge), ..self }
    }

    /// Returns the open file of a folder on the host machine. Fails with `EROFS` for a file of
    /// `/proc`, of the library of Python or of an app file system.
    pub(super) fn folder_file(&self) -> Result<&File, Errno> {
        if let Bytes::Folder(file) = &self.bytes { Ok(file) } else { Err(Errno::EROFS) }
    }

    fn app(&self) -> Result<&App, Errno> {
        self.mount.app().ok_or(Errno::EIO)
    }

    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        match &self.bytes {
            Bytes::Folder(file) => file.read_at(buffer, offset).map_err(of),
            Bytes::Library(file) => file.read_at(buffer, offset).map_err(of),
            Bytes::App { .. } => self.app()?.read(&self.path, offset, buffer),
            Bytes::Text { text, .. } => {
                let rest = usize::try_from(offset).ok().and_then(|offset| text.get(offset..)).unwrap_or_default();
                let count = rest.len().min(buffer.len());
                buffer[..count].copy_from_slice(&rest[..count]);
                Ok(count)
            }
        }
    }

    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        let Bytes::App { appends } = self.bytes else { return self.folder_file()?.write_at(bytes, offset).map_err(of) };
        let offset = if appends { self.stat()?.size } else { offset };
        if bytes.is_empty() { Ok(0) } else { self.app()?.write(&self.path, offset, bytes) }
    }

    /// Returns the attributes. As on Linux, a file of `/proc` has size 0.
    pub(crate) fn stat(&self) -> Result<Stat, Errno> {
        match &self.bytes {
            Bytes::Folder(file) => Ok(self.mount.stat_of(self.number, &file.metadata().map_err(of)?)),
            Bytes::Library(file) => Ok(self.mount.stat_of(self.number, &file.metadata().map_err(of)?)),
            Bytes::App { .. } => self.mount.stat(self.number, &self.path),
            Bytes::Text { stat, .. } => Ok(*stat),
        }
    }

    /// Returns the number of bytes that can be read from the file.
    pub(crate) fn len(&self) -> Result<u64, Errno> {
        if let Bytes::Text { text, .. } = &self.bytes { Ok(text.len() as u64) } else { Ok(self.stat()?.size) }
    }

    pub(crate) fn truncate(&self, len: u64) -> Result<(), Errno> {
        if let Bytes::App { .. } = self.bytes {
            return self.app()?.truncate(&self.path, len);
        }
        self.folder_file()?.set_len(len).map_err(of)
    }

    pub(crate) fn sync(&self) -> Result<(), Errno> {
        if let Bytes::App { .. } = self.bytes {
            return Ok(());
        }
        self.folder_file()?.sync_all().map_err(of)
    }
}

impl Listing {
    /// Returns whether the listing uses a descriptor of the host machine.
    pub(crate) fn is_open(&self) -> bool {
        self.entries.is_some()
    }

    /// Returns the bytes of memory that the listing uses.
    pub(crate) fn cost(&self) -> u64 {
        /// The bytes that a name costs besides its content: the allocator's overhead.
        const NAME: usize = 32;
        let lists = self.more.footprint() + (self.hidden.capacity() * 2 * size_of::<Vec<u8>>()) as u64;
        lists + self.more.iter().map(|(name, _)| name).chain(&self.hidden).map(|name| (name.len() + NAME) as u64).sum::<u64>()
    }

    /// Returns the next entry, or `None` at the end. Fails with `EIO` at the end of an incomplete
    /// listing.
    pub(crate) fn next(&mut self) -> Result<Option<(Vec<u8>, Type)>, Errno> {
        if let Some(kept) = self.kept.take() {
            return Ok(Some(kept));
        }
        if let Some(entry) = self.more.pop() {
            return Ok(Some(entry));
        }
        self.next_on_host()
    }

    fn next_on_host(&mut self) -> Result<Option<(Vec<u8>, Type)>, Errno> {
        for entry in self.entries.iter_mut().flatten() {
            let entry = entry.map_err(of)?;
            let name = entry.file_name().into_vec();
            if name.len() <= MAX_NAME && !self.hidden.contains(&name) {
                return Ok(Some((name, entry.file_type().map_or(Type::Unknown, kind_of))));
            }
        }
        if self.is_incomplete { Err(Errno::EIO) } else { Ok(None) }
    }

    /// Puts an entry back. The next call of [`Self::next`] returns the entry.
    pub(crate) fn keep(&mut self, entry: (Vec<u8>, Type)) {
        self.kept = Some(entry);
    }
}
