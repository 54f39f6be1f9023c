//! Runs jobs that a control thread must not run itself, because they may wait for a guest.
//!
//! One thread starts with the first job, runs the jobs in order, and ends after the last queued
//! job. The jobs are rare: the timeouts of snapshots, and the ends of broken runtimes. Next:
//! `reclaim.rs`.

use coldframe_panics::process::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

type Job = Box<dyn FnOnce() + Send>;

/// The jobs of control threads.
#[derive(Clone, Default)]
pub(crate) struct Handover(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    is_running: bool,
}

impl Handover {
    /// Runs `job` on another thread. Runs the job on this thread if no thread can be started.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let is_running = {
            let mut state = self.0.lock();
            state.jobs.push_back(Box::new(job));
            std::mem::replace(&mut state.is_running, true)
        };
        if is_running {
            return;
        }
        let this = self.clone();
        let thread = std::thread::Builder::new().name("coldframe-handover".to_owned());
        if thread.spawn(move || this.work()).is_err() {
            coldframe_kernel::without_guests(|| self.work());
        }
    }

    fn work(&self) {
        while let Some(job) = self.next() {
            job();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.0.lock();
        let next = state.jobs.pop_front();
        state.is_running = next.is_some();
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn runs_jobs_in_order_on_another_thread() {
        let handover = Handover::default();
        let (send, receive) = channel();
        for number in 0..100 {
            let send = send.clone();
            let here = std::thread::current().id();
            handover.run(move || send.send((number, std::thread::current().id() == here)).expect("the test receives"));
        }
        for number in 0..100 {
            assert_eq!(receive.recv_timeout(Duration::from_secs(60)), Ok((number, false)));
        }
    }
}
