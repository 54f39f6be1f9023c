//! The classifier of addresses.
//!
//! [`HostNetwork::kind_of`] returns [`AddressKind::Public`] or the reason why an address is not
//! public. Some IPv6 addresses contain an IPv4 address, which is classified too. A mapped address
//! is its IPv4 address, and a tunnel to a metadata service has the kind of the service. Next:
//! `host_network.rs`, the addresses of the host machine.

use crate::host_network::HostNetwork;
use crate::registry::{self, AddressKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

impl HostNetwork {
    /// Returns the kind of the address of a peer. The kind of an own port needs the port.
    pub fn kind_of_peer(&self, peer: SocketAddr) -> AddressKind {
        if matches!(peer, SocketAddr::V6(long) if long.scope_id() != 0) {
            return AddressKind::Zone;
        }
        let address = peer.ip().to_canonical();
        let kind = self.kind_of(address);
        let is_own = matches!(kind, AddressKind::Loopback | AddressKind::Unspecified) || self.is_own(address);
        if is_own && self.listens_on(peer.port()) && kind != AddressKind::Metadata { AddressKind::OwnPort } else { kind }
    }

    /// Returns the kind of an address.
    pub fn kind_of(&self, address: IpAddr) -> AddressKind {
        let address = address.to_canonical();
        let kind = match address {
            IpAddr::V4(short) => registry::kind_v4(short),
            IpAddr::V6(long) => self.kind_of_long(long),
        };
        match kind {
            AddressKind::Public if self.is_own(address) => AddressKind::OwnAddress,
            AddressKind::Public if self.is_in_own_subnet(address) => AddressKind::OwnSubnet,
            kind => kind,
        }
    }

    fn kind_of_long(&self, address: Ipv6Addr) -> AddressKind {
        let bits = address.to_bits();
        if let Some(prefix) = self.nat64_of(address) {
            let inner = prefix.inner(address).map(|inner| self.kind_of(inner.into()));
            return match inner {
                Some(kind @ (AddressKind::Public | AddressKind::Metadata)) => kind,
                _ => AddressKind::Nat64,
            };
        }
        let kind = registry::kind_v6(address);
        let is_tunnel = |inner: &[u32]| inner.iter().any(|bits| registry::is_metadata(Ipv4Addr::from_bits(*bits).into()));
        let word = |shift: u32| (bits >> shift) as u32;
        let leads_to_metadata = match kind {
            AddressKind::Compatible => is_tunnel(&[word(0)]),
            // The layouts of prefixes with 96, 48, 56 and 64 bits.
            AddressKind::Nat64 => is_tunnel(&[word(0), skipping(bits, 16), skipping(bits, 8), skipping(bits, 0)]),
            AddressKind::SixToFour => is_tunnel(&[word(80)]),
            // The server of the tunnel, and the inverted address of the client.
            AddressKind::Teredo => is_tunnel(&[word(64), !word(0)]),
            _ if is_isatap(bits) => is_tunnel(&[word(0)]),
            _ => false,
        };
        match kind {
            _ if leads_to_metadata => AddressKind::Metadata,
            AddressKind::Public if is_isatap(bits) => AddressKind::Isatap,
            kind => kind,
        }
    }
}

/// Returns whether the interface identifier is `::0:5efe:a.b.c.d`, also with the bits for global
/// and for group addresses.
fn is_isatap(bits: u128) -> bool {
    (bits >> 32) as u32 & !0x0300_0000 == 0x5efe
}

/// Returns 32 bits that begin `before` bits before bit 64 from the left, without bits 64 to 71
/// (RFC 6052).
fn skipping(bits: u128, before: u32) -> u32 {
    let above = (bits >> 64) as u64 & ((1 << before) - 1);
    let below = (bits << 72 >> (96 + before)) as u64;
    (above << (32 - before) | below) as u32
}

/// A prefix with which the network of the host machine embeds IPv4 addresses (RFC 6052).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nat64 {
    base: u128,
    length: u32,
}

impl Nat64 {
    /// The lengths that RFC 6052 allows.
    pub const LENGTHS: [u8; 6] = [32, 40, 48, 56, 64, 96];

    /// Returns the prefix. Returns `None` if the length is not in [`Self::LENGTHS`].
    pub fn new(base: Ipv6Addr, length: u8) -> Option<Self> {
        let length = Self::LENGTHS.contains(&length).then_some(u32::from(length))?;
        Some(Self { base: base.to_bits() >> (128 - length), length })
    }

    /// Returns the prefix of an address of the name `ipv4only.arpa` (RFC 7050). Returns `None` if
    /// no well-known IPv4 address is inside.
    pub fn discovered(address: Ipv6Addr) -> Option<Self> {
        let prefixes = Self::LENGTHS.into_iter().rev().filter_map(|length| Self::new(address, length));
        let well_known = [Ipv4Addr::new(192, 0, 0, 170), Ipv4Addr::new(192, 0, 0, 171)];
        prefixes.into_iter().find(|prefix| prefix.inner(address).is_some_and(|inner| well_known.contains(&inner)))
    }

    pub(crate) fn contains(&self, address: Ipv6Addr) -> bool {
        address.to_bits() >> (128 - self.length) == self.base
    }

    /// Returns the IPv4 address inside an address. Returns `None` if bits 64 to 71 are not zero,
    /// which no translator accepts.
    fn inner(&self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        let bits = address.to_bits();
        if self.length == 96 {
            return Some(Ipv4Addr::from_bits(bits as u32));
        }
        if (bits >> 56) as u8 != 0 {
            return None;
        }
        let inner = match self.length {
            32 => (bits >> 64) as u32,
            length => skipping(bits, 64 - length),
        };
        Some(Ipv4Addr::from_bits(inner))
    }
}
