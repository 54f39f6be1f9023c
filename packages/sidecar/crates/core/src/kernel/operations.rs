//! Operations under way: what a program has started and not yet heard of. A system call that cannot finish at once allots a number
//! here and returns it; whoever finishes the work completes that number, and the program gets it as a COMPLETE event in a later turn.

use parking_lot::Mutex;
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use super::Errno;

/// Operations that a program may have under way.
const MAX_OPERATIONS: usize = 16_384;

/// Something that completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) operation: u32,
    /// A value, or a negative error number.
    pub(crate) result: i32,
    pub(crate) bytes: Vec<u8>,
}

/// See the module. One per program.
#[derive(Default)]
pub(crate) struct Operations {
    state: Mutex<State>,
    /// Mirrors that `state.done` is not empty, for a look without the lock.
    news: AtomicBool,
}

#[derive(Default)]
struct State {
    last: u32,
    pending: HashSet<u32>,
    done: VecDeque<Event>,
    waiting: Option<Waker>,
}

impl Operations {
    /// A number for a new operation. `ENOBUFS` when too many are under way.
    pub(crate) fn begin(&self) -> Result<u32, Errno> {
        let mut state = self.state.lock();
        if state.pending.len() + state.done.len() >= MAX_OPERATIONS {
            return Err(Errno::ENOBUFS);
        }
        loop {
            // Positive as an i32, and never 0.
            state.last = state.last % 0x7fff_ffff + 1;
            let number = state.last;
            if state.pending.insert(number) {
                return Ok(number);
            }
        }
    }

    /// Completes an operation. Nothing happens when it was cancelled.
    pub(crate) fn complete(&self, operation: u32, result: Result<i32, Errno>, bytes: Vec<u8>) {
        let mut state = self.state.lock();
        if !state.pending.remove(&operation) {
            return;
        }
        let result = result.unwrap_or_else(|errno| i32::try_from(errno.negative()).unwrap_or(-5));
        state.done.push_back(Event { operation, result, bytes });
        self.news.store(true, Ordering::Release);
        let waiting = state.waiting.take();
        drop(state);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    /// Forgets an operation: its event will not come. False when it is not under way (its event may be on its way).
    pub(crate) fn cancel(&self, operation: u32) -> bool {
        self.state.lock().pending.remove(&operation)
    }

    /// Whether anything may still complete.
    pub(crate) fn are_under_way(&self) -> bool {
        let state = self.state.lock();
        !state.pending.is_empty() || !state.done.is_empty()
    }

    /// What has completed.
    pub(crate) fn take(&self) -> Vec<Event> {
        if !self.news.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        self.state.lock().done.drain(..).collect()
    }

    /// Has `waker` called at the next completion; false when something has completed already.
    pub(crate) fn watch(&self, waker: &Waker) -> bool {
        let mut state = self.state.lock();
        if !state.done.is_empty() {
            return false;
        }
        state.waiting = Some(waker.clone());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_completes_once_and_not_after_it_was_cancelled() {
        let operations = Operations::default();
        let (first, second) = (operations.begin().expect("room"), operations.begin().expect("room"));
        assert_ne!(first, second);
        operations.complete(first, Ok(3), vec![1]);
        operations.complete(first, Ok(4), vec![]);
        assert!(operations.cancel(second));
        operations.complete(second, Err(Errno::EIO), vec![]);
        assert_eq!(operations.take(), [Event { operation: first, result: 3, bytes: vec![1] }]);
        assert_eq!(operations.take(), []);
        assert!(!operations.are_under_way());
    }

    #[test]
    fn too_many_are_refused() {
        let operations = Operations::default();
        let made: Vec<_> = (0..MAX_OPERATIONS).map(|_| operations.begin().expect("room")).collect();
        assert_eq!(operations.begin(), Err(Errno::ENOBUFS));
        operations.cancel(made[0]);
        assert!(operations.begin().is_ok());
    }
}
