//! Answers requests from any thread. Each request is answered exactly once. Next: `requests.rs`.

use std::sync::Arc;

use coldframe_core::{Error, Outcome};
use coldframe_ids::RequestId;
use coldframe_panics::outside;
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{Empty, MAX_OUTPUT_BYTES, Output};
use serde::Serialize;

use super::requests::Requests;
use crate::convert;
use crate::message::{Message, Outlet};
use crate::table::ErrorContext;

/// The outlet and the requests in flight of a session. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Replies {
    pub outlet: Arc<dyn Outlet>,
    pub requests: Arc<Requests>,
}

impl Replies {
    /// Answers a request, unless it has been answered. A panic aborts the process, because the
    /// request would stay unanswered.
    pub fn answer(&self, id: RequestId, message: impl FnOnce() -> Message) {
        outside(|| {
            if self.requests.finish(id) {
                self.outlet.send(message());
            }
        });
    }

    /// Answers a request with the outcome of its program.
    pub fn outcome(&self, id: RequestId, outcome: Outcome, context: ErrorContext) {
        self.answer(id, || Message::Outcome { request: id, outcome: Box::new(outcome), context });
    }

    /// Answers a request with an error.
    pub fn fail(&self, id: RequestId, error: &Error, context: ErrorContext) {
        self.answer(id, || Message::failed(id, &convert::failure(error, context)));
    }

    /// Answers a request with a message or an error.
    pub fn settle(&self, id: RequestId, result: Result<Message, Error>) {
        match result {
            Ok(message) => self.answer(id, || message),
            Err(error) => self.fail(id, &error, ErrorContext::NONE),
        }
    }

    /// Sends output of a request's program, in messages of at most `MAX_OUTPUT_BYTES` bytes.
    pub fn output(&self, id: RequestId, fd: u8, data: &[u8]) {
        for data in data.chunks(MAX_OUTPUT_BYTES) {
            self.outlet.send(Message::of_request(Kind::Output, id, &Output { fd, data }, data.len()));
        }
    }
}

/// Makes the reply of one request.
#[derive(Clone, Copy)]
pub(crate) struct Reply(pub RequestId);

impl Reply {
    /// Makes a reply with a body. `hint` is the approximate number of bytes of the body.
    pub fn body<T: Serialize>(self, body: &T, hint: usize) -> Message {
        Message::reply(self.0, body, hint)
    }

    /// Makes a reply without fields.
    pub fn done(self) -> Message {
        self.body(&Empty {}, 32)
    }
}
