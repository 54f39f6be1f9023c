//! The special ranges of addresses, as tables.
//!
//! The tables follow IANA's registries of special addresses, and add ranges and addresses of cloud
//! providers. IPv6 has one rule more: an address outside `2000::/3` is not public. Next:
//! `address.rs`.

use crate::cidr::Cidr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The reason why an address is not public, or [`AddressKind::Public`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressKind {
    /// A global unicast address in no special range.
    Public,
    /// `0.0.0.0/8` and `::`: this host.
    Unspecified,
    /// `127.0.0.0/8` and `::1`.
    Loopback,
    /// Private networks of IPv4.
    Private,
    /// `100.64.0.0/10`: networks of providers.
    Shared,
    /// `169.254.0.0/16` and `fe80::/10`.
    LinkLocal,
    /// A service of a cloud provider for its machines: metadata, credentials, DNS, time.
    Metadata,
    /// `192.0.0.0/24` and the rest of `2001::/23`: assignments of protocols.
    Protocol,
    /// Addresses for examples.
    Documentation,
    /// `198.18.0.0/15`: measurements of network devices.
    Benchmark,
    /// The servers of private reverse zones, AS112.
    As112,
    /// `192.52.193.0/24`: relays of multicast.
    Amt,
    /// `2002::/16`, and `192.88.99.0/24` of its relays.
    SixToFour,
    /// Multicast.
    Multicast,
    /// `240.0.0.0/4`: reserved.
    Reserved,
    /// `255.255.255.255`.
    Broadcast,
    /// `::/96`: the former form of an IPv4 address in IPv6.
    Compatible,
    /// An IPv4 address behind NAT64, if the host machine has no such prefix, or the inner address
    /// is not public.
    Nat64,
    /// `2001::/32`: tunnels through UDP.
    Teredo,
    /// An interface identifier of a tunnel with an IPv4 address.
    Isatap,
    /// `100::/64`: discarded packets.
    Discard,
    /// `fc00::/7`.
    UniqueLocal,
    /// `fec0::/10`.
    SiteLocal,
    /// `5f00::/16`: segment routing.
    SegmentRouting,
    /// Another IPv6 address outside `2000::/3`.
    NotGlobal,
    /// An address of the host machine.
    OwnAddress,
    /// An address in a subnet of the host machine.
    OwnSubnet,
    /// A port of the host machine on which Coldframe listens.
    OwnPort,
    /// An IPv6 address with a zone.
    Zone,
}

impl AddressKind {
    /// Returns the stable text of the reason.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "shared",
            Self::LinkLocal => "link-local",
            Self::Metadata => "metadata",
            Self::Protocol => "protocol",
            Self::Documentation => "documentation",
            Self::Benchmark => "benchmark",
            Self::As112 => "as112",
            Self::Amt => "amt",
            Self::SixToFour => "6to4",
            Self::Multicast => "multicast",
            Self::Reserved => "reserved",
            Self::Broadcast => "broadcast",
            Self::Compatible => "compatible",
            Self::Nat64 => "nat64",
            Self::Teredo => "teredo",
            Self::Isatap => "isatap",
            Self::Discard => "discard",
            Self::UniqueLocal => "unique-local",
            Self::SiteLocal => "site-local",
            Self::SegmentRouting => "segment-routing",
            Self::NotGlobal => "not-global",
            Self::OwnAddress => "own-address",
            Self::OwnSubnet => "own-subnet",
            Self::OwnPort => "own-port",
            Self::Zone => "zone",
        }
    }

    /// Returns whether a policy may open an address of this kind only by the exact address and the
    /// exact port.
    pub fn needs_exact_entry(self) -> bool {
        matches!(self, Self::Metadata | Self::OwnPort)
    }
}

