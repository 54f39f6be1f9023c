//! The outside of a runtime: the trait that opens connections and looks up names for the programs,
//! and the values that cross the trait.
//!
//! The kernel opens no sockets of the host machine. The kernel checks the permission scope
//! `network`, stores the bytes of a connection in the socket table, and passes everything else to
//! [`Outside`]. The kernel does not trust the events: an event that breaks the rules of a flow
//! resets the flow. Next: `net/outside/`, the flows and lookups in progress.

use coldframe_error::Errno;
use coldframe_ids::id;
use std::net::{IpAddr, SocketAddr};

id! {
    /// A flow: one connection of a runtime to the outside, or the datagrams between a socket and
    /// one peer. The kernel assigns the numbers in ascending order from 1, and assigns a number
    /// again only after all other numbers. A kernel that replaces another kernel of its runtime
    /// continues the numbers.
    FlowId
}

id! {
    /// A lookup or query of a runtime in progress. The kernel assigns the numbers like the numbers
    /// of flows.
    LookUpId: u64
}

/// The maximum number of addresses of one lookup that a program receives.
pub const MAX_ADDRESSES: usize = 64;
/// The maximum number of a runtime's flows of datagrams.
pub const MAX_DATAGRAM_FLOWS: usize = 64;
/// The bytes that a datagram counts in [`crate::STREAM_WINDOW`] besides its content.
pub const DATAGRAM_COST: u64 = 64;
/// The maximum length of the records of one query, in bytes.
pub const MAX_RECORDS_BYTES: usize = 256 << 10;

/// Opens connections and looks up names for one runtime.
///
/// The methods must not wait, and must not call the kernel: the runtime's sockets are locked during
/// the call. Each connection, lookup and query is allowed by the permission scope `network`. All
/// other checks are the implementation's.
///
/// Each lookup and query ends with one call of [`crate::Kernel::looked_up`], or with
/// [`Outside::cancel`]. A flow begins with [`Outside::connect`], [`Outside::open_datagrams`],
/// [`Outside::open_tls`] or [`Outside::attach_tls`], and ends with [`Outside::close`] or with the
/// event [`OutsideEvent::Closed`]. After the end, the kernel calls no method for the flow and
/// ignores events of the flow.
pub trait Outside: Send + Sync {
    /// Looks up the addresses of a name. The name is the program's text: 1 to 253 bytes in labels
    /// of 1 to 63 bytes, and no name of the guest's own machine.
    fn look_up(&self, id: LookUpId, name: &str, family: LookUpFamily);

    /// Queries the records of a name. `record_type` is a type of DNS, for example 15 for MX. The
    /// name is the program's text, as for [`Outside::look_up`].
    fn query(&self, id: LookUpId, name: &str, record_type: u16);

    /// Ends a lookup or query without a result.
    fn cancel(&self, id: LookUpId);

    /// Returns whether a connection to a loopback address on which no program listens is a flow to
    /// the host machine's loopback. Otherwise the connection is refused.
    fn opens_loopback(&self, peer: SocketAddr) -> bool;

    /// Returns whether a datagram to a loopback address without a socket of a program is sent to
    /// the host machine's loopback. Otherwise the datagram is lost.
    fn opens_loopback_datagrams(&self, peer: SocketAddr) -> bool;

    /// Opens a flow of datagrams. The first event is [`OutsideEvent::Connected`] or
    /// [`OutsideEvent::Closed`]. Only the methods [`Outside::send_datagram`], [`Outside::dropped`]
    /// and [`Outside::close`] are called for the flow.
    fn open_datagrams(&self, flow: FlowId, peer: SocketAddr);

    /// Sends one datagram. Without credit, the kernel sends at most [`crate::STREAM_WINDOW`] bytes,
    /// and each datagram counts its bytes and [`DATAGRAM_COST`].
    fn send_datagram(&self, flow: FlowId, bytes: &[u8]);

    /// Reports datagrams of the flow that the kernel has dropped, because a queue was full.
    fn dropped(&self, flow: FlowId, count: u64);

    /// Opens a connection. The first event of the flow is [`OutsideEvent::Connected`] or
    /// [`OutsideEvent::Closed`].
    fn connect(&self, flow: FlowId, peer: SocketAddr);

