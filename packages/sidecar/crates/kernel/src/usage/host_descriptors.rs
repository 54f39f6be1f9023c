//! The descriptors of the host machine that the open files and watches of all runtimes share.
//!
//! Each runtime has the limit `hostFiles`, but the limits of many runtimes together exceed the
//! process's limit of descriptors. Without a common bound, one guest could use all descriptors, and
//! the files of a neighbour would fail to open with `EMFILE`.
//!
//! A runtime may use at most as many descriptors as are free. A single runtime therefore gets at
//! most half of all descriptors, and N greedy runtimes leave one part of N + 1 free. Every runtime
//! may use [`RESERVED`] descriptors while any descriptor is free. Next: `warnings.rs`.

use coldframe_sys as sys;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

/// The number of descriptors that a runtime may use even if fewer are free.
const RESERVED: u64 = 4;
/// The divisor of the process's limit of descriptors. The quotient is the number of descriptors
/// for open files and watches. The memories of guests have a quarter (the crate `memory`), and the
/// last quarter is left for connections, snapshots and threads.
const SHARE: u64 = 2;

/// The descriptors that the runtimes of one process share.
#[derive(Debug, Clone)]
pub(super) struct HostDescriptors(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    used: AtomicU64,
    max: u64,
}

impl Default for HostDescriptors {
    /// Returns the descriptors of this process.
    fn default() -> Self {
        static PROCESS: LazyLock<HostDescriptors> = LazyLock::new(|| HostDescriptors::new(sys::max_descriptors() / SHARE));
        PROCESS.clone()
    }
}

impl HostDescriptors {
    pub(super) fn new(max: u64) -> Self {
        Self(Arc::new(Shared { used: AtomicU64::new(0), max }))
    }

    /// Takes `amount` descriptors for a runtime that then uses `own` descriptors. Returns false,
    /// without a change, if the runtime may not have so many.
    pub(super) fn take(&self, amount: u64, own: u64) -> bool {
        let max = self.0.max;
        let fits = |used: u64| {
            let used = used.checked_add(amount).filter(|used| *used <= max)?;
            (own <= RESERVED || own <= max - used + amount).then_some(used)
        };
        self.0.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    pub(super) fn give_back(&self, amount: u64) {
        self.0.used.fetch_sub(amount, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Charge, Resource, Usage};
    use super::*;
    use crate::limits::Limits;

    fn runtime(shared: &HostDescriptors, host_files: u64) -> Arc<Usage> {
        let limits = Limits { host_files, ..Limits::default() };
        Arc::new(Usage { limits, host_descriptors: shared.clone(), ..Usage::default() })
    }

    fn take_all(usage: &Arc<Usage>) -> Vec<Charge> {
        std::iter::from_fn(|| Charge::of(usage, Resource::HostFiles, 1)).collect()
    }

    #[test]
    fn greedy_runtimes_leave_descriptors_for_a_neighbour() {
        let shared = HostDescriptors::new(1_000);
        let greedy = runtime(&shared, u64::MAX);
        let first = take_all(&greedy);
        assert_eq!(first.len(), 500);
        let others: Vec<_> = (0..5).map(|_| runtime(&shared, u64::MAX)).collect();
        let held: Vec<_> = others.iter().map(take_all).collect();
        assert!(held.iter().all(|held| held.len() >= RESERVED as usize));
        let neighbour = runtime(&shared, u64::MAX);
        assert!(take_all(&neighbour).len() >= RESERVED as usize, "the neighbour gets its reserve");
        drop((first, held));
        assert_eq!(take_all(&neighbour).len(), 500, "everything is returned");
        assert_eq!(shared.0.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_limit_of_a_runtime_holds_and_a_refusal_takes_nothing() {
        let shared = HostDescriptors::new(10);
        let usage = runtime(&shared, 3);
        assert_eq!(take_all(&usage).len(), 3);
        let held = take_all(&runtime(&shared, u64::MAX));
        assert_eq!((held.len() as u64, shared.0.used.load(Ordering::Relaxed)), (5, 5));
        assert!(Charge::of(&usage, Resource::HostFiles, 11).is_none());
        assert_eq!((shared.0.used.load(Ordering::Relaxed), usage.gauge(Resource::HostFiles).used_and_highest().0), (5, 0));
    }
}
