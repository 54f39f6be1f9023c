//! Threads for jobs that wait for the disk. A thread starts when a job has no free thread, and ends
//! after an idle time.
//!
//! There are at most eight threads, because the jobs mostly wait. Concurrent flushes also share the
//! disk's work: ten concurrent writes took 51 ms on two threads and 10 ms on eight threads. Next:
//! `options.rs`.

use coldframe_panics::process::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

const MAX_THREADS: usize = 8;
const IDLE_TIME: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce() + Send>;

/// The threads and their queue.
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
    /// Runs `job` on a thread. If no thread runs and the system allows no thread, runs `job` on the
    /// calling thread.
    pub(super) fn run(self: &Arc<Self>, job: impl FnOnce() + Send + 'static) {
        let mut work = self.work.lock();
        work.waiting.push_back(Box::new(job));
        if work.idle >= work.waiting.len() || work.threads == MAX_THREADS {
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
                let timed_out = self.wake.wait_for(&mut work, IDLE_TIME).timed_out();
                work.idle -= 1;
                if timed_out && work.waiting.is_empty() {
                    work.threads -= 1;
                    return;
                }
            }
            let job = work.waiting.pop_front();
            drop(work);
            // A job answers a request, and contains the panics of its work.
            if let Some(job) = job {
                job();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containment::contained;
    use coldframe_error::{Ended, Error};
    use std::sync::mpsc;

    #[test]
    fn runs_every_job_and_many_at_once() {
        let threads = Arc::new(Threads::default());
        let (send, receive) = mpsc::channel();
        let barrier = Arc::new(std::sync::Barrier::new(MAX_THREADS));
        for number in 0..MAX_THREADS * 5 {
            let (send, barrier) = (send.clone(), barrier.clone());
            threads.run(move || {
                // The barrier opens only if all threads run a job.
                barrier.wait();
                send.send(number).expect("sent");
            });
        }
        threads.run(|| {
            let failed = contained(|| -> Result<(), _> { panic!("a panic of contained work ends no thread") });
            assert!(matches!(failed, Err(Error::Internal { ended: Ended::Request, .. })));
        });
        let mut seen: Vec<usize> = receive.iter().take(MAX_THREADS * 5).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..MAX_THREADS * 5).collect::<Vec<_>>());
        assert!(threads.work.lock().threads <= MAX_THREADS);
    }
}
