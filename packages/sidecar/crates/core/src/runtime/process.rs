//! The embedder's handle of one guest program. Next: `processes.rs`.

use crate::checks::{check_cwd, check_env, check_size, env_bytes, invalid};
use crate::options::{Dispatch, EvaluationSettings, Mode, Streams};
use crate::program::{Program, ProgramInfo, Request};
use crate::runtime::Runtime;
use coldframe_error::Error;
use coldframe_ids::{EvaluationId, Pid};
use std::sync::Arc;
use std::time::Duration;

/// The embedder's handle of one guest program. Cheap to clone. The program continues when all
/// clones are dropped.
#[derive(Clone)]
pub struct Process {
    pub(super) program: Arc<Program>,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Process").field("pid", &self.program.pid).finish_non_exhaustive()
    }
}

impl Process {
    /// Returns the pid: the number in the runtime's process table.
    pub fn pid(&self) -> Pid {
        self.program.pid
    }

    /// Returns whether the process belongs to `runtime`.
    pub fn is_of(&self, runtime: &Runtime) -> bool {
        self.program.is_of(&runtime.inner)
    }

    /// Returns whether the program must end.
    #[cfg(test)]
    pub(crate) fn is_ending(&self) -> bool {
        self.program.is_ending()
    }

    /// Returns the facts about the program.
    pub fn info(&self) -> ProgramInfo {
        let program = &self.program;
        ProgramInfo {
            pid: program.pid,
            lineage: program.lineage,
            mode: program.mode(),
            command: program.command.clone(),
            is_root: program.is_root(),
        }
    }

    /// Runs a call of the embedder on the process. A panic becomes `ERR_INTERNAL`, as in
    /// [`Runtime::contain`].
    pub fn contain<T>(&self, call: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Error> {
        self.program.contain(|| call(self))
    }

    /// Passes a notice of the embedder to the process, as in [`Runtime::notify`].
    pub fn notify(&self, notice: impl FnOnce(&Self)) {
        self.program.notify(|| notice(self));
    }

    /// Evaluates a snippet in a resident process. Evaluations run one after the other. `timeout`
    /// counts from now and not from the start of the evaluation. If the process has ended, fails at
    /// once with `ERR_RUNNER_EXITED`, or with an error that explains the end.
    pub fn evaluate(
        &self,
        id: EvaluationId,
        code: String,
        settings: EvaluationSettings,
        timeout: Option<Duration>,
        streams: Streams,
        dispatch: Dispatch,
    ) -> Result<(), Error> {
        if self.program.mode() != Mode::Resident {
            return Err(invalid("eval", "an evaluation in a resident process".to_owned(), id.to_string()));
        }
        settings.cwd.as_deref().map_or(Ok(()), check_cwd)?;
        check_env(&settings.env)?;
        check_size("env", env_bytes(&settings.env), self.program.limits().env_bytes)?;
        let request = Request { id, code, streams, settings };
        let Some(waker) = self.program.evaluate(request, timeout)? else { return Ok(()) };
        match (dispatch, self.program.task()) {
            (Dispatch::Inline(budget), Some(task)) => task.wake_inline(budget),
            _ => waker.wake(),
        }
        Ok(())
    }

    /// Ends the program with `ERR_CANCELED`, within 50 ms even if the guest never polls.
    pub fn cancel(&self) {
        self.program.end(Error::Canceled);
    }

    /// Ends one running or queued evaluation of a resident process.
    pub fn cancel_evaluation(&self, id: EvaluationId) {
        self.program.cancel_evaluation(id);
    }

    /// Ends the running evaluation of a resident process with `ERR_INTERRUPTED`, or the callback
    /// that the process runs between two evaluations.
    pub fn interrupt(&self) {
        self.program.interrupt_work();
    }

    /// Adds credit: the reader has consumed `bytes` of streamed output.
    pub fn credit(&self, bytes: u64) {
        self.program.credit(bytes);
    }

    /// Returns the most bytes of output that the capture of both descriptors can have.
    pub fn most_captured(&self) -> u64 {
        self.program.limits().output_bytes.saturating_mul(2)
    }

    /// Sends the output of these descriptors to listeners of the sink from now on. The process does
    /// not wait for the listeners, and needs no credit. `add` adds a listener. The listener
    /// receives exactly the output after this call. `add` must not call the process.
    pub fn observe(&self, observed: Streams, add: impl FnOnce()) {
        self.program.observe(observed, add);
    }

    /// Streams these descriptors from now on. Newly streamed descriptors begin with the captured
    /// output. Returns false, and streams nothing, if the process has ended. The sink may not have
    /// received the end yet.
    pub fn stream(&self, streams: Streams) -> bool {
        self.program.stream(streams)
    }
}
