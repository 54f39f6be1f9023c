//! Control threads: the threads that must not wait for a guest.
//!
//! A guest's system call may hold the lock of the files or of the policy for milliseconds. The
//! thread of the embedder's messages and the thread of the alarms serve all runtimes. These threads
//! must not wait for such a lock (`docs/internals/threads.md`). Their work enters a
//! [`ControlScope`]. Each such lock checks the scope in builds with debug assertions. A test
//! therefore finds an offence even if no thread holds the lock at that time. Next: `fs/lock.rs`.

use coldframe_panics::outside;
use std::cell::Cell;

thread_local! {
    /// Whether the thread does control work.
    static IS_CONTROL: Cell<bool> = const { Cell::new(false) };
}

/// Control work of this thread, until the value is dropped.
pub struct ControlScope {
    outer: bool,
}

impl ControlScope {
    /// Begins control work on this thread.
    pub fn enter() -> Self {
        Self { outer: IS_CONTROL.replace(true) }
    }
}

impl Drop for ControlScope {
    fn drop(&mut self) {
        IS_CONTROL.set(self.outer);
    }
}

/// Runs `work`, which is no control work or which no guest can delay. No guest can delay work on a
/// runtime in which no program lives and no other call runs.
pub fn without_guests<R>(work: impl FnOnce() -> R) -> R {
    let scope = ControlScope { outer: IS_CONTROL.replace(false) };
    let result = work();
    drop(scope);
    result
}

/// Checks that this thread may wait for a guest. The check exists in builds with debug assertions.
/// An offence is not contained, so that it does not become the failure of one request.
#[inline]
pub fn check_may_wait() {
    if cfg!(debug_assertions) {
        outside(|| assert!(!IS_CONTROL.get(), "a control thread takes a lock that a guest can hold"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_work_ends_with_its_scope() {
        let scope = ControlScope::enter();
        assert!(IS_CONTROL.get());
        without_guests(check_may_wait);
        assert!(IS_CONTROL.get());
        drop(scope);
        check_may_wait();
    }

    #[test]
    #[should_panic(expected = "a control thread takes a lock")]
    fn a_control_thread_that_may_wait_is_found() {
        let _control = ControlScope::enter();
        check_may_wait();
    }
}
