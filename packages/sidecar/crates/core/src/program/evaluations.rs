//! The snippets of a resident program: one at a time, in the order in which they came.
//!
//! An evaluation that takes too long is interrupted: the guest unwinds it and lives on. One that does not get to a poll in time takes
//! the program with it. The time that its caller gives it runs while it waits for its turn as well: whoever gives one wants an answer by then. Next: `run.rs`.

use super::deadline::Deadline;
use super::{INTERRUPT_GRACE, Program, nanos};
use crate::error::Error;
use crate::options::Streams;
use crate::outcome::{Outcome, Sink, Timings};
use crate::sched::Alarm;
use crate::sys;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::Duration;

/// A snippet.
pub(crate) struct Request {
    pub(crate) id: u32,
    pub(crate) code: String,
    pub(crate) streams: Streams,
}

/// One that waits for its turn.
pub(super) struct Queued {
    pub(super) request: Request,
    /// The caller's; without one the runtime's limit counts from when it begins.
    pub(super) deadline: Option<Deadline>,
    alarm: Option<Alarm>,
}

/// The one under way.
pub(crate) struct Current {
    id: u32,
    began: u64,
    /// It was under way in the program that this one is a copy of: who asked for it hears of it there.
    unheard: bool,
    deadline: Option<Deadline>,
    /// Why it must end.
    failure: Option<Error>,
    alarms: Vec<Alarm>,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Evaluations {
    queue: VecDeque<Queued>,
    current: Option<Current>,
}

/// Those that a program leaves behind when it ends.
pub(crate) struct Unfinished {
    current: Option<Current>,
    queue: VecDeque<Queued>,
}

impl Evaluations {
    /// The id of the one under way, or 0.
    pub(crate) fn current_id(&self) -> u32 {
        self.current.as_ref().map_or(0, |current| current.id)
    }

    /// The same, 0 for one of which nobody hears.
    pub(crate) fn heard_id(&self) -> u32 {
        self.current.as_ref().filter(|current| !current.unheard).map_or(0, |current| current.id)
    }

    /// The one under way and when its time is over.
    pub(super) fn current(&self) -> Option<(u32, Option<Deadline>)> {
        self.current.as_ref().map(|current| (current.id, current.deadline))
    }

    pub(super) fn set_current(&mut self, current: Current) {
        self.current = Some(current);
    }

    /// Those that wait.
    pub(super) fn queue(&self) -> impl Iterator<Item = &Queued> {
        self.queue.iter()
    }

    pub(super) fn append(&mut self, queued: impl Iterator<Item = Queued>) {
        self.queue.extend(queued);
    }

    /// Whether one could begin.
    pub(crate) fn has_news(&self) -> bool {
        self.current.is_none() && !self.queue.is_empty()
    }

    /// The program ends.
    pub(crate) fn close(&mut self) -> Unfinished {
        Unfinished { current: self.current.take(), queue: std::mem::take(&mut self.queue) }
    }
}

impl Program {
    /// Queues a snippet. If the program waits for something to do, what wakes it: the caller must, for this is also what keeps
    /// its task alive.
    pub(crate) fn evaluate(&self, request: Request, timeout: Option<Duration>) -> Result<Option<Waker>, Error> {
        let mut control = self.control.lock();
        if control.silent {
            // Another program has taken its place, and the caller holds on to this one.
            return Err(Error::RolledBack);
        }
        if let Some(exit_code) = control.exited {
            return Err(control.why.clone().unwrap_or(Error::RunnerExited { exit_code }));
        }
        let queued = self.queued(request, timeout.map(Deadline::after));
        control.evaluations.queue.push_back(queued);
        Ok(control.waiting.take())
    }

    /// The next snippet, if none is under way; it is from now on.
    pub(super) fn next_evaluation(&self) -> Option<(u32, String)> {
        let mut control = self.control.lock();
        if control.evaluations.current.is_some() {
            return None;
        }
        let Queued { request, deadline, alarm } = control.evaluations.queue.pop_front()?;
        let began = sys::monotonic_ns();
        control.evaluations.current = Some(match deadline {
            Some(_) => Current { id: request.id, began, unheard: false, deadline, failure: None, alarms: Vec::from_iter(alarm) },
            None => self.evaluation(request.id, began, self.limits().wall().map(Deadline::after), false),
        });
        drop(control);
        self.begin_cpu();
        self.output.lock().set_streams(request.streams);
        Some((request.id, request.code))
    }

    /// One that is under way from now on, with its alarm.
    pub(super) fn evaluation(&self, id: u32, began: u64, deadline: Option<Deadline>, unheard: bool) -> Current {
        let alarm = deadline.map(|Deadline { at, timeout }| {
            self.alarm(at, move |program| {
                program.interrupt(id, &Deadline::error(timeout));
            })
        });
        Current { id, began, unheard, deadline, failure: None, alarms: alarm.into_iter().collect() }
    }

    /// One that waits from now on, with its alarm.
    pub(super) fn queued(&self, request: Request, deadline: Option<Deadline>) -> Queued {
        let id = request.id;
        let alarm = deadline
            .map(|Deadline { at, timeout }| self.alarm(at, move |program| program.end_evaluation(id, &Deadline::error(timeout))));
        Queued { request, deadline, alarm }
    }

