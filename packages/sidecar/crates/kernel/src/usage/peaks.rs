//! The highest that any process of a runtime has used of what each has for itself. Kept at the end of a process, or when it is rare anyway; who asks
//! meanwhile looks at those that live. Next: `warnings.rs`.

use std::sync::atomic::{AtomicU64, Ordering};

/// A highest value.
#[derive(Debug, Default)]
pub struct Peak(AtomicU64);

impl Peak {
    /// Raises the highest value to `value`.
    pub fn saw(&self, value: u64) {
        if value > self.0.load(Ordering::Relaxed) {
            self.0.fetch_max(value, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// See the module.
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
    /// Bytes of output that wait for the embedder.
    pub output_bytes: Peak,
    /// Bytes of standard input that the process has not read.
    pub stdin_bytes: Peak,
    /// Watches of the runtime.
    pub watches: Peak,
}
