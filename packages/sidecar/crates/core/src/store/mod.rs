//! Where snapshots of runtimes live: in memory, and in a folder that survives the sidecar and the machine.
//!
//! ```text
//! mod.rs ── shelves.rs ─┬─ memory.rs ─┬─ shares.rs    who gives when there is no more room
//!           which one   └─ folder.rs ─┘
//!                          content.rs ── format.rs    what is in a file
//! ```
//! Snapshots are kept by tenant: another tenant's id is as unknown as one that nobody has. What takes long (hashing, flushing) is done by
//! whoever calls; [`Store::later`] has threads for it.

mod aside;
mod content;
mod faults;
mod folder;
mod format;
mod index;
mod info;
mod memory;
mod names;
mod once;
mod options;
mod shares;
mod shelves;
mod sleepers;
mod snapshot;
mod subject;
mod threads;

#[cfg(test)]
mod tests;

pub use options::StoreOptions;
pub(crate) use subject::Memory;

use crate::core::Core;
use crate::runtime::{Snapshot, SnapshotInfo};
use coldframe_error::Error;
use shelves::Shelves;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use threads::Threads;

/// Where a snapshot lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// In the memory of this process.
    Memory,
    /// In a file.
    Disk,
    /// In both.
    Both,
}

/// For how long a snapshot on disk stays when others need room, as what a runtime sleeps on must. It can be deleted all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stay {
    /// Not at all.
    No,
    /// While this store is open, at most as long as its process lives: afterwards nobody needs it.
    WhileOpen,
    /// Until that is taken back.
    Always,
}

/// A file that should be a snapshot and cannot be used, or the folder itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedSnapshot {
    /// By which it can be deleted; empty when it is the folder.
    pub id: String,
    /// Where it lies.
    pub path: PathBuf,
    /// The error's code: damaged, foreign, or one of the system.
    pub code: &'static str,
    /// What is wrong with it.
    pub reason: String,
    error: Error,
}

/// What a tenant has, oldest first, and what is there and cannot be used.
pub type Listing = (Vec<(SnapshotInfo, Stored)>, Vec<DamagedSnapshot>);

impl DamagedSnapshot {
    fn of(id: String, path: PathBuf, error: Error) -> Self {
        Self { id, path, code: error.code(), reason: error.to_string(), error }
    }
}

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    shelves: Arc<Shelves<Snapshot>>,
    threads: Arc<Threads>,
}

impl Store {
    /// Nothing on disk is touched before the first use.
    pub fn open(core: &Core, options: StoreOptions) -> Self {
        let shelves = Shelves::new(core.clone(), options.memory_bytes, options.folder(), options.max_bytes);
        Self { shelves: Arc::new(shelves), threads: Arc::default() }
    }

    /// Runs `job` on one of the store's threads: everything but [`Store::held`], [`Store::keep`] and [`Store::forget`] may wait for the disk.
    pub fn later(&self, job: impl FnOnce(&Self) + Send + 'static) {
        let this = self.clone();
        self.threads.run(move || job(&this));
    }

    /// What is in memory of that id, or else the newest of that name. Waits for nothing.
    pub fn held(&self, tenant: &str, name: &str) -> Option<Arc<Snapshot>> {
        self.shelves.memory.held(tenant, name)
    }

    /// Keeps a snapshot in memory. Others may be forgotten to make room: the least recently used of the tenant that uses most.
    pub fn keep(&self, snapshot: &Arc<Snapshot>) -> Result<(), Error> {
        self.shelves.memory.keep(snapshot, None, None)
    }

    /// Forgets a snapshot in memory, by its id. One on disk stays.
    pub fn forget(&self, tenant: &str, id: &str) {
        self.shelves.memory.forget(tenant, id);
    }

    /// Writes a snapshot to disk, whole or not at all, unless it is there. Whoever writes the same meanwhile waits for it.
    pub fn write(&self, snapshot: &Arc<Snapshot>, stay: Stay) -> Result<(), Error> {
        self.shelves.write(snapshot, stay)
    }

    /// Writes one that is in memory to disk, by its id, its name or its digest.
    pub fn persist(&self, tenant: &str, name: &str) -> Result<(), Error> {
        self.shelves.persist(tenant, name)
    }

    /// Says for how long what is on disk must stay when others need room.
    pub fn protect(&self, tenant: &str, name: &str, stay: Stay) -> Result<(), Error> {
        self.shelves.protect(tenant, name, stay)
    }

    /// The snapshot of an id, a name or a digest: from memory, or opened and checked.
    pub fn get(&self, tenant: &str, name: &str) -> Result<Arc<Snapshot>, Error> {
        self.shelves.get(tenant, name)
    }

    /// What is known of it, and where it lies.
    pub fn find(&self, tenant: &str, name: &str) -> Result<(SnapshotInfo, Stored), Error> {
        self.shelves.find(tenant, name)
    }

    /// All of a tenant's, oldest first, and what is in the folder and cannot be used.
    pub fn list(&self, tenant: &str) -> Result<Listing, Error> {
        Ok(self.shelves.list(tenant))
    }

    /// Deletes it in memory and on disk. Runtimes that came from it live on.
    pub fn delete(&self, tenant: &str, name: &str) -> Result<(), Error> {
        self.shelves.delete(tenant, name)
    }

    /// The SHA-256 of what it holds, in hex.
    pub fn digest(&self, tenant: &str, name: &str) -> Result<String, Error> {
        self.shelves.digest(tenant, name)
    }

    /// Writes it to a file that any store can import, in place of what is there.
    pub fn export(&self, tenant: &str, name: &str, path: &Path) -> Result<(), Error> {
        self.shelves.export(tenant, name, path)
    }

    /// Checks such a file and enters it, on disk, under the id that it had.
    pub fn import(&self, tenant: &str, path: &Path) -> Result<(SnapshotInfo, Stored), Error> {
        self.shelves.import(tenant, path)
    }
}
