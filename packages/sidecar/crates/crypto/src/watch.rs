//! The check between the steps of a long computation, which can stop the computation.

use crate::Fault;

/// The caller's side of the check. A step takes a few milliseconds at most.
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
