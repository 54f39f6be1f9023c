//! Sockets and pipes of a runtime.
//!
//! ```text
//! calls.rs ── numbers, addresses, operations ──► stream.rs, datagram.rs ──► table.rs ──► socket.rs, address.rs
//! ```
//!
//! One table per runtime: its programs see one another on the loopback, and nothing else. A connection is two sockets that name each other;
//! what one writes lies in the other's bounded buffer until it is read. No call waits: a program arms a socket and hears once when it is
//! ready. The table is plain data, with programs and operations as numbers in it, so that it can be copied with the rest of a runtime.
//! Pipes are pairs of the same sockets without a name. The caller outside connects and waits for listeners through `outside.rs`. Next: `socket.rs`.

mod address;
mod calls;
mod datagram;
mod descriptor_passing;
pub mod inbound;
mod names;
mod network;
mod snapshot;
mod socket;
mod sockets;
mod stream;

#[cfg(test)]
mod tests;

pub(crate) use calls::call;
pub(crate) use snapshot::SocketsSnapshot;
pub use socket::{IN, OUT};
pub(crate) use sockets::Kind;
pub use sockets::Sockets;
