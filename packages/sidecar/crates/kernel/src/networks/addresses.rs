//! The addresses of members. Each membership has a number, which determines an IPv4 and an IPv6
//! address. No real network uses these ranges: 198.18.0.0/15 is reserved (RFC 2544), and the IPv6
//! range is a unique local prefix (RFC 4193). Next: `rules.rs`.

use coldframe_panics::process::Mutex;
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The first address of 198.18.0.0/15.
const V4_BASE: u32 = u32::from_be_bytes([198, 18, 0, 0]);
/// The highest number of a membership. The first and the last address of the range are not used.
const MAX_NUMBER: u32 = (1 << 17) - 2;
/// The prefix of the IPv6 addresses, whose last 64 bits are the number.
const V6_PREFIX: u64 = 0xfd5c_93e1_7a04_0000;

/// The maximum number of networks that a runtime is a member of.
pub(crate) const MAX_MEMBERSHIPS: usize = 16;

/// Assigns the numbers of the memberships of one embedder.
#[derive(Debug, Default)]
pub struct AddressPool {
    state: Mutex<Numbers>,
}

#[derive(Debug, Default)]
struct Numbers {
    last: u32,
    used: HashSet<u32>,
}

impl AddressPool {
    /// Returns a free number. Numbers ascend, so that an address is used again as late as possible.
    pub(super) fn take(&self) -> Option<u32> {
        let mut state = self.state.lock();
        if state.used.len() >= MAX_NUMBER as usize {
            return None;
        }
        loop {
            state.last = state.last % MAX_NUMBER + 1;
            let number = state.last;
            if state.used.insert(number) {
                return Some(number);
            }
        }
    }

    pub(super) fn free(&self, number: u32) {
        self.state.lock().used.remove(&number);
    }
}

/// Returns the addresses of a membership.
pub(crate) fn addresses_of(number: u32) -> (Ipv4Addr, Ipv6Addr) {
    let v6 = (u128::from(V6_PREFIX) << 64) | u128::from(number);
    (Ipv4Addr::from_bits(V4_BASE + number), Ipv6Addr::from_bits(v6))
}

/// Returns the number of the membership with this address.
pub(crate) fn number_of(ip: IpAddr) -> Option<u32> {
    let number = match ip.to_canonical() {
        IpAddr::V4(ip) => ip.to_bits().checked_sub(V4_BASE)?,
        IpAddr::V6(ip) if (ip.to_bits() >> 64) == u128::from(V6_PREFIX) => {
            u32::try_from(ip.to_bits() & u128::from(u64::MAX)).ok()?
        }
        IpAddr::V6(_) => return None,
    };
    (1..=MAX_NUMBER).contains(&number).then_some(number)
}

/// Returns whether the address is in the ranges of members.
pub(crate) fn is_member_address(ip: IpAddr) -> bool {
    number_of(ip).is_some()
}
