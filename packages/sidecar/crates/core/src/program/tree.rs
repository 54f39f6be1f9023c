//! The limits of a root program and all its descendants, which together are a program tree.
//!
//! The CPU time of a descendant counts for the root program. A detached descendant may outlive the
//! root program, and may start a copy of itself before it ends. Therefore the tree continues the
//! root program's limits after the root program's normal end. The CPU time of the remaining
//! programs counts further, and the root program's deadline stays. A tree that exceeds a limit
//! ends all its programs. A program that such a tree still starts ends at once. If the embedder
//! keeps the session of the root program, the timeout of the root program ends with its outcome,
//! and the other limits continue.
//!
//! A root program has a tree from its first child on. Every descendant has the tree of its parent.
//! Next: `usage.rs`, which charges the tree.

use super::deadline::{Deadline, FROZEN};
use super::snapshot::Remaining;
use super::{Home, Program, Quiesce, nanos};
use crate::sched::Freeze;
use crate::sched::{Alarm, Scheduler};
use coldframe_error::Error;
use coldframe_ids::Pid;
use coldframe_memory::Meter;
use coldframe_panics::runtime::Mutex;
use coldframe_sys as sys;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The delay after which a passed deadline is checked again while the programs are held.
const HELD: Duration = Duration::from_millis(50);

/// A root program and all its descendants.
pub(crate) struct ProgramTree {
    this: Weak<Self>,
    /// The root program's pid.
    pid: Pid,
    root: Weak<Program>,
    home: Weak<dyn Home>,
    scheduler: Arc<Scheduler>,
    quiesce: Arc<Quiesce>,
    freeze: Arc<Freeze>,
    /// The root program's meter, which also counts the CPU time of the descendants.
    meter: Arc<Meter>,
    /// The root program's limit of CPU time.
    cpu_ms: u64,
    /// After the root program's end: the CPU time that does not count, in nanoseconds.
    baseline: AtomicU64,
    /// After the root program's end: the root program's deadline.
    deadline: Mutex<Option<TreeDeadline>>,
    /// Whether the tree has exceeded a limit after the root program's end.
    is_over: AtomicBool,
}

/// The deadline of a tree whose root program has ended.
struct TreeDeadline {
    deadline: Deadline,
    alarm: Alarm,
    /// The time in which the runtime had been frozen when the deadline was stored.
    frozen_before: u64,
}

/// The state of a tree whose root program has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndedRoot {
    pid: Pid,
    cpu_ns: u64,
    cpu_ms: u64,
    time: Option<Remaining>,
}

impl ProgramTree {
    /// Makes the tree of a root program.
    pub(super) fn of(root: &Program) -> Arc<Self> {
        Self::make(root, root.pid, root.this.clone(), root.meter.clone(), root.limits().cpu_ms)
    }

    fn make(program: &Program, pid: Pid, root: Weak<Program>, meter: Arc<Meter>, cpu_ms: u64) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: this.clone(),
            pid,
            root,
            home: program.home.clone(),
            scheduler: program.scheduler.clone(),
            quiesce: program.quiesce.clone(),
            freeze: program.freeze.clone(),
            meter,
            cpu_ms,
            baseline: AtomicU64::new(0),
            deadline: Mutex::default(),
            is_over: AtomicBool::new(false),
        })
    }

    /// Makes the tree of a restored program whose root program had ended.
    pub(super) fn restore(program: &Program, saved: &EndedRoot) -> Arc<Self> {
        let meter = Arc::<Meter>::default();
        meter.charge(saved.cpu_ns);
        let tree = Self::make(program, saved.pid, Weak::new(), meter, saved.cpu_ms);
        if let Some(time) = saved.time {
            tree.set_deadline(time.deadline());
        }
        tree
    }

    /// Returns the root program's pid.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Returns the root program, unless the root program has ended.
    pub(super) fn root(&self) -> Option<Arc<Program>> {
        self.root.upgrade().filter(|root| !root.has_exited.load(Ordering::Acquire))
    }

    /// Returns the state for a snapshot. Returns `None` while the root program lives.
    pub(super) fn ended_root(&self) -> Option<EndedRoot> {
        if self.root().is_some() {
            return None;
        }
        let cpu_ns = self.meter.cpu_ns().saturating_sub(self.baseline.load(Ordering::Relaxed));
        let time = self.moved_deadline(&self.deadline.lock()).map(Deadline::remaining);
        Some(EndedRoot { pid: self.pid, cpu_ns, cpu_ms: self.cpu_ms, time })
    }

    /// Continues the limits of the root program, which ends without a failure. `baseline` is the
    /// CPU time that does not count.
    pub(super) fn root_ends(&self, baseline: u64, deadline: Option<Deadline>) {
        self.baseline.store(baseline, Ordering::Relaxed);
        if let Some(deadline) = deadline {
            self.set_deadline(deadline);
        }
    }

    fn set_deadline(&self, deadline: Deadline) {
        self.watch_deadline(&mut self.deadline.lock(), deadline, deadline.at);
    }

    /// Stores the deadline, and sets an alarm that checks the deadline at `at`.
    fn watch_deadline(&self, present: &mut Option<TreeDeadline>, deadline: Deadline, at: u64) {
        let this = self.this.clone();
        let alarm = self.scheduler.timers().set(at, move || {
            if let Some(tree) = this.upgrade() {
                tree.check_deadline();
            }
        });
        if let Some(before) = present.replace(TreeDeadline { deadline, alarm, frozen_before: self.freeze.total_ns() }) {
            self.scheduler.timers().cancel(before.alarm);
        }
    }

    /// Ends the tree if its deadline has passed. The time in which the programs are held or frozen
    /// does not count.
    fn check_deadline(&self) {
        let mut present = self.deadline.lock();
        let Some(deadline) = self.moved_deadline(&present) else { return };
        let now = sys::monotonic_ns();
        let next = match (self.freeze.is_frozen(), self.quiesce.is_holding()) {
            (true, _) => now + nanos(FROZEN),
            (_, true) => now + nanos(HELD),
            _ => deadline.at,
        };
        if next > now {
            self.watch_deadline(&mut present, deadline, next);
        } else {
            drop(present);
            self.end(&Deadline::error(deadline.timeout));
        }
    }

    /// Returns the deadline, moved by the time in which the runtime was frozen since the deadline
    /// was stored.
    fn moved_deadline(&self, present: &Option<TreeDeadline>) -> Option<Deadline> {
        let TreeDeadline { deadline, frozen_before, .. } = present.as_ref()?;
        let at = deadline.at.saturating_add(self.freeze.total_ns().saturating_sub(*frozen_before));
        Some(Deadline { at, timeout: deadline.timeout })
    }

    /// Counts CPU time of a descendant after the root program's end.
    pub(super) fn charge(&self, cpu_ns: u64) {
        let used = self.meter.charge(cpu_ns).saturating_sub(self.baseline.load(Ordering::Relaxed));
        if used > nanos(Duration::from_millis(self.cpu_ms)) {
            self.end(&Error::CpuLimit { cpu_ms: self.cpu_ms });
        }
    }

    /// Adds CPU time that does not count, after the root program's end.
    pub(super) fn exempt(&self, cpu_ns: u64) {
        self.baseline.fetch_add(cpu_ns, Ordering::Relaxed);
    }

    /// Ends all programs of the tree.
    pub(super) fn end(&self, reason: &Error) {
        if self.is_over.swap(true, Ordering::AcqRel) {
            return;
        }
        // A program that is not found here finds `is_over` set when it joins (`admit`).
        fence(Ordering::SeqCst);
        // The root program may have ended with an open output.
        if let Some(root) = self.root.upgrade() {
            root.end(reason.clone());
        }
        let Some(home) = self.home.upgrade() else { return };
        for program in home.programs() {
            if program.tree.get().is_some_and(|tree| std::ptr::eq(&raw const **tree, self)) {
                program.end(reason.clone());
            }
        }
    }

    /// Adds a descendant. Ends the descendant if the tree has exceeded a limit.
    pub(super) fn admit(self: Arc<Self>, program: &Program) {
        // A program has one parent. A second call would be a defect and is ignored.
        let _ = program.tree.set(self.clone());
        fence(Ordering::SeqCst);
        if self.is_over.load(Ordering::Acquire) {
            program.end(Error::CpuLimit { cpu_ms: self.cpu_ms });
        }
    }
}

