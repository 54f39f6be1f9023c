//! Sockets: system calls 0x200 to 0x2ff.
//!
//! ```text
//! calls.rs ──► stream.rs, datagram.rs ──► network.rs ──► socket.rs, address.rs
//! ```
//!
//! Each runtime has one socket table: its programs reach one another on the loopback, and nothing
//! else. A connection is two sockets that name each other. Bytes that one end writes are stored in
//! the other end's bounded buffer until they are read. No call waits: a program arms a socket and
//! is notified once when the socket is ready. The table is plain data and names programs and
//! operations by number, so that it can be copied with the rest of a runtime. Pipes are pairs of
//! nameless sockets. The embedder connects and waits for listeners through `inbound/`. Next:
//! `socket.rs`.

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
pub(crate) use sockets::SocketKind;
pub use sockets::Sockets;
