//! Events of a runtime's connections and look-ups. Names are canonical, so an event contains no
//! control character. Next: `window.rs`.

use crate::failure::{Denied, Rule};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};

/// The protocol of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Protocol {
    /// A connection.
    Tcp,
    /// Datagrams between a socket of the guest and one peer.
    Udp,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A connection is established.
    Open {
        /// The id of the flow.
        flow: u32,
        /// The protocol.
        protocol: Protocol,
        /// The name that admits the flow.
        host: Option<String>,
        /// The address of the peer.
        peer: SocketAddr,
        /// The rule that admits the flow.
        rule: Option<Rule>,
    },
    /// An established connection has ended.
    Close {
        /// The id of the flow.
        flow: u32,
        /// The protocol.
        protocol: Protocol,
        /// The name that admits the flow.
        host: Option<String>,
        /// The address of the peer.
        peer: SocketAddr,
        /// The bytes that were sent to the peer.
        sent: u64,
        /// The bytes that were received from the peer.
        received: u64,
        /// The datagrams of both directions that were dropped, because a queue was full or the
        /// system refused them. 0 for a connection.
        dropped: u64,
        /// The milliseconds since the connection was established.
        duration_ms: u64,
        /// The reason.
        reason: CloseReason,
    },
    /// The policy has refused an action.
    Denied {
        /// The action.
        refused: Refused,
        /// The reason.
        denied: Denied,
    },
    /// A look-up or a query has ended.
    Dns {
        /// The name.
        name: String,
        /// The type of the records: `A`, `AAAA`, `A+AAAA`, `MX`, …
        record_type: String,
        /// The addresses, if the records have addresses.
        addresses: Vec<IpAddr>,
        /// The code of the failure.
        code: Option<String>,
        /// The duration in milliseconds.
        duration_ms: u64,
        /// Whether the result needed no query to a server.
        cached: bool,
    },
    /// The edge has judged a request to a host with rules about HTTP or with secrets.
    Request {
        /// The id of the flow.
        flow: u32,
        /// The method, at most 32 characters.
        method: String,
        /// The name of the host.
        host: String,
        /// The path without the query, at most 1,024 characters.
        path: String,
        /// The status of the response, or of the refusal.
        status: u16,
        /// The names of the secrets whose values the request contains.
        secrets: Vec<String>,
        /// The names of the secrets whose placeholder is in the head in a place without effect.
        placeholders: Vec<String>,
        /// The reason of a refusal.
        denied: Option<Denied>,
    },
    /// A limit has refused an action. The event is sent at most once a second for each limit.
    Limit {
        /// The name of the limit, as in [`crate::FailureKind::Limit`].
        name: String,
    },
}

/// The action that a policy has refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refused {
    /// A look-up or a query. The name is as the guest passed the name, at most 100 characters,
    /// without control characters.
    LookUp {
        /// The name.
        name: String,
    },
    /// A connection.
    Connect {
        /// The address.
        peer: SocketAddr,
    },
    /// Datagrams to a peer, before the flow was opened or after an update of the policy.
    Datagrams {
        /// The address.
        peer: SocketAddr,
    },
    /// An open flow, after an update of the policy.
    Flow {
        /// The id of the flow.
        flow: u32,
        /// The address.
        peer: SocketAddr,
    },
}

/// The reason why a connection has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CloseReason {
    /// Both directions have ended.
    Ended,
    /// The guest has closed the socket.
    Closed,
    /// The guest has reset the connection, or its program has ended.
    Reset,
    /// The peer has reset the connection, or the network has failed.
    Failed,
    /// An update of the policy no longer allows the connection.
    Denied,
    /// The limit `bytes` is reached.
    Limit,
    /// The runtime has ended.
    RuntimeEnded,
    /// The connection was idle for too long, or the peer did not receive the last bytes.
    Idle,
}