    /// Opens a session of TLS, which is open at once and whose bytes the program moves. No byte of
    /// the session leaves the runtime, so no permission is needed.
    fn open_tls(&self, flow: FlowId);

    /// Opens a session of TLS like [`Outside::open_tls`], attached to the open connection
    /// `connection`. The implementation sends the bytes of [`Outside::write`] for `connection`, and
    /// ends its receiving direction. After [`Outside::end`] of `connection`, it moves the session's
    /// encrypted bytes. The connection stays open after both ends, until [`Outside::close`].
    fn attach_tls(&self, session: FlowId, connection: FlowId);

    /// Sends bytes to the peer. Without credit, the kernel sends at most
    /// [`crate::STREAM_WINDOW`] bytes.
    fn write(&self, flow: FlowId, bytes: &[u8]);

    /// Ends the sending direction after all written bytes. The receiving direction continues.
    fn end(&self, flow: FlowId);

    /// Adds credit: the program's socket has accepted this number of bytes.
    fn credit(&self, flow: FlowId, bytes: u64);

    /// Closes the flow. Without `reset`, the peer still receives all written bytes and then the end
    /// of the stream, as after `close` on Linux. With `reset`, the peer receives a reset at once,
    /// and written bytes may be lost.
    fn close(&self, flow: FlowId, reset: bool);
}

/// The addresses that a lookup asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookUpFamily {
    /// Addresses of both families.
    Any,
    /// IPv4 addresses.
    V4,
    /// IPv6 addresses.
    V6,
}

/// The result of a lookup or a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookUpAnswer {
    /// The addresses of a lookup, in the order of the resolver. The program receives at most
    /// [`MAX_ADDRESSES`] of them.
    Addresses(Vec<IpAddr>),
    /// The records of a query: a JSON array with a value for each record, in the shapes of
    /// `node:dns`. Addresses have the fields `address` and `ttl`, and a record in a result of ANY
    /// has the field `type`. The data of a TLSA record is hexadecimal. The text has at most
    /// [`MAX_RECORDS_BYTES`] bytes.
    Records(String),
}

/// An event of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutsideEvent<'a> {
    /// The connection is open.
    Connected {
        /// The address of this end, which the program sees as its own address.
        local: SocketAddr,
        /// The address of the peer.
        peer: SocketAddr,
    },
    /// Bytes of the peer. Without credit, a flow receives at most [`crate::STREAM_WINDOW`] bytes.
    /// In a flow of datagrams, one datagram, which needs no credit.
    Data(&'a [u8]),
    /// The number of bytes that were accepted. The kernel may send this number of bytes more.
    Credit(u64),
    /// The peer of a flow of datagrams could not be reached. The flow stays open.
    Unreachable(Errno),
    /// The peer has ended its sending direction.
    End,
    /// The connection has ended in both directions. `Some` means that the connection was not
    /// opened, or was reset. No other event follows.
    Closed(Option<OutsideFailure>),
}

/// The reason why a lookup or a flow has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideFailure {
    /// The kind of the failure, which decides the error of the program.
    pub kind: OutsideFailureKind,
    /// A sentence for users.
    pub message: String,
}

/// The kind of an [`OutsideFailure`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutsideFailureKind {
    /// The connection failed with a Linux error number, such as `ECONNREFUSED`.
    Errno(Errno),
    /// The lookup failed with a code of `getaddrinfo` (`EAI_AGAIN`) or of c-ares (`ENODATA`).
    Dns(String),
    /// The policy refuses the name or the address. A program receives `ENOTFOUND` for a lookup and
    /// `EACCES` for a connection.
    Denied {
        /// The stable text of the reason, for example `not-allowed`.
        reason: String,
        /// The rule that denies, for example `deny[3]`. `None` means that no rule denies.
        rule: Option<String>,
    },
    /// A limit of the runtime is reached. A program receives `EAI_AGAIN` for a lookup and `ENOBUFS`
    /// for a connection.
    Limit {
        /// The name of the limit, for example `connections`.
        name: String,
    },
}
