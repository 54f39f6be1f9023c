//! Clean slots of one image.
//!
//! A pool is a part of its image (`image/mod.rs`), so that a slot cannot be taken for another image: the prototype kept one list for
//! all, keyed by the image's address, and a freed image's address was reused.
//!
//! The slots of the installation's images wait for good: somebody begins every moment. Those of a saved image wait for copies that may never be made, and snapshots are kept in any
//! number; so the keeper of all images is told of them, and has them given up when others need the room (`image/keeper.rs`). Next: `creator.rs`.

use super::Budget;
use super::slot::{Reset, Slot, mappings};
use crate::image::Image;
use coldframe_error::Error;
use coldframe_sys as sys;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Clean slots of the image that this pool is a part of.
#[derive(Debug)]
pub(crate) struct Pool {
    clean: Mutex<Clean>,
    capacity: usize,
    budget: Arc<Budget>,
    /// Its image is a saved one.
    is_saved: bool,
    /// When a slot was last given back, in nanoseconds of the monotonic clock.
    used_ns: AtomicU64,
}

#[derive(Debug, Default)]
struct Clean {
    slots: Vec<Slot>,
    /// The keeper knows that there may be some.
    told: bool,
}

impl Pool {
    pub(crate) fn new(budget: Arc<Budget>, capacity: usize, is_saved: bool) -> Self {
        Self { clean: Mutex::default(), capacity, budget, is_saved, used_ns: AtomicU64::new(0) }
    }

    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// How many clean slots wait.
    pub(crate) fn waiting(&self) -> usize {
        self.clean.lock().slots.len()
    }

    /// When a slot was last given back, in nanoseconds of the monotonic clock.
    pub(crate) fn used_ns(&self) -> u64 {
        self.used_ns.load(Ordering::Relaxed)
    }

    /// A clean slot: the one used last if there is one, for its pages are mapped and warm, else a new one.
    pub(crate) fn take(&self, image: &Arc<Image>) -> Result<Slot, Error> {
        debug_assert!(std::ptr::eq(self, image.pool()), "a pool serves the image it is a part of");
        if let Some(slot) = self.clean.lock().slots.pop() {
            return Ok(slot);
        }
        loop {
            match self.map(image) {
                // The system had fewer mappings than the budget: somebody else in this process has them.
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

    /// Restores a slot and keeps it, if there is room; looking what was written in it would be for nothing else.
    pub(crate) fn give_back(&self, image: &Arc<Image>, slot: Slot, size: usize, fully_metered: bool) {
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
        let news = !std::mem::replace(&mut clean.told, true);
        drop(clean);
        if news {
            self.budget.keeper().keeps_slots(image);
        }
    }

    /// Takes a slot out of use without restoring it. Its memory has grown to `size`.
    pub(crate) fn discard(&self, slot: Slot, size: usize) {
        self.unmap(slot, size);
    }

    fn unmap(&self, slot: Slot, size: usize) {
        match slot.into_reservation(size) {
            Ok(base) => self.budget.give_back_range(base),
            Err(base) => self.budget.give_up_range(base),
        }
    }

    /// Unmaps all clean slots, which are as long as the image.
    pub(crate) fn clear(&self, size: usize) {
        let clean = std::mem::take(&mut *self.clean.lock());
        for slot in clean.slots {
            self.unmap(slot, size);
        }
    }
}
