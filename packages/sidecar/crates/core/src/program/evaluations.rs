//! The evaluations of a resident program: one at a time, in the order of their requests.
//!
//! An evaluation that exceeds its timeout is interrupted: the guest unwinds the snippet and keeps
//! running. If the guest does not reach a poll in time, the program ends. The timeout of a request
//! includes the time in the queue, because the embedder expects a reply within the timeout. Next:
//! `run.rs`.

use super::deadline::Deadline;
use super::{INTERRUPT_GRACE, Program, nanos};
use crate::options::{EvaluationSettings, Streams};
use crate::outcome::{Outcome, Sink, Timings};
use crate::sched::Alarm;
use coldframe_error::Error;
use coldframe_ids::EvaluationId;
use coldframe_sys as sys;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::Duration;

/// A request to evaluate a snippet.
pub(crate) struct Request {
    pub(crate) id: EvaluationId,
    pub(crate) code: String,
    pub(crate) streams: Streams,
    pub(crate) settings: EvaluationSettings,
}

/// An evaluation that waits for its turn.
pub(super) struct Queued {
    pub(super) request: Request,
    /// The request's deadline. Without a deadline, the runtime's limit counts from the start of the
    /// evaluation.
    pub(super) deadline: Option<Deadline>,
    alarm: Option<Alarm>,
}

/// The running evaluation.
pub(crate) struct Current {
    id: EvaluationId,
    began: u64,
    /// Whether the request belongs to the original program. If true, this program was restored
    /// from a snapshot and does not report the outcome.
    is_detached: bool,
    deadline: Option<Deadline>,
    /// The reason why the evaluation must end.
    failure: Option<Error>,
    alarms: Vec<Alarm>,
}

/// The evaluations of a program.
#[derive(Default)]
pub(crate) struct Evaluations {
    queue: VecDeque<Queued>,
    current: Option<Current>,
}

/// The running and the queued evaluations of a program that ends.
pub(crate) struct Unfinished {
    current: Option<Current>,
    queue: VecDeque<Queued>,
}

impl Evaluations {
    /// Returns the id of the running evaluation.
    pub(crate) fn current_id(&self) -> Option<EvaluationId> {
        self.current.as_ref().map(|current| current.id)
    }

    /// Returns the id of the running evaluation, unless the evaluation is detached.
    pub(crate) fn attached_id(&self) -> Option<EvaluationId> {
        self.current.as_ref().filter(|current| !current.is_detached).map(|current| current.id)
    }

    /// Returns the id and the deadline of the running evaluation.
    pub(super) fn current(&self) -> Option<(EvaluationId, Option<Deadline>)> {
        self.current.as_ref().map(|current| (current.id, current.deadline))
    }

    pub(super) fn set_current(&mut self, current: Current) {
        self.current = Some(current);
    }

    /// Returns the waiting evaluations.
    pub(super) fn queue(&self) -> impl Iterator<Item = &Queued> {
        self.queue.iter()
    }

    pub(super) fn append(&mut self, queued: impl Iterator<Item = Queued>) {
        self.queue.extend(queued);
    }

    /// Moves the deadlines of the running and the waiting evaluations by `ns`.
    pub(super) fn move_deadlines(&mut self, ns: u64) {
        let current = self.current.as_mut().and_then(|current| current.deadline.as_mut());
        let queued = self.queue.iter_mut().filter_map(|queued| queued.deadline.as_mut());
        for deadline in current.into_iter().chain(queued) {
            deadline.at = deadline.at.saturating_add(ns);
        }
    }

    /// Returns whether an evaluation is queued and no evaluation is running.
    pub(crate) fn can_start(&self) -> bool {
        self.current.is_none() && !self.queue.is_empty()
    }

    /// Removes all evaluations, because the program ends.
    pub(crate) fn close(&mut self) -> Unfinished {
        Unfinished { current: self.current.take(), queue: std::mem::take(&mut self.queue) }
    }
}

impl Program {
    /// Queues a snippet. Returns the waker of a program without work. The caller must wake the
    /// program, because the waker also keeps the program's task alive. Fails if the program has
    /// ended or was replaced.
    pub(crate) fn evaluate(&self, request: Request, timeout: Option<Duration>) -> Result<Option<Waker>, Error> {
        let mut control = self.control.lock();
        if control.sink_taken {
            // A rollback has replaced this program, but the embedder still has this program's
            // handle.
            return Err(Error::RolledBack);
        }
        if let Some(exit_code) = control.exited {
            return Err(control.why.clone().unwrap_or(Error::RunnerExited { exit_code }));
        }
        let queued = self.queued(request, timeout.map(Deadline::after));
        control.evaluations.queue.push_back(queued);
        Ok(control.waiting.take())
    }

