//! A runtime's sockets, and what the rest of the kernel does with them: reading and writing by descriptor, waiting, closing.

use super::descriptor_passing::PassedDescriptors;
use super::inbound::connections::InboundConnections;
use super::inbound::listeners::ListenerWaits;
use super::network::{Network, Wake};
use super::socket::{Domain, OUT, Role, WaitOwner, Waiter};
use crate::Operations;
use crate::caller::Caller;
use crate::descriptors::Description;
use crate::embedder::Embedder;
use crate::ids::{OperationId, SocketId};
use crate::usage::Usage;
use coldframe_error::Errno;
use coldframe_ids::Pid;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

/// See the module.
#[derive(Default)]
pub struct Sockets {
    state: Mutex<SocketState>,
}

#[derive(Default)]
pub(super) struct SocketState {
    pub(super) network: Network,
    /// The operations of programs that have waited for a socket.
    pub(super) waiting: HashMap<Pid, Weak<Operations>>,
    /// Ends of pairs that the caller outside writes to.
    pub(super) feeds: HashMap<SocketId, Feed>,
    pub(super) passed: PassedDescriptors,
    /// Connections of the caller outside.
    pub(super) inbound: InboundConnections,
    /// What the caller outside waits for.
    pub(super) waits: ListenerWaits,
    /// Who hears of both; none before it is known, and none any more when the runtime is disposed of.
    pub(super) embedder: Option<Arc<dyn Embedder>>,
}

/// What the caller outside has written and no program has taken yet.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Feed {
    pub(super) bytes: VecDeque<u8>,
    /// Nothing more will come.
    ends: bool,
    /// Nobody will ever take it.
    pub(super) broken: bool,
}

/// What a descriptor's socket is, in libuv's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tcp,
    Udp,
    Pipe,
}

impl SocketState {
    /// Completes what has become ready.
    fn deliver_wakes(&mut self) {
        loop {
            let wakes = self.network.take_wakes();
            if wakes.is_empty() {
                return;
            }
            wakes.into_iter().for_each(|wake| self.deliver(wake));
        }
    }

    fn deliver(&mut self, Wake { owner, socket, ready }: Wake) {
        match owner {
            WaitOwner::Embedder => {
                self.pump(socket);
                self.pump_inbound(socket);
            }
            WaitOwner::Operation(pid, operation) => {
                if let Some(operations) = self.waiting.get(&pid).and_then(Weak::upgrade) {
                    operations.complete(operation, Ok(ready.cast_signed()), Vec::new());
                }
            }
        }
    }

    /// Moves what goes from a feed into its pipe; the rest goes when there is room. A feed's operation is its socket's number.
    fn pump(&mut self, id: SocketId) {
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        while !feed.bytes.is_empty() {
            let piece = feed.bytes.as_slices().0;
            match self.network.write(id, piece) {
                Ok(count) => drop(feed.bytes.drain(..count)),
                Err(Errno::EAGAIN) => {
                    let _ = self.network.arm(id, Waiter { owner: WaitOwner::Embedder, mask: OUT });
                    return;
                }
                Err(_) => {
                    feed.bytes = VecDeque::new();
                    feed.broken = true;
                }
            }
        }
        // A queue that was long once does not keep its room.
        feed.bytes.shrink_to(0);
        if feed.ends {
            let _ = self.network.shutdown(id);
        }
    }

    /// The same for all feeds.
    pub(super) fn pump_all(&mut self) {
        let mut feeds: Vec<SocketId> = self.feeds.keys().copied().collect();
        feeds.sort_unstable();
        feeds.into_iter().for_each(|id| self.pump(id));
    }

    pub(super) fn embedder(&self) -> Result<&Arc<dyn Embedder>, Errno> {
        self.embedder.as_ref().ok_or(Errno::ENETDOWN)
    }

    /// Has the program's operation completed as soon as the socket is ready for something in `mask`.
    pub(super) fn arm(
        &mut self,
        program: &Arc<dyn Caller>,
        id: SocketId,
        operation: OperationId,
        mask: u32,
    ) -> Result<(), Errno> {
        self.waiting.entry(program.pid()).or_insert_with(|| Arc::downgrade(&program.process().operations));
        self.network.arm(id, Waiter { owner: WaitOwner::Operation(program.pid(), operation), mask })
    }
}

