//! The pins of a runtime: the addresses that its looked-up names have.
//!
//! A guest connects to an address, and the policy has names. The pin set is the connection between
//! both: a name is pinned to the addresses of its DNS responses. Programs and snapshots keep
//! addresses longer than a DNS server allows, so an expired pin is not removed. The name is looked
//! up again, and the pin is fresh again if the address is in the new response. Time is a parameter.
//! Next: `connect.rs`.

use crate::family::Family;
use crate::name::Name;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The shortest and the longest time until a pin expires.
pub const PIN_TIMES: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(3_600));
/// The maximum number of pins of a runtime. A pin is one address of one name.
pub const MAX_PINS: usize = 4_096;
/// The maximum number of names that are pinned to one address. A check of a connection judges all
/// of these names.
pub const MAX_NAMES_PER_ADDRESS: usize = 256;
/// The share of the pins that is removed if there are too many, so that the search for the oldest
/// pins is rare.
const REMOVED: usize = MAX_PINS / 16;

/// The state of a pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinState {
    /// The pin admits connections.
    Fresh,
    /// The name must be looked up again before a connection.
    Expired,
    /// The pin has expired, and the present response for the name lacks the address.
    Withdrawn,
}

/// The pin set has no space, because connections hold the other pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more pins than {MAX_PINS}, or more names of one address than {MAX_NAMES_PER_ADDRESS}")]
pub struct PinsFull;

/// The pins of a runtime.
#[derive(Debug, Default)]
pub struct PinSet {
    names: HashMap<Name, Pinned>,
    by_address: HashMap<IpAddr, Sharers>,
    len: usize,
}

/// The pins of one name.
#[derive(Debug, Default)]
struct Pinned {
    /// The ends of the newest responses with IPv4 and with IPv6 addresses.
    response_ends: [Option<Instant>; 2],
    pins: Vec<Pin>,
}

#[derive(Debug, Clone, Copy)]
struct Pin {
    address: IpAddr,
    /// The family of the response. A response with IPv6 addresses can have a mapped address, which
    /// is an IPv4 address.
    family: Family,
    expires: Instant,
}

/// The names of one address.
#[derive(Debug, Default)]
struct Sharers {
    names: Vec<Name>,
    /// The number of connections to the address.
    holds: u32,
}

