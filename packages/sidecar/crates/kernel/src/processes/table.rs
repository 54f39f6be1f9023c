//! The table of a runtime's processes: who is whose child, in which group and session, who has ended and how. Plain data, with programs and
//! operations as numbers in it, so that it can be copied with the rest of a runtime.
//!
//! A process that the caller outside starts is a session of its own, under process 1, which is nobody's program. What such a process starts
//! belongs to its session, unless it is detached: then it begins a session. When the first process of a session started from outside ends, what is
//! left of that session ends too; detached processes live on until the runtime is disposed of, or until the caller outside ends the
//! process under which they began. Next: `status.rs`, how a process ended.

use super::status::Status;
use crate::ids::OperationId;
use coldframe_error::Errno;
use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// As on Linux, numbers begin again after this one.
pub(super) const LAST_PID: Pid = Pid::new(4_194_304);

/// One process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) parent: Pid,
    pub(super) group: Pid,
    pub(super) session: Pid,
    /// The process under which it began that the caller outside started.
    pub(super) root: Pid,
    /// It has been told to end with another one, and starts nothing any more.
    pub(super) condemned: bool,
    /// How it ended: then it waits for its parent to ask.
    pub(super) ended: Option<Status>,
    /// The parent's operation that is told of the end.
    pub(super) waiter: Option<Waiter>,
}

/// See [`Entry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiter {
    pub(super) operation: OperationId,
    /// Whether being told is all that the parent wants: the entry is removed then.
    pub(super) reaps: bool,
}

/// What follows from an end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Consequences {
    /// The parent and its operation.
    pub(super) told: Option<(Pid, OperationId)>,
    /// Processes that end with it.
    pub(super) ended: Vec<Pid>,
}

/// See the module.
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

    /// A number for a process that the caller outside starts. `EAGAIN` when there are too many.
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

    /// A number for a child of `parent`.
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

    /// Whether a number is that of a group or session: then it is not given to a process.
    fn is_group(&self, number: Pid) -> bool {
        self.entries.values().any(|entry| entry.group == number || entry.session == number || entry.root == number)
    }

    /// A process that was entered and never began.
    pub(super) fn remove(&mut self, pid: Pid) {
        self.entries.remove(&pid);
    }

    pub(super) fn parent(&self, pid: Pid) -> Pid {
        self.entries.get(&pid).map_or(Pid::INIT, |entry| entry.parent)
    }

    pub(super) fn group(&self, pid: Pid) -> Result<Pid, Errno> {
        self.entries.get(&pid).map(|entry| entry.group).ok_or(Errno::ESRCH)
    }

    /// The process has ended; `by_caller`: the caller outside, or a limit, has ended it.
    pub(super) fn exited(&mut self, pid: Pid, status: Status, by_caller: bool) -> Consequences {
        let Some(entry) = self.entries.get_mut(&pid).filter(|entry| entry.ended.is_none()) else {
            return Consequences::default();
        };
        let (parent, is_root) = (entry.parent, entry.root == pid);
        entry.ended = Some(status);
        let told = entry.waiter.take().map(|waiter| {
            let reaped = waiter.reaps;
            (parent, waiter.operation, reaped)
        });
        if parent == Pid::INIT || told.is_some_and(|(_, _, reaped)| reaped) {
            self.entries.remove(&pid);
        }
        self.orphan(pid);
        let goes = |entry: &Entry| entry.ended.is_none() && is_root && (entry.session == pid || (by_caller && entry.root == pid));
        let mut ended = Vec::new();
        for (pid, entry) in self.entries.iter_mut().filter(|(_, entry)| goes(entry)) {
            entry.condemned = true;
            ended.push(*pid);
        }
        Consequences { told: told.map(|(parent, operation, _)| (parent, operation)), ended }
    }

    /// The children of `pid` have no parent any more; those that have ended already are of no interest to anyone.
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

    /// Has `waiter` told of the end of the caller's child; how it ended, if it has. `ECHILD` when it is no child of the caller.
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

    /// How the caller's child ended, which forgets it; `EAGAIN` while it lives. In one step: a look that left a waiter behind, even for a moment,
    /// could be told of an end that nobody hears of.
    pub(super) fn reap(&mut self, caller: Pid, pid: Pid) -> Result<Status, Errno> {
        let entry = self.entries.get(&pid).filter(|entry| entry.parent == caller).ok_or(Errno::ECHILD)?;
        let status = entry.ended.ok_or(Errno::EAGAIN)?;
        self.entries.remove(&pid);
        Ok(status)
    }

    /// Nobody waits for the child any more.
    pub(super) fn unwait(&mut self, pid: Pid, operation: OperationId) {
        if let Some(entry) = self.entries.get_mut(&pid) {
            entry.waiter = entry.waiter.filter(|waiter| waiter.operation != operation);
        }
    }

    /// Whom a `kill(number, …)` of `caller` means; `ESRCH` when that is nobody, `EPERM` for process 1.
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
        let meant = |pid: Pid, entry: &Entry| group.map_or(pid != caller, |group| entry.group == group);
        let found: Vec<_> = self.entries.iter().filter(|(pid, entry)| meant(**pid, entry)).map(|(pid, _)| *pid).collect();
        if found.is_empty() { Err(Errno::ESRCH) } else { Ok(found) }
    }

    /// Moves the process `pid`, which is `caller` or its child, to a group of its session. `None`: the caller, and the process's own group.
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
