//! The output of a terminal: the processing of a program's bytes, and the echo of the input. Next:
//! `editing.rs`.

use super::attributes::{Attributes, ECHOCTL, OCRNL, OLCUC, ONLCR, ONLRET, ONOCR, OPOST, TABDLY};
use super::{ECHO_BYTES, OUTPUT_BYTES};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The distance between two tab stops.
const TAB: u32 = 8;
/// The most bytes that one byte of a program becomes: the spaces of a tab.
const EXPANDED: usize = TAB as usize;

/// The processed output, which the master reads, and the position of the cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Output {
    pub(super) bytes: VecDeque<u8>,
    cursor: Cursor,
}

/// The position of the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Cursor {
    column: u32,
    /// The column at which the present line of input began.
    input_column: u32,
}

/// The state of the output before the echo of one write of the keyboard. Linux writes the echo at
/// the end of such a write. So a stop holds the whole echo, and a signal drops the echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BeforeEcho {
    pub(super) len: usize,
    cursor: Cursor,
}

/// Returns the capital letter of a letter in Latin-1, as Linux's `toupper`.
pub(super) fn to_upper(byte: u8) -> u8 {
    if (0xe0..=0xfe).contains(&byte) && byte != 0xf7 { byte - 0x20 } else { byte.to_ascii_uppercase() }
}

/// Returns the small letter of a letter in Latin-1, as Linux's `tolower`.
pub(super) fn to_lower(byte: u8) -> u8 {
    if (0xc0..=0xde).contains(&byte) && byte != 0xd7 { byte + 0x20 } else { byte.to_ascii_lowercase() }
}

/// Returns whether a byte is a control character of ASCII.
pub(super) fn is_control(byte: u8) -> bool {
    byte.is_ascii_control()
}

impl Output {
    pub(super) fn before_echo(&self) -> BeforeEcho {
        BeforeEcho { len: self.bytes.len(), cursor: self.cursor }
    }

    /// Drops the echo that followed `before`, and its effect on the cursor.
    pub(super) fn drop_echo(&mut self, before: BeforeEcho) {
        self.bytes.truncate(before.len);
        self.cursor = before.cursor;
    }

    /// Returns whether a write is accepted.
    pub(super) fn has_room(&self) -> bool {
        self.bytes.len() < OUTPUT_BYTES
    }

    /// Processes the bytes of a program until the queue is full. Returns the number of processed
    /// bytes.
    pub(super) fn write(&mut self, attributes: &Attributes, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            if !self.has_room() {
                return at;
            }
            self.put(attributes, *byte);
        }
        bytes.len()
    }

    /// Returns whether the echo of another byte is accepted.
    pub(super) fn has_echo_room(&self) -> bool {
        self.bytes.len() + EXPANDED <= OUTPUT_BYTES + ECHO_BYTES
    }

    /// Echoes a byte of the input. A control character is written as `^` and a letter if `ECHOCTL`
    /// is set.
    pub(super) fn echo(&mut self, attributes: &Attributes, byte: u8) {
        if !self.has_echo_room() {
            return;
        }
        if attributes.has_local(ECHOCTL) && is_control(byte) && byte != b'\t' {
            self.bytes.extend([b'^', byte ^ 0o100]);
            self.cursor.column = self.cursor.column.wrapping_add(2);
        } else {
            self.put(attributes, byte);
        }
    }

    /// Echoes a byte like the output of a program.
    pub(super) fn echo_raw(&mut self, attributes: &Attributes, byte: u8) {
        if self.has_echo_room() {
            self.put(attributes, byte);
        }
    }

    /// Moves the cursor back by one column, for the second byte of a printed character.
    pub(super) fn move_back(&mut self) {
        self.cursor.column = self.cursor.column.saturating_sub(1);
    }

    /// Records the column at which a line of input begins.
    pub(super) fn begin_input(&mut self) {
        self.cursor.input_column = self.cursor.column;
    }

    /// Moves the cursor to the place before an erased tab. `characters` is the number of columns
    /// between the previous tab, or the start of the input, and the erased tab.
    pub(super) fn erase_tab(&mut self, characters: u32, is_after_tab: bool) {
        let from = if is_after_tab { 0 } else { self.cursor.input_column };
        let back = TAB - (from.wrapping_add(characters) % TAB);
        for _ in 0..back {
            if self.has_echo_room() {
                self.bytes.push_back(8);
            }
            self.cursor.column = self.cursor.column.saturating_sub(1);
        }
    }

    fn put(&mut self, attributes: &Attributes, byte: u8) {
        if !attributes.has_output(OPOST) {
            self.bytes.push_back(byte);
            return;
        }
        let mut byte = byte;
        match byte {
            b'\n' => {
                if attributes.has_output(ONLRET) {
                    self.cursor.column = 0;
                }
                if attributes.has_output(ONLCR) {
                    (self.cursor.column, self.cursor.input_column) = (0, 0);
                    self.bytes.push_back(b'\r');
                }
                self.cursor.input_column = self.cursor.column;
            }
            b'\r' => {
                if attributes.has_output(ONOCR) && self.cursor.column == 0 {
                    return;
                }
                if attributes.has_output(OCRNL) {
                    byte = b'\n';
                    if attributes.has_output(ONLRET) {
                        (self.cursor.column, self.cursor.input_column) = (0, 0);
                    }
                } else {
                    (self.cursor.column, self.cursor.input_column) = (0, 0);
                }
            }
            b'\t' => {
                let spaces = TAB - self.cursor.column % TAB;
                self.cursor.column = self.cursor.column.wrapping_add(spaces);
                if attributes.output & TABDLY == TABDLY {
                    self.bytes.extend((0..spaces).map(|_| b' '));
                    return;
                }
            }
            8 => self.cursor.column = self.cursor.column.saturating_sub(1),
            _ if is_control(byte) => {}
            _ => {
                if attributes.has_output(OLCUC) {
                    byte = to_upper(byte);
                }
                if !attributes.continues(byte) {
                    self.cursor.column = self.cursor.column.wrapping_add(1);
                }
            }
        }
        self.bytes.push_back(byte);
    }
}
