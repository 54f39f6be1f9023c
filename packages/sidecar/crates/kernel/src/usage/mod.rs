//! A runtime's use of its limits: the present use, the highest use so far, and warnings.
//!
//! Three kinds of counters make counting cheap. A resource that many programs share has a
//! [`Gauge`], an atomic number. A [`Charge`] raises the number. Dropping the charge lowers the
//! number. Objects under a lock (files, sockets, processes) have a [`Mark`] beside their counter.
//! The use of a single process is read only on request, and the [`Peaks`] keep the highest use. A
//! use that reaches 80 % of its limit adds a warning. The warning is sent after the program's
//! slice, when no lock is held (`warnings.rs`). Next: `resources.rs`, which collects all counters.

mod footprint;
mod gauge;
mod host_descriptors;
mod mark;
mod peaks;
pub mod reports;
mod warnings;

pub(crate) use footprint::{Footprint, fitted, reserve, reserve_charged, trim};
pub(crate) use gauge::Gauge;
pub use gauge::{Charge, Resource};
use host_descriptors::HostDescriptors;
pub use mark::Mark;
pub use peaks::{Peak, Peaks};
pub use reports::WarningListener;
pub use warnings::{Warnings, is_near};

use crate::limits::Limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of one runtime.
#[derive(Debug, Default)]
pub struct Usage {
    /// The limits that the counters are compared with.
    pub limits: Limits,
    gauges: [Gauge; Resource::COUNT],
    /// The highest use by a single process, for the limits of each process.
    pub peaks: Peaks,
    /// Warnings that have not been sent.
    pub warnings: Warnings,
    /// The CPU time of all processes in nanoseconds, ended processes included.
    cpu_ns: AtomicU64,
    /// The descriptors of the host machine that all runtimes share.
    host_descriptors: HostDescriptors,
}

impl Usage {
    /// Makes counters of 0 for a new runtime.
    pub fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self { limits: *limits, ..Self::default() })
    }

    /// Returns the kernel memory in use, in bytes.
    #[cfg(test)]
    pub(crate) fn kernel_bytes(&self) -> u64 {
        self.gauge(Resource::Kernel).used_and_highest().0
    }

    pub(crate) fn gauge(&self, resource: Resource) -> &Gauge {
        &self.gauges[resource as usize]
    }

    /// Adds `amount` to the use of a resource. Returns false, without a change, if the limit does
    /// not allow the sum.
    fn take(&self, resource: Resource, amount: u64) -> bool {
        let (name, max) = resource.limit(&self.limits);
        let gauge = self.gauge(resource);
        match gauge.take(amount, max) {
            Some(_) if resource == Resource::HostFiles && !self.host_descriptors.take(amount, gauge.used_and_highest().0) => {
                gauge.give_back(amount, max);
                false
            }
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
        if resource == Resource::HostFiles {
            self.host_descriptors.give_back(amount);
        }
    }

    /// Returns the bytes of kernel memory that the programs have returned since the last call.
    pub fn take_returned_bytes(&self) -> u64 {
        self.gauge(Resource::Kernel).take_returned()
    }

    /// Adds `cpu_ns` to the CPU time of all processes.
    pub fn computed(&self, cpu_ns: u64) {
        self.cpu_ns.fetch_add(cpu_ns, Ordering::Relaxed);
    }

    /// Returns the CPU time of all processes, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_ns.load(Ordering::Relaxed)
    }
}
