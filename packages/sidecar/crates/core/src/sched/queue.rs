//! The run queue and its workers.
//!
//! The runtimes share the workers by weight (crate `fair`). A runtime is charged for the time that
//! its tasks hold a worker, so also for waits on the host's disk. Among the tasks of a runtime,
//! ready tasks have new work, and preempted tasks used up their slice. Ready tasks run first, so
//! that a fresh start does not wait behind spinning guests.
//!
//! A task that runs on the caller's own thread does not pass through the queue. Its runtime is
//! charged only if other tasks wait meanwhile.
//!
//! A worker starts when work exists and no worker is free. A worker that has run a task spins for a
//! while before it sleeps, because waking a thread costs more than a warm evaluation. Next:
//! `timers.rs`.

use super::task::Task;
use super::{SLICE, TaskFlow};
use coldframe_fair::{FairQueue, Lane};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The run queue and its workers.
pub(crate) struct Queue {
    state: Mutex<State>,
    work: Condvar,
    /// The number of queued tasks, for a check without the lock.
    waiting: AtomicUsize,
    spinning: AtomicBool,
    max_workers: usize,
    spin: Duration,
}

struct State {
    tasks: FairQueue<Arc<Task>>,
    workers: usize,
    sleeping: usize,
    closed: bool,
}

impl Queue {
    pub(crate) fn new(max_workers: usize, spin: Duration) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                tasks: FairQueue::new(u64::try_from(SLICE.as_nanos()).unwrap_or(u64::MAX)),
                workers: 0,
                sleeping: 0,
                closed: false,
            }),
            work: Condvar::new(),
            waiting: AtomicUsize::new(0),
            spinning: AtomicBool::new(false),
            max_workers,
            spin,
        })
    }

    /// Returns whether tasks wait for a worker.
    pub(crate) fn is_busy(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Queues a task that has new work.
    pub(crate) fn push_ready(self: &Arc<Self>, task: Arc<Task>) {
        self.push(Lane::Fresh, task);
    }

    /// Queues a task that used up its slice.
    pub(crate) fn push_preempted(self: &Arc<Self>, task: Arc<Task>) {
        self.push(Lane::Continued, task);
    }

    fn push(self: &Arc<Self>, lane: Lane, task: Arc<Task>) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        let flow = task.flow().clone();
        state.tasks.push(&flow, lane, task);
        let others = self.waiting.fetch_add(1, Ordering::Release);
        if state.sleeping > 0 {
            // A spinning worker runs one task. For further tasks, a sleeping worker must be woken.
            if others > 0 || !self.spinning.load(Ordering::Relaxed) {
                self.work.notify_one();
            }
        } else if state.workers < self.max_workers {
            self.start_worker(&mut state);
        }
    }

    fn start_worker(self: &Arc<Self>, state: &mut State) {
        let queue = self.clone();
        let thread = std::thread::Builder::new().name("coldframe-worker".to_owned());
        // If no thread can be started, inline tasks still run. A queued task waits until a later
        // call can start a worker.
        if thread.spawn(move || queue.work()).is_ok() {
            state.workers += 1;
        }
    }

    fn work(self: Arc<Self>) {
        let mut done = None;
        while let Some((flow, task)) = self.next(done) {
            let used_ns = task.run(SLICE);
            done = Some((flow, used_ns));
        }
        self.state.lock().workers -= 1;
    }

    /// Charges `flow` for `used_ns` on the caller's own thread, if tasks wait.
    pub(super) fn charge(&self, flow: &Arc<TaskFlow>, used_ns: u64) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.state.lock().tasks.charge(flow, used_ns);
        }
    }

    /// Waits for the next task. `done` is the flow of the worker's last task, and the time that the
    /// task held the worker. Returns `None` when the queue is closed and has no task.
    fn next(&self, done: Option<(Arc<TaskFlow>, u64)>) -> Option<(Arc<TaskFlow>, Arc<Task>)> {
        self.spin_for_work();
        let mut state = self.state.lock();
        if let Some((flow, used_ns)) = done {
            state.tasks.settle(&flow, used_ns);
        }
        loop {
            if let Some(next) = state.tasks.pop(true) {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                return Some(next);
            }
            if state.closed {
                return None;
            }
            state.sleeping += 1;
            self.work.wait(&mut state);
            state.sleeping -= 1;
        }
    }

    fn spin_for_work(&self) {
        if self.spin.is_zero() || self.waiting.load(Ordering::Acquire) > 0 || self.spinning.swap(true, Ordering::Relaxed) {
            return;
        }
        let until = Instant::now() + self.spin;
        while self.waiting.load(Ordering::Acquire) == 0 && Instant::now() < until {
            std::hint::spin_loop();
        }
        self.spinning.store(false, Ordering::Relaxed);
    }

    /// Closes the queue to further tasks. The workers end after the queued tasks.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.work.notify_all();
    }
}
