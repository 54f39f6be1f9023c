//! A slot: one reservation that carries one image. The slot equals the image except for the known
//! private pages.
//!
//! Restoring the image byte for byte keeps one guest's data from the next guest (docs/design.md,
//! "What must stay true"). Linux's page map shows which pages were written. Reading the page map
//! costs more than a whole warm run, so the read is skipped if no further page can have been
//! written. A page becomes private only through a fault. The faults of every thread that accesses
//! the memory are counted (`meter.rs`). If the count did not change, no further page is private.
//! Next: `pool.rs`; `occupied_slot.rs`, a slot that a VM uses.

use super::{Charge, GUARD, MAPPINGS_PER_VM, RESERVATION};
use crate::image::{Extent, Image, Layout, bytes, extra_mappings, union};
use coldframe_error::Error;
use coldframe_sys::{self as sys, PAGE, PageMap, Run};
use std::sync::Arc;

/// The largest number of private pages that are restored by copying. In a slot with more pages, all
/// private pages are dropped, because copying them after each run would cost more than the avoided
/// faults.
const MAX_KNOWN_PAGES: usize = 512;

/// Returns the number of mappings of a memory made of `extents`.
pub(super) fn mappings(extents: &[Extent]) -> u64 {
    MAPPINGS_PER_VM + extra_mappings(extents)
}

/// A mapped, clean memory. Owns its address range.
#[derive(Debug)]
pub struct Slot {
    base: usize,
    /// The private pages that are restored to the image's bytes. Sorted, not touching.
    known: Vec<Run>,
    /// The runs that differ between image and mapping. These runs are written before a guest's
    /// first turn.
    unmapped: Arc<[Run]>,
    /// Whether the runs in `unmapped` were written.
    whole: bool,
    /// Whether no earlier guest has used the slot.
    new: bool,
    charge: Charge,
    /// The number of mappings that the slot stays charged for between two guests.
    mappings: u64,
}

/// The result of restoring a slot.
pub enum Reset {
    /// The slot equals the image.
    Clean(Slot),
    /// The system refused a call. The address range must be unmapped.
    Lost(usize),
}

impl Slot {
    /// Maps the image into a reservation in the given layout. [`Slot::prepare`] must precede the
    /// first read.
    pub fn map(base: usize, image: &Image, layout: &Layout, charge: Charge) -> Result<Self, (usize, Error)> {
        // SAFETY: the caller passes the whole reservation, which is as long as any image (checked
        // in `Header::decode`, and when an image is saved).
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

    /// Returns the address of the memory.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Returns the slot's part of the process's budget.
    pub fn charge(&mut self) -> &mut Charge {
        &mut self.charge
    }

    /// Assigns the slot to the image made of `extents`. The whole slot was mapped again and has no
    /// private pages.
    pub fn belongs_to(&mut self, extents: &[Extent]) {
        self.known.clear();
        self.unmapped = Arc::default();
        self.whole = true;
        self.mappings = self.mappings.max(mappings(extents));
    }

    /// Prepares the slot for a guest: writes the parts of `image` that were not mapped, and makes
    /// the image's hot pages private. A slot that an earlier guest has used already has its private
    /// pages. Returns false if a file cannot be read.
    pub fn prepare(&mut self, image: &Image) -> bool {
        if self.whole && !self.new {
            return true;
        }
        let hot = image.hot().for_copy();
        let hot = hot.iter().filter(|run| run.offset + run.len <= image.len());
        let unmapped = self.unmapped.iter().filter(|_| !self.whole);
        self.known = union(hot.chain(unmapped).chain(&self.known).copied().collect());
        for run in &self.known {
            // SAFETY: the run is in the image, which the slot's reservation carries. If the call
            // fails, the pages become private when they are written. `known` is right in both
            // cases, because the pages have the image's bytes.
            if unsafe { sys::make_private(self.base + run.offset, run.len) }.is_err() {
                break;
            }
        }
        // SAFETY: the caller prevents other access to the memory, which `map_at` made.
        self.whole = self.whole || unsafe { image.restore(self.base, &self.unmapped) };
        self.whole
    }

    /// Records the pages that the VM has written in its first `turns` turns, because later VMs of
    /// the image will also write these pages. A slot that an earlier guest has used is skipped. In
    /// such a slot the search would also visit pages that were only read, which takes a millisecond
    /// for each gigabyte.
    pub(super) fn learn(&self, image: &Image, turns: u8) {
        if self.new
            && image.hot().wants(turns)
            && let Ok(written) = self.written(image)
        {
            image.hot().learn(turns, &written);
        }
    }

    /// Returns the pages that the guest has written since the slot was prepared.
    fn written(&self, image: &Image) -> std::io::Result<Vec<Run>> {
        let private = PageMap::get()?.private_runs(self.base, image.len())?;
        let is_known = |page: usize| {
            let next = self.known.partition_point(|run| run.offset + run.len <= page);
            self.known.get(next).is_some_and(|run| run.offset <= page)
        };
        let pages = private.iter().flat_map(|run| (run.offset..run.offset + run.len).step_by(PAGE));
        // SAFETY: the caller prevents other access to the memory, which `map_at` made.
        let is_as_before = |page: usize| is_known(page) && unsafe { image.is_in(self.base, Run { offset: page, len: PAGE }) };
        Ok(union(pages.filter(|page| !is_as_before(*page)).map(|offset| Run { offset, len: PAGE }).collect()))
    }

    /// Restores the image after a guest. `size` is the size of the memory with its growth.
    /// `fully_metered` states that all page faults of the run were counted and that no fault
    /// occurred.
    pub fn reset(mut self, image: &Image, size: usize, fully_metered: bool) -> Reset {
        self.new = false;
        if !fully_metered && self.scan(image.len()).is_err() {
            return Reset::Lost(self.base);
        }
        if bytes(&self.known) > MAX_KNOWN_PAGES * PAGE {
            // SAFETY: the guest has ended and this value owns the slot. The range is the mapped
            // image.
            if unsafe { sys::discard(self.base, image.len()) }.is_err() {
                return Reset::Lost(self.base);
            }
            self.known.clear();
            self.whole = self.unmapped.is_empty();
        } else {
            // SAFETY: the scan covered exactly the mapped image, the slot owns it, and the guest
            // has ended.
            if !unsafe { image.restore(self.base, &self.known) } {
                return Reset::Lost(self.base);
            }
        }
        if size > image.len() {
            // SAFETY: the guest has ended and this value owns the slot. The range is the growth.
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

    /// Unmaps the slot and returns the address of its range. The memory in the slot is `size` bytes
    /// long. If the system refuses to unmap the slot, returns the address as an error.
    pub fn into_reservation(self, size: usize) -> Result<usize, usize> {
        // SAFETY: the slot owns its whole reservation.
        match unsafe { sys::unmap_into_reservation(self.base, RESERVATION + GUARD, size) } {
            Ok(()) => Ok(self.base),
            Err(_) => Err(self.base),
        }
    }
}
