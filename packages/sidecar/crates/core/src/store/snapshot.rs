//! A runtime's snapshot as what the store keeps.

use super::SnapshotInfo;
use super::subject::{Memory, Subject};
use crate::core::Core;
use crate::runtime::Snapshot;
use coldframe_error::Error;
use std::sync::Arc;

impl Subject for Snapshot {
    fn info(&self) -> &SnapshotInfo {
        self.info()
    }

    fn state_bytes(&self) -> Result<Vec<u8>, Error> {
        self.state_bytes()
    }

    fn memories(&self) -> Vec<Memory> {
        self.memories()
    }

    fn is_used(&self) -> bool {
        self.has_heirs()
    }

    fn assemble(core: &Core, info: SnapshotInfo, state: &[u8], memories: Vec<Memory>) -> Result<Arc<Self>, Error> {
        Self::assemble(core, info, state, memories)
    }
}
