//! Messages about programs and the process table of a runtime.

use coldframe_ids::{Pid, RuntimeId};
use serde::{Deserialize, Serialize};

use super::{Empty, Failure, Owner};
use crate::declare::{events, requests};
use crate::maps::{Numbers, Pairs};

requests! {
    /// Requests about programs and processes.
    pub enum ProcessRequest<'a> {
        /// Runs a program to its end.
        ProcessStart(ProcessStart<'a>) = 13 "process.start" -> Outcome<'a>,
        /// Writes to the standard input of a live program.
        ProcessWrite(ProcessWrite<'a>) = 25 "process.write" -> Empty,
        /// Sends a signal to a process.
        ProcessSignal(ProcessSignal) = 26 "process.signal" -> Empty,
        /// Sets the size of the terminal of a program that was started with a terminal.
        ProcessResize(ProcessResize) = 28 "process.resize" -> Empty,
        /// Lists the processes of a runtime.
        ProcessList(ProcessList) = 27 "process.list" -> ProcessTable<'a>,
        /// Attaches to a root program. The reply follows when the program has ended. The first
        /// request for a restored program receives the earlier output too. Every other request is
        /// a listener: its output has a window of its own, `cancel` detaches the listener, and the
        /// reply has no output. The end of a program can be requested for 30 seconds.
        ProcessAttach(ProcessAttach) = 80 "process.attach" -> Outcome<'a>,
    }
}

events! {
    EVENTS {
        /// The pid of the program of a live `process.start` or of a `process.attach`. Sent once,
        /// before the output and the reply of the request.
        Started(Started) = 7 "started",
        /// A listener's window was full. The next output of the request follows after a gap.
        Lost(Lost) = 8 "lost",
    }
}

/// `mode` of `process.start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// `code` is a program: an ES module, or a program in Python.
    Exec,
    /// `code` is a program, as for `exec`. The program may return a value.
    Run,
    /// `code` is the guest path of the program's file.
    File,
    /// `code` is a command, which is found through PATH. `args` are the command's arguments.
    Command,
}

/// `language` of `process.start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// JavaScript. Options of `node` can select TypeScript.
    Javascript,
    /// Python.
    Python,
}

/// Descriptors whose output is sent while the program runs.
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
    /// The runtime.
    pub runtime: RuntimeId,
    /// The meaning of `code`.
    pub mode: Mode,
    /// The program, its path, or a command.
    pub code: &'a str,
    /// The language of the program. A command has no language. Omitted for JavaScript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// Arguments after `node` or `python3` and the program's name, or after the command.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<&'a str>>,
    /// Options of `node` or `python3` itself.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub exec_argv: Option<Vec<&'a str>>,
    /// Variables that extend or replace the runtime's environment.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Pairs<'a>>,
    /// The working directory, instead of the runtime's working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
    /// The standard input. With `live`, the first bytes of the standard input.
    #[serde(borrow, default, with = "serde_bytes", skip_serializing_if = "Option::is_none")]
    pub stdin: Option<&'a [u8]>,
    /// The wall-clock limit of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Limits that the program has instead of the runtime's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Numbers<'a>>,
    /// Descriptors whose output is sent while the program runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
    /// Whether `started` is sent and the standard input stays open for `process.write`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<bool>,
    /// The user of the program. Default: the user `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Owner>,
    /// Makes a terminal of this size, which is the program's standard input and output. `live` must
    /// be set. The output of the terminal is the output of descriptor 1, and is not captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalSize>,
    /// Whether the other processes of the program's session continue after the program's end. The
    /// reply then follows when no process has a descriptor of the program's output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_orphans: Option<bool>,
}

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalSize {
    /// The number of characters in a line.
    pub columns: u16,
    /// The number of lines.
    pub rows: u16,
}

/// Nanoseconds spent in each step of a start and in the run of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Timings {
    /// The time to map the memory image.
    pub memory_map_ns: u64,
    /// The time to make the instance.
    pub instantiate_ns: u64,
    /// The time from the instance to the first instruction of the user's program.
    pub guest_start_ns: u64,
    /// The time from the first instruction to the end of the user's program.
    pub guest_run_ns: u64,
}

/// The reply to `process.start`, `process.attach` and `runner.eval`: the result of a program or of
/// an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Outcome<'a> {
    /// The exit code.
    pub exit_code: i32,
    /// Linux's number of the signal that ended the program. Omitted if the program exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<u8>,
    /// The captured output of descriptor 1.
    #[serde(borrow, with = "serde_bytes")]
    pub stdout: &'a [u8],
    /// The captured output of descriptor 2.
    #[serde(borrow, with = "serde_bytes")]
    pub stderr: &'a [u8],
    /// The JSON text of the value that the program passed to `__return`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<&'a str>,
    /// The reason why the sandbox ended the program or the evaluation. Omitted for any other end.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure<'a>>,
    /// Whether the program wrote more to descriptor 1 than `stdout` contains.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stdout_truncated: bool,
    /// Whether the program wrote more to descriptor 2 than `stderr` contains.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stderr_truncated: bool,
    /// The time of each step of the start and of the run.
    pub timings: Timings,
}

/// `started`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// The process of the program.
    pub pid: Pid,
    /// After `process.attach`: the most bytes of output that are sent beyond the window, because
    /// the output was captured before the attachment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<u64>,
    /// Whether the request of a `process.attach` is a listener.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listener: bool,
}

/// `lost`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lost {
    /// The number of bytes that the listener does not receive.
    pub bytes: u64,
}

/// `process.write`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessWrite<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// A process that was started live.
    pub pid: Pid,
    /// Bytes for the standard input of the process.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
    /// Whether the standard input ends after `data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<bool>,
}

/// `process.signal`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessSignal {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The process.
    pub pid: Pid,
    /// Linux's signal number. 0 only checks that the process exists.
    pub signal: u8,
}

/// `process.resize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessResize {
    /// The runtime.
    pub runtime: RuntimeId,
    /// A process that was started with a terminal.
    pub pid: Pid,
    /// The new size.
    pub size: TerminalSize,
}

/// `process.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessList {
    /// The runtime.
    pub runtime: RuntimeId,
}

/// The reply to `process.list`: lists of one length, in the order of the pids.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessTable<'a> {
    /// The pid of each process.
    pub pids: Vec<Pid>,
    /// The parent of each process. 1 for a root program.
    pub ppids: Vec<Pid>,
    /// The process group of each process.
    pub groups: Vec<Pid>,
    /// The command line that each process was started with.
    #[serde(borrow)]
    pub commands: Vec<&'a str>,
}

/// `process.attach`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessAttach {
    /// The runtime.
    pub runtime: RuntimeId,
    /// A root program, live or ended.
    pub pid: Pid,
    /// Descriptors whose output is sent while the program runs. For the first request for a
    /// restored program, output that was captured before the snapshot is sent first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
}

/// A program of a restored runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestoredProgram {
    /// The process of the program.
    pub pid: Pid,
    /// The runner, for a resident program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<coldframe_ids::RunnerId>,
}
