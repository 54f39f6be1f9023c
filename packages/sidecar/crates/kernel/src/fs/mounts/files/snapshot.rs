//! Open files and listings of mounts as values. A file of the host is named by its mount and its path, and is opened again by that: when something
//! else lies there by then, the copy has lost it, and says so when it is used. A listing is what is left of it.

use super::super::super::open::APPEND;
use super::super::super::stat::Stat;
use super::super::super::tree::FileSystem;
use super::{Bytes, HostFile, How, Listing, Type};
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
    pub(in crate::fs) what: Opened,
}

/// What it was opened as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::fs) enum Opened {
    /// A regular file of the host, with this number there.
    Folder(u64),
    /// A text of `/proc`.
    Text(#[serde(with = "serde_bytes")] Vec<u8>, Stat),
    App,
}

/// Entries of a directory that nobody has read yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListingSnapshot {
    /// The next one is the last.
    entries: Vec<(serde_bytes::ByteBuf, Type)>,
    /// There were more.
    torn: bool,
}

impl HostFile {
    /// None when the host does not say what it is any more.
    pub(crate) fn snapshot(&self) -> Option<HostFileSnapshot> {
        let what = match &self.bytes {
            Bytes::Folder(_) => Opened::Folder(self.stat().ok()?.ino),
            Bytes::Text { text, stat } => Opened::Text(text.clone(), *stat),
            Bytes::App { .. } => Opened::App,
        };
        Some(HostFileSnapshot { mount: self.number, path: self.path.clone(), what })
    }
}

impl HostFileSnapshot {
    /// The file, opened again with the flags that it was opened with; none when it cannot be, or is another one.
    pub(crate) fn restore(&self, tree: &FileSystem, flags: u32) -> Result<Option<HostFile>, Error> {
        let usage = &tree.usage;
        let Ok(mount) = tree.mount(self.mount) else { return Ok(None) };
        if let Opened::Text(text, stat) = &self.what {
            if mount.proc().is_none() {
                return Ok(None);
            }
            let charge = Charge::of(usage, Resource::Kernel, text.len() as u64)
                .ok_or(Error::ResourceExhausted { resource: "kernel bytes", limit: usage.limits.kernel_bytes })?;
            let bytes = Bytes::Text { text: text.clone(), stat: *stat };
            let file = HostFile { bytes, mount: mount.clone(), number: self.mount, path: self.path.clone(), _charge: None };
            return Ok(Some(file.paid(charge)));
        }
        if mount.proc().is_some() || (self.what == Opened::App) != mount.app().is_some() {
            return Ok(None);
        }
        let (read, write) = (flags & 3 != 1, flags & 3 != 0);
        let how = How { read, write, append: flags & APPEND != 0, truncate: false, create: None };
        let Ok(file) = mount.open(self.mount, &self.path, how) else { return Ok(None) };
        if let Opened::Folder(ino) = self.what
            && file.stat().map(|stat| stat.ino) != Ok(ino)
        {
            return Ok(None);
        }
        let charge = Charge::of(usage, Resource::HostFiles, 1)
            .ok_or(Error::ResourceExhausted { resource: "host files", limit: usage.limits.host_files })?;
        Ok(Some(file.paid(charge)))
    }
}

impl Listing {
    /// What is left of it. What the host still has to tell is read for that, and then lies in memory here too: as much as `pays` agrees to, of
    /// that many bytes in all.
    pub(crate) fn snapshot(&mut self, mut pays: impl FnMut(u64) -> bool) -> ListingSnapshot {
        /// Entries that are read from the host at most.
        const MOST: usize = 1 << 16;
        /// A name's place, and what the allocator adds.
        const NAME: usize = 64;
        let (mut read, mut cost, mut torn) = (Vec::new(), self.cost(), self.torn);
        while self.entries.is_some() {
            cost += (super::MAX_NAME + NAME) as u64;
            if read.len() == MOST || !pays(cost) {
                torn = true;
                break;
            }
            match self.next_on_host() {
                Ok(Some(entry)) => read.push(entry),
                Ok(None) => self.entries = None,
                Err(_) => {
                    torn = true;
                    break;
                }
            }
        }
        // They are taken from the end.
        read.reverse();
        read.append(&mut self.more);
        self.more = read;
        let left = self.more.iter().chain(&self.kept);
        let entries = left.map(|(name, kind)| (serde_bytes::ByteBuf::from(name.clone()), *kind)).collect();
        ListingSnapshot { entries, torn }
    }
}

impl ListingSnapshot {
    pub(crate) fn restore(&self) -> Listing {
        let more = self.entries.iter().map(|(name, kind)| (name.to_vec(), *kind)).collect();
        Listing { entries: None, more, kept: None, hidden: HashSet::new(), torn: self.torn }
    }

    /// Whether all its names are what names may be.
    pub(crate) fn is_sound(&self, is_name: impl Fn(&[u8]) -> bool) -> bool {
        self.entries.iter().all(|(name, _)| is_name(name))
    }
}
