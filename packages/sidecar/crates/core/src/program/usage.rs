//! What a program uses: CPU time and memory, against their limits, and the highest of each for those who ask later. What it holds in the
//! kernel is counted there (`kernel/usage/`). Next: `run.rs`.

use super::{Program, nanos};
use crate::kernel::usage::is_near;
use coldframe_error::Error;
use std::sync::atomic::Ordering;
use std::time::Duration;

const MS: u64 = 1_000_000;

impl Program {
    /// A poll of its task is over. Enforces the limit of CPU time; and nobody holds a lock here, so that warnings are told.
    pub(crate) fn end_slice(&self) {
        self.scheduler.made_way(self);
        self.spent(self.meter.end());
        self.process.kernel.usage.warnings.tell();
    }

    /// What it has computed in the poll that is under way, on this thread, counts from now on.
    pub(super) fn settle(&self) {
        self.spent(self.meter.count());
    }

    fn spent(&self, (total, spent): (u64, u64)) {
        self.process.kernel.usage.computed(spent);
        self.check_cpu(total);
    }

    /// Its slice goes on, and perhaps for ever: the same limit, from another thread.
    pub(crate) fn look(&self) {
        self.check_cpu(self.meter.cpu_ns_now());
    }

    /// A thread of the kernel has computed for the program; the same limit.
    pub(crate) fn charge(&self, cpu_ns: u64) {
        self.process.kernel.usage.computed(cpu_ns);
        self.check_cpu(self.meter.charge(cpu_ns));
    }

    /// What a child computes counts for the program under which it began as well.
    fn check_cpu(&self, total: u64) {
        if !self.is_root() {
            let before = self.charged.fetch_max(total, Ordering::Relaxed);
            if let Some(root) = self.process.kernel.processes.root_of(self.pid) {
                root.check_cpu(root.meter.charge(total.saturating_sub(before)));
            }
        }
        let used = total.saturating_sub(self.cpu_baseline.load(Ordering::Relaxed));
        let cpu_ms = self.limits().cpu_ms;
        self.process.kernel.usage.peaks.cpu_ms.saw(used / MS);
        if is_near(used, cpu_ms.saturating_mul(MS)) && !self.warned_cpu.swap(true, Ordering::Relaxed) {
            self.warn("cpuMs", used / MS, cpu_ms);
        }
        if used > nanos(Duration::from_millis(cpu_ms)) {
            self.give_up_on(Error::CpuLimit { cpu_ms });
        }
    }

    /// CPU milliseconds of what counts for the limit now.
    pub(crate) fn cpu_ms(&self) -> u64 {
        self.cpu_ns() / MS
    }

    /// Another evaluation begins, with its own CPU time.
    pub(super) fn begin_cpu(&self) {
        self.cpu_baseline.store(self.meter.cpu_ns(), Ordering::Relaxed);
        self.warned_cpu.store(false, Ordering::Relaxed);
    }

    /// It is a copy of one that had computed for so long, for which its root was charged then. What it took to make it is not its own.
    pub(crate) fn go_on_from(&self, cpu_ns: u64) {
        self.cpu_baseline.store(self.meter.cpu_ns(), Ordering::Relaxed);
        self.charged.store(self.meter.charge(cpu_ns), Ordering::Relaxed);
    }

    /// CPU time that counts for its limit, in nanoseconds.
    pub(super) fn cpu_ns(&self) -> u64 {
        self.meter.cpu_ns().saturating_sub(self.cpu_baseline.load(Ordering::Relaxed))
    }

    /// Its memory is about to have so many bytes.
    pub(crate) fn grows(&self, before: u64, bytes: u64) {
        let max = self.limits().memory_bytes;
        self.process.kernel.usage.peaks.memory_bytes.saw(bytes);
        if is_near(bytes, max) && !is_near(before, max) {
            self.warn("memoryBytes", bytes, max);
        }
    }

    /// Whether it waits for a timer.
    pub(crate) fn waits_for_timer(&self) -> bool {
        self.waits_for_timer.load(Ordering::Relaxed)
    }

    /// Bytes that are captured of the fuller of its outputs.
    pub(crate) fn captured(&self) -> u64 {
        self.output.lock().look().0
    }

    /// A use of its own has come near a limit.
    pub(super) fn warn(&self, limit: &'static str, used: u64, max: u64) {
        self.process.kernel.usage.warnings.add(limit, used, max, Some(self.pid));
    }
}
