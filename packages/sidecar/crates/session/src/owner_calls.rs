//! The order of the embedder's calls on one runtime.
//!
//! A call may wait for a lock that a guest's system call holds. Such a call must not run on the
//! session's thread, because a `ping` or a `cancel` behind the call would wait too. A call that
//! arrives alone is a [`Job`], which runs without the session. If the job takes long, another
//! thread handles messages meanwhile. Any other call runs on a thread of [`OwnerThreads`]. The
//! calls of one runtime run in the order of their requests. Next: `owner_threads.rs`.

use std::collections::VecDeque;
use std::sync::Arc;

use coldframe_panics::process::Mutex;

use crate::owner_threads::OwnerThreads;
use crate::session::Job;

/// The calls on one runtime, in order. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct OwnerCalls(Arc<Mutex<Order>>);

#[derive(Default)]
struct Order {
    /// Whether a call runs.
    is_running: bool,
    waiting: VecDeque<Job>,
}

/// The turn of a call on a runtime. The next call runs when this value is dropped.
pub(crate) struct Turn {
    calls: OwnerCalls,
    threads: OwnerThreads,
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(next) = self.calls.next() {
            let calls = self.calls.clone();
            self.threads.run(Box::new(move || calls.run(next)));
        }
    }
}

impl OwnerCalls {
    /// Returns whether calls run or wait.
    pub fn are_under_way(&self) -> bool {
        self.0.lock().is_running
    }

    /// Begins a call, unless an earlier call runs.
    pub fn begin(&self, threads: &OwnerThreads) -> Option<Turn> {
        let was_running = std::mem::replace(&mut self.0.lock().is_running, true);
        (!was_running).then(|| Turn { calls: self.clone(), threads: threads.clone() })
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
        let this = self.clone();
        if may_run_here {
            let threads = threads.clone();
            return Some(Box::new(move || {
                call();
                // This thread can do other work now, so a thread of its own runs the next call.
                drop(Turn { calls: this, threads });
            }));
        }
        threads.run(Box::new(move || this.run(call)));
        None
    }

    fn run(&self, first: Job) {
        let mut next = Some(first);
        while let Some(call) = next {
            call();
            next = self.next();
        }
    }

    /// Ends the running call. Returns the next call, which the caller must run.
    fn next(&self) -> Option<Job> {
        let mut order = self.0.lock();
        let next = order.waiting.pop_front();
        order.is_running = next.is_some();
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

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
    fn the_next_call_runs_when_a_turn_ends() {
        let (threads, calls) = (OwnerThreads::default(), OwnerCalls::default());
        let turn = calls.begin(&threads).expect("no call runs");
        assert!(calls.begin(&threads).is_none());
        let (send, receive) = channel();
        assert!(calls.add(&threads, true, Box::new(move || send.send(()).expect("the test receives"))).is_none());
        assert!(receive.try_recv().is_err());
        drop(turn);
        receive.recv_timeout(HANG).expect("the call runs on a thread");
    }
}
