//! Messages about connections into a runtime and about who listens there. The `id` of a `stream.*` message is that of the `stream.open` that began
//! the connection, in both directions and until it is closed; none of them but `stream.open` is answered.

use serde::{Deserialize, Serialize};

use crate::messages::Failure;

/// The body of `stream.open`, `listener.wait` and `listener.list`: a TCP port, or the path of a Unix socket; for the list also neither.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkTarget<'a> {
    /// The runtime.
    pub runtime: u32,
    /// The port of a TCP listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// An address of the loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<&'a str>,
    /// An absolute guest path, or a name that begins with NUL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<&'a str>,
}

/// `stream.data` of the SDK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamWrite<'a> {
    /// The runtime.
    pub runtime: u32,
    /// What is written.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
}

/// `stream.credit` of the SDK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamRead {
    /// The runtime.
    pub runtime: u32,
    /// How many bytes the reader has consumed.
    pub bytes: u64,
}

/// `stream.end` and `listener.cancel` of the SDK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InRuntime {
    /// The runtime.
    pub runtime: u32,
}

/// `stream.close` of the SDK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamLeave {
    /// The runtime.
    pub runtime: u32,
    /// Whether the guest sees a reset and not the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<bool>,
}

/// `stream.data` of the sidecar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamData<'a> {
    /// What the guest has written.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
}

/// `stream.close` of the sidecar: nothing follows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamClosed<'a> {
    /// Why, unless both directions have ended.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure<'a>>,
}

/// The reply to `listener.wait`, and an entry of that to `listener.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listener<'a> {
    /// The process that began to listen.
    pub pid: u32,
    /// The address that it is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<&'a str>,
    /// The port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The path of a Unix socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<&'a str>,
}

/// The reply to `listener.list`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listeners<'a> {
    /// Those who listen.
    #[serde(borrow)]
    pub listeners: Vec<Listener<'a>>,
}
