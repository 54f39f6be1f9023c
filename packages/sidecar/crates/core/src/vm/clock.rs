//! The guest's monotonic clock: the host's, moved so that it goes on where it stood when the guest was saved.
//!
//! Time in which a guest was not there does not exist for it: its timers keep what remained of them, and nothing it measures jumps. The wall
//! clock is the host's, and steps. This is what Linux does to a machine that sleeps. Next: `saved/mod.rs`.

use coldframe_sys as sys;

/// See the module. The default is the host's own clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Nanoseconds that the guest's clock is ahead of the host's. Modulo 2^64: the host may have started again since.
    ahead: u64,
}

impl Clock {
    /// A clock that shows `guest_ns` now.
    pub(crate) fn showing(guest_ns: u64) -> Self {
        Self { ahead: guest_ns.wrapping_sub(sys::monotonic_ns()) }
    }

    /// What the guest sees now.
    pub(crate) fn now(self) -> u64 {
        sys::monotonic_ns().wrapping_add(self.ahead)
    }

    /// The host's time of a moment of the guest's; the present for one that is past. A guest may name any moment, also one that never comes.
    pub(crate) fn host(self, guest_ns: u64) -> u64 {
        sys::monotonic_ns().saturating_add(guest_ns.saturating_sub(self.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_on_from_what_it_shows_on_a_machine_that_runs_for_longer_or_shorter() {
        for shown in [5, sys::monotonic_ns() + 3_600_000_000_000, u64::MAX / 4] {
            let clock = Clock::showing(shown);
            let now = clock.now();
            assert!((shown..shown + 10_000_000_000).contains(&now), "{shown} {now}");
            let later = clock.host(now + 1_000_000_000).checked_sub(sys::monotonic_ns()).expect("it is in the future");
            assert!((1..=1_000_000_000).contains(&later), "{later}");
        }
    }

    #[test]
    fn what_is_past_is_due() {
        let clock = Clock::showing(1_000);
        assert!(clock.host(0) <= sys::monotonic_ns());
    }

    #[test]
    fn what_never_comes_is_not_due() {
        for clock in [Clock::default(), Clock::showing(1_000)] {
            assert!(clock.host(u64::MAX) > sys::monotonic_ns() + (1 << 62));
        }
    }
}
