//! Gauges: counters of the resources that all programs of a runtime share, such as memory and open
//! host files. A gauge is an atomic number, so a charge takes no lock. Next: `footprint.rs`, the
//! amount of a charge for memory; `host_descriptors.rs`.

use super::Usage;
use super::warnings::{is_calm, is_near};
use crate::limits::Limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The resource that a gauge counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Bytes of linear memory.
    Memory,
    /// Bytes of kernel memory.
    Kernel,
    /// Open files and directories of mounted host directories.
    HostFiles,
}

impl Resource {
    pub(super) const COUNT: usize = 3;

    /// Returns the name and the value of the limit on this resource.
    pub(super) fn limit(self, limits: &Limits) -> (&'static str, u64) {
        match self {
            Self::Memory => ("totalMemoryBytes", limits.total_memory_bytes),
            Self::Kernel => ("kernelBytes", limits.kernel_bytes),
            Self::HostFiles => ("hostFiles", limits.host_files),
        }
    }
}

/// The present and the highest use of a resource.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    used: AtomicU64,
    high: AtomicU64,
    /// The amount that was returned since the last [`Self::take_returned`].
    returned: AtomicU64,
    warned: AtomicBool,
}

impl Gauge {
    /// Adds `amount` to the use. Returns `None` if the sum exceeds `max`. The inner value is the
    /// new use if a warning is due. A warning is due if the use is near the limit and has been low
    /// since the last warning.
    pub(super) fn take(&self, amount: u64, max: u64) -> Option<Option<u64>> {
        let fits = |used: u64| used.checked_add(amount).filter(|used| *used <= max);
        let before = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        let used = before + amount;
        if used > self.high.load(Ordering::Relaxed) {
            self.high.fetch_max(used, Ordering::Relaxed);
        }
        let crossed = is_near(used, max) && !self.warned.swap(true, Ordering::Relaxed);
        Some(crossed.then_some(used))
    }

    pub(super) fn give_back(&self, amount: u64, max: u64) {
        let used = self.used.fetch_sub(amount, Ordering::Relaxed) - amount;
        self.returned.fetch_add(amount, Ordering::Relaxed);
        if self.warned.load(Ordering::Relaxed) && is_calm(used, max) {
            self.warned.store(false, Ordering::Relaxed);
        }
    }

    pub(super) fn take_returned(&self) -> u64 {
        self.returned.swap(0, Ordering::Relaxed)
    }

    /// Returns the present and the highest use.
    pub(crate) fn used_and_highest(&self) -> (u64, u64) {
        (self.used.load(Ordering::Relaxed), self.high.load(Ordering::Relaxed))
    }
}

/// An amount of a resource that one object uses. Dropping the charge returns the amount.
#[derive(Debug)]
pub struct Charge {
    usage: Arc<Usage>,
    resource: Resource,
    amount: u64,
}

impl Charge {
    /// Makes a charge of 0, which [`Self::grow`] can raise.
    pub fn none(usage: &Arc<Usage>, resource: Resource) -> Self {
        Self { usage: usage.clone(), resource, amount: 0 }
    }

    /// Makes a charge of `amount`. Returns `None` if the limit does not allow the amount.
    pub fn of(usage: &Arc<Usage>, resource: Resource, amount: u64) -> Option<Self> {
        let mut charge = Self::none(usage, resource);
        charge.grow(amount).then_some(charge)
    }

    /// Returns the charged amount: bytes, or a number of open files.
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// Adds `by` to the charge. Returns false, without a change, if the limit does not allow the
    /// sum.
    pub fn grow(&mut self, by: u64) -> bool {
        let taken = self.usage.take(self.resource, by);
        self.amount += if taken { by } else { 0 };
        taken
    }

    /// Raises the charge to at least `amount`. Returns false, without a change, if the limit does
    /// not allow the amount.
    pub fn raise_to(&mut self, amount: u64) -> bool {
        amount <= self.amount || self.grow(amount - self.amount)
    }

    /// Changes the charge to `amount`. Returns false, without a change, if the limit does not allow
    /// the amount.
    pub fn set(&mut self, amount: u64) -> bool {
        if amount < self.amount {
            self.shrink(self.amount - amount);
        }
        self.raise_to(amount)
    }

    /// Lowers the charge by `by`, or to 0 if the charge is smaller.
    pub fn shrink(&mut self, by: u64) {
        let by = by.min(self.amount);
        self.amount -= by;
        if by > 0 {
            self.usage.give_back(self.resource, by);
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.shrink(self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(host_files: u64) -> Arc<Usage> {
        Usage::new(&Limits { host_files, ..Limits::default() })
    }

    #[test]
    fn charges_at_most_the_limit_and_returns_everything() {
        let usage = usage(10);
        let mut one = Charge::of(&usage, Resource::HostFiles, 7).expect("room");
        assert!(Charge::of(&usage, Resource::HostFiles, 4).is_none());
        assert!(Charge::of(&usage, Resource::HostFiles, u64::MAX).is_none());
        assert!(one.grow(3) && !one.grow(1) && one.raise_to(10) && !one.raise_to(11));
        one.shrink(20);
        assert_eq!((one.amount(), usage.gauge(Resource::HostFiles).used_and_highest()), (0, (0, 10)));
        assert!(one.grow(5));
        drop(one);
        assert_eq!(usage.gauge(Resource::HostFiles).used_and_highest(), (0, 10));
    }

    #[test]
    fn warns_once_until_the_use_has_fallen() {
        let usage = usage(10);
        let mut charge = Charge::of(&usage, Resource::HostFiles, 8).expect("room");
        assert!(charge.grow(2));
        let warnings = usage.warnings.take();
        assert_eq!(
            warnings.iter().map(|warning| (warning.limit, warning.used, warning.max)).collect::<Vec<_>>(),
            [("hostFiles", 8, 10)]
        );
        charge.shrink(3);
        assert!(charge.grow(3));
        assert!(usage.warnings.take().is_empty(), "7 of 10 is not below 60 %");
    }
}
