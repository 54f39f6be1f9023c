//! The synchronization and the clock of quiescing and of the output. `models.rs` compiles
//! `quiesce.rs` with loom's types in their place, and `output_models.rs` compiles
//! `shared_output.rs`. Next: `quiesce.rs`.

pub(super) use coldframe_kernel::check_may_wait;
pub(super) use coldframe_panics::runtime::{Mutex, MutexGuard, RwLock, RwLockReadGuard};
pub(super) use coldframe_sys::monotonic_ns;
pub(super) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
