//! The locks of `parking_lot`, which detect a panic while they are held for a change.
//!
//! The state behind a mutex may be changed, so a guard that is dropped by a panic leaves state that
//! may be inconsistent. The guard acts before it releases the lock: no other thread sees the state
//! before the runtime is broken or the process is aborted. A guard for reading changes nothing, so
//! it has no check. A lock that a destructor takes during a panic is no part of the cut change.
//!
//! The check costs one load of a counter of the process, when the lock is taken and when it is
//! released. Next: `stand_in.rs`.

use crate::containment;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::process::abort;
use std::thread::panicking;
use std::time::{Duration, Instant};

pub use parking_lot::RwLockReadGuard;
use parking_lot::WaitTimeoutResult;

/// The action after a panic that drops the guard of a lock.
pub trait Policy {
    /// Acts before the lock is released.
    fn cut();
}

/// The policy of state that all runtimes share.
#[derive(Debug)]
pub struct OfProcess;

/// The policy of the state of one runtime.
#[derive(Debug)]
pub struct OfRuntime;

impl Policy for OfProcess {
    #[cold]
    fn cut() {
        // The hook has printed the panic.
        eprintln!("coldframe: internal error: the panic has cut a change of the process's state in half");
        abort();
    }
}

impl Policy for OfRuntime {
    #[cold]
    fn cut() {
        containment::break_runtime();
    }
}

/// Detects that a panic ends the change. Declared before the guard of the lock, and so dropped
/// before it.
struct Watch<P: Policy> {
    began_in_panic: bool,
    policy: PhantomData<fn() -> P>,
}

impl<P: Policy> Watch<P> {
    #[inline]
    fn new() -> Self {
        Self { began_in_panic: is_panicking(), policy: PhantomData }
    }
}

/// Returns whether a panic unwinds this thread. The function is not inlined, because the sidecar
/// has hundreds of places that take a lock.
#[inline(never)]
fn is_panicking() -> bool {
    panicking()
}

impl<P: Policy> Drop for Watch<P> {
    #[inline]
    fn drop(&mut self) {
        end::<P>(self.began_in_panic);
    }
}

/// Ends a change. The function is not inlined, like [`is_panicking`].
#[inline(never)]
fn end<P: Policy>(began_in_panic: bool) {
    if panicking() && !began_in_panic {
        P::cut();
    }
}

/// A mutex.
pub struct Mutex<T, P> {
    inner: parking_lot::Mutex<T>,
    policy: PhantomData<fn() -> P>,
}

/// The guard of a [`Mutex`].
#[must_use = "the lock is released when the guard is dropped"]
pub struct MutexGuard<'a, T, P: Policy> {
    _watch: Watch<P>,
    inner: parking_lot::MutexGuard<'a, T>,
}

impl<T, P: Policy> Mutex<T, P> {
    /// Makes a mutex.
    pub const fn new(value: T) -> Self {
        Self { inner: parking_lot::Mutex::new(value), policy: PhantomData }
    }

    /// Takes the lock.
    pub fn lock(&self) -> MutexGuard<'_, T, P> {
        MutexGuard { inner: self.inner.lock(), _watch: Watch::new() }
    }

    /// Takes the lock, unless it is taken.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T, P>> {
        self.inner.try_lock().map(|inner| MutexGuard { inner, _watch: Watch::new() })
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }

    /// Returns the value, which the exclusive reference protects.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}

impl<T: Default, P: Policy> Default for Mutex<T, P> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug, P> fmt::Debug for Mutex<T, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(formatter)
    }
}

impl<T, P: Policy> MutexGuard<'_, T, P> {
    /// Releases the lock, runs `call`, and takes the lock again.
    pub fn unlocked<U>(guard: &mut Self, call: impl FnOnce() -> U) -> U {
        parking_lot::MutexGuard::unlocked(&mut guard.inner, call)
    }

    /// Like [`MutexGuard::unlocked`]. A waiting thread gets the lock before this thread.
    pub fn unlocked_fair<U>(guard: &mut Self, call: impl FnOnce() -> U) -> U {
        parking_lot::MutexGuard::unlocked_fair(&mut guard.inner, call)
    }
}

impl<T, P: Policy> Deref for MutexGuard<'_, T, P> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T, P: Policy> DerefMut for MutexGuard<'_, T, P> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

/// A readers-writer lock.
pub struct RwLock<T, P> {
    inner: parking_lot::RwLock<T>,
    policy: PhantomData<fn() -> P>,
}

