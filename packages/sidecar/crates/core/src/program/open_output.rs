//! The end of a root program whose output is still open, because other processes have descriptors
//! of the output.
//!
//! The embedder can keep the session of a root program (`ProcessOptions::keeps_session`). The other
//! processes of the session then continue after the program's end. As with the pipes of Linux, the
//! outcome follows when the last descriptor of the program's output has closed. Until then the
//! program has no VM and no process. The program still receives output, its timeout counts, and the
//! embedder can cancel the program, which ends the whole program tree.
//!
//! A snapshot does not contain such a program. A pause therefore reports the outcome without the
//! later output. Next: `tree.rs`.

use super::{Home, Membership, Program};
use coldframe_error::Error;
use coldframe_kernel::{Caller, Status};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};

/// The state of an ended root program whose output is open.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum OpenOutput {
    #[default]
    Closed,
    /// The program has ended with this status and waits for the end of its output.
    Waits(Status),
    /// The program reports this status now, although its output may be open.
    Reports(Status),
}

impl OpenOutput {
    /// Returns the status of the ended program.
    pub(super) fn status(self) -> Option<Status> {
        match self {
            Self::Closed => None,
            Self::Waits(status) | Self::Reports(status) => Some(status),
        }
    }
}

/// The list entry of an ended program whose output is open. Dropping the entry removes the program
/// from the list.
struct Entry<'a> {
    home: Arc<dyn Home>,
    program: &'a Arc<Program>,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.program.process.kernel.processes.output_ended(self.program.pid);
        self.home.output_ended(self.program);
    }
}

impl Program {
    /// Records the end of a root program whose session is kept, if its output is open. The program
    /// then loses its membership, because no snapshot contains the program. Returns after the last
    /// descriptor of the output has closed, or when the program must report its outcome.
    pub(super) async fn wait_for_open_output(self: &Arc<Self>, exit_code: i32, membership: &mut Option<Membership>) {
        if !self.process.keeps_session || !self.process.has_open_output(Waker::noop()) {
            return;
        }
        let Some(home) = self.home() else { return };
        let deadline = {
            let mut control = self.control.lock();
            // If the embedder or a limit ends the program, the other processes end too.
            if control.failure.as_ref().is_some_and(|failure| !matches!(failure, Error::Signal { .. })) {
                return;
            }
            let status = Status::of(exit_code, control.failure.take().as_ref());
            control.open_output = OpenOutput::Waits(status);
            self.must_end.store(false, Ordering::Release);
            self.has_exited.store(true, Ordering::Release);
            control.deadline
        };
        home.output_is_open(self);
        let _entry = Entry { home, program: self };
        self.leave_tree(deadline);
        let status = self.control.lock().open_output.status();
        self.contain_end(|| {
            let caller: Arc<dyn Caller> = self.clone();
            let processes = &self.process.kernel.processes;
            status.into_iter().for_each(|status| processes.exited_with_open_output(&caller, status));
        });
        drop(membership.take());
        poll_fn(|context| {
            let must_report = self.is_ending() || matches!(self.control.lock().open_output, OpenOutput::Reports(_));
            // The waker is set before the second check.
            if must_report || !self.process.has_open_output(context.waker()) || self.is_ending() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        // If the embedder or a limit ends the program now, the other processes end too.
        let failure = self.control.lock().failure.clone();
        if let (Some(reason), Some(tree)) = (failure, self.tree.get()) {
            tree.end(&reason);
        }
    }

    /// Returns whether the program has ended and waits for the end of its output.
    pub(crate) fn waits_for_output(&self) -> bool {
        matches!(self.control.lock().open_output, OpenOutput::Waits(_))
    }

    /// Reports the outcome of an ended program without waiting for the end of its output.
    pub(crate) fn stop_waiting_for_output(&self) {
        let mut control = self.control.lock();
        if let OpenOutput::Waits(status) = control.open_output {
            control.open_output = OpenOutput::Reports(status);
        }
        drop(control);
        self.wake(None);
    }
}
