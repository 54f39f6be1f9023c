//! Takes snapshots of a runtime, and restores runtimes from snapshots.
//!
//! `take.rs` takes a snapshot when `program/quiesce.rs` has brought the programs to rest.
//! `restore.rs` makes a runtime from a snapshot. `rollback.rs` puts a snapshot in place of a
//! runtime's present state. `held.rs` has a runtime whose programs stay at rest. The type of a
//! snapshot is in `snapshot/`.

mod held;
mod restore;
mod rollback;
mod take;

pub use held::{Carryover, Held};
pub use restore::{AssignSinks, RestoreOptions, RestoredRuntime, Starting};
pub use take::SnapshotOptions;
