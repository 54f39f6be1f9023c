//! The state that all runtimes of a process share: the installation, the scheduler, and the list of
//! runtimes. Next: `snapshots/`.

use super::Inner;
use crate::installation::Installation;
use crate::outside::Edge;
use crate::sched::Scheduler;
use coldframe_error::Error;
use coldframe_panics::process::{Condvar, Mutex};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// The state that all runtimes of a process share.
pub(crate) struct Registry {
    installation: Arc<Installation>,
    scheduler: Arc<Scheduler>,
    next_runtime: AtomicU64,
    /// The number of live programs.
    live: AtomicU64,
    runtimes: Mutex<HashMap<u64, Weak<Inner>>>,
    closed: Mutex<bool>,
    idle: Condvar,
    runtime_count: AtomicU64,
    max_runtimes: u64,
    /// The process that opens connections out of runtimes.
    edge: Arc<Edge>,
}

/// The charge for one of the runtimes that the process may have. The charge is returned when it is
/// dropped.
pub(crate) struct RuntimeCharge {
    registry: Arc<Registry>,
}

impl Drop for RuntimeCharge {
    fn drop(&mut self) {
        self.registry.runtime_count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Registry {
    pub(crate) fn new(installation: Installation, scheduler: Arc<Scheduler>, max_runtimes: u64, edge: Edge) -> Self {
        Self {
            installation: Arc::new(installation),
            scheduler,
            next_runtime: AtomicU64::new(1),
            live: AtomicU64::new(0),
            runtimes: Mutex::default(),
            closed: Mutex::new(false),
            idle: Condvar::new(),
            runtime_count: AtomicU64::new(0),
            max_runtimes,
            edge: Arc::new(edge),
        }
    }

    /// Returns the images and modules.
    pub(crate) fn installation(&self) -> &Arc<Installation> {
        &self.installation
    }

    /// Returns the scheduler, whose threads run guests.
    pub(crate) fn scheduler(&self) -> &Arc<Scheduler> {
        &self.scheduler
    }

    /// Returns the process that opens connections out of runtimes.
    pub(crate) fn edge(&self) -> &Arc<Edge> {
        &self.edge
    }

    /// Charges for a runtime. Fails with `ERR_RESOURCE_EXHAUSTED` if the limit of runtimes is
    /// reached. The caller must charge before it makes the runtime.
    pub(crate) fn charge(self: &Arc<Self>) -> Result<RuntimeCharge, Error> {
        let charge = RuntimeCharge { registry: self.clone() };
        if self.runtime_count.fetch_add(1, Ordering::Relaxed) >= self.max_runtimes {
            return Err(Error::ResourceExhausted { resource: "runtimes", limit: self.max_runtimes });
        }
        Ok(charge)
    }

    /// Returns the ordinal of the next runtime. The first runtime has the ordinal 1.
    pub(super) fn next_ordinal(&self) -> u64 {
        self.next_runtime.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a runtime to the list.
    pub(super) fn add(&self, runtime: &Arc<Inner>) {
        let mut runtimes = self.runtimes.lock();
        // Dropped runtimes are removed each time the list has doubled, so the work for each runtime
        // is constant on average.
        if runtimes.len().is_power_of_two() {
            runtimes.retain(|_, runtime| runtime.strong_count() > 0);
        }
        runtimes.insert(runtime.ordinal, Arc::downgrade(runtime));
    }

    /// Returns the live runtimes.
    pub(crate) fn runtimes(&self) -> Vec<Arc<Inner>> {
        self.runtimes.lock().values().filter_map(Weak::upgrade).collect()
    }

    /// Returns the number of charged runtimes.
    pub(crate) fn runtime_count(&self) -> u64 {
        self.runtime_count.load(Ordering::Relaxed)
    }

    /// Returns the number of live programs.
    pub(crate) fn live(&self) -> u64 {
        self.live.load(Ordering::Relaxed)
    }

    pub(super) fn program_joined(&self) {
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn program_left(&self) {
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            let _closed = self.closed.lock();
            self.idle.notify_all();
        }
    }

    /// Waits until no program is alive, but not beyond `until`.
    pub(crate) fn wait_until_idle(&self, until: Instant) {
        let mut closed = self.closed.lock();
        while self.live.load(Ordering::Acquire) > 0 && !self.idle.wait_until(&mut closed, until).timed_out() {}
        *closed = true;
    }
}
