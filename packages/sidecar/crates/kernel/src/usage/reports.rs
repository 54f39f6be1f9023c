//! The reports of limits and their use that the embedder receives. Next: `gauge.rs`.

use coldframe_ids::Pid;
use std::sync::Arc;

/// The use of one limit by a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitUse {
    /// The limit's name.
    pub limit: &'static str,
    /// The present use. For a limit of each process, the highest of one process.
    pub used: u64,
    /// The highest use so far.
    pub high: u64,
    /// The limit.
    pub max: u64,
}

/// A warning that the use is near its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitWarning {
    /// The limit's name.
    pub limit: &'static str,
    /// The present use.
    pub used: u64,
    /// The limit.
    pub max: u64,
    /// The process, for a limit of each process.
    pub pid: Option<Pid>,
}

/// The resources that one runtime uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuntimeResources {
    /// Every limit whose use can be counted.
    pub limits: Vec<LimitUse>,
    /// Descriptors of all processes.
    pub descriptors: u64,
    /// Operations in progress of all processes.
    pub operations: u64,
    /// Processes that wait for a timer.
    pub timers: u64,
    /// CPU time of all processes in milliseconds, ended processes included.
    pub cpu_ms: u64,
    /// Bytes that wait in pipes, sockets and standard streams.
    pub buffered_bytes: u64,
}

/// Called when the use of a limit passes 80 %. Must not block.
pub type WarningListener = Arc<dyn Fn(LimitWarning) + Send + Sync>;
