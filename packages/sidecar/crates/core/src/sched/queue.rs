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
//! while before it sleeps, because waking a thread costs more than a warm evaluation.
//!
//! Some work of a guest has no poll. A block of a compressor takes up to half a second, and a slow
//! disk takes any time. If all workers do such work, no task begins for [`HELD`]. Then a further
//! worker starts, and the system shares the processors among the workers. A worker that was held
//! ends if there are too many workers. Next: `timers.rs`.

use super::task::Task;
use super::{SLICE, TaskFlow, Timers};
use coldframe_fair::{FairQueue, Lane};
use coldframe_panics::process::{Condvar, Mutex};
use coldframe_sys as sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The time without the beginning of a task after which a further worker starts, while tasks wait.
/// Guests that poll begin a task in every slice of each worker.
const HELD: Duration = SLICE.saturating_mul(4);
/// The largest number of further workers.
const MAX_FURTHER: usize = 32;

/// The run queue and its workers.
pub(crate) struct Queue {
    state: Mutex<State>,
    work: Condvar,
    /// The number of queued tasks, for a check without the lock.
    waiting: AtomicUsize,
    spinning: AtomicBool,
    max_workers: usize,
    spin: Duration,
    timers: Timers,
}

struct State {
    tasks: FairQueue<Arc<Task>>,
    workers: usize,
    sleeping: usize,
    /// The number of tasks that workers have begun.
    begun: u64,
    /// Whether an alarm is set for a check of the workers.
    is_watched: bool,
    closed: bool,
}

impl Queue {
    pub(crate) fn new(max_workers: usize, spin: Duration, timers: Timers) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                tasks: FairQueue::new(u64::try_from(SLICE.as_nanos()).unwrap_or(u64::MAX)),
                workers: 0,
                sleeping: 0,
                begun: 0,
                is_watched: false,
                closed: false,
            }),
            work: Condvar::new(),
            waiting: AtomicUsize::new(0),
            spinning: AtomicBool::new(false),
            max_workers,
            spin,
            timers,
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
        } else if !state.is_watched {
            self.watch(&mut state);
        }
    }

    /// Sets an alarm for a check of the workers.
    fn watch(self: &Arc<Self>, state: &mut State) {
        state.is_watched = true;
        let (this, begun) = (Arc::downgrade(self), state.begun);
        let at = sys::monotonic_ns() + HELD.as_nanos() as u64;
        self.timers.set(at, move || {
            if let Some(queue) = this.upgrade() {
                queue.check(begun);
            }
        });
    }

    /// Starts a further worker if tasks wait and no task has begun since the alarm was set.
    fn check(self: &Arc<Self>, begun: u64) {
        let mut state = self.state.lock();
        state.is_watched = false;
        if state.closed || !self.is_busy() {
            return;
        }
        if state.begun == begun && state.workers < self.max_workers + MAX_FURTHER {
            self.start_worker(&mut state);
        }
        self.watch(&mut state);
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
    /// task held the worker. Returns `None` if the worker must end: the queue is closed and has no
    /// task, or there are too many workers.
    fn next(&self, done: Option<(Arc<TaskFlow>, u64)>) -> Option<(Arc<TaskFlow>, Arc<Task>)> {
        self.spin_for_work();
        let mut state = self.state.lock();
        if let Some((flow, used_ns)) = done {
            state.tasks.settle(&flow, used_ns);
            if Duration::from_nanos(used_ns) >= HELD && state.workers > self.max_workers {
                return None;
            }
        }
        loop {
            if let Some(next) = state.tasks.pop(true) {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                state.begun += 1;
                return Some(next);
            }
            if state.closed || state.workers > self.max_workers {
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
