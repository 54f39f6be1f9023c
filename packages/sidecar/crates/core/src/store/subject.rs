//! What the store keeps, as the store sees it: what is known of it, its kernel's state as bytes, and memories. Next: `content.rs`.

use super::SnapshotInfo;
use crate::core::Core;
use crate::vm::saved::Saved;
use coldframe_error::Error;
use std::sync::Arc;

/// The memory of a program.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    /// Whose.
    pub(crate) pid: u32,
    /// Whether it began as the shell's image.
    pub(crate) is_shell: bool,
    pub(crate) saved: Arc<Saved>,
}

/// A snapshot, or what stands for one in a test. Never changes.
pub(crate) trait Subject: Send + Sync + Sized + 'static {
    /// What is known of it.
    fn info(&self) -> &SnapshotInfo;

    /// All but the memories and the info. The same bytes each time it is asked.
    fn state_bytes(&self) -> Result<Vec<u8>, Error>;

    /// The memories, in the order of the programs' numbers.
    fn memories(&self) -> Vec<Memory>;

    /// Whether what came from it lives: then it is forgotten last.
    fn is_used(&self) -> bool;

    /// Makes it again. `state` is checked as if a guest had written it.
    fn assemble(core: &Core, info: SnapshotInfo, state: &[u8], memories: Vec<Memory>) -> Result<Arc<Self>, Error>;
}
