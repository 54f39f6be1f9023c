//! Limits of time: of a program, of an evaluation. They are of the monotonic clock, and what remains of one is part of a program's value. Next: `saved.rs`.

use super::saved::Remaining;
use super::{Program, nanos};
use crate::sched::Alarm;
use coldframe_error::Error;
use coldframe_sys as sys;
use std::time::Duration;

/// How often a limit is looked at again that has passed while its program was held.
const HELD: Duration = Duration::from_millis(50);

/// An end of time: of a program, or of an evaluation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    /// Nanoseconds of the monotonic clock.
    pub(super) at: u64,
    /// What was allowed.
    pub(super) timeout: Duration,
}

impl Deadline {
    /// After so long from now.
    pub(super) fn after(timeout: Duration) -> Self {
        Self { at: sys::monotonic_ns().saturating_add(nanos(timeout)), timeout }
    }

    /// Why something ends that was allowed so long.
    pub(super) fn error(timeout: Duration) -> Error {
        Error::Timeout { timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX) }
    }

    /// What is left of it.
    pub(super) fn remaining(self) -> Remaining {
        Remaining { left_ns: self.at.saturating_sub(sys::monotonic_ns()), of_ns: nanos(self.timeout) }
    }
}

impl Remaining {
    /// Its end, if it goes on now.
    pub(super) fn deadline(self) -> Deadline {
        Deadline { at: sys::monotonic_ns().saturating_add(self.left_ns), timeout: Duration::from_nanos(self.of_ns) }
    }
}

impl Program {
    /// Ends the program after `timeout` from now.
    pub(crate) fn end_after(&self, timeout: Duration) {
        self.end_at(Deadline::after(timeout));
    }

    pub(super) fn end_at(&self, deadline: Deadline) {
        let alarm = self.alarm(deadline.at, move |program| program.end(Deadline::error(deadline.timeout)));
        let mut control = self.control.lock();
        control.alarms.push(alarm);
        control.deadline = Some(deadline);
    }

    /// A limit of time. It goes off later when the program is held then, on its way to sleep: its copy has what remained.
    pub(super) fn alarm(&self, at: u64, then: impl FnOnce(&Self) + Send + 'static) -> Alarm {
        let this = self.this.clone();
        self.scheduler.timers().set(at, move || {
            let Some(program) = this.upgrade() else { return };
            if program.process.kernel.moment.holds() {
                let again = program.alarm(sys::monotonic_ns() + nanos(HELD), then);
                program.control.lock().alarms.push(again);
            } else {
                then(&program);
            }
        })
    }
}
