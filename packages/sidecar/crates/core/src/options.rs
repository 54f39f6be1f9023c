//! The embedder's options of the core, of a runtime and of a process. The functions that receive
//! options also check the options. Next: `outcome.rs`.

use coldframe_abi::EvalFlag;
use coldframe_edge_link::Options as OutsideOptions;
use coldframe_kernel::usage::WarningListener;
use coldframe_kernel::{FileSystemOptions, Limits, MountOptions, Owner, PermissionPolicy, WindowSize};
use coldframe_vm::abi::Place;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// The options of a [`crate::Core`].
#[derive(Debug, Clone)]
pub struct CoreOptions {
    /// The folder with `guest.image` and the precompiled module that the image names.
    pub image_dir: PathBuf,
    /// The folder with `python.image`, its module and the folder `root` with Python's standard
    /// library. Python is not installed if there is no option or no such folder.
    pub python_dir: Option<PathBuf>,
    /// The number of threads that run guests. 0 means one thread for each processor.
    pub workers: usize,
    /// The number of memory slots that stay mapped and clean for the next processes.
    pub warm_slots: usize,
    /// The time that an idle worker spins for more work before the worker waits.
    pub spin: Duration,
    /// The largest number of runtimes at a time.
    pub max_runtimes: u64,
    /// The program that opens connections out of runtimes. The program is started with its first
    /// use.
    pub edge: PathBuf,
    /// Whether the use of that program fails if a part of the wall around it is missing.
    pub requires_edge_walls: bool,
}

/// The name of the program that opens connections out of runtimes.
pub const EDGE_PROGRAM: &str = "coldframe-edge";

/// The default of [`CoreOptions::max_runtimes`]. Linux's default limit of mappings is sufficient
/// for this number of runtimes with one program each.
pub const DEFAULT_MAX_RUNTIMES: u64 = 10_000;

/// The options of a runtime.
#[derive(Clone, Default)]
pub struct RuntimeOptions {
    /// The environment of the runtime's processes. The variables of a login are added: `HOME`,
    /// `LOGNAME`, `PATH`, `SHELL`, `TMPDIR` and `USER`, unless this list has them.
    pub env: Vec<(String, String)>,
    /// The working directory of the runtime's processes: an absolute guest path.
    pub cwd: Option<String>,
    /// The limits of the runtime and its processes.
    pub limits: Limits,
    /// The runtime's share of processor time relative to other runtimes, from 1 to 10,000. `None`
    /// means 100.
    pub weight: Option<u64>,
    /// The initial files: absolute guest paths and contents. Missing parent directories are made.
    pub files: Vec<(String, Vec<u8>)>,
    /// The initial mounts of host folders.
    pub mounts: Vec<MountOptions>,
    /// The permissions of all programs in the runtime.
    pub permissions: PermissionPolicy,
    /// The listener that is called when the use of a limit reaches 80 %. The listener must not
    /// block.
    pub warnings: Option<WarningListener>,
    /// The initial app file systems.
    pub file_systems: Vec<FileSystemOptions>,
    /// The options of connections out of the runtime. `None` means that no connection leaves the
    /// runtime.
    pub outside: Option<OutsideOptions>,
}

/// The purpose of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// Runs a program to its end.
    Exec,
    /// Runs a program to its end. The program may return a value.
    Run,
    /// Stays alive and evaluates snippets.
    Resident,
    /// Runs a program like `Exec`, but `code` is the guest path of the program.
    File,
    /// Runs a command with the arguments `args`. `code` is the command's name, which is found
    /// through `PATH`, or the command's path.
    Command,
}

/// The language of a program in the modes `Exec`, `Run`, `Resident` and `File`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// JavaScript, which `node` runs. Options of `node` can select TypeScript.
    #[default]
    JavaScript,
    /// Python.
    Python,
}

/// The descriptors that are streamed while the program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Streams {
    /// Descriptor 1.
    pub stdout: bool,
    /// Descriptor 2.
    pub stderr: bool,
}

