//! Names that are never looked up, regardless of their addresses.
//!
//! The names belong to the guest's own machine, to a local network, or to the reverse zones of
//! addresses that are not public. A DNS server could return any address for such a name. A resolver
//! could also append a search domain to a single label. Next: `registry.rs`.

use crate::cidr::Cidr;
use crate::name::Name;
use crate::registry;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The group of a name that is never looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpecialName {
    /// `localhost` and the names below: the guest's own machine.
    Localhost,
    /// `*.local`: multicast DNS.
    Local,
    /// `*.internal`: private networks, and `metadata.google.internal`.
    Internal,
    /// `*.home.arpa`: home networks.
    HomeArpa,
    /// A name without a dot.
    SingleLabel,
    /// A reverse name of an address that is not public.
    Reverse,
}

impl SpecialName {
    /// Returns the stable text of the group.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Localhost => "localhost",
            Self::Local => "local",
            Self::Internal => "internal",
            Self::HomeArpa => "home.arpa",
            Self::SingleLabel => "single-label",
            Self::Reverse => "reverse",
        }
    }

    /// Returns the group of a name. Returns `None` for a name that a policy may allow.
    pub fn of(name: &Name) -> Option<Self> {
        let zone = zone(name);
        if zone.is_some() {
            return zone;
        }
        if !name.as_str().contains('.') {
            return Some(Self::SingleLabel);
        }
        let reverse = reverse_prefix(name)?;
        registry::overlaps_special(reverse).then_some(Self::Reverse)
    }

    /// Returns the group that all names below `parent` have.
    pub(crate) fn of_all_below(parent: &Name) -> Option<Self> {
        zone(parent).or_else(|| {
            let reverse = reverse_prefix(parent)?;
            registry::is_within_special(reverse).then_some(Self::Reverse)
        })
    }
}

fn zone(name: &Name) -> Option<SpecialName> {
    const ZONES: [(&str, SpecialName); 5] = [
        ("localhost", SpecialName::Localhost),
        ("localhost.localdomain", SpecialName::Localhost),
        ("local", SpecialName::Local),
        ("internal", SpecialName::Internal),
        ("home.arpa", SpecialName::HomeArpa),
    ];
    ZONES.iter().find(|(zone, _)| name.is_at_or_below(zone)).map(|(_, group)| *group)
}

/// Returns the addresses whose reverse name is at or below `name`. Returns `None` for a name
/// outside the reverse zones.
fn reverse_prefix(name: &Name) -> Option<Cidr> {
    let mut labels = name.labels().rev().skip(2);
    if name.is_at_or_below("in-addr.arpa") {
        let octets: Vec<u8> = labels.map_while(|label| label.parse().ok()).take(4).collect();
        let mut bytes = [0; 4];
        bytes.iter_mut().zip(&octets).for_each(|(byte, octet)| *byte = *octet);
        return Cidr::covering(Ipv4Addr::from(bytes).into(), octets.len() * 8);
    }
    if name.is_at_or_below("ip6.arpa") {
        let (mut bits, mut length) = (0_u128, 0);
        while let Some(nibble) = labels.next().filter(|label| label.len() == 1 && length < 128) {
            let Ok(nibble) = u128::from_str_radix(nibble, 16) else { break };
            length += 4;
            bits |= nibble << (128 - length);
        }
        return Cidr::covering(Ipv6Addr::from_bits(bits).into(), length);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(text: &str) -> Option<&'static str> {
        SpecialName::of(&Name::parse(text).unwrap()).map(SpecialName::as_str)
    }

    #[test]
    fn special_names_have_a_group() {
        let cases = [
            ("localhost", "localhost"),
            ("LOCALHOST.", "localhost"),
            ("app.localhost", "localhost"),
            ("localhost.localdomain", "localhost"),
            ("printer.local", "local"),
            ("local", "local"),
            ("metadata.google.internal", "internal"),
            ("db.corp.internal", "internal"),
            ("router.home.arpa", "home.arpa"),
            ("metadata", "single-label"),
            ("com", "single-label"),
            ("1.0.0.10.in-addr.arpa", "reverse"),
            ("254.169.254.169.in-addr.arpa", "reverse"),
            ("16.129.63.168.in-addr.arpa", "reverse"),
            ("10.in-addr.arpa", "reverse"),
            ("168.192.in-addr.arpa", "reverse"),
            ("172.in-addr.arpa", "reverse"),
            ("in-addr.arpa", "reverse"),
            ("x.10.in-addr.arpa", "reverse"),
            ("8.b.d.0.1.0.0.2.ip6.arpa", "reverse"),
            ("d.f.ip6.arpa", "reverse"),
            ("1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa", "reverse"),
            ("ip6.arpa", "reverse"),
        ];
        for (text, expected) in cases {
            assert_eq!(group(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_names_have_no_group() {
        let names = [
            "example.com",
            "notlocalhost.com",
            "xlocal.example",
            "local.example.com",
            "internal.example.com",
            "home.arpa.example.com",
            "xinternal.example",
            "8.8.8.8.in-addr.arpa",
            "8.8.in-addr.arpa",
            "8.8.8.8.in-addr.arpa.example.com",
            "0.7.6.2.ip6.arpa",
        ];
        for text in names {
            assert_eq!(group(text), None, "{text}");
        }
    }

    #[test]
    fn all_names_below_a_parent_have_its_group() {
        let below = |text: &str| SpecialName::of_all_below(&Name::parse(text).unwrap()).map(SpecialName::as_str);
        assert_eq!(below("corp.internal"), Some("internal"));
        assert_eq!(below("10.in-addr.arpa"), Some("reverse"));
        assert_eq!(below("com"), None);
        assert_eq!(below("in-addr.arpa"), None);
        assert_eq!(below("172.in-addr.arpa"), None);
    }
}
