//! Inbound connections: the embedder's connections to listeners in the runtime, and the embedder's
//! waits for listeners.
//!
//! [`requests`] has the functions that the embedder calls. [`connections`] moves the bytes, and
//! [`listeners`] stores the waits. These modules use the runtime's socket table, so a guest has an
//! ordinary connection on the loopback. Next: `requests.rs`.

pub(super) mod connections;
pub(super) mod listeners;
pub(super) mod requests;
#[cfg(test)]
mod tests;

pub use crate::embedder::{ListenerEntry, NetworkEvent};

/// The maximum number of bytes without credit in each direction of an inbound connection
/// (`docs/internals/protocol.md`).
pub const STREAM_WINDOW: u64 = 256 << 10;

/// The address of a listener in a runtime, as the embedder names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A TCP port.
    Port {
        /// The port, not 0.
        port: u16,
        /// An address of the loopback, or `localhost`. `None` means the IPv4 loopback first, then
        /// the IPv6 loopback.
        host: Option<String>,
    },
    /// A Unix socket: an absolute guest path, or a name that begins with NUL.
    Path(String),
}