    /// Starts the next evaluation, unless an evaluation is running. Returns the evaluation's
    /// request.
    pub(super) fn next_evaluation(&self) -> Option<Request> {
        let mut control = self.control.lock();
        if control.evaluations.current.is_some() {
            return None;
        }
        let Queued { request, deadline, alarm } = control.evaluations.queue.pop_front()?;
        let began = sys::monotonic_ns();
        control.evaluations.current = Some(match deadline {
            Some(_) => {
                Current { id: request.id, began, is_detached: false, deadline, failure: None, alarms: Vec::from_iter(alarm) }
            }
            None => self.evaluation(request.id, began, self.limits().wall().map(Deadline::after), false),
        });
        // The lock is held, because `take_sink` ends the evaluation and its output together.
        self.output.lock().begin_evaluation(request.id, request.streams);
        // The guest continues after an interrupt from before the evaluation.
        self.must_interrupt.store(false, Ordering::Release);
        drop(control);
        self.begin_cpu();
        Some(request)
    }

    /// Makes the state of the running evaluation and sets the alarm of its deadline.
    pub(super) fn evaluation(&self, id: EvaluationId, began: u64, deadline: Option<Deadline>, is_detached: bool) -> Current {
        let alarm = deadline.map(|Deadline { at, timeout }| {
            self.alarm(at, move |program| {
                program.interrupt(id, &Deadline::error(timeout));
            })
        });
        Current { id, began, is_detached, deadline, failure: None, alarms: alarm.into_iter().collect() }
    }

    /// Makes the state of a waiting evaluation and sets the alarm of its deadline.
    pub(super) fn queued(&self, request: Request, deadline: Option<Deadline>) -> Queued {
        let id = request.id;
        let alarm = deadline
            .map(|Deadline { at, timeout }| self.alarm(at, move |program| program.end_evaluation(id, &Deadline::error(timeout))));
        Queued { request, deadline, alarm }
    }

    /// Ends the evaluation `id`, because the embedder has cancelled the request.
    pub(crate) fn cancel_evaluation(&self, id: EvaluationId) {
        self.end_evaluation(id, &Error::Canceled);
    }

    /// Ends the evaluation `id`. A queued evaluation ends at once, a running evaluation at the
    /// guest's next poll.
    fn end_evaluation(&self, id: EvaluationId, reason: &Error) {
        let _held = self.sink.hold();
        let mut control = self.control.lock();
        let at = control.evaluations.queue.iter().position(|queued| queued.request.id == id);
        if let Some(queued) = at.and_then(|at| control.evaluations.queue.remove(at)) {
            drop(control);
            self.cancel_alarms(queued.alarm);
            self.sink.send(|sink| sink.evaluated(id, Outcome::never_ran(reason.clone())));
            return;
        }
        // The running evaluation may be detached and have an equal id by chance.
        let is_meant = control.evaluations.attached_id() == Some(id);
        drop(control);
        if is_meant {
            self.interrupt(id, reason);
        }
    }

    fn cancel_alarms(&self, alarms: impl IntoIterator<Item = Alarm>) {
        alarms.into_iter().for_each(|alarm| self.scheduler.timers().cancel(alarm));
    }

    /// Ends the running evaluation because the embedder has interrupted the runner. Without an
    /// evaluation, ends the callback that the guest runs.
    pub(crate) fn interrupt_work(&self) {
        if self.interrupt_current(&Error::Interrupted) {
            return;
        }
        let mut control = self.control.lock();
        if control.evaluations.current.is_some() || control.exited.is_some() {
            return;
        }
        self.must_interrupt.store(true, Ordering::Release);
        let waiting = control.waiting.take();
        drop(control);
        self.wake(waiting);
    }

    /// Forgets an interrupt without an evaluation, because the guest has ended its turn.
    pub(super) fn forget_interrupt(&self) {
        if self.is_interrupted() {
            let control = self.control.lock();
            if control.evaluations.current.is_none() {
                self.must_interrupt.store(false, Ordering::Release);
            }
        }
    }

    /// Interrupts the running evaluation. Returns whether an evaluation was running.
    pub(super) fn interrupt_current(&self, reason: &Error) -> bool {
        let id = self.control.lock().evaluations.current_id();
        id.is_some_and(|id| self.interrupt(id, reason))
    }

