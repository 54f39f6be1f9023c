//! The line discipline: the state machine that turns the bytes of the master into the input of the
//! slave, the echo and the signals. Both queues are bounded. Next: `output.rs`.

use super::attributes::{
    Attributes, ECHO, ECHOCTL, ECHONL, ICANON, ICRNL, IEXTEN, IGNCR, INLCR, ISIG, ISTRIP, IUCLC, IXANY, IXON, NOFLSH, VEOF, VEOL,
    VEOL2, VERASE, VINTR, VKILL, VLNEXT, VQUIT, VREPRINT, VSTART, VSTOP, VSUSP, VWERASE,
};
use super::output::{BeforeEcho, Output, to_lower};
use super::{ECHO_BYTES, INPUT_BYTES, KeyboardSignal, OUTPUT_BYTES};
use crate::usage::trim;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The most bytes of the keyboard that one call receives. The erasure of a tab walks over the
/// edited line, so a call with more bytes would take too long.
const WRITE_BYTES: usize = 1_024;

/// One write of the keyboard. Linux sends the echo at the end of the write, or when the output
/// starts.
struct KeyboardWrite {
    /// The output before the echo that a signal drops.
    before: BeforeEcho,
    /// The output that a stop does not hold.
    sent: BeforeEcho,
}

/// A queue of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queue {
    Input,
    Output,
}

/// The result of a read of the slave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fetched {
    /// The number of bytes. 0 is the end of the input.
    Bytes(usize),
    /// Too few bytes wait.
    Nothing,
}

/// The state of a terminal between its two ends.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Discipline {
    pub(super) attributes: Attributes,
    /// The complete lines, then the line that is edited.
    pub(super) input: VecDeque<u8>,
    /// The lengths of the complete lines. A line of no bytes is the end of the input.
    lines: VecDeque<u16>,
    /// The bytes of the complete lines together.
    complete: usize,
    /// The number of lines of no bytes.
    ends: usize,
    pub(super) output: Output,
    /// Whether the next byte has no special meaning.
    is_literal: bool,
    /// The output that the master may read while the output is stopped. The held echo follows this
    /// output. `None` if the output is not stopped.
    shown: Option<BeforeEcho>,
    /// Whether the echo prints erased characters (`ECHOPRT`).
    pub(super) prints_erased: bool,
}

impl Discipline {
    pub(crate) fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Returns the number of bytes in the queues.
    pub(crate) fn buffered(&self) -> usize {
        self.input.len() + self.output.bytes.len()
    }

    /// Checks that a terminal could be in this state. The state may have been read from a file.
    pub(crate) fn is_sound(&self) -> bool {
        let complete: usize = self.lines.iter().map(|line| usize::from(*line)).sum();
        let ends = self.lines.iter().filter(|line| **line == 0).count();
        let is_counted = complete == self.complete && ends == self.ends && complete <= self.input.len();
        let is_bounded =
            self.input.len().saturating_add(ends) <= INPUT_BYTES + 1 && self.output.bytes.len() <= OUTPUT_BYTES + ECHO_BYTES;
        let is_shown = self.shown.is_none_or(|shown| shown.len <= self.output.bytes.len());
        is_counted && is_bounded && is_shown && (self.attributes.is_canonical() || self.lines.is_empty())
    }

    /// Returns the index of the first byte of the edited line.
    pub(super) fn line_start(&self) -> usize {
        self.complete
    }

    /// Returns the number of bytes of the edited line.
    pub(super) fn edited(&self) -> usize {
        self.input.len() - self.complete
    }

    fn push_line(&mut self, len: usize) {
        self.lines.push_back(u16::try_from(len).unwrap_or(u16::MAX));
        self.complete += len;
        self.ends += usize::from(len == 0);
    }

    fn clear_lines(&mut self) {
        self.lines = VecDeque::new();
        (self.complete, self.ends) = (0, 0);
    }

    /// Sets the attributes. The input of the former mode stays readable, as on Linux.
    pub(crate) fn set_attributes(&mut self, attributes: Attributes) {
        let was_canonical = self.attributes.is_canonical();
        self.attributes = attributes;
        if was_canonical != attributes.is_canonical() {
            self.clear_lines();
            self.prints_erased = false;
            self.is_literal = false;
            if attributes.is_canonical() && !self.input.is_empty() {
                self.push_line(self.input.len());
            }
        }
        if !attributes.has_input(IXON) {
            self.shown = None;
        }
    }

    /// Drops the bytes of a queue.
    pub(crate) fn flush(&mut self, queue: Queue) {
        match queue {
            Queue::Input => {
                self.input = VecDeque::new();
                self.clear_lines();
                self.prints_erased = false;
                self.is_literal = false;
            }
            Queue::Output => {
                self.output.bytes = VecDeque::new();
                if let Some(shown) = &mut self.shown {
                    shown.len = 0;
                }
            }
        }
    }

