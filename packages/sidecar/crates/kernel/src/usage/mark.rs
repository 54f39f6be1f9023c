//! A high-water mark beside a counter that lies under a lock. Plain data, copied with its counter. Next: `peaks.rs`.

use super::warnings::{is_calm, is_near};

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct Mark {
    high: u64,
    warned: bool,
}

impl Mark {
    /// The counter has risen to `used`. Whether it has just come near its limit.
    pub fn rose(&mut self, used: u64, max: u64) -> bool {
        self.high = self.high.max(used);
        is_near(used, max) && !std::mem::replace(&mut self.warned, true)
    }

    /// The counter has fallen to `used`.
    pub fn fell(&mut self, used: u64, max: u64) {
        if self.warned && is_calm(used, max) {
            self.warned = false;
        }
    }

    /// The highest that the counter has been.
    pub fn high(&self) -> u64 {
        self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_warns_again_only_after_the_use_has_fallen_far() {
        let mut mark = Mark::default();
        assert!(!mark.rose(79, 100));
        assert!(mark.rose(80, 100) && !mark.rose(100, 100));
        mark.fell(60, 100);
        assert!(!mark.rose(90, 100));
        mark.fell(59, 100);
        assert!(mark.rose(80, 100));
        assert_eq!(mark.high(), 100);
    }

    #[test]
    fn a_limit_of_nothing_warns_of_nothing() {
        assert!(!Mark::default().rose(0, 0));
    }
}
