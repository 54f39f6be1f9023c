//! A snapshot of a runtime's kernel: the state that the programs share and the kernel's state of
//! each program, without the programs.
//!
//! ```text
//! Kernel, Process ── snapshot ──► KernelSnapshot ── encode ──► bytes of a file
//!        ▲                          │   ▲                        │
//!        └───────── restore ────────┘   └──────── decode ────────┘
//! ```
//!
//! Every part of the kernel has a snapshot of its own (`snapshot.rs` or `snapshot/` beside the
//! part). This module combines them and defines their order. Two rules apply to all parts. State of
//! the embedder is not part of a snapshot: connections, functions of bindings, and the embedder's
//! open files and watches. The embedder passes to a copy the functions and mounts that the copy
//! needs. And **no program waits for an event that cannot happen**. An operation stays pending if a
//! part of the snapshot will complete it. Such parts are a socket, the end of a child, a signal,
//! and a watch of files in memory. Every other operation is completed by the restore. Next:
//! `descriptions.rs`, the shared descriptions; `file.rs`, the encoding.

mod bounded;
mod descriptions;
mod file;
#[cfg(test)]
mod rewritten;

pub use bounded::bounded;
pub(crate) use descriptions::{DescriptionCollector, DescriptionsSnapshot, Open, damaged};

use super::bindings::{Bindings, BindingsSnapshot};
use super::crypto::{Crypto, CryptoSnapshot};
use super::descriptors::Target;
use super::fs::{self, FilesSnapshot, ProcessFactsSnapshot, ProcessFilesSnapshot, Surroundings};
use super::host_calls::HostCalls;
use super::net::{Sockets, SocketsSnapshot};
use super::operations::OperationsSnapshot;
use super::permissions::{Permissions, PolicySnapshot};
use super::processes::{ProcessTableSnapshot, Processes, Signals, SignalsSnapshot};
use super::usage::{Charge, Resource, Usage};
use super::{Kernel, Operations, Process};
use crate::fs::options::FileSystemOptions;
use crate::fs::options::MountOptions;
use crate::ids::OperationId;
use crate::ids::SocketId;
use crate::limits::Limits;
use crate::permissions::policy::PermissionPolicy;
use crate::usage::WarningListener;
use coldframe_error::Errno;
use coldframe_error::Error;
use coldframe_ids::Pid;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The message of a host call that was in progress when the snapshot was taken.
const UNANSWERED: &[u8] = b"the call was in progress when the snapshot was taken, and its reply went to the original";

/// The state of a runtime's kernel.
#[derive(Serialize, Deserialize)]
pub struct KernelSnapshot {
    files: FilesSnapshot,
    graph: DescriptionsSnapshot,
    sockets: SocketsSnapshot,
    table: ProcessTableSnapshot,
    policy: PolicySnapshot,
    bindings: BindingsSnapshot,
    /// Operations that wait for the embedder, with their processes.
    calls: Vec<(Pid, OperationId)>,
    /// The processes, in order of their pids.
    processes: Vec<ProcessSnapshot>,
}

/// The kernel's state of one program.
#[derive(Serialize, Deserialize)]
struct ProcessSnapshot {
    pid: Pid,
    files: ProcessFilesSnapshot,
    operations: OperationsSnapshot,
    crypto: CryptoSnapshot,
    signals: SignalsSnapshot,
    watched: Vec<(u32, u32)>,
    feed: Option<SocketId>,
    /// The bytes of arguments and environment that are charged as kernel memory.
    texts: Option<u64>,
    facts: ProcessFactsSnapshot,
}

/// The state that the embedder passes to a restore.
pub struct Reattach<'a> {
    /// The limits.
    pub limits: Limits,
    /// The permissions. `None` keeps the snapshot's policy.
    pub permissions: Option<&'a PermissionPolicy>,
    /// The mounts, matched with the snapshot's by their guest paths.
    pub mounts: &'a [MountOptions],
    /// The app file systems, matched with the snapshot's by their guest paths.
    pub file_systems: &'a [FileSystemOptions],
    /// Receives warnings of limits.
    pub warnings: Option<WarningListener>,
}

/// A restored kernel.
pub struct RestoredKernel {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// The processes with live programs, in order of their pids.
    pub processes: Vec<Process>,
}

impl Kernel {
    /// Takes a snapshot with the processes of the live programs. No program may run a turn or a
    /// system call during the snapshot.
    pub fn snapshot(&self, processes: &[&Process]) -> KernelSnapshot {
        // The embedder may still act, and an operation must not complete between the snapshots of
        // its completer and of the operation. Completers are therefore stored first: an operation
        // that is pending afterwards was pending when its completer was stored.
        let mut graph = DescriptionCollector::default();
        let files = self.files.lock().snapshot();
        let sockets = self.sockets.snapshot(&mut graph);
        let table = self.processes.snapshot();
        let calls = self.host_calls.waiters();
        let mut saved: Vec<_> = processes.iter().map(|process| process.snapshot(&mut graph)).collect();
        saved.sort_unstable_by_key(|process| process.pid);
        let (policy, bindings) = (self.permissions.snapshot(), self.bindings.snapshot());
        KernelSnapshot { files, graph: graph.done(), sockets, table, policy, bindings, calls, processes: saved }
    }

