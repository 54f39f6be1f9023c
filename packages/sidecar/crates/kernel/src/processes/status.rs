//! The status of an ended process: an exit code or a signal. [`Status::number`] is Linux's wait
//! status. Next: `signals.rs`.

use coldframe_error::Error;
use serde::{Deserialize, Serialize};

/// The signal for the hang-up of a terminal.
pub(super) const SIGHUP: u8 = 1;
/// The signal that ends a process and that no process can listen to.
pub const SIGKILL: u8 = 9;
/// The signal for a write to a pipe whose reading end is closed.
pub const SIGPIPE: u8 = 13;
const SIGABRT: u8 = 6;

/// The status of an ended process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// The process exited with this code.
    Code(u8),
    /// This signal ended the process.
    Signal(u8),
}

/// Returns the exit code of a process that exits with the number `exit_code`. As in Linux, this is
/// the lowest byte.
pub const fn lowest_byte(exit_code: i32) -> u8 {
    (exit_code & 0xff) as u8
}

impl Status {
    /// Returns the status of a program with this exit code or failure. The status of a failure by a
    /// signal is this signal. Exhausted memory has the status SIGABRT, as in V8. Every other
    /// failure has the status SIGKILL.
    pub fn of(exit_code: i32, failure: Option<&Error>) -> Self {
        match failure {
            None => Self::Code(lowest_byte(exit_code)),
            Some(Error::Signal { signal }) => Self::Signal(*signal),
            Some(Error::MemoryLimit { .. }) => Self::Signal(SIGABRT),
            Some(_) => Self::Signal(SIGKILL),
        }
    }

    /// Returns the exit code: the code of the process, or 128 plus the number of the signal.
    pub fn exit_code(self) -> i32 {
        match self {
            Self::Code(code) => i32::from(code),
            Self::Signal(signal) => 128 + i32::from(signal),
        }
    }

    /// Returns the signal that ended the process. Returns `None` if the process exited.
    pub fn signal(self) -> Option<u8> {
        match self {
            Self::Code(_) => None,
            Self::Signal(signal) => Some(signal),
        }
    }

    /// Returns the status as a number, in the format of Linux's `wait`.
    pub(crate) fn number(self) -> i32 {
        match self {
            Self::Code(code) => i32::from(code) << 8,
            Self::Signal(signal) => i32::from(signal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_wait_statuses() {
        assert_eq!(Status::of(0, None).number(), 0);
        assert_eq!(Status::of(3, None).number(), 0x300);
        assert_eq!(Status::of(256 + 7, None).number(), 0x700);
        assert_eq!(Status::of(-1, None).number(), 0xff00);
        assert_eq!(Status::of(0, Some(&Error::Signal { signal: 15 })).number(), 15);
        assert_eq!(Status::of(134, Some(&Error::MemoryLimit { limit: "memoryBytes", bytes: 1 })).number(), 6);
        assert_eq!(Status::of(124, Some(&Error::Canceled)).number(), 9);
    }
}
