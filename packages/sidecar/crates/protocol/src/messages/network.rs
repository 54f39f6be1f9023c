//! Messages about inbound connections and about listeners in a runtime.
//!
//! In both directions, the id of every `stream.*` message is the id of the `stream.open` that
//! opened the connection. The id stays in use until the connection is closed.

use coldframe_ids::{Pid, RuntimeId};
use serde::{Deserialize, Serialize};

use super::{Credit, Empty, Failure};
use crate::declare::{events, requests};

requests! {
    /// Messages about inbound connections and listeners.
    pub enum NetworkRequest<'a> {
        /// Connects to a listener in the runtime.
        StreamOpen(NetworkTarget<'a>) = 30 "stream.open" -> Empty,
        /// Sends bytes over a connection.
        StreamData(StreamWrite<'a>) = 31 "stream.data",
        /// Reports bytes of a connection that the reader has consumed.
        StreamCredit(StreamRead) = 32 "stream.credit",
        /// Ends the SDK's direction of a connection.
        StreamEnd(InRuntime) = 33 "stream.end",
        /// Closes a connection.
        StreamClose(StreamLeave) = 34 "stream.close",
        /// Lists the listeners that a connection to the target would reach. Without a target, lists
        /// all listeners of the runtime.
        ListenerList(NetworkTarget<'a>) = 35 "listener.list" -> Listeners<'a>,
        /// Waits until a program listens at the target.
        ListenerWait(NetworkTarget<'a>) = 36 "listener.wait" -> Listener<'a>,
        /// Cancels the `listener.wait` with this id. The reply to the wait is the error
        /// `ERR_CANCELED`.
        ListenerCancel(InRuntime) = 37 "listener.cancel",
        /// Opens a connection to a request of `handler.wanted`. The bytes of both directions are a
        /// head and a body. If the request has ended, the connection is closed.
        StreamHandle(HandlerRequest) = 110 "stream.handle" -> Empty,
    }
}

events! {
    EVENTS {
        /// A request out of a runtime waits for a function of the app. The frame's id is 0.
        HandlerWanted(HandlerRequest) = 111 "handler.wanted",
    }
    shared {
        /// Bytes that the guest has written.
        StreamData(StreamData<'a>),
        /// Bytes that the guest has consumed.
        StreamCredit(Credit),
        /// The guest's direction has ended.
        StreamEnd(Empty),
        /// The connection is closed. No message about the connection follows.
        StreamClose(StreamClosed<'a>),
    }
}

/// The target of `stream.open`, `listener.wait` and `listener.list`: a TCP port, or the path of a
/// Unix socket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkTarget<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The port of a TCP listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// A loopback address. If omitted or `localhost`, 127.0.0.1 is tried first, then ::1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<&'a str>,
    /// An absolute guest path, or an abstract name that begins with NUL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<&'a str>,
}

/// `handler.wanted` and `stream.handle`: a request out of a runtime, to which a function of the app
/// responds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandlerRequest {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The number of the request in its runtime.
    pub number: u32,
}

/// `stream.data` of the SDK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamWrite<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The bytes.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
}

/// `stream.credit` of the SDK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamRead {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The number of bytes that the reader has consumed.
    pub bytes: u64,
}

/// A body that names only the runtime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InRuntime {
    /// The runtime.
    pub runtime: RuntimeId,
}

/// `stream.close` of the SDK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamLeave {
    /// The runtime.
    pub runtime: RuntimeId,
    /// Whether the guest receives a reset instead of the end of the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<bool>,
}

/// `stream.data` of the sidecar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamData<'a> {
    /// Bytes that the guest has written.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
}

/// `stream.close` of the sidecar.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamClosed<'a> {
    /// The reason why the connection was closed. Omitted if both directions have ended.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure<'a>>,
}

/// The reply to `listener.wait`, and an entry of the reply to `listener.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listener<'a> {
    /// The process that began to listen.
    pub pid: Pid,
    /// The address that a TCP listener is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<&'a str>,
    /// The port of a TCP listener.
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
    /// The listeners.
    #[serde(borrow)]
    pub listeners: Vec<Listener<'a>>,
}
