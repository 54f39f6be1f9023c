//! What the core tells its caller.

use coldframe_error::Error;

/// How one program (or one evaluation in a runner) ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The program's exit code; 124, 134 or 137 when `failure` is set.
    pub exit_code: i32,
    /// Captured output of descriptor 1.
    pub stdout: Vec<u8>,
    /// Captured output of descriptor 2.
    pub stderr: Vec<u8>,
    /// Whether more was streamed than captured.
    pub stdout_truncated: bool,
    /// Whether more was streamed than captured.
    pub stderr_truncated: bool,
    /// The JSON text that the program handed to `__return`.
    pub value: Option<String>,
    /// Why the sandbox ended the program, if it did.
    pub failure: Option<Error>,
    /// Where the time went.
    pub timings: Timings,
}

impl Outcome {
    /// Of what ended before it began.
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

/// Nanoseconds spent in each step of a start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timings {
    /// Getting a memory slot and mapping the image into it.
    pub memory_map_ns: u64,
    /// Making the wasm instance.
    pub instantiate_ns: u64,
    /// From there to the first instruction of the user's program.
    pub guest_start_ns: u64,
    /// From there to its end.
    pub guest_run_ns: u64,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Other,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name; what is not UTF-8 in it is replaced.
    pub name: String,
    /// What it names.
    pub kind: FileType,
}

/// What is known of a file. Times are nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are stat's")]
pub struct FileStat {
    pub kind: FileType,
    pub mode: u32,
    pub size: u64,
    pub ino: u64,
    pub links: u64,
    pub uid: u32,
    pub gid: u32,
    pub atime_ns: i64,
    pub mtime_ns: i64,
    pub ctime_ns: i64,
    pub birthtime_ns: i64,
}

/// How a file that is watched has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// A name came, went or moved.
    Name,
    /// What it names has other bytes or attributes.
    Content,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// What happened.
    pub kind: ChangeKind,
    /// The path below what is watched; empty for what is watched itself.
    pub name: String,
}

/// What has happened since the last time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// In their order.
    pub changes: Vec<FileChange>,
    /// More happened than was kept.
    pub overflow: bool,
}

/// One process of a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEntry {
    /// Its number.
    pub pid: u32,
    /// Its parent's; 1 for one that has none in the runtime.
    pub ppid: u32,
    /// Its group's.
    pub group: u32,
    /// What it was started as: the command and its arguments, cut off when they are long.
    pub command: String,
}

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
    pub pid: Option<u32>,
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

/// Counts of what is in use, for the caller's eyes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resources {
    /// Live runtimes.
    pub runtimes: u64,
    /// Live processes, resident ones included.
    pub processes: u64,
    /// Mapped memory slots that wait clean for the next process.
    pub warm_slots: u64,
    /// Bytes of linear memory that live processes may touch now.
    pub memory_bytes: u64,
    /// Bytes of output that wait for their reader.
    pub buffered_bytes: u64,
}

/// Who is told what happens to a process. Calls come from worker threads, or from the calling thread when a process ran inline;
/// they must not block.
pub trait Sink: Send + Sync {
    /// The process has its number, and has not run yet.
    fn started(&self, _pid: u32) {}
    /// A streamed descriptor has bytes. The caller gives credit back with [`crate::Process::credit`]. `eval` is the evaluation
    /// in a resident process, else 0.
    fn output(&self, eval: u32, fd: u8, data: Vec<u8>);
    /// An evaluation in a resident process has ended.
    fn evaluated(&self, eval: u32, outcome: Outcome);
    /// A resident process is ready for its first evaluation.
    fn ready(&self, timings: Timings);
    /// The process has ended; nothing follows.
    fn exited(&self, outcome: Outcome);
    /// The sink itself, for a caller who is handed it back (see [`crate::Cast`]).
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }
}
