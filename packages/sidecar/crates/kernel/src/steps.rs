//! Steps: the bound of the work of one system call.
//!
//! A program is stopped only between two system calls, and other programs wait for the locks of a
//! call. Therefore every call is short. A guest chooses the lengths of paths, lists and files, and
//! the depth of a tree. Code reaches such data only through types that charge steps for each
//! visited part. The charge fails when the call's steps are used up. These are the types:
//!
//! - `Names` and `Node::parent` (`fs/node.rs`);
//! - `Content` (`fs/content.rs`);
//! - `Glob` and `Tree` (`permissions/`);
//! - the search for a command (`processes/resolve.rs`);
//! - the texts of a child (`processes/spec.rs`).
//!
//! Only `Names::recorded` and `Node::recorded_parent` charge nothing. Snapshots use them, and
//! listings of overlays.
//!
//! Longer work is divided into several calls, between which the guest polls. A read, a write or a
//! copy ends after [`MAX_TRANSFER`] bytes, and a list ends after the entries that the steps
//! suffice for. The guest's library continues with the next call. Only raising a file of an overlay
//! cannot be divided into calls. This call checks between two pieces whether the program must stop.
//!
//! A step does not depend on the machine, so tests compare steps and not times
//! (`fs/tests/longest.rs`). The work of the embedder has no bound, because a guest cannot cause
//! this work. Next: `caller_scope.rs`, which begins the steps of a call.

use coldframe_error::Errno;
use std::cell::Cell;

/// The steps of one call: a few milliseconds. One step is one lookup in a small table, 100 to 250
/// ns. The longest path without links has 2,047 names, and needs three steps for each name in a
/// small directory.
pub(crate) const STEPS_PER_CALL: usize = 24_000;

pub use coldframe_abi::MAX_TRANSFER;

/// The bytes that one step copies.
const BYTES_PER_STEP: usize = 1_024;
/// The bytes of a name that one step copies. Each name is in a separate place of the memory.
const NAME_BYTES_PER_STEP: usize = 128;
/// The texts that one step decodes.
const TEXTS_PER_STEP: usize = 3;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The steps of one call or of one part of a call, from the creation until the drop of this value.
pub(crate) struct StepScope {
    outer: usize,
}

impl StepScope {
    /// Begins a call on this thread.
    pub(crate) fn begin() -> Self {
        Self { outer: LEFT.replace(STEPS_PER_CALL) }
    }
}

/// Begins a piece of a call that cannot be divided into several calls. The caller must release its
/// locks between two pieces. Fails with `EINTR` if the program must stop.
pub(crate) fn piece(must_stop: bool) -> Result<StepScope, Errno> {
    if must_stop { Err(Errno::EINTR) } else { Ok(StepScope::begin()) }
}

impl Drop for StepScope {
    fn drop(&mut self) {
        #[cfg(test)]
        TAKEN.set(STEPS_PER_CALL - LEFT.get());
        LEFT.set(self.outer);
    }
}

/// Charges `steps` to the call that runs on this thread. Fails with `ELOOP` if the call has fewer
/// steps left, as a path with too many links fails on Linux. Work outside a call is not charged.
pub(crate) fn take(steps: usize) -> Result<(), Errno> {
    let left = LEFT.get();
    if left == usize::MAX {
        return Ok(());
    }
    let rest = left.checked_sub(steps);
    LEFT.set(rest.unwrap_or(0));
    rest.map(drop).ok_or(Errno::ELOOP)
}

/// Returns whether the steps of this thread's call are used up. A decision that needed further
/// steps must be a refusal.
pub(crate) fn are_used_up() -> bool {
    LEFT.get() == 0
}

/// Charges the copying of `len` bytes.
pub(crate) fn take_bytes(len: usize) -> Result<(), Errno> {
    take(len.div_ceil(BYTES_PER_STEP))
}

/// Charges the step from an inode to its directory. `len` is the length of the inode's name. The
/// inodes of a deep path are in separate places of the memory, so a step takes longer than a
/// lookup.
pub(crate) fn take_ascent(len: usize) -> Result<(), Errno> {
    take(2 + len / NAME_BYTES_PER_STEP)
}

/// Charges the decoding of `count` short texts.
pub(crate) fn take_texts(count: usize) -> Result<(), Errno> {
    take(count.div_ceil(TEXTS_PER_STEP))
}

/// Charges a lookup in a sorted table of `len` entries with long keys.
pub(crate) fn take_lookup(len: usize) -> Result<(), Errno> {
    take(1 + len.checked_ilog2().unwrap_or(0) as usize)
}

#[cfg(test)]
thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// Returns the steps of the last call on this thread.
#[cfg(test)]
pub(crate) fn taken() -> usize {
    TAKEN.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_a_bound_and_other_work_has_none() {
        assert_eq!(take(usize::MAX), Ok(()));
        let call = StepScope::begin();
        assert_eq!(take(STEPS_PER_CALL - 1), Ok(()));
        {
            let _inner = StepScope::begin();
            assert_eq!(take(STEPS_PER_CALL), Ok(()));
        }
        assert!(!are_used_up());
        assert_eq!((take(2), take(1)), (Err(Errno::ELOOP), Err(Errno::ELOOP)), "steps that are used up stay used up");
        assert!(are_used_up());
        drop(call);
        assert_eq!((taken(), take(1)), (STEPS_PER_CALL, Ok(())));
    }
}
