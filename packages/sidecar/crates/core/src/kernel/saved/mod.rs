//! The kernel of a runtime as a value: all that its programs share and all that it keeps for each of them, at one moment, without the programs.
//!
//! ```text
//! Kernel, Process ── save ──► SavedKernel ── encode ──► bytes of a file
//!        ▲                      │   ▲                       │
//!        └──────── revive ──────┘   └─────── decode ────────┘
//! ```
//!
//! Every part gives its own value (`saved.rs` beside it); this module puts them together and says in which order. Two rules hold for all of it. What hangs
//! on the caller outside is no part of it: connections, host functions, open files and watches of the caller's; it hands over anew what the copy
//! is to have. And **no program waits for what cannot come**: an operation that something in the value will complete (a socket, the end of a child, a
//! signal, a watch of files in memory) goes on waiting, every other one is completed at the revival. Next: `graph.rs`, what descriptions share; `file.rs`, the bytes.

mod few;
mod file;
mod graph;
#[cfg(test)]
mod rewritten;

pub(crate) use few::at_most;
pub(crate) use graph::{Graph, Open, SavedGraph, damaged};

use super::bindings::{Bindings, SavedBindings};
use super::crypto::{Crypto, SavedCrypto};
use super::descriptors::Target;
use super::fs::{self, SavedFacts, SavedFiles, SavedProcessFiles, Surroundings};
use super::host_calls::HostCalls;
use super::net::{self, SavedSockets, Sockets};
use super::operations::SavedOperations;
use super::permissions::{Permissions, SavedPolicy};
use super::processes::{Processes, SavedSignals, SavedTable, Signals};
use super::usage::{Charge, Resource, Usage};
use super::{Kernel, Operations, Process};
use crate::limits::Limits;
use crate::options::{FileSystemOptions, MountOptions, WarningListener};
use crate::policy::PermissionPolicy;
use crate::program::Moment;
use coldframe_error::Errno;
use coldframe_error::Error;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a program hears of a call of the caller outside that was under way at the save.
const UNANSWERED: &[u8] = b"the call was under way when the runtime was saved, and its answer went to the original";

/// See the module.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedKernel {
    files: SavedFiles,
    graph: SavedGraph,
    sockets: SavedSockets,
    table: SavedTable,
    policy: SavedPolicy,
    bindings: SavedBindings,
    /// Operations that wait for the caller outside, with their processes.
    calls: Vec<(u32, u32)>,
    /// In the order of their numbers.
    processes: Vec<SavedProcess>,
}

/// What the kernel keeps for one program.
#[derive(Serialize, Deserialize)]
struct SavedProcess {
    pid: u32,
    files: SavedProcessFiles,
    operations: SavedOperations,
    crypto: SavedCrypto,
    signals: SavedSignals,
    watched: Vec<(u32, u32)>,
    feed: Option<net::Id>,
    /// Bytes of its arguments and environment that the kernel is charged for.
    texts: Option<u64>,
    facts: SavedFacts,
}

/// What the caller outside brings to a revival.
pub(crate) struct Reattach<'a> {
    pub(crate) limits: Limits,
    /// None: those of the value.
    pub(crate) permissions: Option<&'a PermissionPolicy>,
    /// Matched to those of the value by their paths in the guest.
    pub(crate) mounts: &'a [MountOptions],
    pub(crate) file_systems: &'a [FileSystemOptions],
    pub(crate) warnings: Option<WarningListener>,
}

/// A kernel that lives again.
pub(crate) struct Revived {
    pub(crate) kernel: Arc<Kernel>,
    /// One for each program that lives, in the order of their numbers.
    pub(crate) processes: Vec<Process>,
}

impl Kernel {
    /// Nobody runs a turn or a system call meanwhile. `processes`: those whose programs live.
    pub(crate) fn save(&self, processes: &[&Process]) -> SavedKernel {
        // The caller outside may still do something: a completion must not fall between what completes and what waits. So those who complete
        // come first: an operation that is still pending afterwards was pending when they were saved.
        let mut graph = Graph::default();
        let files = self.files.lock().save();
        let sockets = self.sockets.save(&mut graph);
        let table = self.processes.save();
        let calls = self.host_calls.waiters();
        let mut saved: Vec<_> = processes.iter().map(|process| process.save(&mut graph)).collect();
        saved.sort_unstable_by_key(|process| process.pid);
        let (policy, bindings) = (self.permissions.save(), self.bindings.save());
        SavedKernel { files, graph: graph.done(), sockets, table, policy, bindings, calls, processes: saved }
    }

    /// The kernel and the processes of a value, for new programs. Leaves nothing behind when the caller's limits are too narrow, or a mount is missing.
    pub(crate) fn revive(saved: &SavedKernel, with: Reattach<'_>) -> Result<Revived, Error> {
        let policy = match with.permissions {
            Some(policy) => SavedPolicy::of(policy)?,
            None => saved.policy.clone(),
        };
        let usage = Usage::new(&with.limits);
        if let Some(listener) = with.warnings {
            usage.warnings.listen(listener);
        }
        let mut operations = HashMap::with_capacity(saved.processes.len());
        for process in &saved.processes {
            let own = Operations::revive(&process.operations, &usage, process.pid)?;
            operations.insert(process.pid, Arc::new(own));
        }
        let processes = Arc::new(Processes::revive(&saved.table, usage.clone())?);
        let permissions = Arc::new(Permissions::revive(policy));
        let mut files = saved.files.revive(&Surroundings {
            usage: &usage,
            processes: &processes,
            permissions: &permissions,
            mounts: with.mounts,
            file_systems: with.file_systems,
            operations: &operations,
        })?;
        let open = saved.graph.revive(&mut files)?;
        let kernel = Arc::new(Self {
            moment: Moment::default(),
            files: Mutex::new(files),
            sockets: Sockets::revive(&saved.sockets, &open, &usage, &operations)?,
            processes,
            permissions,
            usage,
            host_calls: HostCalls::default(),
            asks: AtomicBool::new(!with.file_systems.is_empty()),
            bindings: Bindings::revive(&saved.bindings),
        });
        let revived: Result<Vec<_>, _> = saved
            .processes
            .iter()
            .filter_map(|process| Some((process, operations.get(&process.pid)?)))
            .map(|(process, own)| process.revive(&kernel, own.clone(), &open))
            .collect();
        let revived = Revived { kernel, processes: revived? };
        let mut files = revived.kernel.files.lock();
        open.settle(&mut files);
        saved.files.settle(&mut files);
        drop(files);
        revived.settle(saved, &operations);
        Ok(revived)
    }

