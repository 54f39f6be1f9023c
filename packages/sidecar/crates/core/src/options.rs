//! What a caller chooses: for the core, for a runtime, for a process. All are checked where they are taken.

pub use crate::limits::Limits;
use crate::outcome::LimitWarning;
use crate::policy::PermissionPolicy;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a [`crate::Core`] is set up.
#[derive(Debug, Clone)]
pub struct CoreOptions {
    /// The folder with `guest.image` and the precompiled module that it names.
    pub image_dir: PathBuf,
    /// Threads that run guests; 0 means one per processor.
    pub workers: usize,
    /// Memory slots kept mapped and clean for the next process.
    pub warm_slots: usize,
    /// How long a thread that has just answered looks for more work before it sleeps.
    pub spin: Duration,
    /// Runtimes that may be there at a time.
    pub max_runtimes: u64,
}

/// [`CoreOptions::max_runtimes`] unless somebody says otherwise: what a process has mappings for when each runs one program.
pub const DEFAULT_MAX_RUNTIMES: u64 = 10_000;

/// A folder of the host in the guest's tree.
#[derive(Debug, Clone)]
pub struct MountOptions {
    /// Where the guest sees it: an absolute path.
    pub guest_path: String,
    /// The folder.
    pub host_path: PathBuf,
    /// Whether the guest can change nothing in it.
    pub read_only: bool,
    /// Whether the folder is never written, and what the guest changes in it lies in memory.
    pub overlay: bool,
}

/// How the caller outside opens a file. Writing makes it if it is not there, and the directories above it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// For writing; else for reading.
    pub write: bool,
    /// Cut it off at its beginning.
    pub truncate: bool,
    /// All writes go to its end.
    pub append: bool,
    /// Permissions of a new file. Default: 0644.
    pub mode: Option<u32>,
}

/// A file system of the caller's in the guest's tree: what happens in it is asked of the runtime's [`crate::Host`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystemOptions {
    /// Where the guest sees it: an absolute path.
    pub guest_path: String,
    /// The number by which the caller knows it.
    pub number: u32,
    /// Whether the guest can change nothing in it.
    pub read_only: bool,
}

/// What a runtime is made with.
#[derive(Clone, Default)]
pub struct RuntimeOptions {
    /// The environment of its processes.
    pub env: Vec<(String, String)>,
    /// The working directory of its processes: an absolute guest path.
    pub cwd: Option<String>,
    /// The walls; what is not given has its default.
    pub limits: Limits,
    /// Files that are there from the start: absolute guest paths and contents. Directories above them are made.
    pub files: Vec<(String, Vec<u8>)>,
    /// Folders of the host that are there from the start.
    pub mounts: Vec<MountOptions>,
    /// What its programs may do.
    pub permissions: PermissionPolicy,
    /// Told when the use of a limit passes 80 %; must not block.
    pub warnings: Option<WarningListener>,
    /// File systems of the caller's that are there from the start.
    pub file_systems: Vec<FileSystemOptions>,
}

/// See [`RuntimeOptions::warnings`].
pub type WarningListener = Arc<dyn Fn(LimitWarning) + Send + Sync>;

/// What a process is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Run a program to its end.
    Exec,
    /// The same; the program may hand back a value.
    Run,
    /// Stay alive and evaluate snippets.
    Resident,
    /// As `Exec`, and `code` is not the program but the path of its file in the guest.
    File,
    /// As `Exec`, and `code` is a command, looked for as a shell does, with `args` as its arguments.
    Command,
}

/// Which descriptors are sent on while the program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Streams {
    /// Descriptor 1.
    pub stdout: bool,
    /// Descriptor 2.
    pub stderr: bool,
}

/// What a process is started with.
#[derive(Debug, Clone)]
pub struct ProcessOptions {
    /// What it is for.
    pub mode: Mode,
    /// The program, an ES module; empty for a resident runner.
    pub code: String,
    /// Arguments after `node` and the program's name.
    pub args: Vec<String>,
    /// Options of `node` itself, such as `--no-warnings`.
    pub exec_argv: Vec<String>,
    /// Laid over the runtime's environment.
    pub env: Vec<(String, String)>,
    /// Instead of the runtime's working directory.
    pub cwd: Option<String>,
    /// What the program reads from descriptor 0.
    pub stdin: Vec<u8>,
    /// Wall-clock limit.
    pub timeout: Option<Duration>,
    /// Which descriptors are streamed.
    pub streams: Streams,
    /// Its standard input is a pipe that stays open, and that more can be written to ([`crate::Processes::write`]).
    pub live: bool,
}

/// Where a process takes its first steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatch {
    /// On a worker thread.
    Worker,
    /// On the calling thread for at most this long, then on a worker.
    Inline(Duration),
}
