//! Connections out of runtimes. The edge process opens the connections, and this module is the link
//! to the edge process.
//!
//! ```text
//! kernel ─ trait Outside ─► RuntimeOutside ─► Link ─ Unix socket pair ─► edge process
//!        ◄──── events ──────────────────────── reading thread ◄────────
//! ```
//! An [`Edge`] belongs to a core, and starts the edge process with the first use (`edge.rs`). A
//! [`Link`](link::Link) is the connection to one edge process (`link.rs`, `outgoing.rs`). When the
//! process has ended, the link fails all flows and requests, and the next use makes another link. A
//! [`RuntimeOutside`] has the options of one runtime, and sends them to each new edge process.
//!
//! The edge judges names and addresses. The core validates options with the same code, so that
//! invalid options are refused before an edge process exists. Next: `scope.rs`, `secrets.rs`.

mod convert;
mod edge;
mod events;
mod greeting;
mod handled;
mod link;
mod options;
mod outgoing;
mod runtime_outside;
mod scope;
mod secrets;
#[cfg(test)]
mod tests;

pub use convert::rule_text;
pub(crate) use edge::Edge;
pub use events::{OutsideEvents, QueueListener, TimedEvent, now_us};
pub(crate) use options::validate;
pub(crate) use runtime_outside::{Owner, RuntimeOutside};
pub(crate) use scope::{with_outside, without_outside};
pub(crate) use secrets::{check_stored, restored, with_variables};

use coldframe_error::Error;

/// The public key to which the embedder seals one message of values of secrets.
pub type SecretsKey = [u8; 32];

/// Receives the result of a request that the edge process answers. Runs on the link's thread, and
/// must not wait.
pub type Done<T> = Box<dyn FnOnce(Result<T, Error>) + Send>;