    /// The mounts and file systems of now, for a copy that takes the place of this one.
    pub(crate) fn reattach(&self) -> (Vec<MountOptions>, Vec<FileSystemOptions>) {
        self.files.lock().reattach()
    }

    /// Takes the place of `before` in a runtime: the same caller hears of what happens here, has the same functions and gives its calls numbers that
    /// go on; so does the CPU time. Its connections to `before` end with `error`. Fails, and has changed nothing, when the name of a command is taken here.
    pub(crate) fn follow(&self, before: &Self, error: &Error) -> Result<(), Error> {
        self.follow_bindings(before)?;
        self.usage.warnings.follow(&before.usage.warnings);
        self.usage.computed(before.usage.cpu_ns());
        self.permissions.follow(&before.permissions);
        self.host_calls.follow(&before.host_calls);
        self.sockets.follow(&before.sockets, error);
        Ok(())
    }
}

impl SavedKernel {
    /// The programs that live in it.
    pub(crate) fn pids(&self) -> impl Iterator<Item = u32> {
        self.processes.iter().map(|process| process.pid)
    }

    /// What its programs may do.
    pub(crate) fn permissions(&self) -> PermissionPolicy {
        self.policy.clone().into()
    }

    /// Bytes that it keeps, when nobody shares them with it.
    pub(crate) fn own_bytes(&self) -> u64 {
        let of_parts = self.files.own_bytes() + self.sockets.own_bytes() + self.table.own_bytes() + self.bindings.own_bytes();
        of_parts + self.processes.iter().map(SavedProcess::own_bytes).sum::<u64>()
    }
}

impl Revived {
    /// Tells everybody what will not come any more.
    fn settle(&self, saved: &SavedKernel, operations: &HashMap<u32, Arc<Operations>>) {
        let kernel = &self.kernel;
        kernel.processes.bury_others(operations);
        let held = self.processes.iter().flat_map(Process::sockets);
        kernel.sockets.part_from(&saved.sockets, held.collect());
        for (pid, operation) in &saved.calls {
            if let Some(own) = operations.get(pid) {
                own.complete(*operation, Err(Errno::ECANCELED), UNANSWERED.to_vec());
            }
        }
        let files = kernel.files.lock().waiters();
        let waits = [kernel.sockets.waiters(), kernel.processes.waiters(), files];
        let mut waits: HashSet<(u32, u32)> = waits.into_iter().flatten().collect();
        waits.extend(self.processes.iter().filter_map(|process| Some((process.pid, process.signals.waiting()?))));
        for (pid, own) in operations {
            own.cancel_orphans(|operation| waits.contains(&(*pid, operation)));
        }
    }
}

impl Process {
    fn save(&self, graph: &mut Graph) -> SavedProcess {
        let files = self.files.save(graph);
        // After all that completes: see `Kernel::save`.
        let (signals, operations) = self.signals.save(&self.operations);
        SavedProcess {
            pid: self.pid,
            files,
            crypto: self.crypto.save(),
            signals,
            watched: self.watched.lock().clone(),
            feed: *self.feed.lock(),
            texts: self.texts.as_ref().map(Charge::amount),
            facts: self.facts.save(),
            operations,
        }
    }

    /// The sockets that it holds.
    fn sockets(&self) -> Vec<net::Id> {
        let descriptors = self.files.descriptors.lock();
        let socket = |fd: usize| match descriptors.peek(fd as u32)?.target {
            Target::Socket(id) => Some(id),
            _ => None,
        };
        descriptors.numbers().into_iter().filter_map(socket).chain(*self.feed.lock()).collect()
    }
}

impl SavedProcess {
    fn own_bytes(&self) -> u64 {
        size_of::<Self>() as u64 + self.operations.own_bytes() + self.crypto.own_bytes() + self.facts.own_bytes()
    }

    fn revive(&self, kernel: &Arc<Kernel>, operations: Arc<Operations>, open: &Open) -> Result<Process, Error> {
        let usage = &kernel.usage;
        let files = self.files.revive(&mut kernel.files.lock(), open, &kernel.permissions, kernel.descriptors())?;
        let texts = self.texts.map(|bytes| {
            let charge = Charge::of(usage, Resource::Kernel, bytes);
            charge.ok_or(Error::ResourceExhausted { resource: "kernel bytes", limit: usage.limits.kernel_bytes })
        });
        Ok(Process {
            kernel: kernel.clone(),
            pid: self.pid,
            crypto: Crypto::revive(&self.crypto, usage)?,
            signals: Signals::revive(self.signals),
            operations,
            watched: Mutex::new(self.watched.clone()),
            feed: Mutex::new(self.feed),
            files,
            texts: texts.transpose()?,
            facts: fs::Facts::revive(&self.facts),
        })
    }
}

#[cfg(test)]
mod tests;
