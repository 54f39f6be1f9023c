//! The edge: the process that opens connections and looks names up for runtimes.
//!
//! ```text
//! sidecar ══ link ══ edge ── TCP, DNS ── the world
//! ```
//! The edge is the only process with sockets to the outside. It judges each name and each address
//! by the policy of the runtime (crate `egress`), and connects only to an address that was judged.
//! One thread serves all runtimes. The link's messages are in crate `edge-link`.
//!
//! Next: `serve.rs`, `runtime.rs`, `flow/mod.rs`, `http/mod.rs`, `secrets.rs`, `dns/mod.rs`,
//! `wall.rs`.

mod address_changes;
mod datagrams;
mod describe;
mod dns;
mod flow;
mod handled;
mod http;
mod interfaces;
mod limits;
mod link;
mod link_fault;
mod options;
mod outgoing;
mod route;
mod runtime;
mod seal;
mod secrets;
mod serve;
mod surroundings;
mod tls;
mod window;

#[cfg(feature = "fuzzing")]
pub use tls::fuzzing;

pub use limits::{FAILURES_BURST, MAX_REFUSED, Times};
pub use link_fault::LinkFault;
pub use serve::{Server, serve};
pub use surroundings::Surroundings;
