//! The addresses of a runtime's names. Next: `exchange.rs`.
//!
//! A runtime has its own cache, so that no runtime learns from the time of a look-up which names
//! another runtime uses. An entry counts for the policy that judged its addresses. A name without
//! an address has an entry too, for the time that the response states. If no server replies, an
//! expired entry with addresses is used for a while. Time is a parameter.

use coldframe_egress::{Family, Generation, Name, PIN_TIMES, Resolved, ResponseFault};
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The time for which an expired entry is used while no server replies.
pub const STALE: Duration = Duration::from_secs(30);
/// The longest time for which a name has no address. A name that was just made appears soon.
pub const MAX_NEGATIVE: Duration = Duration::from_secs(60);
/// The largest number of entries.
const MAX_ENTRIES: usize = 1_024;

/// The cache of a runtime.
#[derive(Debug, Default)]
pub struct Cache(HashMap<(Name, Family), Entry>);

#[derive(Debug)]
struct Entry {
    /// The addresses, or the reason why the name has none.
    found: Result<Vec<IpAddr>, ResponseFault>,
    expires: Instant,
    ends: Instant,
    generation: Generation,
}

impl Cache {
    /// Stores the addresses of a response.
    pub fn store(&mut self, name: &Name, family: Family, resolved: &Resolved, generation: Generation, now: Instant) {
        let expires = now + resolved.ttl.min(PIN_TIMES.1);
        // The pin of the name is fresh for at least the shortest time of pins.
        let ends = now + resolved.ttl.clamp(PIN_TIMES.0, PIN_TIMES.1) + STALE;
        self.insert(name, family, Entry { found: Ok(resolved.addresses.clone()), expires, ends, generation }, now);
    }

    /// Stores that a name has no address. `ttl` is the time that the response states. Without a
    /// time, nothing is stored.
    pub fn store_negative(
        &mut self,
        name: &Name,
        family: Family,
        fault: ResponseFault,
        ttl: Option<Duration>,
        generation: Generation,
        now: Instant,
    ) {
        let Some(ttl) = ttl else {
            self.0.remove(&(name.clone(), family));
            return;
        };
        let expires = now + ttl.min(MAX_NEGATIVE);
        self.insert(name, family, Entry { found: Err(fault), expires, ends: expires, generation }, now);
    }

    fn insert(&mut self, name: &Name, family: Family, entry: Entry, now: Instant) {
        if self.0.len() >= MAX_ENTRIES {
            self.0.retain(|_, entry| entry.ends > now);
        }
        if self.0.len() >= MAX_ENTRIES {
            self.0.clear();
        }
        self.0.insert((name.clone(), family), entry);
    }

    /// Returns the addresses of an entry that has not expired and the rest of its time, or the
    /// reason why the name has no address.
    pub fn fresh(
        &self,
        name: &Name,
        family: Family,
        generation: Generation,
        now: Instant,
    ) -> Option<Result<(Vec<IpAddr>, Duration), ResponseFault>> {
        let entry = self.0.get(&(name.clone(), family)).filter(|entry| entry.generation == generation && entry.expires > now)?;
        Some(entry.found.clone().map(|addresses| (addresses, entry.expires.saturating_duration_since(now))))
    }

    /// Returns the addresses of an entry that has expired, or not, while no server replies.
    pub fn stale(&self, name: &Name, family: Family, generation: Generation, now: Instant) -> Option<Vec<IpAddr>> {
        let entry = self.0.get(&(name.clone(), family)).filter(|entry| entry.generation == generation && entry.ends > now)?;
        entry.found.clone().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_fresh_until_its_time_ends_and_stale_for_half_a_minute() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let name = Name::parse("a.example").unwrap();
        let generation = Generation::default();
        let mut cache = Cache::default();
        let addresses = vec!["192.0.2.1".parse().unwrap()];
        let resolved =
            |ttl| Resolved { addresses: addresses.clone(), ttl: Duration::from_secs(ttl), canonical_name: name.clone() };
        cache.store(&name, Family::V4, &resolved(60), generation, start);
        let fresh = |cache: &Cache, seconds| cache.fresh(&name, Family::V4, generation, at(seconds)).is_some();
        let stale = |cache: &Cache, seconds| cache.stale(&name, Family::V4, generation, at(seconds)).is_some();
        assert!(fresh(&cache, 59) && !fresh(&cache, 60) && stale(&cache, 89) && !stale(&cache, 90));
        assert!(cache.fresh(&name, Family::V6, generation, start).is_none());
        cache.store(&name, Family::V4, &resolved(0), generation, start);
        assert!(!fresh(&cache, 0) && stale(&cache, 34) && !stale(&cache, 35));
        let negative = |cache: &mut Cache, ttl: Option<u64>| {
            let ttl = ttl.map(Duration::from_secs);
            cache.store_negative(&name, Family::V4, ResponseFault::NoName, ttl, generation, start);
        };
        negative(&mut cache, Some(3_600));
        assert_eq!(cache.fresh(&name, Family::V4, generation, at(59)), Some(Err(ResponseFault::NoName)));
        assert!(!fresh(&cache, 60) && !stale(&cache, 1), "a missing name is never stale");
        negative(&mut cache, None);
        assert!(!fresh(&cache, 0), "the response states no time");
        for number in 0..5_000 {
            let name = Name::parse(&format!("n{number}.example")).unwrap();
            cache.store(&name, Family::V4, &resolved(60), generation, start);
        }
        assert!(cache.0.len() <= MAX_ENTRIES);
    }
}
