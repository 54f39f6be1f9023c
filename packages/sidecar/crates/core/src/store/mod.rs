//! Where snapshots of runtimes live: in memory, and in a folder that survives the sidecar and the machine.
//!
//! ```text
//! mod.rs ── shelves.rs ─┬─ memory.rs ─┬─ shares.rs    who gives when there is no more room
//!           which one   └─ folder.rs ─┘
//!                          content.rs ── format.rs    what is in a file
//! ```
//! Snapshots are kept by tenant: another tenant's id is as unknown as one that nobody has. What takes long (hashing, flushing) is done by
//! whoever calls; [`Store::later`] has threads for it.

#![cfg_attr(not(test), expect(dead_code, reason = "the snapshots of runtimes come to lie in it"))]

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
mod subject;
mod threads;

#[cfg(test)]
mod tests;

pub use info::SnapshotInfo;
pub use options::StoreOptions;

use crate::error::Error;
use std::path::PathBuf;

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

impl DamagedSnapshot {
    fn of(id: String, path: PathBuf, error: Error) -> Self {
        Self { id, path, code: error.code(), reason: error.to_string(), error }
    }
}
