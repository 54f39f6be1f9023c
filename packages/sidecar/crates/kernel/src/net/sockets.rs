//! The interface of a runtime's sockets for the other parts of the kernel: reads, writes, waits and
//! closes. Each change locks the table, and delivers the waits that the change has completed. Next:
//! `inbound/`, the embedder's connections.

use super::descriptor_passing::PassedDescriptors;
use super::inbound::connections::InboundConnections;
use super::inbound::listeners::ListenerWaits;
use super::members::Membership;
use super::network::{Network, Wake};
use super::outside::OutsideState;
use super::posted_signals::PostedSignals;
use super::socket::{Domain, OUT, Role, WaitOwner, Waiter};
use super::terminal_output::TerminalOutlet;
use super::turn::Turn;
use crate::Operations;
use crate::caller::Caller;
use crate::descriptors::Description;
use crate::embedder::Embedder;
use crate::ids::{OperationId, SocketId};
use crate::networks::mailbox::Mailbox;
use crate::processes::Processes;
use crate::usage::{Usage, reserve, trim};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use coldframe_panics::runtime::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock, Weak};

/// The sockets of a runtime.
pub struct Sockets {
    state: Mutex<SocketState>,
    /// The mail of other runtimes. Absent before the first membership in a private network.
    pub(super) mailbox: OnceLock<Arc<Mailbox>>,
    /// The signals of terminals, and the processes that receive the signals.
    pub(super) posted: Arc<PostedSignals>,
    pub(super) processes: Arc<Processes>,
}

#[derive(Default)]
pub(super) struct SocketState {
    pub(super) network: Network,
    /// The operations of each program that has waited for a socket.
    pub(super) waiting: HashMap<Pid, Weak<Operations>>,
    /// The pipe ends through which the embedder writes standard inputs.
    pub(super) feeds: HashMap<SocketId, StdinFeed>,
    pub(super) passed: PassedDescriptors,
    /// The programs whose standard output is a terminal's output, by master.
    pub(super) outlets: HashMap<SocketId, TerminalOutlet>,
    /// The signals of terminals that the release of the lock delivers.
    pub(super) posted: Arc<PostedSignals>,
    /// The embedder's connections.
    pub(super) inbound: InboundConnections,
    /// The embedder's waits for listeners.
    pub(super) waits: ListenerWaits,
    /// The connections and lookups outside the runtime.
    pub(super) outside: OutsideState,
    /// The memberships in private networks, in the order of joining.
    pub(super) memberships: Vec<Membership>,
    /// Whether the runtime has left its networks for good.
    pub(super) has_left_networks: bool,
    /// Receives the events of inbound connections and of waits. `None` before the embedder is
    /// attached and after the runtime was disposed.
    pub(super) embedder: Option<Arc<dyn Embedder>>,
}

/// The bytes of a standard input that the embedder has written and that are not in the pipe yet.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct StdinFeed {
    pub(super) bytes: VecDeque<u8>,
    /// Whether the input ends after `bytes`.
    ends: bool,
    /// Whether the pipe's reading end is closed, so that no program can read the bytes.
    pub(super) broken: bool,
}

/// The kind of a socket, in libuv's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocketKind {
    Tcp,
    Udp,
    Pipe,
    Terminal,
}

impl SocketState {
    /// Delivers all completed waits to their owners.
    pub(super) fn deliver_wakes(&mut self) {
        loop {
            let (wakes, abandoned) = (self.network.take_wakes(), self.network.take_abandoned());
            if wakes.is_empty() && abandoned.is_empty() {
                break;
            }
            self.close_abandoned(abandoned);
            wakes.into_iter().for_each(|wake| self.deliver(wake));
        }
        let signals = std::mem::take(&mut self.network.terminals.posted);
        if !signals.is_empty() {
            self.posted.post(signals);
        }
    }

    fn deliver(&mut self, Wake { owner, socket, ready }: Wake) {
        match owner {
            WaitOwner::Embedder => {
                self.pump(socket);
                self.pump_output(socket);
                self.pump_inbound(socket);
                self.pump_flow(socket);
            }
            WaitOwner::Operation(pid, operation) => {
                if let Some(operations) = self.waiting.get(&pid).and_then(Weak::upgrade) {
                    operations.complete(operation, Ok(ready.cast_signed()), Vec::new());
                }
            }
        }
    }

