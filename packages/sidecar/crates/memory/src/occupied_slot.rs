//! A slot that a VM uses. wasmtime refers to the slot as a linear memory, and the VM refers to the
//! slot for saving. Next: `growth.rs`; `save.rs`.
//!
//! The slot records its image, the growth of the memory, and whether the memory was mapped again.
//! After a new mapping the page map must be read before the slot is reused, regardless of the fault
//! counters.

use super::{Gate, Growth, RESERVATION, Slot};
use crate::Meter;
use crate::image::{Copies, Image};
use coldframe_panics::process::Mutex;
use std::sync::Arc;

/// A slot that a VM uses.
#[derive(Debug)]
pub struct OccupiedSlot {
    pub(super) state: Mutex<Option<Occupant>>,
    pub(super) gate: Arc<Gate>,
    meter: Arc<Meter>,
}

impl Drop for OccupiedSlot {
    /// Frees the memory of a VM that was not made completely, because a panic dropped its parts.
    fn drop(&mut self) {
        drop(self.vacate());
    }
}

/// The address and the size of a memory.
pub struct SlotLayout {
    /// The address of the memory.
    pub base: usize,
    /// The present size in bytes.
    pub size: usize,
}

/// A memory whose VM has ended. Dropping this value restores the slot, which takes long if the
/// guest wrote many pages. A caller that must not wait drops the value on another thread.
#[derive(Debug)]
#[must_use = "dropping the value frees the memory"]
pub struct VacatedSlot {
    occupant: Option<Occupant>,
    /// Whether the memory is inaccessible, or its bytes are unknown.
    spoiled: bool,
    faults: u64,
    fully_metered: bool,
}

impl VacatedSlot {
    /// Returns whether restoring the slot takes longer than about a millisecond, so that a
    /// background thread should restore the slot.
    pub fn is_large(&self) -> bool {
        /// The number of page faults above which restoring a slot takes more than about a
        /// millisecond. The memory's length does not matter, because a VM that was restored from a
        /// large memory shares the unwritten pages.
        const LARGE: u64 = 2_048;
        self.faults > LARGE
    }
}

impl Drop for VacatedSlot {
    fn drop(&mut self) {
        let Some(Occupant { slot, image, size, .. }) = self.occupant.take() else { return };
        if self.spoiled {
            image.pool().discard(slot, size);
        } else {
            image.pool().give_back(&image, slot, size, self.fully_metered);
        }
    }
}

/// The slot and its image.
#[derive(Debug)]
pub(super) struct Occupant {
    pub(super) slot: Slot,
    /// The image that the slot is restored to.
    pub(super) image: Arc<Image>,
    pub(super) size: usize,
    pub(super) growth: Growth,
    /// The records of the pages that VMs restored from this memory write first (`image/hot.rs`).
    pub(super) copies: Copies,
    /// Whether a save has mapped a part of the memory again.
    pub(super) moved: bool,
    /// Whether a new mapping has failed, so that the bytes are unknown.
    pub(super) lost: bool,
}

impl OccupiedSlot {
    /// Makes the occupied slot of a VM that starts to use a slot of `image`. Attaches the gate to
    /// the slot.
    pub fn new(slot: Slot, image: Arc<Image>, gate: Arc<Gate>, meter: Arc<Meter>) -> Arc<Self> {
        gate.attach(slot.base());
        let size = image.len();
        let occupant =
            Occupant { slot, image, size, growth: Growth::default(), copies: Copies::default(), moved: false, lost: false };
        Arc::new(Self { state: Mutex::new(Some(occupant)), gate, meter })
    }

    /// Returns the memory's address and sizes. Returns `None` if the slot is vacant.
    pub fn layout(&self) -> Option<SlotLayout> {
        let state = self.state.lock();
        let Occupant { slot, size, .. } = state.as_ref()?;
        Some(SlotLayout { base: slot.base(), size: *size })
    }

    /// Grows the memory to `new_size` bytes. Returns the reason if the memory cannot grow.
    pub fn grow_to(&self, new_size: usize) -> Result<(), &'static str> {
        let mut state = self.state.lock();
        let occupant = state.as_mut().ok_or("the slot is vacant")?;
        if new_size > RESERVATION || new_size < occupant.size || occupant.lost {
            return Err("growth outside the reservation");
        }
        if new_size == occupant.size {
            return Ok(());
        }
        let Ok(_open) = self.gate.enter() else { return Err("the memory was taken away") };
        let Occupant { slot, image, size, growth, .. } = occupant;
        let base = slot.base();
        // SAFETY: the range is inside this slot's reservation, behind the memory in use.
        unsafe { growth.grow(image, base, *size, new_size, slot.charge()) }.map_err(|_| "the system has no memory for it")?;
        *size = new_size;
        Ok(())
    }

    /// Prepares the memory for the guest's first turn. Writes the parts of the image that were not
    /// mapped, and makes the image's hot pages private (`image/hot.rs`). Returns false if the
    /// memory is inaccessible, or a file cannot be read.
    pub fn prepare(&self) -> bool {
        let mut state = self.state.lock();
        match (state.as_mut(), self.gate.enter()) {
            (Some(Occupant { slot, image, lost: false, .. }), Ok(_open)) => slot.prepare(image),
            _ => false,
        }
    }

    /// Records the pages that the VM has written in its first `turns` turns, as hot pages of the
    /// image.
    pub fn learn(&self, turns: u8) {
        if let Some(Occupant { slot, image, lost: false, moved: false, .. }) = self.state.lock().as_ref()
            && let Ok(_open) = self.gate.enter()
        {
            slot.learn(image, turns);
        }
    }

    /// Returns the image that the slot is restored to.
    pub fn image(&self) -> Option<Arc<Image>> {
        self.state.lock().as_ref().map(|occupant| occupant.image.clone())
    }

    /// Vacates the slot, because the VM has ended. Dropping the result returns the slot to its
    /// image's pool, or discards the slot.
    pub fn vacate(&self) -> Option<VacatedSlot> {
        let occupant = self.state.lock().take()?;
        let closed = self.gate.detach(occupant.slot.base()).is_err();
        let fully_metered = !occupant.moved && self.meter.no_faults_so_far();
        Some(VacatedSlot {
            spoiled: closed || occupant.lost,
            faults: self.meter.faults(),
            fully_metered,
            occupant: Some(occupant),
        })
    }
}
