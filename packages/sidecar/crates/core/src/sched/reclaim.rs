//! Returns the memory of ended runtimes and programs to the system.
//!
//! The allocator keeps freed memory. Without this module, the memory that one guest's data occupied
//! would stay with the process after the guest's end. The background thread returns the memory
//! shortly after the end, when all parts of the runtime have been freed. Small amounts are
//! gathered, because the call visits all heaps of the process. In an app's own process, nothing is
//! returned: the allocator is the app's, and the call would delay the app's threads.

use super::Scheduler;
use coldframe_sys as sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The number of freed bytes at which memory is returned.
const ENOUGH: u64 = 1 << 20;
/// The delay between the end of a runtime and the return of its memory, in nanoseconds.
const DELAY_NS: u64 = 200_000_000;

/// The freed memory that was not returned yet.
#[derive(Default)]
pub(super) struct Reclaim {
    enabled: AtomicBool,
    freed: AtomicU64,
    is_due: AtomicBool,
}

impl Scheduler {
    /// Returns freed memory to the system from now on.
    pub(crate) fn enable_reclaim(&self) {
        self.reclaim.enabled.store(true, Ordering::Relaxed);
    }

    /// Counts bytes that were freed, or that are freed shortly afterwards.
    pub(crate) fn freed(self: &Arc<Self>, bytes: u64) {
        let reclaim = &self.reclaim;
        if bytes == 0 || !reclaim.enabled.load(Ordering::Relaxed) {
            return;
        }
        let freed = reclaim.freed.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if freed < ENOUGH || reclaim.is_due.swap(true, Ordering::AcqRel) {
            return;
        }
        let this = Arc::downgrade(self);
        self.timers.set(sys::monotonic_ns() + DELAY_NS, move || {
            let Some(scheduler) = this.upgrade() else { return };
            let for_job = Arc::downgrade(&scheduler);
            scheduler.in_background(move || {
                if let Some(scheduler) = for_job.upgrade() {
                    scheduler.reclaim.run();
                }
            });
        });
    }
}

impl Reclaim {
    fn run(&self) {
        // Memory that is freed during the call is counted for the next call.
        self.freed.store(0, Ordering::Relaxed);
        self.is_due.store(false, Ordering::Release);
        sys::return_free_memory();
    }
}