impl Sockets {
    pub(crate) fn new(usage: Arc<Usage>) -> Self {
        let state = SocketState { network: Network::new(usage), ..SocketState::default() };
        Self { state: Mutex::new(state) }
    }

    /// Sockets and pairs: how many there are and were at most; then the bytes that wait in them, those for standard inputs included.
    pub(crate) fn look(&self) -> ([(u64, u64); 2], u64) {
        let state = self.state.lock();
        let fed: usize = state.feeds.values().map(|feed| feed.bytes.len()).sum();
        (state.network.look(), state.network.buffered() + fed as u64 + state.inbound.queued_bytes())
    }

    /// Bytes that wait for one standard input.
    pub(crate) fn fed(&self, id: SocketId) -> u64 {
        self.state.lock().feeds.get(&id).map_or(0, |feed| feed.bytes.len() as u64)
    }

    /// Does something with the table, then tells who waited for it.
    pub(super) fn with<R>(&self, run: impl FnOnce(&mut SocketState) -> Result<R, Errno>) -> Result<R, Errno> {
        let mut state = self.state.lock();
        let result = run(&mut state);
        state.deliver_wakes();
        result
    }

    pub(super) fn lock(&self) -> parking_lot::MutexGuard<'_, SocketState> {
        self.state.lock()
    }

    pub(crate) fn read(&self, id: SocketId, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.with(|state| state.network.read(id, buffer))
    }

    pub(crate) fn write(&self, id: SocketId, bytes: &[u8]) -> Result<usize, Errno> {
        self.with(|state| state.network.write(id, bytes))
    }

    pub(crate) fn arm(&self, program: &Arc<dyn Caller>, id: SocketId, operation: OperationId, mask: u32) -> Result<(), Errno> {
        self.with(|state| state.arm(program, id, operation, mask))
    }

    pub(crate) fn disarm(&self, program: &dyn Caller, id: SocketId, operation: OperationId) {
        let _ = self.with(|state| state.network.disarm(id, WaitOwner::Operation(program.pid(), operation)));
    }

    /// A pipe whose second end the caller outside feeds.
    pub(crate) fn open_feed(&self) -> Result<(SocketId, SocketId), Errno> {
        self.with(|state| {
            let (one, other) = state.network.pair()?;
            state.feeds.insert(other, Feed::default());
            Ok((one, other))
        })
    }

    /// Has more for a feed: `ENOBUFS` when it holds too much already, `EPIPE` when nobody takes it.
    pub(crate) fn feed(&self, id: SocketId, bytes: &[u8], ends: bool) -> Result<(), Errno> {
        self.with(|state| {
            let feed = state.feeds.get_mut(&id).filter(|feed| !feed.broken && !feed.ends).ok_or(Errno::EPIPE)?;
            let (usage, held) = (&state.network.usage, (feed.bytes.len() as u64).saturating_add(bytes.len() as u64));
            if held > usage.limits.stdin_bytes {
                return Err(Errno::ENOBUFS);
            }
            usage.peaks.stdin_bytes.saw(held);
            feed.bytes.extend(bytes);
            feed.ends = ends;
            state.pump(id);
            Ok(())
        })
    }

    pub(crate) fn close_feed(&self, id: SocketId) -> Vec<Arc<Description>> {
        self.state.lock().feeds.remove(&id);
        self.close(id, false)
    }

    /// Nobody has it any more. What waited there or in its queue for who would take it must be let go of.
    #[must_use]
    pub(crate) fn close(&self, id: SocketId, abort: bool) -> Vec<Arc<Description>> {
        let mut state = self.state.lock();
        let _ = state.network.close(id, abort);
        state.deliver_wakes();
        state.take_lost()
    }

    /// The program lets go of a socket: its operations, which will not complete.
    pub(crate) fn forget(&self, id: SocketId, pid: Pid) -> Vec<OperationId> {
        self.state.lock().network.forget(id, pid)
    }

    /// The program has ended.
    pub(crate) fn leave(&self, pid: Pid) {
        self.state.lock().waiting.remove(&pid);
    }

    pub(crate) fn kind(&self, id: SocketId) -> Result<Kind, Errno> {
        self.with(|state| {
            let socket = state.network.get(id)?;
            Ok(match (&socket.role, socket.domain) {
                (Role::Datagram(_), _) => Kind::Udp,
                (_, Domain::Unix) => Kind::Pipe,
                _ => Kind::Tcp,
            })
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.state.lock().network.sockets.len()
    }
}