    /// Receives a byte of the keyboard. Returns the signal that the byte causes.
    fn receive(&mut self, byte: u8, write: &mut KeyboardWrite) -> Option<KeyboardSignal> {
        let attributes = self.attributes;
        let mut byte = byte;
        if attributes.has_input(ISTRIP) {
            byte &= 0x7f;
        }
        if attributes.has_input(IUCLC) && attributes.has_local(IEXTEN) {
            byte = to_lower(byte);
        }
        if std::mem::take(&mut self.is_literal) {
            self.start_by_any(write);
            self.take_plain(byte, false);
            return None;
        }
        if attributes.has_input(IXON) {
            if attributes.is(byte, VSTART) {
                self.start(write);
                return None;
            }
            if attributes.is(byte, VSTOP) {
                self.shown = self.shown.or(Some(write.sent));
                return None;
            }
        }
        if attributes.has_local(ISIG) {
            let signals = [(VINTR, KeyboardSignal::Interrupt), (VQUIT, KeyboardSignal::Quit), (VSUSP, KeyboardSignal::Suspend)];
            if let Some((_, signal)) = signals.into_iter().find(|(index, _)| attributes.is(byte, *index)) {
                self.interrupt(byte, write);
                return Some(signal);
            }
        }
        self.start_by_any(write);
        // In raw mode, only a line feed that was a carriage return is echoed as a line feed.
        let is_return = byte == b'\r';
        match byte {
            b'\r' if attributes.has_input(IGNCR) => return None,
            b'\r' if attributes.has_input(ICRNL) => byte = b'\n',
            b'\n' if attributes.has_input(INLCR) => byte = b'\r',
            _ => {}
        }
        if !(attributes.has_local(ICANON) && self.take_canonical(byte)) {
            self.take_plain(byte, is_return);
        }
        None
    }

    /// Starts the stopped output. The held echo counts as echo of the present write.
    fn start(&mut self, write: &mut KeyboardWrite) {
        if let Some(shown) = self.shown.take() {
            write.before = shown;
        }
        write.sent = self.output.before_echo();
    }

    fn start_by_any(&mut self, write: &mut KeyboardWrite) {
        if self.shown.is_some() && self.attributes.has_input(IXON) && self.attributes.has_input(IXANY) {
            self.start(write);
        }
    }

    /// Drops the input and the echo of the present write, and echoes the character of a signal.
    fn interrupt(&mut self, byte: u8, write: &mut KeyboardWrite) {
        let attributes = self.attributes;
        if !attributes.has_local(NOFLSH) {
            self.flush(Queue::Input);
            self.output.drop_echo(self.shown.unwrap_or(write.before));
            write.before = self.output.before_echo();
            write.sent = write.before;
        }
        if self.shown.is_some() && attributes.has_input(IXON) {
            self.start(write);
        }
        if attributes.has_local(ECHO) {
            self.output.echo(&attributes, byte);
        }
    }

    /// Handles a byte with a meaning in canonical mode. Returns false for a byte of the line.
    fn take_canonical(&mut self, byte: u8) -> bool {
        let attributes = self.attributes;
        let (echoes, extends) = (attributes.has_local(ECHO), attributes.has_local(IEXTEN));
        if attributes.is(byte, VERASE) || attributes.is(byte, VKILL) || (attributes.is(byte, VWERASE) && extends) {
            self.erase(byte);
        } else if attributes.is(byte, VLNEXT) && extends {
            self.is_literal = true;
            if echoes {
                self.finish_printing_erased();
                if attributes.has_local(ECHOCTL) {
                    self.output.echo_raw(&attributes, b'^');
                    self.output.echo_raw(&attributes, 8);
                }
            }
        } else if attributes.is(byte, VREPRINT) && echoes && extends {
            self.finish_printing_erased();
            self.output.echo(&attributes, byte);
            self.output.echo_raw(&attributes, b'\n');
            for at in self.line_start()..self.input.len() {
                if !self.output.has_echo_room() {
                    break;
                }
                self.output.echo(&attributes, self.input[at]);
            }
        } else if byte == b'\n' {
            if echoes || attributes.has_local(ECHONL) {
                self.output.echo_raw(&attributes, b'\n');
            }
            self.put_end(byte);
            self.end_line();
        } else if attributes.is(byte, VEOF) {
            self.end_line();
        } else if attributes.is(byte, VEOL) || (attributes.is(byte, VEOL2) && extends) {
            if echoes {
                self.begin_line();
                self.output.echo(&attributes, byte);
            }
            self.put_end(byte);
            self.end_line();
        } else {
            return false;
        }
        true
    }

    /// Echoes and stores a byte without a special meaning.
    fn take_plain(&mut self, byte: u8, shows_line_feed: bool) {
        let attributes = self.attributes;
        if attributes.has_local(ECHO) {
            self.finish_printing_erased();
            if byte == b'\n' && shows_line_feed {
                self.output.echo_raw(&attributes, byte);
            } else {
                self.begin_line();
                self.output.echo(&attributes, byte);
            }
        }
        self.put(byte);
    }

