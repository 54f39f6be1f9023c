//! A list of operations for the hostile guest. Next: `guest.wat`, which executes the list.

use std::fmt::Write as _;

/// The initial size of the guest's memory in bytes.
pub const MEMORY: i64 = 4 << 20;
/// The address of memory that the guest itself does not use.
pub const ROOM: i64 = 0x38_0000;

/// The value of `timer_at` for a timer that is always due: the bits of 0.0.
pub const NOW: i64 = 0;
/// The value of `timer_at` without a timer: the bits of -1.0.
pub const NEVER: i64 = 0xbff0_0000_0000_0000_u64.cast_signed();

/// The source of a program: one record for each operation.
#[derive(Clone, Default)]
pub struct Script(String);

impl Script {
    /// Adds an operation by its letter in `guest.wat`.
    pub fn op(mut self, letter: char, integers: &[i64]) -> Self {
        assert!(integers.len() <= 10, "an operation has ten integers");
        self.0.push(letter);
        for at in 0..10 {
            let _ = write!(self.0, "{:016x}", integers.get(at).copied().unwrap_or(0));
        }
        self
    }

    /// Adds a system call. The guest logs the result.
    pub fn sys(self, number: impl Into<i64>, integers: &[i64]) -> Self {
        self.calls('s', number, 1, integers)
    }

    /// Adds an operation that makes `count` calls. Each call has the next number, starting at
    /// `number`, and the arguments `integers`. `letter` selects the import. The guest logs only the
    /// last result.
    pub fn calls(self, letter: char, number: impl Into<i64>, count: i64, integers: &[i64]) -> Self {
        let mut all = [0; 10];
        all[0] = number.into();
        all[1..=integers.len()].copy_from_slice(integers);
        all[9] = count;
        self.op(letter, &all)
    }

    /// Adds operations that write text to the guest's memory.
    pub fn text(self, at: i64, text: &str) -> Self {
        text.as_bytes().chunks(8).enumerate().fold(self, |script, (index, chunk)| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            script.op('K', &[at + 8 * i64::try_from(index).unwrap_or(0), i64::from_le_bytes(word)])
        })
    }

    /// Returns the source of the program.
    pub fn source(&self) -> String {
        self.0.clone()
    }
}
