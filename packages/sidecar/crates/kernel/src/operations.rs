//! Operations in progress: system calls that have started and whose completion the program has not
//! received.
//!
//! A system call that cannot complete at once allots a number in this module and returns the
//! number. The code that finishes the work completes the operation of that number. The program
//! receives the completion as a COMPLETE event in a later turn. Next: `operations/snapshot.rs`.

mod snapshot;

pub(crate) use snapshot::OperationsSnapshot;

use crate::ids::MAX_ID;
use crate::ids::OperationId;
use coldframe_ids::Pid;
use coldframe_panics::runtime::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use super::usage::{Charge, Footprint, Mark, Resource, Usage, fitted};
use coldframe_error::Errno;

/// The kernel memory of an operation in bytes, besides the bytes of its result.
const OPERATION_COST: u64 = 128;
/// The number of operations for which the lists keep memory while no operation is in progress.
const MAX_SPARE: usize = 64;

/// The completion of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The completed operation.
    pub operation: OperationId,
    /// The operation's result: a value, or a negative error number.
    pub result: i32,
    /// The bytes of the result.
    pub bytes: Vec<u8>,
}

/// The operations of one program.
pub struct Operations {
    usage: Arc<Usage>,
    pid: Pid,
    state: Mutex<State>,
    /// Whether `state.done` has events. The field can be read without the lock.
    news: AtomicBool,
}

struct State {
    /// The charge for the operations and for results that the program has not taken.
    charge: Charge,
    mark: Mark,
    /// The memory of the results in `done`, in bytes.
    held: u64,
    last: Option<OperationId>,
    pending: HashSet<OperationId>,
    done: VecDeque<Event>,
    waiting: Option<Waker>,
    /// The operations that a blocking call waits for. A completed operation has a result.
    blocking: HashMap<OperationId, Option<i32>>,
    blocked: Option<Waker>,
}

impl State {
    /// Lowers the charge after operations have ended or the program has taken results.
    fn lower(&mut self, usage: &Usage) {
        let count = self.count();
        if count == 0 && self.done.capacity().max(self.pending.capacity()) > MAX_SPARE {
            self.done.shrink_to(MAX_SPARE);
            self.pending.shrink_to(MAX_SPARE);
        }
        self.charge.shrink(self.charge.amount().saturating_sub(count * OPERATION_COST + self.held));
        self.mark.lower(count, usage.limits.operations);
    }

    fn count(&self) -> u64 {
        (self.pending.len() + self.done.len() + self.blocking.len()) as u64
    }

