//! Calls of the embedder that may wait for a lock which a guest's system call holds.
//!
//! Such a call must not run while the session's thread reads frames: a `ping` or a `cancel` behind
//! the call would wait too. A call that arrives alone is a [`Job`], which runs without the session.
//! If the job takes long, another thread reads meanwhile. Any other call runs on a thread of
//! [`OwnerThreads`]. The calls of one runtime run in the order of their requests. A runtime without
//! programs has no guest that holds a lock, so its calls run at once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::session::Job;

/// The maximum number of threads of a session.
const MAX_THREADS: usize = 4;
/// The time that a thread waits for more work before the thread ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// The calls on one runtime, in order. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct OwnerCalls(Arc<Mutex<Order>>);

#[derive(Default)]
struct Order {
    /// Whether a thread runs the calls.
    is_running: bool,
    waiting: VecDeque<Job>,
}

impl OwnerCalls {
    /// Returns whether calls run or wait.
    pub fn are_under_way(&self) -> bool {
        self.0.lock().is_running
    }

    /// Runs `call` after all earlier calls. Returns a job if `may_run_here` is true and no earlier
    /// call runs. The caller then runs the job.
    pub fn add(&self, threads: &OwnerThreads, may_run_here: bool, call: Job) -> Option<Job> {
        let mut order = self.0.lock();
        if order.is_running {
            order.waiting.push_back(call);
            return None;
        }
        order.is_running = true;
        drop(order);
        threads.0.runtimes.fetch_add(1, Ordering::Relaxed);
        let (this, shared) = (self.clone(), Arc::clone(&threads.0));
        let run: Job = Box::new(move || {
            this.run(call);
            shared.runtimes.fetch_sub(1, Ordering::Relaxed);
        });
        if may_run_here {
            return Some(run);
        }
        threads.run(run);
        None
    }

    fn run(&self, first: Job) {
        let mut next = Some(first);
        while let Some(call) = next {
            call();
            let mut order = self.0.lock();
            next = order.waiting.pop_front();
            order.is_running = next.is_some();
        }
    }
}

/// The threads that run calls of the embedder. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct OwnerThreads(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The number of runtimes with running calls.
    runtimes: AtomicUsize,
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl OwnerThreads {
    /// Returns whether calls of any runtime run or wait.
    pub fn are_in_use(&self) -> bool {
        self.0.runtimes.load(Ordering::Relaxed) > 0
    }

    /// Runs `job` on a thread. Runs the job on this thread if no thread can be started.
    pub fn run(&self, job: Job) {
        let mut state = self.0.state.lock();
        if state.idle <= state.jobs.len() && state.threads < MAX_THREADS {
            let shared = Arc::clone(&self.0);
            let thread = std::thread::Builder::new().name("coldframe-owner".to_owned());
            if thread.spawn(move || shared.serve()).is_ok() {
                state.threads += 1;
            } else if state.threads == 0 {
                drop(state);
                return job();
            }
        }
        state.jobs.push_back(job);
        self.0.news.notify_one();
    }
}

impl Shared {
    fn serve(&self) {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                parking_lot::MutexGuard::unlocked(&mut state, job);
                continue;
            }
            state.idle += 1;
            let is_late = self.news.wait_for(&mut state, IDLE_TIMEOUT).timed_out();
            state.idle -= 1;
            if is_late && state.jobs.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    /// The time after which a test that hangs fails.
    const HANG: Duration = Duration::from_secs(60);

    fn blocked(until: Receiver<()>) -> Job {
        Box::new(move || assert!(until.recv_timeout(HANG).is_err(), "the test drops the sender"))
    }

    #[test]
    fn a_call_alone_is_a_job_of_the_caller() {
        let (threads, calls) = (OwnerThreads::default(), OwnerCalls::default());
        let (send, receive) = channel();
        let job = calls.add(&threads, true, Box::new(move || send.send(std::thread::current().id()).expect("receives")));
        assert!(calls.are_under_way());
        job.expect("a job")();
        assert_eq!(receive.recv_timeout(HANG), Ok(std::thread::current().id()));
        assert!(!calls.are_under_way());
    }

    #[test]
    fn a_call_that_waits_delays_only_the_later_calls_of_its_runtime() {
        let (threads, stuck, free) = (OwnerThreads::default(), OwnerCalls::default(), OwnerCalls::default());
        let (lock, until) = channel();
        assert!(stuck.add(&threads, false, blocked(until)).is_none());
        let (send, receive) = channel();
        for number in 0..10 {
            let send = send.clone();
            let call: Job = Box::new(move || send.send(number).expect("the test receives"));
            assert!(stuck.add(&threads, number % 2 == 0, call).is_none(), "an earlier call runs");
        }
        let (send_free, receive_free) = channel();
        free.add(&threads, false, Box::new(move || send_free.send(()).expect("the test receives")));
        receive_free.recv_timeout(HANG).expect("the other runtime's call runs");
        assert!(receive.try_recv().is_err() && stuck.are_under_way());
        drop(lock);
        let order: Vec<i32> = (0..10).map(|_| receive.recv_timeout(HANG).expect("each call runs")).collect();
        assert_eq!(order, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn starts_at_most_the_bound_of_threads() {
        let threads = OwnerThreads::default();
        let (lock, until) = channel::<()>();
        let until = Arc::new(Mutex::new(until));
        let (send, receive) = channel();
        for _ in 0..3 * MAX_THREADS {
            let (until, send) = (until.clone(), send.clone());
            threads.run(Box::new(move || {
                assert!(until.lock().recv_timeout(HANG).is_err(), "the test drops the sender");
                send.send(()).expect("the test receives");
            }));
        }
        assert_eq!(threads.0.state.lock().threads, MAX_THREADS);
        drop(lock);
        for _ in 0..3 * MAX_THREADS {
            receive.recv_timeout(HANG).expect("each job runs");
        }
    }
}
