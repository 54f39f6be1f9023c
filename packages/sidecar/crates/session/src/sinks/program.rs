//! The sink of a program that `process.start` started: sends `started`, the output and the reply.

use std::any::Any;
use std::sync::Arc;

use coldframe_core::{Outcome, Sink, Streams, Timings};
use coldframe_ids::{EvaluationId, Pid, RequestId};
use coldframe_protocol::Kind;
use coldframe_protocol::messages::Started;

use super::listeners::{Listeners, is_streamed};
use super::replies::Replies;
use super::sync::Mutex;
use crate::message::Message;
use crate::owner_calls::Turn;
use crate::table::ErrorContext;

/// Answers a `process.start`.
pub(crate) struct ProgramSink {
    pub request: RequestId,
    pub context: ErrorContext,
    /// Whether `started` is sent.
    pub live: bool,
    /// The descriptors whose output the request receives.
    pub streams: Streams,
    /// The listeners of the program.
    pub listeners: Arc<Listeners>,
    pub replies: Replies,
    /// The turn of the start among the calls on the runtime, which ends when the program is made.
    pub turn: Mutex<Option<Turn>>,
}

impl Sink for ProgramSink {
    fn started(&self, pid: Pid) {
        drop(self.turn.lock().take());
        self.listeners.set_pid(pid);
        if self.live {
            let body = Started { pid, earlier: None, listener: false };
            self.replies.outlet.send(Message::of_request(Kind::Started, self.request, &body, 32));
        }
    }

    fn output(&self, _evaluation: Option<EvaluationId>, fd: u8, data: Vec<u8>) {
        if is_streamed(self.streams, fd) {
            self.replies.output(self.request, fd, &data);
        }
        self.listeners.output(fd, &data);
    }

    fn evaluated(&self, _evaluation: EvaluationId, _outcome: Outcome) {}

    fn ready(&self, _timings: Timings) {}

    fn exited(&self, outcome: Outcome) {
        self.listeners.ended(&outcome);
        self.replies.outcome(self.request, outcome, self.context);
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
