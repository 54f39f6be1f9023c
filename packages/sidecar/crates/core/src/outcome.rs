//! The core's reports to the embedder: outcomes of programs, lists of processes, counts. Next:
//! `installation.rs`.

use coldframe_error::Error;
use coldframe_ids::{EvaluationId, Pid};

/// The end of one program, or of one evaluation in a resident runner.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The program's exit code, from 0 to 255. 124, 134 or 137 if `failure` is set.
    pub exit_code: i32,
    /// The number of the signal that ended the program. `None` if the program exited. A program
    /// that the sandbox ended has SIGKILL, or SIGABRT for memory.
    pub signal: Option<u8>,
    /// Captured output of descriptor 1.
    pub stdout: Vec<u8>,
    /// Captured output of descriptor 2.
    pub stderr: Vec<u8>,
    /// Whether output of descriptor 1 was cut off.
    pub stdout_truncated: bool,
    /// Whether output of descriptor 2 was cut off.
    pub stderr_truncated: bool,
    /// The JSON text that the program passed to `__return`.
    pub value: Option<String>,
    /// The reason why the sandbox ended the program.
    pub failure: Option<Error>,
    /// The duration of each step.
    pub timings: Timings,
}

impl Outcome {
    /// Returns the outcome of a program or an evaluation that never started.
    pub fn never_ran(failure: Error) -> Self {
        Self {
            exit_code: failure.exit_code(),
            signal: None,
            stdout: Vec::new(),
            stderr: Vec::new(),
            stdout_truncated: false,
            stderr_truncated: false,
            value: None,
            failure: Some(failure),
            timings: Timings::default(),
        }
    }
}

/// The nanoseconds of each step of a start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timings {
    /// The time to take a memory slot and to map the image.
    pub memory_map_ns: u64,
    /// The time to make the wasm instance.
    pub instantiate_ns: u64,
    /// The time from the instance to the first instruction of the user's program.
    pub guest_start_ns: u64,
    /// The time from the first instruction to the end of the user's program.
    pub guest_run_ns: u64,
}

/// One process of a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEntry {
    /// The process's number in the process table.
    pub pid: Pid,
    /// The parent's pid. 1 if the parent is no process of the runtime.
    pub ppid: Pid,
    /// The number of the process group.
    pub group: Pid,
    /// The command and its arguments. A long command line is cut off.
    pub command: String,
}

/// Counts of the resources in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resources {
    /// The number of live runtimes.
    pub runtimes: u64,
    /// The number of live processes, including resident runners.
    pub processes: u64,
    /// The number of clean slots of the image for `node`.
    pub warm_slots: u64,
    /// The memory that live processes had at their start, in bytes: their number times the length
    /// of the image for `node`. Growth is not included.
    pub memory_bytes: u64,
    /// The number of output bytes that wait for readers.
    pub buffered_bytes: u64,
}

/// Receives a program's output and its end. The methods are called on worker threads and on threads
/// that call the core. The methods must not block.
pub trait Sink: Send + Sync {
    /// Reports the pid of a process that has not run yet.
    fn started(&self, _pid: Pid) {}
    /// Reports bytes of a streamed descriptor. The embedder returns credit with
    /// [`crate::Process::credit`]. `evaluation` is the running evaluation of a resident process.
    fn output(&self, evaluation: Option<EvaluationId>, fd: u8, data: Vec<u8>);
    /// Reports the end of an evaluation in a resident process.
    fn evaluated(&self, evaluation: EvaluationId, outcome: Outcome);
    /// Reports that a resident process is ready for its first evaluation.
    fn ready(&self, timings: Timings);
    /// Reports the end of the process. No further call follows.
    fn exited(&self, outcome: Outcome);
    /// Returns the sink as [`Any`](std::any::Any), so that the embedder can find the sink's type
    /// when [`crate::AssignSinks`] passes the sink back.
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }
}
