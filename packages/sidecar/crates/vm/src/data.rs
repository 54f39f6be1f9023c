//! The data of a VM's wasmtime store, and the limits of its memory. Next: `clock.rs`.

use crate::clock::Clock;
use crate::owner::Owner;
use crate::wasi::ProgramState;
use coldframe_error::Error;
use coldframe_kernel::usage::Charge;
use coldframe_kernel::{Caller, Limits};
use coldframe_memory::Gate;
use std::sync::Arc;
use wasmtime::{Memory, ResourceLimiter};

/// The data of a VM's store.
pub struct StoreData {
    pub(crate) refs: Arc<OwnerRefs>,
    /// The memory. Set as soon as the instance exists.
    pub(crate) memory: Option<Memory>,
    pub(crate) memory_limit: usize,
    /// The charge for the memory.
    pub(crate) charge: Charge,
    /// The limit that last refused memory to the guest.
    pub refused_memory: Option<MemoryRefusal>,
    /// The guest's last message, sent with `fatal`.
    pub fatal: Option<Fatal>,
    /// The time when the user's program started, in nanoseconds of the monotonic clock.
    pub program_began: Option<u64>,
    /// The guest's monotonic clock, without the time in which the runtime was frozen.
    pub(crate) clock: Clock,
    /// The state of a guest that imports WASI.
    pub(crate) wasi: ProgramState,
}

impl StoreData {
    /// Returns the guest's monotonic clock. The clock stops while the runtime is frozen.
    pub(crate) fn clock(&self) -> Clock {
        self.clock.behind(self.refs.caller.frozen_ns())
    }
}

/// The references that imports need. The references share one `Arc`, because every system call
/// clones them.
pub(crate) struct OwnerRefs {
    pub(crate) owner: Arc<dyn Owner>,
    /// The VM's program as the caller of system calls.
    pub(crate) caller: Arc<dyn Caller>,
    /// The gate to the VM's memory.
    pub(crate) gate: Arc<Gate>,
}

impl OwnerRefs {
    pub(crate) fn new(owner: Arc<dyn Owner>) -> Arc<Self> {
        Arc::new(Self { caller: owner.clone(), gate: owner.gate().clone(), owner })
    }
}

/// The limit that refused memory to the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryRefusal {
    /// The limit of the process.
    Process,
    /// The limit of all processes of the runtime together.
    Runtime,
}

impl MemoryRefusal {
    /// Returns the error for the embedder, with the limit that refused the memory.
    pub fn error(self, limits: &Limits) -> Error {
        match self {
            Self::Process => Error::MemoryLimit { limit: "memoryBytes", bytes: limits.memory_bytes },
            Self::Runtime => Error::MemoryLimit { limit: "totalMemoryBytes", bytes: limits.total_memory_bytes },
        }
    }
}

/// The last message of a guest that cannot continue.
#[derive(Debug, Clone)]
pub struct Fatal {
    /// Whether the guest has ended because an allocation failed.
    pub out_of_memory: bool,
    /// The message.
    pub message: String,
}

/// The largest number of functions that a guest can call indirectly. The module has about six
/// hundred.
const MAX_TABLE: usize = 65_536;

impl ResourceLimiter for StoreData {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let refused = if desired > self.memory_limit || maximum.is_some_and(|maximum| desired > maximum) {
            Some(MemoryRefusal::Process)
        } else if !self.charge.raise_to(desired as u64) {
            Some(MemoryRefusal::Runtime)
        } else {
            self.refs.owner.grows(current as u64, desired as u64);
            None
        };
        self.refused_memory = refused.or(self.refused_memory);
        Ok(refused.is_none())
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= MAX_TABLE)
    }
}
