//! A snapshot of a program's operations: the pending operations, and the events that the program
//! has not taken.
//!
//! Wakers are not part of the snapshot. Operations of blocking calls are not part of the snapshot,
//! because no program waits in a blocking call when a snapshot is taken. Next: `../snapshot/`.

use super::{Event, OPERATION_COST, Operations};
use crate::ids::MAX_ID;
use crate::ids::OperationId;
use crate::usage::{Footprint, Usage};
use coldframe_error::Errno;
use coldframe_error::Error;
use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A snapshot of [`Operations`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OperationsSnapshot {
    last: Option<OperationId>,
    /// The pending operations, in ascending order.
    pending: Vec<OperationId>,
    done: Vec<Event>,
}

impl OperationsSnapshot {
    /// Checks that a program could have produced the snapshot. The snapshot may have been read from
    /// a file.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let is_number = |operation: &OperationId| operation.get() <= MAX_ID;
        let done = self.done.iter().map(|event| &event.operation);
        let are_numbers = self.last.iter().chain(&self.pending).chain(done).all(is_number);
        if are_numbers && self.pending.is_sorted_by(|one, other| one < other) { Ok(()) } else { Err("an operation's number") }
    }

    /// Returns the bytes that the snapshot uses.
    pub(crate) fn own_bytes(&self) -> u64 {
        let results: usize = self.done.iter().map(|event| event.bytes.len() + size_of::<Event>()).sum();
        (self.pending.len() * size_of::<OperationId>() + results) as u64
    }
}

impl Operations {
    pub(crate) fn snapshot(&self) -> OperationsSnapshot {
        let state = self.state.lock();
        let mut pending: Vec<OperationId> = state.pending.iter().copied().collect();
        pending.sort_unstable();
        OperationsSnapshot { last: state.last, pending, done: state.done.iter().cloned().collect() }
    }

    /// Restores the operations of the process `pid`. Fails if the operations exceed the runtime's
    /// limits.
    pub(crate) fn restore(saved: &OperationsSnapshot, usage: &Arc<Usage>, pid: Pid) -> Result<Self, Error> {
        let made = Self::new(usage, pid);
        {
            let mut state = made.state.lock();
            state.last = saved.last;
            state.pending.extend(&saved.pending);
            state.done.extend(saved.done.iter().cloned());
            state.held = state.done.iter().map(|event| event.bytes.footprint()).sum();
            let (count, max) = (state.count(), usage.limits.operations);
            if count > max {
                return Err(Error::ResourceExhausted { resource: "operations of a process", limit: max });
            }
            let cost = count * OPERATION_COST + state.held;
            if !state.charge.grow(cost) {
                return Err(Error::ResourceExhausted { resource: "kernel bytes", limit: usage.limits.kernel_bytes });
            }
            // The limit is `u64::MAX`, so that restored operations cause no warning.
            state.mark.raise(count, u64::MAX);
            made.news.store(!state.done.is_empty(), Ordering::Release);
        }
        Ok(made)
    }

    /// Returns whether the operation is in progress and sends an event at the completion.
    pub(crate) fn is_pending(&self, operation: OperationId) -> bool {
        self.state.lock().pending.contains(&operation)
    }

    /// Completes the pending operations for which `has_completer` returns false with `ECANCELED`,
    /// because no other code would complete these operations.
    pub(crate) fn cancel_orphans(&self, has_completer: impl Fn(OperationId) -> bool) {
        let mut orphans: Vec<OperationId> = {
            let state = self.state.lock();
            state.pending.iter().copied().filter(|operation| !has_completer(*operation)).collect()
        };
        // Two runtimes that were restored from one snapshot must behave alike, so the order is
        // fixed. In ascending order, earlier operations are first.
        orphans.sort_unstable();
        for operation in orphans {
            self.complete(operation, Err(Errno::ECANCELED), Vec::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::testing::operation;

    const PID: Pid = Pid::new(2);

    fn usage(operations: u64, kernel_bytes: u64) -> Arc<Usage> {
        Usage::new(&Limits { operations, kernel_bytes, ..Limits::default() })
    }

    fn saved() -> OperationsSnapshot {
        let operations = Operations::new(&usage(100, 65_536), PID);
        let numbers: Vec<_> = (0..3).map(|_| operations.begin().expect("room")).collect();
        operations.complete(numbers[1], Ok(7), vec![1, 2]);
        operations.begin_blocking().expect("room");
        operations.snapshot()
    }

    #[test]
    fn a_restored_operation_stays_pending_and_a_completed_one_is_delivered() {
        let usage = usage(100, 65_536);
        let restored = Operations::restore(&saved(), &usage, PID).expect("room");
        assert_eq!(restored.take(), [Event { operation: operation(2), result: 7, bytes: vec![1, 2] }]);
        assert!(restored.is_pending(operation(1)) && !restored.is_pending(operation(2)) && restored.is_pending(operation(3)));
        restored.complete(operation(3), Ok(1), Vec::new());
        assert_eq!(restored.take(), [Event { operation: operation(3), result: 1, bytes: vec![] }]);
        assert_eq!(restored.begin(), Ok(operation(5)), "numbers continue");
        assert_eq!(restored.used_and_highest(), (2, 3));
    }

    #[test]
    fn cancels_orphaned_operations_in_order() {
        let restored = Operations::restore(&saved(), &usage(100, 65_536), PID).expect("room");
        restored.take();
        restored.cancel_orphans(|own| own == operation(9));
        let results: Vec<_> = restored.take().iter().map(|event| (event.operation.get(), event.result)).collect();
        assert_eq!(results, [(1, -125), (3, -125)]);
        assert!(!restored.are_under_way());
    }

    #[test]
    fn refuses_limits_that_the_operations_exceed() {
        let refusal = |operations, bytes| match Operations::restore(&saved(), &usage(operations, bytes), PID) {
            Err(Error::ResourceExhausted { resource, limit }) => (resource, limit),
            _ => ("", 0),
        };
        assert_eq!(refusal(2, 65_536), ("operations of a process", 2));
        assert_eq!(refusal(3, 300), ("kernel bytes", 300));
        assert_eq!(refusal(3, 65_536), ("", 0));
    }
}
