//! The kernel of a runtime as a value: all that its programs share and all that it keeps for each of them, at one moment, without the programs.
//!
//! ```text
//! Kernel, Process ── save ──► KernelSnapshot ── encode ──► bytes of a file
//!        ▲                      │   ▲                       │
//!        └──────── restore ──────┘   └─────── decode ────────┘
//! ```
//!
//! Every part gives its own value (`saved.rs` beside it); this module puts them together and says in which order. Two rules hold for all of it. What hangs
//! on the caller outside is no part of it: connections, host functions, open files and watches of the caller's; it hands over anew what the copy
//! is to have. And **no program waits for what cannot come**: an operation that something in the value will complete (a socket, the end of a child, a
//! signal, a watch of files in memory) goes on waiting, every other one is completed at the revival. Next: `descriptors/snapshot.rs`, what descriptions share; `file.rs`, the bytes.

mod file;
#[cfg(test)]
mod rewritten;

use super::descriptors::{DescriptionCollector, DescriptionsSnapshot, Open};
pub use super::encoding::bounded;

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

/// What a program hears of a call of the caller outside that was under way at the save.
const UNANSWERED: &[u8] = b"the call was under way when the runtime was saved, and its answer went to the original";

/// See the module.
#[derive(Serialize, Deserialize)]
pub struct KernelSnapshot {
    files: FilesSnapshot,
    graph: DescriptionsSnapshot,
    sockets: SocketsSnapshot,
    table: ProcessTableSnapshot,
    policy: PolicySnapshot,
    bindings: BindingsSnapshot,
    /// Operations that wait for the caller outside, with their processes.
    calls: Vec<(Pid, OperationId)>,
    /// In the order of their numbers.
    processes: Vec<ProcessSnapshot>,
}

/// What the kernel keeps for one program.
#[derive(Serialize, Deserialize)]
struct ProcessSnapshot {
    pid: Pid,
    files: ProcessFilesSnapshot,
    operations: OperationsSnapshot,
    crypto: CryptoSnapshot,
    signals: SignalsSnapshot,
    watched: Vec<(u32, u32)>,
    feed: Option<SocketId>,
    /// Bytes of its arguments and environment that the kernel is charged for.
    texts: Option<u64>,
    facts: ProcessFactsSnapshot,
}

/// What the caller outside brings to a revival.
pub struct Reattach<'a> {
    /// The limits.
    pub limits: Limits,
    /// None: those of the value.
    pub permissions: Option<&'a PermissionPolicy>,
    /// Matched to those of the value by their paths in the guest.
    pub mounts: &'a [MountOptions],
    /// The app file systems, matched in the same way.
    pub file_systems: &'a [FileSystemOptions],
    /// Receives warnings of limits.
    pub warnings: Option<WarningListener>,
}

/// A kernel that lives again.
pub struct RestoredKernel {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// One for each program that lives, in the order of their numbers.
    pub processes: Vec<Process>,
}

impl Kernel {
    /// Nobody runs a turn or a system call meanwhile. `processes`: those whose programs live.
    pub fn snapshot(&self, processes: &[&Process]) -> KernelSnapshot {
        // The caller outside may still do something: a completion must not fall between what completes and what waits. So those who complete
        // come first: an operation that is still pending afterwards was pending when they were saved.
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

    /// The kernel and the processes of a value, for new programs. Leaves nothing behind when the caller's limits are too narrow, or a mount is missing.
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

    /// The mounts and file systems of now, for a copy that takes the place of this one.
    pub fn reattach(&self) -> (Vec<MountOptions>, Vec<FileSystemOptions>) {
        self.files.lock().reattach()
    }

    /// Takes the place of `before` in a runtime: the same caller hears of what happens here, has the same functions and gives its calls numbers that
    /// go on; so does the CPU time. Its connections to `before` end with `error`. Fails, and has changed nothing, when the name of a command is taken here.
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
    /// The programs that live in it.
    pub fn pids(&self) -> impl Iterator<Item = Pid> {
        self.processes.iter().map(|process| process.pid)
    }

    /// What its programs may do.
    pub fn permissions(&self) -> PermissionPolicy {
        self.policy.clone().into()
    }

    /// Bytes that it keeps, when nobody shares them with it.
    pub fn own_bytes(&self) -> u64 {
        let of_parts = self.files.own_bytes() + self.sockets.own_bytes() + self.table.own_bytes() + self.bindings.own_bytes();
        of_parts + self.processes.iter().map(ProcessSnapshot::own_bytes).sum::<u64>()
    }
}

impl RestoredKernel {
    /// Tells everybody what will not come any more.
    fn settle(&self, saved: &KernelSnapshot, operations: &HashMap<Pid, Arc<Operations>>) {
        let kernel = &self.kernel;
        kernel.processes.bury_others(operations);
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
        // After all that completes: see `Kernel::save`.
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

    /// The sockets that it holds.
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
