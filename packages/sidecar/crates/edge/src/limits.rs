//! The limits of a runtime that need a clock: the rate of bytes, and back-off after many failures.
//! Time is a parameter. Next: `flow/mod.rs`.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The smallest burst of a rate of bytes. A smaller burst would make each read a wait.
const LEAST_BURST: u64 = 64 << 10;
/// The burst of a rate of bytes, as a part of a second.
const BURST_PART: u64 = 4;
/// A flow waits for at least as many bytes, or for all bytes that it needs.
const LEAST_GRANT: u64 = 16 << 10;
/// The longest wait of a flow before it tries again.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
const NANOSECONDS: u128 = 1_000_000_000;

/// The direction to the peer, as an index.
pub const UP: usize = 0;
/// The direction from the peer, as an index.
pub const DOWN: usize = 1;

/// The number of peers with failed connections from which on a runtime backs off.
pub const MAX_FAILED_PEERS: usize = 100;
/// The time in which failed peers are counted.
pub const FAILURES_WINDOW: Duration = Duration::from_secs(60);

/// The default of [`Times::connect`], in seconds.
const CONNECT_SECONDS: u64 = 10;
/// The default of [`Times::handshake`], in seconds.
const HANDSHAKE_SECONDS: u64 = 10;

/// The longest times of the first steps of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The time until a connection is established, with the lookup and the response of a proxy.
    pub connect: Duration,
    /// The time of a client's handshake of TLS over a connection, from the hand-over of the socket
    /// to the session.
    pub handshake: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self { connect: Duration::from_secs(CONNECT_SECONDS), handshake: Duration::from_secs(HANDSHAKE_SECONDS) }
    }
}

/// The failures of one runtime that are reported without a wait.
pub const FAILURES_BURST: u32 = 200;
/// The time between two later failures of one runtime.
pub const FAILURE_INTERVAL: Duration = Duration::from_millis(5);
/// The largest number of refused connections, and of failed look-ups, of one runtime that wait for
/// their report.
pub const MAX_REFUSED: usize = 1_000;

/// The pace of reports of failures. A program that repeats an attempt directly after its failure
/// would otherwise keep the edge, the sidecar and a worker busy without an end.
#[derive(Debug, Default)]
pub struct FailurePace {
    /// The time at which the reports would be done at one per [`FAILURE_INTERVAL`].
    done: Option<Instant>,
}

impl FailurePace {
    /// Counts a failure. Returns the time until its report.
    pub fn take(&mut self, now: Instant) -> Duration {
        let done = self.done.map_or(now, |done| done.max(now)) + FAILURE_INTERVAL;
        self.done = Some(done);
        done.saturating_duration_since(now + FAILURE_INTERVAL * FAILURES_BURST)
    }
}

/// A rate of bytes in one direction.
#[derive(Debug)]
pub struct ByteRate {
    per_second: u64,
    /// The available bytes, in billionths.
    tokens: u128,
    refilled: Instant,
}

impl ByteRate {
    /// Makes a rate with a full burst.
    pub fn new(per_second: u64, now: Instant) -> Self {
        let mut this = Self { per_second, tokens: 0, refilled: now };
        this.tokens = this.burst();
        this
    }

    /// Changes the rate.
    pub fn set(&mut self, per_second: u64, now: Instant) {
        self.refill(now);
        self.per_second = per_second;
        self.tokens = self.tokens.min(self.burst());
    }

    fn burst(&self) -> u128 {
        u128::from((self.per_second / BURST_PART).max(LEAST_BURST)) * NANOSECONDS
    }

    fn refill(&mut self, now: Instant) {
        // A nanosecond adds `per_second` billionths of a byte.
        let passed = now.saturating_duration_since(self.refilled).as_nanos();
        self.tokens = self.tokens.saturating_add(passed.saturating_mul(self.per_second.into())).min(self.burst());
        self.refilled = self.refilled.max(now);
    }

    /// Returns how many of `wanted` bytes may be moved now.
    ///
    /// # Errors
    /// Returns the time until bytes are available.
    pub fn available(&mut self, wanted: u64, now: Instant) -> Result<u64, Duration> {
        self.refill(now);
        let needed = u128::from(wanted.min(LEAST_GRANT)) * NANOSECONDS;
        if self.tokens >= needed {
            let tokens = u64::try_from(self.tokens / NANOSECONDS).unwrap_or(u64::MAX);
            return Ok(wanted.min(tokens));
        }
        Err(self.wait_for(needed))
    }

    /// Takes the bytes of one datagram, which is moved whole or not at all. `bytes` is at most
    /// [`LEAST_BURST`].
    ///
    /// # Errors
    /// Returns the time until the bytes are available. Takes nothing.
    pub fn take_whole(&mut self, bytes: u64, now: Instant) -> Result<(), Duration> {
        self.refill(now);
        let needed = u128::from(bytes.min(LEAST_BURST)) * NANOSECONDS;
        if self.tokens >= needed {
            self.take(bytes);
            return Ok(());
        }
        Err(self.wait_for(needed))
    }

    /// Returns the time until `needed` billionths of a byte are available.
    fn wait_for(&self, needed: u128) -> Duration {
        let nanoseconds = needed.saturating_sub(self.tokens).checked_div(self.per_second.into()).unwrap_or(u128::MAX);
        let wait = u64::try_from(nanoseconds).map_or(LONGEST_WAIT, Duration::from_nanos);
        wait.clamp(Duration::from_millis(1), LONGEST_WAIT)
    }

