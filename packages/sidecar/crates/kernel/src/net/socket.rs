//! What a socket is: plain values. Next: `table.rs`, which holds them and tells who waits.

use super::address::Address;
use crate::ids::{OperationId, SocketId};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A writer that waits is told when this part of the buffer is free: Linux spares it the small pieces too.
const ENOUGH: usize = 4;

/// Readiness to read. The numbers of readiness are those of Linux's `epoll`.
pub const IN: u32 = 1;
/// Readiness to write.
pub const OUT: u32 = 4;
pub(super) const ERR: u32 = 8;
pub(super) const HUP: u32 = 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Domain {
    Unix,
    V4,
    V6,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Socket {
    pub(super) domain: Domain,
    pub(super) role: Role,
    pub(super) local: Option<Address>,
    /// An IPv6 socket that takes no IPv4 connections.
    pub(super) only_v6: bool,
    /// Shares its port with others that say the same.
    pub(super) shares_port: bool,
    /// One end of a pair: counted apart from the sockets that a program makes.
    pub(super) is_pipe: bool,
    /// What went wrong meanwhile; the next call that fails because of it takes it.
    pub(super) error: Option<Errno>,
    pub(super) waiters: Vec<Waiter>,
}

/// Who hears of readiness, once: a program and its operation. Programs share what they have inherited, and each waits for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiter {
    pub(super) owner: WaitOwner,
    pub(super) mask: u32,
}

/// The owner of a [`Waiter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum WaitOwner {
    /// An operation of a process, which completes.
    Operation(Pid, OperationId),
    /// The embedder, whose feed or inbound connection moves its bytes.
    Embedder,
}

impl WaitOwner {
    /// Returns the process. `None` for the embedder.
    pub(super) fn pid(self) -> Option<Pid> {
        match self {
            Self::Operation(pid, _) => Some(pid),
            Self::Embedder => None,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Role {
    /// A stream socket that is neither connected nor listens.
    Fresh,
    Listening(Listener),
    /// Waits for room in that listener's queue.
    Connecting(SocketId),
    Connected(Stream),
    Datagram(Datagram),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Listener {
    /// The process that began to listen.
    pub(super) pid: Pid,
    pub(super) backlog: usize,
    /// Connections to be accepted: their server's ends.
    pub(super) ready: VecDeque<SocketId>,
    /// Clients that found the queue full.
    pub(super) waiting: VecDeque<SocketId>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stream {
    /// The other end; none when it has been closed.
    pub(super) peer: Option<SocketId>,
    pub(super) remote: Address,
    pub(super) incoming: VecDeque<u8>,
    /// Nothing more will come.
    pub(super) ended: bool,
    /// This end writes no more.
    pub(super) shut: bool,
    /// Writing fails: the other end has answered that it is gone.
    pub(super) broken: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Datagram {
    pub(super) remote: Option<Address>,
    pub(super) incoming: VecDeque<(Address, Vec<u8>)>,
    /// Bytes in `incoming`, with what each entry costs.
    pub(super) held: usize,
}

impl Socket {
    pub(super) fn new(domain: Domain, role: Role) -> Self {
        let (local, error, waiters) = (None, None, Vec::new());
        Self { domain, role, local, only_v6: false, shares_port: false, is_pipe: false, error, waiters }
    }

    pub(super) fn is_datagram(&self) -> bool {
        matches!(self.role, Role::Datagram(_))
    }
}

impl Stream {
    pub(super) fn new(peer: SocketId, remote: Address) -> Self {
        Self { peer: Some(peer), remote, incoming: VecDeque::new(), ended: false, shut: false, broken: false }
    }

    /// Whether a writer that waits for room would be told; `capacity` is what the buffer may hold.
    pub(super) fn has_room(&self, capacity: usize) -> bool {
        capacity.saturating_sub(self.incoming.len()) >= capacity / ENOUGH
    }
}
