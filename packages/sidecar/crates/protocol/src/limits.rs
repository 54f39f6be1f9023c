//! Messages about a runtime's limits: what it uses of them, and that it comes near one. The limits themselves are a field of `runtime.create`.

use serde::{Deserialize, Serialize};

/// `limit.warning`: the use of a limit has passed 80 %. Its id is 0; only a runtime that was made with `warn` sends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitWarning<'a> {
    /// The runtime.
    pub runtime: u32,
    /// The limit's name.
    pub limit: &'a str,
    /// How much is used.
    pub used: u64,
    /// The limit.
    pub max: u64,
    /// The process, for a limit that each process has for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// `runtime.resources`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeResources {
    /// The runtime.
    pub runtime: u32,
}

/// The reply to `runtime.resources`. The lists have one length and one order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RuntimeUsage<'a> {
    /// Names of limits.
    #[serde(borrow)]
    pub limits: Vec<&'a str>,
    /// What is used of each.
    pub used: Vec<u64>,
    /// What was used of each at most.
    pub high: Vec<u64>,
    /// The limits.
    pub max: Vec<u64>,
    /// Descriptors of all processes.
    pub descriptors: u64,
    /// Operations under way of all processes.
    pub operations: u64,
    /// Processes that wait for a timer.
    pub timers: u64,
    /// CPU milliseconds of all processes.
    pub cpu_ms: u64,
    /// Bytes that wait in pipes, sockets and standard streams.
    pub buffered_bytes: u64,
}
