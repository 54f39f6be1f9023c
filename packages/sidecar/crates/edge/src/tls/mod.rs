//! TLS for programs: sessions of rustls, whose bytes a program moves.
//!
//! ```text
//! program's stream ◄─ encrypted bytes ─► guest ◄─ records ─► flow.rs ─► engine.rs (rustls)
//! program          ◄─── plain bytes ───►       ◄─         ─►
//! ```
//! A session is a flow of the link without a socket. The flow's bytes are records (`records.rs`).
//! The guest sends the settings of the session, encrypted bytes of the peer and plain bytes for the
//! peer. The guest receives plain bytes, encrypted bytes for the peer and the events of the
//! handshake. The guest can therefore run TLS over any stream: a connection to the outside, its
//! loopback, a Unix socket, a stream of its own.
//!
//! The session's keys and random numbers stay in this process, so a snapshot of a guest contains
//! none. Certificates are verified with this machine's clock. Next: `records.rs`, `settings.rs`,
//! `engine.rs`, `flow.rs`.

mod alerts;
mod attached;
mod engine;
mod filtered;
mod flow;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
#[cfg(any(test, feature = "fuzzing"))]
mod fuzzing_certificates;
mod output;
mod path;
#[cfg(test)]
mod path_tests;
mod provider;
mod records;
mod settings;
#[cfg(test)]
mod tests;
mod tickets;
mod verify;
mod x509;

pub use attached::Socket;
pub use flow::TlsFlow;
pub use settings::server_config;
pub use tickets::Tickets;
pub use verify::{Roots, parse_roots};
