//! The sink of a restored program without a request. `process.attach` adds a request.

use std::any::Any;
use std::sync::Arc;

use coldframe_core::{Outcome, Sink, Streams, Timings};
use coldframe_ids::{EvaluationId, RequestId};

use super::listeners::{Listeners, is_streamed};
use super::replies::Replies;
use super::sync::Mutex;
use crate::table::ErrorContext;

/// Keeps the outcome of an ended program until a request attaches. Cheap to clone.
#[derive(Clone)]
pub(crate) struct OrphanSink {
    context: ErrorContext,
    replies: Replies,
    listeners: Arc<Listeners>,
    attachment: Arc<Mutex<Attachment>>,
}

enum Attachment {
    None,
    /// A request whose output the core does not stream, or did not stream until now.
    Attaching(Attaching),
    Request(RequestId, Streams),
    /// A program that ended before a request attached, with its outcome.
    Ended(Box<Outcome>),
}

/// A request that attaches to a program. If the program ends first, the core streams nothing. The
/// sink then sends the captured output to the request's reader.
#[derive(Clone, Copy)]
struct Attaching {
    request: RequestId,
    streams: Streams,
    /// The numbers of bytes of descriptors 1 and 2 that the core has streamed.
    sent: [usize; 2],
}

impl OrphanSink {
    /// Makes a sink without a request.
    pub fn new(context: ErrorContext, replies: Replies, listeners: Arc<Listeners>) -> Self {
        Self { context, replies, listeners, attachment: Arc::new(Mutex::new(Attachment::None)) }
    }

    /// Attaches a request, unless another request is attached. `stream` makes the core stream the
    /// output, beginning with the captured output, and returns whether the core streams. If the
    /// program has ended, the request is answered at once.
    pub fn attach(&self, request: RequestId, streams: Streams, stream: impl FnOnce() -> bool) {
        let attaching = Attaching { request, streams, sent: [0; 2] };
        let mut attachment = self.attachment.lock();
        match std::mem::replace(&mut *attachment, Attachment::Attaching(attaching)) {
            Attachment::None => {}
            Attachment::Ended(outcome) => {
                *attachment = Attachment::Request(request, streams);
                drop(attachment);
                return self.end(attaching, *outcome);
            }
            other => {
                *attachment = other;
                return;
            }
        }
        drop(attachment);
        if stream() {
            *self.attachment.lock() = Attachment::Request(request, streams);
        }
    }

    /// Returns the listeners of the program.
    pub fn listeners(&self) -> &Arc<Listeners> {
        &self.listeners
    }

    /// Returns the attached request.
    pub fn request(&self) -> Option<RequestId> {
        match *self.attachment.lock() {
            Attachment::Attaching(Attaching { request, .. }) | Attachment::Request(request, _) => Some(request),
            Attachment::None | Attachment::Ended(_) => None,
        }
    }

    /// Sends the captured output that the core has not streamed, and the reply.
    fn end(&self, attaching: Attaching, outcome: Outcome) {
        let Attaching { request, streams, sent: [stdout, stderr] } = attaching;
        let captured = [(1, streams.stdout, &outcome.stdout, stdout), (2, streams.stderr, &outcome.stderr, stderr)];
        for (fd, is_streamed, captured, sent) in captured {
            if let Some(unsent) = captured.get(sent..).filter(|_| is_streamed) {
                self.replies.output(request, fd, unsent);
            }
        }
        self.replies.outcome(request, outcome, self.context);
    }
}

impl Sink for OrphanSink {
    fn output(&self, _evaluation: Option<EvaluationId>, fd: u8, data: Vec<u8>) {
        let mut attachment = self.attachment.lock();
        let request = match &mut *attachment {
            Attachment::Attaching(Attaching { request, sent, .. }) => {
                sent[usize::from(fd == 2)] += data.len();
                *request
            }
            Attachment::Request(request, streams) if is_streamed(*streams, fd) => *request,
            Attachment::Request(..) | Attachment::None | Attachment::Ended(_) => {
                drop(attachment);
                return self.listeners.output(fd, &data);
            }
        };
        drop(attachment);
        self.replies.output(request, fd, &data);
        self.listeners.output(fd, &data);
    }

    fn evaluated(&self, _evaluation: EvaluationId, _outcome: Outcome) {}

    fn ready(&self, _timings: Timings) {}

    fn exited(&self, outcome: Outcome) {
        self.listeners.ended(&outcome);
        let mut attachment = self.attachment.lock();
        match *attachment {
            Attachment::Attaching(attaching) => {
                drop(attachment);
                self.end(attaching, outcome);
            }
            Attachment::Request(request, _) => {
                drop(attachment);
                self.replies.outcome(request, outcome, self.context);
            }
            Attachment::None | Attachment::Ended(_) => *attachment = Attachment::Ended(Box::new(outcome)),
        }
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
