//! The events of a private network. The queue of events has its own lock, which is taken last.
//! Next: `directory.rs`.

use super::wire::{Wire, WireSide};
use std::sync::atomic::Ordering;

/// An event of a private network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberEvent {
    /// The name of the connecting member.
    pub from: String,
    /// The name of the listening member.
    pub to: String,
    /// The port of the listener.
    pub port: u16,
    /// The event.
    pub kind: MemberEventKind,
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberEventKind {
    /// The listener has the connection.
    Open,
    /// A connection that was open has ended.
    Close {
        /// The number of bytes that the connecting member has sent.
        sent: u64,
        /// The number of bytes that the listening member has sent.
        received: u64,
        /// The time between the connect and the end, in microseconds.
        duration_us: u64,
        /// The reason. `None` if a program has closed its socket.
        reason: Option<Cut>,
    },
    /// The rules have not allowed a connection or a datagram.
    Denied,
}

/// The reason why a connection was reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// A program has reset the connection.
    Reset,
    /// New rules do not allow the connection.
    Denied,
    /// A membership has ended.
    Left,
}

impl Cut {
    /// Returns the name of the reason.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Denied => "denied",
            Self::Left => "left",
        }
    }
}

/// Describes the end of a wire.
pub(super) fn closed(wire: &Wire, reason: Option<Cut>) -> MemberEventKind {
    let [sent, received] = wire.ends.each_ref().map(|end: &WireSide| end.sent.load(Ordering::Relaxed));
    let duration = wire.since.elapsed().unwrap_or_default().as_micros();
    MemberEventKind::Close { sent, received, duration_us: u64::try_from(duration).unwrap_or(u64::MAX), reason }
}
