//! The sink of a restored program without a request. `process.attach` adds a request.

use std::any::Any;
use std::sync::Arc;

use coldframe_core::{Outcome, Sink, Timings};
use coldframe_ids::{EvaluationId, RequestId};
use parking_lot::Mutex;

use crate::replies::Replies;
use crate::table::ErrorContext;

/// Keeps the outcome of an ended program until a request attaches. Cheap to clone.
#[derive(Clone)]
pub(crate) struct OrphanSink {
    context: ErrorContext,
    replies: Replies,
    attachment: Arc<Mutex<Attachment>>,
}

enum Attachment {
    None,
    Request(RequestId),
    /// A program that ended before a request attached, with its outcome.
    Ended(Box<Outcome>),
}

impl OrphanSink {
    /// Makes a sink without a request.
    pub fn new(context: ErrorContext, replies: Replies) -> Self {
        Self { context, replies, attachment: Arc::new(Mutex::new(Attachment::None)) }
    }

    /// Attaches a request, unless another request is attached. If the program has ended, the
    /// request is answered at once.
    pub fn attach(&self, request: RequestId) {
        let mut attachment = self.attachment.lock();
        match std::mem::replace(&mut *attachment, Attachment::Request(request)) {
            Attachment::None => {}
            Attachment::Request(other) => *attachment = Attachment::Request(other),
            Attachment::Ended(outcome) => {
                drop(attachment);
                self.replies.outcome(request, *outcome, self.context);
            }
        }
    }

    /// Returns the attached request.
    pub fn request(&self) -> Option<RequestId> {
        if let Attachment::Request(request) = *self.attachment.lock() { Some(request) } else { None }
    }
}

impl Sink for OrphanSink {
    fn output(&self, _evaluation: Option<EvaluationId>, fd: u8, data: Vec<u8>) {
        if let Some(request) = self.request() {
            self.replies.output(request, fd, &data);
        }
    }

    fn evaluated(&self, _evaluation: EvaluationId, _outcome: Outcome) {}

    fn ready(&self, _timings: Timings) {}

    fn exited(&self, outcome: Outcome) {
        let mut attachment = self.attachment.lock();
        match *attachment {
            Attachment::Request(request) => {
                drop(attachment);
                self.replies.outcome(request, outcome, self.context);
            }
            _ => *attachment = Attachment::Ended(Box::new(outcome)),
        }
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
