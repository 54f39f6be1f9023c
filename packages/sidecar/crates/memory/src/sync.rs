//! The synchronization and the system call of the gate. `models.rs` compiles the gate with loom's
//! types in their place. Next: `gate.rs`.

pub(super) use coldframe_sys::forbid;
pub(super) use parking_lot::{Mutex, MutexGuard};
pub(super) use std::sync::atomic::{AtomicBool, Ordering, fence};
