//! Snapshots of a runtime's files: the tree in memory, the mount points, and the watches.
//!
//! A snapshot shares the tree with the runtime, and a restore shares the tree with the snapshot. A
//! snapshot and a restore each copy a few words, for any number of files. Later changes of one
//! runtime are not visible in the snapshot or in another runtime. The embedder's objects are not
//! part of a snapshot: the embedder attaches its mounts again. The embedder's open files and
//! watches stay with the original runtime. Holds of inodes are counted again from the restored open
//! descriptions. Deleted files that no restored description holds are removed at the end of the
//! restore ([`FilesSnapshot::settle`]).
//!
//! ```text
//! mod.rs ─► ../tree.rs                       the tree, the counters, overlays
//!     ├───► record.rs, check.rs              the snapshot as bytes, and checks of hostile bytes
//!     ├───► ../mounts/snapshot.rs            mounts
//!     ├───► ../mounts/files/snapshot.rs      open files and listings of mounts
//!     ├───► ../watch/snapshot.rs             watches
//!     ├───► ../mounts/watching/snapshot.rs   watches of mounted folders
//!     └───► ../process/snapshot.rs           a process's files
//! ```
//! Next: `descriptors/snapshot.rs` of this crate, the open descriptions.

mod check;
mod record;

pub(crate) use check::is_name;
pub(crate) use record::standard;

use super::mounts::{HostWatchSnapshot, HostWatchers, Library, MountSnapshot};
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

/// The approximate memory of an inode besides its stored bytes, in bytes.
const NODE: u64 = 256;

/// The files of a runtime at one point in time.
#[derive(Clone)]
pub(crate) struct FilesSnapshot {
    pub(super) nodes: HashTrieMapSync<Ino, Node, Dense>,
    pub(super) last: Ino,
    pub(super) used: Space,
    pub(super) raised: RedBlackTreeMapSync<(usize, Box<[u8]>), Ino>,
    pub(super) mounts: Vec<MountSnapshot>,
    pub(super) watches: Vec<WatchSnapshot>,
    pub(super) host_watches: Vec<HostWatchSnapshot>,
    /// The inodes without a name. A description or a working directory holds each such inode.
    pub(super) nameless: Vec<Ino>,
}

/// The objects that restored files refer to.
pub(crate) struct RestoreContext<'a> {
    pub(crate) usage: &'a Arc<Usage>,
    pub(crate) processes: &'a Arc<Processes>,
    pub(crate) permissions: &'a Arc<Permissions>,
    /// The embedder's mounts. A mount that the snapshot does not contain is added as in a new
    /// runtime.
    pub(crate) mounts: &'a [MountOptions],
    pub(crate) file_systems: &'a [FileSystemOptions],
    pub(crate) library: &'a Library,
    /// The operations of the running programs, by pid.
    pub(crate) operations: &'a HashMap<Pid, Arc<Operations>>,
}

impl FileSystem {
    pub(crate) fn snapshot(&self) -> FilesSnapshot {
        let is_nameless = |ino: &&Ino| self.nodes.get(*ino).is_some_and(|node| node.meta.links == 0);
        FilesSnapshot {
            nodes: self.nodes.clone(),
            last: self.last,
            used: Space { bytes: self.used.bytes - self.raising_bytes, inodes: self.used.inodes },
            raised: self.raised.clone(),
            mounts: self.mounts.iter().map(|mount| MountSnapshot::of(mount)).collect(),
            watches: self.watchers.snapshot(),
            host_watches: self.host_watchers.snapshot(),
            nameless: self.holds.keys().filter(is_nameless).copied().collect(),
        }
    }

    /// Returns the operations that a change of a file completes, with their processes.
    pub(crate) fn waiters(&self) -> Vec<(Pid, OperationId)> {
        self.watchers.waiters().chain(self.host_watchers.waiters()).collect()
    }

    /// Returns the options of the present mounts, for the restore of another snapshot into this
    /// runtime.
    pub(crate) fn reattach(&self) -> (Vec<MountOptions>, Vec<FileSystemOptions>) {
        let folders = self.mounts.iter().filter_map(|mount| mount.folder_options()).collect();
        (folders, self.mounts.iter().filter_map(|mount| mount.app_options()).collect())
    }
}

impl FilesSnapshot {
    /// Returns the files without the watches of programs and without the inodes that only programs
    /// keep alive.
    pub(crate) fn without_programs(mut self) -> Self {
        for ino in self.nameless.drain(..) {
            if let Some(node) = self.nodes.get(&ino) {
                self.used.bytes = self.used.bytes.saturating_sub(node.stored());
                self.used.inodes = self.used.inodes.saturating_sub(node.inodes());
            }
            self.nodes.remove_mut(&ino);
        }
        self.watches.clear();
        self.host_watches.clear();
        self
    }

    /// Restores the files, without open descriptions. Each mount has its number from the snapshot.
    /// `/proc` shows the restored processes. Fails if the files exceed a limit or a mount is
    /// missing.
    pub(crate) fn restore(&self, around: &RestoreContext<'_>) -> Result<FileSystem, Error> {
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
            raising_bytes: 0,
            marks: Default::default(),
            usage: around.usage.clone(),
            mounts: MountSnapshot::restore_all(&self.mounts, around)?,
            raised: self.raised.clone(),
            reason: Reason::default(),
            watchers: Watchers::default(),
            host_watchers: HostWatchers::default(),
        };
        made.update_marks();
        for options in around.mounts.iter().filter(|options| self.mounts.iter().all(|mount| !mount.is_at(&options.guest_path))) {
            made.add_mount(options)?;
        }
        for options in
            around.file_systems.iter().filter(|options| self.mounts.iter().all(|mount| !mount.is_at(&options.guest_path)))
        {
            made.add_file_system(options)?;
        }
        made.restore_watches(&self.watches, around)?;
        made.host_watchers = HostWatchers::restore(&self.host_watches, &made.mounts, around)?;
        Ok(made)
    }

    /// Removes the inodes that have no name and that no description or working directory keeps
    /// alive. The descriptions and working directories must be restored before.
    pub(crate) fn settle(&self, files: &mut FileSystem) {
        self.nameless.iter().for_each(|ino| files.collect(*ino));
    }

    /// Returns the approximate memory of the snapshot in bytes. Content that other snapshots share
    /// counts in full.
    pub(crate) fn own_bytes(&self) -> u64 {
        let kept: usize = self.watches.iter().map(WatchSnapshot::bytes).sum();
        self.used.bytes + self.used.inodes.saturating_mul(NODE) + kept as u64
    }
}
