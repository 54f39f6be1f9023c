//! The table of a runtime's processes: parents, groups, sessions, and ended processes with their
//! status. The table is plain data and names programs and operations by number, so that it can be
//! copied with the rest of a runtime.
//!
//! A process that the embedder starts is a session of its own, under process 1, which has no
//! program. A child belongs to its parent's session unless it is detached: a detached child starts
//! a session. When the first process of an embedder's session ends, the rest of that session ends
//! too. Detached processes live until the runtime is disposed, or until the embedder ends their
//! root process. Next: `status.rs`, the status of an ended process.

use super::status::Status;
use crate::ids::OperationId;
use coldframe_error::Errno;
use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The highest pid. As on Linux, the pids start again after it.
pub(super) const LAST_PID: Pid = Pid::new(4_194_304);

/// One process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) parent: Pid,
    pub(super) group: Pid,
    pub(super) session: Pid,
    /// The root process above: the one that the embedder started.
    pub(super) root: Pid,
    /// Whether the process must end because its root process ended. It can start no children.
    pub(super) condemned: bool,
    /// The status of an ended process, which stays in the table until its parent waits for it.
    pub(super) ended: Option<Status>,
    /// The parent's operation that completes when the process ends.
    pub(super) waiter: Option<Waiter>,
}

/// A parent's wait for the end of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiter {
    pub(super) operation: OperationId,
    /// Whether the wait removes the ended process from the table.
    pub(super) reaps: bool,
}

/// The effects of a process's end on other processes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Consequences {
    /// The parent and its operation.
    pub(super) notified: Option<(Pid, OperationId)>,
    /// Processes that must end too.
    pub(super) ended: Vec<Pid>,
}

/// The table of a runtime's processes.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) entries: BTreeMap<Pid, Entry>,
    pub(super) last: Pid,
    limit: usize,
}

