//! The guest's monotonic clock: the host machine's clock with an offset, so that the guest's clock
//! continues from its value in the snapshot.
//!
//! The time between snapshot and restore does not exist for the guest, and neither does the time in
//! which a runtime is frozen. Timers keep their remaining time, and no measured duration jumps. The
//! wall clock is the host machine's clock, so the guest's wall clock jumps forward. Linux treats
//! its clocks in this way after a machine was suspended. Next: `snapshot/mod.rs`.

use coldframe_sys as sys;

/// A guest's monotonic clock. The default is the host machine's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// The guest's clock minus the host machine's clock, in nanoseconds modulo 2^64, because the
    /// host machine may have restarted.
    ahead: u64,
}

impl Clock {
    /// Returns a clock whose present time is `guest_ns`.
    pub(crate) fn showing(guest_ns: u64) -> Self {
        Self { ahead: guest_ns.wrapping_sub(sys::monotonic_ns()) }
    }

    /// Returns this clock with its time set back by `ns`.
    pub(crate) fn behind(self, ns: u64) -> Self {
        Self { ahead: self.ahead.wrapping_sub(ns) }
    }

    /// Returns this clock with its time set forward by `ns`.
    pub(crate) fn ahead_by(self, ns: u64) -> Self {
        Self { ahead: self.ahead.wrapping_add(ns) }
    }

    /// Returns the guest's time.
    pub(crate) fn now(self) -> u64 {
        sys::monotonic_ns().wrapping_add(self.ahead)
    }

    /// Converts a time of the guest to the host machine's clock. A past time becomes the present
    /// time. A time beyond the range becomes the largest time.
    pub(crate) fn host(self, guest_ns: u64) -> u64 {
        sys::monotonic_ns().saturating_add(guest_ns.saturating_sub(self.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continues_from_its_value_on_a_machine_with_another_uptime() {
        for shown in [5, sys::monotonic_ns() + 3_600_000_000_000, u64::MAX / 4] {
            let clock = Clock::showing(shown);
            let now = clock.now();
            assert!((shown..shown + 10_000_000_000).contains(&now), "{shown} {now}");
            let later = clock.host(now + 1_000_000_000).checked_sub(sys::monotonic_ns()).expect("a time in the future");
            assert!((1..=1_000_000_000).contains(&later), "{later}");
        }
    }

    #[test]
    fn a_past_time_is_due() {
        let clock = Clock::showing(1_000);
        assert!(clock.host(0) <= sys::monotonic_ns());
    }

    #[test]
    fn the_largest_time_is_not_due() {
        for clock in [Clock::default(), Clock::showing(1_000)] {
            assert!(clock.host(u64::MAX) > sys::monotonic_ns() + (1 << 62));
        }
    }
}
