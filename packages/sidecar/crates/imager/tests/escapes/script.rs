//! The scripts of the hostile guest, each a list of operations. Next: `guest.wat`, which carries a
//! script out.

use std::fmt::Write as _;

/// The guest's initial memory in bytes, and the address of a part of it that has no other use.
pub const MEMORY: i64 = 4 << 20;
pub const ROOM: i64 = 0x38_0000;

/// The times of a timer that is always due, and of no timer.
pub const NOW: i64 = 0;
pub const NEVER: i64 = 0xbff0_0000_0000_0000_u64.cast_signed();

/// A list of operations for the guest.
#[derive(Clone, Default)]
pub struct Script(String);

impl Script {
    /// Appends an operation by its letter in `guest.wat`.
    pub fn op(mut self, letter: char, integers: &[i64]) -> Self {
        assert!(integers.len() <= 10, "an operation has ten integers");
        self.0.push(letter);
        for at in 0..10 {
            let _ = write!(self.0, "{:016x}", integers.get(at).copied().unwrap_or(0));
        }
        self
    }

    /// Appends a system call, whose result is logged.
    pub fn sys(self, number: i64, integers: &[i64]) -> Self {
        self.calls('s', number, 1, integers)
    }

    /// Appends `count` calls, from `number` on, with these integers. The last result is logged.
    pub fn calls(self, letter: char, number: i64, count: i64, integers: &[i64]) -> Self {
        let mut all = [0; 10];
        all[0] = number;
        all[1..=integers.len()].copy_from_slice(integers);
        all[9] = count;
        self.op(letter, &all)
    }

    /// Appends operations that write text into the guest's memory.
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
