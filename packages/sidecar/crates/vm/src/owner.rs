//! The interface between a VM and its program.
//!
//! The kernel needs a [`Caller`]. A VM also needs the gate and the meter of its memory, and the
//! program's decision at each poll. Next: `imports.rs`.

use coldframe_kernel::Caller;
use coldframe_memory::{Gate, Meter};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

/// The guest's action after a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpoint {
    /// The guest continues.
    Continue,
    /// The guest unwinds to the end of the evaluation, and the VM continues.
    Interrupt,
    /// The VM is discarded.
    End,
}

/// The program that a VM belongs to.
pub trait Owner: Caller {
    /// Returns the gate to the VM's memory.
    fn gate(&self) -> &Arc<Gate>;

    /// Returns the meter of the VM's CPU time and page faults.
    fn meter(&self) -> &Arc<Meter>;

    /// Records that the memory is about to grow from `before` to `bytes`.
    fn grows(&self, before: u64, bytes: u64);

    /// Returns the action of the guest after the present poll.
    fn checkpoint(&self) -> Checkpoint;

    /// Returns whether the time slice is over.
    fn is_slice_over(&self) -> bool;

    /// Records that the program yields its worker. The present poll of the program's task returns
    /// pending.
    fn yields(&self);
}

/// Handles a poll of the guest: yields the worker if the time slice is over. Returns the action of
/// the guest after the poll.
pub async fn checkpoint(owner: &dyn Owner) -> Checkpoint {
    let now = owner.checkpoint();
    if now != Checkpoint::Continue || !owner.is_slice_over() {
        return now;
    }
    let mut has_yielded = false;
    poll_fn(|_context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        owner.yields();
        Poll::Pending
    })
    .await;
    owner.checkpoint()
}
