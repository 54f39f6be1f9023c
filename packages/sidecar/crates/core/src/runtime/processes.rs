//! What the caller outside does with a runtime's processes: listing them, signals, standard input.

use super::checks::failed;
use super::{Inner, Runtime};
use crate::outcome::ProcessEntry;
use crate::program::Program;
use coldframe_error::Errno;
use coldframe_error::Error;
use std::sync::Arc;

/// A runtime's processes, for its owner: all of them, children included.
pub struct Processes {
    inner: Arc<Inner>,
}

impl Runtime {
    /// Its processes.
    pub fn processes(&self) -> Processes {
        Processes { inner: self.inner.clone() }
    }
}

impl Processes {
    /// Those that live. One that the caller has ended is not among them, even if it has not noticed yet.
    pub fn list(&self) -> Vec<ProcessEntry> {
        let mut live = self.inner.kernel().processes.list();
        live.retain(|(program, ..)| !program.is_ending());
        let entry = |(program, ppid, group): (Arc<Program>, u32, u32)| ProcessEntry {
            pid: program.pid,
            ppid,
            group,
            command: program.command.clone(),
        };
        live.into_iter().map(entry).collect()
    }

    /// Sends a signal; 0 only looks. `ESRCH` when there is no such process.
    pub fn signal(&self, pid: u32, signal: u8) -> Result<(), Error> {
        let sent = self.inner.kernel().processes.signal(pid, i64::from(signal));
        sent.map_err(|error| failed(error, "kill", &pid.to_string()))
    }

    /// Writes to the standard input of a process that was started live, and ends it with `ends`. What the process has not read yet is
    /// kept, 16 MiB at most (`ENOBUFS`); `EPIPE` when it will not read any more.
    pub fn write(&self, pid: u32, bytes: &[u8], ends: bool) -> Result<(), Error> {
        let program = self.inner.kernel().processes.program(pid).ok_or(Errno::EPIPE);
        let written = program.and_then(|program| program.process.feed(bytes, ends));
        written.map_err(|error| failed(error, "write", &pid.to_string()))
    }

    /// Why nobody outside can hear a process (or hear it as what it is: a resident runner is no plain process).
    pub fn not_attachable(&self, pid: u32, is_runner: bool) -> Error {
        let entry = self.list().into_iter().find(|entry| entry.pid == pid);
        let (errno, reason) = match entry {
            None => ("ESRCH", "no such process"),
            Some(_) if is_runner => ("EPERM", "it is a resident runner"),
            // 1: it was started from outside.
            Some(entry) if entry.ppid != 1 => ("EPERM", "its output belongs to its parent"),
            Some(_) => ("EBUSY", "somebody hears it already"),
        };
        Error::File { errno, reason: reason.to_owned(), call: "attach", path: pid.to_string() }
    }
}
