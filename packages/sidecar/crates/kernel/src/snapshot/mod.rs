//! A snapshot of a runtime's kernel: the state that the programs share, and the kernel's state of
//! each program. The VMs of the programs are not part of the snapshot.
//!
//! ```text
//! Kernel, Process ── snapshot ──► KernelSnapshot ── encode ──► bytes of a file
//!        ▲                          │   ▲                        │
//!        └───────── restore ────────┘   └──────── decode ────────┘
//! ```
//!
//! Each part of the kernel has its own snapshot, mostly in `snapshot.rs` or `snapshot/` beside the
//! part. This module combines the snapshots and defines their order. Two rules apply to all parts.
//! First, the embedder's state is not part of a snapshot: connections, functions of bindings, and
//! the embedder's open files and watches. The embedder passes the functions and mounts again at
//! each restore. Second, **no program waits for an event that cannot happen**. An operation stays
//! pending if a part of the snapshot will complete the operation. Such parts are sockets, ends of
//! children, signals, and watches. The restore completes every other operation with `ECANCELED`.
//! Next: `descriptors/snapshot.rs`, the shared descriptions; `file.rs`, the encoding.

mod file;
#[cfg(test)]
mod rewritten;

use super::descriptors::{DescriptionCollector, DescriptionsSnapshot, RestoredDescriptions};
pub use super::encoding::bounded;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use file::file_head;

use super::bindings::{Bindings, BindingsSnapshot};
use super::crypto::{Crypto, CryptoShare, CryptoSnapshot};
use super::descriptors::Target;
use super::fs::{self, FilesLock, FilesSnapshot, Library, ProcessFactsSnapshot, ProcessFilesSnapshot, RestoreContext};
use super::host_calls::HostCalls;
use super::net::{Sockets, SocketsSnapshot};
use super::operations::OperationsSnapshot;
use super::permissions::{Permissions, PolicySnapshot};
use super::processes::{ProcessTableSnapshot, Processes, Signals, SignalsSnapshot, WatchTarget};
use super::usage::{Charge, Resource, Usage};
use super::{Kernel, Operations, Process};
use crate::fs::options::FileSystemOptions;
use crate::fs::options::MountOptions;
use crate::ids::{Fd, OperationId, SocketId};
use crate::limits::Limits;
use crate::permissions::policy::PermissionPolicy;
use crate::usage::WarningListener;
use coldframe_error::Errno;
use coldframe_error::Error;
use coldframe_ids::Pid;
use coldframe_panics::runtime::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The message of a host call that was in progress when the snapshot was taken.
const UNANSWERED: &[u8] = b"the call was in progress when the snapshot was taken, and its reply went to the original";

/// The snapshot of a runtime's kernel.
#[derive(Serialize, Deserialize)]
pub struct KernelSnapshot {
    files: FilesSnapshot,
    descriptions: DescriptionsSnapshot,
    sockets: SocketsSnapshot,
    table: ProcessTableSnapshot,
    policy: PolicySnapshot,
    bindings: BindingsSnapshot,
    /// The operations that wait for the embedder, with their processes.
    calls: Vec<(Pid, OperationId)>,
    /// The processes, in order of their pids.
    processes: Vec<ProcessSnapshot>,
}

/// The snapshot of the kernel's part of one program.
#[derive(Serialize, Deserialize)]
struct ProcessSnapshot {
    pid: Pid,
    files: ProcessFilesSnapshot,
    operations: OperationsSnapshot,
    crypto: CryptoSnapshot,
    signals: SignalsSnapshot,
    watched: Vec<WatchTarget>,
    feed: Option<SocketId>,
    /// The kernel memory that is charged for the arguments and the environment, in bytes.
    texts: Option<u64>,
    facts: ProcessFactsSnapshot,
}

/// The inputs of a restore that the embedder chooses.
pub struct RestoreInputs<'a> {
    /// The limits of the restored runtime.
    pub limits: Limits,
    /// The permission policy of the restored runtime. `None` means the snapshot's policy.
    pub permissions: Option<&'a PermissionPolicy>,
    /// The mounts of the restored runtime. A mount of the snapshot uses the mount in this list with
    /// an equal guest path.
    pub mounts: &'a [MountOptions],
    /// The app file systems of the restored runtime. An app file system of the snapshot uses the
    /// app file system in this list with an equal guest path.
    pub file_systems: &'a [FileSystemOptions],
    /// The standard library of Python.
    pub library: &'a Library,
    /// The listener for warnings of limits.
    pub warnings: Option<WarningListener>,
}

