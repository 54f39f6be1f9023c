//! What the embedder gets to know of limits and their use.

use coldframe_ids::Pid;
use std::sync::Arc;

/// What a runtime uses of one of its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitUse {
    /// The limit's name.
    pub limit: &'static str,
    /// How much now; of what each process has for itself, the most that one of them has.
    pub used: u64,
    /// How much at most so far.
    pub high: u64,
    /// The limit.
    pub max: u64,
}

/// A runtime's use of a limit has come near it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitWarning {
    /// The limit's name.
    pub limit: &'static str,
    /// How much is used.
    pub used: u64,
    /// The limit.
    pub max: u64,
    /// The process, for a limit that each process has for itself.
    pub pid: Option<Pid>,
}

/// What one runtime has in use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuntimeResources {
    /// Every limit whose use can be counted.
    pub limits: Vec<LimitUse>,
    /// Descriptors of all its processes.
    pub descriptors: u64,
    /// Operations of all its processes that are under way.
    pub operations: u64,
    /// Processes that wait for a timer.
    pub timers: u64,
    /// CPU milliseconds of all its processes, ended ones included.
    pub cpu_ms: u64,
    /// Bytes that wait in its pipes, sockets and standard streams.
    pub buffered_bytes: u64,
}

/// Called when the use of a limit passes 80 %. Must not block.
pub type WarningListener = Arc<dyn Fn(LimitWarning) + Send + Sync>;
