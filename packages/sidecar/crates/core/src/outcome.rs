//! What the core reports to the embedder: outcomes of programs, lists of processes, counts.

use coldframe_error::Error;
use coldframe_ids::Pid;

/// The end of one program, or of one evaluation in a resident runner.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The program's exit code; 124, 134 or 137 when `failure` is set.
    pub exit_code: i32,
    /// Captured output of descriptor 1.
    pub stdout: Vec<u8>,
    /// Captured output of descriptor 2.
    pub stderr: Vec<u8>,
    /// Whether some output was not captured.
    pub stdout_truncated: bool,
    /// Whether some output was not captured.
    pub stderr_truncated: bool,
    /// The JSON text that the program passed to `__return`.
    pub value: Option<String>,
    /// The reason for which the sandbox ended the program.
    pub failure: Option<Error>,
    /// The duration of each step.
    pub timings: Timings,
}

impl Outcome {
    /// The outcome of a program or an evaluation that never started.
    pub fn never_ran(failure: Error) -> Self {
        Self {
            exit_code: failure.exit_code(),
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
    /// Taking a memory slot and mapping the image.
    pub memory_map_ns: u64,
    /// Making the wasm instance.
    pub instantiate_ns: u64,
    /// From then to the first instruction of the user's program.
    pub guest_start_ns: u64,
    /// From then to the end of the program.
    pub guest_run_ns: u64,
}

/// One process of a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEntry {
    /// The number in the process table.
    pub pid: Pid,
    /// The parent's number. 1 if no process of the runtime is the parent.
    pub ppid: Pid,
    /// The number of the process group.
    pub group: Pid,
    /// The command and its arguments, cut off when they are long.
    pub command: String,
}

/// Counts of what is in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resources {
    /// Live runtimes.
    pub runtimes: u64,
    /// Live processes, resident ones included.
    pub processes: u64,
    /// Clean memory slots that wait for the next process.
    pub warm_slots: u64,
    /// Bytes of linear memory that live processes can access now.
    pub memory_bytes: u64,
    /// Bytes of output that wait for their reader.
    pub buffered_bytes: u64,
}

/// Receives a program's output and its end. Called on worker threads, or on the calling thread for a
/// process that runs inline. The calls must not block.
pub trait Sink: Send + Sync {
    /// The process has its pid and has not run yet.
    fn started(&self, _pid: Pid) {}
    /// A streamed descriptor has bytes. The embedder returns credit with [`crate::Process::credit`].
    /// `eval` is the evaluation in a resident process, else 0.
    fn output(&self, eval: u32, fd: u8, data: Vec<u8>);
    /// An evaluation in a resident process has ended.
    fn evaluated(&self, eval: u32, outcome: Outcome);
    /// A resident process is ready for its first evaluation.
    fn ready(&self, timings: Timings);
    /// The process has ended. No further call follows.
    fn exited(&self, outcome: Outcome);
    /// Returns the sink itself, for an embedder that receives the sink back (see
    /// [`crate::AssignSinks`]).
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }
}
