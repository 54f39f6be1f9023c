//! Messages of a session, and the outlet that sends them to the embedder.

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
        /// The request that the message belongs to. `None` for a message that belongs to no
        /// request.
        request: Option<RequestId>,
        /// Whether the message ends its request.
        is_reply: bool,
        /// The frame, its length included.
        bytes: Vec<u8>,
    },
    /// The reply of a request that ran a program. A shell may pass the outcome to the embedder
    /// without a frame.
    Outcome {
        /// The request that ran the program.
        request: RequestId,
        /// The outcome of the program.
        outcome: Box<Outcome>,
        /// The context of the outcome's failure.
        context: ErrorContext,
    },
}

impl Message {
    /// Encodes a reply. `hint` is the approximate number of bytes of the body.
    pub(crate) fn reply<T: Serialize>(request: RequestId, body: &T, hint: usize) -> Self {
        let bytes = convert::frame(Kind::Reply, request.get(), body, hint);
        Self::Frame { request: Some(request), is_reply: true, bytes }
    }

    /// Encodes the failure of a request.
    pub(crate) fn failed(request: RequestId, failure: &coldframe_protocol::messages::Failure<'_>) -> Self {
        let bytes = convert::error_frame(request.get(), failure);
        Self::Frame { request: Some(request), is_reply: true, bytes }
    }

    /// Encodes an event that belongs to a request and does not end the request.
    pub(crate) fn of_request<T: Serialize>(kind: Kind, request: RequestId, body: &T, hint: usize) -> Self {
        let bytes = convert::frame(kind, request.get(), body, hint);
        Self::Frame { request: Some(request), is_reply: false, bytes }
    }

    /// Encodes an event that belongs to no request. `number` is the frame's id.
    pub(crate) fn event<T: Serialize>(kind: Kind, number: u32, body: &T, hint: usize) -> Self {
        let bytes = convert::frame(kind, number, body, hint);
        Self::Frame { request: None, is_reply: false, bytes }
    }

    /// Encodes an event like [`Message::event`]. Returns `None` if the body is too large for a
    /// frame.
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

    /// Returns whether the message ends its request.
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

/// Sends messages to the embedder. Any thread may call an outlet.
pub trait Outlet: Send + Sync {
    /// Sends or queues a message. Never blocks.
    fn send(&self, message: Message);

    /// Makes the session's thread call [`Session::run_tasks`](crate::Session::run_tasks) soon.
    fn wake(&self);

    /// Returns the number of bytes that wait to be sent.
    fn queued_bytes(&self) -> u64 {
        0
    }
}
