//! The scope of a panic: the running call, its runtime, or the process.
//!
//! A panic is a defect of Coldframe. Code that works for one program, or for one request of the
//! embedder, runs inside [`contain`]. A panic there becomes a [`Panic`], and the caller ends the
//! program or answers the request with an error. A panic of any other code aborts the process
//! ([`install`]), because a thread that ended silently would leave requests unanswered forever.
//!
//! A panic in the middle of a change leaves the changed state inconsistent. The locks of this crate
//! detect such a panic. A lock of a runtime ([`runtime`]) then breaks the runtime, and a lock of
//! the process ([`process`]) aborts the process. Next: `containment.rs`, `hook.rs`, `lock.rs`.

mod containment;
mod health;
mod hook;
mod lock;
mod place;
mod stand_in;

pub use containment::{Panic, contain, outside};
pub use health::{Change, Health};
pub use hook::install;
pub use stand_in::reach;

/// Locks of state that all runtimes share. A panic while such a lock is held aborts the process.
pub mod process {
    pub use crate::lock::Condvar;
    use crate::lock::{self, OfProcess};

    /// A mutex of the process's state.
    pub type Mutex<T> = lock::Mutex<T, OfProcess>;
    /// The guard of a [`Mutex`].
    pub type MutexGuard<'a, T> = lock::MutexGuard<'a, T, OfProcess>;
    /// A readers-writer lock of the process's state.
    pub type RwLock<T> = lock::RwLock<T, OfProcess>;
}

/// Locks of the state of one runtime. A panic while such a lock is held breaks the runtime.
pub mod runtime {
    pub use crate::lock::RwLockReadGuard;
    use crate::lock::{self, OfRuntime};

    /// A mutex of a runtime's state.
    pub type Mutex<T> = lock::Mutex<T, OfRuntime>;
    /// The guard of a [`Mutex`].
    pub type MutexGuard<'a, T> = lock::MutexGuard<'a, T, OfRuntime>;
    /// A readers-writer lock of a runtime's state.
    pub type RwLock<T> = lock::RwLock<T, OfRuntime>;
    /// The guard of a [`RwLock`] for a change.
    pub type RwLockWriteGuard<'a, T> = lock::RwLockWriteGuard<'a, T, OfRuntime>;
}
