//! A slot: one reservation that carries one image, pristine but for the pages that the list of known pages names.
//!
//! Going back to the image byte for byte is what keeps one guest's data from the next (DESIGN.md, rule 4). The kernel's page map says
//! which pages were written. Reading it costs more than a whole warm run, so it is skipped when nothing new can have been
//! written: a page becomes private only through a fault, so when the faults of every thread that touched the memory are counted and
//! did not move, the pages that were private before are the only ones (`sched/meter.rs` counts). Next: `pool.rs`; `lodging.rs` is a slot that
//! a VM lives in.

use super::{Charge, GUARD, MAPPINGS_PER_VM, RESERVATION};
use crate::error::Error;
use crate::image::{Extent, Image, bytes, extra_mappings};
use crate::sys::{self, PAGE, PageMap, Run};

/// Above this many private pages a slot is remapped instead of copied back: copying them after each run would cost more than the
/// faults it saves.
const MAX_KNOWN_PAGES: usize = 512;

/// Mappings that a memory made of `extents` takes.
pub(super) fn mappings(extents: &[Extent]) -> u64 {
    MAPPINGS_PER_VM + extra_mappings(extents)
}

/// A mapped, clean memory. Owns its address range.
#[derive(Debug)]
pub(crate) struct Slot {
    base: usize,
    /// Pages that are private copies, with the image's bytes in them. Sorted, not touching.
    known: Vec<Run>,
    charge: Charge,
    /// The part of the charge that it keeps between two guests.
    mappings: u64,
}

/// What becomes of a slot after a run.
pub(crate) enum Reset {
    /// As the image again.
    Clean(Slot),
    /// The kernel would not say or do it: the address range must be unmapped.
    Lost(usize),
}

impl Slot {
    /// Maps the image, of which `extents` are what it is made of now, into a reservation.
    pub(crate) fn map(base: usize, image: &Image, extents: &[Extent], charge: Charge) -> Result<Self, (usize, Error)> {
        // SAFETY: the caller hands over the whole reservation; it is as long as any image (checked in `Header::decode` and when one is saved).
        match unsafe { image.map_at(base, extents) } {
            Ok(()) => Ok(Self { base, known: Vec::new(), mappings: mappings(extents), charge }),
            Err(_) => Err((base, Error::ResourceExhausted { resource: "memory mappings", limit: sys::max_mappings() })),
        }
    }

    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// What it has taken of the process's budget.
    pub(crate) fn charge(&mut self) -> &mut Charge {
        &mut self.charge
    }

    /// It is one of the image that is made of `extents` from now on, and mapped anew: it has no private pages.
    pub(crate) fn belongs_to(&mut self, extents: &[Extent]) {
        self.known.clear();
        self.mappings = self.mappings.max(mappings(extents));
    }

    /// Restores the image after a guest ran. `size` is how far its memory had grown; `fully_metered` says that all faults of
    /// the run were counted and that there were none.
    pub(crate) fn reset(mut self, image: &Image, size: usize, fully_metered: bool) -> Reset {
        if !fully_metered && self.scan(image.len()).is_err() {
            return Reset::Lost(self.base);
        }
        if bytes(&self.known) > MAX_KNOWN_PAGES * PAGE {
            // SAFETY: the guest is gone and the slot is ours; the range is the mapped image.
            if unsafe { sys::discard(self.base, image.len()) }.is_err() {
                return Reset::Lost(self.base);
            }
            self.known.clear();
        } else {
            // SAFETY: the scan covered exactly the mapped image, the slot owns it, and the guest is gone.
            if !unsafe { image.restore(self.base, &self.known) } {
                return Reset::Lost(self.base);
            }
        }
        if size > image.len() {
            // SAFETY: as above; the range is the grown part.
            if unsafe { sys::unmap_into_reservation(self.base + image.len(), size - image.len()) }.is_err() {
                return Reset::Lost(self.base);
            }
            self.charge.keep_mappings(self.mappings);
        }
        Reset::Clean(self)
    }

    fn scan(&mut self, len: usize) -> std::io::Result<()> {
        self.known = PageMap::get()?.private_runs(self.base, len)?;
        Ok(())
    }

    /// Gives up the mapping but keeps the address range.
    pub(crate) fn into_reservation(self) -> Result<usize, usize> {
        // SAFETY: the slot owns its whole reservation.
        match unsafe { sys::unmap_into_reservation(self.base, RESERVATION + GUARD) } {
            Ok(()) => Ok(self.base),
            Err(_) => Err(self.base),
        }
    }
}
