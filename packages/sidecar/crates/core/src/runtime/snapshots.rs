//! A runtime as a value: its kernel and its programs at one moment, and what is known of it.
//!
//! ```text
//! Runtime ── snapshot ─► Snapshot ── Core::restore ─► another Runtime, as often as you like
//!    ▲                      │
//!    └───── rollback ───────┘
//! ```
//! A snapshot is immutable and stands for itself; it shares with others what has not changed. `take.rs` makes one (when, says `program/moment.rs`),
//! `restore.rs` makes a runtime of one, `rollback.rs` puts one in the place of what a runtime is, `held.rs` is a runtime that rests on.

mod held;
mod id;
mod restore;
mod rollback;
mod state;
mod take;

pub use held::{Bygone, Held};
pub(crate) use id::is_id;
pub use restore::{Cast, RestoreOptions, RestoredRuntime, Starting};
pub use take::SnapshotOptions;

use super::ProgramInfo;
use crate::kernel::saved::SavedKernel;
use crate::limits::Limits;
use crate::policy::PermissionPolicy;
use crate::program::SavedProgram;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is known of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotInfo {
    /// Its name among all: `snap-` and 26 random characters.
    pub id: String,
    /// The snapshot that its runtime came from, or gave before.
    pub parent: Option<String>,
    /// Milliseconds since 1970.
    pub created_ms: u64,
    /// The content hash of the image that its programs began as.
    pub image: String,
    /// What its caller calls it.
    pub name: Option<String>,
    /// The caller's own.
    pub labels: Vec<(String, String)>,
    /// Whose it is.
    pub tenant: String,
    /// Bytes that it holds beyond the image; some of them it may share with other snapshots.
    pub size: u64,
    /// How many programs live in it.
    pub programs: u32,
}

/// See the module.
pub struct Snapshot {
    info: SnapshotInfo,
    env: Vec<(String, String)>,
    cwd: String,
    limits: Limits,
    kernel: SavedKernel,
    /// In the order of their numbers.
    programs: Vec<SavedProgram>,
    heirs: Heir,
}

/// What a runtime holds, while it lives, of the snapshot that it came from: the store forgets that one last.
pub(super) type Heir = Arc<()>;

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Snapshot").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Snapshot {
    /// What is known of it.
    pub fn info(&self) -> &SnapshotInfo {
        &self.info
    }

    /// The programs that live in it, in the order of their numbers.
    pub fn programs(&self) -> Vec<ProgramInfo> {
        self.programs.iter().map(SavedProgram::info).collect()
    }

    /// Whether runtimes live that came from it.
    pub(crate) fn has_heirs(&self) -> bool {
        Arc::strong_count(&self.heirs) > 1
    }

    /// So many runtimes are about to be made of it: what makes many cheap is done first. Nothing depends on it.
    pub fn expect_copies(&self, copies: u32) {
        self.programs.iter().for_each(|program| program.vm.saved.expect(copies));
    }

    /// The limits of the runtime that it was taken of.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Where its programs start unless told otherwise.
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// The environment of its programs.
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// What its programs may do.
    pub fn permissions(&self) -> PermissionPolicy {
        self.kernel.permissions()
    }
}
