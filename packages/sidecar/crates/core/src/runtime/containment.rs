//! Contains the panics of the embedder's calls on a runtime. Next: `embedder.rs`.

use super::{Inner, Runtime};
use crate::containment::{contained_in, refuse_broken};
use coldframe_error::Error;
use coldframe_panics::contain;
use std::sync::Arc;

impl Runtime {
    /// Runs a call of the embedder on the runtime. A panic becomes `ERR_INTERNAL`. After a panic
    /// that broke the runtime, its programs end, and all later calls are refused until the runtime
    /// is disposed.
    pub fn contain<T>(&self, call: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Error> {
        self.inner.contain(|| call(self))
    }

    /// Passes a notice of the embedder to the runtime. No reply reports a panic, so a panic breaks
    /// the runtime. A broken runtime ignores the notice.
    pub fn notify(&self, notice: impl FnOnce(&Self)) {
        let health = &self.inner.health;
        // The error has no receiver.
        let _ = self.contain(|this| {
            let _change = health.change();
            notice(this);
            Ok(())
        });
    }
}

impl Inner {
    /// Runs a call of the embedder, like [`Runtime::contain`].
    pub(super) fn contain<T>(self: &Arc<Self>, call: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        contained_in(&self.health, || self.end_broken(), call)
    }

    /// Fails if a panic has broken the runtime.
    pub(super) fn refuse_broken(&self) -> Result<(), Error> {
        refuse_broken(&self.health)
    }

    /// Ends the runtime, because a panic broke it. Does not wait for a guest, because the panic may
    /// be on a control thread.
    pub(super) fn end_broken(self: &Arc<Self>) {
        if let Err(reason) = self.refuse_broken() {
            let is_first = self.end_programs(&reason);
            if is_first {
                let this = self.clone();
                self.registry.scheduler().hand_over(move || this.end_rest());
            }
        }
    }

    /// Runs a change of the kernel in several steps. A panic breaks the runtime.
    pub(super) fn contain_change<T>(&self, change: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        contain(&self.health, change).unwrap_or_else(|panic| {
            self.health.break_at(&panic.place);
            Err(self.refuse_broken().err().unwrap_or(Error::RuntimeDisposed))
        })
    }

    /// Runs a part of the runtime's end. The state of a broken runtime may cause a further panic,
    /// and the other parts of the end still follow.
    pub(super) fn contain_end(&self, part: impl FnOnce()) {
        if let Err(panic) = contain(&self.health, part) {
            self.health.break_at(&panic.place);
        }
    }
}
