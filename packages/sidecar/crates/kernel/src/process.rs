//! The kernel's part of one program: descriptors, operations, signals, cryptography.
//!
//! `descriptors.rs` has the table of descriptors. `descriptor_io.rs` reads, writes and closes
//! descriptors. Next: `operations.rs`.

use crate::crypto;
use crate::descriptors::Descriptors;
use crate::fs::{self, ProcessFiles};
use crate::ids::SocketId;
use crate::kernel::Kernel;
use crate::limits::Limits;
use crate::operations::Operations;
use crate::permissions::Denied;
use crate::processes::{Signals, WatchTarget};
use crate::usage::Charge;
use coldframe_error::Errno;
use coldframe_ids::Pid;
use coldframe_panics::runtime::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The kernel's part of one program.
pub struct Process {
    /// The kernel that the process belongs to.
    pub kernel: Arc<Kernel>,
    /// The number in the process table.
    pub pid: Pid,
    /// The limits of the process: the runtime's limits, of which the embedder may have lowered some
    /// for one program. The children of the program have the program's limits.
    pub limits: Limits,
    /// The operations in progress, shared with the code that completes operations.
    pub operations: Arc<Operations>,
    pub(crate) crypto: crypto::Crypto,
    pub(crate) signals: Signals,
    /// Whether a signal has stopped the process. Mirrors the state in `signals`, for a check
    /// without the lock.
    pub(crate) is_stopped: AtomicBool,
    /// Whether the process has ended and is being closed. Signals have no effect then.
    pub(crate) is_closed: AtomicBool,
    /// The list that the next waiting call waits for: pairs of a descriptor and a mask, or of a
    /// child's pid and 0.
    pub(crate) watched: Mutex<Vec<WatchTarget>>,
    /// The writing end of the standard input, if the embedder writes to a pipe.
    pub(crate) feed: Mutex<Option<SocketId>>,
    pub(crate) files: ProcessFiles,
    /// The charge for the memory of the arguments and the environment.
    pub(crate) texts: Option<Charge>,
    /// Facts about the process, which `/proc` shows.
    pub facts: fs::Facts,
}

impl Process {
    /// Makes the process `pid`, which the embedder starts in the directory `cwd`.
    pub fn new(kernel: Arc<Kernel>, pid: Pid, cwd: &str) -> Self {
        let descriptors = Descriptors::new(pid, kernel.descriptors());
        let files = ProcessFiles::new(&kernel.files, cwd, descriptors, kernel.permissions.clone());
        Self::with_files(kernel, pid, files)
    }

    /// Returns the filesystem as the process sees it.
    pub(crate) fn view(&self) -> fs::View<'_> {
        self.files.view(&self.kernel.files)
    }

    /// Stores the reason of a denied operation, which the program can read, and returns the error
    /// number.
    pub(crate) fn explain(&self, denied: Denied) -> Errno {
        self.kernel.files.lock().explain(denied)
    }

    pub(crate) fn with_files(kernel: Arc<Kernel>, pid: Pid, files: ProcessFiles) -> Self {
        let (crypto, signals) = (crypto::Crypto::new(&kernel.usage), Signals::default());
        let operations = Arc::new(Operations::new(&kernel.usage, pid));
        Self {
            limits: kernel.usage.limits,
            kernel,
            pid,
            operations,
            crypto,
            signals,
            is_stopped: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            watched: Mutex::default(),
            feed: Mutex::default(),
            files,
            texts: None,
            facts: fs::Facts::default(),
        }
    }

    /// Returns whether a signal has stopped the process. A stopped process runs no code until
    /// SIGCONT continues the process.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    /// Wakes the blocked calls of this process. Each call then checks whether the program's work
    /// must stop.
    pub fn wake_blocked(&self) {
        self.crypto.jobs.wake();
        self.operations.wake();
    }
}