impl Drop for ProgramTree {
    fn drop(&mut self) {
        if let Some(deadline) = self.deadline.get_mut().take() {
            self.scheduler.timers().cancel(deadline.alarm);
        }
    }
}

impl Program {
    /// Returns the tree of the program. Makes the tree of a root program at the first call.
    pub(super) fn tree(&self) -> Option<Arc<ProgramTree>> {
        if self.is_root() {
            return Some(self.tree.get_or_init(|| ProgramTree::of(self)).clone());
        }
        self.tree.get().cloned()
    }

    /// Returns the root program that a descendant has. Returns `None` for a root program, and after
    /// the root program has ended.
    pub(super) fn root(&self) -> Option<Arc<Self>> {
        if self.is_root() { None } else { self.tree.get()?.root() }
    }

    /// Returns the root program of a descendant, also if the root program has ended. An ended root
    /// program may still receive output.
    pub(super) fn stream_root(&self) -> Option<Arc<Self>> {
        if self.is_root() { None } else { self.tree.get()?.root.upgrade() }
    }

    /// Returns the deadline of `limits.wallMs`, if `deadline` is the deadline of the program. The
    /// embedder keeps the other processes of the session beyond the timeout of the program.
    fn wall_deadline(&self, deadline: Option<Deadline>) -> Option<Deadline> {
        let (deadline, wall) = (deadline?, self.process.kernel.usage.limits.wall()?);
        Some(Deadline { at: deadline.at.saturating_sub(nanos(deadline.timeout)).saturating_add(nanos(wall)), timeout: wall })
    }

    /// Passes the limits of a root program that has ended to its descendants, if any lives.
    pub(super) fn leave_tree(&self, deadline: Option<Deadline>) {
        let Some(tree) = self.tree.get().filter(|_| self.is_root()) else { return };
        // The program itself has one of the references.
        if Arc::strong_count(tree) > 1 {
            let deadline = if self.process.keeps_session { self.wall_deadline(deadline) } else { deadline };
            tree.root_ends(self.cpu_baseline.load(Ordering::Relaxed), deadline);
        }
    }

    /// Returns the state of the tree for a snapshot, if the tree's root program has ended.
    pub(super) fn ended_root(&self) -> Option<EndedRoot> {
        if self.is_root() { None } else { self.tree.get()?.ended_root() }
    }

    /// Continues the tree of a restored program whose root program had ended. `others` are the
    /// programs that were restored with this program.
    pub(crate) fn continue_tree<'a>(&self, saved: &EndedRoot, mut others: impl Iterator<Item = &'a Arc<Self>>) {
        let of_other = others.find_map(|other| other.tree.get().filter(|tree| !other.is_root() && tree.pid() == saved.pid));
        of_other.cloned().unwrap_or_else(|| ProgramTree::restore(self, saved)).admit(self);
    }
}
