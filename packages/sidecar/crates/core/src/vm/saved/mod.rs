//! A VM as a value: its memory, and what its clocks showed.
//!
//! Between two turns no wasm frame is on a stack, so the stack pointer has its first value and the guest's linear memory is all that there is of
//! it: the module has no other variable, and its table never changes (the image build checks both, `wasm-check.mjs`). [`Vm::save`] therefore saves a
//! memory (`memory/save.rs`), [`Vm::restore`] is the ordinary start with that memory in the image's place. A saved VM can be restored any number of times, and what is restored can be saved again.
//!
//! The first thing that a restored guest hears is the RESTORE event, before any of its code runs: it draws new entropy. What the kernel keeps
//! for a program (files, descriptors, operations) is not in here; `docs/internals/snapshots.md` says how it joins. Next: `file.rs`.

mod file;
mod format;

pub(crate) use file::LaidOut;
pub(crate) use format::Refusal;

use super::abi::{Event, Restore};
use super::clock::Clock;
use super::{Factory, StartCost, Vm};
use crate::image::Image;
use crate::kernel::usage::Charge;
use crate::memory::Save;
use crate::program::Program;
use coldframe_error::Error;
use coldframe_sys as sys;
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(crate) struct Saved {
    memory: Arc<Image>,
    /// What the guest's monotonic clock showed, in nanoseconds.
    monotonic_ns: u64,
    /// Nanoseconds since 1970.
    wall_ns: u64,
}

impl Saved {
    /// What memories of it are mapped from.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> &Arc<Image> {
        &self.memory
    }

    /// So many VMs are about to be restored from it.
    pub(crate) fn expect(&self, copies: u32) {
        self.memory.expect(copies);
    }

    /// Bytes that it holds beyond the image of `factory`; some of them it may share with other saved VMs, and some may be used by none of them any more.
    pub(crate) fn own_bytes(&self, factory: &Factory) -> u64 {
        self.memory.own_bytes(&factory.image)
    }

    /// How long ago it was saved, by the wall clock, in milliseconds; 0 when that clock was set back.
    fn asleep_ms(&self) -> f64 {
        sys::wall_ns().saturating_sub(self.wall_ns) as f64 / 1e6
    }

    /// Whether a VM of `factory` can take it.
    fn check(&self, factory: &Factory, program: &Program) -> Result<(), Error> {
        let (needed, found) = (self.memory.id(), factory.image.id());
        if needed != found {
            return Err(Error::SnapshotForeign { what: "the image", needed: needed.to_owned(), found: found.to_owned() });
        }
        let limit = program.limits().memory_bytes;
        if self.memory.len() as u64 > limit {
            return Err(Error::MemoryLimit { limit: "memoryBytes", bytes: limit });
        }
        Ok(())
    }
}

impl Vm {
    /// Saves it. Only between two turns, and when the guest has heard of everything that was delivered.
    pub(crate) fn save(&mut self) -> Result<Arc<Saved>, Error> {
        self.take().map(|(saved, _)| saved)
    }

    /// The same, and what it took.
    pub(crate) fn take(&mut self) -> Result<(Arc<Saved>, Save), Error> {
        if !self.quiet || !self.events.is_empty() {
            return Err(Error::NotQuiet);
        }
        let state = self.state().map_err(|_| Error::NotQuiet)?;
        if state.exited {
            return Err(Error::NotQuiet);
        }
        let (monotonic_ns, wall_ns) = (self.store.data().clock.now(), sys::wall_ns());
        let save = self.lodging.save()?;
        Ok((Arc::new(Saved { memory: save.image.clone(), monotonic_ns, wall_ns }), save))
    }

    /// Makes the VM of `program` out of a saved one. `restore` says what differs; how long it slept is filled in. `charge` pays for the memory.
    pub(crate) async fn restore(
        factory: &Factory,
        saved: &Saved,
        program: &Arc<Program>,
        charge: Charge,
        restore: Restore,
    ) -> Result<(Self, StartCost), Error> {
        saved.check(factory, program)?;
        let (mut vm, cost) = Self::make(factory, &saved.memory, program, charge, Clock::showing(saved.monotonic_ns)).await?;
        let block = Restore { asleep_ms: saved.asleep_ms(), ..restore }.encode();
        vm.deliver(Event::Restore { block: &block });
        vm.is_copy = true;
        Ok((vm, cost))
    }
}
