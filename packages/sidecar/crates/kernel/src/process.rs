//! The kernel's part of one program: descriptors, operations, signals, cryptography.
//!
//! `descriptors.rs` has the table of descriptors. `descriptor_io.rs` reads, writes and closes
//! descriptors. Next: `operations.rs`.

use crate::crypto;
use crate::descriptors::{Descriptors, OpenOutput};
use crate::fs::{self, Owner, ProcessFiles};
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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;

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
    /// Whether the other processes of the session continue after the end of this root process.
    pub keeps_session: bool,
    /// The output of the process, if the end of the process waits for its output.
    pub(crate) output: Weak<OpenOutput>,
    /// The charge for the memory of the arguments and the environment.
    pub(crate) texts: Option<Charge>,
    /// Facts about the process, which `/proc` shows.
    pub facts: fs::Facts,
}

impl Process {
    /// Makes the process `pid` of the user `user`, which the embedder starts in the directory
    /// `cwd`.
    pub fn new(kernel: Arc<Kernel>, pid: Pid, cwd: &str) -> Self {
        Self::for_user(kernel, pid, cwd, Owner::GUEST)
    }

    /// Makes the process `pid` of the user `owner`, which the embedder starts in the directory
    /// `cwd`.
    pub fn for_user(kernel: Arc<Kernel>, pid: Pid, cwd: &str, owner: Owner) -> Self {
        let descriptors = Descriptors::new(pid, kernel.descriptors());
        let files = ProcessFiles::new(&kernel.files, cwd, descriptors, kernel.permissions.clone(), owner);
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
            keeps_session: false,
            output: Weak::new(),
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

    /// Keeps the session of this new root process after the end of the process. The end of the
    /// process then waits until no descriptor refers to its output.
    pub fn keep_session(&mut self) {
        let open = Arc::<OpenOutput>::default();
        self.files.descriptors.lock().track_output(self.pid, &open);
        self.output = Arc::downgrade(&open);
        self.keeps_session = true;
        self.kernel.processes.keep_session(self.pid);
    }

    /// Returns whether a descriptor refers to the output of this process, whose session is kept. If
    /// so, `waker` is called when the last such descriptor closes.
    pub fn has_open_output(&self, waker: &Waker) -> bool {
        let Some(open) = self.output.upgrade() else { return false };
        open.watch(waker);
        // If the reference is the last one, dropping it calls the waker.
        true
    }

    /// Wakes the blocked calls of this process. Each call then checks whether the program's work
    /// must stop.
    pub fn wake_blocked(&self) {
        self.crypto.jobs.wake();
        self.operations.wake();
    }
}
