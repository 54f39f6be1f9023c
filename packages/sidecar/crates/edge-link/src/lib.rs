//! The link between the sidecar and the edge process, which opens the connections out of runtimes.
//!
//! ```text
//! core's link ── ToEdge ──► edge      a Unix socket pair, frames.rs
//!             ◄─ ToSidecar ─
//! ```
//! The crate has the messages ([`ToEdge`], [`ToSidecar`]), their frames ([`Decoder`]) and the
//! accounting of a flow's bytes ([`window`]). It has no socket, no thread and no clock. Each side
//! treats the other as suspect: a wrong byte leads to an [`Invalid`], after which the link ends.
//!
//! # Ids
//! The id of a frame is a flow's id for the messages of a flow, and a request's id for requests and
//! replies. Both are chosen by the sidecar, and are separate number spaces. The id is 0 for all
//! other messages.
//!
//! A flow's id is in use from [`ToEdge::Connect`], or another message that opens a flow, on. The
//! sidecar's last message of a flow is [`ToEdge::Close`], and the edge's last message is
//! [`ToSidecar::Closed`]. Each side sends its last message exactly once for every flow. A sidecar
//! that receives `Closed` first replies with `Close`. An edge that receives `Close` first replies
//! with `Closed`. The id is free when both messages have been sent. Until then, each side ignores
//! messages of a flow for which it has sent its last message. A message of a flow that is not in
//! use is an error of the link.
//!
//! Next: `to_edge.rs`, `to_sidecar.rs`, `policy.rs`, `frames.rs`.

mod event;
mod failure;
mod frames;
mod message;
mod policy;
mod secrets;
mod to_edge;
mod to_sidecar;
pub mod window;

#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
#[cfg(test)]
mod tests;

pub use event::{CloseReason, Event, Protocol, Refused};
pub use failure::{Decision, Denied, Failure, FailureKind, Rule};
pub use frames::{DATA_HEAD_BYTES, Decoder, Frame, Invalid, MAX_DATA_BYTES, MAX_FRAME_BYTES, data_head};
pub use message::{Message, Unencodable};
pub use policy::{
    Change, DEFAULT_BYTES_PER_SECOND, DEFAULT_CONNECTING, DEFAULT_CONNECTIONS, DEFAULT_CONNECTS_BURST,
    DEFAULT_CONNECTS_PER_SECOND, DnsHost, Existing, Handler, HttpRule, InjectedHeader, Limits, LimitsChange, Options,
    OptionsChange, OutsideMode, SecretEntry, SigningEntry,
};
pub use secrets::{MAX_SEALED_BYTES, SEAL_INFO, SealedValue, SecretBytes, ValueState, decode_values, encode_values};
pub use to_edge::{LookUpFamily, ToEdge};
pub use to_sidecar::{FlowInfo, ToSidecar, WallPart};

/// The version of the link. Both sides are released together, so the versions must be equal.
pub const VERSION: u32 = 4;
