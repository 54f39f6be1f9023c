//! Clean slots of one image, and the address ranges that slots are made in.
//!
//! A pool is a part of its image (`image/mod.rs`), so that a slot cannot be taken for another image: the prototype kept one list for
//! all, keyed by the image's address, and a freed image's address was reused. Next: `creator.rs`.

use super::slot::{Reset, Slot};
use super::{GUARD, RESERVATION};
use crate::error::Error;
use crate::image::Image;
use crate::sys;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Mappings one running VM may need: its stack, the image, the heap, the rest of the reservation, the native stack and its guard.
const MAPPINGS_PER_VM: u64 = 6;
/// Mappings left for the rest of the process.
const SPARE_MAPPINGS: u64 = 4_096;
/// 4 GiB each in a 47-bit address space, with room for everything else.
const MAX_RESERVATIONS: u64 = 30_000;

/// Address ranges for memories, shared by all images of a process. Counts them, so that running out is a typed error for one caller
/// and not a failed allocation anywhere in the process.
#[derive(Debug)]
pub(crate) struct Reservations {
    free: Mutex<Vec<usize>>,
    in_use: AtomicU64,
    limit: u64,
}

impl Reservations {
    pub(crate) fn new() -> Arc<Self> {
        let limit = (sys::max_mappings().saturating_sub(SPARE_MAPPINGS) / MAPPINGS_PER_VM).min(MAX_RESERVATIONS);
        Arc::new(Self { free: Mutex::new(Vec::new()), in_use: AtomicU64::new(0), limit })
    }

    fn take(&self) -> Result<usize, Error> {
        let exhausted = Error::ResourceExhausted { resource: "memory reservations", limit: self.limit };
        if self.in_use.fetch_add(1, Ordering::Relaxed) >= self.limit {
            self.in_use.fetch_sub(1, Ordering::Relaxed);
            return Err(exhausted);
        }
        if let Some(base) = self.free.lock().pop() {
            return Ok(base);
        }
        sys::reserve(RESERVATION + GUARD).map_err(|_| {
            self.in_use.fetch_sub(1, Ordering::Relaxed);
            exhausted
        })
    }

    /// Takes back a range in which nothing is mapped.
    fn give_back(&self, base: usize) {
        self.in_use.fetch_sub(1, Ordering::Relaxed);
        self.free.lock().push(base);
    }

    /// Takes back a range that could not be cleaned.
    fn give_up(&self, base: usize) {
        self.in_use.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the slot that owned the range is gone.
        unsafe { sys::release(base, RESERVATION + GUARD) };
    }
}

impl Drop for Reservations {
    fn drop(&mut self) {
        for base in self.free.lock().drain(..) {
            // SAFETY: free ranges are owned by this list alone.
            unsafe { sys::release(base, RESERVATION + GUARD) };
        }
    }
}

/// Clean slots of the image that this pool is a part of.
#[derive(Debug)]
pub(crate) struct Pool {
    clean: Mutex<Vec<Slot>>,
    capacity: usize,
    reservations: Arc<Reservations>,
}

impl Pool {
    pub(crate) fn new(reservations: Arc<Reservations>, capacity: usize) -> Self {
        Self { clean: Mutex::new(Vec::new()), capacity, reservations }
    }

    /// How many clean slots wait.
    pub(crate) fn waiting(&self) -> usize {
        self.clean.lock().len()
    }

    /// A clean slot: the one used last if there is one, for its pages are mapped and warm, else a new one.
    pub(crate) fn take(&self, image: &Image) -> Result<Slot, Error> {
        debug_assert!(std::ptr::eq(self, image.pool()), "a pool serves the image it is a part of");
        if let Some(slot) = self.clean.lock().pop() {
            return Ok(slot);
        }
        let base = self.reservations.take()?;
        Slot::map(base, image).map_err(|(base, error)| {
            self.reservations.give_up(base);
            error
        })
    }

    /// Restores a slot and keeps it, if there is room.
    pub(crate) fn give_back(&self, image: &Image, slot: Slot, size: usize, fully_metered: bool) {
        match slot.reset(image, size, fully_metered) {
            Reset::Clean(slot) => self.keep(slot),
            Reset::Lost(base) => self.reservations.give_up(base),
        }
    }

    fn keep(&self, slot: Slot) {
        let mut clean = self.clean.lock();
        if clean.len() < self.capacity {
            clean.push(slot);
            return;
        }
        drop(clean);
        self.unmap(slot);
    }

    /// Takes a slot out of use without restoring it.
    pub(crate) fn discard(&self, slot: Slot) {
        self.unmap(slot);
    }

    fn unmap(&self, slot: Slot) {
        match slot.into_reservation() {
            Ok(base) => self.reservations.give_back(base),
            Err(base) => self.reservations.give_up(base),
        }
    }

    /// Unmaps all clean slots.
    pub(crate) fn clear(&self) {
        let slots = std::mem::take(&mut *self.clean.lock());
        for slot in slots {
            self.unmap(slot);
        }
    }
}
