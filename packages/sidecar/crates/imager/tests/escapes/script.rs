//! What the hostile guest does, written as a list of its operations. Next: `guest.wat`, which carries it out.

use std::fmt::Write as _;

/// Bytes of memory that the guest has at first, and a piece of it that nothing else uses.
pub const MEMORY: i64 = 4 << 20;
pub const ROOM: i64 = 0x38_0000;

/// A timer that is always due, and none.
pub const NOW: i64 = 0;
pub const NEVER: i64 = 0xbff0_0000_0000_0000_u64.cast_signed();

/// See the module.
#[derive(Clone, Default)]
pub struct Script(String);

impl Script {
    /// One operation by its letter in `guest.wat`.
    pub fn op(mut self, letter: char, integers: &[i64]) -> Self {
        assert!(integers.len() <= 10, "an operation has ten integers");
        self.0.push(letter);
        for at in 0..10 {
            let _ = write!(self.0, "{:016x}", integers.get(at).copied().unwrap_or(0));
        }
        self
    }

    /// A system call; its answer is logged.
    pub fn sys(self, number: impl Into<i64>, integers: &[i64]) -> Self {
        self.calls('s', number, 1, integers)
    }

    /// As many calls as `count`, from `number` on, with the same integers; the last answer is logged.
    pub fn calls(self, letter: char, number: impl Into<i64>, count: i64, integers: &[i64]) -> Self {
        let mut all = [0; 10];
        all[0] = number.into();
        all[1..=integers.len()].copy_from_slice(integers);
        all[9] = count;
        self.op(letter, &all)
    }

    /// Puts text into the guest's memory.
    pub fn text(self, at: i64, text: &str) -> Self {
        text.as_bytes().chunks(8).enumerate().fold(self, |script, (index, chunk)| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            script.op('K', &[at + 8 * i64::try_from(index).unwrap_or(0), i64::from_le_bytes(word)])
        })
    }

    pub fn source(&self) -> String {
        self.0.clone()
    }
}
