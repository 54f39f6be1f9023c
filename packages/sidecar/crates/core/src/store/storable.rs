//! The content that the store keeps: the facts, the state as bytes, and memories. Tests store
//! substitutes for snapshots. Next: `content.rs`.

use super::SnapshotInfo;
use crate::installation::Installation;
use crate::snapshot::{Snapshot, StoredMemory};
use coldframe_error::Error;
use std::sync::Arc;

/// A snapshot, or a substitute in a test. Implementations are immutable.
pub trait Storable: Send + Sync + Sized + 'static {
    /// Returns the facts about the snapshot.
    fn info(&self) -> &SnapshotInfo;

    /// Returns the state without the memories and the facts. Every call returns equal bytes.
    fn state_bytes(&self) -> Result<Vec<u8>, Error>;

    /// Returns the memories, in the order of the programs' pids.
    fn memories(&self) -> Vec<StoredMemory>;

    /// Returns whether a runtime exists that was restored from the snapshot. Of a tenant's
    /// snapshots, the memory layer removes such snapshots last.
    fn is_used(&self) -> bool;

    /// Makes a snapshot from its parts. Checks `state` like data from a guest.
    fn assemble(
        installation: &Installation,
        info: SnapshotInfo,
        state: &[u8],
        memories: Vec<StoredMemory>,
    ) -> Result<Arc<Self>, Error>;
}

impl Storable for Snapshot {
    fn info(&self) -> &SnapshotInfo {
        self.info()
    }

    fn state_bytes(&self) -> Result<Vec<u8>, Error> {
        self.state_bytes()
    }

    fn memories(&self) -> Vec<StoredMemory> {
        self.memories()
    }

    fn is_used(&self) -> bool {
        self.is_used()
    }

    fn assemble(
        installation: &Installation,
        info: SnapshotInfo,
        state: &[u8],
        memories: Vec<StoredMemory>,
    ) -> Result<Arc<Self>, Error> {
        Self::assemble(installation, info, state, memories)
    }
}
