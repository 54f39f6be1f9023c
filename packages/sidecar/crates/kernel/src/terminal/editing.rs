//! The editing of a line: erasing a character, a word or the whole line, as Linux's `eraser`. Next:
//! `tests/`.

use super::attributes::{ECHO, ECHOCTL, ECHOE, ECHOK, ECHOKE, ECHOPRT, VERASE, VKILL, VWERASE};
use super::discipline::Discipline;
use super::output::is_control;

/// The amount that one erasing character erases.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Amount {
    Character,
    Word,
    Line,
}

/// Returns whether a byte is part of a word. Linux classifies bytes as Latin-1.
fn is_of_word(byte: u8) -> bool {
    let is_letter = byte >= 0xc0 && byte != 0xd7 && byte != 0xf7;
    byte.is_ascii_alphanumeric() || byte == b'_' || is_letter || byte == 0xaa || byte == 0xb5 || byte == 0xba
}

impl Discipline {
    /// Erases input of the present line for the erasing character `byte`.
    pub(super) fn erase(&mut self, byte: u8) {
        if self.edited() == 0 {
            return;
        }
        let amount = if self.attributes.is(byte, VERASE) {
            Amount::Character
        } else if self.attributes.is(byte, VWERASE) {
            Amount::Word
        } else {
            if self.kill_line() {
                return;
            }
            Amount::Line
        };
        let mut has_word = false;
        while self.edited() > 0 {
            // A character of UTF-8 is erased with all of its bytes.
            let (start, mut head) = (self.line_start(), self.input.len());
            loop {
                head -= 1;
                if !self.attributes.continues(self.input[head]) || head == start {
                    break;
                }
            }
            let byte = self.input[head];
            if self.attributes.continues(byte) {
                break;
            }
            if amount == Amount::Word {
                if is_of_word(byte) {
                    has_word = true;
                } else if has_word {
                    break;
                }
            }
            let erased: Vec<u8> = self.input.drain(head..).collect();
            if self.attributes.has_local(ECHO) {
                self.echo_erased(&erased, amount);
            }
            if amount == Amount::Character {
                break;
            }
        }
        if self.edited() == 0 && self.attributes.has_local(ECHO) {
            self.finish_printing_erased();
        }
    }

    /// Erases the whole line without the echo of each character. Returns false if the echo of each
    /// character is wanted.
    fn kill_line(&mut self) -> bool {
        let attributes = self.attributes;
        let wants_each = attributes.has_local(ECHOK) && attributes.has_local(ECHOKE) && attributes.has_local(ECHOE);
        if attributes.has_local(ECHO) && wants_each {
            return false;
        }
        self.input.truncate(self.line_start());
        if attributes.has_local(ECHO) {
            self.finish_printing_erased();
            self.output.echo(&attributes, attributes.characters[VKILL]);
            if attributes.has_local(ECHOK) {
                self.output.echo_raw(&attributes, b'\n');
            }
        }
        true
    }

    /// Echoes the erasure of one character.
    fn echo_erased(&mut self, erased: &[u8], amount: Amount) {
        let attributes = self.attributes;
        let Some((first, more)) = erased.split_first() else { return };
        if attributes.has_local(ECHOPRT) {
            if !self.prints_erased {
                self.output.echo_raw(&attributes, b'\\');
                self.prints_erased = true;
            }
            self.output.echo(&attributes, *first);
            for byte in more {
                self.output.echo_raw(&attributes, *byte);
                self.output.move_back();
            }
        } else if amount == Amount::Character && !attributes.has_local(ECHOE) {
            self.output.echo(&attributes, attributes.characters[VERASE]);
        } else if *first == b'\t' {
            let (columns, is_after_tab) = self.columns_before_tab();
            self.output.erase_tab(columns, is_after_tab);
        } else {
            let shows_control = attributes.has_local(ECHOCTL);
            let count = match is_control(*first) {
                true if shows_control => 2,
                true => 0,
                false => 1,
            };
            for _ in 0..count {
                [8, b' ', 8].into_iter().for_each(|byte| self.output.echo_raw(&attributes, byte));
            }
        }
    }

    /// Returns the number of columns at the end of the line that follow a tab or the start of the
    /// line. Also returns whether the columns follow a tab.
    fn columns_before_tab(&self) -> (u32, bool) {
        let mut columns = 0_u32;
        for byte in self.input.range(self.line_start()..).rev() {
            if *byte == b'\t' {
                return (columns, true);
            }
            if is_control(*byte) {
                columns += if self.attributes.has_local(ECHOCTL) { 2 } else { 0 };
            } else if !self.attributes.continues(*byte) {
                columns += 1;
            }
        }
        (columns, false)
    }

    /// Ends the printed erasure of `ECHOPRT`.
    pub(super) fn finish_printing_erased(&mut self) {
        if std::mem::take(&mut self.prints_erased) {
            let attributes = self.attributes;
            self.output.echo_raw(&attributes, b'/');
        }
    }
}