    fn allot(&mut self, usage: &Usage, pid: Pid) -> Result<OperationId, Errno> {
        let (count, max) = (self.count() + 1, usage.limits.operations);
        if count > max || !self.charge.grow(OPERATION_COST) {
            return Err(Errno::ENOBUFS);
        }
        if self.mark.raise(count, max) {
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
    /// Makes an empty list of operations for the process `pid`.
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

    /// Returns the counters that the program's use is charged to.
    pub(crate) fn usage(&self) -> &Arc<Usage> {
        &self.usage
    }

    /// Returns the pid of the program that has these operations.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Returns the present and the highest number of operations. An operation counts until the
    /// program takes the operation's event.
    pub(crate) fn used_and_highest(&self) -> (u64, u64) {
        let state = self.state.lock();
        (state.count(), state.mark.high())
    }

    /// Allots a number for a new operation. Fails with `ENOBUFS` if too many operations are in
    /// progress or the limit of kernel memory is reached.
    pub(crate) fn begin(&self) -> Result<OperationId, Errno> {
        let mut state = self.state.lock();
        let number = state.allot(&self.usage, self.pid)?;
        state.pending.insert(number);
        Ok(number)
    }

    /// Allots a number for an operation that a blocking call waits for. The caller must end the
    /// operation with [`Operations::end_blocking`]. Fails like [`Operations::begin`].
    pub(crate) fn begin_blocking(&self) -> Result<OperationId, Errno> {
        let mut state = self.state.lock();
        let number = state.allot(&self.usage, self.pid)?;
        state.blocking.insert(number, None);
        Ok(number)
    }

    /// Returns whether a blocking operation has completed. If not, `waker` is called at the
    /// completion.
    pub(crate) fn is_unblocked(&self, waker: &Waker) -> bool {
        let mut state = self.state.lock();
        if state.blocking.values().any(Option::is_some) {
            return true;
        }
        state.blocked = Some(waker.clone());
        false
    }

    /// Returns whether an operation has completed and the program has not taken the event. If not,
    /// `waker` is called at the completion. Fails with `ENOENT` if no such operation is in
    /// progress.
    pub(crate) fn has_completed(&self, operation: OperationId, waker: &Waker) -> Result<bool, Errno> {
        let mut state = self.state.lock();
        if state.done.iter().any(|event| event.operation == operation) {
            return Ok(true);
        }
        if !state.pending.contains(&operation) {
            return Err(Errno::ENOENT);
        }
        state.blocked = Some(waker.clone());
        Ok(false)
    }

    /// Takes the event of a completed operation: the result as i32 and the bytes. Returns their
    /// length. Takes nothing if `room` is shorter. Fails with `EAGAIN` before the completion, and
    /// with `ENOENT` if no such operation is in progress.
    pub(crate) fn take_into(&self, operation: OperationId, room: &mut [u8]) -> Result<usize, Errno> {
        const RESULT: usize = size_of::<i32>();
        let mut state = self.state.lock();
        let Some(at) = state.done.iter().position(|event| event.operation == operation) else {
            return Err(if state.pending.contains(&operation) { Errno::EAGAIN } else { Errno::ENOENT });
        };
        let len = RESULT + state.done[at].bytes.len();
        let Some(room) = room.get_mut(..len) else { return Ok(len) };
        if let Some(event) = state.done.remove(at) {
            room[..RESULT].copy_from_slice(&event.result.to_le_bytes());
            room[RESULT..].copy_from_slice(&event.bytes);
            state.held = state.held.saturating_sub(event.bytes.footprint());
        }
        state.lower(&self.usage);
        Ok(len)
    }

    /// Removes a blocking operation. Returns the result if the operation has completed.
    pub(crate) fn end_blocking(&self, number: OperationId) -> Option<i32> {
        let mut state = self.state.lock();
        let ended = state.blocking.remove(&number)?;
        state.lower(&self.usage);
        ended
    }

    /// Wakes the blocked VM, which checks again whether to continue.
    pub(crate) fn wake(&self) {
        let blocked = self.state.lock().blocked.take();
        if let Some(blocked) = blocked {
            blocked.wake();
        }
    }

    /// Completes an operation. Has no effect if the operation was cancelled or has completed
    /// before.
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
        // A result stays in the list until the program takes the result. If the bytes exceed the
        // limit of kernel memory, the program receives `ENOBUFS` instead.
        let bytes = fitted(bytes);
        let fits = bytes.is_empty() || state.charge.grow(bytes.footprint());
        let (result, bytes) = if fits { (result, bytes) } else { (Errno::ENOBUFS.negative() as i32, Vec::new()) };
        state.held += bytes.footprint();
        state.done.push_back(Event { operation, result, bytes });
        self.news.store(true, Ordering::Release);
        let wakers = [state.waiting.take(), state.blocked.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// Cancels an operation, so that the program receives no event of the operation. Returns false
    /// if the operation is not in progress. If the function returns false, the operation's event
    /// may already be in the list.
    pub(crate) fn cancel(&self, operation: OperationId) -> bool {
        let mut state = self.state.lock();
        let cancelled = state.pending.remove(&operation);
        if cancelled {
            state.lower(&self.usage);
        }
        cancelled
    }

    /// Drops the wakers of an ended program. A waker refers to the task, the task owns the program,
    /// and the program owns these operations. A waker would therefore keep the task, the program
    /// and the operations alive.
    pub(crate) fn close(&self) {
        let (waiting, blocked) = {
            let mut state = self.state.lock();
            (state.waiting.take(), state.blocked.take())
        };
        drop((waiting, blocked));
    }

    /// Returns whether operations that send an event are in progress, or the program has not taken
    /// all events.
    pub fn are_under_way(&self) -> bool {
        let state = self.state.lock();
        !state.pending.is_empty() || !state.done.is_empty()
    }

    /// Removes and returns the events of the completed operations.
    pub fn take(&self) -> Vec<Event> {
        if !self.news.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        let mut state = self.state.lock();
        let done: Vec<Event> = state.done.drain(..).collect();
        state.held = 0;
        state.lower(&self.usage);
        done
    }

    /// Registers `waker` for the next completion. Returns false if an event is already in the list.
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
    fn an_operation_completes_once_and_never_after_a_cancel() {
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
    fn a_blocking_operation_keeps_its_result_and_sends_no_event() {
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
    fn a_taken_event_is_taken_once_and_a_short_buffer_takes_nothing() {
        let operations = operations();
        let number = operations.begin().expect("room");
        assert_eq!(operations.has_completed(number, Waker::noop()), Ok(false));
        assert_eq!(operations.take_into(number, &mut [0; 9]), Err(Errno::EAGAIN));
        operations.complete(number, Ok(7), vec![1, 2]);
        assert_eq!(operations.has_completed(number, Waker::noop()), Ok(true));
        assert_eq!(operations.take_into(number, &mut [0; 5]), Ok(6));
        let mut room = [9; 7];
        assert_eq!((operations.take_into(number, &mut room), room), (Ok(6), [7, 0, 0, 0, 1, 2, 9]));
        assert_eq!(operations.take_into(number, &mut room), Err(Errno::ENOENT));
        assert_eq!(operations.has_completed(number, Waker::noop()), Err(Errno::ENOENT));
        assert_eq!((operations.take(), operations.are_under_way()), (vec![], false));
        assert_eq!(operations.state.lock().charge.amount(), 0);
    }

    #[test]
    fn refuses_operations_beyond_the_limit() {
        let operations = operations();
        let made: Vec<_> = (0..100).map(|_| operations.begin().expect("room")).collect();
        assert_eq!(operations.begin(), Err(Errno::ENOBUFS));
        operations.cancel(made[0]);
        assert!(operations.begin().is_ok());
    }

    #[test]
    fn bounds_the_results_that_no_program_takes_and_frees_them_when_taken() {
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
        assert_eq!(operations.used_and_highest(), (0, 3));
        assert_eq!(operations.state.lock().charge.amount(), 0);
    }
}
