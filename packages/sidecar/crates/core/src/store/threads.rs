//! Threads for what waits for the disk: made when there is work, gone when there was none for a while.
//!
//! Eight and not two, as they mostly wait: flushes that are under way at the same time share the disk's work (ten writes at once: 51 ms on two threads,
//! 10 ms on eight).

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

const MOST: usize = 8;
const IDLE: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce() + Send>;

/// See the module.
#[derive(Default)]
pub(super) struct Threads {
    work: Mutex<Work>,
    wake: Condvar,
}

#[derive(Default)]
struct Work {
    waiting: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl Threads {
    /// Runs `job` on a thread. When the system allows none at all, on this one.
    pub(super) fn run(self: &Arc<Self>, job: impl FnOnce() + Send + 'static) {
        let mut work = self.work.lock();
        work.waiting.push_back(Box::new(job));
        if work.idle >= work.waiting.len() || work.threads == MOST {
            self.wake.notify_one();
            return;
        }
        work.threads += 1;
        let all = work.threads;
        drop(work);
        let this = self.clone();
        let made = std::thread::Builder::new().name("coldframe-store".to_owned()).spawn(move || this.work());
        if made.is_err() {
            if all == 1 {
                return self.work();
            }
            self.work.lock().threads -= 1;
        }
    }

    fn work(&self) {
        loop {
            let mut work = self.work.lock();
            while work.waiting.is_empty() {
                work.idle += 1;
                let timed_out = self.wake.wait_for(&mut work, IDLE).timed_out();
                work.idle -= 1;
                if timed_out && work.waiting.is_empty() {
                    work.threads -= 1;
                    return;
                }
            }
            let job = work.waiting.pop_front();
            drop(work);
            // A job that panics has answered nobody; the others must be answered.
            if let Some(job) = job {
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn every_job_runs_and_many_at_once() {
        let threads = Arc::new(Threads::default());
        let (send, receive) = mpsc::channel();
        let barrier = Arc::new(std::sync::Barrier::new(MOST));
        for number in 0..MOST * 5 {
            let (send, barrier) = (send.clone(), barrier.clone());
            threads.run(move || {
                // Passes only if as many are under way.
                barrier.wait();
                send.send(number).expect("sent");
            });
        }
        threads.run(|| panic!("one that panics takes no thread along"));
        let mut seen: Vec<usize> = receive.iter().take(MOST * 5).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..MOST * 5).collect::<Vec<_>>());
        assert!(threads.work.lock().threads <= MOST);
    }
}
