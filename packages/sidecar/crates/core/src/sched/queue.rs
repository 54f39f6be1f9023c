//! The run queue and its workers.
//!
//! There are two queues: ready tasks, which have new work, and preempted tasks, which used up their
//! slice. Ready tasks run first, so that a fresh start does not wait behind spinning guests. After
//! [`MAX_READY_STREAK`] ready tasks a preempted task runs, so that no task starves.
//!
//! A worker starts when work exists and no worker is free. A worker that has run a task spins for a
//! while before it sleeps, because waking a thread costs more than a warm evaluation. Next:
//! `timers.rs`.

use super::SLICE;
use super::task::Task;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The number of ready tasks that may pass a preempted task.
const MAX_READY_STREAK: u32 = 8;

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

#[derive(Default)]
struct State {
    ready: VecDeque<Arc<Task>>,
    preempted: VecDeque<Arc<Task>>,
    streak: u32,
    workers: usize,
    sleeping: usize,
    closed: bool,
}

impl State {
    fn pop(&mut self) -> Option<Arc<Task>> {
        let passed_over = self.streak >= MAX_READY_STREAK && !self.preempted.is_empty();
        let task = if passed_over { None } else { self.ready.pop_front() };
        match task {
            Some(task) => {
                self.streak += 1;
                Some(task)
            }
            None => {
                self.streak = 0;
                self.preempted.pop_front().or_else(|| self.ready.pop_front())
            }
        }
    }
}

impl Queue {
    pub(crate) fn new(max_workers: usize, spin: Duration) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
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
        self.push(|state| state.ready.push_back(task));
    }

    /// Queues a task that used up its slice.
    pub(crate) fn push_preempted(self: &Arc<Self>, task: Arc<Task>) {
        self.push(|state| state.preempted.push_back(task));
    }

    fn push(self: &Arc<Self>, add: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        add(&mut state);
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
        while let Some(task) = self.next() {
            task.run(SLICE);
        }
        self.state.lock().workers -= 1;
    }

    /// Waits for the next task. Returns `None` when the queue is closed and has no task.
    fn next(&self) -> Option<Arc<Task>> {
        self.spin_for_work();
        let mut state = self.state.lock();
        loop {
            if let Some(task) = state.pop() {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                return Some(task);
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
