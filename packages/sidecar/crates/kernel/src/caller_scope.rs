//! The process whose system call runs on this thread, and the work that the call may still do.
//!
//! The texts of `/proc/self` depend on the calling process, and a permission decision names the
//! process. The path walk and the policy receive no caller as an argument, and read the scope of
//! the thread instead. The scope also stores whether the call is repeated (`fs/app_file_system/`).
//!
//! A call of a guest does a bounded amount of work. The call holds locks that other programs need,
//! and a program is stopped only between two calls. The path walk and the search for
//! a command charge their work to the scope ([`spend`]). Next: `calls.rs`, which enters the scope.

use coldframe_error::Errno;
use coldframe_ids::Pid;
use std::cell::Cell;

/// The work of one system call: about 5 ms. The unit is one name that a path walk passes. The
/// longest walk passes 10,000 names.
const WORK_PER_CALL: usize = 50_000;

thread_local! {
    static CALLER: Cell<Option<Pid>> = const { Cell::new(None) };
    static IS_REPEATED: Cell<bool> = const { Cell::new(false) };
    static WORK: Cell<usize> = const { Cell::new(WORK_PER_CALL) };
}

/// The scope of a system call: until the value is dropped, the thread runs calls of one process.
pub(crate) struct CallerScope {
    outer: Option<Pid>,
    outer_work: usize,
}

impl CallerScope {
    /// Enters the scope of the process `pid`.
    pub(crate) fn enter(pid: Pid) -> Self {
        Self { outer: CALLER.replace(Some(pid)), outer_work: WORK.replace(WORK_PER_CALL) }
    }
}

impl Drop for CallerScope {
    fn drop(&mut self) {
        CALLER.set(self.outer);
        WORK.set(self.outer_work);
    }
}

/// Returns the process whose system call runs on this thread. Returns `None` for a call of the
/// embedder.
pub(crate) fn current_caller() -> Option<Pid> {
    CALLER.get()
}

/// Charges `units` of work to the budget of this thread's system call. Fails with `ELOOP` if the
/// budget is used up, as a path with too many links fails in Linux. The work of the embedder has no
/// budget.
pub(crate) fn spend(units: usize) -> Result<(), Errno> {
    if CALLER.get().is_none() {
        return Ok(());
    }
    let left = WORK.get().checked_sub(units);
    WORK.set(left.unwrap_or(0));
    left.map(drop).ok_or(Errno::ELOOP)
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
