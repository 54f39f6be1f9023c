//! Clean slots of one image.
//!
//! A pool is a part of its image, so that a slot cannot be used for another image. The prototype
//! had one list for all images, keyed by the image's address, and the address of a freed image was
//! reused.
//!
//! Clean slots of the installation's images are kept, because programs start all the time. Clean
//! slots of a saved image wait for restores that may never happen, and the number of snapshots is
//! not bounded. Therefore the keeper of all images has a list of saved images with clean slots. The
//! keeper frees these slots when they are unused for long or other memories need their resources.
//! Next: `image/keeper.rs`.

use super::Budget;
use super::slot::{Reset, Slot, mappings};
use crate::image::Image;
use coldframe_error::Error;
use coldframe_panics::process::Mutex;
use coldframe_sys as sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Clean slots of the image that this pool is a part of.
#[derive(Debug)]
pub struct Pool {
    clean: Mutex<Clean>,
    capacity: usize,
    budget: Arc<Budget>,
    /// Whether the image is a saved image.
    is_saved: bool,
    /// The time when a slot of a saved image was last returned, in nanoseconds of the monotonic
    /// clock.
    used_ns: AtomicU64,
}

#[derive(Debug, Default)]
struct Clean {
    slots: Vec<Slot>,
    /// Whether the image is in the keeper's list of saved images with slots.
    is_known: bool,
}

impl Pool {
    /// Makes an empty pool that keeps at most `capacity` clean slots.
    pub fn new(budget: Arc<Budget>, capacity: usize, is_saved: bool) -> Self {
        Self { clean: Mutex::default(), capacity, budget, is_saved, used_ns: AtomicU64::new(0) }
    }

    /// Returns the budget of the process.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the number of clean slots.
    pub fn waiting(&self) -> usize {
        self.clean.lock().slots.len()
    }

    /// Returns the time when a slot of a saved image was last returned, in nanoseconds of the
    /// monotonic clock. Returns 0 if no slot was returned, or the image is not a saved image.
    pub fn used_ns(&self) -> u64 {
        self.used_ns.load(Ordering::Relaxed)
    }

    /// Takes the most recently used clean slot, whose pages are mapped and warm, or maps a new
    /// slot.
    pub fn take(&self, image: &Arc<Image>) -> Result<Slot, Error> {
        debug_assert!(std::ptr::eq(self, image.pool()), "a pool serves the image it is a part of");
        if let Some(slot) = self.clean.lock().slots.pop() {
            return Ok(slot);
        }
        loop {
            match self.map(image) {
                // The system refused a mapping that the budget allowed, because other code of this
                // process uses more mappings than expected.
                Err(_) if self.budget.keeper().give_up_slots() => {}
                mapped => return mapped,
            }
        }
    }

    fn map(&self, image: &Arc<Image>) -> Result<Slot, Error> {
        let layout = image.to_map();
        let base = self.budget.take_range()?;
        let charge = self.budget.charge(mappings(&layout.mapped), 0).inspect_err(|_| {
            self.budget.give_back_range(base);
        })?;
        Slot::map(base, image, &layout, charge).map_err(|(base, error)| {
            self.budget.give_up_range(base);
            error
        })
    }

    /// Restores a slot and keeps the slot unless the pool is full. If the pool is full, unmaps the
    /// slot without a search for written pages.
    pub fn give_back(&self, image: &Arc<Image>, slot: Slot, size: usize, fully_metered: bool) {
        if self.clean.lock().slots.len() >= self.capacity {
            return self.unmap(slot, size);
        }
        match slot.reset(image, size, fully_metered) {
            Reset::Clean(slot) => self.keep(image, slot),
            Reset::Lost(base) => self.budget.give_up_range(base),
        }
    }

    fn keep(&self, image: &Arc<Image>, slot: Slot) {
        let mut clean = self.clean.lock();
        if clean.slots.len() >= self.capacity {
            drop(clean);
            return self.unmap(slot, image.len());
        }
        clean.slots.push(slot);
        if !self.is_saved {
            return;
        }
        self.used_ns.store(sys::monotonic_ns(), Ordering::Relaxed);
        let is_new = !std::mem::replace(&mut clean.is_known, true);
        drop(clean);
        if is_new {
            self.budget.keeper().keeps_slots(image);
        }
    }

    /// Unmaps a slot of `size` bytes without restoring the slot.
    pub fn discard(&self, slot: Slot, size: usize) {
        self.unmap(slot, size);
    }

    fn unmap(&self, slot: Slot, size: usize) {
        match slot.into_reservation(size) {
            Ok(base) => self.budget.give_back_range(base),
            Err(base) => self.budget.give_up_range(base),
        }
    }

    /// Unmaps all clean slots. `size` is the image's length in bytes.
    pub fn clear(&self, size: usize) {
        let clean = std::mem::take(&mut *self.clean.lock());
        for slot in clean.slots {
            self.unmap(slot, size);
        }
    }
}