    /// Records the column of the first character of a line.
    fn begin_line(&mut self) {
        if self.edited() == 0 {
            self.output.begin_input();
        }
    }

    /// Stores a byte of the line. In a full queue the byte is dropped.
    fn put(&mut self, byte: u8) {
        if self.places() < INPUT_BYTES {
            self.input.push_back(byte);
        }
    }

    /// Stores the last byte of a line. A full queue has a place for the end of its only line.
    fn put_end(&mut self, byte: u8) {
        if self.places() <= INPUT_BYTES {
            self.input.push_back(byte);
        }
    }

    /// Makes the edited line a complete line.
    fn end_line(&mut self) {
        let len = self.edited();
        if len == 0 && self.places() >= INPUT_BYTES {
            return;
        }
        self.push_line(len);
    }

    /// Returns the used places of the input queue. An end of the input uses a place too.
    fn places(&self) -> usize {
        self.input.len() + self.ends
    }

    /// Returns whether the discipline accepts a byte of the keyboard. A line without an end is
    /// always accepted, because no read can make space for its end.
    pub(crate) fn accepts_input(&self) -> bool {
        self.places() < INPUT_BYTES || (self.attributes.is_canonical() && self.lines.is_empty())
    }

    /// Receives at most [`WRITE_BYTES`] bytes of the keyboard, until the input queue is full.
    /// `signal` is called with each signal. Returns the number of received bytes.
    pub(crate) fn write_input(&mut self, bytes: &[u8], mut signal: impl FnMut(KeyboardSignal)) -> usize {
        let bytes = &bytes[..bytes.len().min(WRITE_BYTES)];
        let before = self.output.before_echo();
        let mut write = KeyboardWrite { before, sent: before };
        for (at, byte) in bytes.iter().enumerate() {
            if !self.accepts_input() {
                return at;
            }
            if let Some(sent) = self.receive(*byte, &mut write) {
                signal(sent);
            }
        }
        bytes.len()
    }

    /// Returns whether the slave is readable, as Linux's `n_tty_poll`. In raw mode without a time
    /// limit, the least number of bytes of a read must wait.
    pub(crate) fn is_readable(&self) -> bool {
        if self.attributes.is_canonical() {
            return !self.lines.is_empty();
        }
        let least = if self.attributes.time() == 0 { self.attributes.least().max(1) } else { 1 };
        self.input.len() >= least
    }

    /// Reads the input. If `waits` is set, the read needs the least number of bytes of raw mode.
    pub(crate) fn read_input(&mut self, buffer: &mut [u8], waits: bool) -> Fetched {
        if buffer.is_empty() {
            return Fetched::Bytes(0);
        }
        let count = if self.attributes.is_canonical() {
            let Some(line) = self.lines.front_mut() else { return Fetched::Nothing };
            let is_end = *line == 0;
            let count = usize::from(*line).min(buffer.len());
            *line -= count as u16;
            if *line == 0 {
                self.lines.pop_front();
            }
            self.complete -= count;
            self.ends -= usize::from(is_end);
            count
        } else {
            let (least, time) = (self.attributes.least(), self.attributes.time());
            if self.input.is_empty() {
                return if least == 0 && time == 0 { Fetched::Bytes(0) } else { Fetched::Nothing };
            }
            if waits && time == 0 && self.input.len() < least.min(buffer.len()) {
                return Fetched::Nothing;
            }
            self.input.len().min(buffer.len())
        };
        buffer.iter_mut().zip(self.input.drain(..count)).for_each(|(place, byte)| *place = byte);
        trim(&mut self.input);
        Fetched::Bytes(count)
    }

    /// Returns whether a write of the slave is accepted.
    pub(crate) fn accepts_output(&self) -> bool {
        self.shown.is_none() && self.output.has_room()
    }

    /// Processes the output of a program until the queue is full. Returns the number of processed
    /// bytes.
    pub(crate) fn write_output(&mut self, bytes: &[u8]) -> usize {
        if self.shown.is_some() {
            return 0;
        }
        let attributes = self.attributes;
        self.output.write(&attributes, bytes)
    }

    /// Returns the first bytes of the output, which are contiguous in memory.
    pub(crate) fn output(&self) -> &[u8] {
        let (first, second) = self.output.bytes.as_slices();
        let part = if first.is_empty() { second } else { first };
        &part[..self.shown.map_or(part.len(), |shown| shown.len.min(part.len()))]
    }

    /// Removes output that the master has read.
    pub(crate) fn take_output(&mut self, count: usize) {
        let count = count.min(self.output.bytes.len());
        self.output.bytes.drain(..count);
        if let Some(shown) = &mut self.shown {
            shown.len = shown.len.saturating_sub(count);
        }
        trim(&mut self.output.bytes);
    }
}
