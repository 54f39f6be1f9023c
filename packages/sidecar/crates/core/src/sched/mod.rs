//! Threads that run guests: a queue of tasks, workers, and a clock for alarms.
//!
//! A task is one program's future. It is polled by one thread at a time: a worker, or the caller's own thread for its first steps
//! ([`Scheduler::run_inline`]). The guest stops itself when its time slice is over and goes to the end of the queue, so a guest that spins
//! neither starves its neighbours nor delays its own end. Nothing here waits for a guest. `task.rs` is a task, `queue.rs` the order in which
//! they run, `timers.rs` the alarms, `meter.rs` what they have used, `later.rs`
//! what nobody waits for.

mod later;
mod meter;
mod queue;
mod task;
mod timers;

pub(crate) use meter::Meter;
pub(crate) use task::Task;
pub(crate) use timers::{Alarm, Timers};

use later::Later;
use queue::Queue;
use std::sync::Arc;
use std::time::Duration;

/// How long a guest runs before it makes way for the next one.
const SLICE: Duration = Duration::from_micros(1_500);

/// See the module.
pub(crate) struct Scheduler {
    queue: Arc<Queue>,
    timers: Timers,
    later: Later,
}

impl Scheduler {
    pub(crate) fn new(workers: usize, spin: Duration) -> Arc<Self> {
        Arc::new(Self { queue: Queue::new(workers, spin), timers: Timers::default(), later: Later::default() })
    }

    pub(crate) fn timers(&self) -> &Timers {
        &self.timers
    }

    /// Has something done that nobody waits for.
    pub(crate) fn later(&self, job: impl FnOnce() + Send + 'static) {
        self.later.run(job);
    }

    /// Has a worker run `task`.
    pub(crate) fn enqueue(&self, task: Arc<Task>) {
        self.queue.push_ready(task);
    }

    /// Runs `task` on this thread for about `budget`, then leaves the rest to the workers.
    pub(crate) fn run_inline(&self, task: &Arc<Task>, budget: Duration) {
        task.run(budget);
    }

    /// Ends the threads when they have run what is queued. No alarm goes off any more.
    pub(crate) fn shutdown(&self) {
        self.queue.close();
        self.timers.close();
        self.later.close();
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.shutdown();
    }
}
