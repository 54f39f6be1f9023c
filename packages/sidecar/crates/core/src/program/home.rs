//! The runtime that a program belongs to, as the program sees it.
//!
//! Programs know no runtime: `runtime/` is above and implements [`Home`]. Next: `membership.rs`.

use super::Program;
use coldframe_ids::Pid;
use coldframe_kernel::Process;
use coldframe_kernel::processes::Child;
use std::sync::Arc;

/// The runtime that a program belongs to.
pub(crate) trait Home: Send + Sync {
    /// Returns the programs that live.
    fn programs(&self) -> Vec<Arc<Program>>;

    /// Returns the program with this number, if the program lives.
    fn program(&self, pid: Pid) -> Option<Arc<Program>>;

    /// Bytes of linear memory that a program starts with.
    fn image_len(&self) -> u64;

    /// Makes a program of a child and starts the program. Returns the process if the runtime has
    /// been disposed.
    fn start_child(self: Arc<Self>, child: Child) -> Result<(), Box<Process>>;

    /// A program has joined the runtime.
    fn joined(&self);

    /// Removes a program from the programs that live.
    fn remove(&self, program: &Arc<Program>);
}
