//! The snapshot of a runtime's sockets: connections and pipes with their buffers, listeners with
//! their queues, and waiting operations. Standard input that is not in a pipe yet is also included.
//!
//! Inbound connections are not part of a snapshot. [`SocketsSnapshot::inbound`] lists the
//! embedder's ends of these connections. A restore closes these ends, so that the guest's ends
//! receive an ordinary reset. Flows to the outside are not part of a snapshot either: the programs'
//! ends of connections have a pending `ECONNRESET` in the snapshot. Waits for listeners stay with
//! the original runtime. Next: `checks.rs`.

mod checks;

use super::network::Network;
use super::socket::{Role, Socket, WaitOwner};
use super::sockets::{SocketState, Sockets, StdinFeed};
use super::terminals::Terminal;
use crate::Operations;
use crate::descriptors::{DescriptionCollector, RestoredDescriptions};
use crate::descriptors::{HeldObject, Target};
use crate::ids::{OperationId, SocketId};
use crate::processes::Processes;
use crate::usage::Usage;
use coldframe_error::Error;
use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The sockets of a runtime.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SocketsSnapshot {
    sockets: BTreeMap<SocketId, Box<Socket>>,
    last: Option<SocketId>,
    last_port: u16,
    feeds: BTreeMap<SocketId, StdinFeed>,
    /// The passed descriptors by receiving end, as indices of descriptions.
    passed: BTreeMap<SocketId, Vec<u32>>,
    /// The embedder's ends of inbound connections.
    inbound: Vec<SocketId>,
    /// The terminals, by number.
    terminals: BTreeMap<u32, Terminal>,
}

impl SocketsSnapshot {
    /// Returns the number of bytes that the snapshot uses.
    pub(crate) fn own_bytes(&self) -> u64 {
        let buffered: usize = self.sockets.values().map(|socket| size_of::<Socket>() + socket.buffered()).sum();
        let fed: usize = self.feeds.values().map(|feed| feed.bytes.len()).sum();
        let in_terminals: usize = self.terminals.values().map(|terminal| terminal.discipline.buffered()).sum();
        (buffered + fed + in_terminals) as u64
    }
}

impl Socket {
    /// Returns whether a buffer of this capacity could have the socket's content. A single datagram
    /// always fits.
    fn fits(&self, capacity: usize) -> bool {
        match &self.role {
            Role::Datagram(datagram) => datagram.incoming.len() <= 1 || datagram.held <= capacity,
            _ => self.buffered() <= capacity,
        }
    }
}

impl Sockets {
    pub(crate) fn snapshot(&self, descriptions: &mut DescriptionCollector) -> SocketsSnapshot {
        let state = self.lock();
        let passed = state.passed.0.iter();
        let network = &state.network;
        let mut sockets = network.sockets.clone();
        state.remove_flows(&mut sockets);
        SocketsSnapshot {
            sockets,
            last: network.last,
            last_port: network.last_port,
            feeds: state.feeds.iter().map(|(id, feed)| (*id, feed.clone())).collect(),
            passed: passed.map(|(id, waiting)| (*id, waiting.iter().map(|sent| descriptions.index_of(sent)).collect())).collect(),
            inbound: state.inbound.sockets(),
            terminals: network.terminals.all.clone(),
        }
    }

    /// Restores the sockets for the programs with these operations. Fails if a limit is exceeded.
    pub(crate) fn restore(
        snapshot: &SocketsSnapshot,
        open: &RestoredDescriptions,
        usage: &Arc<Usage>,
        processes: Arc<Processes>,
        operations: &HashMap<Pid, Arc<Operations>>,
    ) -> Result<Self, Error> {
        let restored = Self::new(usage.clone(), processes);
        if snapshot.sockets.is_empty() {
            restored.lock().network.continue_after(snapshot.last, snapshot.last_port);
            return Ok(restored);
        }
        {
            let mut state = restored.lock();
            let state = &mut *state;
            state.network.refill(snapshot)?;
            for (id, feed) in &snapshot.feeds {
                if feed.bytes.len() as u64 > usage.limits.stdin_bytes {
                    return Err(exhausted("stdin bytes of a process", usage.limits.stdin_bytes));
                }
                state.feeds.insert(*id, feed.clone());
            }
            for (id, waiting) in &snapshot.passed {
                state.passed.0.insert(*id, waiting.iter().filter_map(|at| open.get(*at)).collect());
            }
            for socket in state.network.sockets.values_mut() {
                // A process that had ended before the snapshot has no waits.
                socket.waiters.retain(|waiter| waiter.owner.pid().is_none_or(|pid| operations.contains_key(&pid)));
                for pid in socket.waiters.iter().filter_map(|waiter| waiter.owner.pid()) {
                    if let Some(own) = operations.get(&pid) {
                        state.waiting.entry(pid).or_insert_with(|| Arc::downgrade(own));
                    }
                }
            }
        }
        Ok(restored)
    }

