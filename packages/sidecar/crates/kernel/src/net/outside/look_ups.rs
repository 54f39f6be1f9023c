//! Lookups of names and queries of records in progress. Next: `failures.rs`, the results.

use super::failures::{self, Question};
use crate::caller::Caller;
use crate::ids::OperationId;
use crate::net::sockets::SocketState;
use crate::outside::{LookUpAnswer, LookUpId, OutsideFailure};
use crate::usage::{Charge, Resource};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use std::sync::{Arc, Weak};

/// The maximum number of lookups and queries of one runtime in progress.
const MAX_LOOK_UPS: usize = 1_024;
/// The kernel memory of a lookup in bytes, besides its operation and its result.
const LOOK_UP_COST: u64 = 256;

/// A lookup or query in progress.
pub(super) struct LookUp {
    pid: Pid,
    operation: OperationId,
    question: Question,
    _charge: Charge,
}

impl SocketState {
    /// Starts a lookup, whose result completes the program's operation. Fails with `ENOBUFS` if too
    /// many lookups are in progress or the limit of kernel memory is reached. Fails with `EACCES`
    /// if nothing outside can be reached.
    pub(super) fn begin_look_up(
        &mut self,
        program: &Arc<dyn Caller>,
        operation: OperationId,
        name: &str,
        question: Question,
    ) -> Result<(), Errno> {
        let outside = self.outside.outside.clone().ok_or(Errno::EACCES)?;
        if self.outside.look_ups.len() >= MAX_LOOK_UPS {
            return Err(Errno::ENOBUFS);
        }
        let charge = Charge::of(&self.network.usage, Resource::Kernel, LOOK_UP_COST).ok_or(Errno::ENOBUFS)?;
        let pid = program.pid();
        self.remember_operations(program);
        self.outside.last_look_up = self.outside.last_look_up.wrapping_add(1);
        let id = LookUpId::new(self.outside.last_look_up);
        self.outside.look_ups.insert(id, LookUp { pid, operation, question, _charge: charge });
        match question {
            Question::Addresses(family) => outside.look_up(id, name, family),
            Question::Records(record_type) => outside.query(id, name, record_type),
        }
        Ok(())
    }

    /// Completes the operation of a lookup. Has no effect if the lookup has ended.
    pub(super) fn end_look_up(&mut self, id: LookUpId, result: Result<LookUpAnswer, OutsideFailure>) {
        let Some(look_up) = self.outside.look_ups.remove(&id) else { return };
        let (result, bytes) = failures::of_look_up(look_up.question, result);
        self.complete_look_up(&look_up, result, bytes);
    }

    fn complete_look_up(&self, look_up: &LookUp, result: Result<i32, Errno>, bytes: Vec<u8>) {
        if let Some(operations) = self.waiting.get(&look_up.pid).and_then(Weak::upgrade) {
            operations.complete(look_up.operation, result, bytes);
        }
    }

    /// Cancels the lookup of an operation. Returns false if the operation is no lookup in progress.
    pub(super) fn cancel_look_up(&mut self, pid: Pid, operation: OperationId) -> bool {
        let is_it = |look_up: &LookUp| look_up.pid == pid && look_up.operation == operation;
        let found = self.outside.look_ups.iter().find(|(_, look_up)| is_it(look_up)).map(|(id, _)| *id);
        self.cancel_all(found)
    }

    /// Cancels all lookups of an ended process.
    pub(in crate::net) fn cancel_look_ups(&mut self, pid: Pid) {
        let mut own: Vec<LookUpId> =
            self.outside.look_ups.iter().filter(|(_, look_up)| look_up.pid == pid).map(|(id, _)| *id).collect();
        own.sort_unstable();
        self.cancel_all(own);
    }

    fn cancel_all(&mut self, ids: impl IntoIterator<Item = LookUpId>) -> bool {
        let mut cancelled = false;
        for id in ids {
            cancelled |= self.outside.look_ups.remove(&id).is_some();
            if let Some(outside) = &self.outside.outside {
                outside.cancel(id);
            }
        }
        cancelled
    }

    /// Fails all lookups, in ascending order, because their results are lost.
    pub(super) fn lose_look_ups(&mut self) {
        let mut look_ups: Vec<(LookUpId, LookUp)> = self.outside.look_ups.drain().collect();
        look_ups.sort_unstable_by_key(|(id, _)| *id);
        for (id, look_up) in look_ups {
            if let Some(outside) = &self.outside.outside {
                outside.cancel(id);
            }
            let (result, bytes) = failures::of_lost_look_up(look_up.question);
            self.complete_look_up(&look_up, result, bytes);
        }
    }
}
