//! Messages about a runtime's processes: their input, their signals, their list. `process.start` is in `messages.rs`.

use serde::{Deserialize, Serialize};

/// `started`: a live program has its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// Its number in the runtime.
    pub pid: u32,
}

/// `process.write`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessWrite<'a> {
    /// The runtime.
    pub runtime: u32,
    /// Which of its processes: one that was started live.
    pub pid: u32,
    /// More for its standard input.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
    /// Whether that was the last of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<bool>,
}

/// `process.signal`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessSignal {
    /// The runtime.
    pub runtime: u32,
    /// Which of its processes.
    pub pid: u32,
    /// Linux's number; 0 only looks.
    pub signal: u8,
}

/// `process.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessList {
    /// The runtime.
    pub runtime: u32,
}

/// The reply to `process.list`: lists of one length, in the order of the numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessTable<'a> {
    /// Numbers.
    pub pids: Vec<u32>,
    /// Their parents'; 1 is none of the runtime.
    pub ppids: Vec<u32>,
    /// Their groups'.
    pub groups: Vec<u32>,
    /// What they were started as.
    #[serde(borrow)]
    pub commands: Vec<&'a str>,
}
