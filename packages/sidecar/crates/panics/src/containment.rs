//! Contains the panics of one call. Next: `health.rs`.
//!
//! wasmtime catches a panic of an import, and resumes the panic behind the frames of the guest,
//! without a call of the hook. So the hook stores the panic's place for the thread, and [`contain`]
//! reads the place.

use crate::health::Health;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// A contained panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panic {
    /// The file and the line, such as `crates/kernel/src/kernel.rs:20`. The message of the panic is
    /// not a part of this value, because it may have data of another runtime.
    pub place: String,
}

/// The place of a panic that no hook has recorded.
const UNKNOWN: &str = "an unknown place";

thread_local! {
    /// The health of the runtime that this thread works for. Null outside of [`contain`].
    static HEALTH: Cell<*const Health> = const { Cell::new(ptr::null()) };
    /// The place of the panic that unwinds this thread.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Sets the health of this thread until the value is dropped.
struct Scope {
    before: *const Health,
}

impl Scope {
    fn enter(health: *const Health) -> Self {
        Self { before: HEALTH.replace(health) }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        HEALTH.set(self.before);
    }
}

/// Runs `call`, which works for the runtime with this health. Returns the panic if `call` panics.
///
/// `call` must not keep changed state without a lock of this crate, unless the state is dropped
/// after a panic.
pub fn contain<T>(health: &Health, call: impl FnOnce() -> T) -> Result<T, Panic> {
    let (mut call, mut result) = (Some(call), None);
    let ended = run(health, &mut || result = call.take().map(|call| call()));
    // A call without a panic has a result.
    ended.and_then(|()| result.ok_or_else(|| Panic { place: UNKNOWN.to_owned() }))
}

/// Runs `call` inside the scope. The function has no type parameter, because the sidecar has many
/// contained calls.
fn run(health: &Health, call: &mut dyn FnMut()) -> Result<(), Panic> {
    let scope = Scope::enter(health);
    let result = catch_unwind(AssertUnwindSafe(call));
    drop(scope);
    result.map_err(|_| Panic { place: PLACE.take().unwrap_or_else(|| UNKNOWN.to_owned()) })
}

/// Runs `call` outside of every [`contain`] of this thread: a panic of `call` aborts the process.
/// For work inside a contained call that others wait for, such as the report of a program's end.
pub fn outside<T>(call: impl FnOnce() -> T) -> T {
    let _scope = Scope::enter(ptr::null());
    call()
}

/// Starts a panic at `place`. Returns false if the panic must abort the process: the thread runs
/// outside of [`contain`], or an earlier panic still unwinds the thread.
pub(crate) fn begin(place: String) -> bool {
    if HEALTH.get().is_null() {
        return false;
    }
    PLACE.with(|present| present.try_borrow_mut().is_ok_and(|mut present| present.replace(place).is_none()))
}

/// Returns the place of the panic that unwinds this thread.
pub(crate) fn present_place() -> String {
    let place = PLACE.with(|place| place.try_borrow().ok().and_then(|place| place.clone()));
    place.unwrap_or_else(|| UNKNOWN.to_owned())
}

/// Breaks the runtime that this thread works for.
pub(crate) fn break_runtime() {
    let health = HEALTH.get();
    if !health.is_null() {
        // SAFETY: the pointer was made from the reference that `contain` borrows, and `contain`
        // replaces the pointer before it returns.
        unsafe { &*health }.break_at(&present_place());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_result_of_a_call_that_does_not_panic() {
        assert_eq!(contain(&Health::default(), || 7), Ok(7));
        assert!(HEALTH.get().is_null());
    }

    #[test]
    fn returns_a_panic_and_leaves_the_scope() {
        assert!(contain(&Health::default(), || panic!("a defect")).is_err());
        assert!(HEALTH.get().is_null());
        assert_eq!(contain(&Health::default(), || 7), Ok(7), "the thread continues");
    }

    #[test]
    fn contains_a_panic_in_the_innermost_call() {
        let (outer, inner) = (Health::default(), Health::default());
        let result = contain(&outer, || {
            let caught = contain(&inner, || {
                let _change = inner.change();
                panic!("a defect");
            });
            assert!(caught.is_err());
            assert!(ptr::eq(HEALTH.get(), &raw const outer), "the outer scope continues");
        });
        assert_eq!(result, Ok(()));
        assert!(inner.is_broken() && !outer.is_broken());
    }

    #[test]
    fn runs_a_call_outside_of_the_scope() {
        let health = Health::default();
        let result = contain(&health, || {
            outside(|| assert!(!begin(String::new()), "a panic would abort the process"));
            assert!(ptr::eq(HEALTH.get(), &raw const health));
        });
        assert_eq!(result, Ok(()));
    }

    #[test]
    fn accepts_one_panic_at_a_time() {
        let caught = contain(&Health::default(), || {
            assert!(begin("one".to_owned()));
            assert!(!begin("other".to_owned()), "a second panic would abort the process");
            panic!("a defect");
        });
        assert_eq!(caught, Err(Panic { place: "other".to_owned() }));
        assert!(!begin("outside".to_owned()));
    }
}