/// The guard of a [`RwLock`] for a change.
#[must_use = "the lock is released when the guard is dropped"]
pub struct RwLockWriteGuard<'a, T, P: Policy> {
    _watch: Watch<P>,
    inner: parking_lot::RwLockWriteGuard<'a, T>,
}

impl<T, P: Policy> RwLock<T, P> {
    /// Makes a readers-writer lock.
    pub const fn new(value: T) -> Self {
        Self { inner: parking_lot::RwLock::new(value), policy: PhantomData }
    }

    /// Takes the lock for reading.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.inner.read()
    }

    /// Takes the lock for reading, also if this thread reads already.
    pub fn read_recursive(&self) -> RwLockReadGuard<'_, T> {
        self.inner.read_recursive()
    }

    /// Takes the lock for a change.
    pub fn write(&self) -> RwLockWriteGuard<'_, T, P> {
        RwLockWriteGuard { inner: self.inner.write(), _watch: Watch::new() }
    }
}

impl<T: Default, P: Policy> Default for RwLock<T, P> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug, P> fmt::Debug for RwLock<T, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(formatter)
    }
}

impl<T, P: Policy> Deref for RwLockWriteGuard<'_, T, P> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T, P: Policy> DerefMut for RwLockWriteGuard<'_, T, P> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

/// A condition variable for a [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar(parking_lot::Condvar);

impl Condvar {
    /// Makes a condition variable.
    pub const fn new() -> Self {
        Self(parking_lot::Condvar::new())
    }

    /// Wakes one waiting thread.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiting threads.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Waits for a notification.
    pub fn wait<T, P: Policy>(&self, guard: &mut MutexGuard<'_, T, P>) {
        self.0.wait(&mut guard.inner);
    }

    /// Waits for a notification, at most for `timeout`.
    pub fn wait_for<T, P: Policy>(&self, guard: &mut MutexGuard<'_, T, P>, timeout: Duration) -> WaitTimeoutResult {
        self.0.wait_for(&mut guard.inner, timeout)
    }

    /// Waits for a notification, at most until `until`.
    pub fn wait_until<T, P: Policy>(&self, guard: &mut MutexGuard<'_, T, P>, until: Instant) -> WaitTimeoutResult {
        self.0.wait_until(&mut guard.inner, until)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Health, contain, runtime};

    #[test]
    fn breaks_the_runtime_of_a_change_that_panics() {
        let health = Health::default();
        let lock = runtime::Mutex::new(0);
        let caught = contain(&health, || {
            *lock.lock() += 1;
            assert!(!health.is_broken());
            let _guard = lock.lock();
            panic!("a defect");
        });
        assert!(caught.is_err() && health.is_broken());
        assert_eq!(*lock.lock(), 1, "the lock was released");
    }

    #[test]
    fn breaks_the_runtime_before_the_lock_is_released() {
        let (health, lock) = (Health::default(), runtime::Mutex::new(()));
        std::thread::scope(|scope| {
            let (is_held, held) = std::sync::mpsc::channel();
            let (lock, health) = (&lock, &health);
            scope.spawn(move || {
                contain(health, || {
                    let _guard = lock.lock();
                    is_held.send(()).expect("the test receives");
                    panic!("a defect");
                })
            });
            held.recv().expect("the thread has the lock");
            drop(lock.lock());
            assert!(health.is_broken());
        });
    }

    #[test]
    fn does_not_break_a_runtime_that_was_only_read() {
        let (health, lock) = (Health::default(), runtime::RwLock::new(0));
        let caught = contain(&health, || {
            let _guard = lock.read();
            panic!("a defect");
        });
        assert!(caught.is_err() && !health.is_broken());
        let caught = contain(&health, || {
            *lock.write() += 1;
            let _guard = lock.write();
            panic!("a defect");
        });
        assert!(caught.is_err() && health.is_broken());
    }

    #[test]
    fn ignores_a_lock_that_a_destructor_takes_during_a_panic() {
        struct Locks<'a>(&'a runtime::Mutex<u32>);
        impl Drop for Locks<'_> {
            fn drop(&mut self) {
                *self.0.lock() += 1;
            }
        }
        let (health, lock) = (Health::default(), runtime::Mutex::new(0));
        let caught = contain(&health, || {
            let _locks = Locks(&lock);
            panic!("a defect");
        });
        assert!(caught.is_err() && !health.is_broken());
        assert_eq!(*lock.lock(), 1);
    }
}
