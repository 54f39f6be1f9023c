//! The memory of VMs: one reservation each, the image mapped into it copy-on-write.
//!
//! ```text
//! base     data start    data end      image length   current size        4 GiB     + 32 MiB
//!  | stack: zeros | image, private | room: zeros | grown: zeros | reserved, untouchable | guard |
//! ```
//! wasm code adds a 32-bit index to the base and is compiled without bounds checks: whatever it computes lands in this range, and
//! outside the current size it faults, which the engine turns into a trap. `slot.rs` is one such range, `pool.rs` keeps clean
//! ones, `creator.rs` hands them to wasmtime, `lodging.rs` is one that a VM lives in, `growth.rs` what it has grown by, `save.rs` makes an image
//! of it, `gate.rs` lets a killer take one away while its guest runs, `budget.rs` counts what they take of the process.

mod budget;
mod creator;
mod gate;
mod growth;
mod lodging;
mod pool;
mod save;
mod slot;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use budget::Policy;
pub(crate) use budget::{Budget, Charge, MAPPINGS_PER_VM};
pub(crate) use creator::{Creator, with_lodging};
pub(crate) use gate::Gate;
pub(crate) use growth::Growth;
pub(crate) use lodging::{Lodging, Remains};
pub(crate) use pool::Pool;
pub(crate) use save::Save;
pub(crate) use slot::Slot;

/// Address space of one memory: what a 32-bit index reaches.
pub(crate) const RESERVATION: usize = 4 << 30;
/// Untouchable bytes behind it, for the constant offsets of loads and stores.
pub(crate) const GUARD: usize = 32 << 20;
