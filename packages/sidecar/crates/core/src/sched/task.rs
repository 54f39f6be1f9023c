//! A task: a program's future and where it is in its life.
//!
//! ```text
//! idle ──wake──► queued ──a thread takes it──► running ──nothing to do──► idle
//!                  ▲                              │ ├─ woken meanwhile, or slice used up ─► queued
//!                  └──────────────────────────────┘ └─ finished ─► done
//! ```

use super::queue::Queue;
use crate::program::Program;
use parking_lot::Mutex;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

const IDLE: u8 = 0;
const QUEUED: u8 = 1;
const RUNNING: u8 = 2;
const WOKEN: u8 = 3;
const DONE: u8 = 4;

type Life = Pin<Box<dyn Future<Output = ()> + Send>>;

/// See the module.
pub(crate) struct Task {
    state: AtomicU8,
    life: Mutex<Option<Life>>,
    program: Arc<Program>,
    queue: Arc<Queue>,
}

impl Task {
    /// A task that must be run or enqueued next.
    pub(crate) fn new(program: Arc<Program>, life: Life, scheduler: &super::Scheduler) -> Arc<Self> {
        let queue = scheduler.queue.clone();
        let task = Arc::new(Self { state: AtomicU8::new(QUEUED), life: Mutex::new(Some(life)), program, queue });
        task.program.belongs_to(&task);
        task
    }

    /// Wakes the task and runs it on this thread for about `budget`; on a worker if a thread has it already.
    pub(crate) fn wake_inline(self: &Arc<Self>, budget: Duration) {
        if self.state.compare_exchange(IDLE, QUEUED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.run(budget);
        } else {
            self.wake_by_ref();
        }
    }

    /// Polls the future on this thread. The guest yields when `slice` is over.
    pub(crate) fn run(self: &Arc<Self>, slice: Duration) {
        self.state.store(RUNNING, Ordering::Release);
        let mut life = self.life.lock();
        let Some(future) = life.as_mut() else { return };
        let waker = Waker::from(self.clone());
        self.program.begin_slice(slice);
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker))));
        self.program.end_slice();
        match polled {
            Ok(Poll::Pending) => {
                drop(life);
                self.park();
            }
            Ok(Poll::Ready(())) => self.finish(life.take()),
            Err(_panic) => {
                self.finish(life.take());
                self.program.broke();
            }
        }
    }

    fn finish(&self, life: Option<Life>) {
        self.state.store(DONE, Ordering::Release);
        drop(life);
    }

    fn park(self: &Arc<Self>) {
        if self.program.has_yielded() {
            self.state.store(QUEUED, Ordering::Release);
            self.queue.push_preempted(self.clone());
        } else if self.state.compare_exchange(RUNNING, IDLE, Ordering::AcqRel, Ordering::Acquire).is_err() {
            self.state.store(QUEUED, Ordering::Release);
            self.queue.push_ready(self.clone());
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        Self::wake_by_ref(&self);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let next = |state| match state {
            IDLE => Some(QUEUED),
            RUNNING => Some(WOKEN),
            _ => None,
        };
        if self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(IDLE) {
            self.queue.push_ready(self.clone());
        }
    }
}
