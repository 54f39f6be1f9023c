//! The messages from the sidecar to the edge. Next: `to_sidecar.rs`.
//!
//! | message | id | reply |
//! |---|---|---|
//! | `Hello` | 0, the first message | `Hello` |
//! | `PolicySet`, `PolicyUpdate` | request | `Done` or `Failed` |
//! | `LookUp` | request | `Addresses` or `Failed` |
//! | `Query` | request | `Records` or `Failed` |
//! | `Check` | request | `Checked` or `Failed` |
//! | `SecretsKey` | request | `SecretsKey` or `Failed` |
//! | `SecretsPut` | request | `Done` or `Failed` |
//! | `Flows` | request | one or more `FlowList`, of which the last has `more: false` |
//! | `RuntimeEnd`, `Watch` | 0 | none |
//! | `Roots` | 0 | none |
//! | `Connect` | flow | `Connected` or `Closed` |
//! | `TlsOpen`, `TlsAttach` | flow | none, or `Closed` |
//! | `HandlerOpen` | flow | none, or `Closed` |
//! | `DatagramsOpen` | flow | `Connected` or `Closed` |
//! | `Data`, `EmptyDatagram`, `Dropped`, `Credit`, `End`, `Close` | flow | none |

use crate::message::messages;
use crate::policy::{Existing, Options, OptionsChange};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// The addresses that a look-up returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LookUpFamily {
    /// IPv4 and IPv6, each only if the host machine has an address of the family other than the
    /// loopback (`AI_ADDRCONFIG`).
    Any,
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

messages! {
    /// A message from the sidecar to the edge.
    ToEdge;
    /// Bytes that the guest sends: 1 to [`crate::MAX_DATA_BYTES`] bytes, within the window. The
    /// sidecar may send data from `Connect` on. In a flow of datagrams, one datagram, after
    /// `Connected`: in the window it counts its bytes and [`crate::window::DATAGRAM_COST`].
    1 Data;
    /// The first message.
    2 Hello {
        /// [`crate::VERSION`].
        version: u32,
    };
    /// Sets the policy of a runtime. Until then every look-up and every connection of the runtime
    /// is refused. A second `PolicySet` replaces the options, and judges open flows again.
    3 PolicySet {
        /// The runtime.
        runtime: u64,
        /// The options.
        options: Options,
    };
    /// Changes fields of the policy. From `Done` on, no byte moves that the new policy refuses.
    /// After `Failed` the former policy is in force.
    4 PolicyUpdate {
        /// The runtime.
        runtime: u64,
        /// The change.
        change: OptionsChange,
        /// The effect on open flows.
        existing: Existing,
    };
    /// The runtime has ended. All its flows are reset, and its pins, budgets and policy are
    /// removed. The edge still sends `Closed` for each flow, and a reply to each request.
    5 RuntimeEnd {
        /// The runtime.
        runtime: u64,
    };
    /// Looks up the addresses of a name, and pins the name to the addresses.
    6 LookUp {
        /// The runtime.
        runtime: u64,
        /// The name, as the guest passed the name.
        name: String,
        /// The families.
        family: LookUpFamily,
    };
    /// Queries the records of a name, for `dns.resolve*`. Addresses among the records are judged
    /// and pinned as the addresses of a look-up are.
    7 Query {
        /// The runtime.
        runtime: u64,
        /// The name.
        name: String,
        /// The number of the type of the records (IANA). The types are A, AAAA, ANY, CAA, CNAME,
        /// MX, NAPTR, NS, PTR, SOA, SRV, TLSA and TXT. Other types fail with `ENOTIMP`.
        record_type: u16,
    };
    /// Opens a flow. The edge judges the address.
    8 Connect {
        /// The runtime.
        runtime: u64,
        /// The address.
        peer: SocketAddr,
    };
    /// The sidecar has consumed bytes of the flow. The edge may send as many bytes more.
    9 Credit {
        /// The number of bytes.
        bytes: u64,
    };
    /// The guest sends no further byte. Needs no window.
    10 End {};
    /// The sidecar's last message of the flow. Without `reset`, the edge sends the bytes that it
    /// has received and a FIN. With `reset`, the edge discards the bytes and sends an RST.
    11 Close {
        /// Whether the connection is reset.
        reset: bool,
    };
    /// Judges a URL without a look-up and without a connection.
    12 Check {
        /// The runtime.
        runtime: u64,
        /// The URL.
        url: String,
        /// The method of the request, for rules about HTTP.
        method: String,
    };
    /// Lists the open flows of a runtime.
    13 Flows {
        /// The runtime.
        runtime: u64,
    };
    /// Turns the events of a runtime on or off. Off until the first `Watch`. Turning them off
    /// discards the events that have not been sent.
    14 Watch {
        /// The runtime.
        runtime: u64,
        /// Whether events are sent.
        on: bool,
    };
    /// Makes a key for values of a runtime's secrets. The key opens one message of values.
    20 SecretsKey {
        /// The runtime.
        runtime: u64,
    };
    /// Passes values of a runtime's secrets, sealed to a key of `SecretsKey` (`secrets.rs`).
    32 SecretsPut {
        /// The runtime.
        runtime: u64,
        /// The key of `SecretsKey`.
        key: [u8; 32],
        /// The sealed values.
        sealed: Vec<u8>,
    };
    /// Opens a flow without a socket: a session of TLS, whose bytes the guest moves. The flow is
    /// open at once. `Closed` follows only after a failure or `Close`. The bytes of the flow are
    /// records (crate `edge`, `tls/records.rs`).
    15 TlsOpen {
        /// The runtime.
        runtime: u64,
    };
    /// Opens a flow for a session of TLS over the connection of another flow of the runtime. The
    /// flow is open at once, and its bytes are records, as of `TlsOpen`. The edge moves the
    /// encrypted bytes (crate `edge`, `tls/attached.rs`). The connection's flow must have neither a
    /// session nor the sidecar's `End`.
    17 TlsAttach {
        /// The runtime.
        runtime: u64,
        /// The flow of the connection.
        flow: u32,
    };
    /// Opens a flow to the request that `HandlerWanted` has named. The flow is open at once. The
    /// edge sends the head of the request and its body, and the embedder sends the head of the
    /// response and its body (crate `edge`, `handled/mod.rs`). If the request has ended, `Closed`
    /// follows.
    40 HandlerOpen {
        /// The runtime.
        runtime: u64,
        /// The number of the request.
        number: u32,
    };
    /// Opens a flow of datagrams to a peer. The edge judges the address. The flow has neither `End`
    /// nor the sidecar's `Credit`.
    50 DatagramsOpen {
        /// The runtime.
        runtime: u64,
        /// The address.
        peer: SocketAddr,
    };
    /// An empty datagram of the guest, which counts like `Data`.
    51 EmptyDatagram {};
    /// The sidecar has dropped datagrams of the flow, because a queue was full.
    52 Dropped {
        /// The number of datagrams since the last message.
        count: u64,
    };
    /// The authorities that sessions trust if the guest passes none. Without the message, sessions
    /// trust the authorities of the system.
    16 Roots {
        /// Certificates in PEM.
        pem: String,
    };
}
