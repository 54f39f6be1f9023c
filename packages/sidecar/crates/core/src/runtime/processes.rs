//! The embedder's access to a runtime's processes: the list, signals, standard input. Next:
//! `network.rs`.

use super::{Inner, Process, Runtime};
use crate::checks::failed;
use crate::outcome::{ProcessEntry, Sink};
use coldframe_error::Errno;
use coldframe_error::Error;
use coldframe_ids::Pid;
use coldframe_kernel::{Caller, WindowSize};
use std::sync::Arc;

/// The embedder's access to all processes of a runtime, children included.
pub struct Processes {
    inner: Arc<Inner>,
}

impl Runtime {
    /// Returns the embedder's access to the runtime's processes.
    pub fn processes(&self) -> Processes {
        Processes { inner: self.inner.clone() }
    }
}

impl Processes {
    /// Lists the live processes. A process that must end is not listed, even while its guest still
    /// runs.
    pub fn list(&self) -> Vec<ProcessEntry> {
        let mut live = self.inner.kernel().processes.list();
        live.retain(|(program, ..)| !program.is_ending());
        let entry = |(program, ppid, group): (Arc<dyn Caller>, Pid, Pid)| ProcessEntry {
            pid: program.pid(),
            ppid,
            group,
            command: program.command().to_owned(),
        };
        live.into_iter().map(entry).collect()
    }

    /// Returns a root process and its sink. The process is live, or its outcome waits for the end
    /// of its output.
    pub fn root(&self, pid: Pid) -> Option<(Process, Arc<dyn Sink>)> {
        let program = self.inner.root_program(pid)?;
        let sink = program.sink.get()?;
        Some((Process { program }, sink))
    }

    /// Sends a signal. Signal 0 only checks that the process exists. Fails with `ESRCH` for an
    /// unknown process.
    pub fn signal(&self, pid: Pid, signal: u8) -> Result<(), Error> {
        let sent = self.inner.kernel().processes.signal(pid, i64::from(signal));
        sent.map_err(|error| failed(error, "kill", &pid.to_string()))
    }

    /// Writes to the standard input of a process that was started live. With `ends`, the input ends
    /// after `bytes`. Fails with `ENOBUFS` if the waiting bytes would exceed the limit
    /// `stdinBytes`, and with `EPIPE` if the process no longer reads.
    pub fn write(&self, pid: Pid, bytes: &[u8], ends: bool) -> Result<(), Error> {
        let program = self.inner.kernel().processes.program(pid).ok_or(Errno::EPIPE);
        let written = program.and_then(|program| program.process().feed(bytes, ends));
        written.map_err(|error| failed(error, "write", &pid.to_string()))
    }

    /// Sets the size of the terminal of a process that was started with a terminal. Fails with
    /// `ESRCH` for an unknown process, and with `ENOTTY` without such a terminal.
    pub fn resize(&self, pid: Pid, size: WindowSize) -> Result<(), Error> {
        let program = self.inner.kernel().processes.program(pid).ok_or(Errno::ESRCH);
        let resized = program.and_then(|program| program.process().resize_terminal(size));
        resized.map_err(|error| failed(error, "resize", &pid.to_string()))
    }

    /// Returns the error for a process that the embedder cannot attach to. `is_runner` states that
    /// the process is a resident runner, which the embedder attaches by its runner id.
    pub fn not_attachable(&self, pid: Pid, is_runner: bool) -> Error {
        let entry = self.list().into_iter().find(|entry| entry.pid == pid);
        let (errno, reason) = match entry {
            None => ("ESRCH", "no such process"),
            Some(_) if is_runner => ("EPERM", "it is a resident runner"),
            Some(_) => ("EPERM", "its output belongs to another process"),
        };
        Error::File { errno, reason: reason.to_owned(), call: "attach", path: pid.to_string() }
    }
}