    /// Moves the bytes of a feed into its pipe. If the pipe is full, the remaining bytes are moved
    /// when the pipe has space.
    fn pump(&mut self, id: SocketId) {
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        while !feed.bytes.is_empty() {
            let piece = feed.bytes.as_slices().0;
            match self.network.write(id, piece) {
                Ok(count) => drop(feed.bytes.drain(..count)),
                Err(Errno::EAGAIN) => {
                    trim(&mut feed.bytes);
                    let _ = self.network.arm(id, Waiter { owner: WaitOwner::Embedder, mask: OUT });
                    return;
                }
                Err(_) => {
                    feed.bytes = VecDeque::new();
                    feed.broken = true;
                }
            }
        }
        // An empty queue keeps no memory.
        trim(&mut feed.bytes);
        if feed.ends {
            let _ = self.network.shutdown(id);
        }
    }

    /// Moves the bytes of all feeds into their pipes.
    pub(super) fn pump_all(&mut self) {
        let mut feeds: Vec<SocketId> = self.feeds.keys().copied().collect();
        feeds.sort_unstable();
        feeds.into_iter().for_each(|id| self.pump(id));
    }

    pub(super) fn embedder(&self) -> Result<&Arc<dyn Embedder>, Errno> {
        self.embedder.as_ref().ok_or(Errno::ENETDOWN)
    }

    /// Stores a reference to the operations of a program that waits.
    pub(super) fn remember_operations(&mut self, program: &Arc<dyn Caller>) {
        self.waiting.entry(program.pid()).or_insert_with(|| Arc::downgrade(&program.process().operations));
    }

    /// Arms the socket for the program's operation, which completes when the socket is ready for an
    /// event in `mask`.
    pub(super) fn arm(
        &mut self,
        program: &Arc<dyn Caller>,
        id: SocketId,
        operation: OperationId,
        mask: u32,
    ) -> Result<(), Errno> {
        self.remember_operations(program);
        self.network.arm(id, Waiter { owner: WaitOwner::Operation(program.pid(), operation), mask })
    }
}

#[cfg(test)]
impl Default for Sockets {
    fn default() -> Self {
        let usage = Arc::<Usage>::default();
        Self::new(usage.clone(), Arc::new(Processes::new(usage)))
    }
}

impl Sockets {
    pub(crate) fn new(usage: Arc<Usage>, processes: Arc<Processes>) -> Self {
        let posted = Arc::<PostedSignals>::default();
        let state = SocketState { network: Network::new(usage), posted: posted.clone(), ..SocketState::default() };
        Self { state: Mutex::new(state), mailbox: OnceLock::new(), posted, processes }
    }

    /// Returns the present and the highest number of sockets and of pipes, then the bytes in socket
    /// buffers, standard inputs and queues of connections.
    pub(crate) fn used_and_highest(&self) -> ([(u64, u64); 2], u64) {
        let state = self.lock();
        let fed: usize = state.feeds.values().map(|feed| feed.bytes.len()).sum();
        (state.network.used_and_highest(), state.network.buffered() + fed as u64)
    }

    /// Returns the bytes of one standard input that are not in the pipe yet.
    pub(crate) fn fed(&self, id: SocketId) -> u64 {
        self.lock().feeds.get(&id).map_or(0, |feed| feed.bytes.len() as u64)
    }

    /// Calls `run` with the locked table, then delivers the waits that have completed.
    pub(super) fn with<R>(&self, run: impl FnOnce(&mut SocketState) -> Result<R, Errno>) -> Result<R, Errno> {
        let mut state = self.lock();
        let result = run(&mut state);
        state.deliver_wakes();
        result
    }

