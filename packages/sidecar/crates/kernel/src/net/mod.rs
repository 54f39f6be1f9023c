//! Sockets and pipes of a runtime.
//!
//! ```text
//! calls.rs ──► stream.rs, datagram.rs ──► network.rs ──► socket.rs, address.rs
//! ```
//!
//! Each runtime has one socket table. A program reaches the sockets of its own runtime on the
//! loopback, and other machines through `outside/`, and the sockets of
//! other runtimes through `members/`. A connection is two sockets that refer to each
//! other. The bytes that one end writes are stored in the other end's bounded buffer until a
//! program reads them. No call waits: a program arms a socket and receives one notification when
//! the socket is ready. The table is plain data. The table refers to programs and operations by
//! number, so that a snapshot can copy the table. Pipes are pairs of sockets without names. The
//! embedder connects to listeners and waits for listeners through `inbound/`. Next: `socket.rs`.

mod address;
mod calls;
mod datagram;
mod descriptor_passing;
pub mod inbound;
mod index;
mod link;
mod listing;
mod members;
mod names;
mod network;
mod outside;
mod posted_signals;
mod snapshot;
mod socket;
mod sockets;
mod stream;
mod terminal_calls;
mod terminal_output;
mod terminals;
mod turn;

#[cfg(test)]
mod tests;

pub(crate) use calls::call;
pub(crate) use listing::{ListedKind, ListedPlace, ListedSocket, ListedState};
#[cfg(test)]
pub(crate) use outside::testing::Asked;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use outside::testing::{FakeOutside, FlowRules};
pub(crate) use posted_signals::{PostedSignal, Recipient};
pub(crate) use snapshot::SocketsSnapshot;
pub use socket::{ERR, HUP, IN, OUT};
pub(crate) use sockets::SocketKind;
pub use sockets::Sockets;
pub(crate) use terminal_calls::terminal_call;
