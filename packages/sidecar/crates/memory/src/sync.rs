//! The synchronization and the system call of the gate. `models.rs` compiles the gate with loom's
//! types in their place. Next: `gate.rs`.
//!
//! The mutex is the plain mutex of `parking_lot`. A system call holds the gate's lock during its
//! access to the memory. A panic of the system call leaves the gate's own state unchanged.

pub(super) use coldframe_sys::forbid;
pub(super) use parking_lot::{Mutex, MutexGuard};
pub(super) use std::sync::atomic::{AtomicBool, Ordering, fence};