/// The addresses of services that cloud providers offer to their machines. Credentials of the host
/// machine are among the replies.
pub(crate) const METADATA: [IpAddr; 17] = [
    // Most providers, then AWS: DNS, time, ECS, EKS. Then Tencent and Scaleway.
    v4(169, 254, 169, 254),
    v4(169, 254, 169, 253),
    v4(169, 254, 169, 123),
    v4(169, 254, 170, 2),
    v4(169, 254, 170, 23),
    v4(169, 254, 0, 23),
    v4(169, 254, 42, 42),
    // Alibaba, Oracle, and the public address of Azure's wire server.
    v4(100, 100, 100, 200),
    v4(192, 0, 0, 192),
    v4(168, 63, 129, 16),
    // AWS: metadata, DNS, time, EKS. Then Google, Scaleway and OpenStack.
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254]),
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x253]),
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x123]),
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23]),
    v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254]),
    v6([0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42]),
    v6([0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe]),
];

/// The special ranges of IPv4: first address, length of the prefix, kind. The first match counts.
const RANGES_V4: [(Ipv4Addr, u8, AddressKind); 20] = [
    (Ipv4Addr::new(255, 255, 255, 255), 32, AddressKind::Broadcast),
    (Ipv4Addr::new(0, 0, 0, 0), 8, AddressKind::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, AddressKind::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, AddressKind::Shared),
    (Ipv4Addr::new(127, 0, 0, 0), 8, AddressKind::Loopback),
    (Ipv4Addr::new(169, 254, 0, 0), 16, AddressKind::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, AddressKind::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, AddressKind::Protocol),
    (Ipv4Addr::new(192, 0, 2, 0), 24, AddressKind::Documentation),
    (Ipv4Addr::new(192, 31, 196, 0), 24, AddressKind::As112),
    (Ipv4Addr::new(192, 52, 193, 0), 24, AddressKind::Amt),
    (Ipv4Addr::new(192, 88, 99, 0), 24, AddressKind::SixToFour),
    (Ipv4Addr::new(192, 168, 0, 0), 16, AddressKind::Private),
    (Ipv4Addr::new(192, 175, 48, 0), 24, AddressKind::As112),
    (Ipv4Addr::new(198, 18, 0, 0), 15, AddressKind::Benchmark),
    (Ipv4Addr::new(198, 51, 100, 0), 24, AddressKind::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, AddressKind::Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, AddressKind::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, AddressKind::Reserved),
    (Ipv4Addr::new(168, 63, 129, 16), 32, AddressKind::Metadata),
];

/// The special ranges of IPv6, without the mapped addresses, which are IPv4 addresses.
const RANGES_V6: [(Ipv6Addr, u8, AddressKind); 22] = [
    (long([0, 0, 0, 0, 0, 0, 0, 0]), 128, AddressKind::Unspecified),
    (long([0, 0, 0, 0, 0, 0, 0, 1]), 128, AddressKind::Loopback),
    (long([0, 0, 0, 0, 0, 0, 0, 0]), 96, AddressKind::Compatible),
    (long([0x64, 0xff9b, 0, 0, 0, 0, 0, 0]), 96, AddressKind::Nat64),
    (long([0x64, 0xff9b, 1, 0, 0, 0, 0, 0]), 48, AddressKind::Nat64),
    (long([0x100, 0, 0, 0, 0, 0, 0, 0]), 63, AddressKind::Discard),
    (long([0x2001, 0, 0, 0, 0, 0, 0, 0]), 32, AddressKind::Teredo),
    (long([0x2001, 2, 0, 0, 0, 0, 0, 0]), 48, AddressKind::Benchmark),
    (long([0x2001, 4, 0x112, 0, 0, 0, 0, 0]), 48, AddressKind::As112),
    (long([0x2001, 0, 0, 0, 0, 0, 0, 0]), 23, AddressKind::Protocol),
    (long([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]), 32, AddressKind::Documentation),
    (long([0x2002, 0, 0, 0, 0, 0, 0, 0]), 16, AddressKind::SixToFour),
    (long([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0]), 48, AddressKind::As112),
    (long([0x3fff, 0, 0, 0, 0, 0, 0, 0]), 20, AddressKind::Documentation),
    (long([0x5f00, 0, 0, 0, 0, 0, 0, 0]), 16, AddressKind::SegmentRouting),
    (long([0xfc00, 0, 0, 0, 0, 0, 0, 0]), 7, AddressKind::UniqueLocal),
    (long([0xfe80, 0, 0, 0, 0, 0, 0, 0]), 10, AddressKind::LinkLocal),
    (long([0xfec0, 0, 0, 0, 0, 0, 0, 0]), 10, AddressKind::SiteLocal),
    (long([0xff00, 0, 0, 0, 0, 0, 0, 0]), 8, AddressKind::Multicast),
    // The space outside 2000::/3.
    (long([0, 0, 0, 0, 0, 0, 0, 0]), 3, AddressKind::NotGlobal),
    (long([0x4000, 0, 0, 0, 0, 0, 0, 0]), 2, AddressKind::NotGlobal),
    (long([0x8000, 0, 0, 0, 0, 0, 0, 0]), 1, AddressKind::NotGlobal),
];

