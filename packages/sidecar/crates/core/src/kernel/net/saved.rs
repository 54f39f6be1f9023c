//! The sockets of a runtime as a value: connections and pipes with what lies in their buffers, listeners with their queues, who waits for what, and
//! what the caller outside has written to standard inputs.
//!
//! Connections of the caller outside end with the moment: their sockets are in the value as `strangers` and are reset when it comes to life, so that
//! the guest's ends hear of it as they would of any reset. Who waited for listeners outside waits at the original.

mod checks;

use super::ends::{Feed, NOBODY, Sockets, State};
use super::socket::{Id, Role, Socket};
use super::table::Network;
use crate::kernel::Operations;
use crate::kernel::descriptors::{Held, Target};
use crate::kernel::saved::{Graph, Open};
use crate::kernel::usage::Usage;
use coldframe_error::Error;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// See the module.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SavedSockets {
    sockets: BTreeMap<Id, Socket>,
    last: Id,
    last_port: u16,
    feeds: BTreeMap<Id, Feed>,
    /// What waits at an end, as places in the graph of descriptions.
    parcels: BTreeMap<Id, Vec<u32>>,
    /// Sockets of the caller outside.
    strangers: Vec<Id>,
}

impl SavedSockets {
    /// Bytes that it holds.
    pub(crate) fn own_bytes(&self) -> u64 {
        let lying: usize = self.sockets.values().map(|socket| size_of::<Socket>() + socket.lying()).sum();
        let fed: usize = self.feeds.values().map(|feed| feed.bytes.len()).sum();
        (lying + fed) as u64
    }
}

impl Socket {
    /// Bytes that lie at it.
    fn lying(&self) -> usize {
        match &self.role {
            Role::Connected(stream) => stream.incoming.len(),
            Role::Datagram(datagram) => datagram.held,
            _ => 0,
        }
    }

    /// Whether as much lies at it as might have come to it within a limit. A single datagram always may.
    fn fits(&self, capacity: usize) -> bool {
        match &self.role {
            Role::Datagram(datagram) => datagram.incoming.len() <= 1 || datagram.held <= capacity,
            _ => self.lying() <= capacity,
        }
    }
}

impl Sockets {
    pub(crate) fn save(&self, graph: &mut Graph) -> SavedSockets {
        let state = self.lock();
        let parcels = state.parcels.0.iter();
        let network = &state.network;
        SavedSockets {
            sockets: network.sockets.clone(),
            last: network.last,
            last_port: network.last_port,
            feeds: state.feeds.iter().map(|(id, feed)| (*id, feed.clone())).collect(),
            parcels: parcels.map(|(id, waiting)| (*id, waiting.iter().map(|sent| graph.index_of(sent)).collect())).collect(),
            strangers: state.visits.ids(),
        }
    }

    /// As they were saved, for programs with these operations. More than the limits allow is an error.
    pub(crate) fn revive(
        saved: &SavedSockets,
        open: &Open,
        usage: &Arc<Usage>,
        operations: &HashMap<u32, Arc<Operations>>,
    ) -> Result<Self, Error> {
        let made = Self::new(usage.clone());
        if saved.sockets.is_empty() {
            made.lock().network.continue_after(saved.last, saved.last_port);
            return Ok(made);
        }
        {
            let mut state = made.lock();
            let state = &mut *state;
            state.network.refill(saved)?;
            for (id, feed) in &saved.feeds {
                if feed.bytes.len() as u64 > usage.limits.stdin_bytes {
                    return Err(exhausted("stdin bytes of a process", usage.limits.stdin_bytes));
                }
                state.feeds.insert(*id, feed.clone());
            }
            for (id, waiting) in &saved.parcels {
                state.parcels.0.insert(*id, waiting.iter().filter_map(|at| open.get(*at)).collect());
            }
            for socket in state.network.sockets.values_mut() {
                // Who has gone meanwhile waits no more.
                socket.waiters.retain(|waiter| waiter.owner == NOBODY || operations.contains_key(&waiter.owner));
                for waiter in socket.waiters.iter().filter(|waiter| waiter.owner != NOBODY) {
                    if let Some(own) = operations.get(&waiter.owner) {
                        state.waiting.entry(waiter.owner).or_insert_with(|| Arc::downgrade(own));
                    }
                }
            }
        }
        Ok(made)
    }

