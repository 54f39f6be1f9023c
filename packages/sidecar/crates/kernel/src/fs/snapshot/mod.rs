//! A runtime's files as a value: the tree in memory, where what is mounted, and who watches what.
//!
//! Taking it shares the tree, and reviving it shares it again: both cost a few words, however much is in it, and what one side changes
//! afterwards the other does not see. What belongs to the caller outside is no part of it. Mounts are places that the caller has to fill again, and its own
//! open files and watches stay with the original. Which nodes are held is counted anew from what is open in the copy: a deleted file that
//! nobody has open there goes when all is in place ([`FilesSnapshot::settle`]).
//!
//! ```text
//! mod.rs ─► ../tree.rs                     the tree, the counters, overlays
//!     ├───► record.rs, check.rs            the same as bytes, and what is checked about bytes that somebody else has written
//!     ├───► ../host/saved.rs               mounts          ../host/files/saved.rs   open files and listings of mounts
//!     ├───► ../watch/saved.rs              watches         ../host/watching/saved.rs   ... of mounted folders
//!     └───► ../process/saved.rs            what a process has of it
//! ```
//!
//! Next: `kernel/saved/graph.rs`, what is open.

mod check;
mod record;

pub(crate) use check::is_name;
pub(crate) use record::standard;

use super::mounts::{HostWatchSnapshot, HostWatchers, MountSnapshot};
use super::node::{Ino, Node};
use super::tree::{Dense, FileSystem, Reason, Space};
use super::watch::{WatchSnapshot, Watchers};
use crate::Operations;
use crate::fs::options::FileSystemOptions;
use crate::fs::options::MountOptions;
use crate::ids::OperationId;
use crate::permissions::Permissions;
use crate::processes::Processes;
use crate::usage::Usage;
use coldframe_error::Error;
use coldframe_ids::Pid;
use rpds::{HashTrieMapSync, RedBlackTreeMapSync};
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes that a node takes beside what it stores, about.
const NODE: u64 = 256;

/// See the module.
#[derive(Clone)]
pub(crate) struct FilesSnapshot {
    pub(super) nodes: HashTrieMapSync<Ino, Node, Dense>,
    pub(super) last: Ino,
    pub(super) used: Space,
    pub(super) raised: RedBlackTreeMapSync<(usize, Box<[u8]>), Ino>,
    pub(super) mounts: Vec<MountSnapshot>,
    pub(super) watches: Vec<WatchSnapshot>,
    pub(super) host_watches: Vec<HostWatchSnapshot>,
    /// Nodes without a name: they live as long as somebody has them open.
    pub(super) nameless: Vec<Ino>,
}

/// What a copy's files are bound to.
pub(crate) struct Surroundings<'a> {
    pub(crate) usage: &'a Arc<Usage>,
    pub(crate) processes: &'a Arc<Processes>,
    pub(crate) permissions: &'a Arc<Permissions>,
    /// What the caller brings. What the value has not is mounted as in a new runtime.
    pub(crate) mounts: &'a [MountOptions],
    pub(crate) file_systems: &'a [FileSystemOptions],
    /// Those of the programs that live, by their numbers.
    pub(crate) operations: &'a HashMap<Pid, Arc<Operations>>,
}

impl FileSystem {
    pub(crate) fn snapshot(&self) -> FilesSnapshot {
        let is_nameless = |ino: &&Ino| self.nodes.get(*ino).is_some_and(|node| node.meta.links == 0);
        FilesSnapshot {
            nodes: self.nodes.clone(),
            last: self.last,
            used: Space { bytes: self.used.bytes - self.underway, inodes: self.used.inodes },
            raised: self.raised.clone(),
            mounts: self.mounts.iter().map(|mount| MountSnapshot::of(mount)).collect(),
            watches: self.watchers.snapshot(),
            host_watches: self.host_watchers.snapshot(),
            nameless: self.holds.keys().filter(is_nameless).copied().collect(),
        }
    }

    /// Processes and operations that a change of a file will complete.
    pub(crate) fn waiters(&self) -> Vec<(Pid, OperationId)> {
        self.watchers.waiters().chain(self.host_watchers.waiters()).collect()
    }

    /// The mounts of now, as whoever makes a copy of another moment of this runtime brings them.
    pub(crate) fn reattach(&self) -> (Vec<MountOptions>, Vec<FileSystemOptions>) {
        let folders = self.mounts.iter().filter_map(|mount| mount.folder_options()).collect();
        (folders, self.mounts.iter().filter_map(|mount| mount.app_options()).collect())
    }
}

impl FilesSnapshot {
    /// Files that nobody has open yet. What is mounted has its number again; `/proc` shows the new processes.
    pub(crate) fn restore(&self, around: &Surroundings<'_>) -> Result<FileSystem, Error> {
        let limits = &around.usage.limits;
        let exhausted = |resource: &'static str, limit: u64| Error::ResourceExhausted { resource, limit };
        if self.used.bytes > limits.filesystem_bytes {
            return Err(exhausted("filesystem bytes", limits.filesystem_bytes));
        }
        if self.used.inodes > limits.inodes {
            return Err(exhausted("inodes", limits.inodes));
        }
        let mut made = FileSystem {
            nodes: self.nodes.clone(),
            last: self.last,
            holds: HashMap::new(),
            limits: Space { bytes: limits.filesystem_bytes, inodes: limits.inodes },
            used: self.used,
            underway: 0,
            marks: Default::default(),
            usage: around.usage.clone(),
            mounts: MountSnapshot::revive_all(&self.mounts, around)?,
            raised: self.raised.clone(),
            reason: Reason::default(),
            watchers: Watchers::default(),
            host_watchers: HostWatchers::default(),
        };
        made.rose();
        for options in around.mounts.iter().filter(|options| self.mounts.iter().all(|mount| !mount.is_at(&options.guest_path))) {
            made.add_mount(options)?;
        }
        for options in
            around.file_systems.iter().filter(|options| self.mounts.iter().all(|mount| !mount.is_at(&options.guest_path)))
        {
            made.add_file_system(options)?;
        }
        made.revive_watches(&self.watches, around)?;
        made.host_watchers = HostWatchers::restore(&self.host_watches, &made.mounts, around)?;
        Ok(made)
    }

    /// All that the copy has open is in place: what nobody has open and has no name goes.
    pub(crate) fn settle(&self, files: &mut FileSystem) {
        self.nameless.iter().for_each(|ino| files.collect(*ino));
    }

    /// Bytes that it keeps, when nobody shares them with it.
    pub(crate) fn own_bytes(&self) -> u64 {
        let kept: usize = self.watches.iter().map(WatchSnapshot::bytes).sum();
        self.used.bytes + self.used.inodes.saturating_mul(NODE) + kept as u64
    }
}
