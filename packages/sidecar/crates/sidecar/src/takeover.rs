//! Detects that the reading thread is stuck in a guest, so that the second thread takes over.
//!
//! A lone request runs on the reading thread, because waking another thread costs more than most
//! programs ([`crate::serve`]). A guest yields the thread at its next poll once its budget is used
//! up. In native code that does not poll, no thread would read and no `cancel` would arrive. So a
//! second thread checks every [`PERIOD`] whether one run has not ended, and then takes over
//! reading. The second thread sleeps when nothing has run for a while; a run then costs two
//! additions.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Time between two checks. At most two periods pass before the takeover, which leaves time for a
/// kill within 50 ms.
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
    /// Returns whether a guest runs. The thread that reads must not start another guest then.
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
        // Either this load sees the new epoch, or `watch` sees `asleep`, takes the lock after this
        // thread waits, and notifies.
        while self.epoch.load(SeqCst) == seen {
            self.begun.wait(&mut lock);
        }
        self.asleep.store(false, SeqCst);
    }
}
