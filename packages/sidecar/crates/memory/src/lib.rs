//! Linear memory: one reservation for each VM, with an image mapped into it copy-on-write.
//!
//! ```text
//! base     data start    data end      image length   current size        4 GiB     + 32 MiB
//!  | stack: zeros | image, private | free: zeros | grown: zeros | reserved, untouchable | guard |
//! ```
//! wasm code adds a 32-bit index to the base and is compiled without bounds checks. Every computed
//! address is inside the range in the figure. An access beyond the current size faults, and
//! wasmtime turns the fault into a trap.
//!
//! `slot.rs` is one such range, and `pool.rs` keeps clean slots. `occupied_slot.rs` is a slot that
//! a VM uses, and `growth.rs` the memory beyond the image. `save.rs` makes an image of a memory.
//! `gate.rs` makes the memory inaccessible when a running guest is killed. `meter.rs` counts CPU
//! time and page faults, and `budget.rs` the process's mappings and descriptors. `image/` has the
//! content that slots are mapped from.
//!
//! This crate depends on the crates `abi`, `error`, `ids` and `sys`. It uses no wasmtime, no kernel
//! and no programs.

mod budget;
mod gate;
mod growth;
mod image;
mod meter;
#[cfg(test)]
mod models;
mod occupied_slot;
mod pool;
mod save;
mod slot;
mod sync;

#[cfg(test)]
mod tests;

pub use budget::{Budget, Charge, MAPPINGS_PER_VM, Policy};
pub use gate::Gate;
pub use growth::Growth;
pub use image::{Extent, FORMAT_VERSION, HEADER_LEN, Header, Image, Piece, TURNS, overlay, whole_pages};
pub use meter::Meter;
pub use occupied_slot::{OccupiedSlot, SlotLayout, VacatedSlot};
pub use pool::Pool;
pub use save::Save;
pub use slot::Slot;

/// The address space of one memory: the reach of a 32-bit index.
pub const RESERVATION: usize = 4 << 30;
/// The inaccessible bytes behind the reservation, for the constant offsets of loads and stores.
pub const GUARD: usize = 32 << 20;
