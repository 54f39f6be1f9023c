//! The messages from the edge to the sidecar. Next: `policy.rs`.

use crate::event::{Event, Protocol};
use crate::failure::{Decision, Failure, Rule};
use crate::message::messages;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// An open flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowInfo {
    /// The id of the flow.
    pub flow: u32,
    /// The protocol.
    pub protocol: Protocol,
    /// The allowed name that is pinned to the address, if a name admits the flow.
    pub host: Option<String>,
    /// The address of the peer.
    pub peer: SocketAddr,
    /// Whether the connection is established.
    pub connected: bool,
    /// The bytes that the peer's system was sent.
    pub sent: u64,
    /// The bytes that were received from the peer.
    pub received: u64,
    /// The datagrams of both directions that were dropped. 0 for a connection.
    pub dropped: u64,
    /// The milliseconds since `Connect`.
    pub age_ms: u64,
    /// The rule that admits the flow. `None` if `outside: 'public'` admits the flow.
    pub rule: Option<Rule>,
}

/// A part of the wall around the edge process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallPart {
    /// The name, such as `seccomp`.
    pub name: String,
    /// The reason why the part is missing. `None` if the part is enforced.
    pub missing: Option<String>,
}

messages! {
    /// A message from the edge to the sidecar.
    ToSidecar;
    /// Bytes that the peer sends: 1 to [`crate::MAX_DATA_BYTES`] bytes, within the window. After
    /// `Connected`. In a flow of datagrams, one datagram, without a window.
    129 Data;
    /// The reply to `Hello`.
    130 Hello {
        /// [`crate::VERSION`].
        version: u32,
    };
    /// The wall around the edge process. Follows `Hello` once, before all other messages. The id is
    /// 0.
    193 Walls {
        /// All parts, in the order in which they were built.
        parts: Vec<WallPart>,
    };
    /// The request has succeeded.
    131 Done {};
    /// The request has failed.
    132 Failed {
        /// The reason.
        failure: Failure,
    };
    /// The reply to `LookUp`.
    133 Addresses {
        /// The addresses, at least one.
        addresses: Vec<IpAddr>,
    };
    /// The reply to `Query`.
    134 Records {
        /// A JSON array in the shapes of Node's `dns.resolve*`. Records of A and AAAA are objects
        /// with `address` and `ttl` (seconds). `data` of TLSA is a hexadecimal text. A record of
        /// ANY has the name of its type in `type`. The record of SOA is the only element.
        json: String,
    };
    /// The connection is established. The guest's `connect` succeeds only now.
    135 Connected {
        /// The address of the edge's socket.
        local: SocketAddr,
        /// The address of the peer.
        peer: SocketAddr,
    };
    /// The edge has sent bytes of the flow to the peer. The sidecar may send as many bytes more.
    136 Credit {
        /// The number of bytes.
        bytes: u64,
    };
    /// The peer sends no further byte. Needs no window.
    137 End {};
    /// An empty datagram of the peer.
    178 EmptyDatagram {};
    /// The peer of a flow of datagrams could not be reached. The flow stays open.
    179 Unreachable {
        /// The operating system's error number (positive), such as `ECONNREFUSED`.
        errno: i32,
    };
    /// The edge's last message of the flow. No failure means that both directions have ended, or
    /// that the sidecar has closed the flow.
    138 Closed {
        /// The reason if the flow failed: the connection was refused by the policy (`Denied`,
        /// `Limit`) or failed (`Errno`, such as `ECONNREFUSED` and `ECONNRESET`).
        failure: Option<Failure>,
    };
    /// The reply to `Check`.
    139 Checked {
        /// The decision.
        decision: Decision,
    };
    /// A part of the reply to `Flows`.
    140 FlowList {
        /// The flows, in no order.
        flows: Vec<FlowInfo>,
        /// Whether a further part follows.
        more: bool,
    };
    /// An event of a watched runtime.
    141 Event {
        /// The runtime.
        runtime: u64,
        /// The event.
        event: Event,
        /// The number of events of the runtime that were lost before this event, because the queue
        /// of 4,096 events was full.
        lost: u64,
    };
    /// A request waits for a function of the app. The sidecar replies with `HandlerOpen`. The id is
    /// 0.
    168 HandlerWanted {
        /// The runtime.
        runtime: u64,
        /// The number of the request in its runtime.
        number: u32,
    };
    /// The reply to `SecretsKey`.
    156 SecretsKey {
        /// The public key (X25519).
        key: [u8; 32],
    };
    /// The edge has no values of a runtime's secrets. Sent after the runtime's first policy with
    /// secrets. The id is 0.
    157 SecretsWanted {
        /// The runtime.
        runtime: u64,
    };
}
