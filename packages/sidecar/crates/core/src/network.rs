//! What the caller outside does with a runtime's loopback: whom it reaches, and what it hears. Next: `runtime/network.rs`, the calls.

use coldframe_error::Error;

/// Bytes that may be on their way in each direction of a connection from outside without credit (`docs/internals/protocol.md`).
pub const STREAM_WINDOW: u64 = 256 << 10;

/// A listener of a runtime, as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A TCP port.
    Port {
        /// The port, not 0.
        port: u16,
        /// An address of the loopback, or `localhost`; without one, the IPv4 loopback, then the IPv6 one.
        host: Option<String>,
    },
    /// A Unix socket: an absolute guest path, or a name that begins with NUL.
    Path(String),
}

/// Somebody who listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerEntry {
    /// The process that began to listen.
    pub pid: u32,
    /// The address that it is bound to, and the port.
    pub address: Option<(String, u16)>,
    /// The path of a Unix socket.
    pub path: Option<String>,
}

/// What happens to a connection that the caller outside has opened, or to its wait for a listener.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkEvent {
    /// The guest has written this.
    Data(Vec<u8>),
    /// The guest's end has taken so many bytes.
    Credit(u64),
    /// The guest writes no more.
    Ended,
    /// The connection is over: both directions have ended, or it broke. Nothing follows.
    Closed(Option<Error>),
    /// Who was waited for listens, or the wait is over for another reason.
    Listener(Result<ListenerEntry, Error>),
}
