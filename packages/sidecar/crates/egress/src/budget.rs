//! Budgets of a runtime: connections per second, and lookups below a wildcard.
//!
//! A wildcard allows every name below its parent, so a guest could send data in the names to the
//! parent's DNS server. The budget bounds the number of different names and the bytes of the
//! queries. Time is a parameter. Next: `response.rs`.

use crate::decision::Limit;
use crate::name::Name;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The maximum number of different names below one wildcard in [`NAMES_WINDOW`].
pub const WILDCARD_NAMES: usize = 100;
/// The time in which the different names are counted.
pub const NAMES_WINDOW: Duration = Duration::from_secs(60);
/// The maximum number of bytes of queries below one wildcard in an hour.
pub const WILDCARD_BYTES: u32 = 64 << 10;
/// The bytes of a query besides its name: type and class.
const QUERY_BYTES: usize = 4;
const SLOT: Duration = Duration::from_secs(60);
/// The slots of an hour, and the slot that has begun.
const SLOTS: usize = 61;

/// A bucket of tokens that is refilled at a constant rate.
#[derive(Debug, Clone)]
pub struct TokenBucket {
    per_second: u32,
    burst: u32,
    /// The tokens, in billionths.
    tokens: u128,
    refilled: Instant,
}

const BILLION: u128 = 1_000_000_000;

impl TokenBucket {
    /// Makes a full bucket.
    pub fn new(per_second: u32, burst: u32, now: Instant) -> Self {
        Self { per_second, burst, tokens: u128::from(burst) * BILLION, refilled: now }
    }

    /// Takes tokens. Returns whether the bucket had enough. Otherwise no token is taken.
    pub fn take(&mut self, count: u32, now: Instant) -> bool {
        // A nanosecond adds `per_second` billionths of a token.
        let passed = now.saturating_duration_since(self.refilled).as_nanos();
        let refilled = self.tokens.saturating_add(passed.saturating_mul(self.per_second.into()));
        self.tokens = refilled.min(u128::from(self.burst) * BILLION);
        self.refilled = self.refilled.max(now);
        let needed = u128::from(count) * BILLION;
        let has_enough = self.tokens >= needed;
        if has_enough {
            self.tokens -= needed;
        }
        has_enough
    }
}

/// The lookup budgets of a runtime, by the parent of the wildcard. A budget survives an update of
/// the policy.
#[derive(Debug, Default)]
pub struct LookupBudgets {
    by_parent: HashMap<Name, WildcardBudget>,
}

#[derive(Debug)]
struct WildcardBudget {
    /// The names, each with its last query.
    names: HashMap<Name, Instant>,
    /// The bytes of each minute, in a ring.
    bytes: [u32; SLOTS],
    /// The beginning of the newest minute, and its place in the ring.
    newest: (Instant, usize),
}

impl LookupBudgets {
    /// Counts a query for a name that the wildcard `*.parent` allows. A reply from a cache needs no
    /// call.
    ///
    /// # Errors
    /// Returns the limit that the query would exceed. The query is not counted.
    pub fn take(&mut self, parent: &Name, name: &Name, now: Instant) -> Result<(), Limit> {
        if !self.by_parent.contains_key(parent) {
            self.by_parent.retain(|_, budget| budget.is_used(now));
        }
        self.by_parent.entry(parent.clone()).or_insert_with(|| WildcardBudget::new(now)).take(name, now)
    }
}

impl WildcardBudget {
    fn new(now: Instant) -> Self {
        Self { names: HashMap::new(), bytes: [0; SLOTS], newest: (now, 0) }
    }

    fn take(&mut self, name: &Name, now: Instant) -> Result<(), Limit> {
        self.advance(now);
        if !self.names.contains_key(name) && self.names.len() >= WILDCARD_NAMES {
            self.names.retain(|_, last| now.saturating_duration_since(*last) < NAMES_WINDOW);
            if self.names.len() >= WILDCARD_NAMES {
                return Err(Limit::WildcardNames);
            }
        }
        let bytes = u32::try_from(name.wire_bytes() + QUERY_BYTES).unwrap_or(u32::MAX);
        let used: u32 = self.bytes.iter().sum();
        if used.saturating_add(bytes) > WILDCARD_BYTES {
            return Err(Limit::WildcardBytes);
        }
        self.names.insert(name.clone(), now);
        if let Some(slot) = self.bytes.get_mut(self.newest.1) {
            *slot += bytes;
        }
        Ok(())
    }

    /// Empties the slots of the minutes since the newest slot.
    fn advance(&mut self, now: Instant) {
        let slots = now.saturating_duration_since(self.newest.0).as_secs() / SLOT.as_secs();
        if slots >= SLOTS as u64 {
            (self.bytes, self.newest) = ([0; SLOTS], (now, 0));
            return;
        }
        for _ in 0..slots {
            self.newest = (self.newest.0 + SLOT, (self.newest.1 + 1) % SLOTS);
            if let Some(slot) = self.bytes.get_mut(self.newest.1) {
                *slot = 0;
            }
        }
    }

    fn is_used(&mut self, now: Instant) -> bool {
        self.advance(now);
        self.bytes.iter().any(|bytes| *bytes > 0)
    }
}
