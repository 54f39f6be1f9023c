//! The threads that run calls of the embedder, which may wait for guests.
//!
//! Few calls run at a time. If all of them wait, one more thread runs the next call, so that calls
//! on other runtimes continue. Next: `session.rs`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use coldframe_panics::process::{Condvar, Mutex, MutexGuard};

use crate::session::Job;

/// The number of calls that run at a time, unless all of them wait.
const USUAL_CALLS: usize = 4;
/// The maximum number of threads of a session.
const MAX_THREADS: usize = 64;
/// The time without the begin or the end of a call after which the running calls count as waiting.
const STUCK: Duration = Duration::from_millis(10);
/// The time that a thread waits for more work before the thread ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// The threads that run calls of the embedder. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct OwnerThreads(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    /// The number of threads that run a job.
    busy: usize,
    /// The time of the last begin or end of a job.
    progress: Option<Instant>,
}

impl OwnerThreads {
    /// Runs `job` on a thread. Runs the job on this thread if no thread can be started.
    pub fn run(&self, job: Job) {
        let mut state = self.0.state.lock();
        state.jobs.push_back(job);
        self.start_thread(&mut state);
        if state.threads == 0 {
            let jobs = std::mem::take(&mut state.jobs);
            drop(state);
            return coldframe_core::without_guests(|| jobs.into_iter().for_each(|job| job()));
        }
        self.0.news.notify_one();
    }

    /// Starts a thread for a waiting job, if few threads exist. Starts a spare thread if all
    /// threads are busy.
    fn start_thread(&self, state: &mut State) {
        let idle = state.threads - state.busy;
        let is_wanted = idle < state.jobs.len() && state.threads < USUAL_CALLS || idle == 0 && state.threads < MAX_THREADS;
        if !is_wanted {
            return;
        }
        let this = self.clone();
        let thread = std::thread::Builder::new().name("coldframe-owner".to_owned());
        if thread.spawn(move || this.serve()).is_ok() {
            state.threads += 1;
        }
    }

    fn serve(&self) {
        let mut state = self.0.state.lock();
        loop {
            if let Some(job) = state.take() {
                if !state.jobs.is_empty() {
                    self.start_thread(&mut state);
                }
                MutexGuard::unlocked(&mut state, job);
                state.busy -= 1;
                state.progress = Some(Instant::now());
                continue;
            }
            let wait = if state.jobs.is_empty() { IDLE_TIMEOUT } else { STUCK };
            let is_late = self.0.news.wait_for(&mut state, wait).timed_out();
            if is_late && state.jobs.is_empty() && wait == IDLE_TIMEOUT {
                state.threads -= 1;
                return;
            }
        }
    }
}

impl State {
    /// Takes a job, unless enough other jobs make progress.
    fn take(&mut self) -> Option<Job> {
        let now = Instant::now();
        let makes_progress = self.progress.is_some_and(|last| now.saturating_duration_since(last) < STUCK);
        if self.busy >= USUAL_CALLS && makes_progress {
            return None;
        }
        let job = self.jobs.pop_front()?;
        self.busy += 1;
        self.progress = Some(now);
        Some(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// The time after which a test that hangs fails.
    const HANG: Duration = Duration::from_secs(60);

    /// Runs `count` jobs that wait until the returned sender is dropped.
    fn block(threads: &OwnerThreads, count: usize) -> std::sync::mpsc::Sender<()> {
        let (lock, until) = channel::<()>();
        let until = Arc::new(Mutex::new(until));
        for _ in 0..count {
            let until = until.clone();
            threads.run(Box::new(move || assert!(until.lock().recv_timeout(HANG).is_err(), "the test drops the sender")));
        }
        lock
    }

    fn wait_for_busy(threads: &OwnerThreads, count: usize) {
        let began = Instant::now();
        while threads.0.state.lock().busy != count {
            assert!(began.elapsed() < HANG, "{} threads are busy", threads.0.state.lock().busy);
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_call_runs_while_the_usual_number_of_calls_wait() {
        let threads = OwnerThreads::default();
        let lock = block(&threads, 3 * USUAL_CALLS);
        let (send, receive) = channel();
        threads.run(Box::new(move || send.send(()).expect("the test receives")));
        receive.recv_timeout(HANG).expect("the last call runs");
        drop(lock);
        wait_for_busy(&threads, 0);
    }

    #[test]
    fn starts_at_most_the_bound_of_threads() {
        let threads = OwnerThreads::default();
        let lock = block(&threads, MAX_THREADS + 8);
        wait_for_busy(&threads, MAX_THREADS);
        assert_eq!(threads.0.state.lock().threads, MAX_THREADS);
        assert_eq!(threads.0.state.lock().jobs.len(), 8);
        drop(lock);
        wait_for_busy(&threads, 0);
    }
}
