//! Messages about the connection itself, and the messages that belong to any request.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::declare::{events, requests};
use crate::maps::Details;

requests! {
    /// Messages about the connection, and notices that name a request in their id.
    pub enum ConnectionRequest<'a> {
        /// The SDK's version. The first message of the SDK.
        Hello(SdkHello<'a>) = 1 "hello",
        /// Reports bytes of a request's output that the reader has consumed.
        Credit(Credit) = 5 "credit",
        /// Stops a request. The reply to the request still follows.
        Cancel(Empty) = 6 "cancel",
        /// Requests an empty reply, to check the connection.
        Ping(Empty) = 10 "ping" -> Empty,
        /// Returns the resources that all runtimes of the sidecar use together.
        Resources(Empty) = 17 "resources" -> SidecarResources,
    }
}

events! {
    EVENTS {
        /// The result of a request.
        Reply(Empty) = 2 "reply",
        /// The failure of a request. With id 0, the failure of the connection.
        Error(Failure<'a>) = 3 "error",
        /// Bytes that a program has written to a streamed descriptor.
        Output(Output<'a>) = 4 "output",
    }
    shared {
        /// The sidecar's version. The first message of the sidecar.
        Hello(SidecarHello<'a>),
    }
}

/// `hello` of the SDK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SdkHello<'a> {
    /// The SDK's version.
    pub version: &'a str,
}

/// `hello` of the sidecar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SidecarHello<'a> {
    /// The sidecar's version.
    pub version: &'a str,
    /// The pid of the sidecar's process. In embedded mode, the pid of the app's process.
    pub pid: u32,
    /// The content hash of the guest image.
    pub image: &'a str,
    /// Nanoseconds that loading the precompiled module took.
    pub load_ns: u64,
    /// The parts of the wall around the process. Empty in embedded mode, and if the wall is off.
    #[serde(borrow)]
    pub walls: Vec<WallPart<'a>>,
}

/// A part of the wall around the sidecar's process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WallPart<'a> {
    /// The name of the part.
    pub name: &'a str,
    /// The reason why the part is missing. Omitted if the part is enforced.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Cow<'a, str>>,
}

/// `credit`, and `stream.credit` of the sidecar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credit {
    /// The number of bytes that the reader has consumed.
    pub bytes: u64,
}

/// A body without fields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Empty {}

/// `error`, and the failure inside other messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure<'a> {
    /// The stable code.
    #[serde(borrow)]
    pub code: Cow<'a, str>,
    /// A sentence for people. Programs must not parse the sentence.
    #[serde(borrow)]
    pub message: Cow<'a, str>,
    /// The facts of the error, by name.
    pub details: Details,
}

/// `output`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output<'a> {
    /// The descriptor: 1 is stdout, 2 is stderr.
    pub fd: u8,
    /// The bytes, at most [`MAX_OUTPUT_BYTES`](crate::messages::MAX_OUTPUT_BYTES).
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
}

/// The reply to `resources`: the resources that all runtimes of the sidecar use together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SidecarResources {
    /// The number of live runtimes.
    pub runtimes: u64,
    /// The number of live guest processes, resident runners included.
    pub processes: u64,
    /// The number of clean slots that are kept ready for the next processes.
    pub warm_slots: u64,
    /// Bytes of linear memory that the live processes started with. Growth is not included.
    pub memory_bytes: u64,
    /// Bytes of output that wait for their reader.
    pub buffered_bytes: u64,
}
