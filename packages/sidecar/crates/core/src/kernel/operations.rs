//! Operations under way: what a program has started and not yet heard of. A system call that cannot finish at once allots a number
//! here and returns it; whoever finishes the work completes that number, and the program gets it as a COMPLETE event in a later turn.

use parking_lot::Mutex;
use std::collections::{HashMap, HashSet, VecDeque};
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
    /// Those of a call that blocks the VM, and their results.
    blocking: HashMap<u32, Option<i32>>,
    blocked: Option<Waker>,
}

impl State {
    fn allot(&mut self) -> Result<u32, Errno> {
        if self.pending.len() + self.done.len() + self.blocking.len() >= MAX_OPERATIONS {
            return Err(Errno::ENOBUFS);
        }
        loop {
            // Positive as an i32, and never 0.
            self.last = self.last % 0x7fff_ffff + 1;
            if !self.pending.contains(&self.last) && !self.blocking.contains_key(&self.last) {
                return Ok(self.last);
            }
        }
    }
}

impl Operations {
    /// A number for a new operation. `ENOBUFS` when too many are under way.
    pub(crate) fn begin(&self) -> Result<u32, Errno> {
        let mut state = self.state.lock();
        let number = state.allot()?;
        state.pending.insert(number);
        Ok(number)
    }

    /// The same for a call that waits for it itself; it must be ended with [`Operations::end_blocking`].
    pub(crate) fn begin_blocking(&self) -> Result<u32, Errno> {
        let mut state = self.state.lock();
        let number = state.allot()?;
        state.blocking.insert(number, None);
        Ok(number)
    }

    /// Whether one of the blocking operations has completed; if not, `waker` is called when that happens.
    pub(crate) fn is_unblocked(&self, waker: &Waker) -> bool {
        let mut state = self.state.lock();
        if state.blocking.values().any(Option::is_some) {
            return true;
        }
        state.blocked = Some(waker.clone());
        false
    }

    /// Forgets a blocking operation: its result, if it has completed.
    pub(crate) fn end_blocking(&self, number: u32) -> Option<i32> {
        self.state.lock().blocking.remove(&number).flatten()
    }

    /// Has the VM look again whether it may go on.
    pub(crate) fn wake(&self) {
        let blocked = self.state.lock().blocked.take();
        if let Some(blocked) = blocked {
            blocked.wake();
        }
    }

    /// Completes an operation. Nothing happens when it was cancelled.
    pub(crate) fn complete(&self, operation: u32, result: Result<i32, Errno>, bytes: Vec<u8>) {
        let mut state = self.state.lock();
        let result = result.unwrap_or_else(|errno| i32::try_from(errno.negative()).unwrap_or(-5));
        if let Some(slot) = state.blocking.get_mut(&operation) {
            *slot = Some(result);
            let blocked = state.blocked.take();
            drop(state);
            if let Some(blocked) = blocked {
                blocked.wake();
            }
            return;
        }
        if !state.pending.remove(&operation) {
            return;
        }
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

    /// The program has ended. Whom it would have woken is forgotten: a task holds its program, and this is held by it.
    pub(crate) fn close(&self) {
        let (waiting, blocked) = {
            let mut state = self.state.lock();
            (state.waiting.take(), state.blocked.take())
        };
        drop((waiting, blocked));
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
    fn a_blocking_operation_keeps_its_result_and_is_no_event() {
        let operations = Operations::default();
        let number = operations.begin_blocking().expect("room");
        assert!(!operations.is_unblocked(Waker::noop()));
        operations.complete(number, Err(Errno::EPIPE), vec![]);
        assert!(operations.is_unblocked(Waker::noop()));
        assert_eq!((operations.end_blocking(number), operations.take()), (Some(-32), vec![]));
        assert!(!operations.is_unblocked(Waker::noop()));
        assert_eq!(operations.end_blocking(number), None);
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
