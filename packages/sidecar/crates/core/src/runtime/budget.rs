//! Enforces the limits of the whole runtime (`budget.rs` of the crate counts the use). Next:
//! `usage.rs`.

use super::{Inner, Runtime};
use crate::checks::invalid;
use coldframe_error::Error;
use coldframe_fair::MAX_WEIGHT;
use coldframe_sys as sys;
use std::sync::Arc;

/// The delay after which the limit of wall-clock time of a frozen runtime is checked again.
const FROZEN_NS: u64 = 1_000_000_000;

/// Checks the option `weight` of a runtime.
pub(super) fn check_weight(weight: Option<u64>) -> Result<(), Error> {
    match weight {
        Some(weight) if !(1..=MAX_WEIGHT).contains(&weight) => {
            Err(invalid("weight", format!("1 to {MAX_WEIGHT}"), weight.to_string()))
        }
        _ => Ok(()),
    }
}

impl Runtime {
    /// Returns the weight, as in [`crate::RuntimeOptions`].
    pub fn weight(&self) -> u64 {
        self.inner.flow.weight()
    }
}

impl Inner {
    /// Sets the next alarm for the limit of wall-clock time: first for the warning, then for the
    /// end.
    pub(super) fn watch_wall_time(self: &Arc<Self>, has_warned: bool) {
        let Some([near, end]) = self.budget.wall_times() else { return };
        let this = Arc::downgrade(self);
        let at = if has_warned { end } else { near };
        // The time in which the runtime is frozen does not count.
        let now = if self.freeze.is_frozen() { sys::monotonic_ns().saturating_add(FROZEN_NS) } else { 0 };
        let alarm = self.registry.scheduler().timers().set(at.max(now), move || {
            let Some(inner) = this.upgrade() else { return };
            let [near, end] = inner.budget.wall_times().unwrap_or_default();
            let at = if has_warned { end } else { near };
            if inner.freeze.is_frozen() || sys::monotonic_ns() < at {
                return inner.watch_wall_time(has_warned);
            }
            if has_warned {
                if let Some(reason) = inner.budget.wall_passed() {
                    inner.exhaust(&reason);
                }
                return;
            }
            let [_, wall] = inner.budget.uses();
            inner.kernel().usage.warnings.add(wall.limit, wall.used, wall.max, None);
            inner.send_warnings();
            inner.watch_wall_time(true);
        });
        *self.wall_alarm.lock() = Some(alarm);
    }

    /// Cancels the alarm for the limit of wall-clock time.
    pub(super) fn forget_wall_time(&self) {
        let alarm = self.wall_alarm.lock().take();
        if let Some(alarm) = alarm {
            self.registry.scheduler().timers().cancel(alarm);
        }
    }

    /// Ends all programs, because the runtime has exceeded a limit. The files stay.
    pub(super) fn exhaust(&self, reason: &Error) {
        log::debug!(target: "runtime", "{} ends its programs: {}", self.ordinal, reason.code());
        let programs: Vec<_> = self.programs.lock().all().cloned().collect();
        for program in programs {
            program.end(reason.clone());
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.forget_wall_time();
    }
}
