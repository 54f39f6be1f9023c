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
//! signal, a watch of files in memory) goes on waiting, every other one is completed at the revival. Next: `graph.rs`, what descriptions share.
#![cfg_attr(not(test), allow(dead_code, reason = "who saves whole runtimes comes next"))]

mod graph;

pub(crate) use graph::Graph;

use super::bindings::{Bindings, SavedBindings};
use super::crypto::{Crypto, SavedCrypto};
use super::descriptors::{Descriptors, Target};
use super::fs::{self, FileSystem, ProcessFiles, SavedFacts, Space};
use super::host_calls::HostCalls;
use super::net::{self, SavedSockets, Sockets};
use super::operations::SavedOperations;
use super::permissions::{Permissions, SavedPolicy};
use super::processes::{Processes, SavedSignals, SavedTable, Signals};
use super::usage::{Charge, Resource, Usage};
use super::{Errno, Kernel, Operations, Process};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::{FileSystemOptions, MountOptions, WarningListener};
use crate::policy::PermissionPolicy;
use crate::program::Moment;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a program hears of a call of the caller outside that was under way at the save.
const UNANSWERED: &[u8] = b"the call was under way when the runtime was saved, and its answer went to the original";

/// See the module.
pub(crate) struct SavedKernel {
    files: FileSystem,
    graph: Graph,
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
struct SavedProcess {
    pid: u32,
    cwd: Vec<u8>,
    umask: u32,
    slots: Vec<Option<u32>>,
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
        let files = self.files.lock().clone();
        let sockets = self.sockets.save(&mut graph);
        let table = self.processes.save();
        let calls = self.host_calls.waiters();
        let mut saved: Vec<_> = processes.iter().map(|process| process.save(&mut graph)).collect();
        saved.sort_unstable_by_key(|process| process.pid);
        let (policy, bindings) = (self.permissions.save(), self.bindings.save());
        SavedKernel { files, graph, sockets, table, policy, bindings, calls, processes: saved }
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
        let graph = saved.graph.revive();
        let space = Space { bytes: with.limits.filesystem_bytes, inodes: with.limits.inodes };
        let kernel = Arc::new(Self {
            moment: Moment::default(),
            files: Mutex::new(saved.files.copied(fs::base(space, processes.clone(), usage.clone()))),
            sockets: Sockets::revive(&saved.sockets, &graph, &usage, &operations)?,
            processes,
            permissions: Arc::new(Permissions::revive(policy)),
            usage,
            host_calls: HostCalls::default(),
            asks: AtomicBool::new(!with.file_systems.is_empty()),
            bindings: Bindings::revive(&saved.bindings),
        });
        let revived: Result<Vec<_>, _> = saved
            .processes
            .iter()
            .filter_map(|process| Some((process, operations.get(&process.pid)?)))
            .map(|(process, own)| process.revive(&kernel, own.clone(), &graph))
            .collect();
        let revived = Revived { kernel, processes: revived? };
        drop(graph);
        revived.settle(saved, &operations);
        Ok(revived)
    }

    /// Takes the place of `before` in a runtime: the same caller hears of what happens here, has the same functions and gives its calls numbers that
    /// go on. Its connections to `before` end with `error`. Fails, and has changed nothing, when the name of a command is taken here.
    pub(crate) fn follow(&self, before: &Self, error: &Error) -> Result<(), Error> {
        self.follow_bindings(before)?;
        self.usage.warnings.follow(&before.usage.warnings);
        self.permissions.follow(&before.permissions);
        self.host_calls.follow(&before.host_calls);
        self.sockets.follow(&before.sockets, error);
        Ok(())
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
        let waits = [kernel.sockets.waiters(), kernel.processes.waiters(operations)];
        let mut waits: HashSet<(u32, u32)> = waits.into_iter().flatten().collect();
        waits.extend(self.processes.iter().filter_map(|process| Some((process.pid, process.signals.waiting()?))));
        for (pid, own) in operations {
            own.cancel_orphans(|operation| waits.contains(&(*pid, operation)));
        }
    }
}

impl Process {
    fn save(&self, graph: &mut Graph) -> SavedProcess {
        let descriptors = self.files.descriptors.lock();
        let slots = (0..=descriptors.numbers().last().copied().unwrap_or(0))
            .map(|fd| descriptors.get(fd as i64).ok().map(|description| graph.index_of(&description)));
        let slots = slots.collect();
        drop(descriptors);
        let cwd = self.files.getcwd(&self.kernel.files.lock()).unwrap_or_default();
        SavedProcess {
            pid: self.pid,
            cwd,
            umask: self.files.umask(),
            slots,
            crypto: self.crypto.save(),
            signals: self.signals.save(),
            watched: self.watched.lock().clone(),
            feed: *self.feed.lock(),
            texts: self.texts.as_ref().map(Charge::amount),
            facts: self.facts.save(),
            // Last: see `Kernel::save`.
            operations: self.operations.save(),
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
    fn revive(&self, kernel: &Arc<Kernel>, operations: Arc<Operations>, graph: &Graph) -> Result<Process, Error> {
        let usage = &kernel.usage;
        let slots = self.slots.iter().map(|slot| slot.and_then(|at| graph.get(at))).collect();
        let descriptors = Descriptors::inherited(slots, kernel.descriptors());
        let cwd = String::from_utf8_lossy(&self.cwd);
        let files = ProcessFiles::new(&kernel.files, &cwd, descriptors, kernel.permissions.clone());
        files.set_umask(self.umask);
        let texts = self.texts.map(|bytes| {
            let charge = Charge::of(usage, Resource::Kernel, bytes);
            charge.ok_or(Error::ResourceExhausted { resource: "kernel bytes", limit: usage.limits.kernel_bytes })
        });
        Ok(Process {
            kernel: kernel.clone(),
            pid: self.pid,
            crypto: Crypto::revive(&self.crypto, usage)?,
            signals: Signals::revive(self.signals, &operations),
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

impl SavedKernel {
    /// What its programs may do.
    pub(crate) fn permissions(&self) -> PermissionPolicy {
        self.policy.clone().into()
    }

    pub(crate) fn own_bytes(&self) -> u64 {
        0
    }
}

impl Kernel {
    pub(crate) fn reattach(&self) -> (Vec<MountOptions>, Vec<FileSystemOptions>) {
        (Vec::new(), Vec::new())
    }
}
