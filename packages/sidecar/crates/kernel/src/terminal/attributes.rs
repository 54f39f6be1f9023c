//! The attributes of a terminal (`termios`), with Linux's numbers. Next: `discipline.rs`.

use serde::{Deserialize, Serialize};

/// The length of the encoded attributes: four flags of four bytes, the line and the characters.
pub(crate) const ATTRIBUTE_BYTES: usize = 16 + 1 + CHARACTERS;
/// The number of control characters.
const CHARACTERS: usize = 19;

// Flags of the input.
pub(super) const ISTRIP: u32 = 0o40;
pub(super) const INLCR: u32 = 0o100;
pub(super) const IGNCR: u32 = 0o200;
pub(super) const ICRNL: u32 = 0o400;
pub(super) const IUCLC: u32 = 0o1000;
pub(super) const IXON: u32 = 0o2000;
pub(super) const IXANY: u32 = 0o4000;
pub(super) const IUTF8: u32 = 0o40000;
// Flags of the output.
pub(super) const OPOST: u32 = 0o1;
pub(super) const OLCUC: u32 = 0o2;
pub(super) const ONLCR: u32 = 0o4;
pub(super) const OCRNL: u32 = 0o10;
pub(super) const ONOCR: u32 = 0o20;
pub(super) const ONLRET: u32 = 0o40;
pub(super) const TABDLY: u32 = 0o14000;
// Local flags.
pub(super) const ISIG: u32 = 0o1;
pub(super) const ICANON: u32 = 0o2;
pub(super) const ECHO: u32 = 0o10;
pub(super) const ECHOE: u32 = 0o20;
pub(super) const ECHOK: u32 = 0o40;
pub(super) const ECHONL: u32 = 0o100;
pub(super) const NOFLSH: u32 = 0o200;
pub(super) const TOSTOP: u32 = 0o400;
pub(super) const ECHOCTL: u32 = 0o1000;
pub(super) const ECHOPRT: u32 = 0o2000;
pub(super) const ECHOKE: u32 = 0o4000;
pub(super) const IEXTEN: u32 = 0o100_000;

// The indices of control characters.
pub(super) const VINTR: usize = 0;
pub(super) const VQUIT: usize = 1;
pub(super) const VERASE: usize = 2;
pub(super) const VKILL: usize = 3;
pub(super) const VEOF: usize = 4;
pub(super) const VTIME: usize = 5;
pub(super) const VMIN: usize = 6;
pub(super) const VSTART: usize = 8;
pub(super) const VSTOP: usize = 9;
pub(super) const VSUSP: usize = 10;
pub(super) const VEOL: usize = 11;
pub(super) const VREPRINT: usize = 12;
pub(super) const VWERASE: usize = 14;
pub(super) const VLNEXT: usize = 15;
pub(super) const VEOL2: usize = 16;

/// The attributes of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attributes {
    pub(super) input: u32,
    pub(super) output: u32,
    pub(super) control: u32,
    pub(super) local: u32,
    pub(super) line: u8,
    pub(super) characters: [u8; CHARACTERS],
}

impl Default for Attributes {
    /// The attributes of a new terminal on Linux, with UTF-8 input.
    fn default() -> Self {
        Self {
            input: ICRNL | IXON | IUTF8,
            output: OPOST | ONLCR,
            // CS8, CREAD and the speed 38,400 baud.
            control: 0o277,
            local: ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
            line: 0,
            characters: [3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22, 0, 0, 0],
        }
    }
}

impl Attributes {
    /// Returns the attributes in the form of Linux's `struct termios`.
    pub(crate) fn encode(&self) -> [u8; ATTRIBUTE_BYTES] {
        let mut bytes = [0; ATTRIBUTE_BYTES];
        for (place, flags) in bytes.chunks_exact_mut(4).zip([self.input, self.output, self.control, self.local]) {
            place.copy_from_slice(&flags.to_le_bytes());
        }
        bytes[16] = self.line;
        bytes[17..].copy_from_slice(&self.characters);
        bytes
    }

    /// Decodes the form of [`Self::encode`]. Every value is valid: unknown flags have no effect.
    pub(crate) fn decode(bytes: &[u8; ATTRIBUTE_BYTES]) -> Self {
        let flags = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let mut characters = [0; CHARACTERS];
        characters.copy_from_slice(&bytes[17..]);
        Self { input: flags(0), output: flags(4), control: flags(8), local: flags(12), line: bytes[16], characters }
    }

    pub(super) fn has_input(&self, flag: u32) -> bool {
        self.input & flag != 0
    }

    pub(super) fn has_output(&self, flag: u32) -> bool {
        self.output & flag != 0
    }

    pub(super) fn has_local(&self, flag: u32) -> bool {
        self.local & flag != 0
    }

    /// Returns whether `byte` is the control character at `index`. A control character of 0 is
    /// disabled.
    pub(super) fn is(&self, byte: u8, index: usize) -> bool {
        byte != 0 && self.characters[index] == byte
    }

    /// Returns whether reads return lines.
    pub(crate) fn is_canonical(&self) -> bool {
        self.has_local(ICANON)
    }

    /// Returns whether a write from a background group is a reason for SIGTTOU.
    pub(crate) fn stops_background_output(&self) -> bool {
        self.has_local(TOSTOP)
    }

    /// Returns the least number of bytes of a read in raw mode.
    pub(crate) fn least(&self) -> usize {
        usize::from(self.characters[VMIN])
    }

    /// Returns the time limit of a read in raw mode, in tenths of a second.
    pub(crate) fn time(&self) -> u8 {
        self.characters[VTIME]
    }

    /// Returns whether a byte continues a character of UTF-8.
    pub(super) fn continues(&self, byte: u8) -> bool {
        self.has_input(IUTF8) && byte & 0xc0 == 0x80
    }
}
