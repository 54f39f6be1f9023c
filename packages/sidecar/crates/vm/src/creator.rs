//! Passes occupied slots to wasmtime.
//!
//! wasmtime's `MemoryCreator` receives only the size of a memory. Therefore the slot is stored in a
//! thread-local for the one instantiation that [`with_slot`] wraps. When wasmtime drops the memory,
//! the slot returns to its image's pool, or is discarded if a kill made the slot inaccessible.
//! Next: `lib.rs`.

use coldframe_memory::{GUARD, OccupiedSlot, RESERVATION};
use std::cell::RefCell;
use std::sync::Arc;
use wasmtime::{LinearMemory, MemoryCreator, MemoryType};

thread_local! {
    /// The slot of the next memory that this thread makes.
    static NEXT: RefCell<Option<Arc<OccupiedSlot>>> = const { RefCell::new(None) };
}

/// Runs `instantiate`, which makes exactly one memory: the memory of `slot`. The slot is vacated
/// when wasmtime drops the memory. If instantiation fails before wasmtime makes the memory, the
/// caller must vacate the slot.
pub(crate) fn with_slot<R>(slot: &Arc<OccupiedSlot>, instantiate: impl FnOnce() -> R) -> R {
    struct Clear;
    impl Drop for Clear {
        fn drop(&mut self) {
            NEXT.with(|next| next.borrow_mut().take());
        }
    }
    NEXT.with(|next| *next.borrow_mut() = Some(slot.clone()));
    let _clear = Clear;
    instantiate()
}

/// The `MemoryCreator` of an engine.
pub(crate) struct Creator;

// SAFETY: the memory is page-aligned in a reservation of `RESERVATION` accessible-or-faulting bytes
// and `GUARD` inaccessible bytes after the reservation. This is the engine's configuration, which
// is checked below. No other code has access to the memory.
unsafe impl MemoryCreator for Creator {
    fn new_memory(
        &self,
        _ty: MemoryType,
        minimum: usize,
        _maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let slot = NEXT.with(|next| next.borrow_mut().take()).ok_or("no slot is prepared for this memory")?;
        let layout = slot.layout().ok_or("the slot is vacant")?;
        // The images of one module have different lengths, and a restored memory may have grown.
        if reserved != Some(RESERVATION) || guard != GUARD || minimum > layout.size {
            return Err(format!("memory of {minimum} bytes in {reserved:?} + {guard}, slot of {}", layout.size));
        }
        Ok(Box::new(GuestMemory { base: layout.base, size: layout.size, slot }))
    }
}

/// An occupied slot as wasmtime's linear memory.
struct GuestMemory {
    base: usize,
    size: usize,
    slot: Arc<OccupiedSlot>,
}

// SAFETY: `base` stays valid and fixed until the value is dropped. Growing only widens the
// accessible range inside the reservation.
unsafe impl LinearMemory for GuestMemory {
    fn byte_size(&self) -> usize {
        self.size
    }

    fn byte_capacity(&self) -> usize {
        RESERVATION
    }

    fn grow_to(&mut self, new_size: usize) -> wasmtime::Result<()> {
        self.slot.grow_to(new_size).map_err(wasmtime::Error::msg)?;
        self.size = new_size;
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        self.base as *mut u8
    }
}

impl Drop for GuestMemory {
    fn drop(&mut self) {
        drop(self.slot.vacate());
    }
}
