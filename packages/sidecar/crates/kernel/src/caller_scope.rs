//! The process whose system call runs on this thread.
//!
//! The texts of `/proc/self` depend on the calling process, and a permission decision names the
//! process. The path walk and the policy receive no caller as an argument, and read the scope of
//! the thread instead. The scope also stores whether the call is repeated (`fs/app_file_system/`).
//!
//! The scope of a call also begins the call's steps (`steps.rs`). Next: `calls.rs`, which enters
//! the scope.

use crate::steps::StepScope;
use coldframe_ids::Pid;
use std::cell::Cell;

thread_local! {
    static CALLER: Cell<Option<Pid>> = const { Cell::new(None) };
    static IS_REPEATED: Cell<bool> = const { Cell::new(false) };
}

/// The scope of a system call: until the value is dropped, the thread runs calls of one process.
pub(crate) struct CallerScope {
    outer: Option<Pid>,
    _steps: StepScope,
}

impl CallerScope {
    /// Enters the scope of the process `pid`.
    pub(crate) fn enter(pid: Pid) -> Self {
        Self { outer: CALLER.replace(Some(pid)), _steps: StepScope::begin() }
    }
}

impl Drop for CallerScope {
    fn drop(&mut self) {
        CALLER.set(self.outer);
    }
}

/// Returns the process whose system call runs on this thread. Returns `None` for a call of the
/// embedder.
pub(crate) fn current_caller() -> Option<Pid> {
    CALLER.get()
}

/// Sets whether the present work is repeated. Work is repeated if an earlier round of the call did
/// the same work. Work with a void result also counts as repeated: the result is void if an app
/// file system has not replied yet.
pub(crate) fn set_repeated(is_repeated: bool) {
    IS_REPEATED.set(is_repeated);
}

/// Returns whether the present work is repeated or void. Repeated work does not report permission
/// decisions again.
pub(crate) fn is_repeated() -> bool {
    IS_REPEATED.get()
}
