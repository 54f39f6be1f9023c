//! The synchronization and the clock of the alarms. `models.rs` compiles the alarms with loom's
//! types in their place. Next: `timers.rs`.

pub(super) use coldframe_kernel::ControlScope;
pub(super) use coldframe_panics::process::{Condvar, Mutex, MutexGuard};
pub(super) use coldframe_sys::monotonic_ns;
pub(super) use std::thread;
