//! What a runtime uses of its limits: how much now, how much at most so far, and whether somebody must be warned.
//!
//! Three kinds of counters, so that none costs anything where it matters. What many programs take from one store at any time is a [`Gauge`]:
//! an atomic number, taken with a [`Charge`] that gives it back when it is dropped. What is counted under a lock anyway (files, sockets,
//! processes) has a [`Mark`] beside its counter. What each process has for itself is looked at when somebody asks, and its [`Peaks`] are kept
//! when it ends. A use that passes 80 % of its limit leaves a [`Warning`], which is told when the program's slice is over and no lock is held
//! (`warnings.rs`). Next: `resources.rs`, which gathers all of it.

mod gauge;
mod mark;
mod peaks;
pub mod reports;
mod warnings;

pub(crate) use gauge::Gauge;
pub use gauge::{Charge, Resource};
pub use mark::Mark;
pub use peaks::{Peak, Peaks};
pub use reports::WarningListener;
pub use warnings::{Warnings, is_near};

use crate::limits::Limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// See the module. One per runtime.
#[derive(Debug, Default)]
pub struct Usage {
    /// The limits.
    pub limits: Limits,
    gauges: [Gauge; Resource::COUNT],
    /// The highest uses of what each process has for itself.
    pub peaks: Peaks,
    /// Warnings that have not been sent.
    pub warnings: Warnings,
    /// CPU time of all processes, ended ones included, in nanoseconds.
    cpu_ns: AtomicU64,
}

impl Usage {
    /// Makes the counters of a runtime that uses nothing yet.
    pub fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self { limits: *limits, ..Self::default() })
    }

    /// What the kernel holds.
    #[cfg(test)]
    pub(crate) fn kernel_bytes(&self) -> u64 {
        self.gauge(Resource::Kernel).look().0
    }

    pub(crate) fn gauge(&self, resource: Resource) -> &Gauge {
        &self.gauges[resource as usize]
    }

    /// Uses so much more of a resource. False, and nothing is used, when the limit forbids it.
    fn take(&self, resource: Resource, amount: u64) -> bool {
        let (name, max) = resource.limit(&self.limits);
        match self.gauge(resource).take(amount, max) {
            Some(crossed) => {
                if let Some(used) = crossed {
                    self.warnings.add(name, used, max, None);
                }
                true
            }
            None => false,
        }
    }

    fn give_back(&self, resource: Resource, amount: u64) {
        self.gauge(resource).give_back(amount, resource.limit(&self.limits).1);
    }

    /// Processes have computed.
    pub fn computed(&self, cpu_ns: u64) {
        self.cpu_ns.fetch_add(cpu_ns, Ordering::Relaxed);
    }

    /// What all processes have computed, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_ns.load(Ordering::Relaxed)
    }
}
