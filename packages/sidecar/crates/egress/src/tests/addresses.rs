//! The list of addresses that are not public: each range with its first and last address, and the
//! addresses just outside.

use crate::fuzzing::is_special;
use crate::{Cidr, HostFacts, HostNetwork, Nat64};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

fn kind(text: &str) -> &'static str {
    HostNetwork::default().kind_of(text.parse().unwrap()).as_str()
}

#[test]
fn every_special_range_is_refused_and_its_neighbours_are_judged_by_themselves() {
    // First address, last address, kind, address before, its kind, address after, its kind.
    let rows = [
        ("0.0.0.0", "0.255.255.255", "unspecified", "", "", "1.0.0.0", "public"),
        ("10.0.0.0", "10.255.255.255", "private", "9.255.255.255", "public", "11.0.0.0", "public"),
        ("100.64.0.0", "100.127.255.255", "shared", "100.63.255.255", "public", "100.128.0.0", "public"),
        ("127.0.0.0", "127.255.255.255", "loopback", "126.255.255.255", "public", "128.0.0.0", "public"),
        ("169.254.0.0", "169.254.255.255", "link-local", "169.253.255.255", "public", "169.255.0.0", "public"),
        ("172.16.0.0", "172.31.255.255", "private", "172.15.255.255", "public", "172.32.0.0", "public"),
        ("192.0.0.0", "192.0.0.255", "protocol", "191.255.255.255", "public", "192.0.1.0", "public"),
        ("192.0.2.0", "192.0.2.255", "documentation", "192.0.1.255", "public", "192.0.3.0", "public"),
        ("192.31.196.0", "192.31.196.255", "as112", "192.31.195.255", "public", "192.31.197.0", "public"),
        ("192.52.193.0", "192.52.193.255", "amt", "192.52.192.255", "public", "192.52.194.0", "public"),
        ("192.88.99.0", "192.88.99.255", "6to4", "192.88.98.255", "public", "192.88.100.0", "public"),
        ("192.168.0.0", "192.168.255.255", "private", "192.167.255.255", "public", "192.169.0.0", "public"),
        ("192.175.48.0", "192.175.48.255", "as112", "192.175.47.255", "public", "192.175.49.0", "public"),
        ("198.18.0.0", "198.19.255.255", "benchmark", "198.17.255.255", "public", "198.20.0.0", "public"),
        ("198.51.100.0", "198.51.100.255", "documentation", "198.51.99.255", "public", "198.51.101.0", "public"),
        ("203.0.113.0", "203.0.113.255", "documentation", "203.0.112.255", "public", "203.0.114.0", "public"),
        ("224.0.0.0", "239.255.255.255", "multicast", "223.255.255.255", "public", "240.0.0.0", "reserved"),
        ("240.0.0.0", "255.255.255.254", "reserved", "239.255.255.255", "multicast", "255.255.255.255", "broadcast"),
        ("168.63.129.16", "168.63.129.16", "metadata", "168.63.129.15", "public", "168.63.129.17", "public"),
        ("::", "::", "unspecified", "", "", "::1", "loopback"),
        ("::2", "::ffff:ffff", "compatible", "::1", "loopback", "::1:0:0", "not-global"),
        ("64:ff9b::", "64:ff9b::ffff:ffff", "nat64", "64:ff9a:ffff::", "not-global", "64:ff9b::1:0:0", "not-global"),
        (
            "64:ff9b:1::",
            "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
            "nat64",
            "64:ff9b:0:1::",
            "not-global",
            "64:ff9b:2::",
            "not-global",
        ),
        ("100::", "100::ffff:ffff:ffff:ffff", "discard", "ff:ffff::", "not-global", "100:0:0:2::", "not-global"),
        ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "teredo", "2000:ffff::1", "public", "2001:1::", "protocol"),
        ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", "benchmark", "2001:1:ffff::", "protocol", "2001:2:1::", "protocol"),
        ("2001:10::", "2001:1f:ffff::", "protocol", "2001:f::", "protocol", "2001:20::", "protocol"),
        ("2001:20::", "2001:2f:ffff::", "protocol", "2001:1f::", "protocol", "2001:30::", "protocol"),
        ("2001:1ff:ffff::", "2001:1ff:ffff::", "protocol", "2001:100::", "protocol", "2001:200::", "public"),
        (
            "2001:db8::",
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            "documentation",
            "2001:db7:ffff::",
            "public",
            "2001:db9::",
            "public",
        ),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "6to4", "2001:ffff::", "public", "2003::", "public"),
        ("2620:4f:8000::", "2620:4f:8000:ffff::", "as112", "2620:4f:7fff::", "public", "2620:4f:8001::", "public"),
        ("3fff::", "3fff:fff:ffff::", "documentation", "3ffe:ffff::", "public", "3fff:1000::", "public"),
        ("4000::", "5eff:ffff::", "not-global", "3fff:ffff::", "public", "5f00::", "segment-routing"),
        ("5f00::", "5f00:ffff::", "segment-routing", "5eff:ffff::", "not-global", "5f01::", "not-global"),
        (
            "fc00::",
            "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "unique-local",
            "fbff:ffff::",
            "not-global",
            "fe00::",
            "not-global",
        ),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local", "fe7f:ffff::", "not-global", "fec0::", "site-local"),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local", "febf::", "link-local", "ff00::", "multicast"),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast", "feff::", "site-local", "", ""),
    ];
    for (first, last, expected, before, kind_before, after, kind_after) in rows {
        for (address, expected) in [(first, expected), (last, expected), (before, kind_before), (after, kind_after)] {
            if !address.is_empty() {
                assert_eq!(kind(address), expected, "{address}");
            }
        }
    }
}

