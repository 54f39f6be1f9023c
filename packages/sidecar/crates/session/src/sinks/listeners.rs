//! The listeners of a program: requests that receive the program's output and its end, besides the
//! request that started the program.
//!
//! A listener never makes the program wait. Each listener has a window of its own. Output beyond
//! the window is lost for this listener, and the listener receives the number of lost bytes before
//! the next output. A listener receives no output from before its attachment. Next: `ends.rs`.

use std::sync::Arc;

use coldframe_core::{Error, Outcome, Streams};
use coldframe_ids::{Pid, RequestId};
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{Fact, Lost, MAX_OUTPUT_BYTES};

use super::ends::{Ends, ProgramEnd};
use super::replies::Replies;
use super::sync::{Mutex, OnceLock};
use crate::convert;
use crate::message::Message;
use crate::table::ErrorContext;

/// The largest number of listeners of a program.
const MAX_LISTENERS: usize = 64;
/// The largest number of bytes that a listener has not returned credit for
/// (`docs/internals/protocol.md`).
const WINDOW: u64 = 256 << 10;

/// The listeners of one program, and the record of its end.
pub(crate) struct Listeners {
    context: ErrorContext,
    replies: Replies,
    ends: Arc<Ends>,
    /// The program's pid. Set when the core has assigned the pid.
    pid: OnceLock<Pid>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    all: Vec<Listener>,
    end: Option<ProgramEnd>,
}

struct Listener {
    request: RequestId,
    streams: Streams,
    /// The bytes that were sent without credit.
    unread: u64,
    /// The bytes that were lost since the last output.
    lost: u64,
}

impl Listener {
    fn has(&self, fd: u8) -> bool {
        is_streamed(self.streams, fd)
    }
}

/// Returns whether `streams` has the descriptor 1 or 2.
pub(crate) fn is_streamed(streams: Streams, fd: u8) -> bool {
    if fd == 1 { streams.stdout } else { streams.stderr }
}

impl Listeners {
    /// Makes the listeners of a program. The end of the program is added to `ends`.
    pub fn new(context: ErrorContext, replies: Replies, ends: Arc<Ends>, pid: Option<Pid>) -> Arc<Self> {
        let pid = pid.map_or_else(OnceLock::new, OnceLock::from);
        Arc::new(Self { context, replies, ends, pid, state: Mutex::default() })
    }

    /// Sets the pid of a program that the core has made.
    pub fn set_pid(&self, pid: Pid) {
        // A program has one pid. A second call would be a defect and is ignored.
        let _ = self.pid.set(pid);
    }

    /// Returns an error if the program has as many listeners as possible.
    pub fn check_room(&self) -> Result<(), Error> {
        match self.state.lock().all.len() < MAX_LISTENERS {
            true => Ok(()),
            false => Err(Error::ResourceExhausted { resource: "listeners of a process", limit: MAX_LISTENERS as u64 }),
        }
    }

    /// Adds a request. If the program has ended, answers the request.
    pub fn add(&self, request: RequestId, streams: Streams) {
        let mut state = self.state.lock();
        match state.end.clone() {
            None => state.all.push(Listener { request, streams, unread: 0, lost: 0 }),
            Some(end) => {
                drop(state);
                self.replies.outcome(request, end.outcome(), self.context);
            }
        }
    }

    /// Removes a request, and answers the request with `ERR_DETACHED`.
    pub fn remove(&self, request: RequestId) {
        let mut state = self.state.lock();
        let Some(at) = state.all.iter().position(|listener| listener.request == request) else { return };
        state.all.swap_remove(at);
        drop(state);
        let pid = self.pid.get().map_or(0, |pid| pid.get());
        let message = format!("the handle was detached from the process {pid}");
        let failure = convert::own_failure("ERR_DETACHED", message, vec![("pid", Fact::Number(pid.into()))]);
        self.replies.answer(request, || Message::failed(request, &failure));
    }

    /// Returns credit for output that a listener has consumed.
    pub fn credit(&self, request: RequestId, bytes: u64) {
        let mut state = self.state.lock();
        if let Some(listener) = state.all.iter_mut().find(|listener| listener.request == request) {
            listener.unread = listener.unread.saturating_sub(bytes);
        }
    }

    /// Returns the descriptors that at least one listener receives.
    pub fn streams(&self) -> Streams {
        let state = self.state.lock();
        let any = |fd| state.all.iter().any(|listener| listener.has(fd));
        Streams { stdout: any(1), stderr: any(2) }
    }

    /// Sends output to the listeners. The lock is held, so that a listener receives no output after
    /// the end.
    pub fn output(&self, fd: u8, data: &[u8]) {
        let mut state = self.state.lock();
        for listener in state.all.iter_mut().filter(|listener| listener.has(fd)) {
            for chunk in data.chunks(MAX_OUTPUT_BYTES) {
                if listener.unread + chunk.len() as u64 > WINDOW {
                    listener.lost += chunk.len() as u64;
                    continue;
                }
                self.report_loss(listener);
                listener.unread += chunk.len() as u64;
                self.replies.output(listener.request, fd, chunk);
            }
        }
    }

    fn report_loss(&self, listener: &mut Listener) {
        let bytes = std::mem::take(&mut listener.lost);
        if bytes > 0 {
            self.replies.outlet.send(Message::of_request(Kind::Lost, listener.request, &Lost { bytes }, 32));
        }
    }

    /// Records the end of the program, and answers the listeners.
    pub fn ended(&self, outcome: &Outcome) {
        let end = ProgramEnd::of(outcome);
        if let Some(pid) = self.pid.get() {
            self.ends.add(*pid, end.clone());
        }
        let mut state = self.state.lock();
        let mut all = std::mem::take(&mut state.all);
        state.end = Some(end.clone());
        drop(state);
        for listener in &mut all {
            self.report_loss(listener);
            self.replies.outcome(listener.request, end.outcome(), self.context);
        }
    }
}
