//! What memories take of the process: address space, mappings, descriptors. Counted, so that running out is a typed error for one caller and not a
//! failed allocation somewhere in the process, which is what the kernel's own limit of mappings comes to.
//!
//! Address ranges are kept for the next memory. A [`Charge`] gives back what it stands for when it is dropped. Next: `slot.rs`.

use super::{GUARD, RESERVATION};
use crate::image::Keeper;
use coldframe_error::Error;
use coldframe_sys as sys;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Mappings one running VM may need: its stack, the image, the heap, the rest of the reservation, the native stack and its guard.
pub(crate) const MAPPINGS_PER_VM: u64 = 6;
/// Mappings left for the rest of the process.
const SPARE_MAPPINGS: u64 = 4_096;
/// 4 GiB each in a 47-bit address space, with room for everything else.
const MAX_RESERVATIONS: u64 = 30_000;
/// Of the descriptors that the process may have, one in so many may be memory.
const DESCRIPTORS_SHARE: u64 = 4;

/// When saving does what: all of it changes what things cost, nothing changes what they mean. Tests choose small numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    /// Growth that is not worth a file (`growth.rs`): saving it means copying at most this much.
    pub(crate) plain: usize,
    /// Above this much copied by a save, the guest is mapped from the copy (`save.rs`). Below, the next save copies it again, which is
    /// cheaper than the faults.
    pub(crate) rebase: usize,
    /// A saved image made of more runs than this is put together anew, at once.
    pub(crate) scattered: usize,
    /// Before copying so much a save asks whether the machine has it.
    pub(crate) large: usize,
    /// Bytes of the machine that such a copy leaves alone.
    pub(crate) spare: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self { plain: 1 << 20, rebase: 8 << 20, scattered: 512, large: 16 << 20, spare: 64 << 20 }
    }
}

/// See the module. One for all images of a process.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) policy: Policy,
    free: Mutex<Vec<usize>>,
    reservations: Count,
    mappings: Count,
    descriptors: Count,
    keeper: Arc<Keeper>,
    /// Held by who has clean slots given up: whoever comes meanwhile has a part of what becomes free.
    making_room: Mutex<()>,
}

#[derive(Debug)]
struct Count {
    what: &'static str,
    used: AtomicU64,
    limit: u64,
}

impl Count {
    fn new(what: &'static str, limit: u64) -> Self {
        Self { what, used: AtomicU64::new(0), limit }
    }

    fn exhausted(&self) -> Error {
        Error::ResourceExhausted { resource: self.what, limit: self.limit }
    }

    fn take(&self, amount: u64) -> Result<(), Error> {
        if self.used.fetch_add(amount, Ordering::Relaxed).saturating_add(amount) > self.limit {
            self.give_back(amount);
            return Err(self.exhausted());
        }
        Ok(())
    }

    fn give_back(&self, amount: u64) {
        self.used.fetch_sub(amount, Ordering::Relaxed);
    }
}

/// What a holder has taken of a budget.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Arc<Budget>,
    mappings: u64,
    descriptors: u64,
}

impl Charge {
    /// Takes more mappings.
    pub(crate) fn add_mappings(&mut self, more: u64) -> Result<(), Error> {
        self.budget.take_mappings(more)?;
        self.mappings += more;
        Ok(())
    }

    /// Gives back what is above `mappings`.
    pub(crate) fn keep_mappings(&mut self, mappings: u64) {
        if let Some(above) = self.mappings.checked_sub(mappings) {
            self.budget.mappings.give_back(above);
            self.mappings = mappings;
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.mappings.give_back(self.mappings);
        self.budget.descriptors.give_back(self.descriptors);
    }
}

impl Budget {
    pub(crate) fn new() -> Arc<Self> {
        let (mappings, descriptors) =
            (sys::max_mappings().saturating_sub(SPARE_MAPPINGS), sys::max_descriptors() / DESCRIPTORS_SHARE);
        Self::with(mappings, descriptors, Policy::default())
    }

    pub(crate) fn with(mappings: u64, descriptors: u64, policy: Policy) -> Arc<Self> {
        Arc::new(Self {
            policy,
            free: Mutex::new(Vec::new()),
            reservations: Count::new("memory reservations", (mappings / MAPPINGS_PER_VM).min(MAX_RESERVATIONS)),
            mappings: Count::new("memory mappings", mappings),
            descriptors: Count::new("memory descriptors", descriptors),
            keeper: Arc::default(),
            making_room: Mutex::new(()),
        })
    }

    /// Who gathers images that are mapped often, and knows which ones have clean slots.
    pub(crate) fn keeper(&self) -> &Arc<Keeper> {
        &self.keeper
    }

    /// Takes mappings and descriptors.
    pub(crate) fn charge(self: &Arc<Self>, mappings: u64, descriptors: u64) -> Result<Charge, Error> {
        self.take_mappings(mappings)?;
        let mut charge = Charge { budget: self.clone(), mappings, descriptors: 0 };
        self.descriptors.take(descriptors)?;
        charge.descriptors = descriptors;
        Ok(charge)
    }

    fn take_mappings(&self, mappings: u64) -> Result<(), Error> {
        self.with_room_made(|| self.mappings.take(mappings))
    }

    /// Takes what there is, or what saved images have in slots that wait: somebody who begins is worth more than a copy that may never be made.
    fn with_room_made<T>(&self, take: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        take().or_else(|_| {
            let _alone = self.making_room.lock();
            loop {
                match take() {
                    Err(_) if self.keeper.give_up_slots() => {}
                    taken => return taken,
                }
            }
        })
    }

    /// Takes an address range for a memory.
    pub(crate) fn take_range(&self) -> Result<usize, Error> {
        self.with_room_made(|| self.range())
    }

    fn range(&self) -> Result<usize, Error> {
        self.reservations.take(1)?;
        if let Some(base) = self.free.lock().pop() {
            return Ok(base);
        }
        sys::reserve(RESERVATION + GUARD).map_err(|_| {
            // The system has no more, or this process is allowed no more: the limit is what memories had by then.
            self.reservations.give_back(1);
            let had = self.reservations.used.load(Ordering::Relaxed) * (RESERVATION + GUARD) as u64;
            Error::ResourceExhausted { resource: "address space", limit: had }
        })
    }

    /// Takes back a range in which nothing is mapped.
    pub(crate) fn give_back_range(&self, base: usize) {
        self.reservations.give_back(1);
        self.free.lock().push(base);
    }

    /// Takes back a range that could not be cleaned.
    pub(crate) fn give_up_range(&self, base: usize) {
        self.reservations.give_back(1);
        // SAFETY: the slot that owned the range is gone.
        unsafe { sys::release(base, RESERVATION + GUARD) };
    }

    /// Mappings in use.
    #[cfg(test)]
    pub(crate) fn mappings(&self) -> u64 {
        self.mappings.used.load(Ordering::Relaxed)
    }

    /// Descriptors in use.
    #[cfg(test)]
    pub(crate) fn descriptors(&self) -> u64 {
        self.descriptors.used.load(Ordering::Relaxed)
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.keeper.close();
        for base in self.free.lock().drain(..) {
            // SAFETY: free ranges are owned by this list alone.
            unsafe { sys::release(base, RESERVATION + GUARD) };
        }
    }
}