    /// Restores the kernel and its processes, for new programs. Changes nothing outside if the
    /// limits are too low or a mount is missing.
    pub fn restore(saved: &KernelSnapshot, with: Reattach<'_>) -> Result<RestoredKernel, Error> {
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
        let mut files = saved.files.restore(&Surroundings {
            usage: &usage,
            processes: &processes,
            permissions: &permissions,
            mounts: with.mounts,
            file_systems: with.file_systems,
            operations: &operations,
        })?;
        let open = saved.graph.restore(&mut files)?;
        let kernel = Arc::new(Self {
            files: Mutex::new(files),
            sockets: Sockets::restore(&saved.sockets, &open, &usage, &operations)?,
            processes,
            permissions,
            usage,
            host_calls: HostCalls::default(),
            asks: AtomicBool::new(!with.file_systems.is_empty()),
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

    /// Returns the present mounts and app file systems, for a copy that replaces this kernel.
    pub fn reattach(&self) -> (Vec<MountOptions>, Vec<FileSystemOptions>) {
        self.files.lock().reattach()
    }

    /// Replaces `before` in a runtime. The embedder, its functions and its listeners are taken
    /// over, and the numbers of host calls and the CPU time continue. The embedder's connections to
    /// `before` end with `error`. Fails without a change if the name of a command is taken.
    pub fn take_over(&self, before: &Self, error: &Error) -> Result<(), Error> {
        self.follow_bindings(before)?;
        self.usage.warnings.follow(&before.usage.warnings);
        self.usage.computed(before.usage.cpu_ns());
        self.permissions.follow(&before.permissions);
        self.host_calls.follow(&before.host_calls);
        self.sockets.take_over(&before.sockets, error);
        Ok(())
    }
}

impl KernelSnapshot {
    /// Returns the pids of the live programs.
    pub fn pids(&self) -> impl Iterator<Item = Pid> {
        self.processes.iter().map(|process| process.pid)
    }

    /// Returns the permissions of the programs.
    pub fn permissions(&self) -> PermissionPolicy {
        self.policy.clone().into()
    }

    /// Returns the bytes of the snapshot, counted as if no other snapshot shared them.
    pub fn own_bytes(&self) -> u64 {
        let of_parts = self.files.own_bytes() + self.sockets.own_bytes() + self.table.own_bytes() + self.bindings.own_bytes();
        of_parts + self.processes.iter().map(ProcessSnapshot::own_bytes).sum::<u64>()
    }
}

impl RestoredKernel {
    /// Completes the operations whose event cannot happen in the copy.
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
    fn snapshot(&self, graph: &mut DescriptionCollector) -> ProcessSnapshot {
        let files = self.files.snapshot(graph);
        // The operations are stored after everything that completes them: see [`Kernel::snapshot`].
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

    /// Returns the sockets that the process holds.
    fn sockets(&self) -> Vec<SocketId> {
        let descriptors = self.files.descriptors.lock();
        let socket = |fd: usize| match descriptors.peek(fd as u32)?.target {
            Target::Socket(id) => Some(id),
            _ => None,
        };
        descriptors.numbers().into_iter().filter_map(socket).chain(*self.feed.lock()).collect()
    }
}

impl ProcessSnapshot {
    fn own_bytes(&self) -> u64 {
        size_of::<Self>() as u64 + self.operations.own_bytes() + self.crypto.own_bytes() + self.facts.own_bytes()
    }

    fn restore(&self, kernel: &Arc<Kernel>, operations: Arc<Operations>, open: &Open) -> Result<Process, Error> {
        let usage = &kernel.usage;
        let files = self.files.restore(&mut kernel.files.lock(), open, &kernel.permissions, kernel.descriptors())?;
        let texts = self.texts.map(|bytes| {
            let charge = Charge::of(usage, Resource::Kernel, bytes);
            charge.ok_or(Error::ResourceExhausted { resource: "kernel bytes", limit: usage.limits.kernel_bytes })
        });
        Ok(Process {
            kernel: kernel.clone(),
            pid: self.pid,
            crypto: Crypto::restore(&self.crypto, usage)?,
            signals: Signals::restore(self.signals),
            operations,
            watched: Mutex::new(self.watched.clone()),
            feed: Mutex::new(self.feed),
            files,
            texts: texts.transpose()?,
            facts: fs::Facts::restore(&self.facts),
        })
    }
}

#[cfg(test)]
mod tests;
