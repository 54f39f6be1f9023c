//! Runs jobs in the background, such as freeing a large memory. No caller waits for a job.
//!
//! One thread starts with the first job and runs one job after the other, so that workers continue
//! with guests. The thread waits [`DELAY`] before it runs the first job. In this time the requests
//! that queued the jobs (ten rollbacks at once, for example) usually receive their replies. A job
//! beyond the queue's bound runs on the calling thread, because unused memory must not accumulate.

use coldframe_panics::process::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Job = Box<dyn FnOnce() + Send>;

/// The largest number of waiting jobs.
const MAX_QUEUED: usize = 64;
/// The delay of a job that finds an empty queue, unless further jobs fill half the queue.
const DELAY: Duration = Duration::from_millis(10);

/// The background thread and its queue.
#[derive(Default)]
pub(crate) struct Background {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    running: bool,
    closed: bool,
}

impl Background {
    /// Runs `job` later on the background thread, or at once on this thread if the queue is full.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.state.lock();
        if !state.running && !state.closed {
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new().name("coldframe-background".to_owned());
            state.running = thread.spawn(move || shared.work()).is_ok();
        }
        if !state.running || state.closed || state.jobs.len() >= MAX_QUEUED {
            drop(state);
            job();
            return;
        }
        state.jobs.push_back(Box::new(job));
        self.shared.changed.notify_one();
    }

    /// Ends the thread after the queued jobs.
    pub(crate) fn close(&self) {
        self.shared.state.lock().closed = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn work(&self) {
        coldframe_sys::yield_to_others();
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                coldframe_panics::process::MutexGuard::unlocked(&mut state, job);
            } else if state.closed {
                return;
            } else {
                self.changed.wait(&mut state);
                let begin = Instant::now() + DELAY;
                while !state.closed
                    && state.jobs.len() < MAX_QUEUED / 2
                    && !self.changed.wait_until(&mut state, begin).timed_out()
                {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn runs_every_job_and_jobs_beyond_the_bound_at_once() {
        let background = Background::default();
        let (go, wait) = channel::<()>();
        let (send, receive) = channel();
        background.run(move || assert!(wait.recv().is_err()));
        for number in 0..2 * MAX_QUEUED {
            let send = send.clone();
            background.run(move || {
                send.send((number, std::thread::current().name() == Some("coldframe-background"))).expect("the test receives")
            });
        }
        let at_once: Vec<_> = receive.try_iter().collect();
        assert!(at_once.len() >= MAX_QUEUED - 1 && at_once.iter().all(|(_, on_thread)| !on_thread), "{}", at_once.len());
        drop(go);
        background.close();
        let rest: Vec<_> = std::iter::from_fn(|| receive.recv_timeout(Duration::from_secs(10)).ok())
            .take(2 * MAX_QUEUED - at_once.len())
            .collect();
        assert_eq!(at_once.len() + rest.len(), 2 * MAX_QUEUED);
        assert!(rest.iter().all(|(_, on_thread)| *on_thread));
        background.run(move || send.send((0, false)).expect("the test receives"));
        assert_eq!(receive.try_recv(), Ok((0, false)), "a job after closing runs on the calling thread");
    }
}