/// The languages of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CellLanguage {
    /// JavaScript.
    JavaScript,
    /// TypeScript, whose types the guest removes.
    TypeScript,
}

/// The settings of one evaluation in a resident process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluationSettings {
    /// Whether the snippet may return a value.
    pub returns: bool,
    /// Whether the evaluation ends when the snippet's module has been evaluated. Otherwise the
    /// evaluation also waits for the work that the snippet started.
    pub until_value: bool,
    /// The language of a cell, whose declarations later cells can use. `None` means a module.
    pub cell: Option<CellLanguage>,
    /// Variables that extend or replace the environment of the process during the evaluation.
    pub env: Vec<(String, String)>,
    /// The working directory during the evaluation: an absolute guest path. `None` means the
    /// working directory of the process.
    pub cwd: Option<String>,
}

impl EvaluationSettings {
    /// Returns the sum of the flags for the guest.
    pub(crate) fn flags(&self) -> u32 {
        let flags = [
            (self.returns, EvalFlag::Returns),
            (self.until_value, EvalFlag::UntilValue),
            (self.cell.is_some(), EvalFlag::Cell),
            (self.cell == Some(CellLanguage::TypeScript), EvalFlag::TypeScript),
        ];
        flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.number()).sum()
    }

    /// Returns `env` and `cwd` for the guest, or nothing if the evaluation has the environment and
    /// the working directory of the process.
    pub(crate) fn place(&self) -> Vec<u8> {
        if self.env.is_empty() && self.cwd.is_none() {
            return Vec::new();
        }
        Place { cwd: self.cwd.as_deref(), env: &self.env }.encode()
    }

    /// Returns the number of bytes of the texts.
    pub(crate) fn bytes(&self) -> usize {
        self.env.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() + self.cwd.as_ref().map_or(0, String::len)
    }
}

/// The options of a process.
#[derive(Debug, Clone)]
pub struct ProcessOptions {
    /// The purpose of the process.
    pub mode: Mode,
    /// The language of the program. A command and a resident shell ignore this option.
    pub language: Language,
    /// The program's source (an ES module or a module of Python), its guest path or a command, as
    /// `mode` states. Empty for a resident runner of JavaScript or Python. A resident shell has its
    /// name, such as `bash`.
    pub code: String,
    /// Arguments after `node` or `python3` and the program's name, or after the command.
    pub args: Vec<String>,
    /// Options of `node` or `python3` itself, such as `--no-warnings`.
    pub exec_argv: Vec<String>,
    /// Variables that extend or replace the runtime's environment.
    pub env: Vec<(String, String)>,
    /// The working directory. `None` means the runtime's working directory.
    pub cwd: Option<String>,
    /// The bytes that the program reads from descriptor 0.
    pub stdin: Vec<u8>,
    /// The limit of wall-clock time, from the start to the end of the process.
    pub timeout: Option<Duration>,
    /// The names and values of the limits that the process has instead of the runtime's
    /// ([`Limits::OF_PROGRAMS`]).
    pub limits: Vec<(String, u64)>,
    /// The streamed descriptors.
    pub streams: Streams,
    /// Whether the standard input is a pipe that stays open for further writes
    /// ([`crate::Processes::write`]).
    pub live: bool,
    /// The user of the process. `None` means the user `user`. A user of the login table also
    /// changes `HOME`, `LOGNAME` and `USER`, unless `env` has them.
    pub user: Option<Owner>,
    /// The size of the terminal that the descriptors 0, 1 and 2 are. `None` means no terminal.
    pub terminal: Option<WindowSize>,
    /// Whether the other processes of the session continue after the end of the process. The
    /// outcome then follows when no descriptor refers to the output of the process.
    pub keeps_session: bool,
}

/// The thread of a process's first steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatch {
    /// A worker thread.
    Worker,
    /// The calling thread for at most this time, then a worker.
    Inline(Duration),
}
