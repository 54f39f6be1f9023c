//! The facts about a program that the embedder sees. Next: `lineage.rs`.

use crate::options::Mode;
use coldframe_ids::{Lineage, Pid};

/// The facts about a program, which are equal for all programs of one lineage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramInfo {
    /// The pid in the runtime. A copy has the pid of its original.
    pub pid: Pid,
    /// The lineage: a random number that the program shares with its copies, the programs that are
    /// restored from its snapshots.
    pub lineage: Lineage,
    /// The purpose of the program.
    pub mode: Mode,
    /// The command line. A long command line is cut off.
    pub command: String,
    /// Whether the embedder started the program. A child was started by another program.
    pub is_root: bool,
}
