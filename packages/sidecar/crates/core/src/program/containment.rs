//! Contains the panics of a program's work: of its guest, its system calls and its VM.
//!
//! A panic ends the program, and the end is reported as for any other failure. If the panic broke
//! the runtime, all programs of the runtime end. The end of a program is not contained, except for
//! its parts in the kernel, because a program whose end fails would never be reported. Next:
//! `rest.rs`.

use super::Program;
use crate::containment::{contained_in, refuse_broken};
use coldframe_error::{Ended, Error};
use coldframe_panics::{Panic, contain};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Polls `work` of the program to its end, or to its first panic.
pub(super) async fn contained<T>(program: &Program, work: impl Future<Output = T>) -> Result<T, Panic> {
    let mut work = pin!(work);
    poll_fn(|context| match contain(&program.health, || work.as_mut().poll(context)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(result)) => Poll::Ready(Ok(result)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

impl Program {
    /// Runs a call of the embedder on the program. A panic becomes `ERR_INTERNAL`.
    pub(crate) fn contain<T>(&self, call: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        contained_in(&self.health, || self.end_broken(), call)
    }

    /// Passes a notice of the embedder to the program. No reply reports a panic, so a panic breaks
    /// the runtime.
    pub(crate) fn notify(&self, notice: impl FnOnce()) {
        // The error has no receiver.
        let _ = self.contain(|| {
            let _change = self.health.change();
            notice();
            Ok(())
        });
    }

    /// Ends the program, because a call for the program has panicked.
    pub(super) fn fail(&self, Panic { place }: Panic) {
        let broken = refuse_broken(&self.health).err();
        self.end(broken.unwrap_or(Error::Internal { place, ended: Ended::Program }));
        self.end_broken();
    }

    /// Runs a part of the program's end in the kernel. A panic breaks the runtime, because the
    /// kernel still has a part of the program. The rest of the end follows.
    pub(super) fn contain_end(&self, part: impl FnOnce()) {
        if let Err(panic) = contain(&self.health, part) {
            self.health.break_at(&panic.place);
        }
    }

    /// Ends all programs of the runtime if a panic broke the runtime.
    pub(super) fn end_broken(&self) {
        if self.health.is_broken()
            && let Some(home) = self.home()
        {
            home.end_broken();
        }
    }
}
