//! Freezing a runtime: its tasks stay in memory and receive no worker.
//!
//! A thread that takes a task of a frozen runtime from the queue parks the task here. A task that
//! runs when its runtime is frozen is parked after its slice. A task whose program must end is not
//! parked, so a frozen program can be ended. The time in which a runtime is frozen does not count
//! for its clocks and its limits of time ([`Freeze::total_ns`]). Next: `queue.rs`.

use super::task::Task;
use coldframe_panics::process::Mutex;
use coldframe_sys as sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Whether a runtime is frozen, and its parked tasks.
#[derive(Default)]
pub(crate) struct Freeze {
    /// Mirrors `since.is_some()`, for a check without the lock.
    is_frozen: AtomicBool,
    /// The time of all earlier freezes, in nanoseconds.
    earlier_ns: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The start of the present freeze, in nanoseconds of the monotonic clock.
    since: Option<u64>,
    parked: Vec<Arc<Task>>,
}

impl Freeze {
    /// Returns whether the runtime is frozen. An outdated result is harmless.
    pub(crate) fn is_frozen(&self) -> bool {
        self.is_frozen.load(Ordering::Acquire)
    }

    /// Returns the time in which the runtime was frozen, the present freeze included, in
    /// nanoseconds.
    pub(crate) fn total_ns(&self) -> u64 {
        if !self.is_frozen() {
            return self.earlier_ns.load(Ordering::Acquire);
        }
        let state = self.state.lock();
        let present = state.since.map_or(0, |since| sys::monotonic_ns().saturating_sub(since));
        self.earlier_ns.load(Ordering::Acquire) + present
    }

    /// Freezes the runtime.
    pub(crate) fn freeze(&self) {
        let mut state = self.state.lock();
        state.since.get_or_insert_with(sys::monotonic_ns);
        self.is_frozen.store(true, Ordering::Release);
    }

    /// Ends the freeze and queues the parked tasks. Returns the duration of the freeze in
    /// nanoseconds.
    pub(crate) fn thaw(&self) -> u64 {
        let mut state = self.state.lock();
        let Some(since) = state.since.take() else { return 0 };
        let frozen_ns = sys::monotonic_ns().saturating_sub(since);
        self.earlier_ns.fetch_add(frozen_ns, Ordering::AcqRel);
        self.is_frozen.store(false, Ordering::Release);
        let parked = std::mem::take(&mut state.parked);
        drop(state);
        parked.iter().for_each(Task::requeue);
        frozen_ns
    }

    /// Queues the parked tasks, because a program of the runtime must end. The tasks of all other
    /// programs are parked again.
    pub(crate) fn recheck(&self) {
        if self.is_frozen() {
            let parked = std::mem::take(&mut self.state.lock().parked);
            parked.iter().for_each(Task::requeue);
        }
    }

    /// Parks a task that was taken from the queue. Returns false if the task must run.
    pub(super) fn park(&self, task: &Arc<Task>) -> bool {
        if !self.is_frozen() {
            return false;
        }
        let mut state = self.state.lock();
        // `recheck` takes the lock after the program's end has begun, so no ending task stays here.
        if state.since.is_none() || task.must_end() {
            return false;
        }
        state.parked.push(task.clone());
        true
    }
}
