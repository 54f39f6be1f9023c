//! Hands slots to wasmtime: its `MemoryCreator` says only how large a memory must be, so the slot waits in a thread-local for the
//! one instantiation that [`with_slot`] wraps.
//!
//! When wasmtime drops the memory, the slot goes back to its image's pool (or, if it was taken away from its guest, out of
//! use). Next: `vm/mod.rs`.

use super::{GUARD, Gate, RESERVATION, Slot};
use crate::image::Image;
use crate::sched::Meter;
use crate::sys;
use std::cell::RefCell;
use std::sync::Arc;
use wasmtime::{LinearMemory, MemoryCreator, MemoryType};

/// What the next memory made on this thread is made of.
struct Armed {
    slot: Slot,
    image: Arc<Image>,
    gate: Arc<Gate>,
    meter: Arc<Meter>,
}

thread_local! {
    static ARMED: RefCell<Option<Armed>> = const { RefCell::new(None) };
}

/// Runs `instantiate`, during which exactly one memory is made: out of `slot`.
pub(crate) fn with_slot<R>(
    slot: Slot,
    image: &Arc<Image>,
    gate: &Arc<Gate>,
    meter: &Arc<Meter>,
    instantiate: impl FnOnce() -> R,
) -> R {
    let armed = Armed { slot, image: image.clone(), gate: gate.clone(), meter: meter.clone() };
    ARMED.with(|place| *place.borrow_mut() = Some(armed));
    let result = instantiate();
    // Instantiation may have failed before it came to the memory: the slot is still clean then.
    if let Some(left) = ARMED.with(|place| place.borrow_mut().take()) {
        left.image.pool().give_back(&left.image, left.slot, left.image.len(), false);
    }
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
        let armed = ARMED.with(|place| place.borrow_mut().take()).ok_or("no slot is prepared for this memory")?;
        if reserved != Some(RESERVATION) || guard != GUARD || minimum != armed.image.len() {
            let wanted = format!("memory of {minimum} bytes in {reserved:?} + {guard}, image of {}", armed.image.len());
            armed.image.pool().give_back(&armed.image, armed.slot, minimum, false);
            return Err(wanted);
        }
        armed.gate.attach(armed.slot.base());
        let base = armed.slot.base();
        Ok(Box::new(GuestMemory {
            slot: Some(armed.slot),
            base,
            size: minimum,
            image: armed.image,
            gate: armed.gate,
            meter: armed.meter,
        }))
    }
}

/// A slot while a VM lives in it.
struct GuestMemory {
    slot: Option<Slot>,
    base: usize,
    size: usize,
    image: Arc<Image>,
    gate: Arc<Gate>,
    meter: Arc<Meter>,
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
        if new_size > RESERVATION || new_size < self.size {
            return Err(wasmtime::Error::msg("growth outside the reservation"));
        }
        let Ok(_open) = self.gate.enter() else {
            return Err(wasmtime::Error::msg("the memory was taken away"));
        };
        // SAFETY: the range lies inside this slot's reservation, behind what is in use.
        unsafe { sys::allow(self.base + self.size, new_size - self.size) }.map_err(wasmtime::Error::msg)?;
        self.size = new_size;
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        self.base as *mut u8
    }
}

impl Drop for GuestMemory {
    fn drop(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        match self.gate.detach() {
            Ok(()) => {
                let fully_metered = self.meter.no_faults_so_far();
                self.image.pool().give_back(&self.image, slot, self.size, fully_metered);
            }
            Err(_) => self.image.pool().discard(slot),
        }
    }
}
