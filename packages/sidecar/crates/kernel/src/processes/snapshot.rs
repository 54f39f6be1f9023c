//! A snapshot of the process table: pids, parents, groups, waiters, and the status of ended
//! processes. The programs are not part of the snapshot. Each program is registered when the
//! program is restored. Next: `../snapshot/`.

use super::status::SIGKILL;
use super::table::{LAST_PID, ProcessRecord};
use super::{Processes, Status};
use crate::Operations;
use crate::boot_id::{BootId, Uuid};
use crate::ids::OperationId;
use crate::usage::Usage;
use coldframe_error::Error;
use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A snapshot of the process table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ProcessTableSnapshot {
    entries: BTreeMap<Pid, ProcessRecord>,
    last: Pid,
    /// The boot id of the runtime. `None` without entropy.
    boot_id: Option<Uuid>,
}

impl ProcessTableSnapshot {
    /// Checks that programs could have produced the snapshot. `programs` are the live programs in
    /// ascending order. The snapshot may have been read from a file.
    pub(crate) fn check(&self, programs: impl IntoIterator<Item = Pid>) -> Result<(), &'static str> {
        let is_number = |pid: Pid| pid > Pid::INIT && pid <= LAST_PID;
        if !(Pid::INIT..=LAST_PID).contains(&self.last) || !self.entries.keys().all(|pid| is_number(*pid)) {
            return Err("a process's number");
        }
        for (pid, entry) in &self.entries {
            let numbers = [entry.group, entry.session, entry.root];
            let has_flags = entry.waiter.is_none_or(|waiter| waiter.changes <= 3);
            if !numbers.into_iter().all(is_number)
                || !has_flags
                || entry.parent == *pid
                || (entry.parent == Pid::INIT && entry.ended.is_some())
                || (entry.keeps_session && entry.root != *pid)
            {
                return Err("a process's family");
            }
        }
        let mut before = Pid::INIT;
        for pid in programs {
            let lives = self.entries.get(&pid).is_some_and(|entry| entry.ended.is_none());
            if !lives || pid <= std::mem::replace(&mut before, pid) {
                return Err("a program without a live process");
            }
        }
        Ok(())
    }

    /// Returns the bytes that the snapshot uses.
    pub(crate) fn own_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<(Pid, ProcessRecord)>()) as u64
    }
}

impl Processes {
    pub(crate) fn snapshot(&self) -> ProcessTableSnapshot {
        let state = self.registry.lock();
        ProcessTableSnapshot { entries: state.table.entries.clone(), last: state.table.last, boot_id: self.boot_id.get() }
    }

    /// Restores the process table. Fails if the table has more processes than the limit allows.
    pub(crate) fn restore(saved: &ProcessTableSnapshot, usage: Arc<Usage>) -> Result<Self, Error> {
        let (count, max) = (saved.entries.len() as u64, usage.limits.processes);
        if count > max {
            return Err(Error::ResourceExhausted { resource: "processes in the runtime", limit: max });
        }
        let made = Self { boot_id: BootId::restored(saved.boot_id), ..Self::new(usage) };
        {
            let mut state = made.registry.lock();
            state.table.entries.clone_from(&saved.entries);
            state.table.last = saved.last;
            state.mark.raise(count, u64::MAX);
        }
        Ok(made)
    }

    /// Returns the operations that wait for the end of a child, with their processes.
    pub(crate) fn waiters(&self) -> Vec<(Pid, OperationId)> {
        let state = self.registry.lock();
        state.table.entries.values().filter_map(|entry| Some((entry.parent, entry.waiter?.operation))).collect()
    }

    /// Ends the table's live processes that have no restored program. Such a program ended while
    /// the snapshot was taken. The process's status becomes SIGKILL, and the parent is notified.
    pub(crate) fn kill_missing(&self, operations: &HashMap<Pid, Arc<Operations>>) {
        let mut state = self.registry.lock();
        let lost: Vec<Pid> = state.table.entries.iter().filter(|(_, entry)| entry.ended.is_none()).map(|(pid, _)| *pid).collect();
        for pid in lost.into_iter().filter(|pid| !operations.contains_key(pid)) {
            let status = Status::Signal(SIGKILL);
            if let Some((parent, operation)) = state.table.exited(pid, status, false).notified
                && let Some(own) = operations.get(&parent)
            {
                own.complete(operation, Ok(status.number()), Vec::new());
            }
        }
    }
}
