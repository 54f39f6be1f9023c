//! The interface of the runtime that a program belongs to.
//!
//! Programs do not depend on `runtime/`, which implements [`Home`]. Next: `membership.rs`.

use super::Program;
use coldframe_error::Error;
use coldframe_ids::Pid;
use coldframe_kernel::Process;
use coldframe_kernel::processes::Child;
use std::sync::Arc;

/// The runtime that a program belongs to.
pub(crate) trait Home: Send + Sync {
    /// Returns the live programs.
    fn programs(&self) -> Vec<Arc<Program>>;

    /// Returns the live program with this pid.
    fn program(&self, pid: Pid) -> Option<Arc<Program>>;

    /// Returns the runtime's number among all runtimes of the process, for the log.
    fn ordinal(&self) -> u64;

    /// Returns the length of the linear memory that a `node` program starts with, in bytes.
    fn image_len(&self) -> u64;

    /// Makes a program of a child and starts the program. Returns the process if the runtime is
    /// disposed.
    fn start_child(self: Arc<Self>, child: Child) -> Result<(), Box<Process>>;

    /// Ends all live programs, because the runtime has exceeded a limit. Later starts fail.
    fn end_all(&self, reason: &Error);

    /// Ends the runtime, because a panic broke it. Later calls on the runtime are refused.
    fn end_broken(self: Arc<Self>);

    /// Counts a program that has joined the runtime.
    fn joined(&self);

    /// Removes a program from the live programs.
    fn remove(&self, program: &Arc<Program>);

    /// Adds an ended program whose output is open.
    fn output_is_open(&self, program: &Arc<Program>);

    /// Removes an ended program whose output was open.
    fn output_ended(&self, program: &Program);
}
