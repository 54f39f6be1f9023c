//! The highest that any process of a runtime has used of what each has for itself. Kept at the end of a process, or when it is rare anyway; who asks
//! meanwhile looks at those that live. Next: `warnings.rs`.

use std::sync::atomic::{AtomicU64, Ordering};

/// A highest value.
#[derive(Debug, Default)]
pub struct Peak(AtomicU64);

impl Peak {
    pub fn saw(&self, value: u64) {
        if value > self.0.load(Ordering::Relaxed) {
            self.0.fetch_max(value, Ordering::Relaxed);
        }
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Peaks {
    pub memory_bytes: Peak,
    pub cpu_ms: Peak,
    pub descriptors: Peak,
    pub operations: Peak,
    pub output_bytes: Peak,
    pub stdin_bytes: Peak,
    pub watches: Peak,
}
