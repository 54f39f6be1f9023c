//! The kernel: what a sandbox's programs share, and the system calls through which they reach it.
//!
//! A [`Kernel`] belongs to a runtime, a [`Process`] to one program in it. A system call is a number and up to eight integers
//! (`docs/internals/guest-abi.md`); [`call`] hands it to the part that owns the number's range. Calls are short: the gate to the guest's
//! memory is open meanwhile, and a kill waits for it. Whatever takes longer starts an operation and completes it with [`Event`]s
//! (`operations.rs`), or waits in [`call_and_wait`], which blocks that VM alone. Next: `arguments.rs`, how a call reads its integers.

mod arguments;
mod bindings;
mod clock;
pub(crate) mod crypto;
mod descriptors;
mod fs;
mod handles;
mod host_calls;
mod net;
mod operations;
pub(crate) mod permissions;
pub(crate) mod processes;
pub(crate) mod saved;
pub(crate) mod usage;

pub(crate) use arguments::Arguments;
pub(crate) use handles::{read, wait_ready, write};
pub(crate) use net::{IN, OUT};
pub(crate) use operations::{Event, Operations};
pub(crate) use processes::{INIT, Status};

use crate::host::HostFailure;
use crate::limits::Limits;
use crate::program::{Moment, Program};
use coldframe_error::Errno;
use descriptors::Descriptors;
pub(crate) use fs::{Archive, Asked, Exchange, Outside, OutsideFile, OutsideWatch, Waiter};
use fs::{FileSystem, ProcessFiles, Space};
use parking_lot::Mutex;
use permissions::Permissions;
use processes::{Processes, Signals};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use usage::{Charge, Usage};

/// What all programs of a runtime share.
pub(crate) struct Kernel {
    files: Mutex<FileSystem>,
    pub(crate) sockets: net::Sockets,
    pub(crate) processes: Arc<Processes>,
    /// What its programs may do.
    pub(crate) permissions: Arc<Permissions>,
    /// The limits, and what is used of them.
    pub(crate) usage: Arc<Usage>,
    pub(crate) host_calls: host_calls::HostCalls,
    /// Whether file systems of the caller outside are mounted: calls may have to wait for it then.
    pub(crate) asks: AtomicBool,
    bindings: bindings::Bindings,
    /// When all of it can be saved.
    pub(crate) moment: Moment,
}

impl Kernel {
    pub(crate) fn new(limits: &Limits) -> Self {
        let usage = Usage::new(limits);
        let space = Space { bytes: limits.filesystem_bytes, inodes: limits.inodes };
        let processes = Arc::new(Processes::new(usage.clone()));
        let (files, sockets) = (fs::base(space, processes.clone(), usage.clone()), net::Sockets::new(usage.clone()));
        Self {
            files: Mutex::new(files),
            sockets,
            processes,
            permissions: Arc::default(),
            usage,
            host_calls: host_calls::HostCalls::default(),
            asks: AtomicBool::new(false),
            bindings: bindings::Bindings::default(),
            moment: Moment::default(),
        }
    }

    /// Descriptors that one process may have open.
    fn descriptors(&self) -> usize {
        usize::try_from(self.usage.limits.descriptors).unwrap_or(usize::MAX)
    }

    /// Its files, for the caller outside.
    pub(crate) fn outside(&self) -> Outside<'_> {
        Outside::new(&self.files)
    }

    #[cfg(test)]
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let (entries, programs) = self.processes.counts();
        (entries, programs, self.sockets.count())
    }

    /// Does something with the program `pid`, which may be the one that asks; none when it has ended.
    fn with_program<R>(&self, asking: &Program, pid: u32, run: impl FnOnce(&Program) -> R) -> Option<R> {
        if asking.pid == pid { Some(run(asking)) } else { self.processes.program(pid).map(|program| run(&program)) }
    }
}

/// What the kernel keeps for one program.
pub(crate) struct Process {
    pub(crate) kernel: Arc<Kernel>,
    /// Its number in the process table.
    pub(crate) pid: u32,
    /// Shared with what may complete them.
    pub(crate) operations: Arc<Operations>,
    pub(crate) crypto: crypto::Crypto,
    pub(crate) signals: Signals,
    /// What the next waiting call waits for: a descriptor and a mask, or a child and 0.
    watched: Mutex<Vec<(u32, u32)>>,
    /// The other end of its standard input, when the caller outside writes to it.
    feed: Mutex<Option<net::Id>>,
    files: ProcessFiles,
    /// Its arguments and environment, as the kernel holds them.
    texts: Option<Charge>,
    /// What `/proc` tells of it besides.
    pub(crate) facts: fs::Facts,
}

impl Process {
    /// A process that the caller outside starts in the directory `cwd`.
    pub(crate) fn new(kernel: Arc<Kernel>, pid: u32, cwd: &str) -> Self {
        let descriptors = Descriptors::new(pid, kernel.descriptors());
        let files = ProcessFiles::new(&kernel.files, cwd, descriptors, kernel.permissions.clone());
        Self::with_files(kernel, pid, files)
    }

    /// The filesystem as it sees it.
    fn view(&self) -> fs::View<'_> {
        self.files.view(&self.kernel.files)
    }

    fn with_files(kernel: Arc<Kernel>, pid: u32, files: ProcessFiles) -> Self {
        let (crypto, signals) = (crypto::Crypto::new(&kernel.usage), Signals::default());
        let operations = Arc::new(Operations::new(&kernel.usage, pid));
        Self {
            kernel,
            pid,
            operations,
            crypto,
            signals,
            watched: Mutex::default(),
            feed: Mutex::default(),
            files,
            texts: None,
            facts: fs::Facts::default(),
        }
    }
}

/// A result that a program gets: a number, or an error number.
pub(crate) type Answer = Result<i64, Errno>;

/// Carries out a system call that finishes at once.
pub(crate) fn call(program: &Arc<Program>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    let _asking = fs::ask(program, arguments.memory_len());
    let answer = match number >> 8 {
        0x1 => return fs::call(program, number, arguments),
        0x2 => net::call(program, number, arguments),
        0x3 => crypto::call(program, number, arguments),
        0x4 => processes::call(program, number, arguments),
        0x5 => clock::call(number, arguments),
        0x6 => bindings::call(program, number, arguments),
        _ => Err(Errno::ENOSYS),
    };
    if answer == Err(Errno::EACCES) {
        // Only calls of files are asked for a reason: what was said about this one is not said about the next.
        let _ = program.process.view().reason();
    }
    answer
}

/// Asks a file system of the caller outside, and blocks this VM alone until it has answered.
pub(crate) async fn ask_file_system(program: &Arc<Program>, asked: &Asked) -> Result<Vec<u8>, Errno> {
    let question = host_calls::Question { service: "filesystem", name: asked.name, input: &asked.input };
    // Who restarts a call is the kernel's own affair.
    let errno = |failure: HostFailure| Some(failure.errno()).filter(|errno| *errno != Errno::ERESTART).unwrap_or(Errno::EIO);
    host_calls::ask_and_wait(program, &question).await.map_err(errno)
}

/// Carries out a system call that may have to wait. It must not hold on to guest memory while it waits: results are short and go
/// back as numbers.
pub(crate) async fn call_and_wait(program: &Arc<Program>, number: u32, integers: [i64; 8]) -> Answer {
    match number >> 8 {
        0x3 => crypto::call_and_wait(program, number, integers).await,
        0x4 => processes::call_and_wait(program, number, integers).await,
        _ => Err(Errno::ENOSYS),
    }
}
