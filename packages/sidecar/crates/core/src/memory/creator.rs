//! Hands slots to wasmtime: its `MemoryCreator` says only how large a memory must be, so the slot waits in a thread-local for the
//! one instantiation that [`with_slot`] wraps.
//!
//! When wasmtime drops the memory, the slot goes back to its image's pool (or, if it was taken away from its guest, out of
//! use). Next: `lodging.rs`, `vm/mod.rs`.

use super::{GUARD, Lodging, RESERVATION};
use std::cell::RefCell;
use std::sync::Arc;
use wasmtime::{LinearMemory, MemoryCreator, MemoryType};

thread_local! {
    /// What the next memory made on this thread is made of.
    static ARMED: RefCell<Option<Arc<Lodging>>> = const { RefCell::new(None) };
}

/// Runs `instantiate`, during which exactly one memory is made: that of `lodging`. It lasts until wasmtime drops it, or
/// until `lodging` is left when instantiation does not come that far.
pub(crate) fn with_lodging<R>(lodging: &Arc<Lodging>, instantiate: impl FnOnce() -> R) -> R {
    ARMED.with(|place| *place.borrow_mut() = Some(lodging.clone()));
    let result = instantiate();
    ARMED.with(|place| place.borrow_mut().take());
    result
}

/// The one `MemoryCreator` of an engine.
pub(crate) struct Creator;

// SAFETY: the memory that is made lies page-aligned in a reservation of `RESERVATION` accessible-or-faulting bytes and `GUARD`
// untouchable ones behind them, which is what the engine was configured with (checked below); nobody else has access to it.
unsafe impl MemoryCreator for Creator {
    fn new_memory(
        &self,
        _ty: MemoryType,
        minimum: usize,
        _maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let lodging = ARMED.with(|place| place.borrow_mut().take()).ok_or("no slot is prepared for this memory")?;
        let place = lodging.place().ok_or("the slot is taken")?;
        // A saved memory may be larger than what the module begins with.
        if reserved != Some(RESERVATION) || guard != GUARD || minimum != place.least {
            return Err(format!("memory of {minimum} bytes in {reserved:?} + {guard}, image of {}", place.least));
        }
        Ok(Box::new(GuestMemory { base: place.base, size: place.size, lodging }))
    }
}

/// What wasmtime sees of it.
struct GuestMemory {
    base: usize,
    size: usize,
    lodging: Arc<Lodging>,
}

// SAFETY: `base` stays valid and fixed until the value is dropped; growing only widens what is accessible, inside the
// reservation.
unsafe impl LinearMemory for GuestMemory {
    fn byte_size(&self) -> usize {
        self.size
    }

    fn byte_capacity(&self) -> usize {
        RESERVATION
    }

    fn grow_to(&mut self, new_size: usize) -> wasmtime::Result<()> {
        self.lodging.grow_to(new_size).map_err(wasmtime::Error::msg)?;
        self.size = new_size;
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        self.base as *mut u8
    }
}

impl Drop for GuestMemory {
    fn drop(&mut self) {
        drop(self.lodging.leave());
    }
}