impl Table {
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: BTreeMap::new(), last: Pid::INIT, limit }
    }

    /// Enters a process that the embedder starts. `EAGAIN` if there are too many.
    pub(super) fn enter_root(&mut self) -> Result<Pid, Errno> {
        self.enter(|pid| Entry {
            parent: Pid::INIT,
            group: pid,
            session: pid,
            root: pid,
            condemned: false,
            ended: None,
            waiter: None,
        })
    }

    /// Enters a child of `parent`.
    pub(super) fn enter_child(&mut self, parent: Pid, detached: bool) -> Result<Pid, Errno> {
        let of_parent = self.entries.get(&parent).filter(|parent| !parent.condemned).ok_or(Errno::EAGAIN)?;
        let (group, session, root) = (of_parent.group, of_parent.session, of_parent.root);
        self.enter(|pid| {
            let (group, session) = if detached { (pid, pid) } else { (group, session) };
            Entry { parent, group, session, root, condemned: false, ended: None, waiter: None }
        })
    }

    fn enter(&mut self, entry: impl FnOnce(Pid) -> Entry) -> Result<Pid, Errno> {
        if self.entries.len() >= self.limit {
            return Err(Errno::EAGAIN);
        }
        loop {
            self.last = Pid::new(if self.last >= LAST_PID { Pid::INIT } else { self.last }.get() + 1);
            if !self.entries.contains_key(&self.last) && !self.is_group(self.last) {
                break;
            }
        }
        self.entries.insert(self.last, entry(self.last));
        Ok(self.last)
    }

    /// Returns whether a group, a session or a root has the number. Such a number is not used for a
    /// new process.
    fn is_group(&self, number: Pid) -> bool {
        self.entries.values().any(|entry| entry.group == number || entry.session == number || entry.root == number)
    }

    /// Removes a process that was entered and never started.
    pub(super) fn remove(&mut self, pid: Pid) {
        self.entries.remove(&pid);
    }

    pub(super) fn parent(&self, pid: Pid) -> Pid {
        self.entries.get(&pid).map_or(Pid::INIT, |entry| entry.parent)
    }

    pub(super) fn group(&self, pid: Pid) -> Result<Pid, Errno> {
        self.entries.get(&pid).map(|entry| entry.group).ok_or(Errno::ESRCH)
    }

    /// Records the end of a process. `by_caller` is set if the embedder or a limit ended the
    /// process.
    pub(super) fn exited(&mut self, pid: Pid, status: Status, by_caller: bool) -> Consequences {
        let Some(entry) = self.entries.get_mut(&pid).filter(|entry| entry.ended.is_none()) else {
            return Consequences::default();
        };
        let (parent, is_root) = (entry.parent, entry.root == pid);
        entry.ended = Some(status);
        let notified = entry.waiter.take().map(|waiter| {
            let reaped = waiter.reaps;
            (parent, waiter.operation, reaped)
        });
        if parent == Pid::INIT || notified.is_some_and(|(_, _, reaped)| reaped) {
            self.entries.remove(&pid);
        }
        self.orphan(pid);
        let must_end =
            |entry: &Entry| entry.ended.is_none() && is_root && (entry.session == pid || (by_caller && entry.root == pid));
        let mut ended = Vec::new();
        for (pid, entry) in self.entries.iter_mut().filter(|(_, entry)| must_end(entry)) {
            entry.condemned = true;
            ended.push(*pid);
        }
        Consequences { notified: notified.map(|(parent, operation, _)| (parent, operation)), ended }
    }

    /// Moves the children of `pid` to process 1, and removes ended children, because no parent can
    /// wait for them.
    fn orphan(&mut self, pid: Pid) {
        self.entries.retain(|_, entry| {
            if entry.parent != pid {
                return true;
            }
            entry.parent = Pid::INIT;
            entry.waiter = None;
            entry.ended.is_none()
        });
    }

    /// Registers `waiter` for the end of the caller's child. Returns the status if the child has
    /// already ended. `ECHILD` if the process is no child of the caller.
    pub(super) fn wait(&mut self, caller: Pid, pid: Pid, waiter: Waiter) -> Result<Option<Status>, Errno> {
        let entry = self.entries.get_mut(&pid).filter(|entry| entry.parent == caller).ok_or(Errno::ECHILD)?;
        match entry.ended {
            Some(status) => {
                if waiter.reaps {
                    self.entries.remove(&pid);
                }
                Ok(Some(status))
            }
            None if entry.waiter.is_some() => Err(Errno::EBUSY),
            None => {
                entry.waiter = Some(waiter);
                Ok(None)
            }
        }
    }

    /// Returns the status of the caller's ended child and removes the child. `EAGAIN` while the
    /// child lives. The call leaves no waiter, because a waiter could take the notification of an
    /// end without a reader.
    pub(super) fn reap(&mut self, caller: Pid, pid: Pid) -> Result<Status, Errno> {
        let entry = self.entries.get(&pid).filter(|entry| entry.parent == caller).ok_or(Errno::ECHILD)?;
        let status = entry.ended.ok_or(Errno::EAGAIN)?;
        self.entries.remove(&pid);
        Ok(status)
    }

    /// Removes the wait for a child.
    pub(super) fn unwait(&mut self, pid: Pid, operation: OperationId) {
        if let Some(entry) = self.entries.get_mut(&pid) {
            entry.waiter = entry.waiter.filter(|waiter| waiter.operation != operation);
        }
    }

    /// Returns the processes that a `kill(number, …)` of `caller` addresses. `ESRCH` if there are
    /// none, `EPERM` for process 1.
    pub(super) fn targets(&self, caller: Pid, number: i64) -> Result<Vec<Pid>, Errno> {
        let group = match number {
            1 => return Err(Errno::EPERM),
            2.. => {
                let pid = u32::try_from(number).map(Pid::new).map_err(|_| Errno::ESRCH)?;
                return if self.entries.contains_key(&pid) { Ok(vec![pid]) } else { Err(Errno::ESRCH) };
            }
            0 => Some(self.group(caller)?),
            -1 => None,
            _ => Some(number.checked_neg().and_then(|group| u32::try_from(group).ok()).map(Pid::new).ok_or(Errno::ESRCH)?),
        };
        let is_target = |pid: Pid, entry: &Entry| group.map_or(pid != caller, |group| entry.group == group);
        let found: Vec<_> = self.entries.iter().filter(|(pid, entry)| is_target(**pid, entry)).map(|(pid, _)| *pid).collect();
        if found.is_empty() { Err(Errno::ESRCH) } else { Ok(found) }
    }

    /// Moves the process `pid`, which is `caller` or its child, to a group of its session. `None`
    /// means the caller, or the process's own group.
    pub(super) fn set_group(&mut self, caller: Pid, pid: Option<Pid>, group: Option<Pid>) -> Result<(), Errno> {
        let pid = pid.unwrap_or(caller);
        let group = group.unwrap_or(pid);
        let entry = self.entries.get(&pid).filter(|entry| pid == caller || entry.parent == caller).ok_or(Errno::ESRCH)?;
        let session = entry.session;
        let exists = group == pid || self.entries.values().any(|other| other.group == group && other.session == session);
        if session == pid || !exists {
            return Err(Errno::EPERM);
        }
        if let Some(entry) = self.entries.get_mut(&pid) {
            entry.group = group;
        }
        Ok(())
    }
}
