//! The table of a runtime's processes: parents, groups, sessions, and the status of ended
//! processes. The table is plain data. The table refers to programs and operations by number, so
//! that a snapshot can copy the table.
//!
//! A process that the embedder starts has a session of its own. The parent of such a process is
//! process 1, which has no program. A child belongs to its parent's session, but a detached child
//! starts a new session. When a root process ends, all other processes of its session end too.
//! Detached processes live until the runtime is disposed, or until the embedder or a limit ends
//! their root process. The embedder may keep the session of a root process. The processes of a kept
//! session live like detached processes. Next: `status.rs`, the status of an ended process.

use super::status::Status;
use crate::ids::OperationId;
use coldframe_error::Errno;
use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The highest pid. After this pid, pids start again at 2.
pub(super) const LAST_PID: Pid = Pid::new(4_194_304);

/// The entry of one process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ProcessRecord {
    pub(super) parent: Pid,
    pub(super) group: Pid,
    pub(super) session: Pid,
    /// The root process above this process. The embedder started the root process.
    pub(super) root: Pid,
    /// Whether the process must end because its root process ended. Such a process cannot start
    /// children.
    pub(super) condemned: bool,
    /// Whether the other processes of the session continue after the end of this root process.
    pub(super) keeps_session: bool,
    /// The status of an ended process. An ended process stays in the table until its parent waits
    /// for the process.
    pub(super) ended: Option<Status>,
    /// The parent's operation that completes when the process ends.
    pub(super) waiter: Option<Waiter>,
    /// Whether a signal has stopped the process.
    pub(super) is_stopped: bool,
    /// The last stop or continuation, until the parent has read the change.
    pub(super) change: Option<Change>,
}

/// A stop or a continuation of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Change {
    /// This signal stopped the process.
    Stopped(u8),
    Continued,
}

/// The flags of a wait: the changes that complete the wait beside the end.
const STOPS: u8 = 1;
const CONTINUATIONS: u8 = 2;

impl Change {
    /// Returns the status in the format of Linux's `wait`.
    pub(super) fn number(self) -> i32 {
        match self {
            Self::Stopped(signal) => 0x7f | i32::from(signal) << 8,
            Self::Continued => 0xffff,
        }
    }

    /// Returns whether the change completes a wait with these flags.
    fn completes(self, flags: u8) -> bool {
        let flag = if self == Self::Continued { CONTINUATIONS } else { STOPS };
        flags & flag != 0
    }
}

/// A parent's wait for the end of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiter {
    pub(super) operation: OperationId,
    /// Whether the wait removes the ended process from the table.
    pub(super) reaps: bool,
    /// The changes that complete the wait beside the end: 1 stops, 2 continuations.
    pub(super) changes: u8,
}

/// The session and the group of a new child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placement {
    /// The session and the group of the parent.
    OfParent,
    /// A new session and a new group.
    NewSession,
    /// The session of the parent and a new group.
    NewGroup,
    /// The session of the parent and this group of the session.
    Group(Pid),
}

/// The effects of a process's end on other processes, which the caller must apply.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Consequences {
    /// The parent and the parent's operation to complete.
    pub(super) notified: Option<(Pid, OperationId)>,
    /// The processes that must end because the ended process was their root process.
    pub(super) ended: Vec<Pid>,
    /// The processes of stopped groups that no process can continue. The processes receive
    /// SIGHUP and SIGCONT.
    pub(super) abandoned: Vec<Pid>,
}

/// The table of a runtime's processes.
#[derive(Debug, Clone)]
pub(super) struct ProcessTable {
    pub(super) entries: BTreeMap<Pid, ProcessRecord>,
    pub(super) last: Pid,
    /// The pids of ended root processes whose output is open. The streams name these pids, so no
    /// new process receives one. A snapshot does not contain this set.
    waiting: BTreeSet<Pid>,
    limit: usize,
}