/// A restored kernel.
pub struct RestoredKernel {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// The processes of the live programs, in ascending order of their pids.
    pub processes: Vec<Process>,
}

impl Kernel {
    /// Takes a snapshot. `processes` are the processes of the live programs. No program may run a
    /// turn or a system call during the snapshot.
    pub fn snapshot(&self, processes: &[&Process]) -> KernelSnapshot {
        // The embedder may still act during the snapshot. The parts that complete operations are
        // therefore stored before the operations. If an operation is stored as pending, the
        // operation was also pending when the part that completes the operation was stored.
        let mut descriptions = DescriptionCollector::default();
        let files = self.files.lock().snapshot();
        let sockets = self.sockets.snapshot(&mut descriptions);
        let table = self.processes.snapshot();
        let calls = self.host_calls.waiters();
        let mut saved: Vec<_> = processes.iter().map(|process| process.snapshot(&mut descriptions)).collect();
        saved.sort_unstable_by_key(|process| process.pid);
        let (policy, bindings) = (self.permissions.snapshot(), self.bindings.snapshot());
        KernelSnapshot { files, descriptions: descriptions.done(), sockets, table, policy, bindings, calls, processes: saved }
    }

    /// Takes a snapshot of the files, the policy and the bindings, without programs. Programs may
    /// run during the call. Open files without a name are not in the snapshot.
    pub fn files_snapshot(&self) -> KernelSnapshot {
        let (policy, bindings) = (self.permissions.snapshot(), self.bindings.snapshot());
        let files = self.files.lock().snapshot().without_programs();
        KernelSnapshot { files, policy, bindings, ..Self::new(&self.usage.limits).snapshot(&[]) }
    }

    /// Restores the kernel and its processes, for new programs. Fails if the limits are too low or
    /// a mount is missing. A failed restore changes no other runtime.
    pub fn restore(saved: &KernelSnapshot, with: RestoreInputs<'_>) -> Result<RestoredKernel, Error> {
        let policy = match with.permissions {
            Some(policy) => PolicySnapshot::of(policy)?,
            None => saved.policy.clone(),
        };
        let usage = Usage::new(&with.limits);
        if let Some(listener) = with.warnings {
            usage.warnings.listen(listener);
        }
        let mut operations = HashMap::with_capacity(saved.processes.len());
        for process in &saved.processes {
            let own = Operations::restore(&process.operations, &usage, process.pid)?;
            operations.insert(process.pid, Arc::new(own));
        }
        let processes = Arc::new(Processes::restore(&saved.table, usage.clone())?);
        let permissions = Arc::new(Permissions::restore(policy));
        let mut files = saved.files.restore(&RestoreContext {
            usage: &usage,
            processes: &processes,
            permissions: &permissions,
            mounts: with.mounts,
            file_systems: with.file_systems,
            library: with.library,
            operations: &operations,
        })?;
        let open = saved.descriptions.restore(&mut files)?;
        let kernel = Arc::new(Self {
            files: FilesLock::new(files),
            sockets: Sockets::restore(&saved.sockets, &open, &usage, processes.clone(), &operations)?,
            processes,
            permissions,
            usage,
            host_calls: HostCalls::default(),
            crypto_share: CryptoShare::new(),
            has_app_file_systems: AtomicBool::new(!with.file_systems.is_empty()),
            bindings: Bindings::restore(&saved.bindings),
        });
        let restored: Result<Vec<_>, _> = saved
            .processes
            .iter()
            .filter_map(|process| Some((process, operations.get(&process.pid)?)))
            .map(|(process, own)| process.restore(&kernel, own.clone(), &open))
            .collect();
        let restored = RestoredKernel { kernel, processes: restored? };
        let mut files = restored.kernel.files.lock();
        open.settle(&mut files);
        saved.files.settle(&mut files);
        drop(files);
        restored.settle(saved, &operations);
        Ok(restored)
    }

    /// Returns the present mounts and app file systems, for a restored kernel that replaces this
    /// kernel.
    pub fn reattach(&self) -> (Vec<MountOptions>, Vec<FileSystemOptions>) {
        self.files.lock().reattach()
    }

    /// Replaces `before` in a runtime. Takes the embedder, the embedder's listeners and the policy
    /// from `before`, and continues the numbers of host calls and the CPU time. The embedder's
    /// connections to `before` end with `error`.
    pub fn take_over(&self, before: &Self, error: &Error) {
        self.usage.warnings.take_over(&before.usage.warnings);
        self.usage.computed(before.usage.cpu_ns());
        self.permissions.take_over(&before.permissions);
        self.host_calls.take_over(&before.host_calls);
        self.sockets.take_over(&before.sockets, error);
    }
}

