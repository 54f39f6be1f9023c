//! The snapshot of a runtime: its kernel and its programs at one point in time.
//!
//! ```text
//! Runtime ── snapshot ─► Snapshot ── Core::restore ─► another Runtime, as often as needed
//!    ▲                      │
//!    └───── rollback ───────┘
//! ```
//! A snapshot is immutable and complete. A snapshot shares unchanged pages with other snapshots.
//! `info.rs` has the facts about a snapshot, `id.rs` its id, and `bytes.rs` its state as bytes.
//! `runtime/snapshots/` takes snapshots and restores them, and `store/` stores them.

mod bytes;
mod id;
mod info;

pub use bytes::StoredMemory;
pub(crate) use id::{fresh_id, is_id};
pub use info::SnapshotInfo;

use crate::outside::without_outside;
use crate::program::{ProgramInfo, ProgramSnapshot};
use coldframe_edge_link::SecretEntry;
use coldframe_kernel::snapshot::KernelSnapshot;
use coldframe_kernel::{Limits, PermissionPolicy};
use std::sync::Arc;

/// The snapshot of a runtime.
pub struct Snapshot {
    pub(crate) info: SnapshotInfo,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: String,
    /// The secrets, without values.
    pub(crate) secrets: Vec<SecretEntry>,
    pub(crate) limits: Limits,
    pub(crate) kernel: KernelSnapshot,
    /// The programs in the order of their pids.
    pub(crate) programs: Vec<ProgramSnapshot>,
    pub(crate) users: SnapshotUse,
}

/// Marks a snapshot as used. A runtime holds the mark of the snapshot that the runtime was restored
/// from or rolled back to. Of a tenant's snapshots, the memory layer removes used snapshots last.
pub(crate) type SnapshotUse = Arc<()>;

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Snapshot").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Returns the facts about the snapshot.
    pub fn info(&self) -> &SnapshotInfo {
        &self.info
    }

    /// Returns the live programs in the order of their pids.
    pub fn programs(&self) -> Vec<ProgramInfo> {
        self.programs.iter().map(ProgramSnapshot::info).collect()
    }

    /// Returns whether a runtime exists that was restored from the snapshot or rolled back to the
    /// snapshot.
    pub(crate) fn is_used(&self) -> bool {
        Arc::strong_count(&self.users) > 1
    }

    /// Announces that `copies` runtimes will be restored, so that each VM snapshot can be prepared
    /// for cheap restores. The call is optional.
    pub fn expect_copies(&self, copies: u32) {
        self.programs.iter().for_each(|program| program.vm.snapshot.expect(copies));
    }

    /// Returns the limits of the runtime when the snapshot was taken.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the default working directory of programs.
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// Returns the environment of programs.
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// Returns the permissions of the programs, as the embedder has set them.
    pub fn permissions(&self) -> PermissionPolicy {
        without_outside(self.kernel.permissions())
    }
}
