//! Messages about a runtime's processes: their start, their input, their signals, their list.

use serde::{Deserialize, Serialize};

use crate::maps::Pairs;

/// `mode` of `process.start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Run a program to its end.
    Exec,
    /// The same; it may hand back a value.
    Run,
    /// As `Exec`; `code` is the path of the program's file in the guest.
    File,
    /// As `Exec`; `code` is a command and `args` are its arguments.
    Command,
}

/// `stream` of `process.start` and `runner.eval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Descriptor 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<bool>,
    /// Descriptor 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<bool>,
}

/// `process.start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ProcessStart<'a> {
    /// Where it runs.
    pub runtime: u32,
    /// What is wanted of it.
    pub mode: Mode,
    /// The program, an ES module.
    pub code: &'a str,
    /// Arguments after `node` and the program's name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<&'a str>>,
    /// Options of `node` itself.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub exec_argv: Option<Vec<&'a str>>,
    /// Laid over the runtime's environment.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Pairs<'a>>,
    /// Instead of the runtime's working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
    /// What it reads from descriptor 0.
    #[serde(borrow, default, with = "serde_bytes", skip_serializing_if = "Option::is_none")]
    pub stdin: Option<&'a [u8]>,
    /// Wall-clock limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Which descriptors are sent on while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
    /// Whether `started` is sent and its standard input stays open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<bool>,
}

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