impl KernelSnapshot {
    /// Returns the pids of the live programs, in ascending order.
    pub fn pids(&self) -> impl Iterator<Item = Pid> {
        self.processes.iter().map(|process| process.pid)
    }

    /// Returns the permission policy of the snapshot.
    pub fn permissions(&self) -> PermissionPolicy {
        self.policy.clone().into()
    }

    /// Returns the bytes of the snapshot. Parts that other snapshots share count in full.
    pub fn own_bytes(&self) -> u64 {
        let of_parts = self.files.own_bytes() + self.sockets.own_bytes() + self.table.own_bytes() + self.bindings.own_bytes();
        of_parts + self.processes.iter().map(ProcessSnapshot::own_bytes).sum::<u64>()
    }
}

impl RestoredKernel {
    /// Completes the operations whose completing event cannot happen after the restore.
    fn settle(&self, saved: &KernelSnapshot, operations: &HashMap<Pid, Arc<Operations>>) {
        let kernel = &self.kernel;
        kernel.processes.kill_missing(operations);
        let held = self.processes.iter().flat_map(Process::sockets);
        kernel.sockets.close_unowned(&saved.sockets, held.collect());
        for (pid, operation) in &saved.calls {
            if let Some(own) = operations.get(pid) {
                own.complete(*operation, Err(Errno::ECANCELED), UNANSWERED.to_vec());
            }
        }
        let files = kernel.files.lock().waiters();
        let waits = [kernel.sockets.waiters(), kernel.processes.waiters(), files];
        let mut waits: HashSet<(Pid, OperationId)> = waits.into_iter().flatten().collect();
        waits.extend(self.processes.iter().filter_map(|process| Some((process.pid, process.signals.waiting()?))));
        for (pid, own) in operations {
            own.cancel_orphans(|operation| waits.contains(&(*pid, operation)));
        }
    }
}

impl Process {
    fn snapshot(&self, descriptions: &mut DescriptionCollector) -> ProcessSnapshot {
        let files = self.files.snapshot(descriptions);
        // Operations are stored after the parts that complete operations, as [`Kernel::snapshot`]
        // explains.
        let (signals, operations) = self.signals.snapshot(&self.operations);
        ProcessSnapshot {
            pid: self.pid,
            files,
            crypto: self.crypto.snapshot(),
            signals,
            watched: self.watched.lock().clone(),
            feed: *self.feed.lock(),
            texts: self.texts.as_ref().map(Charge::amount),
            facts: self.facts.snapshot(),
            operations,
        }
    }

    /// Returns the sockets of the process's descriptors.
    fn sockets(&self) -> Vec<SocketId> {
        let descriptors = self.files.descriptors.lock();
        let socket = |fd: Fd| match descriptors.peek(fd)?.target {
            Target::Socket(id) => Some(id),
            _ => None,
        };
        descriptors.open().into_iter().filter_map(socket).chain(*self.feed.lock()).collect()
    }
}

impl ProcessSnapshot {
    fn own_bytes(&self) -> u64 {
        size_of::<Self>() as u64 + self.operations.own_bytes() + self.crypto.own_bytes() + self.facts.own_bytes()
    }

    fn restore(&self, kernel: &Arc<Kernel>, operations: Arc<Operations>, open: &RestoredDescriptions) -> Result<Process, Error> {
        let usage = &kernel.usage;
        let files = self.files.restore(&mut kernel.files.lock(), open, &kernel.permissions, kernel.descriptors())?;
        let texts = self.texts.map(|bytes| {
            let charge = Charge::of(usage, Resource::Kernel, bytes);
            charge.ok_or(Error::ResourceExhausted { resource: "kernel bytes", limit: usage.limits.kernel_bytes })
        });
        Ok(Process {
            limits: usage.limits,
            kernel: kernel.clone(),
            pid: self.pid,
            crypto: Crypto::restore(&self.crypto, usage)?,
            signals: Signals::restore(self.signals),
            is_stopped: AtomicBool::new(self.signals.is_stopped()),
            is_closed: AtomicBool::new(false),
            operations,
            watched: Mutex::new(self.watched.clone()),
            feed: Mutex::new(self.feed),
            keeps_session: kernel.processes.keeps_session(self.pid),
            output: open.output_of(self.pid),
            files,
            texts: texts.transpose()?,
            facts: fs::Facts::restore(&self.facts),
        })
    }
}

#[cfg(test)]
mod tests;
