//! Models of concurrent code with loom: the types of `parking_lot` over loom's types, and a clock
//! that never advances.
//!
//! loom runs the threads of a model in every order. A module is modelled by compiling its source
//! file a second time (`#[path]`), beside a module `sync` with these types. The model therefore
//! checks the real code.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Once;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Prepares the process for models. loom's coroutines install a handler for SIGSEGV that passes a
/// fault of a guest to the wrong handler. Tests that run guests therefore call this function before
/// wasmtime installs its own handler, which then precedes loom's.
pub fn prepare() {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| loom::model(|| {}));
}

/// Runs a model in every order of its threads with at most `preemptions` preemptions. `None` means
/// no bound. `pnpm test:long` has one preemption more.
pub fn check(preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    prepare();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions.map(|bound| bound + crate::repetitions(0, 1) as usize);
    builder.max_branches = 10_000;
    builder.check(model);
}

/// `parking_lot::Mutex` over loom's.
#[derive(Default)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

/// The guard of a [`Mutex`].
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    /// `None` while the mutex is unlocked for a while.
    held: Option<loom::sync::MutexGuard<'a, T>>,
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Mutex")
    }
}

impl<T> Mutex<T> {
    /// Makes an unlocked mutex.
    pub fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    /// Locks the mutex.
    ///
    /// # Panics
    /// Panics if a thread of the model panicked with the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, held: Some(self.0.lock().expect("no thread of the model has panicked")) }
    }

    /// Locks the mutex unless a thread holds the lock.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok().map(|held| MutexGuard { mutex: self, held: Some(held) })
    }
}

impl<T> MutexGuard<'_, T> {
    /// Unlocks the mutex while `work` runs.
    pub fn unlocked<R>(guard: &mut Self, work: impl FnOnce() -> R) -> R {
        drop(guard.held.take());
        let result = work();
        guard.held = guard.mutex.lock().held;
        result
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.held.as_ref().expect("the mutex is locked")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.held.as_mut().expect("the mutex is locked")
    }
}

/// `parking_lot::RwLock` over loom's.
#[derive(Default)]
pub struct RwLock<T>(loom::sync::RwLock<T>);

/// The guard of a shared lock.
pub type RwLockReadGuard<'a, T> = loom::sync::RwLockReadGuard<'a, T>;

impl<T> RwLock<T> {
    /// Locks for reading.
    ///
    /// # Panics
    /// Panics if a thread of the model panicked with the lock.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().expect("no thread of the model has panicked")
    }

    /// Locks for writing.
    ///
    /// # Panics
    /// Panics if a thread of the model panicked with the lock.
    pub fn write(&self) -> loom::sync::RwLockWriteGuard<'_, T> {
        self.0.write().expect("no thread of the model has panicked")
    }
}

/// `std::sync::OnceLock` over a flag of loom. A thread sees the value only if the flag's order of
/// memory makes the value visible.
pub struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    is_set: loom::sync::atomic::AtomicBool,
}

impl<T> OnceLock<T> {
    /// Makes an empty cell.
    pub fn new() -> Self {
        Self { value: std::sync::OnceLock::new(), is_set: loom::sync::atomic::AtomicBool::new(false) }
    }

    /// Sets the value.
    ///
    /// # Errors
    /// Returns `value` if the cell has a value.
    pub fn set(&self, value: T) -> Result<(), T> {
        self.value.set(value)?;
        self.is_set.store(true, Ordering::Release);
        Ok(())
    }

    /// Returns the value, if this thread sees the value.
    pub fn get(&self) -> Option<&T> {
        if self.is_set.load(Ordering::Acquire) { self.value.get() } else { None }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        Self { value: std::sync::OnceLock::from(value), is_set: loom::sync::atomic::AtomicBool::new(true) }
    }
}

/// Returns the time of the model, in nanoseconds. No time passes in a model.
pub fn monotonic_ns() -> u64 {
    0
}

/// `parking_lot::Condvar` over loom's. No time passes in a model, so a wait with a timeout
/// ends only after a notification.
#[derive(Default)]
pub struct Condvar(loom::sync::Condvar);

impl Condvar {
    /// Wakes one waiting thread.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiting threads.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Waits for a notification.
    ///
    /// # Panics
    /// Panics if a thread of the model panicked with the lock.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.held.take().expect("the mutex is locked");
        guard.held = Some(self.0.wait(held).expect("no thread of the model has panicked"));
    }

    /// Waits for a notification.
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, _timeout: Duration) {
        self.wait(guard);
    }
}