const fn v4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

const fn v6(groups: [u16; 8]) -> IpAddr {
    IpAddr::V6(long(groups))
}

const fn long(groups: [u16; 8]) -> Ipv6Addr {
    let [a, b, c, d, e, f, g, h] = groups;
    Ipv6Addr::new(a, b, c, d, e, f, g, h)
}

/// Returns whether a canonical address belongs to a service of a cloud provider.
pub(crate) fn is_metadata(address: IpAddr) -> bool {
    METADATA.contains(&address)
}

/// Returns the kind of an IPv4 address by its range.
pub(crate) fn kind_v4(address: Ipv4Addr) -> AddressKind {
    if is_metadata(address.into()) {
        return AddressKind::Metadata;
    }
    let bits = address.to_bits();
    let is_inside = |base: Ipv4Addr, length: u8| (bits ^ base.to_bits()) >> (32 - u32::from(length)) == 0;
    RANGES_V4.iter().find(|(base, length, _)| is_inside(*base, *length)).map_or(AddressKind::Public, |(_, _, kind)| *kind)
}

/// Returns the kind of an IPv6 address by its range. The address is not mapped.
pub(crate) fn kind_v6(address: Ipv6Addr) -> AddressKind {
    if is_metadata(address.into()) {
        return AddressKind::Metadata;
    }
    let bits = address.to_bits();
    let is_inside = |base: Ipv6Addr, length: u8| (bits ^ base.to_bits()) >> (128 - u32::from(length)) == 0;
    RANGES_V6.iter().find(|(base, length, _)| is_inside(*base, *length)).map_or(AddressKind::Public, |(_, _, kind)| *kind)
}

/// Returns all special ranges.
fn ranges() -> impl Iterator<Item = Cidr> {
    let short = RANGES_V4.iter().map(|(base, length, _)| (IpAddr::V4(*base), *length));
    let long = RANGES_V6.iter().map(|(base, length, _)| (IpAddr::V6(*base), *length));
    short.chain(long).filter_map(|(base, length)| Cidr::covering(base, usize::from(length)))
}

/// Returns whether a prefix contains an address of a special range.
pub(crate) fn overlaps_special(prefix: Cidr) -> bool {
    ranges().any(|range| range.covers(&prefix) || prefix.covers(&range))
}

/// Returns whether all addresses of a prefix are in one special range.
pub(crate) fn is_within_special(prefix: Cidr) -> bool {
    ranges().any(|range| range.covers(&prefix))
}

/// Returns the first address of a cloud provider's service in a prefix.
pub(crate) fn metadata_in(prefix: Cidr) -> Option<IpAddr> {
    METADATA.into_iter().find(|address| prefix.contains(*address))
}