#[test]
fn services_of_cloud_providers_are_metadata_in_every_form() {
    let plain = [
        "169.254.169.254",
        "169.254.169.253",
        "169.254.169.123",
        "169.254.170.2",
        "169.254.170.23",
        "169.254.0.23",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "fd00:ec2::254",
        "fd20:ce::254",
    ];
    let embedded = [
        "::ffff:169.254.169.254",
        "::169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::169.254.169.254",
        "64:ff9b:1:a9fe:a9:fe00::",
        "64:ff9b:1:a9:fe:a9fe::",
        "64:ff9b:1:0:a9:fea9:fe00:0",
        "2002:a9fe:a9fe::1",
        "2001:0:a9fe:a9fe::",
        "2001:0:4136:e378:8000:63bf:5601:5601",
        "2606:4700::5efe:169.254.169.254",
        "fe80::200:5efe:169.254.169.254",
        "2002:a83f:8110::1",
    ];
    for address in plain.into_iter().chain(embedded) {
        assert_eq!(kind(address), "metadata", "{address}");
    }
}

#[test]
fn the_inner_address_decides_for_mapped_addresses_only() {
    assert_eq!(kind("::ffff:8.8.8.8"), "public");
    assert_eq!(kind("::ffff:127.0.0.1"), "loopback");
    assert_eq!(kind("::8.8.8.8"), "compatible");
    assert_eq!(kind("64:ff9b::8.8.8.8"), "nat64");
    assert_eq!(kind("2002:808:808::1"), "6to4");
    assert_eq!(kind("2606:4700::5efe:8.8.8.8"), "isatap");
    assert_eq!(kind("2606:4700::200:5efe:8.8.8.8"), "isatap");
}

