//! What the core tells about programs, turned into messages. Called on worker threads, or on the reading thread when a program ran there.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use coldframe_core::{Error, Outcome, Sink, Timings};
use coldframe_protocol::messages::{Kind, MAX_OUTPUT_BYTES, Output, RunnerCreated, Started};
use parking_lot::Mutex;

use crate::outgoing::Outgoing;
use crate::requests::Requests;
use crate::table::Place;
use crate::wire;

/// What every sink of a connection shares.
#[derive(Clone)]
pub struct Answers {
    pub outgoing: Arc<Outgoing>,
    pub requests: Arc<Requests>,
}

impl Answers {
    /// Answers a request, unless it has been answered.
    pub fn answer(&self, id: u32, frame: impl FnOnce() -> Vec<u8>) {
        if self.requests.finish(id) {
            self.outgoing.push(frame());
        }
    }

    /// Answers a request with an error.
    pub fn fail(&self, id: u32, error: &Error, place: Place) {
        self.answer(id, || wire::error(id, &wire::failure(error, place.facts(error))));
    }

    /// What a request's program has written.
    pub fn output(&self, id: u32, fd: u8, data: &[u8]) {
        for data in data.chunks(MAX_OUTPUT_BYTES) {
            self.outgoing.push(wire::frame(Kind::Output, id, &Output { fd, data }, data.len()));
        }
    }
}

/// The sink of `process.start`.
pub struct Program {
    /// The request.
    pub id: u32,
    /// Where it runs.
    pub place: Place,
    /// Whether its number is told.
    pub live: bool,
    /// Where its answer goes.
    pub answers: Answers,
}

impl Sink for Program {
    fn started(&self, pid: u32) {
        if self.live {
            self.answers.outgoing.push(wire::frame(Kind::Started, self.id, &Started { pid }, 32));
        }
    }
    fn output(&self, _eval: u32, fd: u8, data: Vec<u8>) {
        self.answers.output(self.id, fd, &data);
    }
    fn evaluated(&self, _eval: u32, _outcome: Outcome) {}
    fn ready(&self, _timings: Timings) {}
    fn exited(&self, outcome: Outcome) {
        self.answers.answer(self.id, || wire::outcome(self.id, &outcome, self.place));
    }
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// The sink of `runner.create` and of the `runner.eval` requests for that runner, whose ids are the core's evaluation numbers.
pub struct Runner {
    /// The `runner.create` request.
    pub id: u32,
    /// Where it runs, its own number included.
    pub place: Place,
    /// The number of its process, once it has one.
    pub pid: AtomicU32,
    /// Where the answers go.
    pub answers: Answers,
    making: Mutex<Making>,
}

/// What has happened to a runner that is being made: it may be ready on a worker before the thread that made it has entered its process under its number,
/// and who is told that it is there may use it at once.
#[derive(Default)]
enum Making {
    #[default]
    Begun,
    Ready(Timings),
    Entered,
}

impl Runner {
    /// The sink of a runner that is being made by request `id`, or of a copy, for which nobody waits (0).
    pub fn new(id: u32, place: Place, pid: u32, answers: Answers) -> Self {
        Self { id, place, pid: AtomicU32::new(pid), answers, making: Mutex::default() }
    }

    /// Its process can be found by its number from now on: whoever asked for it is told as soon as it is ready.
    pub fn entered(&self) {
        let before = std::mem::replace(&mut *self.making.lock(), Making::Entered);
        if let Making::Ready(timings) = before {
            self.tell(timings);
        }
    }

    fn tell(&self, timings: Timings) {
        let pid = self.pid.load(Ordering::Relaxed);
        let body = RunnerCreated { runner: self.place.runner, pid, timings: wire::timings(&timings) };
        self.answers.answer(self.id, || wire::frame(Kind::Reply, self.id, &body, 128));
    }
}

impl Sink for Runner {
    fn started(&self, pid: u32) {
        self.pid.store(pid, Ordering::Relaxed);
    }

    fn output(&self, eval: u32, fd: u8, data: Vec<u8>) {
        // 0: written between two evaluations, which nobody has asked to see.
        if eval != 0 {
            self.answers.output(eval, fd, &data);
        }
    }

    fn evaluated(&self, eval: u32, outcome: Outcome) {
        self.answers.answer(eval, || wire::outcome(eval, &outcome, self.place));
    }

    fn ready(&self, timings: Timings) {
        let mut making = self.making.lock();
        match *making {
            Making::Entered => {
                drop(making);
                self.tell(timings);
            }
            Making::Begun | Making::Ready(_) => *making = Making::Ready(timings),
        }
    }

    /// Evaluations that were under way or waited have been told before.
    fn exited(&self, outcome: Outcome) {
        let exit_code = outcome.exit_code;
        let error = outcome.failure.unwrap_or(Error::RunnerExited { exit_code });
        self.answers.fail(self.id, &error, self.place);
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Channel;
    use std::os::fd::IntoRawFd;
    use std::os::unix::net::UnixStream;

    /// A runner that request 7 asks for; the other end must live.
    fn runner() -> (Runner, Answers, UnixStream) {
        let (mine, other) = UnixStream::pair().expect("a pair");
        let outgoing = Outgoing::new(Channel::inherited(mine.into_raw_fd()).expect("a channel")).expect("an event");
        let answers = Answers { outgoing: Arc::new(outgoing), requests: Arc::default() };
        assert!(answers.requests.begin(7, 0).expect("room"));
        (Runner::new(7, Place { runtime: 1, runner: 1 }, 0, answers.clone()), answers, other)
    }

    #[test]
    fn a_runner_is_told_of_when_it_is_ready_and_can_be_found() {
        let (ready_first, answers, _other) = runner();
        ready_first.ready(Timings::default());
        assert!(!answers.requests.is_empty(), "nobody would find it yet");
        ready_first.entered();
        assert!(answers.requests.is_empty());

        let (entered_first, answers, _other) = runner();
        entered_first.entered();
        assert!(!answers.requests.is_empty(), "it is not ready yet");
        entered_first.ready(Timings::default());
        assert!(answers.requests.is_empty());
    }
}
