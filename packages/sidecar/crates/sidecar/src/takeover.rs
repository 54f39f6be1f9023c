//! Detects that the reading thread is stuck in a guest, so that the second thread takes over.
//!
//! A lone request runs on the reading thread, because waking another thread costs more than most
//! programs ([`crate::serve`]). A guest yields the thread at its next poll when its budget is used
//! up. While a guest does not poll, the reading thread would receive no frame and no `cancel`. So a
//! second thread checks every [`PERIOD`] whether a run has lasted since the last check. If so, the
//! second thread takes over reading. When no guest has run for [`IDLE_CHECKS`] checks, the second
//! thread sleeps until the next run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use coldframe_panics::process::{Condvar, Mutex};

/// The time between two checks. The takeover follows at most two periods after the start of a run,
/// so that a kill within 50 ms is still possible.
const PERIOD: Duration = Duration::from_millis(5);

/// The number of checks without a run after which the second thread sleeps until the next run.
const IDLE_CHECKS: u32 = 20;

/// Watches the runs of guests on the reading thread.
#[derive(Default)]
pub struct Takeover {
    /// The number of starts and ends of runs. Odd while a guest runs.
    epoch: AtomicU64,
    asleep: AtomicBool,
    lock: Mutex<()>,
    begun: Condvar,
}

impl Takeover {
    /// Returns whether a guest runs. The thread that reads must not start a second guest while a
    /// guest runs.
    pub fn is_running(&self) -> bool {
        self.epoch.load(SeqCst) % 2 == 1
    }

    /// Runs a guest on this thread and watches the run.
    pub fn watch(&self, run: impl FnOnce()) {
        self.epoch.fetch_add(1, SeqCst);
        if self.asleep.load(SeqCst) {
            let _lock = self.lock.lock();
            self.begun.notify_one();
        }
        run();
        self.epoch.fetch_add(1, SeqCst);
    }

    /// Returns when one run has taken at least a period.
    pub fn wait_until_stuck(&self) {
        let mut seen = self.epoch.load(SeqCst);
        let mut checks = if seen % 2 == 1 { 0 } else { IDLE_CHECKS };
        loop {
            if checks == IDLE_CHECKS {
                self.sleep(seen);
                checks = 0;
            }
            std::thread::sleep(PERIOD);
            let now = self.epoch.load(SeqCst);
            if now != seen {
                checks = 0;
            } else if now % 2 == 1 {
                return;
            } else {
                checks += 1;
            }
            seen = now;
        }
    }

    /// Sleeps until the epoch is no longer `seen`.
    fn sleep(&self, seen: u64) {
        let mut lock = self.lock.lock();
        self.asleep.store(true, SeqCst);
        // A wake-up cannot be lost. Either this load returns the new epoch, or `watch` reads
        // `asleep` as true, locks after this thread has started to wait, and notifies this thread.
        while self.epoch.load(SeqCst) == seen {
            self.begun.wait(&mut lock);
        }
        self.asleep.store(false, SeqCst);
    }
}
