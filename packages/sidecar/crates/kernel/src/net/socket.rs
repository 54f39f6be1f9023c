//! The data of a socket, as plain values that a snapshot can copy. `network.rs`, `stream.rs` and
//! `datagram.rs` change the values. Next: `network.rs`, the table of sockets.

use super::address::Address;
use crate::ids::{OperationId, SocketId};
use crate::outside::FlowId;
use coldframe_error::Errno;
use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

/// The part of the buffer, as a divisor, that must be free before a waiting writer is woken: a
/// quarter. Linux delays the wake too, so that a writer does not send many small pieces.
const ENOUGH: usize = 4;

/// The event that a socket can be read. The events have the values of Linux's `epoll`.
pub const IN: u32 = 1;
/// The event that a socket can be written.
pub const OUT: u32 = 4;
/// The event that a socket has an error.
pub const ERR: u32 = 8;
/// The event that both directions of a socket have ended.
pub const HUP: u32 = 16;

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
    /// Whether an IPv6 socket refuses IPv4 connections.
    pub(super) only_v6: bool,
    /// Whether the socket shares its port with other sockets that have this flag set.
    pub(super) shares_port: bool,
    /// Whether the socket is an end of a pipe. Such sockets count for the limit `pipes`, not for
    /// the limit `sockets`.
    pub(super) is_pipe: bool,
    /// Whether the socket is the kernel's end of a flow, and a program has the other end. Such
    /// sockets count for no limit. Snapshots contain no such sockets.
    #[serde(skip)]
    pub(super) is_flow_end: bool,
    /// The explanation of a failed connection to the outside (`outside/failures.rs`).
    #[serde(skip)]
    pub(super) explanation: Option<Box<str>>,
    /// A pending error. A later call on the socket fails with the error and clears the error.
    pub(super) error: Option<Errno>,
    pub(super) waiters: Vec<Waiter>,
}

/// A wait for a socket's readiness, which completes once. Several programs can share an inherited
/// socket, and each program has its own waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiter {
    pub(super) owner: WaitOwner,
    pub(super) mask: u32,
}

/// The receiver of a [`Waiter`]'s completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum WaitOwner {
    /// A process, and the operation that completes.
    Operation(Pid, OperationId),
    /// The embedder. At the completion, the bytes of a feed or of an inbound connection are moved.
    Embedder,
}

impl WaitOwner {
    /// Returns the process of an operation. Returns `None` for the embedder.
    pub(super) fn pid(self) -> Option<Pid> {
        match self {
            Self::Operation(pid, _) => Some(pid),
            Self::Embedder => None,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Role {
    /// A stream socket that is not connected and does not listen.
    Fresh,
    Listening(Listener),
    /// A client that waits for space in the queue of a listener.
    Connecting(SocketId),
    Connected(Stream),
    Datagram(Datagram),
    /// The master of the terminal with this number.
    Master(u32),
    /// A slave of the terminal with this number.
    Slave(u32),
    /// A client whose connection to the outside is not open yet. Snapshots contain no such sockets.
    /// The variant is the last, because the decoder of snapshots does not count the variant.
    #[serde(skip)]
    Opening(FlowId),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Listener {
    /// The process that started to listen.
    pub(super) pid: Pid,
    pub(super) backlog: usize,
    /// The server's ends of the connections that no program has accepted yet.
    pub(super) ready: VecDeque<SocketId>,
    /// The clients that wait because the queue is full.
    pub(super) waiting: VecDeque<SocketId>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stream {
    /// The other end. `None` if the other end is closed.
    pub(super) peer: Option<SocketId>,
    pub(super) remote: Address,
    pub(super) incoming: VecDeque<u8>,
    /// Whether the other end has ended its sending direction.
    pub(super) ended: bool,
    /// Whether this end has ended its sending direction.
    pub(super) shut: bool,
    /// Whether writes fail: the other end has reset the connection or has closed a Unix connection,
    /// or an earlier write found the other end closed.
    pub(super) broken: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Datagram {
    pub(super) remote: Option<Address>,
    pub(super) incoming: VecDeque<(Address, Vec<u8>)>,
    /// The bytes in `incoming`, and the cost of each message besides its bytes.
    pub(super) held: usize,
    /// The flows to the outside, by peer.
    #[serde(skip)]
    pub(super) flows: BTreeMap<SocketAddr, FlowId>,
    /// The flow that the last send has to wait for. The socket is not writable meanwhile.
    #[serde(skip)]
    pub(super) awaited: Option<FlowId>,
}

impl Socket {
    pub(super) fn new(domain: Domain, role: Role) -> Self {
        Self {
            domain,
            role,
            local: None,
            only_v6: false,
            shares_port: false,
            is_pipe: false,
            is_flow_end: false,
            explanation: None,
            error: None,
            waiters: Vec::new(),
        }
    }

    /// Returns the number of bytes in the socket's buffer.
    pub(super) fn buffered(&self) -> usize {
        match &self.role {
            Role::Connected(stream) => stream.incoming.len(),
            Role::Datagram(datagram) => datagram.held,
            _ => 0,
        }
    }

    /// Returns whether the socket is an end of a terminal. Such sockets count for no limit of
    /// sockets: the limit `terminals` bounds masters, and the limit `descriptors` slaves.
    pub(super) fn is_terminal_end(&self) -> bool {
        matches!(self.role, Role::Master(_) | Role::Slave(_))
    }

    pub(super) fn is_datagram(&self) -> bool {
        matches!(self.role, Role::Datagram(_))
    }
}

impl Stream {
    pub(super) fn new(peer: SocketId, remote: Address) -> Self {
        Self { peer: Some(peer), remote, incoming: VecDeque::new(), ended: false, shut: false, broken: false }
    }

    /// Returns whether the buffer has enough free space to wake a waiting writer. `capacity` is the
    /// size of the buffer.
    pub(super) fn has_room(&self, capacity: usize) -> bool {
        capacity.saturating_sub(self.incoming.len()) >= capacity / ENOUGH
    }
}