    pub(super) fn lock(&self) -> Turn<'_> {
        Turn::new(self, self.state.lock())
    }

    pub(super) fn try_lock(&self) -> Option<Turn<'_>> {
        self.state.try_lock().map(|state| Turn::new(self, state))
    }

    /// Reads from a socket that is no terminal.
    #[cfg(test)]
    pub(crate) fn read(&self, id: SocketId, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.with(|state| state.network.read(id, buffer))
    }

    /// Writes to a socket that is no terminal.
    #[cfg(test)]
    pub(crate) fn write(&self, id: SocketId, bytes: &[u8]) -> Result<usize, Errno> {
        self.with(|state| state.network.write(id, bytes))
    }

    pub(crate) fn arm(&self, program: &Arc<dyn Caller>, id: SocketId, operation: OperationId, mask: u32) -> Result<(), Errno> {
        self.with(|state| state.arm(program, id, operation, mask))
    }

    pub(crate) fn disarm(&self, program: &dyn Caller, id: SocketId, operation: OperationId) {
        let _ = self.with(|state| state.network.disarm(id, WaitOwner::Operation(program.pid(), operation)));
    }

    /// Returns the socket's readiness, as a mask of events.
    pub(crate) fn readiness(&self, id: SocketId) -> Result<u32, Errno> {
        self.with(|state| state.network.get(id).map(|socket| state.network.readiness(socket)))
    }

    /// Makes a pipe. Returns the reading end, and the end that the embedder writes to.
    pub(crate) fn open_feed(&self) -> Result<(SocketId, SocketId), Errno> {
        self.with(|state| {
            let (one, other) = state.network.pair()?;
            state.feeds.insert(other, StdinFeed::default());
            Ok((one, other))
        })
    }

    /// Appends bytes to a feed. Fails with `ENOBUFS` if the bytes exceed the limit `stdinBytes`.
    /// Fails with `EPIPE` if the input has ended or the pipe's reading end is closed.
    pub(crate) fn feed(&self, id: SocketId, bytes: &[u8], ends: bool) -> Result<(), Errno> {
        self.with(|state| {
            let feed = state.feeds.get_mut(&id).filter(|feed| !feed.broken && !feed.ends).ok_or(Errno::EPIPE)?;
            let (usage, held) = (&state.network.usage, (feed.bytes.len() as u64).saturating_add(bytes.len() as u64));
            if held > usage.limits.stdin_bytes {
                return Err(Errno::ENOBUFS);
            }
            usage.peaks.stdin_bytes.record(held);
            reserve(&mut feed.bytes, bytes.len(), usize::try_from(usage.limits.stdin_bytes).unwrap_or(usize::MAX));
            feed.bytes.extend(bytes);
            feed.ends = ends;
            state.pump(id);
            Ok(())
        })
    }

    pub(crate) fn close_feed(&self, id: SocketId) -> Vec<Arc<Description>> {
        let mut state = self.lock();
        state.feeds.remove(&id);
        state.outlets.remove(&id);
        drop(state);
        self.close(id, false)
    }

    /// Closes a socket that no descriptor refers to. Returns the descriptions that were passed to
    /// the socket, which the caller must release.
    #[must_use]
    pub(crate) fn close(&self, id: SocketId, abort: bool) -> Vec<Arc<Description>> {
        let mut state = self.lock();
        let _ = state.network.close(id, abort);
        state.deliver_wakes();
        state.take_lost()
    }

    /// Removes a program's waits for a socket whose descriptor the program closes. Returns the
    /// operations of the waits, which no event of the socket completes.
    pub(crate) fn forget(&self, id: SocketId, pid: Pid) -> Vec<OperationId> {
        self.lock().network.forget(id, pid)
    }

    /// Removes the reference to the operations of an ended program, and cancels the program's
    /// lookups.
    pub(crate) fn forget_process(&self, pid: Pid) {
        let mut state = self.lock();
        state.cancel_look_ups(pid);
        state.waiting.remove(&pid);
    }

    pub(crate) fn kind(&self, id: SocketId) -> Result<SocketKind, Errno> {
        self.with(|state| {
            let socket = state.network.get(id)?;
            Ok(match (&socket.role, socket.domain) {
                (Role::Datagram(_), _) => SocketKind::Udp,
                (Role::Master(_) | Role::Slave(_), _) => SocketKind::Terminal,
                (_, Domain::Unix) => SocketKind::Pipe,
                _ => SocketKind::Tcp,
            })
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().network.sockets.len()
    }
}