impl PinSet {
    /// Returns the number of pins.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no pin.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Pins a name to the addresses of a DNS response, which has addresses of one family or none.
    /// Pins of earlier responses stay until they expire. An expired pin whose address is not in the
    /// response is removed, unless a connection holds the address.
    ///
    /// # Errors
    /// Fails if an address could not be pinned. The other addresses are pinned.
    pub fn record(
        &mut self,
        name: &Name,
        family: Family,
        addresses: &[IpAddr],
        ttl: Duration,
        now: Instant,
    ) -> Result<(), PinsFull> {
        let expires = now + ttl.clamp(PIN_TIMES.0, PIN_TIMES.1);
        let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.to_canonical()).collect();
        let mut lost = Vec::new();
        if let Some(pinned) = self.names.get_mut(name) {
            for pin in &mut pinned.pins {
                if addresses.contains(&pin.address) {
                    pin.expires = expires;
                } else if pin.expires <= now && pin.family == family {
                    lost.push(pin.address);
                }
            }
        }
        for address in lost {
            if !self.is_held(address) {
                self.remove(name, address);
            }
        }
        let mut is_complete = true;
        for address in addresses {
            is_complete &= self.add(name, Pin { address, family, expires });
        }
        if let Some(pinned) = self.names.get_mut(name) {
            pinned.response_ends[family as usize] = Some(expires);
        }
        if is_complete { Ok(()) } else { Err(PinsFull) }
    }

    /// Adds a pin. Returns whether the pin is in the set.
    fn add(&mut self, name: &Name, pin: Pin) -> bool {
        if self.pin(name, pin.address).is_some() {
            return true;
        }
        let sharers = self.by_address.get(&pin.address).map_or(0, |sharers| sharers.names.len());
        if sharers >= MAX_NAMES_PER_ADDRESS {
            self.remove_oldest(1, |address| address == pin.address);
        } else if self.len >= MAX_PINS {
            self.remove_oldest(REMOVED, |_| true);
        }
        let sharers = self.by_address.get(&pin.address).map_or(0, |sharers| sharers.names.len());
        if sharers >= MAX_NAMES_PER_ADDRESS || self.len >= MAX_PINS {
            return false;
        }
        self.names.entry(name.clone()).or_default().pins.push(pin);
        self.by_address.entry(pin.address).or_default().names.push(name.clone());
        self.len += 1;
        true
    }

    /// Removes the pins that expire first, of addresses that no connection holds.
    fn remove_oldest(&mut self, count: usize, of: impl Fn(IpAddr) -> bool) {
        let mut found: Vec<(Instant, Name, IpAddr)> = Vec::new();
        for (name, pinned) in &self.names {
            let pins = pinned.pins.iter().filter(|pin| of(pin.address) && !self.is_held(pin.address));
            found.extend(pins.map(|pin| (pin.expires, name.clone(), pin.address)));
        }
        found.sort_unstable();
        for (_, name, address) in found.into_iter().take(count) {
            self.remove(&name, address);
        }
    }

    fn remove(&mut self, name: &Name, address: IpAddr) {
        let Some(pinned) = self.names.get_mut(name) else { return };
        let Some(place) = pinned.pins.iter().position(|pin| pin.address == address) else { return };
        pinned.pins.swap_remove(place);
        if pinned.pins.is_empty() {
            self.names.remove(name);
        }
        self.len -= 1;
        if let Some(sharers) = self.by_address.get_mut(&address) {
            sharers.names.retain(|sharer| sharer != name);
            if sharers.names.is_empty() {
                self.by_address.remove(&address);
            }
        }
    }

    fn pin(&self, name: &Name, address: IpAddr) -> Option<(&Pinned, &Pin)> {
        let pinned = self.names.get(name)?;
        Some((pinned, pinned.pins.iter().find(|pin| pin.address == address)?))
    }

    /// Returns the names that are pinned to an address, each with the state of the pin.
    pub fn names_of(&self, address: IpAddr, now: Instant) -> impl Iterator<Item = (&Name, PinState)> {
        let address = address.to_canonical();
        let names = self.by_address.get(&address).map(|sharers| &*sharers.names).unwrap_or_default();
        names.iter().filter_map(move |name| {
            let (pinned, pin) = self.pin(name, address)?;
            let has_response = pinned.response_ends[pin.family as usize].is_some_and(|ends| ends > now);
            let state = match (pin.expires > now, has_response) {
                (true, _) => PinState::Fresh,
                (false, true) => PinState::Withdrawn,
                (false, false) => PinState::Expired,
            };
            Some((name, state))
        })
    }

    /// Keeps the pins of an address while a connection to the address is open. Returns whether the
    /// address has a pin. If so, the end of the connection calls [`Self::release`].
    pub fn hold(&mut self, address: IpAddr) -> bool {
        let sharers = self.by_address.get_mut(&address.to_canonical());
        sharers.map(|sharers| sharers.holds = sharers.holds.saturating_add(1)).is_some()
    }

    /// Ends a hold.
    pub fn release(&mut self, address: IpAddr) {
        if let Some(sharers) = self.by_address.get_mut(&address.to_canonical()) {
            sharers.holds = sharers.holds.saturating_sub(1);
        }
    }

    fn is_held(&self, address: IpAddr) -> bool {
        self.by_address.get(&address).is_some_and(|sharers| sharers.holds > 0)
    }

    /// Returns whether both indexes have equal pins, for tests.
    #[cfg(test)]
    pub(crate) fn is_consistent(&self) -> bool {
        let pins = || self.names.iter().flat_map(|(name, pinned)| pinned.pins.iter().map(move |pin| (name, pin.address)));
        let shared = |(name, address): (&Name, IpAddr)| {
            self.by_address
                .get(&address)
                .is_some_and(|sharers| sharers.names.iter().filter(|sharer| *sharer == name).count() == 1)
        };
        let names: usize = self.by_address.values().map(|sharers| sharers.names.len()).sum();
        pins().count() == self.len
            && names == self.len
            && self.len <= MAX_PINS
            && pins().all(shared)
            && self.by_address.values().all(|sharers| (1..=MAX_NAMES_PER_ADDRESS).contains(&sharers.names.len()))
            && self.names.values().all(|pinned| !pinned.pins.is_empty())
    }
}
