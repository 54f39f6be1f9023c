//! The limits `runtimeCpuMs` and `runtimeWallMs`: the CPU time and the wall-clock time of a whole
//! runtime.
//!
//! The CPU time of all programs counts: root programs, children, detached children, resident
//! runners, and computations on the threads of the kernel. The wall-clock time counts from the
//! creation of the runtime, without the time in which the runtime was paused. A rollback returns
//! no time, because the budget belongs to the runtime and not to the replaced kernel. A clone is
//! a new runtime with a new budget. No guest can make a clone.
//!
//! A runtime that has exceeded a limit starts no further programs. Next: `runtime/mod.rs`, which
//! ends the programs of such a runtime.

use coldframe_error::Error;
use coldframe_kernel::Limits;
use coldframe_kernel::usage::is_near;
use coldframe_kernel::usage::reports::LimitUse;
use coldframe_sys as sys;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const MS: u64 = 1_000_000;

/// The time that a runtime has used, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BudgetUse {
    cpu_ns: u64,
    wall_ns: u64,
}

/// The use of the limits of a whole runtime.
#[derive(Debug)]
pub(crate) struct RuntimeBudget {
    /// The limits in milliseconds. 0 means no limit.
    cpu_ms: u64,
    wall_ms: u64,
    cpu_ns: AtomicU64,
    has_warned: AtomicBool,
    /// The start of the wall-clock time, in nanoseconds of the monotonic clock. For a resumed
    /// runtime, the start is earlier by the time before the pause. A freeze moves the start.
    began: AtomicU64,
    exceeded: OnceLock<Error>,
}

/// The effect of used CPU time.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    Nothing,
    /// A warning about the limit is due.
    Near,
    /// The limit was exceeded now. The caller must end the runtime's programs.
    Exceeded(Error),
}

impl RuntimeBudget {
    /// Makes the budget of a runtime that has used `before`.
    pub(crate) fn new(limits: &Limits, before: BudgetUse) -> Self {
        Self {
            cpu_ms: limits.runtime_cpu_ms,
            wall_ms: limits.runtime_wall_ms,
            cpu_ns: AtomicU64::new(before.cpu_ns),
            has_warned: AtomicBool::new(false),
            began: AtomicU64::new(sys::monotonic_ns().saturating_sub(before.wall_ns)),
            exceeded: OnceLock::new(),
        }
    }

    /// Returns the time that the runtime has used.
    pub(crate) fn used(&self) -> BudgetUse {
        let wall_ns = sys::monotonic_ns().saturating_sub(self.began());
        BudgetUse { cpu_ns: self.cpu_ns.load(Ordering::Relaxed), wall_ns }
    }

    fn began(&self) -> u64 {
        self.began.load(Ordering::Relaxed)
    }

    /// Removes `wall_ns` from the wall-clock time, because the runtime was frozen.
    pub(crate) fn exempt_wall(&self, wall_ns: u64) {
        self.began.fetch_add(wall_ns, Ordering::Relaxed);
    }

    /// Counts CPU time.
    pub(crate) fn spend(&self, cpu_ns: u64) -> Effect {
        let used = self.cpu_ns.fetch_add(cpu_ns, Ordering::Relaxed).saturating_add(cpu_ns);
        if self.cpu_ms == 0 {
            return Effect::Nothing;
        }
        let max = self.cpu_ms.saturating_mul(MS);
        if used > max {
            return self.exceed(self.cpu_error()).map_or(Effect::Nothing, Effect::Exceeded);
        }
        if is_near(used, max) && !self.has_warned.swap(true, Ordering::Relaxed) { Effect::Near } else { Effect::Nothing }
    }

    /// Returns whether `cpu_ns` more CPU time, which is not counted yet, would exceed the limit.
    pub(crate) fn would_exceed(&self, cpu_ns: u64) -> bool {
        self.cpu_ms > 0 && self.cpu_ns.load(Ordering::Relaxed).saturating_add(cpu_ns) > self.cpu_ms.saturating_mul(MS)
    }

    /// Returns the error of a runtime that has used too much CPU time.
    pub(crate) fn cpu_error(&self) -> Error {
        Error::RuntimeCpuLimit { cpu_ms: self.cpu_ms }
    }

    /// Returns the times of the monotonic clock at which a warning about wall-clock time is due and
    /// at which the limit is exceeded. Returns `None` without a limit.
    pub(crate) fn wall_times(&self) -> Option<[u64; 2]> {
        let end = |ms: u64| self.began().saturating_add(ms.saturating_mul(MS));
        (self.wall_ms > 0).then(|| [end(self.wall_ms - self.wall_ms / 5), end(self.wall_ms)])
    }

    /// Records that the wall-clock time has passed. Returns the reason to end the programs.
    pub(crate) fn wall_passed(&self) -> Option<Error> {
        self.exceed(Error::RuntimeTimeout { timeout_ms: self.wall_ms })
    }

    /// Returns the error of each further start, if the runtime has exceeded a limit.
    pub(crate) fn exceeded(&self) -> Option<&Error> {
        self.exceeded.get()
    }

    fn exceed(&self, error: Error) -> Option<Error> {
        self.exceeded.set(error.clone()).is_ok().then_some(error)
    }

    /// Returns the use of both limits.
    pub(crate) fn uses(&self) -> [LimitUse; 2] {
        let BudgetUse { cpu_ns, wall_ns } = self.used();
        let limit_use = |limit, used, max| LimitUse { limit, used, high: used, max };
        [limit_use("runtimeCpuMs", cpu_ns / MS, self.cpu_ms), limit_use("runtimeWallMs", wall_ns / MS, self.wall_ms)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(runtime_cpu_ms: u64, before: BudgetUse) -> RuntimeBudget {
        RuntimeBudget::new(&Limits { runtime_cpu_ms, runtime_wall_ms: 50, ..Limits::default() }, before)
    }

    #[test]
    fn warns_once_and_ends_once() {
        let budget = budget(10, BudgetUse::default());
        assert_eq!((budget.spend(7 * MS), budget.spend(MS), budget.spend(MS)), (Effect::Nothing, Effect::Near, Effect::Nothing));
        assert!(!budget.would_exceed(MS) && budget.would_exceed(MS + 1) && budget.exceeded().is_none());
        let error = Error::RuntimeCpuLimit { cpu_ms: 10 };
        assert_eq!((budget.spend(2 * MS), budget.spend(MS)), (Effect::Exceeded(error.clone()), Effect::Nothing));
        assert_eq!((budget.exceeded(), budget.wall_passed()), (Some(&error), None));
    }

    #[test]
    fn continues_with_the_time_before_a_pause() {
        let budget = budget(10, BudgetUse { cpu_ns: 9 * MS, wall_ns: 40 * MS });
        assert_eq!(budget.uses()[0].used, 9);
        assert!(budget.uses()[1].used >= 40);
        let [near, end] = budget.wall_times().expect("a limit");
        assert_eq!((end - near, near), (10 * MS, budget.began() + 40 * MS));
        assert!(matches!(budget.spend(2 * MS), Effect::Exceeded(_)));
    }

    #[test]
    fn zero_means_no_limit() {
        let budget = RuntimeBudget::new(&Limits::default(), BudgetUse::default());
        assert_eq!((budget.spend(u64::MAX / 2), budget.wall_times()), (Effect::Nothing, None));
        assert!(!budget.would_exceed(u64::MAX));
    }
}
