//! Long computations ask between their steps whether somebody still wants the result.

use crate::Fault;

/// See the module. A step takes a few milliseconds at most.
pub trait Watch {
    /// `Err(Fault::Stopped)` to give up.
    fn step(&mut self) -> Result<(), Fault>;

    /// Bytes that one computation may hold besides its input and output.
    fn memory(&self) -> usize;
}

/// For what takes microseconds, and for tests.
pub struct Unwatched;

impl Watch for Unwatched {
    fn step(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn memory(&self) -> usize {
        usize::MAX
    }
}
