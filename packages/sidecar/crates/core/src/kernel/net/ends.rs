//! A runtime's sockets, and what the rest of the kernel does with them: reading and writing by descriptor, waiting, closing.

use super::listeners::Waits;
use super::parcels::Parcels;
use super::socket::{Domain, Id, OUT, Role, Waiter};
use super::table::{Network, Wake};
use super::visits::Visits;
use crate::host::Host;
use crate::kernel::Operations;
use crate::kernel::descriptors::Description;
use crate::kernel::usage::Usage;
use crate::program::Program;
use coldframe_error::Errno;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

/// See the module.
#[derive(Default)]
pub(crate) struct Sockets {
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) network: Network,
    /// The operations of programs that have waited for a socket.
    pub(super) waiting: HashMap<u32, Weak<Operations>>,
    /// Ends of pairs that the caller outside writes to.
    pub(super) feeds: HashMap<Id, Feed>,
    pub(super) parcels: Parcels,
    /// Connections of the caller outside.
    pub(super) visits: Visits,
    /// What the caller outside waits for.
    pub(super) waits: Waits,
    /// Who hears of both; none before it is known, and none any more when the runtime is disposed of.
    pub(super) host: Option<Arc<dyn Host>>,
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

/// Who waits when it is a feed or a visit that waits; no program has that number.
pub(super) const NOBODY: u32 = 0;

/// What a descriptor's socket is, in libuv's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tcp,
    Udp,
    Pipe,
}

impl State {
    /// Completes what has become ready.
    fn tell(&mut self) {
        loop {
            let wakes = self.network.take_wakes();
            if wakes.is_empty() {
                return;
            }
            wakes.into_iter().for_each(|wake| self.tell_one(wake));
        }
    }

    fn tell_one(&mut self, Wake { owner, operation, ready }: Wake) {
        if owner == NOBODY {
            self.pump(operation);
            self.pump_visit(operation);
        } else if let Some(operations) = self.waiting.get(&owner).and_then(Weak::upgrade) {
            operations.complete(operation, Ok(ready.cast_signed()), Vec::new());
        }
    }

    /// Moves what goes from a feed into its pipe; the rest goes when there is room. A feed's operation is its socket's number.
    fn pump(&mut self, id: Id) {
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        while !feed.bytes.is_empty() {
            let piece = feed.bytes.as_slices().0;
            match self.network.write(id, piece) {
                Ok(count) => drop(feed.bytes.drain(..count)),
                Err(Errno::EAGAIN) => {
                    let _ = self.network.arm(id, Waiter { owner: NOBODY, operation: id, mask: OUT });
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
        let mut feeds: Vec<Id> = self.feeds.keys().copied().collect();
        feeds.sort_unstable();
        feeds.into_iter().for_each(|id| self.pump(id));
    }

    pub(super) fn host(&self) -> Result<&Arc<dyn Host>, Errno> {
        self.host.as_ref().ok_or(Errno::ENETDOWN)
    }

    /// Has the program's operation completed as soon as the socket is ready for something in `mask`.
    pub(super) fn arm(&mut self, program: &Arc<Program>, id: Id, operation: u32, mask: u32) -> Result<(), Errno> {
        self.waiting.entry(program.pid).or_insert_with(|| Arc::downgrade(&program.process.operations));
        self.network.arm(id, Waiter { owner: program.pid, operation, mask })
    }
}

impl Sockets {
    pub(crate) fn new(usage: Arc<Usage>) -> Self {
        let state = State { network: Network::new(usage), ..State::default() };
        Self { state: Mutex::new(state) }
    }

    /// Sockets and pairs: how many there are and were at most; then the bytes that wait in them, those for standard inputs included.
    pub(crate) fn look(&self) -> ([(u64, u64); 2], u64) {
        let state = self.state.lock();
        let fed: usize = state.feeds.values().map(|feed| feed.bytes.len()).sum();
        (state.network.look(), state.network.buffered() + fed as u64 + state.visits.held())
    }

    /// Bytes that wait for one standard input.
    pub(crate) fn fed(&self, id: Id) -> u64 {
        self.state.lock().feeds.get(&id).map_or(0, |feed| feed.bytes.len() as u64)
    }

    /// Does something with the table, then tells who waited for it.
    pub(super) fn with<R>(&self, run: impl FnOnce(&mut State) -> Result<R, Errno>) -> Result<R, Errno> {
        let mut state = self.state.lock();
        let result = run(&mut state);
        state.tell();
        result
    }

    pub(super) fn lock(&self) -> parking_lot::MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(crate) fn read(&self, id: Id, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.with(|state| state.network.read(id, buffer))
    }

    pub(crate) fn write(&self, id: Id, bytes: &[u8]) -> Result<usize, Errno> {
        self.with(|state| state.network.write(id, bytes))
    }

    pub(crate) fn arm(&self, program: &Arc<Program>, id: Id, operation: u32, mask: u32) -> Result<(), Errno> {
        self.with(|state| state.arm(program, id, operation, mask))
    }

    pub(crate) fn disarm(&self, program: &Program, id: Id, operation: u32) {
        let _ = self.with(|state| state.network.disarm(id, program.pid, operation));
    }

    /// A pipe whose second end the caller outside feeds.
    pub(crate) fn open_feed(&self) -> Result<(Id, Id), Errno> {
        self.with(|state| {
            let (one, other) = state.network.pair()?;
            state.feeds.insert(other, Feed::default());
            Ok((one, other))
        })
    }

    /// Has more for a feed: `ENOBUFS` when it holds too much already, `EPIPE` when nobody takes it.
    pub(crate) fn feed(&self, id: Id, bytes: &[u8], ends: bool) -> Result<(), Errno> {
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

    pub(crate) fn close_feed(&self, id: Id) -> Vec<Arc<Description>> {
        self.state.lock().feeds.remove(&id);
        self.close(id, false)
    }

    /// Nobody has it any more. What waited there or in its queue for who would take it must be let go of.
    #[must_use]
    pub(crate) fn close(&self, id: Id, abort: bool) -> Vec<Arc<Description>> {
        let mut state = self.state.lock();
        let _ = state.network.close(id, abort);
        state.tell();
        state.take_lost()
    }

    /// The program lets go of a socket: its operations, which will not complete.
    pub(crate) fn forget(&self, id: Id, pid: u32) -> Vec<u32> {
        self.state.lock().network.forget(id, pid)
    }

    /// The program has ended.
    pub(crate) fn leave(&self, pid: u32) {
        self.state.lock().waiting.remove(&pid);
    }

    pub(crate) fn kind(&self, id: Id) -> Result<Kind, Errno> {
        self.with(|state| {
            let socket = state.network.get(id)?;
            Ok(match (&socket.role, socket.domain) {
                (Role::Datagram(_), _) => Kind::Udp,
                (_, Domain::Unix) => Kind::Pipe,
                _ => Kind::Tcp,
            })
        })
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.state.lock().network.sockets.len()
    }
}