    /// Ends the evaluation `id`, because its caller wants no more of it.
    pub(crate) fn cancel_evaluation(&self, id: u32) {
        self.end_evaluation(id, &Error::Canceled);
    }

    /// Ends the evaluation `id`: at once if it waits for its turn, at the guest's next poll if it is under way.
    fn end_evaluation(&self, id: u32, reason: &Error) {
        let _held = self.voice.hold();
        let mut control = self.control.lock();
        let at = control.evaluations.queue.iter().position(|queued| queued.request.id == id);
        if let Some(queued) = at.and_then(|at| control.evaluations.queue.remove(at)) {
            drop(control);
            self.forget(queued.alarm);
            self.voice.tell(|sink| sink.evaluated(id, Outcome::never_ran(reason.clone())));
            return;
        }
        // One of which nobody hears only happens to have that number.
        let is_meant = control.evaluations.heard_id() == id;
        drop(control);
        if is_meant {
            self.interrupt(id, reason);
        }
    }

    /// These alarms are not needed any more.
    fn forget(&self, alarms: impl IntoIterator<Item = Alarm>) {
        alarms.into_iter().for_each(|alarm| self.scheduler.timers().cancel(alarm));
    }

    /// As [`Program::interrupt`], for whichever evaluation is under way. Says whether there was one.
    pub(super) fn interrupt_current(&self, reason: &Error) -> bool {
        let id = self.control.lock().evaluations.current_id();
        id != 0 && self.interrupt(id, reason)
    }

    fn interrupt(&self, id: u32, reason: &Error) -> bool {
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

    /// Whether the evaluation under way must end although no guest code runs: it waits for something.
    pub(super) fn is_interrupted(&self) -> bool {
        self.must_interrupt.load(Ordering::Acquire)
    }

    /// The evaluation under way has ended.
    pub(super) fn finish_evaluation(&self, exit_code: i32, failure: Option<Error>) {
        // Whoever takes the sink away meanwhile would find no evaluation, and tell nobody.
        let held = self.voice.hold();
        let Some(current) = self.control.lock().evaluations.current.take() else { return };
        self.must_interrupt.store(false, Ordering::Release);
        self.forget(current.alarms);
        let failure = current.failure.or(failure);
        let exit_code = failure.as_ref().map_or(exit_code, Error::exit_code);
        let timings = Timings { guest_run_ns: sys::monotonic_ns() - current.began, ..Timings::default() };
        let outcome = self.outcome(exit_code, None, failure, timings);
        if !current.unheard {
            self.voice.tell(|sink| sink.evaluated(current.id, outcome));
        }
        drop(held);
        log::debug!(target: "program", "{} evaluated {}: {exit_code}", self.in_log(), current.id);
    }

    /// Others speak to its sink from now on: it tells nothing more, and its evaluations end for this reason, if there is one. None when it has ended.
    pub(crate) fn hand_over(&self, reason: Option<&Error>) -> Option<Arc<dyn Sink>> {
        let unfinished = {
            let mut control = self.control.lock();
            if control.exited.is_some() || std::mem::replace(&mut control.silent, true) {
                return None;
            }
            reason.map(|reason| (control.evaluations.close(), reason))
        };
        if let Some((Unfinished { current, queue }, reason)) = unfinished {
            let heard = current.iter().filter(|current| !current.unheard).map(|current| current.id);
            let ids: Vec<u32> = heard.chain(queue.iter().map(|queued| queued.request.id)).collect();
            self.forget(current.into_iter().flat_map(|current| current.alarms));
            self.forget(queue.into_iter().filter_map(|queued| queued.alarm));
            for id in ids {
                self.voice.tell(|sink| sink.evaluated(id, Outcome::never_ran(reason.clone())));
            }
        }
        self.voice.take()
    }

    /// The program has ended: the evaluation under way ends with it, those behind it never run.
    pub(super) fn tell_unfinished(&self, unfinished: Unfinished, exit_code: i32, failure: Option<&Error>) {
        if let Some(current) = unfinished.current {
            self.forget(current.alarms);
            let failure = current.failure.or_else(|| failure.cloned());
            let exit_code = failure.as_ref().map_or(exit_code, Error::exit_code);
            let timings = Timings { guest_run_ns: sys::monotonic_ns() - current.began, ..Timings::default() };
            let outcome = self.outcome(exit_code, None, failure, timings);
            if !current.unheard {
                self.voice.tell(|sink| sink.evaluated(current.id, outcome));
            }
        }
        let never = failure.filter(|error| says_why(error)).cloned().unwrap_or(Error::RunnerExited { exit_code });
        for queued in unfinished.queue {
            self.forget(queued.alarm);
            self.voice.tell(|sink| sink.evaluated(queued.request.id, Outcome::never_ran(never.clone())));
        }
    }
}

/// Whether it says why a program is not there: it never was, or never has been in the state that was gone back to. Who asks something of it wants to know
/// that, and not with which code it ended.
pub(super) fn says_why(error: &Error) -> bool {
    matches!(error, Error::ResourceExhausted { .. } | Error::RolledBack)
}
