//! The HTTP filter: every request of a flow is parsed, judged, and written again.
//!
//! ```text
//! guest ══ gate.rs ── server of hyper ── judge.rs ── client of hyper ══ peer
//! ```
//! The filter runs over two streams of plain bytes (`filter.rs`): the flow's bytes, and the
//! connection to the peer. One connection of the guest is one connection to the peer, so no request
//! reaches the connection of another request's host. `gate.rs` refuses requests that servers read
//! in different ways. A flow has a filter if a name of its address has rules about HTTP or a secret
//! (`binding.rs`). `judge.rs` makes the new request, `reply.rs` the responses of the edge itself,
//! and `body.rs` masks values of secrets in responses.
//!
//! # A flow with TLS
//! One filter serves flows with TLS and flows without. The owner of a session passes streams of
//! plain text, and these facts:
//!
//! - `Binding::of(current, state, peer, true)`: the rules and the secrets of the address. Only a
//!   binding that is not empty needs a filter.
//! - `Context::tls(runtime, flow, peer, server_name, is_handled, close)`: `peer` is the checked
//!   address of the flow. `server_name` is the name that the certificate of the peer has proved
//!   against the roots of the operator, regardless of the guest's own authorities. Each request
//!   must name this host, and secrets are sent only to this host. `close` is set when the guest has
//!   closed its socket, and the filter is polled afterwards.
//! - `run(context, guest, peer)`: `guest` carries the guest's plain text, and `peer` is the stream
//!   inside the session. `shutdown` of `peer` must send `close_notify`. A `close_notify` of the
//!   peer must be the end of the stream, and a FIN without it an error.
//! - The session offers `http/1.1` alone in ALPN, because the filter reads no HTTP/2.
//!
//! Next: `binding.rs`.

/// The bytes between a flow and its filter, in each direction.
pub const FILTER_PIPE: usize = 64 << 10;

mod binding;
mod body;
mod credentials;
mod filter;
mod gate;
mod guest_close;
mod judge;
mod reply;

pub use binding::{Binding, names_of};
pub use filter::{Context, Fault, run};
pub use guest_close::GuestClose;
pub use judge::remove_hop_by_hop;
