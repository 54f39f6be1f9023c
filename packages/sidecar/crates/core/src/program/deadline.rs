//! The limits of wall-clock time for a program and for an evaluation.
//!
//! A deadline is a time of the monotonic clock. The remaining time is part of a program's snapshot.
//! Next: `snapshot.rs`.

use super::snapshot::Remaining;
use super::{Program, nanos};
use crate::sched::Alarm;
use coldframe_error::Error;
use coldframe_sys as sys;
use std::time::Duration;

/// The delay after which an alarm is set again while its program is held.
const HELD: Duration = Duration::from_millis(50);
/// The delay after which an alarm is set again while its program is frozen.
pub(super) const FROZEN: Duration = Duration::from_secs(1);

/// The deadline of a program or of an evaluation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    /// The end of the allowed time, in nanoseconds of the monotonic clock.
    pub(super) at: u64,
    /// The whole allowed time, for the error.
    pub(super) timeout: Duration,
}

impl Deadline {
    /// Returns the deadline `timeout` from now.
    pub(super) fn after(timeout: Duration) -> Self {
        Self { at: sys::monotonic_ns().saturating_add(nanos(timeout)), timeout }
    }

    /// Returns the error of a program or an evaluation that exceeded `timeout`.
    pub(super) fn error(timeout: Duration) -> Error {
        Error::Timeout { timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX) }
    }

    /// Returns the remaining time.
    pub(super) fn remaining(self) -> Remaining {
        Remaining { left_ns: self.at.saturating_sub(sys::monotonic_ns()), of_ns: nanos(self.timeout) }
    }
}

impl Remaining {
    /// Returns the deadline of a program whose remaining time continues now.
    pub(super) fn deadline(self) -> Deadline {
        Deadline { at: sys::monotonic_ns().saturating_add(self.left_ns), timeout: Duration::from_nanos(self.of_ns) }
    }
}

impl Program {
    /// Ends the program with a timeout error after `timeout`.
    pub(crate) fn end_after(&self, timeout: Duration) {
        self.end_at(Deadline::after(timeout));
    }

    pub(super) fn end_at(&self, deadline: Deadline) {
        let alarm = self.alarm(deadline.at, move |program| program.end(Deadline::error(deadline.timeout)));
        let mut control = self.control.lock();
        control.alarms.push(alarm);
        control.deadline = Some(deadline);
    }

    /// Moves the deadlines of the program and of its evaluations by `ns`, because the program was
    /// frozen for this time. The alarms find the frozen time themselves.
    pub(crate) fn move_deadlines(&self, ns: u64) {
        let mut control = self.control.lock();
        control.evaluations.move_deadlines(ns);
        if let Some(deadline) = &mut control.deadline {
            deadline.at = deadline.at.saturating_add(ns);
        }
    }

    /// Sets an alarm that calls `then` at `at`. If the program is held at that time, the alarm is
    /// set again, because the time of a held program does not count. The time in which the program
    /// was frozen does not count either. A program that is restored from a snapshot continues with
    /// the remaining time.
    pub(super) fn alarm(&self, at: u64, then: impl FnOnce(&Self) + Send + 'static) -> Alarm {
        let this = self.this.clone();
        let frozen_before = self.freeze.total_ns();
        self.scheduler.timers().set(at, move || {
            let Some(program) = this.upgrade() else { return };
            let frozen_ns = program.freeze.total_ns().saturating_sub(frozen_before);
            let delay = match (program.freeze.is_frozen(), program.quiesce.is_holding()) {
                (true, _) => Some(nanos(FROZEN)),
                (_, true) => Some(nanos(HELD)),
                // The alarm was set before a freeze.
                _ if frozen_ns > 0 => Some(0),
                _ => None,
            };
            if let Some(delay) = delay {
                let again = program.alarm(at.saturating_add(frozen_ns).max(sys::monotonic_ns() + delay), then);
                program.control.lock().alarms.push(again);
            } else {
                then(&program);
            }
        })
    }
}