#[test]
fn a_nat64_prefix_of_the_network_is_judged_by_the_inner_address() {
    // RFC 6052, section 2.4: 192.0.2.33 is replaced by 8.8.4.33.
    let cases = [
        ("2001:4860::", 32, "2001:4860:808:421::"),
        ("2001:4860:100::", 40, "2001:4860:108:804:21::"),
        ("2001:4860:122::", 48, "2001:4860:122:808:4:2100::"),
        ("2001:4860:122:300::", 56, "2001:4860:122:308:8:421::"),
        ("2001:4860:122:344::", 64, "2001:4860:122:344:8:804:2100:0"),
        ("64:ff9b::", 96, "64:ff9b::8.8.4.33"),
    ];
    for (base, length, address) in cases {
        let nat64 = vec![Nat64::new(base.parse().unwrap(), length).unwrap()];
        let host = HostNetwork::new(HostFacts { nat64, addresses: vec!["8.8.4.34".parse().unwrap()], ..HostFacts::default() });
        let long: Ipv6Addr = address.parse().unwrap();
        assert_eq!(host.kind_of(long.into()).as_str(), "public", "{address}");
        // Flips bits of the inner address: the first byte becomes 10, or the last byte 34.
        let place = match length {
            96 => 24,
            other => 120 - u32::from(other) - if other == 64 { 8 } else { 0 },
        };
        let private = Ipv6Addr::from_bits(long.to_bits() ^ (2 << place));
        assert_eq!(host.kind_of(private.into()).as_str(), "nat64", "{private}");
        let last = match length {
            96 => 0,
            32 => 64,
            other => 128 - (u32::from(other) + 40),
        };
        let own = Ipv6Addr::from_bits(long.to_bits() ^ (3 << last));
        assert_eq!(host.kind_of(own.into()).as_str(), "nat64", "{own}");
    }
    assert_eq!(Nat64::new("64:ff9b::".parse().unwrap(), 95), None);
    let nat64 = vec![Nat64::new("64:ff9b::".parse().unwrap(), 96).unwrap()];
    let host = HostNetwork::new(HostFacts { nat64, ..HostFacts::default() });
    assert_eq!(host.kind_of("64:ff9b::a9fe:a9fe".parse().unwrap()).as_str(), "metadata");
}

#[test]
fn the_host_machine_is_refused_at_public_addresses_too() {
    let host = HostNetwork::new(HostFacts {
        addresses: vec!["8.8.8.8".parse().unwrap(), "::ffff:9.9.9.9".parse().unwrap()],
        subnets: vec![Cidr::covering("8.8.8.0".parse().unwrap(), 24).unwrap()],
        ports: vec![8_080, 3_000],
        nat64: Vec::new(),
    });
    let peer = |text: &str| host.kind_of_peer(text.parse::<SocketAddr>().unwrap()).as_str();
    assert_eq!(peer("8.8.8.8:443"), "own-address");
    assert_eq!(peer("[::ffff:8.8.8.8]:443"), "own-address");
    assert_eq!(peer("9.9.9.9:443"), "own-address");
    assert_eq!(peer("8.8.8.9:443"), "own-subnet");
    assert_eq!(peer("8.8.9.9:443"), "public");
    for own in ["8.8.8.8:8080", "127.0.0.1:3000", "127.1.2.3:8080", "[::1]:8080", "0.0.0.0:8080", "[::]:8080"] {
        assert_eq!(peer(own), "own-port", "{own}");
    }
    assert_eq!(peer("8.8.9.9:8080"), "public");
    assert_eq!(peer("[fe80::1%3]:443"), "zone");
    assert_eq!(peer("[2606:4700::1%3]:443"), "zone");
}

proptest! {
    #[test]
    fn random_addresses_agree_with_the_reference(bits: u128, near in 0_usize..8) {
        let bases: [u128; 8] =
            [0, 0xffff << 32, 0x2001 << 112, 0x2002 << 112, 0x3fff << 112, 0x2001_0db8 << 96, 0x5efe << 32, 0xfe80 << 112];
        for address in [
            IpAddr::V4((bits as u32).into()),
            Ipv6Addr::from_bits(bits).into(),
            Ipv6Addr::from_bits(bases[near] | bits & 0xffff_ffff).into(),
            Ipv6Addr::from_bits(bases[near] ^ bits >> 16).into(),
        ] {
            let is_public = HostNetwork::default().kind_of(address).as_str() == "public";
            prop_assert_eq!(is_public, !is_special(address), "{}", address);
        }
    }
}
