//! The sink of a resident runner: answers `runner.create`, and the `runner.eval` requests of the
//! runner, whose ids are the core's evaluation ids.

use std::any::Any;

use coldframe_core::{Error, Outcome, Sink, Timings};
use coldframe_ids::{EvaluationId, Pid, RequestId, RunnerId, RuntimeId};
use coldframe_protocol::messages::RunnerCreated;

use super::replies::{Replies, Reply};
use super::sync::{Mutex, OnceLock, Process};
use crate::convert;
use crate::owner_calls::Turn;
use crate::table::{ErrorContext, IdTable};

/// The runners of a session.
pub(crate) type Runners = Mutex<IdTable<RunnerId, Runner>>;

/// A runner of the session.
pub(crate) struct Runner {
    pub runtime: RuntimeId,
    /// `None` if the runner is being created or is paused.
    pub process: Option<Process>,
}

impl Runner {
    /// Makes the entry of a runner that has no process yet.
    pub fn new(runtime: RuntimeId) -> Self {
        Self { runtime, process: None }
    }
}

/// Answers the requests of one runner.
pub(crate) struct RunnerSink {
    /// The `runner.create`. `None` if the runner was restored from a snapshot.
    created_by: Option<RequestId>,
    runner: RunnerId,
    context: ErrorContext,
    /// The pid of the runner's process. Set when the core has assigned the pid.
    pid: OnceLock<Pid>,
    replies: Replies,
    creation: Mutex<Creation>,
    /// The turn of the creation among the calls on the runtime, which ends when the program is
    /// made.
    turn: Mutex<Option<Turn>>,
}

/// The progress of a runner's creation. A worker may report that the runner is ready before the
/// creating thread has entered the process into the table. The SDK may use the runner's id as soon
/// as the SDK has the reply. The reply is therefore sent when the runner is ready and the table has
/// the process.
#[derive(Default)]
enum Creation {
    #[default]
    Begun,
    Ready(Timings),
    Entered,
}

impl RunnerSink {
    /// Makes the sink of a runner that a request creates or that a snapshot contains.
    pub fn new(created_by: Option<RequestId>, runtime: RuntimeId, runner: RunnerId, pid: Option<Pid>, replies: Replies) -> Self {
        let context = ErrorContext::runner_in(runtime, runner);
        let pid = pid.map_or_else(OnceLock::new, OnceLock::from);
        Self { created_by, runner, context, pid, replies, creation: Mutex::default(), turn: Mutex::default() }
    }

    /// Keeps the turn of the creation until the program is made.
    pub fn keep_turn(&self, turn: Option<Turn>) {
        *self.turn.lock() = turn;
    }

    /// Returns the runner's id.
    pub fn runner(&self) -> RunnerId {
        self.runner
    }

    /// Returns the request `runner.create`, which may still be in flight.
    pub fn created_by(&self) -> Option<RequestId> {
        self.created_by
    }

    /// Marks that the session's table has the runner's process. Sends the reply to `runner.create`
    /// if the runner is ready.
    pub fn entered(&self) {
        let before = std::mem::replace(&mut *self.creation.lock(), Creation::Entered);
        if let Creation::Ready(timings) = before {
            self.answer_creation(timings);
        }
    }

    fn answer_creation(&self, timings: Timings) {
        let (Some(request), Some(&pid)) = (self.created_by, self.pid.get()) else { return };
        let body = RunnerCreated { runner: self.runner, pid, timings: convert::timings(&timings) };
        self.replies.answer(request, || Reply(request).body(&body, 128));
    }
}

impl Sink for RunnerSink {
    fn started(&self, pid: Pid) {
        // A restored runner keeps the pid that it was made with.
        let _ = self.pid.set(pid);
        drop(self.turn.lock().take());
    }

    fn output(&self, evaluation: Option<EvaluationId>, fd: u8, data: Vec<u8>) {
        // No request receives output that was written between two evaluations.
        if let Some(evaluation) = evaluation {
            self.replies.output(evaluation.request(), fd, &data);
        }
    }

    fn evaluated(&self, evaluation: EvaluationId, outcome: Outcome) {
        self.replies.outcome(evaluation.request(), outcome, self.context);
    }

    fn ready(&self, timings: Timings) {
        let mut creation = self.creation.lock();
        match *creation {
            Creation::Entered => {
                drop(creation);
                self.answer_creation(timings);
            }
            Creation::Begun | Creation::Ready(_) => *creation = Creation::Ready(timings),
        }
    }

    /// Fails a `runner.create` that is still in flight. The core has reported the end of all
    /// evaluations before this call.
    fn exited(&self, outcome: Outcome) {
        let Some(request) = self.created_by else { return };
        let exit_code = outcome.exit_code;
        let error = outcome.failure.unwrap_or(Error::RunnerExited { exit_code });
        self.replies.fail(request, &error, self.context);
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
