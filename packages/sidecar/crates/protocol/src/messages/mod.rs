//! The messages between SDK and sidecar, family by family.
//!
//! Each side first sends `hello` with its version. The versions must be equal. The SDK then sends
//! requests. The sidecar sends exactly one `reply` or `error` for each request, in the order of
//! completion. Notices of the SDK and events of the sidecar have no reply.
//!
//! The structs of this module are the only declaration of the protocol. `pnpm generate` writes the
//! SDK's types and decoders from these structs. `docs/internals/protocol.md` explains the rules
//! between messages.

mod connection;
mod file;
mod host_call;
mod network;
mod outside;
mod permission;
mod private_network;
mod process;
mod runner;
mod runtime;
mod secrets;
mod snapshot;

pub use connection::*;
pub use file::*;
pub use host_call::*;
pub use network::*;
pub use outside::*;
pub use permission::*;
pub use private_network::*;
pub use process::*;
pub use runner::*;
pub use runtime::*;
pub use secrets::*;
pub use snapshot::*;

pub use crate::maps::{Blobs, Details, Fact, Numbers, Pairs};

use crate::frames::Frame;
use crate::invalid::Invalid;

/// The version that both sides must have. SDK and sidecar are released together.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The largest `data` of an `output` message, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 64 << 10;

/// The largest number of bytes of one stream that may be in flight without credit. `crates/session`
/// asserts that the core has an equal constant.
pub const STREAM_WINDOW_BYTES: u64 = 256 << 10;

/// The number of a message's kind, the first element of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind(pub(crate) u8);

impl Kind {
    /// Returns the kind with this number. Returns `None` if no message has the number.
    pub fn of(number: u8) -> Option<Self> {
        Some(Self(number)).filter(|kind| rows().any(|row| row.kind == *kind))
    }

    /// Returns the number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns all kinds, in the order of their numbers.
    pub fn all() -> Vec<Self> {
        let mut kinds: Vec<_> = rows().map(|row| row.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    /// Returns the name in `docs/internals/protocol.md`. Returns an empty text for a number that no
    /// message has.
    pub fn name(self) -> &'static str {
        rows().find(|row| row.kind == self).map_or("", |row| row.name)
    }

    /// Returns whether the message is a request: a message of the SDK that has a reply.
    pub fn is_request(self) -> bool {
        requests().any(|row| row.kind == self && row.has_reply)
    }

    /// Returns whether the SDK sends messages of this kind.
    pub fn is_sent_by_sdk(self) -> bool {
        requests().any(|row| row.kind == self)
    }
}

/// The facts of one message that the macros declare.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub kind: Kind,
    pub name: &'static str,
    pub has_reply: bool,
}

fn rows() -> impl Iterator<Item = &'static Row> {
    let events = [
        connection::EVENTS,
        process::EVENTS,
        network::EVENTS,
        host_call::EVENTS,
        permission::EVENTS,
        runtime::EVENTS,
        outside::EVENTS,
        private_network::EVENTS,
        secrets::EVENTS,
    ];
    requests().chain(events.into_iter().flatten())
}

/// Declares [`Request`] from the families. Families are matched in this order, so frequent families
/// are at the top.
macro_rules! families {
    ($($(#[$doc:meta])* $variant:ident($family:ident),)*) => {
        /// A message that the SDK sends.
        #[expect(clippy::large_enum_variant, reason = "a request moves once, from the decoder to its handler")]
        #[derive(Debug, Clone, PartialEq)]
        pub enum Request<'a> {
            $($(#[$doc])* $variant($family<'a>),)*
        }

        impl<'a> Request<'a> {
            fn decode_body(kind: Kind, body: &'a [u8]) -> Option<Result<Self, Invalid>> {
                $(if let Some(request) = $family::decode(kind, body) {
                    return Some(request.map(Self::$variant));
                })*
                None
            }
        }

        $(impl<'a> From<$family<'a>> for Request<'a> {
            fn from(request: $family<'a>) -> Self {
                Self::$variant(request)
            }
        })*

        fn requests() -> impl Iterator<Item = &'static Row> {
            [$($family::ROWS),*].into_iter().flatten()
        }
    };
}

families! {
    /// Programs and processes.
    Process(ProcessRequest),
    /// Resident runners.
    Runner(RunnerRequest),
    /// Runtimes.
    Runtime(RuntimeRequest),
    /// The connection itself.
    Connection(ConnectionRequest),
    /// Files.
    File(FileRequest),
    /// Inbound connections and listeners.
    Network(NetworkRequest),
    /// Host calls and bindings.
    HostCall(HostCallRequest),
    /// Permissions.
    Permission(PermissionRequest),
    /// Snapshots.
    Snapshot(SnapshotRequest),
    /// Connections out of a runtime.
    Outside(OutsideRequest),
    /// Private networks.
    PrivateNetwork(PrivateNetworkRequest),
    /// Values of secrets.
    Secrets(SecretsRequest),
}

impl<'a> Request<'a> {
    /// Reads a frame of the SDK. An error names the field, beginning with the message's name.
    pub fn decode(frame: &Frame<'a>) -> Result<Self, Invalid> {
        let kind = Kind(frame.kind);
        log::debug!(target: "request", "{} {}, {} bytes", frame.id, kind.name(), frame.body.len());
        match Self::decode_body(kind, frame.body) {
            Some(request) => request.map_err(|invalid| invalid.within(kind.name())),
            None => Err(unknown(kind).within("kind")),
        }
    }
}

fn unknown(kind: Kind) -> Invalid {
    match kind.name() {
        "" => Invalid::new("a kind of message that is in the protocol", format!("number {}", kind.0)),
        name => Invalid::new("a kind of message that the SDK sends", name),
    }
}
