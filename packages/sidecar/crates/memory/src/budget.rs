//! Counts the address space, the mappings and the descriptors of the process that memories use.
//!
//! With the counts, a caller that exhausts a resource receives a typed error. Without the counts,
//! the process would reach the system's limit of mappings, and any later allocation could fail.
//! Free address ranges are kept for the next memory. A [`Charge`] returns its part to the budget
//! when the charge is dropped. Next: `slot.rs`.

use super::{GUARD, RESERVATION};
use crate::image::Keeper;
use coldframe_error::Error;
use coldframe_panics::process::Mutex;
use coldframe_sys as sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of mappings of one running VM. The mappings are the guest's stack, the image, the
/// heap, the unused reservation, the native stack and the native stack's guard.
pub const MAPPINGS_PER_VM: u64 = 6;
/// The number of mappings that are left for other uses in the process.
const SPARE_MAPPINGS: u64 = 4_096;
/// The largest number of reservations. This many reservations of 4 GiB fit in a 47-bit address
/// space and leave a part of the address space for other mappings.
const MAX_RESERVATIONS: u64 = 30_000;
/// The divisor of the process's limit of descriptors. The quotient is the limit for memories.
const DESCRIPTORS_SHARE: u64 = 4;

/// Thresholds of saving. The thresholds change the cost of a save and decide whether a large save
/// is refused. They never change the saved bytes. Tests choose small numbers.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// The largest growth without a file (`growth.rs`), in bytes. A save copies growth without a
    /// file.
    pub plain: usize,
    /// A save that copies at least this many bytes maps the guest's memory from the copy
    /// (`save.rs`). After a smaller save, the next save copies the pages again. A second copy
    /// takes less time than the page faults of a new mapping.
    pub rebase: usize,
    /// A saved image with more runs than this number is flattened at once.
    pub scattered: usize,
    /// A save that copies at least this many bytes first checks the machine's available memory.
    pub large: usize,
    /// The available bytes that a large copy must leave free.
    pub spare: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self { plain: 1 << 20, rebase: 8 << 20, scattered: 512, large: 16 << 20, spare: 64 << 20 }
    }
}

/// The budget of all memories of a process.
#[derive(Debug)]
pub struct Budget {
    /// The thresholds of saving.
    pub policy: Policy,
    free: Mutex<Vec<usize>>,
    reservations: Count,
    mappings: Count,
    descriptors: Count,
    keeper: Arc<Keeper>,
    /// Locked while clean slots are freed, so that concurrent callers share the freed resources.
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

/// A part of the budget. The part is returned to the budget when the charge is dropped.
#[derive(Debug)]
pub struct Charge {
    budget: Arc<Budget>,
    mappings: u64,
    descriptors: u64,
}

impl Charge {
    /// Charges for further mappings. Fails with `ERR_RESOURCE_EXHAUSTED` if the limit would be
    /// exceeded.
    pub fn add_mappings(&mut self, more: u64) -> Result<(), Error> {
        self.budget.take_mappings(more)?;
        self.mappings += more;
        Ok(())
    }

    /// Returns the mappings beyond `mappings` to the budget.
    pub fn keep_mappings(&mut self, mappings: u64) {
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
    /// Makes the budget of this process from the system's limits of mappings and descriptors.
    pub fn new() -> Arc<Self> {
        let (mappings, descriptors) =
            (sys::max_mappings().saturating_sub(SPARE_MAPPINGS), sys::max_descriptors() / DESCRIPTORS_SHARE);
        Self::with(mappings, descriptors, Policy::default())
    }

    /// Makes a budget with these limits and thresholds.
    pub fn with(mappings: u64, descriptors: u64, policy: Policy) -> Arc<Self> {
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

    /// Returns the keeper of all images.
    pub fn keeper(&self) -> &Arc<Keeper> {
        &self.keeper
    }

    /// Charges for mappings and descriptors. Fails with `ERR_RESOURCE_EXHAUSTED` if a limit would
    /// be exceeded.
    pub fn charge(self: &Arc<Self>, mappings: u64, descriptors: u64) -> Result<Charge, Error> {
        self.take_mappings(mappings)?;
        let mut charge = Charge { budget: self.clone(), mappings, descriptors: 0 };
        self.descriptors.take(descriptors)?;
        charge.descriptors = descriptors;
        Ok(charge)
    }

    fn take_mappings(&self, mappings: u64) -> Result<(), Error> {
        self.with_room_made(|| self.mappings.take(mappings))
    }

    /// Calls `take`. While `take` fails for lack of resources, frees clean slots of saved images
    /// and calls `take` again. Such slots are kept for restores that may never happen.
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

    /// Takes a free address range, or reserves a new range. Fails with `ERR_RESOURCE_EXHAUSTED` if
    /// the limit of reservations is reached or the system refuses a range.
    pub fn take_range(&self) -> Result<usize, Error> {
        self.with_room_made(|| self.range())
    }

    fn range(&self) -> Result<usize, Error> {
        self.reservations.take(1)?;
        if let Some(base) = self.free.lock().pop() {
            return Ok(base);
        }
        sys::reserve(RESERVATION + GUARD).map_err(|_| {
            // The system refuses a further range. The reported limit is the present use of all
            // memories.
            self.reservations.give_back(1);
            let had = self.reservations.used.load(Ordering::Relaxed) * (RESERVATION + GUARD) as u64;
            Error::ResourceExhausted { resource: "address space", limit: had }
        })
    }

    /// Returns an unmapped range to the budget.
    pub fn give_back_range(&self, base: usize) {
        self.reservations.give_back(1);
        self.free.lock().push(base);
    }

    /// Releases a range that could not be unmapped into a reservation.
    pub fn give_up_range(&self, base: usize) {
        self.reservations.give_back(1);
        // SAFETY: the slot that owned the range was dropped.
        unsafe { sys::release(base, RESERVATION + GUARD) };
    }

    /// Returns the number of used mappings.
    pub fn mappings(&self) -> u64 {
        self.mappings.used.load(Ordering::Relaxed)
    }

    /// Returns the number of used descriptors.
    pub fn descriptors(&self) -> u64 {
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
