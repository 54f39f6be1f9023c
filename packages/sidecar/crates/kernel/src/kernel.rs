//! The state that all programs of a runtime share: files, sockets, processes, permissions, usage
//! and host calls. Each part has its own lock. Next: `process.rs`, the kernel's part of one
//! program.

use crate::caller::Caller;
use crate::crypto::CryptoShare;
use crate::fs::{self, EmbedderFiles, FilesLock, Library, Space};
use crate::limits::Limits;
use crate::permissions::Permissions;
use crate::processes::Processes;
use crate::usage::{Resource, Usage};
use crate::{bindings, host_calls, net};
use coldframe_ids::Pid;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The state that all programs of a runtime share.
pub struct Kernel {
    pub(crate) files: FilesLock,
    /// Sockets, pipes and inbound connections.
    pub sockets: net::Sockets,
    /// The processes and their table.
    pub processes: Arc<Processes>,
    /// The permissions of the programs.
    pub permissions: Arc<Permissions>,
    /// The runtime's limits and the use of each limit.
    pub usage: Arc<Usage>,
    /// The host calls in progress.
    pub host_calls: host_calls::HostCalls,
    /// The runtime's share of the threads for computations.
    pub crypto_share: Arc<CryptoShare>,
    /// Whether app file systems are mounted. If so, a filesystem call may wait for a reply of the
    /// embedder.
    pub has_app_file_systems: AtomicBool,
    pub(crate) bindings: bindings::Bindings,
}

impl Kernel {
    /// Makes the kernel of an empty runtime without the library of Python.
    pub fn new(limits: &Limits) -> Self {
        Self::with_library(limits, Library::missing())
    }

    /// Makes the kernel of an empty runtime.
    pub fn with_library(limits: &Limits, library: &Library) -> Self {
        let usage = Usage::new(limits);
        let space = Space { bytes: limits.filesystem_bytes, inodes: limits.inodes };
        let processes = Arc::new(Processes::new(usage.clone()));
        let (files, sockets) =
            (fs::base(space, processes.clone(), usage.clone(), library), net::Sockets::new(usage.clone(), processes.clone()));
        Self {
            files: FilesLock::new(files),
            sockets,
            processes,
            permissions: Arc::default(),
            usage,
            host_calls: host_calls::HostCalls::default(),
            crypto_share: CryptoShare::new(),
            has_app_file_systems: AtomicBool::new(false),
            bindings: bindings::Bindings::default(),
        }
    }

    /// Returns the maximum number of open descriptors of one process.
    pub(crate) fn descriptors(&self) -> usize {
        usize::try_from(self.usage.limits.descriptors).unwrap_or(usize::MAX)
    }

    /// Returns the embedder's access to the runtime's files.
    pub fn embedder_files(&self) -> EmbedderFiles<'_> {
        EmbedderFiles::new(&self.files)
    }

    /// Locks the files until the returned guard is dropped, like a guest's long system call.
    #[cfg(feature = "testing")]
    pub fn hold_files(&self) -> impl Sized + '_ {
        self.files.lock()
    }

    /// Returns the memory of the programs' data in bytes: kernel memory, files, and the buffers of
    /// sockets. While a program uses the files, their whole limit counts, because the caller must
    /// not wait for a program.
    pub fn held_bytes(&self) -> u64 {
        let files = self.files.try_lock().map_or(self.usage.limits.filesystem_bytes, |files| files.used.bytes);
        let (_, in_sockets) = self.sockets.used_and_highest();
        self.usage.gauge(Resource::Kernel).used_and_highest().0 + files + in_sockets
    }

    /// Returns the numbers of entries of the process table, of programs in the table, and of
    /// sockets. Tests use the numbers to find leaks.
    pub fn counts(&self) -> (usize, usize, usize) {
        let (entries, programs) = self.processes.counts();
        (entries, programs, self.sockets.count())
    }

    /// Calls `run` with the program `pid`, which may be `caller`. Returns `None` if the program has
    /// ended.
    pub(crate) fn with_program<R>(&self, caller: &dyn Caller, pid: Pid, run: impl FnOnce(&dyn Caller) -> R) -> Option<R> {
        if caller.pid() == pid { Some(run(caller)) } else { self.processes.stream_owner(pid).map(|program| run(&*program)) }
    }
}
