//! The store of runtimes' snapshots: in memory, and in a folder that survives the sidecar and the
//! machine.
//!
//! ```text
//! layered_store.rs ─┬─ memory_layer.rs ─┬─ shares.rs    the snapshots to remove
//!  finds a snapshot └─ folder.rs ───────┘
//!                        content.rs ── format.rs       the bytes of a file
//! ```
//! Snapshots belong to tenants. A request for another tenant's id fails like a request for an
//! unknown id. Slow work (hashing, flushing) runs on the calling thread.
//! [`LayeredStore::in_background`] runs a call on the store's threads.

mod atomic_replace;
mod content;
mod faults;
mod folder;
mod format;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod index;
mod layered_store;
mod memory_layer;
mod names;
mod needed_files;
mod options;
mod shares;
mod single_flight;
mod storable;
mod threads;

#[cfg(test)]
mod tests;

pub use layered_store::LayeredStore;
pub use options::StoreOptions;

use crate::snapshot::{Snapshot, SnapshotInfo};
use coldframe_error::Error;
use std::path::PathBuf;

/// The store of runtimes' snapshots.
pub type Store = LayeredStore<Snapshot>;

/// The layers that have a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// Memory of this process.
    Memory,
    /// A file.
    Disk,
    /// Memory and a file.
    Both,
}

/// Whether and how long the store must keep a snapshot on disk when other snapshots need space. A
/// paused runtime needs its snapshot. Every snapshot can be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// The store may remove the snapshot.
    No,
    /// The store keeps the snapshot while this store is open, at most as long as the process lives.
    WhileOpen,
    /// The store keeps the snapshot until the retention is changed.
    Always,
}

/// A file that cannot be used as a snapshot, or a folder that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedSnapshot {
    /// The id of the snapshot, with which the file can be deleted. Empty for the folder.
    pub id: String,
    /// The path of the file or of the folder.
    pub path: PathBuf,
    /// The error's code: `ERR_SNAPSHOT_DAMAGED`, `ERR_SNAPSHOT_FOREIGN`, or the code of a failed
    /// file operation.
    pub code: &'static str,
    /// A sentence that describes the defect.
    pub reason: String,
    error: Error,
}

/// The snapshots of a tenant, oldest first, and the files that cannot be used.
pub type Listing = (Vec<(SnapshotInfo, Stored)>, Vec<DamagedSnapshot>);

impl DamagedSnapshot {
    fn of(id: String, path: PathBuf, error: Error) -> Self {
        Self { id, path, code: error.code(), reason: error.to_string(), error }
    }
}