impl ProcessTable {
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: BTreeMap::new(), last: Pid::INIT, waiting: BTreeSet::new(), limit }
    }

    /// Adds a process that the embedder starts. Fails with `EAGAIN` if the table is full.
    pub(super) fn enter_root(&mut self) -> Result<Pid, Errno> {
        self.enter(|pid| ProcessRecord {
            parent: Pid::INIT,
            group: pid,
            session: pid,
            root: pid,
            condemned: false,
            keeps_session: false,
            ended: None,
            waiter: None,
            is_stopped: false,
            change: None,
        })
    }

    /// Keeps the session of a root process after the end of the process.
    pub(super) fn keep_session(&mut self, pid: Pid) {
        if let Some(entry) = self.entries.get_mut(&pid) {
            entry.keeps_session = true;
        }
    }

    /// Reserves or frees the pid of an ended root process whose output is open.
    pub(super) fn reserve(&mut self, pid: Pid, is_reserved: bool) {
        if is_reserved {
            self.waiting.insert(pid);
        } else {
            self.waiting.remove(&pid);
        }
    }

    /// Adds a child of `parent`. Fails with `EAGAIN` if `parent` must end or the table is full.
    /// Fails with `EPERM` for a group that is not in the session of `parent`.
    pub(super) fn enter_child(&mut self, parent: Pid, placement: Placement) -> Result<Pid, Errno> {
        let of_parent = self.entries.get(&parent).filter(|parent| !parent.condemned).ok_or(Errno::EAGAIN)?;
        let (own, session, root) = (of_parent.group, of_parent.session, of_parent.root);
        if let Placement::Group(group) = placement
            && !self.has_group(session, group)
        {
            return Err(Errno::EPERM);
        }
        self.enter(|pid| {
            let (group, session) = match placement {
                Placement::OfParent => (own, session),
                Placement::NewSession => (pid, pid),
                Placement::NewGroup => (pid, session),
                Placement::Group(group) => (group, session),
            };
            ProcessRecord {
                parent,
                group,
                session,
                root,
                condemned: false,
                keeps_session: false,
                ended: None,
                waiter: None,
                is_stopped: false,
                change: None,
            }
        })
    }

    /// Returns whether a session has a group.
    pub(super) fn has_group(&self, session: Pid, group: Pid) -> bool {
        self.entries.values().any(|entry| entry.group == group && entry.session == session)
    }

    /// Returns whether a group is orphaned: no member has a parent in another group of the session.
    pub(super) fn is_orphaned(&self, group: Pid) -> bool {
        let is_parent = |parent: Pid, session: Pid| {
            let parent = self.entries.get(&parent).filter(|parent| parent.ended.is_none());
            parent.is_some_and(|parent| parent.group != group && parent.session == session)
        };
        let members = self.entries.values().filter(|entry| entry.group == group && entry.ended.is_none());
        !members.into_iter().any(|entry| is_parent(entry.parent, entry.session))
    }

    /// Records a stop or a continuation. Returns the parent and the parent's operation to complete.
    pub(super) fn changed(&mut self, pid: Pid, change: Change) -> Option<(Pid, OperationId)> {
        let entry = self.entries.get_mut(&pid).filter(|entry| entry.ended.is_none())?;
        entry.is_stopped = change != Change::Continued;
        match entry.waiter.take_if(|waiter| change.completes(waiter.changes)) {
            Some(waiter) => {
                entry.change = None;
                Some((entry.parent, waiter.operation))
            }
            None => {
                entry.change = Some(change);
                None
            }
        }
    }

    /// Makes the process the leader of a new session and of a new group. Fails with `EPERM` if a
    /// group has the number of the process.
    pub(super) fn set_session(&mut self, pid: Pid) -> Result<Pid, Errno> {
        if self.entries.values().any(|entry| entry.group == pid) {
            return Err(Errno::EPERM);
        }
        let entry = self.entries.get_mut(&pid).ok_or(Errno::ESRCH)?;
        (entry.session, entry.group) = (pid, pid);
        Ok(pid)
    }

    pub(super) fn session(&self, pid: Pid) -> Result<Pid, Errno> {
        self.entries.get(&pid).map(|entry| entry.session).ok_or(Errno::ESRCH)
    }

    fn enter(&mut self, entry: impl FnOnce(Pid) -> ProcessRecord) -> Result<Pid, Errno> {
        if self.entries.len() >= self.limit {
            return Err(Errno::EAGAIN);
        }
        loop {
            self.last = Pid::new(if self.last >= LAST_PID { Pid::INIT } else { self.last }.get() + 1);
            let is_used = self.entries.contains_key(&self.last) || self.waiting.contains(&self.last);
            if !is_used && !self.is_group(self.last) {
                break;
            }
        }
        self.entries.insert(self.last, entry(self.last));
        Ok(self.last)
    }

    /// Returns whether a group, a session or a root process has the number. A new process does not
    /// receive such a number.
    fn is_group(&self, number: Pid) -> bool {
        self.entries.values().any(|entry| entry.group == number || entry.session == number || entry.root == number)
    }

    /// Removes a process whose program never started.
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
        let (parent, group, is_root, keeps_session) = (entry.parent, entry.group, entry.root == pid, entry.keeps_session);
        entry.ended = Some(status);
        let notified = entry.waiter.take().map(|waiter| {
            let reaped = waiter.reaps;
            (parent, waiter.operation, reaped)
        });
        if parent == Pid::INIT || notified.is_some_and(|(_, _, reaped)| reaped) {
            self.entries.remove(&pid);
        }
        let mut groups: Vec<Pid> = self.entries.values().filter(|entry| entry.parent == pid).map(|entry| entry.group).collect();
        groups.push(group);
        groups.sort_unstable();
        groups.dedup();
        self.orphan(pid);
        let abandoned = self.abandoned(&groups);
        let must_end = |entry: &ProcessRecord| {
            let is_left_over = entry.session == pid && !keeps_session;
            entry.ended.is_none() && is_root && (is_left_over || (by_caller && entry.root == pid))
        };
        let mut ended = Vec::new();
        for (pid, entry) in self.entries.iter_mut().filter(|(_, entry)| must_end(entry)) {
            entry.condemned = true;
            ended.push(*pid);
        }
        Consequences { notified: notified.map(|(parent, operation, _)| (parent, operation)), ended, abandoned }
    }

    /// Returns the processes of those groups that are orphaned and have a stopped process.
    fn abandoned(&self, groups: &[Pid]) -> Vec<Pid> {
        let live = || self.entries.iter().filter(|(_, entry)| entry.ended.is_none());
        if !live().any(|(_, entry)| entry.is_stopped) {
            return Vec::new();
        }
        let is_lost = |group: &Pid| {
            let has_stopped = live().any(|(_, entry)| entry.group == *group && entry.is_stopped);
            has_stopped && self.is_orphaned(*group)
        };
        let lost: Vec<Pid> = groups.iter().copied().filter(is_lost).collect();
        live().filter(|(_, entry)| lost.contains(&entry.group)).map(|(pid, _)| *pid).collect()
    }

    /// Makes process 1 the parent of the children of `pid`. Removes children that have ended,
    /// because no parent can wait for these children.
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

    /// Registers `waiter` for the end of the caller's child. Returns the number of the status if
    /// the child has already ended, or if a change completes the wait. If `waiter.reaps` is true,
    /// also removes the ended child. Fails with `ECHILD` if the process is not a child of the
    /// caller, and with `EBUSY` if a wait for the child exists.
    pub(super) fn wait(&mut self, caller: Pid, pid: Pid, waiter: Waiter) -> Result<Option<i32>, Errno> {
        let entry = self.entries.get_mut(&pid).filter(|entry| entry.parent == caller).ok_or(Errno::ECHILD)?;
        match entry.ended {
            Some(status) => {
                if waiter.reaps {
                    self.entries.remove(&pid);
                }
                Ok(Some(status.number()))
            }
            None if entry.waiter.is_some() => Err(Errno::EBUSY),
            None if let Some(change) = entry.change.take_if(|change| change.completes(waiter.changes)) => {
                Ok(Some(change.number()))
            }
            None => {
                entry.waiter = Some(waiter);
                Ok(None)
            }
        }
    }

    /// Removes the caller's ended child and returns the child's status. Fails with `EAGAIN` while
    /// the child is live, and with `ECHILD` if the process is not a child of the caller. The
    /// function registers no waiter, because nothing would read the waiter's notification.
    pub(super) fn reap(&mut self, caller: Pid, pid: Pid) -> Result<Status, Errno> {
        let entry = self.entries.get(&pid).filter(|entry| entry.parent == caller).ok_or(Errno::ECHILD)?;
        let status = entry.ended.ok_or(Errno::EAGAIN)?;
        self.entries.remove(&pid);
        Ok(status)
    }

    /// Removes the wait of `operation` for a child.
    pub(super) fn unwait(&mut self, pid: Pid, operation: OperationId) {
        if let Some(entry) = self.entries.get_mut(&pid) {
            entry.waiter = entry.waiter.filter(|waiter| waiter.operation != operation);
        }
    }

    /// Returns the processes that `kill(number, …)` of `caller` addresses. Fails with `ESRCH` if no
    /// process has the number, and with `EPERM` for process 1.
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
        let is_target = |pid: Pid, entry: &ProcessRecord| group.map_or(pid != caller, |group| entry.group == group);
        let found: Vec<_> = self.entries.iter().filter(|(pid, entry)| is_target(**pid, entry)).map(|(pid, _)| *pid).collect();
        if found.is_empty() { Err(Errno::ESRCH) } else { Ok(found) }
    }

    /// Moves the process `pid`, which must be `caller` or a child of `caller`, to a group of its
    /// session. A `pid` of `None` means `caller`. A `group` of `None` means a group with the number
    /// of the process. Fails with `EPERM` for the first process of a session and for a group
    /// outside the session.
    pub(super) fn set_group(&mut self, caller: Pid, pid: Option<Pid>, group: Option<Pid>) -> Result<(), Errno> {
        let pid = pid.unwrap_or(caller);
        let group = group.unwrap_or(pid);
        let entry = self.entries.get(&pid).filter(|entry| pid == caller || entry.parent == caller).ok_or(Errno::ESRCH)?;
        let session = entry.session;
        let exists = group == pid || self.has_group(session, group);
        if session == pid || !exists {
            return Err(Errno::EPERM);
        }
        if let Some(entry) = self.entries.get_mut(&pid) {
            entry.group = group;
        }
        Ok(())
    }
}
