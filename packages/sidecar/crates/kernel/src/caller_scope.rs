//! The process whose system call runs on this thread.
//!
//! `/proc/self` differs for each program, and a permission decision names the process that asked.
//! Neither the walk along a path nor the policy gets the caller as an argument: they read the
//! thread's scope. The scope also says whether the call is repeated (`fs/app_file_system/`).

use coldframe_ids::Pid;
use std::cell::Cell;

thread_local! {
    static CALLER: Cell<Option<Pid>> = const { Cell::new(None) };
    static IS_REPEATED: Cell<bool> = const { Cell::new(false) };
}

/// While this value lives, the calls of this thread are calls of one process.
pub(crate) struct CallerScope {
    outer: Option<Pid>,
}

impl CallerScope {
    /// Enters the scope of the process `pid`.
    pub(crate) fn enter(pid: Pid) -> Self {
        Self { outer: CALLER.replace(Some(pid)) }
    }
}

impl Drop for CallerScope {
    fn drop(&mut self) {
        CALLER.set(self.outer);
    }
}

/// Returns the process whose call runs on this thread. `None` for a call of the embedder.
pub(crate) fn current_caller() -> Option<Pid> {
    CALLER.get()
}

/// Marks whether the present work repeats an earlier round of the call. Also set if the work is
/// void, because an app file system has not replied yet.
pub(crate) fn set_repeated(is_repeated: bool) {
    IS_REPEATED.set(is_repeated);
}

/// Returns whether the present work is repeated or void. Repeated work reports no decision again.
pub(crate) fn is_repeated() -> bool {
    IS_REPEATED.get()
}
