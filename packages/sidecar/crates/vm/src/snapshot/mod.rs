//! The snapshot of a VM: its memory, and the values of its clocks.
//!
//! Between two turns no wasm frame is on a stack. The stack pointer then has its initial value, and
//! the linear memory is the whole state of the guest. The module has no other variable, and its
//! table never changes. The image build checks both properties (`module/check.rs` of the crate
//! `imager`). [`Vm::snapshot`] therefore saves a memory (`save.rs` of the crate `memory`).
//! [`Vm::restore`] is an ordinary start with that memory in place of the image. A snapshot can be
//! restored any number of times, and a snapshot of a restored VM can be taken again.
//!
//! The first event of a restored guest is RESTORE, before any of its code runs: the guest draws new
//! entropy. The kernel's state of a program (files, descriptors, operations) is not included.
//! `docs/internals/snapshots.md` describes the snapshots of VMs and of the kernel. Next: `file.rs`.

mod copy;
mod file;
mod format;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;

pub use copy::{CopyError, HashedCopy};
pub use file::{LaidOut, Opened, Pages};
pub use format::FormatError;

use crate::abi::{Event, Restore};
use crate::clock::Clock;
use crate::owner::Owner;
use crate::{Factory, StartCost, Vm};
use coldframe_error::Error;
use coldframe_kernel::usage::Charge;
use coldframe_memory::{Image, Save};
use coldframe_sys as sys;
use std::sync::Arc;

/// The snapshot of a VM.
#[derive(Debug)]
pub struct VmSnapshot {
    memory: Arc<Image>,
    /// The guest's monotonic clock, in nanoseconds.
    monotonic_ns: u64,
    /// The wall clock, in nanoseconds since 1970.
    wall_ns: u64,
}

impl VmSnapshot {
    /// Returns the memory, which restores map. For tests.
    pub fn memory(&self) -> &Arc<Image> {
        &self.memory
    }

    /// Announces that `copies` VMs will be restored, so that the memory can be prepared for cheap
    /// mappings.
    pub fn expect(&self, copies: u32) {
        self.memory.expect(copies);
    }

    /// Returns the number of bytes beyond the image of `factory`. The number includes pages that
    /// other snapshots share, and overwritten pages whose file is still in use.
    pub fn own_bytes(&self, factory: &Factory) -> u64 {
        self.memory.own_bytes(&factory.image)
    }

    /// Returns the time since the snapshot by the wall clock, in milliseconds. Returns 0 if the
    /// clock was set back.
    fn elapsed_ms(&self) -> f64 {
        sys::wall_ns().saturating_sub(self.wall_ns) as f64 / 1e6
    }

    /// Checks that the snapshot was taken from a VM of `factory`'s image, and that its memory is
    /// within the runtime's limit.
    fn check(&self, factory: &Factory, owner: &dyn Owner) -> Result<(), Error> {
        let (needed, found) = (self.memory.id(), factory.image.id());
        if needed != found {
            return Err(Error::SnapshotForeign { what: "the image", needed: needed.to_owned(), found: found.to_owned() });
        }
        let limit = owner.process().limits.memory_bytes;
        if self.memory.len() as u64 > limit {
            return Err(Error::MemoryLimit { limit: "memoryBytes", bytes: limit });
        }
        Ok(())
    }
}

impl Vm {
    /// Takes a snapshot. Fails with `Error::NotQuiet` during a turn, while events are queued for
    /// the guest, and after the guest has exited.
    pub fn snapshot(&mut self) -> Result<Arc<VmSnapshot>, Error> {
        self.take().map(|(saved, _)| saved)
    }

    /// Takes a snapshot like [`Vm::snapshot`]. Returns the snapshot and the cost of saving the
    /// memory.
    pub fn take(&mut self) -> Result<(Arc<VmSnapshot>, Save), Error> {
        if !self.is_between_turns || !self.events.is_empty() {
            return Err(Error::NotQuiet);
        }
        let state = self.state().map_err(|_| Error::NotQuiet)?;
        if state.has_exited() {
            return Err(Error::NotQuiet);
        }
        let (monotonic_ns, wall_ns) = (self.store.data().clock().now(), sys::wall_ns());
        let save = self.slot.snapshot()?;
        Ok((Arc::new(VmSnapshot { memory: save.image.clone(), monotonic_ns, wall_ns }), save))
    }

    /// Makes a VM from a snapshot. `restore` has the changes since the snapshot, without the
    /// elapsed time, which this function sets. `charge` is the VM's charge for memory.
    pub async fn restore(
        factory: &Factory,
        snapshot: &VmSnapshot,
        owner: Arc<dyn Owner>,
        charge: Charge,
        restore: Restore,
    ) -> Result<(Self, StartCost), Error> {
        snapshot.check(factory, &*owner)?;
        let clock = Clock::showing(snapshot.monotonic_ns).ahead_by(owner.frozen_ns());
        let (mut vm, cost) = Self::make(factory, &snapshot.memory, owner, charge, clock).await?;
        let block = Restore { elapsed_ms: snapshot.elapsed_ms(), ..restore }.encode();
        vm.deliver(Event::Restore { block: &block });
        vm.is_copy = true;
        Ok((vm, cost))
    }
}
