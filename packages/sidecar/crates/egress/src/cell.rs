//! The present policy of a runtime, which an update replaces while connections are open.
//!
//! An update is validated whole, and replaces the policy by one swap of a pointer. Each state has a
//! generation. A connection carries the generation that admitted it, and is judged again
//! (`connect.rs`) before its next byte if an update asks for that. Next: `update.rs`.

use crate::connect::Admission;
use crate::host_network::HostNetwork;
use crate::invalid_entry::InvalidEntry;
use crate::policy::Policy;
use crate::update::PolicyChange;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of a state of the policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Generation(u64);

/// The effect of an update on open connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Existing {
    /// Open connections are judged again.
    #[default]
    Recheck,
    /// Open connections stay open.
    Keep,
}

/// A policy, the network of the host machine, and their generation.
#[derive(Debug, Default)]
pub struct Current {
    policy: Arc<Policy>,
    host: Arc<HostNetwork>,
    generation: Generation,
}

impl Current {
    /// Makes the first state.
    pub fn new(policy: Policy, host: HostNetwork) -> Self {
        Self { policy: Arc::new(policy), host: Arc::new(host), generation: Generation::default() }
    }

    /// Returns the policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the network of the host machine.
    pub fn host(&self) -> &HostNetwork {
        &self.host
    }

    /// Returns the generation.
    pub fn generation(&self) -> Generation {
        self.generation
    }
}

/// The place of the present policy.
#[derive(Debug)]
pub struct PolicyCell {
    current: RwLock<Arc<Current>>,
    /// Connections of earlier generations are judged again.
    recheck_from: AtomicU64,
    /// Updates run one after the other, because an update changes the present options.
    updates: Mutex<()>,
}

impl PolicyCell {
    /// Makes the place with a first state.
    pub fn new(current: Current) -> Self {
        let recheck_from = AtomicU64::new(current.generation.0);
        Self { current: RwLock::new(Arc::new(current)), recheck_from, updates: Mutex::new(()) }
    }

    /// Returns the present state.
    pub fn current(&self) -> Arc<Current> {
        self.current.read().clone()
    }

    /// Changes the options of the policy. If the call returns a generation, all later checks use
    /// the new policy.
    ///
    /// # Errors
    /// Returns the first invalid entry. The present policy stays unchanged.
    pub fn update(&self, change: PolicyChange, existing: Existing) -> Result<Generation, InvalidEntry> {
        let _updates = self.updates.lock();
        let present = self.current();
        let policy = Policy::compile(change.apply(present.policy.options()))?;
        Ok(self.replace(Arc::new(policy), present.host.clone(), existing))
    }

    /// Replaces the network of the host machine. Open connections are judged again.
    pub fn set_host(&self, host: HostNetwork) -> Generation {
        let _updates = self.updates.lock();
        self.replace(self.current().policy.clone(), Arc::new(host), Existing::Recheck)
    }

    fn replace(&self, policy: Arc<Policy>, host: Arc<HostNetwork>, existing: Existing) -> Generation {
        let mut place = self.current.write();
        let generation = Generation(place.generation.0 + 1);
        *place = Arc::new(Current { policy, host, generation });
        // A connection that reads the new number finds the new policy, because the policy is stored
        // first.
        if existing == Existing::Recheck {
            self.recheck_from.store(generation.0, Ordering::Release);
        }
        generation
    }

    /// Returns whether a connection must be judged again before its next byte.
    pub fn needs_recheck(&self, admission: &Admission) -> bool {
        self.is_outdated(admission.generation())
    }

    /// Returns whether a connection that this generation has admitted must be judged again.
    pub fn is_outdated(&self, generation: Generation) -> bool {
        generation.0 < self.recheck_from.load(Ordering::Acquire)
    }
}
