//! Messages of a session, and the outlet that takes them to the embedder.

use coldframe_core::Outcome;
use coldframe_ids::RequestId;
use coldframe_protocol::{Kind, encode};
use serde::Serialize;

use crate::convert;
use crate::table::ErrorContext;

/// A message to the embedder.
pub enum Message {
    /// An encoded message.
    Frame {
        /// The request that the message belongs to. `None`: the connection, or a host call.
        request: Option<RequestId>,
        /// Whether the message ends its request.
        is_reply: bool,
        /// The frame, its length included.
        bytes: Vec<u8>,
    },
    /// The reply of a request that ran a program. A shell may hand it over without a frame.
    Outcome {
        /// The request.
        request: RequestId,
        /// How the program ended.
        outcome: Box<Outcome>,
        /// The context of the outcome's failure.
        context: ErrorContext,
    },
}

impl Message {
    /// Encodes a reply. `hint`: about how many bytes the body has.
    pub(crate) fn reply<T: Serialize>(request: RequestId, body: &T, hint: usize) -> Self {
        let bytes = convert::frame(Kind::Reply, request.get(), body, hint);
        Self::Frame { request: Some(request), is_reply: true, bytes }
    }

    /// Encodes the failure of a request.
    pub(crate) fn failed(request: RequestId, failure: &coldframe_protocol::messages::Failure<'_>) -> Self {
        let bytes = convert::error_frame(request.get(), failure);
        Self::Frame { request: Some(request), is_reply: true, bytes }
    }

    /// Encodes an event that belongs to a request and does not end it.
    pub(crate) fn of_request<T: Serialize>(kind: Kind, request: RequestId, body: &T, hint: usize) -> Self {
        let bytes = convert::frame(kind, request.get(), body, hint);
        Self::Frame { request: Some(request), is_reply: false, bytes }
    }

    /// Encodes an event that belongs to no request. `number`: the frame's id.
    pub(crate) fn event<T: Serialize>(kind: Kind, number: u32, body: &T, hint: usize) -> Self {
        let bytes = convert::frame(kind, number, body, hint);
        Self::Frame { request: None, is_reply: false, bytes }
    }

    /// As [`Message::event`], for a body that may be too large. `None`: the body does not fit.
    pub(crate) fn event_that_fits<T: Serialize>(kind: Kind, number: u32, body: &T, hint: usize) -> Option<Self> {
        let bytes = encode(kind, number, body, hint).ok()?;
        Some(Self::Frame { request: None, is_reply: false, bytes })
    }

    /// Returns the request that the message belongs to.
    pub fn request(&self) -> Option<RequestId> {
        match self {
            Self::Frame { request, .. } => *request,
            Self::Outcome { request, .. } => Some(*request),
        }
    }

    /// Whether the message ends its request.
    pub fn is_reply(&self) -> bool {
        match self {
            Self::Frame { is_reply, .. } => *is_reply,
            Self::Outcome { .. } => true,
        }
    }

    /// Returns the message as a frame, its length included.
    pub fn into_frame(self) -> Vec<u8> {
        match self {
            Self::Frame { bytes, .. } => bytes,
            Self::Outcome { request, outcome, context } => convert::outcome(request, &outcome, context),
        }
    }
}

/// Takes messages to the embedder. Any thread may call it.
pub trait Outlet: Send + Sync {
    /// Sends or queues a message. Never blocks.
    fn send(&self, message: Message);

    /// Makes the session's thread call [`Session::run_tasks`](crate::Session::run_tasks) soon.
    fn wake(&self);

    /// Returns the bytes that wait to be sent.
    fn queued_bytes(&self) -> u64 {
        0
    }
}
