//! A [`Mark`] stores the highest value of a counter that a lock protects. A mark is plain data, and
//! no snapshot contains marks. Next: `peaks.rs`.

use super::warnings::{is_calm, is_near};

/// The highest value of a counter.
#[derive(Debug, Clone, Default)]
pub struct Mark {
    high: u64,
    warned: bool,
}

impl Mark {
    /// Records that the counter has risen to `used`. Returns whether a warning is due: the counter
    /// is near its limit, and has been low since the last warning.
    pub fn raise(&mut self, used: u64, max: u64) -> bool {
        self.high = self.high.max(used);
        is_near(used, max) && !std::mem::replace(&mut self.warned, true)
    }

    /// Records that the counter has fallen to `used`. A low value allows the next warning.
    pub fn lower(&mut self, used: u64, max: u64) {
        if self.warned && is_calm(used, max) {
            self.warned = false;
        }
    }

    /// Returns the highest value of the counter.
    pub fn high(&self) -> u64 {
        self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warns_again_only_after_the_use_has_fallen_far() {
        let mut mark = Mark::default();
        assert!(!mark.raise(79, 100));
        assert!(mark.raise(80, 100) && !mark.raise(100, 100));
        mark.lower(60, 100);
        assert!(!mark.raise(90, 100));
        mark.lower(59, 100);
        assert!(mark.raise(80, 100));
        assert_eq!(mark.high(), 100);
    }

    #[test]
    fn a_limit_of_zero_causes_no_warning() {
        assert!(!Mark::default().raise(0, 0));
    }
}
