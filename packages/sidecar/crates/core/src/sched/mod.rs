//! Threads that run guests: a queue of tasks, workers, and a clock for alarms.
//!
//! A task is one program's future. It is polled by one thread at a time: a worker, or the caller's own thread for its first steps
//! ([`Scheduler::run_inline`]). The guest stops itself when its time slice is over and goes to the end of the queue, so a guest that spins
//! neither starves its neighbours nor delays its own end. Nothing here waits for a guest. `task.rs` is a task, `queue.rs` the order in which
//! they run, `timers.rs` the alarms, `meter.rs` what they have used, `watch.rs` looks at those that run, `later.rs`
//! what nobody waits for.

mod later;
mod meter;
mod queue;
mod task;
mod timers;
mod watch;

pub(crate) use meter::Meter;
pub(crate) use task::Task;
pub(crate) use timers::{Alarm, Timers};

use crate::program::Program;
use coldframe_sys as sys;
use later::Later;
use queue::Queue;
use std::sync::{Arc, Weak};
use std::time::Duration;
use watch::Watch;

/// How long a guest runs before it makes way for the next one.
const SLICE: Duration = Duration::from_micros(1_500);

/// See the module.
pub(crate) struct Scheduler {
    queue: Arc<Queue>,
    timers: Timers,
    watch: Watch,
    later: Later,
}

impl Scheduler {
    pub(crate) fn new(workers: usize, spin: Duration) -> Arc<Self> {
        Arc::new(Self {
            queue: Queue::new(workers, spin),
            timers: Timers::default(),
            watch: Watch::default(),
            later: Later::default(),
        })
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

    /// A thread runs `program` from now on.
    pub(crate) fn begins(self: &Arc<Self>, program: &Weak<Program>) {
        if self.watch.begins(program) {
            self.look_later();
        }
    }

    /// No thread runs `program` any more.
    pub(crate) fn made_way(&self, program: &Program) {
        self.watch.made_way(program);
    }

    /// See `watch.rs`.
    fn look_later(self: &Arc<Self>) {
        let this = Arc::downgrade(self);
        let at = sys::monotonic_ns() + watch::OFTEN.as_nanos() as u64;
        self.timers.set(at, move || {
            if let Some(scheduler) = this.upgrade()
                && scheduler.watch.look()
            {
                scheduler.look_later();
            }
        });
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
