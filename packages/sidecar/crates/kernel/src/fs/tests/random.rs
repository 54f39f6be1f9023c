//! A random source whose sequence a test can repeat. Next: `oracle.rs`.

/// A xorshift generator of random numbers. The message of a failing test contains the seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// Returns a random number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// Returns a random element of `of`.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
