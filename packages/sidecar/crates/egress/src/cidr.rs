//! Prefixes of addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A prefix of addresses in canonical form: the bits after the length are zero, and an IPv4-mapped
/// prefix is the IPv4 prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cidr {
    base: IpAddr,
    length: u8,
}

impl Cidr {
    /// Returns the prefix of `length` bits that contains an address. Returns `None` if the family
    /// has shorter addresses.
    pub fn covering(address: IpAddr, length: usize) -> Option<Self> {
        let (address, length) = match address {
            IpAddr::V6(long) => match long.to_ipv4_mapped() {
                Some(inside) if length >= 96 => (IpAddr::V4(inside), length - 96),
                _ => (address, length),
            },
            IpAddr::V4(_) => (address, length),
        };
        let length = u8::try_from(length).ok().filter(|length| *length <= width(address))?;
        let kept = mask(length);
        let base = match address {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from_bits(((left(address) & kept) >> 96) as u32)),
            IpAddr::V6(long) => IpAddr::V6(Ipv6Addr::from_bits(long.to_bits() & kept)),
        };
        Some(Self { base, length })
    }

    /// Returns the prefix that contains one address only.
    pub fn of(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self { base: address, length: width(address) }
    }

    /// Returns the first address.
    pub fn base(&self) -> IpAddr {
        self.base
    }

    /// Returns the number of bits that all addresses share.
    pub fn length(&self) -> u8 {
        self.length
    }

    /// Returns whether the prefix contains one address only.
    pub fn is_single(&self) -> bool {
        self.length == width(self.base)
    }

    /// Returns whether the prefix contains an address.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.covers(&Self::of(address))
    }

    /// Returns whether the prefix contains all addresses of another prefix.
    pub fn covers(&self, other: &Self) -> bool {
        self.base.is_ipv4() == other.base.is_ipv4()
            && self.length <= other.length
            && left(other.base) & mask(self.length) == left(self.base)
    }

    /// Returns the first and the last address as numbers, with the bits of IPv4 addresses at the
    /// left.
    pub(crate) fn bounds(&self) -> (u128, u128) {
        let first = left(self.base);
        // The numbers of IPv4 addresses end with 96 bits that are zero.
        let host = if self.base.is_ipv4() { !mask(self.length) & mask(32) } else { !mask(self.length) };
        (first, first | host)
    }
}

/// Returns the number of an address, with the bits of an IPv4 address at the left.
pub(crate) fn left(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(short) => u128::from(short.to_bits()) << 96,
        IpAddr::V6(long) => long.to_bits(),
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn mask(length: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0)
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(base: &str, length: usize) -> Cidr {
        Cidr::covering(base.parse().unwrap(), length).unwrap()
    }

    #[test]
    fn a_prefix_has_one_form() {
        assert_eq!(cidr("10.1.2.3", 8).to_string(), "10.0.0.0/8");
        assert_eq!(cidr("::ffff:10.1.2.3", 104), cidr("10.0.0.0", 8));
        assert_eq!(cidr("::ffff:10.1.2.3", 128), Cidr::of("10.1.2.3".parse().unwrap()));
        assert_eq!(cidr("::ffff:10.1.2.3", 95).to_string(), "::fffe:0:0/95");
        assert_eq!(cidr("2001:db8::1", 32).to_string(), "2001:db8::/32");
        assert_eq!(cidr("255.255.255.255", 0).to_string(), "0.0.0.0/0");
        assert_eq!(Cidr::covering("10.0.0.0".parse().unwrap(), 33), None);
        assert_eq!(Cidr::covering("::".parse().unwrap(), 129), None);
    }

    #[test]
    fn a_prefix_contains_addresses_of_its_family() {
        let contains = |base: &str, length, address: &str| cidr(base, length).contains(address.parse().unwrap());
        assert!(contains("10.0.0.0", 8, "10.255.255.255") && contains("10.0.0.0", 8, "::ffff:10.0.0.1"));
        assert!(!contains("10.0.0.0", 8, "11.0.0.0") && !contains("::", 0, "10.0.0.0") && !contains("0.0.0.0", 0, "::"));
        assert!(contains("0.0.0.0", 0, "255.255.255.255") && contains("::", 0, "ffff::"));
        assert_eq!(cidr("10.0.0.0", 8).bounds(), (0x0a00_0000 << 96, 0x0aff_ffff << 96));
        assert_eq!(cidr("::", 0).bounds(), (0, u128::MAX));
        assert_eq!(cidr("0.0.0.0", 0).bounds(), (0, 0xffff_ffff << 96));
    }
}
