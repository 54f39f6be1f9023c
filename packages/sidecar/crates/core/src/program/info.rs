//! The facts about a program that the embedder sees. Next: `lineage.rs`.

use crate::options::Mode;
use coldframe_ids::Pid;

/// The facts about a program and all copies of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramInfo {
    /// The number in the runtime. A copy has the number of its original.
    pub pid: Pid,
    /// The number that all copies of the program share.
    pub lineage: u64,
    /// The purpose of the program.
    pub mode: Mode,
    /// The command line, cut off when it is long.
    pub command: String,
    /// Whether the embedder started the program. Otherwise another program did.
    pub is_root: bool,
}
