//! A task: a program's future and its scheduling state. Next: `queue.rs`.
//!
//! ```text
//! idle ──wake──► queued ──a thread takes it──► running ──no work──► idle
//!                  ▲                              │ ├─ woken meanwhile, or slice used up ─► queued
//!                  └──────────────────────────────┘ └─ finished ─► done
//! ```

use super::freeze::Freeze;
use super::queue::Queue;
use super::{Scheduler, TaskFlow};
use coldframe_panics::outside;
use coldframe_panics::process::Mutex;
use coldframe_sys as sys;
use std::future::Future;
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

type ProgramFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The scheduler's interface of a program.
pub(crate) trait Scheduled: Send + Sync + 'static {
    /// Starts a poll. The guest yields after `slice`.
    fn begin_slice(&self, slice: Duration);

    /// Ends the poll.
    fn end_slice(&self);

    /// Returns whether the poll ended because the slice was over.
    fn has_yielded(&self) -> bool;

    /// Checks the limits of a running program, from another thread.
    fn check_running(&self);

    /// Returns whether the program must end, so that a freeze does not stop the program.
    fn must_end(&self) -> bool;
}

/// A program's future and its scheduling state.
pub(crate) struct Task {
    state: AtomicU8,
    future: Mutex<Option<ProgramFuture>>,
    program: Arc<dyn Scheduled>,
    /// The runtime's tasks.
    flow: Arc<TaskFlow>,
    freeze: Arc<Freeze>,
    queue: Arc<Queue>,
}

impl Task {
    /// Makes a task of the runtime with the flow `flow`. The caller must run or enqueue the task
    /// next.
    pub(crate) fn new(
        program: Arc<dyn Scheduled>,
        future: ProgramFuture,
        flow: Arc<TaskFlow>,
        freeze: Arc<Freeze>,
        scheduler: &Scheduler,
    ) -> Arc<Self> {
        let queue = scheduler.queue.clone();
        Arc::new(Self { state: AtomicU8::new(QUEUED), future: Mutex::new(Some(future)), program, flow, freeze, queue })
    }

    pub(super) fn flow(&self) -> &Arc<TaskFlow> {
        &self.flow
    }

    /// Returns whether the task's program must end.
    pub(super) fn must_end(&self) -> bool {
        self.program.must_end()
    }

    /// Queues a task that was taken from the queue and has not run.
    pub(super) fn requeue(self: &Arc<Self>) {
        self.queue.push_ready(self.clone());
    }

    /// Wakes the task and runs it on this thread for about `budget`. If the task is already queued
    /// or running, a worker or the running thread polls the task again.
    pub(crate) fn wake_inline(self: &Arc<Self>, budget: Duration) {
        if self.state.compare_exchange(IDLE, QUEUED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.run_here(budget);
        } else {
            self.wake_by_ref();
        }
    }

    /// Polls the future on this thread, which is no worker. The guest yields when `slice` is over.
    pub(super) fn run_here(self: &Arc<Self>, slice: Duration) {
        let used_ns = self.run(slice);
        self.queue.charge(&self.flow, used_ns);
    }

    /// Polls the future on this thread. The guest yields when `slice` is over. Returns the time of
    /// the poll in nanoseconds. Does not poll the future while the runtime is frozen.
    ///
    /// The future contains the panics of the program's work (`program/containment.rs`). Any other
    /// panic aborts the process, because the end of the program would not be reported. This applies
    /// also to a thread that runs the task within a request of the embedder.
    pub(super) fn run(self: &Arc<Self>, slice: Duration) -> u64 {
        if self.freeze.park(self) {
            return 0;
        }
        outside(|| self.poll(slice))
    }

    fn poll(self: &Arc<Self>, slice: Duration) -> u64 {
        self.state.store(RUNNING, Ordering::Release);
        let mut slot = self.future.lock();
        let Some(future) = slot.as_mut() else { return 0 };
        let waker = Waker::from(self.clone());
        let began = sys::monotonic_ns();
        self.program.begin_slice(slice);
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        self.program.end_slice();
        match polled {
            Poll::Pending => {
                drop(slot);
                self.park();
            }
            Poll::Ready(()) => self.finish(slot.take()),
        }
        sys::monotonic_ns().saturating_sub(began)
    }

    fn finish(&self, future: Option<ProgramFuture>) {
        self.state.store(DONE, Ordering::Release);
        drop(future);
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
