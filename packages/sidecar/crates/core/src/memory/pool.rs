//! Clean slots of one image.
//!
//! A pool is a part of its image (`image/mod.rs`), so that a slot cannot be taken for another image: the prototype kept one list for
//! all, keyed by the image's address, and a freed image's address was reused. Next: `creator.rs`.

use super::Budget;
use super::slot::{Reset, Slot, mappings};
use crate::error::Error;
use crate::image::Image;
use parking_lot::Mutex;
use std::sync::Arc;

/// Clean slots of the image that this pool is a part of.
#[derive(Debug)]
pub(crate) struct Pool {
    clean: Mutex<Vec<Slot>>,
    capacity: usize,
    budget: Arc<Budget>,
}

impl Pool {
    pub(crate) fn new(budget: Arc<Budget>, capacity: usize) -> Self {
        Self { clean: Mutex::new(Vec::new()), capacity, budget }
    }

    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// How many clean slots wait.
    pub(crate) fn waiting(&self) -> usize {
        self.clean.lock().len()
    }

    /// A clean slot: the one used last if there is one, for its pages are mapped and warm, else a new one.
    pub(crate) fn take(&self, image: &Arc<Image>) -> Result<Slot, Error> {
        debug_assert!(std::ptr::eq(self, image.pool()), "a pool serves the image it is a part of");
        if let Some(slot) = self.clean.lock().pop() {
            return Ok(slot);
        }
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
    pub(crate) fn give_back(&self, image: &Image, slot: Slot, size: usize, fully_metered: bool) {
        if self.clean.lock().len() >= self.capacity {
            return self.unmap(slot, size);
        }
        match slot.reset(image, size, fully_metered) {
            Reset::Clean(slot) => self.keep(slot, image.len()),
            Reset::Lost(base) => self.budget.give_up_range(base),
        }
    }

    fn keep(&self, slot: Slot, size: usize) {
        let mut clean = self.clean.lock();
        if clean.len() < self.capacity {
            clean.push(slot);
            return;
        }
        drop(clean);
        self.unmap(slot, size);
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
        let slots = std::mem::take(&mut *self.clean.lock());
        for slot in slots {
            self.unmap(slot, size);
        }
    }
}
