//! Implements the scheduler's trait [`Scheduled`] for a program. Next: `home.rs`.

use super::{Program, nanos};
use crate::sched::Scheduled;
use coldframe_sys as sys;
use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Scheduled for Program {
    fn begin_slice(&self, slice: Duration) {
        self.slice_end.store(sys::monotonic_ns() + nanos(slice), Ordering::Relaxed);
        self.meter.begin();
        let this: Weak<dyn Scheduled> = self.this.clone();
        self.scheduler.starts(this);
    }

    /// Ends the slice and enforces the limit of CPU time. The scheduler holds no lock during the
    /// call, so warnings can be sent.
    fn end_slice(&self) {
        self.scheduler.stops(self);
        self.spent(self.meter.end());
        self.process.kernel.usage.warnings.send();
    }

    fn has_yielded(&self) -> bool {
        self.yielded.swap(false, Ordering::Relaxed)
    }

    fn must_end(&self) -> bool {
        self.is_ending()
    }

    fn check_running(&self) {
        let now = self.meter.cpu_ns_now();
        self.check_cpu(now);
        if self.budget.would_exceed(now.saturating_sub(self.meter.cpu_ns())) {
            // The guest has not polled. When the program ends, the time is counted and all other
            // programs end too.
            self.end(self.budget.cpu_error());
        }
    }
}
