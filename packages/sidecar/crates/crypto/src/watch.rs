//! The check between the steps of a long computation, which can stop the computation.

use crate::Fault;

/// The caller's side of the check. Most steps take a few milliseconds at most. The test of a large
/// prime takes up to a third of a second.
pub trait Watch {
    /// Returns `Err(Fault::Stopped)` to end the computation.
    fn step(&mut self) -> Result<(), Fault>;

    /// Returns the number of bytes that one computation may allocate besides its input and output.
    fn memory(&self) -> usize;
}

/// A watch that never stops a computation: for commands that take microseconds, and for tests.
pub struct Unwatched;

impl Watch for Unwatched {
    fn step(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn memory(&self) -> usize {
        usize::MAX
    }
}
