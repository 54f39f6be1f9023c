//! A program's use of CPU time and memory, and its limits.
//!
//! The highest values are kept for the runtime's usage. The kernel counts the program's objects in
//! the kernel (`usage/` of the crate `kernel`). Next: `run.rs`.

use super::{Program, nanos};
use crate::budget::Effect;
use coldframe_error::Error;
use coldframe_kernel::ProgramUse;
use coldframe_kernel::usage::is_near;
use std::sync::atomic::Ordering;
use std::time::Duration;

const MS: u64 = 1_000_000;

impl Program {
    /// Counts the CPU time of the current poll on this thread, up to now.
    pub(super) fn settle(&self) {
        self.spent(self.meter.count());
    }

    pub(super) fn spent(&self, (total, spent): (u64, u64)) {
        self.process.kernel.usage.computed(spent);
        self.spend_budget(spent);
        self.check_cpu(total);
    }

    /// Counts CPU time for the runtime's limit. If the runtime exceeds the limit, ends all programs
    /// of the runtime.
    pub(super) fn spend_budget(&self, cpu_ns: u64) {
        match self.budget.spend(cpu_ns) {
            Effect::Nothing => {}
            Effect::Near => {
                let [used, _] = self.budget.uses();
                self.process.kernel.usage.warnings.add(used.limit, used.used, used.max, None);
            }
            Effect::Exceeded(reason) => {
                if let Some(home) = self.home() {
                    home.end_all(&reason);
                }
            }
        }
    }

    /// Enforces the limit of CPU time. The CPU time of a descendant also counts for the root
    /// program, and after the root program's end for the tree.
    pub(super) fn check_cpu(&self, total: u64) {
        if let Some(tree) = self.tree.get().filter(|_| !self.is_root()) {
            let before = self.charged.fetch_max(total, Ordering::Relaxed);
            let cpu_ns = total.saturating_sub(before);
            match tree.root() {
                Some(root) => root.check_cpu(root.meter.charge(cpu_ns)),
                None => tree.charge(cpu_ns),
            }
        }
        let used = total.saturating_sub(self.cpu_baseline.load(Ordering::Relaxed));
        let cpu_ms = self.limits().cpu_ms;
        self.process.kernel.usage.peaks.cpu_ms.record(used / MS);
        if is_near(used, cpu_ms.saturating_mul(MS)) && !self.warned_cpu.swap(true, Ordering::Relaxed) {
            self.warn("cpuMs", used / MS, cpu_ms);
        }
        if used > nanos(Duration::from_millis(cpu_ms)) {
            self.end_work(Error::CpuLimit { cpu_ms });
        }
    }

    /// Starts counting CPU time for a new evaluation.
    pub(super) fn begin_cpu(&self) {
        self.cpu_baseline.store(self.meter.cpu_ns(), Ordering::Relaxed);
        self.warned_cpu.store(false, Ordering::Relaxed);
    }

    /// Continues from the CPU time of the original program, which the original's root program was
    /// charged for. The time to make this copy does not count.
    pub(crate) fn continue_cpu(&self, cpu_ns: u64) {
        self.cpu_baseline.store(self.meter.cpu_ns(), Ordering::Relaxed);
        self.charged.store(self.meter.charge(cpu_ns), Ordering::Relaxed);
    }

    /// Returns the CPU time that counts for the limit, in nanoseconds.
    pub(super) fn limited_cpu_ns(&self) -> u64 {
        self.meter.cpu_ns().saturating_sub(self.cpu_baseline.load(Ordering::Relaxed))
    }

    /// Returns the present use, for the runtime's usage.
    pub(crate) fn usage(&self) -> ProgramUse<'_> {
        ProgramUse {
            process: &self.process,
            cpu_ms: self.limited_cpu_ns() / MS,
            captured: self.output.lock().look().0,
            waits_for_timer: self.waits_for_timer.load(Ordering::Relaxed),
        }
    }

    /// Warns that the program's use is near a limit.
    pub(super) fn warn(&self, limit: &'static str, used: u64, max: u64) {
        self.process.kernel.usage.warnings.add(limit, used, max, Some(self.pid));
    }
}
