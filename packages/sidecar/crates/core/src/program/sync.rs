//! The synchronization and the clock of quiescing. `models.rs` compiles `quiesce.rs` with loom's
//! types in their place. Next: `quiesce.rs`.

pub(super) use coldframe_sys::monotonic_ns;
pub(super) use parking_lot::{Mutex, RwLock, RwLockReadGuard};
pub(super) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