    /// Counts moved bytes.
    pub fn take(&mut self, bytes: u64) {
        self.tokens = self.tokens.saturating_sub(u128::from(bytes) * NANOSECONDS);
    }
}

/// The peers to which connections have failed. A program that repeats a connection to one peer is
/// no scan, so that only different peers count.
#[derive(Debug, Default)]
pub struct FailedPeers(HashMap<SocketAddr, Instant>);

impl FailedPeers {
    /// Counts a failed connection.
    pub fn add(&mut self, peer: SocketAddr, now: Instant) {
        if self.0.len() < MAX_FAILED_PEERS || self.0.contains_key(&peer) || !self.is_scan(now) {
            self.0.insert(peer, now);
        }
    }

    /// Returns whether new connections are refused.
    pub fn is_scan(&mut self, now: Instant) -> bool {
        if self.0.len() < MAX_FAILED_PEERS {
            return false;
        }
        self.0.retain(|_, failed| now.saturating_duration_since(*failed) < FAILURES_WINDOW);
        self.0.len() >= MAX_FAILED_PEERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_runtime_backs_off_after_failures_of_many_peers() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let peer = |port: u16| SocketAddr::from(([192, 0, 2, 1], port));
        let mut failed = FailedPeers::default();
        for _ in 0..1_000 {
            failed.add(peer(1), start);
        }
        assert!(!failed.is_scan(start), "one peer is no scan");
        (2..=100).for_each(|port| failed.add(peer(port), at(30)));
        assert!(failed.is_scan(at(59)) && !failed.is_scan(at(60)), "the first failure counts for a minute");
        (200..60_000).for_each(|port| failed.add(peer(port), at(60)));
        assert!(failed.is_scan(at(61)) && failed.0.len() == MAX_FAILED_PEERS, "the table is bounded");
        assert!(!failed.is_scan(at(200)));
    }

    #[test]
    fn failures_after_the_burst_are_reported_in_their_pace() {
        let start = Instant::now();
        let mut pace = FailurePace::default();
        (0..FAILURES_BURST).for_each(|_| assert_eq!(pace.take(start), Duration::ZERO));
        assert_eq!((pace.take(start), pace.take(start)), (FAILURE_INTERVAL, FAILURE_INTERVAL * 2));
        let later = start + FAILURE_INTERVAL * 12;
        (0..10).for_each(|_| assert_eq!(pace.take(later), Duration::ZERO, "ten intervals passed"));
        assert_eq!(pace.take(later), FAILURE_INTERVAL);
        let much_later = start + Duration::from_secs(3_600);
        (0..FAILURES_BURST).for_each(|_| assert_eq!(pace.take(much_later), Duration::ZERO));
        assert_eq!(pace.take(much_later), FAILURE_INTERVAL, "no more than a burst is saved");
    }

    #[test]
    fn a_rate_of_zero_moves_no_byte_after_the_burst() {
        let start = Instant::now();
        let mut rate = ByteRate::new(0, start);
        assert_eq!(rate.available(u64::MAX, start), Ok(LEAST_BURST));
        rate.take(LEAST_BURST);
        assert_eq!(rate.available(1, start + Duration::from_secs(1_000_000)), Err(LONGEST_WAIT));
    }

    #[test]
    fn a_datagram_is_taken_whole_or_not_at_all() {
        let start = Instant::now();
        let mut rate = ByteRate::new(1_000, start);
        assert_eq!(rate.take_whole(LEAST_BURST, start), Ok(()));
        assert_eq!(rate.take_whole(500, start), Err(Duration::from_millis(500)));
        assert_eq!(rate.take_whole(500, start + Duration::from_millis(499)), Err(Duration::from_millis(1)));
        assert_eq!(rate.take_whole(500, start + Duration::from_millis(500)), Ok(()));
        assert!(rate.take_whole(1, start + Duration::from_millis(500)).is_err());
    }

    proptest! {
        #[test]
        fn a_rate_is_never_exceeded(
            per_second in 1_u64..100_000_000,
            steps in prop::collection::vec((1_u64..300_000, 0_u64..200), 1..200),
        ) {
            let start = Instant::now();
            let (mut rate, mut moved, mut passed) = (ByteRate::new(per_second, start), 0_u64, 0_u64);
            for (wanted, milliseconds) in steps {
                passed += milliseconds;
                match rate.available(wanted, start + Duration::from_millis(passed)) {
                    Ok(granted) => {
                        prop_assert!(granted > 0 && granted <= wanted);
                        rate.take(granted);
                        moved += granted;
                    }
                    Err(wait) => {
                        let later = start + Duration::from_millis(passed) + wait;
                        prop_assert!(wait == LONGEST_WAIT || rate.available(wanted, later + Duration::from_nanos(1)).is_ok());
                        passed += u64::try_from(wait.as_millis()).unwrap() + 1;
                    }
                }
                let most = per_second * passed / 1_000 + (per_second / BURST_PART).max(LEAST_BURST) + per_second / 500 + 1;
                prop_assert!(moved <= most, "{moved} of {most}");
            }
        }
    }
}
