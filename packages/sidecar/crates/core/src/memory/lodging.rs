//! A slot while a VM lives in it. wasmtime holds it as a linear memory (`creator.rs`), the VM holds it to save it (`save.rs`).
//!
//! It knows what the slot was mapped from, how far the memory has grown, and whether it has been mapped anew since: after that the page map must be
//! asked before the slot is used again, whatever the fault counters say.

use super::{Gate, Growth, RESERVATION, Slot};
use crate::image::{Copies, Image};
use crate::sched::Meter;
use parking_lot::Mutex;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(crate) struct Lodging {
    pub(super) state: Mutex<Option<Lodged>>,
    pub(super) gate: Arc<Gate>,
    meter: Arc<Meter>,
}

/// Where a memory begins.
pub(super) struct Place {
    pub(super) base: usize,
    pub(super) size: usize,
    /// What the module begins with.
    pub(super) least: usize,
}

/// A memory whose VM is gone. Dropping it restores the slot, which takes time when much was written: whoever cannot wait keeps it for a while.
#[derive(Debug)]
#[must_use = "dropping it is what gives the memory back"]
pub(crate) struct Remains {
    lodged: Option<Lodged>,
    /// It was taken away from its guest, or nothing is known of it.
    spoiled: bool,
    faults: u64,
    fully_metered: bool,
}

impl Remains {
    /// Whether giving it back may take so long that nobody should wait for it.
    pub(crate) fn is_large(&self) -> bool {
        /// Pages that were touched one by one: about a millisecond's worth. How long the memory is says nothing: a copy of a large one shares what it has not written.
        const LARGE: u64 = 2_048;
        self.faults > LARGE
    }
}

impl Drop for Remains {
    fn drop(&mut self) {
        let Some(Lodged { slot, image, size, .. }) = self.lodged.take() else { return };
        if self.spoiled {
            image.pool().discard(slot, size);
        } else {
            image.pool().give_back(&image, slot, size, self.fully_metered);
        }
    }
}

/// What a VM lives in.
#[derive(Debug)]
pub(super) struct Lodged {
    pub(super) slot: Slot,
    /// What the slot goes back to.
    pub(super) image: Arc<Image>,
    pub(super) size: usize,
    pub(super) growth: Growth,
    /// What is saved of it.
    pub(super) copies: Copies,
    /// It was mapped anew.
    pub(super) moved: bool,
    /// Mapping it anew has failed half-way: nothing is known of its bytes.
    pub(super) lost: bool,
}

impl Lodging {
    /// A VM moves into a slot of `image`. The gate leads here from now on.
    pub(crate) fn new(slot: Slot, image: Arc<Image>, gate: Arc<Gate>, meter: Arc<Meter>) -> Arc<Self> {
        gate.attach(slot.base());
        let size = image.len();
        let lodged =
            Lodged { slot, image, size, growth: Growth::default(), copies: Copies::default(), moved: false, lost: false };
        Arc::new(Self { state: Mutex::new(Some(lodged)), gate, meter })
    }

    pub(super) fn place(&self) -> Option<Place> {
        let state = self.state.lock();
        let Lodged { slot, image, size, .. } = state.as_ref()?;
        Some(Place { base: slot.base(), size: *size, least: image.header().memory_len as usize })
    }

    /// Makes the memory `new_size` bytes long.
    pub(super) fn grow_to(&self, new_size: usize) -> Result<(), &'static str> {
        let mut state = self.state.lock();
        let lodged = state.as_mut().ok_or("nobody lives here")?;
        if new_size > RESERVATION || new_size < lodged.size || lodged.lost {
            return Err("growth outside the reservation");
        }
        if new_size == lodged.size {
            return Ok(());
        }
        let Ok(_open) = self.gate.enter() else { return Err("the memory was taken away") };
        let Lodged { slot, image, size, growth, .. } = lodged;
        let base = slot.base();
        // SAFETY: the range lies inside this slot's reservation, behind what is in use.
        unsafe { growth.grow(image, base, *size, new_size, slot.charge()) }.map_err(|_| "the system has no memory for it")?;
        *size = new_size;
        Ok(())
    }

    /// The guest is about to have its first turn: its memory becomes what the image says, also where that was not mapped, and the pages that its copies write
    /// first become its own, if it is known which they are. False: the memory was taken away, or a file cannot be read.
    pub(crate) fn prepare(&self) -> bool {
        let mut state = self.state.lock();
        match (state.as_mut(), self.gate.enter()) {
            (Some(Lodged { slot, image, lost: false, .. }), Ok(_open)) => slot.prepare(image),
            _ => false,
        }
    }

    /// A copy has had so many turns.
    pub(crate) fn learn(&self, turns: u8) {
        if let Some(Lodged { slot, image, lost: false, moved: false, .. }) = self.state.lock().as_ref()
            && let Ok(_open) = self.gate.enter()
        {
            slot.learn(image, turns);
        }
    }

    /// What the slot goes back to.
    #[cfg(test)]
    pub(crate) fn image(&self) -> Option<Arc<Image>> {
        self.state.lock().as_ref().map(|lodged| lodged.image.clone())
    }

    /// The VM is gone. What is left of it goes back to its image's pool, or out of use, when it is dropped.
    pub(crate) fn leave(&self) -> Option<Remains> {
        let lodged = self.state.lock().take()?;
        let closed = self.gate.detach(lodged.slot.base()).is_err();
        let fully_metered = !lodged.moved && self.meter.no_faults_so_far();
        Some(Remains { spoiled: closed || lodged.lost, faults: self.meter.faults(), fully_metered, lodged: Some(lodged) })
    }
}
