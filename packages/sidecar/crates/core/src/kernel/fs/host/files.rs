//! Opening files and directories of a mount, and reading them. Next: `change.rs`.

use super::super::node::{MAX_NAME, Type};
use super::super::stat::Stat;
use super::Mount;
use super::walk::{kind_of, path};
use crate::kernel::Errno;
use cap_std::fs::{File, FileExt, OpenOptions, OpenOptionsExt, ReadDir};
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

/// An open file of the host.
pub(crate) struct HostFile {
    pub(crate) file: File,
    pub(crate) mount: Arc<Mount>,
    /// The mount's number and the path that it was opened by.
    pub(crate) number: usize,
}

/// How a file is opened.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) append: bool,
    pub(crate) truncate: bool,
    /// Make it, with this mode; it must not be there yet.
    pub(crate) create: Option<u32>,
}

/// A directory's names, as they come.
pub(crate) struct Listing {
    entries: ReadDir,
    more: Vec<Vec<u8>>,
    /// An entry that did not fit into the last buffer.
    kept: Option<(Vec<u8>, Type)>,
    hidden: Vec<Vec<u8>>,
}

fn of(error: std::io::Error) -> Errno {
    Errno::of(&error)
}

impl Mount {
    /// Opens a regular file. Anything else was refused by the walk's `stat`; whatever has taken its place since is refused here, without
    /// waiting for it and without an effect on it.
    pub(crate) fn open(self: &Arc<Self>, number: usize, at: &[u8], how: How) -> Result<HostFile, Errno> {
        if self.read_only && (how.write || how.truncate || how.create.is_some()) {
            return Err(Errno::EROFS);
        }
        let mut options = OpenOptions::new();
        options.read(how.read || !how.write).write(how.write || how.truncate).append(how.append && how.write);
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_NOFOLLOW | libc::O_CLOEXEC);
        if let Some(mode) = how.create {
            options.write(true).create_new(true).mode(mode & 0o777);
        }
        let file = self.root.open_with(path(at), &options).map_err(of)?;
        if !file.metadata().map_err(of)?.is_file() {
            return Err(Errno::EACCES);
        }
        if how.truncate {
            file.set_len(0).map_err(of)?;
        }
        Ok(HostFile { file, mount: self.clone(), number })
    }

    pub(crate) fn list(&self, at: &[u8]) -> Result<Listing, Errno> {
        let entries = if at.is_empty() { self.root.entries() } else { self.root.read_dir(path(at)) }.map_err(of)?;
        let more = self.inner_names(at);
        Ok(Listing { entries, hidden: more.clone(), more, kept: None })
    }
}

impl HostFile {
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.file.read_at(buffer, offset).map_err(of)
    }

    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        self.file.write_at(bytes, offset).map_err(of)
    }

    pub(crate) fn stat(&self) -> Result<Stat, Errno> {
        Ok(self.mount.stat_of(self.number, &self.file.metadata().map_err(of)?))
    }

    pub(crate) fn truncate(&self, len: u64) -> Result<(), Errno> {
        self.file.set_len(len).map_err(of)
    }

    pub(crate) fn sync(&self) -> Result<(), Errno> {
        self.file.sync_all().map_err(of)
    }
}

impl Listing {
    /// The next entry.
    pub(crate) fn next(&mut self) -> Result<Option<(Vec<u8>, Type)>, Errno> {
        if let Some(kept) = self.kept.take() {
            return Ok(Some(kept));
        }
        if let Some(name) = self.more.pop() {
            return Ok(Some((name, Type::Directory)));
        }
        for entry in self.entries.by_ref() {
            let entry = entry.map_err(of)?;
            let name = entry.file_name().into_vec();
            if name.len() <= MAX_NAME && !self.hidden.contains(&name) {
                return Ok(Some((name, entry.file_type().map_or(Type::Unknown, kind_of))));
            }
        }
        Ok(None)
    }

    /// Gives an entry back: it comes again.
    pub(crate) fn keep(&mut self, entry: (Vec<u8>, Type)) {
        self.kept = Some(entry);
    }
}
