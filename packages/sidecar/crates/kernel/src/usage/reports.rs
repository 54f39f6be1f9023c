//! The reports that the embedder receives about limits and their use. `resources.rs` makes the
//! reports about resources, and `warnings.rs` sends the warnings. Next: `gauge.rs`.

use coldframe_ids::Pid;
use std::sync::Arc;

/// The use of one limit in a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitUse {
    /// The limit's name.
    pub limit: &'static str,
    /// The present use. For a limit of each process, the highest use of one process.
    pub used: u64,
    /// The highest use so far.
    pub high: u64,
    /// The limit's value.
    pub max: u64,
}

/// A warning that a use is near its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitWarning {
    /// The limit's name.
    pub limit: &'static str,
    /// The use when the warning was added.
    pub used: u64,
    /// The limit's value.
    pub max: u64,
    /// The process, for a limit of each process.
    pub pid: Option<Pid>,
}

/// The resources that one runtime uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuntimeResources {
    /// The use of each limit that the kernel counts.
    pub limits: Vec<LimitUse>,
    /// The number of open descriptors of all processes.
    pub descriptors: u64,
    /// The number of operations in progress of all processes.
    pub operations: u64,
    /// The number of processes that wait for a timer.
    pub timers: u64,
    /// The CPU time of all processes in milliseconds, ended processes included.
    pub cpu_ms: u64,
    /// The number of bytes that wait in pipes, sockets and standard streams.
    pub buffered_bytes: u64,
}

/// Receives each warning that a use is near its limit. The function must not block.
pub type WarningListener = Arc<dyn Fn(LimitWarning) + Send + Sync>;
