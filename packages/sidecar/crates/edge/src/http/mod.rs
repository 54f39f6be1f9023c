//! The HTTP filter: every request of a flow is parsed, judged, and written again.
//!
//! ```text
//! guest ══ server of hyper ── judge.rs ── client of hyper ══ peer
//! ```
//! The filter runs over two streams of plain bytes (`filter.rs`): the flow's bytes, and the
//! connection to the peer. One connection of the guest is one connection to the peer, so no request
//! reaches the connection of another request's host. A flow has a filter if a name of its address
//! has rules about HTTP or a secret (`binding.rs`). `judge.rs` makes the new request, `reply.rs`
//! the responses of the edge itself, and `body.rs` masks values of secrets in responses. Next:
//! `binding.rs`.

/// The bytes between a flow and its filter, in each direction.
pub const FILTER_PIPE: usize = 64 << 10;

mod binding;
mod body;
mod filter;
mod judge;
mod reply;

pub use binding::{Binding, names_of};
pub use filter::{Context, Fault, run};