    /// The operations that wait for sockets, with their programs.
    pub(crate) fn waiters(&self) -> Vec<(u32, u32)> {
        let state = self.lock();
        let waiters = state.network.sockets.values().flat_map(|socket| &socket.waiters);
        waiters.filter(|waiter| waiter.owner != NOBODY).map(|waiter| (waiter.owner, waiter.operation)).collect()
    }

    /// Resets the connections of the caller outside, and closes what nobody has: neither a descriptor or a feed of `held` nor a queue or a parcel.
    /// Who waited for that is told.
    pub(crate) fn part_from(&self, strangers: &SavedSockets, mut held: HashSet<Id>) {
        if strangers.sockets.is_empty() {
            return;
        }
        let mut lost = Vec::new();
        let _ = self.with(|state| {
            for id in &strangers.strangers {
                let _ = state.network.close(*id, true);
            }
            state.feeds.retain(|id, _| held.contains(id));
            held.extend(state.queued());
            let of_parcels = state.parcels.0.values().flatten();
            held.extend(of_parcels.filter_map(|sent| if let Target::Socket(id) = sent.target { Some(id) } else { None }));
            let unheld: Vec<Id> = state.network.sockets.keys().copied().filter(|id| !held.contains(id)).collect();
            for id in unheld {
                let _ = state.network.close(id, false);
            }
            lost = state.take_lost();
            Ok(())
        });
        // With a socket goes what waited there, which may be a socket too.
        while let Some(sent) = lost.pop() {
            if let Some(Held::Socket(id)) = Arc::into_inner(sent).and_then(|last| last.held()) {
                lost.extend(self.close(id, false));
            }
        }
        let _ = self.with(|state| {
            state.pump_all();
            Ok(())
        });
    }
}

impl State {
    /// Connections in the queues of listeners.
    fn queued(&self) -> Vec<Id> {
        let queues = self.network.sockets.values().filter_map(|socket| match &socket.role {
            Role::Listening(listener) => Some(&listener.ready),
            _ => None,
        });
        queues.flatten().copied().collect()
    }
}

impl Network {
    fn continue_after(&mut self, last: Id, last_port: u16) {
        (self.last, self.last_port) = (last, last_port);
    }

    fn refill(&mut self, saved: &SavedSockets) -> Result<(), Error> {
        self.continue_after(saved.last, saved.last_port);
        let limits = &self.usage.limits;
        self.pipe_ends = saved.sockets.values().filter(|socket| socket.is_pipe).count();
        let (pipes, sockets) = (self.pipe_ends.div_ceil(2) as u64, (saved.sockets.len() - self.pipe_ends) as u64);
        if pipes > limits.pipes {
            return Err(exhausted("pipes", limits.pipes));
        }
        if sockets > limits.sockets {
            return Err(exhausted("sockets", limits.sockets));
        }
        let capacities = self.capacities();
        let too_full = |is_pipe: bool| {
            let own = saved.sockets.values().filter(|socket| socket.is_pipe == is_pipe);
            own.into_iter().any(|socket| !socket.fits(capacities[usize::from(is_pipe)]))
        };
        if too_full(true) {
            return Err(exhausted("bytes in a pipe", limits.pipe_bytes));
        }
        if too_full(false) {
            return Err(exhausted("bytes in a socket", limits.socket_bytes));
        }
        // What was there already is no reason to warn of it.
        self.marks[0].rose(sockets, u64::MAX);
        self.marks[1].rose(pipes, u64::MAX);
        self.sockets.clone_from(&saved.sockets);
        Ok(())
    }
}

fn exhausted(resource: &'static str, limit: u64) -> Error {
    Error::ResourceExhausted { resource, limit }
}