    fn interrupt(&self, id: EvaluationId, reason: &Error) -> bool {
        let mut control = self.control.lock();
        let Some(current) = control.evaluations.current.as_mut().filter(|current| current.id == id) else {
            return false;
        };
        if current.failure.is_none() {
            current.failure = Some(reason.clone());
            let this = self.this.clone();
            let last_resort = reason.clone();
            let deadline = sys::monotonic_ns() + nanos(INTERRUPT_GRACE);
            current.alarms.push(self.scheduler.timers().set(deadline, move || {
                if let Some(program) = this.upgrade() {
                    program.end(last_resort);
                }
            }));
            self.must_interrupt.store(true, Ordering::Release);
        }
        let waiting = control.waiting.take();
        drop(control);
        self.wake(waiting);
        true
    }

    /// Returns whether the running evaluation must end although no guest code runs.
    pub(super) fn is_interrupted(&self) -> bool {
        self.must_interrupt.load(Ordering::Acquire)
    }

    /// Reports the end of the running evaluation.
    pub(super) fn finish_evaluation(&self, exit_code: i32, value: Option<String>, failure: Option<Error>) {
        // Without the guard, a thread could take the sink after the evaluation's removal and before
        // its report. The end of the evaluation would never be reported.
        let held = self.sink.hold();
        let Some(current) = self.control.lock().evaluations.current.take() else { return };
        self.must_interrupt.store(false, Ordering::Release);
        self.cancel_alarms(current.alarms);
        let failure = current.failure.or(failure);
        let exit_code = failure.as_ref().map_or(exit_code, Error::exit_code);
        let timings = Timings { guest_run_ns: sys::monotonic_ns() - current.began, ..Timings::default() };
        // The program continues, so no signal has ended the program.
        let outcome = self.outcome((exit_code, None), value, failure, timings);
        if !current.is_detached {
            self.sink.send(|sink| sink.evaluated(current.id, outcome));
        }
        drop(held);
        log::debug!(target: "program", "{} evaluated {}: {exit_code}", self.in_log(), current.id);
    }

    /// Takes the sink for another program. This program then sends no more reports. With a reason,
    /// the evaluations first end for that reason. Returns `None` if the program has ended or its
    /// sink was taken before.
    pub(crate) fn take_sink(&self, reason: Option<&Error>) -> Option<Arc<dyn Sink>> {
        let unfinished = {
            let mut control = self.control.lock();
            if control.exited.is_some() || std::mem::replace(&mut control.sink_taken, true) {
                return None;
            }
            reason.map(|reason| {
                let unfinished = control.evaluations.close();
                let waiting = unfinished.current.as_ref().map(|_| self.output.abandon());
                (unfinished, waiting, reason)
            })
        };
        if let Some((Unfinished { current, queue }, waiting, reason)) = unfinished {
            waiting.into_iter().flatten().for_each(Waker::wake);
            let attached = current.iter().filter(|current| !current.is_detached).map(|current| current.id);
            let ids: Vec<EvaluationId> = attached.chain(queue.iter().map(|queued| queued.request.id)).collect();
            self.cancel_alarms(current.into_iter().flat_map(|current| current.alarms));
            self.cancel_alarms(queue.into_iter().filter_map(|queued| queued.alarm));
            for id in ids {
                self.sink.send(|sink| sink.evaluated(id, Outcome::never_ran(reason.clone())));
            }
        }
        self.sink.take()
    }

    /// Reports the evaluations of a program that has ended. The running evaluation ends with the
    /// program, and the waiting evaluations never run.
    pub(super) fn report_unfinished(
        &self,
        unfinished: Unfinished,
        (exit_code, signal): (i32, Option<u8>),
        failure: Option<&Error>,
    ) {
        if let Some(current) = unfinished.current {
            self.cancel_alarms(current.alarms);
            let failure = current.failure.or_else(|| failure.cloned());
            let exit_code = failure.as_ref().map_or(exit_code, Error::exit_code);
            let timings = Timings { guest_run_ns: sys::monotonic_ns() - current.began, ..Timings::default() };
            let outcome = self.outcome((exit_code, signal), None, failure, timings);
            if !current.is_detached {
                self.sink.send(|sink| sink.evaluated(current.id, outcome));
            }
        }
        let never = failure.filter(|error| explains_end(error)).cloned().unwrap_or(Error::RunnerExited { exit_code });
        for queued in unfinished.queue {
            self.cancel_alarms(queued.alarm);
            self.sink.send(|sink| sink.evaluated(queued.request.id, Outcome::never_ran(never.clone())));
        }
    }
}

/// Returns whether an error explains why a program does not exist. The program could not start, a
/// rollback removed the program, its runtime has exceeded a limit, or an internal error ended the
/// program. A later request then fails with this error and not with the exit code.
pub(super) fn explains_end(error: &Error) -> bool {
    matches!(
        error,
        Error::ResourceExhausted { .. }
            | Error::RolledBack
            | Error::RuntimeCpuLimit { .. }
            | Error::RuntimeTimeout { .. }
            | Error::Internal { .. }
    )
}