    /// Returns the operations that wait for sockets, with their processes.
    pub(crate) fn waiters(&self) -> Vec<(Pid, OperationId)> {
        let state = self.lock();
        let waiters = state.network.sockets.values().flat_map(|socket| &socket.waiters);
        waiters
            .filter_map(|waiter| match waiter.owner {
                WaitOwner::Operation(pid, operation) => Some((pid, operation)),
                WaitOwner::Embedder => None,
            })
            .collect()
    }

    /// Resets the inbound connections of `snapshot`, and closes sockets without an owner. The owner
    /// of a socket is a descriptor or feed in `held`, a listener's queue, or a passed descriptor.
    /// Operations that wait for the closed sockets complete.
    pub(crate) fn close_unowned(&self, snapshot: &SocketsSnapshot, mut held: HashSet<SocketId>) {
        if snapshot.sockets.is_empty() {
            return;
        }
        let mut lost = Vec::new();
        let _ = self.with(|state| {
            for id in &snapshot.inbound {
                let _ = state.network.close(*id, true);
            }
            // A socket whose flow is not in the snapshot has a pending error, or is writable.
            let failed = state.network.sockets.iter().filter(|(_, socket)| socket.error.is_some() || socket.is_datagram());
            let failed: Vec<SocketId> = failed.map(|(id, _)| *id).collect();
            failed.into_iter().for_each(|id| state.network.notify(id));
            state.feeds.retain(|id, _| held.contains(id));
            held.extend(state.queued());
            let passed = state.passed.0.values().flatten();
            held.extend(passed.filter_map(|sent| if let Target::Socket(id) = sent.target { Some(id) } else { None }));
            let unowned: Vec<SocketId> = state.network.sockets.keys().copied().filter(|id| !held.contains(id)).collect();
            for id in unowned {
                let _ = state.network.close(id, false);
            }
            lost = state.take_lost();
            Ok(())
        });
        // Closing a socket drops the descriptors passed to the socket, which may refer to further
        // sockets.
        while let Some(sent) = lost.pop() {
            if let Some(HeldObject::Socket(id)) = Arc::into_inner(sent).and_then(|last| last.held()) {
                lost.extend(self.close(id, false));
            }
        }
        let _ = self.with(|state| {
            state.pump_all();
            Ok(())
        });
    }
}

impl SocketState {
    /// Returns the connections in the queues of listeners.
    fn queued(&self) -> Vec<SocketId> {
        let queues = self.network.sockets.values().filter_map(|socket| match &socket.role {
            Role::Listening(listener) => Some(&listener.ready),
            _ => None,
        });
        queues.flatten().copied().collect()
    }
}

impl Network {
    fn continue_after(&mut self, last: Option<SocketId>, last_port: u16) {
        (self.last, self.last_port) = (last, last_port);
    }

    fn refill(&mut self, snapshot: &SocketsSnapshot) -> Result<(), Error> {
        self.continue_after(snapshot.last, snapshot.last_port);
        let limits = &self.usage.limits;
        self.pipe_ends = snapshot.sockets.values().filter(|socket| socket.is_pipe).count();
        self.terminals.ends = snapshot.sockets.values().filter(|socket| socket.is_terminal_end()).count();
        let ends = self.pipe_ends + self.terminals.ends;
        let (pipes, sockets) = (self.pipe_ends.div_ceil(2) as u64, (snapshot.sockets.len() - ends) as u64);
        let terminals = snapshot.terminals.len() as u64;
        if terminals > limits.terminals {
            return Err(exhausted("terminals", limits.terminals));
        }
        if pipes > limits.pipes {
            return Err(exhausted("pipes", limits.pipes));
        }
        if sockets > limits.sockets {
            return Err(exhausted("sockets", limits.sockets));
        }
        let capacities = self.capacities();
        let too_full = |is_pipe: bool| {
            let own = snapshot.sockets.values().filter(|socket| socket.is_pipe == is_pipe);
            own.into_iter().any(|socket| !socket.fits(capacities[usize::from(is_pipe)]))
        };
        if too_full(true) {
            return Err(exhausted("bytes in a pipe", limits.pipe_bytes));
        }
        if too_full(false) {
            return Err(exhausted("bytes in a socket", limits.socket_bytes));
        }
        // The limit is `u64::MAX`, so that restored sockets cause no warning.
        self.marks[0].raise(sockets, u64::MAX);
        self.marks[1].raise(pipes, u64::MAX);
        self.terminal_mark.raise(terminals, u64::MAX);
        self.terminals.all.clone_from(&snapshot.terminals);
        self.set_sockets(snapshot.sockets.clone());
        Ok(())
    }
}

fn exhausted(resource: &'static str, limit: u64) -> Error {
    Error::ResourceExhausted { resource, limit }
}
