//! The highest use by a single process of a runtime, for limits that apply to each process.
//!
//! The peaks of descriptors, operations and output are recorded when a process ends. The other
//! peaks are recorded at each change. A report also reads the live processes. Next: `warnings.rs`.

use std::sync::atomic::{AtomicU64, Ordering};

/// The highest value of a counter so far.
#[derive(Debug, Default)]
pub struct Peak(AtomicU64);

impl Peak {
    /// Raises the highest value to `value`, if `value` is higher.
    pub fn record(&self, value: u64) {
        if value > self.0.load(Ordering::Relaxed) {
            self.0.fetch_max(value, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The highest use by a single process, for each limit that applies to each process.
#[derive(Debug, Default)]
pub struct Peaks {
    /// Bytes of linear memory.
    pub memory_bytes: Peak,
    /// Milliseconds of CPU time.
    pub cpu_ms: Peak,
    /// Open descriptors.
    pub descriptors: Peak,
    /// Operations in progress.
    pub operations: Peak,
    /// Bytes of captured output of one descriptor.
    pub output_bytes: Peak,
    /// Bytes of standard input that are not in the process's pipe yet.
    pub stdin_bytes: Peak,
    /// Watches of the whole runtime, not of one process.
    pub watches: Peak,
}
