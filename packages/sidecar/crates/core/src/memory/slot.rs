//! A slot: one reservation that carries one image, pristine but for the pages that the list of known pages names.
//!
//! Going back to the image byte for byte is what keeps one guest's data from the next (DESIGN.md, rule 4). The kernel's page map says
//! which pages were written. Reading it costs more than a whole warm run, so it is skipped when nothing new can have been
//! written: a page becomes private only through a fault, so when the faults of every thread that touched the memory are counted and
//! did not move, the pages that were private before are the only ones (`sched/meter.rs` counts). Next: `pool.rs`; `lodging.rs` is a slot that
//! a VM lives in.

use super::{Charge, GUARD, MAPPINGS_PER_VM, RESERVATION};
use crate::image::{Extent, Image, Layout, bytes, extra_mappings, union};
use coldframe_error::Error;
use coldframe_sys::{self as sys, PAGE, PageMap, Run};
use std::sync::Arc;

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
    /// What the image has other bytes for than what was mapped: written before a guest's first turn.
    unmapped: Arc<[Run]>,
    /// Whether that was done.
    whole: bool,
    /// No guest was here before the one of now.
    new: bool,
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
    /// Maps the image, as `layout` says, into a reservation. It must be made whole before anything reads it.
    pub(crate) fn map(base: usize, image: &Image, layout: &Layout, charge: Charge) -> Result<Self, (usize, Error)> {
        // SAFETY: the caller hands over the whole reservation; it is as long as any image (checked in `Header::decode` and when one is saved).
        match unsafe { image.map_at(base, &layout.mapped) } {
            Ok(()) => Ok(Self {
                base,
                known: Vec::new(),
                unmapped: layout.written.clone(),
                whole: layout.written.is_empty(),
                new: true,
                mappings: mappings(&layout.mapped),
                charge,
            }),
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

    /// It is one of the image that is made of `extents` from now on, and mapped anew, all of it: it has no private pages.
    pub(crate) fn belongs_to(&mut self, extents: &[Extent]) {
        self.known.clear();
        self.unmapped = Arc::default();
        self.whole = true;
        self.mappings = self.mappings.max(mappings(extents));
    }

    /// Makes it ready for a guest: as `image`, which it carries, where that was not mapped, and with the image's hot pages for its own, unless a guest was here
    /// before: then it has those that it needs. False: a file cannot be read.
    pub(crate) fn prepare(&mut self, image: &Image) -> bool {
        if self.whole && !self.new {
            return true;
        }
        let hot = image.hot().for_copy();
        let hot = hot.iter().filter(|run| run.offset + run.len <= image.len());
        let unmapped = self.unmapped.iter().filter(|_| !self.whole);
        self.known = union(hot.chain(unmapped).chain(&self.known).copied().collect());
        for run in &self.known {
            // SAFETY: the run lies in the image, which the slot's reservation carries. Where it fails, the pages become private when they are written to;
            // what is known of them is true either way, for they hold the image's bytes.
            if unsafe { sys::make_private(self.base + run.offset, run.len) }.is_err() {
                break;
            }
        }
        // SAFETY: the caller lets nobody else into the memory, which was made by `map_at`.
        self.whole = self.whole || unsafe { image.restore(self.base, &self.unmapped) };
        self.whole
    }

    /// A copy has had so many turns: what it has written, the next ones will write as well. Where others were before, nobody looks: what they have read would be
    /// looked through as well, which takes a millisecond a gigabyte.
    pub(super) fn learn(&self, image: &Image, turns: u8) {
        if self.new
            && image.hot().wants(turns)
            && let Ok(written) = self.written(image)
        {
            image.hot().learn(turns, &written);
        }
    }

    /// The pages that the guest has written to since the slot was made ready.
    fn written(&self, image: &Image) -> std::io::Result<Vec<Run>> {
        let private = PageMap::get()?.private_runs(self.base, image.len())?;
        let is_known = |page: usize| {
            let next = self.known.partition_point(|run| run.offset + run.len <= page);
            self.known.get(next).is_some_and(|run| run.offset <= page)
        };
        let pages = private.iter().flat_map(|run| (run.offset..run.offset + run.len).step_by(PAGE));
        // SAFETY: the caller lets nobody else into the memory, which was made by `map_at`.
        let is_as_before = |page: usize| is_known(page) && unsafe { image.is_in(self.base, Run { offset: page, len: PAGE }) };
        Ok(union(pages.filter(|page| !is_as_before(*page)).map(|offset| Run { offset, len: PAGE }).collect()))
    }

    /// Restores the image after a guest ran. `size` is how far its memory had grown; `fully_metered` says that all faults of
    /// the run were counted and that there were none.
    pub(crate) fn reset(mut self, image: &Image, size: usize, fully_metered: bool) -> Reset {
        self.new = false;
        if !fully_metered && self.scan(image.len()).is_err() {
            return Reset::Lost(self.base);
        }
        if bytes(&self.known) > MAX_KNOWN_PAGES * PAGE {
            // SAFETY: the guest is gone and the slot is ours; the range is the mapped image.
            if unsafe { sys::discard(self.base, image.len()) }.is_err() {
                return Reset::Lost(self.base);
            }
            self.known.clear();
            self.whole = self.unmapped.is_empty();
        } else {
            // SAFETY: the scan covered exactly the mapped image, the slot owns it, and the guest is gone.
            if !unsafe { image.restore(self.base, &self.known) } {
                return Reset::Lost(self.base);
            }
        }
        if size > image.len() {
            // SAFETY: as above; the range is the grown part.
            if unsafe { sys::unmap_into_reservation(self.base + image.len(), size - image.len(), size - image.len()) }.is_err() {
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

    /// Gives up the mapping but keeps the address range. Its memory is `size` bytes long.
    pub(crate) fn into_reservation(self, size: usize) -> Result<usize, usize> {
        // SAFETY: the slot owns its whole reservation.
        match unsafe { sys::unmap_into_reservation(self.base, RESERVATION + GUARD, size) } {
            Ok(()) => Ok(self.base),
            Err(_) => Err(self.base),
        }
    }
}
