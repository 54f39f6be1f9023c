//! Watches over a reading thread that runs a guest itself, and says when it is stuck there.
//!
//! A lone request runs on the reading thread, because waking another one costs more than most programs ([`crate::serve`]). A guest gives
//! the thread back at its next poll once its budget is used up. Should it be in a stretch of native code that does not poll, nobody
//! would read, and no `cancel` would come through: so a second thread looks every [`PERIOD`] whether the same run is still under way, and
//! then takes the reading over. It sleeps deeply when nothing has run for a while; in between the cost for a run is two additions.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Between two looks: at most two of them pass before the reading goes on, which leaves time for a kill within 50 ms.
const PERIOD: Duration = Duration::from_millis(5);

/// Looks without news after which the watcher sleeps until there are some.
const LOOKS: u32 = 20;

/// See the module.
#[derive(Default)]
pub struct Relief {
    /// Counts beginnings and ends of runs: odd while one is under way.
    epoch: AtomicU64,
    asleep: AtomicBool,
    lock: Mutex<()>,
    news: Condvar,
}

impl Relief {
    /// Whether a run is under way: then whoever reads must not begin another one.
    pub fn is_running(&self) -> bool {
        self.epoch.load(SeqCst) % 2 == 1
    }

    /// Runs a guest on this thread, watched.
    pub fn watched(&self, run: impl FnOnce()) {
        self.epoch.fetch_add(1, SeqCst);
        if self.asleep.load(SeqCst) {
            let _lock = self.lock.lock();
            self.news.notify_one();
        }
        run();
        self.epoch.fetch_add(1, SeqCst);
    }

    /// Returns when a run has been under way for at least one whole period.
    pub fn wait_until_stuck(&self) {
        let mut seen = self.epoch.load(SeqCst);
        let mut looks = if seen % 2 == 1 { 0 } else { LOOKS };
        loop {
            if looks == LOOKS {
                self.sleep(seen);
                looks = 0;
            }
            std::thread::sleep(PERIOD);
            let now = self.epoch.load(SeqCst);
            if now != seen {
                looks = 0;
            } else if now % 2 == 1 {
                return;
            } else {
                looks += 1;
            }
            seen = now;
        }
    }

    /// Sleeps until the epoch is no longer `seen`.
    fn sleep(&self, seen: u64) {
        let mut lock = self.lock.lock();
        self.asleep.store(true, SeqCst);
        // Either this load sees the new epoch, or `watched` sees that we are asleep, takes the lock after we wait, and notifies.
        while self.epoch.load(SeqCst) == seen {
            self.news.wait(&mut lock);
        }
        self.asleep.store(false, SeqCst);
    }
}
