//! Threads that run guests: a queue of tasks, workers, and a timer thread for alarms.
//!
//! A task is one program's future. One thread at a time polls a task: a worker, or the caller's own
//! thread for the first steps ([`Scheduler::run_inline`]). The guest yields at a poll when its time
//! slice is over, and its task is queued again. A spinning guest therefore does not starve other
//! guests and does not delay its own end. The runtimes share the workers by weight. No code of this
//! module waits for a guest.
//!
//! `task.rs` is a task, `queue.rs` the order in which tasks run, and `timers.rs` the alarms.
//! `freeze.rs` keeps the tasks of frozen runtimes. `running.rs` checks running programs, and
//! `background.rs` runs jobs without a waiting caller. `handover.rs` runs jobs of the timer thread
//! that may wait, and `reclaim.rs` returns freed memory to the system. This module uses programs
//! only through [`Scheduled`]. Next: `task.rs`.

mod background;
mod freeze;
mod handover;
#[cfg(test)]
mod models;
mod queue;
mod reclaim;
mod running;
mod sync;
mod task;
#[cfg(test)]
mod tests;
mod timers;

pub(crate) use freeze::Freeze;
pub(crate) use task::{Scheduled, Task};
pub(crate) use timers::{Alarm, Timers};

use background::Background;
use coldframe_fair::Flow;
use coldframe_sys as sys;
use handover::Handover;
use queue::Queue;
use reclaim::Reclaim;
use running::Running;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The time that a guest runs before it yields the worker to the next guest.
const SLICE: Duration = Duration::from_micros(1_500);

/// The tasks of one runtime, which share the workers with the tasks of other runtimes.
pub(crate) type TaskFlow = Flow<Arc<Task>>;

/// Runs the programs of all runtimes.
pub(crate) struct Scheduler {
    queue: Arc<Queue>,
    timers: Timers,
    running: Running,
    background: Background,
    handover: Handover,
    reclaim: Reclaim,
}

impl Scheduler {
    pub(crate) fn new(workers: usize, spin: Duration) -> Arc<Self> {
        let timers = Timers::default();
        Arc::new(Self {
            queue: Queue::new(workers, spin, timers.clone()),
            timers,
            running: Running::default(),
            background: Background::default(),
            handover: Handover::default(),
            reclaim: Reclaim::default(),
        })
    }

    pub(crate) fn timers(&self) -> &Timers {
        &self.timers
    }

    /// Runs a job without a waiting caller.
    pub(crate) fn in_background(&self, job: impl FnOnce() + Send + 'static) {
        self.background.run(job);
    }

    /// Runs a job of a control thread on another thread.
    pub(crate) fn hand_over(&self, job: impl FnOnce() + Send + 'static) {
        self.handover.run(job);
    }

    /// Returns whether tasks wait for a worker.
    pub(crate) fn is_busy(&self) -> bool {
        self.queue.is_busy()
    }

    /// Queues `task` for a worker.
    pub(crate) fn enqueue(&self, task: Arc<Task>) {
        self.queue.push_ready(task);
    }

    /// Runs `task` on this thread for about `budget`. Afterwards workers run the task.
    pub(crate) fn run_inline(&self, task: &Arc<Task>, budget: Duration) {
        task.run_here(budget);
    }

    /// Records that a thread starts to run `program`.
    pub(crate) fn starts(self: &Arc<Self>, program: Weak<dyn Scheduled>) {
        if self.running.starts(program) {
            self.check_later();
        }
    }

    /// Records that a thread no longer runs `program`.
    pub(crate) fn stops<P: Scheduled>(&self, program: &P) {
        self.running.stops(program);
    }

    /// Sets the alarm for the next check of running programs (`running.rs`).
    fn check_later(self: &Arc<Self>) {
        let this = Arc::downgrade(self);
        let at = sys::monotonic_ns() + running::INTERVAL.as_nanos() as u64;
        self.timers.set(at, move || {
            if let Some(scheduler) = this.upgrade()
                && scheduler.running.check()
            {
                scheduler.check_later();
            }
        });
    }

    /// Ends the threads after the queued tasks. No action of an alarm starts afterwards.
    pub(crate) fn shutdown(&self) {
        self.queue.close();
        self.timers.close();
        self.background.close();
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.shutdown();
    }
}
