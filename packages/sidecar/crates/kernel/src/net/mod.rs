//! Sockets: system calls 0x200 to 0x2ff.
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
mod ends;
pub mod inbound;
mod listeners;
mod names;
mod embedder;
mod passed;
mod snapshot;
mod socket;
mod stream;
mod table;
mod visits;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod visit_tests;

pub(crate) use calls::call;
pub(crate) use ends::Kind;
pub use ends::Sockets;
pub(crate) use snapshot::SocketsSnapshot;
pub(crate) use socket::SocketId;
pub use socket::{IN, OUT};
