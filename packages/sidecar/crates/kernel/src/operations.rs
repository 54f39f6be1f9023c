//! Operations under way: what a program has started and not yet heard of. A system call that cannot finish at once allots a number
//! here and returns it; whoever finishes the work completes that number, and the program gets it as a COMPLETE event in a later turn.

mod snapshot;

pub(crate) use snapshot::OperationsSnapshot;

use crate::ids::MAX_ID;
use crate::ids::OperationId;
use coldframe_ids::Pid;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use super::usage::{Charge, Mark, Resource, Usage};
use coldframe_error::Errno;

/// What an operation costs the kernel beside the bytes of its result.
const OPERATION_COST: u64 = 128;

/// Something that completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The operation.
    pub operation: OperationId,
    /// A value, or a negative error number.
    pub result: i32,
    /// The bytes of the result.
    pub bytes: Vec<u8>,
}

/// See the module. One per program.
pub struct Operations {
    usage: Arc<Usage>,
    pid: Pid,
    state: Mutex<State>,
    /// Mirrors that `state.done` is not empty, for a look without the lock.
    news: AtomicBool,
}

struct State {
    /// For the operations, and the results that nobody has taken.
    charge: Charge,
    mark: Mark,
    /// Bytes of the results in `done`.
    held: u64,
    last: Option<OperationId>,
    pending: HashSet<OperationId>,
    done: VecDeque<Event>,
    waiting: Option<Waker>,
    /// Those of a call that blocks the VM, and their results.
    blocking: HashMap<OperationId, Option<i32>>,
    blocked: Option<Waker>,
}

impl State {
    /// Some have ended, or their results were taken: what is left is charged.
    fn fell(&mut self, usage: &Usage) {
        let count = self.count();
        self.charge.shrink(self.charge.amount().saturating_sub(count * OPERATION_COST + self.held));
        self.mark.fell(count, usage.limits.operations);
    }

    fn count(&self) -> u64 {
        (self.pending.len() + self.done.len() + self.blocking.len()) as u64
    }

    fn allot(&mut self, usage: &Usage, pid: Pid) -> Result<OperationId, Errno> {
        let (count, max) = (self.count() + 1, usage.limits.operations);
        if count > max || !self.charge.grow(OPERATION_COST) {
            return Err(Errno::ENOBUFS);
        }
        if self.mark.rose(count, max) {
            usage.warnings.add("operations", count, max, Some(pid));
        }
        loop {
            let id = OperationId::following(self.last, MAX_ID);
            self.last = Some(id);
            if !self.pending.contains(&id) && !self.blocking.contains_key(&id) {
                return Ok(id);
            }
        }
    }
}

impl Operations {
    /// Makes the operations of the process `pid`, of which none is in progress.
    pub fn new(usage: &Arc<Usage>, pid: Pid) -> Self {
        let state = State {
            charge: Charge::none(usage, Resource::Kernel),
            mark: Mark::default(),
            held: 0,
            last: None,
            pending: HashSet::new(),
            done: VecDeque::new(),
            waiting: None,
            blocking: HashMap::new(),
            blocked: None,
        };
        Self { usage: usage.clone(), pid, state: Mutex::new(state), news: AtomicBool::new(false) }
    }

    /// What its program is counted by.
    pub(crate) fn usage(&self) -> &Arc<Usage> {
        &self.usage
    }

    /// The number of its program's process.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// How many are under way, and were at most.
    pub(crate) fn look(&self) -> (u64, u64) {
        let state = self.state.lock();
        (state.count(), state.mark.high())
    }

    /// A number for a new operation. `ENOBUFS` when too many are under way.
    pub(crate) fn begin(&self) -> Result<OperationId, Errno> {
        let mut state = self.state.lock();
        let number = state.allot(&self.usage, self.pid)?;
        state.pending.insert(number);
        Ok(number)
    }

    /// The same for a call that waits for it itself; it must be ended with [`Operations::end_blocking`].
    pub(crate) fn begin_blocking(&self) -> Result<OperationId, Errno> {
        let mut state = self.state.lock();
        let number = state.allot(&self.usage, self.pid)?;
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
    pub(crate) fn end_blocking(&self, number: OperationId) -> Option<i32> {
        let mut state = self.state.lock();
        let ended = state.blocking.remove(&number)?;
        state.fell(&self.usage);
        ended
    }

    /// Has the VM look again whether it may go on.
    pub(crate) fn wake(&self) {
        let blocked = self.state.lock().blocked.take();
        if let Some(blocked) = blocked {
            blocked.wake();
        }
    }

    /// Completes an operation. Nothing happens when it was cancelled.
    pub(crate) fn complete(&self, operation: OperationId, result: Result<i32, Errno>, bytes: Vec<u8>) {
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
        // A result that nobody takes stays here: what does not fit is lost, and the program is told so.
        let fits = bytes.is_empty() || state.charge.grow(bytes.len() as u64);
        let (result, bytes) = if fits { (result, bytes) } else { (Errno::ENOBUFS.negative() as i32, Vec::new()) };
        state.held += bytes.len() as u64;
        state.done.push_back(Event { operation, result, bytes });
        self.news.store(true, Ordering::Release);
        let waiting = state.waiting.take();
        drop(state);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    /// Forgets an operation: its event will not come. False when it is not under way (its event may be on its way).
    pub(crate) fn cancel(&self, operation: OperationId) -> bool {
        let mut state = self.state.lock();
        let cancelled = state.pending.remove(&operation);
        if cancelled {
            state.fell(&self.usage);
        }
        cancelled
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
    pub fn are_under_way(&self) -> bool {
        let state = self.state.lock();
        !state.pending.is_empty() || !state.done.is_empty()
    }

    /// What has completed.
    pub fn take(&self) -> Vec<Event> {
        if !self.news.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        let mut state = self.state.lock();
        let done: Vec<Event> = state.done.drain(..).collect();
        state.held = 0;
        state.fell(&self.usage);
        done
    }

    /// Has `waker` called at the next completion; false when something has completed already.
    pub fn watch(&self, waker: &Waker) -> bool {
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
    use crate::limits::Limits;

    fn operations() -> Operations {
        Operations::new(&Usage::new(&Limits { kernel_bytes: 65_536, operations: 100, ..Limits::default() }), Pid::new(2))
    }

    #[test]
    fn an_operation_completes_once_and_not_after_it_was_cancelled() {
        let operations = operations();
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
        let operations = operations();
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
        let operations = operations();
        let made: Vec<_> = (0..100).map(|_| operations.begin().expect("room")).collect();
        assert_eq!(operations.begin(), Err(Errno::ENOBUFS));
        operations.cancel(made[0]);
        assert!(operations.begin().is_ok());
    }

    #[test]
    fn results_that_nobody_takes_are_bounded_and_room_comes_back() {
        let operations = operations();
        let complete = || {
            let number = operations.begin().expect("room");
            operations.complete(number, Ok(1), vec![0; 30_000]);
        };
        (0..3).for_each(|_| complete());
        let lens: Vec<_> = operations.take().iter().map(|event| (event.result, event.bytes.len())).collect();
        assert_eq!(lens, [(1, 30_000), (1, 30_000), (-105, 0)]);
        complete();
        assert_eq!(operations.take()[0].bytes.len(), 30_000);
        assert_eq!(operations.look(), (0, 3));
        assert_eq!(operations.state.lock().charge.amount(), 0);
    }
}
