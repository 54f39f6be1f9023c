//! Open files and listings of mounts in snapshots. An open file of the host machine is stored as
//! its mount and path, and is opened again at that path. If the path leads to another file at the
//! restore, every use of the restored descriptor, except closing, fails with `EIO`. A listing is
//! stored as the entries that the listing has not returned, up to a bound. Next:
//! `../watching/snapshot.rs`.

use super::super::super::open::{APPEND, TEXT_COST};
use super::super::super::stat::Stat;
use super::super::super::tree::FileSystem;
use super::{Bytes, HostFile, Listing, OpenFlags, Type};
use crate::usage::{Charge, Resource};
use coldframe_error::Error;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// An open file of a mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostFileSnapshot {
    pub(in crate::fs) mount: usize,
    #[serde(with = "serde_bytes")]
    pub(in crate::fs) path: Vec<u8>,
    pub(in crate::fs) what: OpenedAs,
}

/// The kind of an open file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::fs) enum OpenedAs {
    /// A regular file of the host machine, with its inode number.
    Folder(u64),
    /// A text of `/proc`.
    Text(#[serde(with = "serde_bytes")] Vec<u8>, Stat),
    App,
    /// A file of the library of Python.
    Library,
}

/// The entries of a directory that the listing has not returned yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListingSnapshot {
    /// The entries in reverse order: the last entry is returned first.
    entries: Vec<(serde_bytes::ByteBuf, Type)>,
    /// Whether the directory had further entries that are not stored.
    is_incomplete: bool,
}

impl HostFile {
    /// Returns a snapshot of the file. Returns `None` if the host machine no longer returns the
    /// file's attributes.
    pub(crate) fn snapshot(&self) -> Option<HostFileSnapshot> {
        let what = match &self.bytes {
            Bytes::Folder(_) => OpenedAs::Folder(self.stat().ok()?.ino),
            Bytes::Text { text, stat } => OpenedAs::Text(text.clone(), *stat),
            Bytes::App { .. } => OpenedAs::App,
            Bytes::Library(_) => OpenedAs::Library,
        };
        Some(HostFileSnapshot { mount: self.number, path: self.path.clone(), what })
    }
}

impl HostFileSnapshot {
    /// Opens the file again with the flags of its first open. Returns `None` if the open fails or
    /// the path leads to another file.
    pub(crate) fn restore(&self, tree: &FileSystem, flags: u32) -> Result<Option<HostFile>, Error> {
        let usage = &tree.usage;
        let Ok(mount) = tree.mount(self.mount) else { return Ok(None) };
        if let OpenedAs::Text(text, stat) = &self.what {
            if mount.proc().is_none() {
                return Ok(None);
            }
            let charge = Charge::of(usage, Resource::Kernel, TEXT_COST + text.len() as u64)
                .ok_or(Error::ResourceExhausted { resource: "kernel bytes", limit: usage.limits.kernel_bytes })?;
            let bytes = Bytes::Text { text: text.clone(), stat: *stat };
            let file = HostFile { bytes, mount: mount.clone(), number: self.mount, path: self.path.clone(), _charge: None };
            return Ok(Some(file.with_charge(charge)));
        }
        if self.what == OpenedAs::Library {
            return Ok(if mount.is_library() { mount.open_library(self.mount, &self.path).ok() } else { None });
        }
        if mount.is_built_in() || (self.what == OpenedAs::App) != mount.app().is_some() {
            return Ok(None);
        }
        let (read, write) = (flags & 3 != 1, flags & 3 != 0);
        let how = OpenFlags { read, write, append: flags & APPEND != 0, truncate: false, create: None };
        let Ok(file) = mount.open(self.mount, &self.path, how) else { return Ok(None) };
        if let OpenedAs::Folder(ino) = self.what
            && file.stat().map(|stat| stat.ino) != Ok(ino)
        {
            return Ok(None);
        }
        let charge = Charge::of(usage, Resource::HostFiles, 1)
            .ok_or(Error::ResourceExhausted { resource: "host files", limit: usage.limits.host_files })?;
        Ok(Some(file.with_charge(charge)))
    }
}

impl Listing {
    /// Returns the remaining entries. Entries that were not read yet are read from the host
    /// machine, and then stay in this listing's memory too. Reading stops when `pays` returns false
    /// for the total bytes in memory.
    pub(crate) fn snapshot(&mut self, mut pays: impl FnMut(u64) -> bool) -> ListingSnapshot {
        /// The maximum number of entries that a snapshot reads from the host machine.
        const MOST: usize = 1 << 16;
        /// The bytes that a name costs besides its content: the entry in the list, and the
        /// allocator's overhead.
        const NAME: usize = 64;
        let (mut read, mut cost, mut is_incomplete) = (Vec::new(), self.cost(), self.is_incomplete);
        while self.entries.is_some() {
            cost += (super::MAX_NAME + NAME) as u64;
            if read.len() == MOST || !pays(cost) {
                is_incomplete = true;
                break;
            }
            match self.next_on_host() {
                Ok(Some(entry)) => read.push(entry),
                Ok(None) => self.entries = None,
                Err(_) => {
                    is_incomplete = true;
                    break;
                }
            }
        }
        // Entries are returned from the end.
        read.reverse();
        read.append(&mut self.more);
        self.more = read;
        let left = self.more.iter().chain(&self.kept);
        let entries = left.map(|(name, kind)| (serde_bytes::ByteBuf::from(name.clone()), *kind)).collect();
        ListingSnapshot { entries, is_incomplete }
    }
}

impl ListingSnapshot {
    pub(crate) fn restore(&self) -> Listing {
        let more = self.entries.iter().map(|(name, kind)| (name.to_vec(), *kind)).collect();
        Listing { entries: None, more, kept: None, hidden: HashSet::new(), is_incomplete: self.is_incomplete }
    }

    /// Returns whether `is_name` accepts all names.
    pub(crate) fn is_sound(&self, is_name: impl Fn(&[u8]) -> bool) -> bool {
        self.entries.iter().all(|(name, _)| is_name(name))
    }
}
