//! A guest program, for its caller.

use super::checks::invalid;
use crate::options::{Dispatch, Mode, Streams};
use crate::program::{Program, Request};
use crate::runtime::Runtime;
use coldframe_error::Error;
use std::sync::Arc;
use std::time::Duration;

/// One guest program. Cheap to clone; dropping all clones does not end it.
#[derive(Clone)]
pub struct Process {
    pub(super) program: Arc<Program>,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Process").field("pid", &self.program.pid).finish_non_exhaustive()
    }
}

/// What is known of a program, and of all copies of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramInfo {
    /// Its number in the runtime; a copy has the same.
    pub pid: u32,
    /// Given when it was started, and kept by every copy.
    pub lineage: u64,
    /// What it was started for.
    pub mode: Mode,
    /// What it was started as, cut off when that is long.
    pub command: String,
    /// Whether the caller outside started it, and not another program.
    pub is_root: bool,
}

impl Process {
    /// Its number in the runtime.
    pub fn pid(&self) -> u32 {
        self.program.pid
    }

    /// Whether it is one of this runtime's.
    pub fn is_of(&self, runtime: &Runtime) -> bool {
        self.program.home().is_some_and(|home| Arc::ptr_eq(&home, &runtime.inner))
    }

    /// Whether it has been told to end.
    #[cfg(test)]
    pub(crate) fn is_ending(&self) -> bool {
        self.program.is_ending()
    }

    /// What is known of it.
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

    /// Evaluates a snippet in a resident process; evaluations run one after the other. `eval` is the caller's number for it,
    /// not 0. `timeout` counts from now, and not from when it begins. Fails at once with `ERR_RUNNER_EXITED` when the process has ended.
    pub fn evaluate(
        &self,
        eval: u32,
        code: String,
        timeout: Option<Duration>,
        streams: Streams,
        dispatch: Dispatch,
    ) -> Result<(), Error> {
        if eval == 0 || self.program.mode() != Mode::Resident {
            return Err(invalid("eval", "a number other than 0, in a resident process".to_owned(), eval.to_string()));
        }
        let request = Request { id: eval, code, streams };
        let Some(waker) = self.program.evaluate(request, timeout)? else { return Ok(()) };
        match (dispatch, self.program.task()) {
            (Dispatch::Inline(budget), Some(task)) => task.wake_inline(budget),
            _ => waker.wake(),
        }
        Ok(())
    }

    /// Ends the program (`ERR_CANCELED`), within 50 ms whatever it does.
    pub fn cancel(&self) {
        self.program.end(Error::Canceled);
    }

    /// Ends one evaluation of a resident process, or takes it out of the queue.
    pub fn cancel_evaluation(&self, eval: u32) {
        self.program.cancel_evaluation(eval);
    }

    /// The reader has consumed `bytes` of streamed output.
    pub fn credit(&self, bytes: u64) {
        self.program.credit(bytes);
    }

    /// From now on these descriptors are sent on. What was captured of one that was not sent on comes first.
    pub fn stream(&self, streams: Streams) {
        self.program.stream(streams);
    }
}
