//! Terminals: the line discipline between the two ends of a pseudo terminal.
//!
//! ```text
//! master ── write ──► Discipline: echo, editing, signals ──► input ── read ──► slave
//!        ◄── read ── output ◄── output processing ◄───────────────── write ──┘
//! ```
//!
//! The discipline is plain data without locks, so that a snapshot can copy the terminal. The
//! behaviour is the behaviour of Linux's `n_tty`, and `tests/` compares the bytes with a recording
//! of Linux. `net/terminals.rs` connects a terminal with two kinds of sockets, and sends the
//! signals. Next: `attributes.rs`.

mod attributes;
mod discipline;
mod editing;
mod output;
#[cfg(test)]
mod tests;

pub(crate) use attributes::{ATTRIBUTE_BYTES, Attributes};
pub(crate) use discipline::{Discipline, Fetched, Queue};

use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};

/// The maximum number of input bytes that wait for a read, as on Linux.
pub(crate) const INPUT_BYTES: usize = 4_095;
/// The number of output bytes after which a write waits for a reader.
pub(crate) const OUTPUT_BYTES: usize = 16 << 10;
/// The output bytes beyond [`OUTPUT_BYTES`] that the echo may use. Further echo is dropped.
pub(crate) const ECHO_BYTES: usize = 8 << 10;

/// The size of a terminal's window in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WindowSize {
    /// The number of lines.
    pub rows: u16,
    /// The number of characters in a line.
    pub columns: u16,
}

/// A signal that a terminal sends to the foreground group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyboardSignal {
    Interrupt,
    Quit,
    Suspend,
}

impl KeyboardSignal {
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Interrupt => 2,
            Self::Quit => 3,
            Self::Suspend => 20,
        }
    }
}

/// The session that a terminal controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Control {
    /// The session, which has the number of its leader.
    pub(crate) session: Pid,
    /// The group that receives the signals of the keyboard.
    pub(crate) foreground: Pid,
}
