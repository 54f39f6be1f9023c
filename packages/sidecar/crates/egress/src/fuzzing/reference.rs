//! The reference evaluators of addresses and rules.

use crate::{List, Outside};
use std::net::IpAddr;
use std::sync::LazyLock;

/// The prefixes of addresses that are not public, except the space outside `2000::/3`.
const SPECIAL: &[&str] = &[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "2620:4f:8000::/48",
    "3fff::/20",
];

/// Returns the bits of an address as text, after the family.
fn bits(address: IpAddr) -> String {
    match address {
        IpAddr::V4(short) => short.octets().iter().fold("4".to_owned(), |text, byte| text + &format!("{byte:08b}")),
        IpAddr::V6(long) => long.octets().iter().fold("6".to_owned(), |text, byte| text + &format!("{byte:08b}")),
    }
}

fn prefix_bits(text: &str) -> Option<String> {
    let (base, length) = text.split_once('/')?;
    Some(bits(base.parse().ok()?).chars().take(1 + length.parse::<usize>().ok()?).collect())
}

/// Returns whether an address is not public, for a host machine without addresses.
pub(crate) fn is_special(address: IpAddr) -> bool {
    static PREFIXES: LazyLock<Vec<String>> = LazyLock::new(|| SPECIAL.iter().filter_map(|text| prefix_bits(text)).collect());
    let bits = bits(address);
    // A mapped address has 80 bits of zero and 16 bits of one before the IPv4 address.
    if let Some(rest) = bits.strip_prefix(&format!("6{}{}", "0".repeat(80), "1".repeat(16))) {
        let inner = u32::from_str_radix(rest, 2).unwrap_or_default();
        return is_special(IpAddr::V4(inner.into()));
    }
    let is_isatap = address.to_string().parse::<std::net::Ipv6Addr>().is_ok_and(|long| {
        let [.., high, low, _, _] = long.segments();
        [0, 0x100, 0x200, 0x300].contains(&high) && low == 0x5efe
    });
    PREFIXES.len() != SPECIAL.len()
        || PREFIXES.iter().any(|prefix| bits.starts_with(prefix))
        || (bits.starts_with('6') && !bits.starts_with("6001"))
        || is_isatap
}

/// The hosts of a rule.
#[derive(Debug, Clone)]
pub(super) enum Hosts {
    Name(&'static str),
    Below(&'static str),
    Prefix(IpAddr, usize),
}

/// A rule and its text.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) list: List,
    pub(super) hosts: Hosts,
    /// The ports, if the entry has ports.
    pub(super) ports: Option<(u16, u16)>,
}

impl Rule {
    /// Returns the entry of the rule.
    pub(super) fn text(&self) -> String {
        let port = match self.ports {
            None => String::new(),
            Some((1, u16::MAX)) => ":*".to_owned(),
            Some((first, last)) if first == last => format!(":{first}"),
            Some((first, last)) => format!(":{first}-{last}"),
        };
        match self.hosts {
            Hosts::Name(name) => format!("{name}{port}"),
            Hosts::Below(parent) => format!("*.{parent}{port}"),
            Hosts::Prefix(base @ IpAddr::V4(_), 32) => format!("{base}{port}"),
            Hosts::Prefix(base @ IpAddr::V4(_), length) => format!("{base}/{length}{port}"),
            Hosts::Prefix(base @ IpAddr::V6(_), 128) => format!("[{base}]{port}"),
            Hosts::Prefix(base @ IpAddr::V6(_), length) => format!("[{base}/{length}]{port}"),
        }
    }

    fn covers_port(&self, port: u16, closed: &[u16]) -> bool {
        match (self.list, self.ports) {
            (List::Deny, None) => port > 0,
            (_, None) => port == 443,
            (List::Deny, Some((first, last))) => first <= port && port <= last,
            (_, Some((first, last))) => first <= port && port <= last && (first == last || !closed.contains(&port)),
        }
    }

    /// Returns the depth of the rule for a name, if the rule covers the name.
    fn depth_for_name(&self, name: &str) -> Option<usize> {
        match self.hosts {
            Hosts::Name(own) if own == name => Some(1_000),
            Hosts::Below(parent) if name.ends_with(&format!(".{parent}")) => Some(parent.len()),
            _ => None,
        }
    }

    /// Returns the depth of the rule for an address, if the rule covers the address.
    fn depth_for_address(&self, address: IpAddr) -> Option<usize> {
        let Hosts::Prefix(base, length) = self.hosts else { return None };
        bits(address).starts_with(bits(base).get(..=length)?).then_some(length)
    }
}

/// Returns the index of the rule that decides, among the rules that `depth` covers.
fn decider(rules: &[Rule], port: u16, closed: &[u16], depth: impl Fn(&Rule) -> Option<usize>) -> Option<usize> {
    let covering = rules.iter().enumerate().filter(|(_, rule)| rule.covers_port(port, closed));
    let ranked = covering.filter_map(|(index, rule)| {
        // A deeper host, then a given port, then a rule that denies, then the first rule.
        let rank = (depth(rule)?, rule.ports.is_some(), rule.list == List::Deny, usize::MAX - index);
        Some((rank, index))
    });
    ranked.max().map(|(_, index)| index)
}

/// Returns whether a connection to a name is allowed, and the rule that decides.
pub(super) fn judge_name(outside: Outside, rules: &[Rule], name: &str, port: u16) -> (bool, Option<usize>) {
    let found = decider(rules, port, &[25, 53, 853], |rule| rule.depth_for_name(name));
    let default = outside == Outside::Public && ![0, 25, 53, 853].contains(&port);
    (found.and_then(|index| rules.get(index)).map_or(default, |rule| rule.list != List::Deny), found)
}

/// Returns whether an entry of `private` opens a port of an address.
pub(super) fn opens(rules: &[Rule], address: IpAddr, port: u16) -> bool {
    let mut private = rules.iter().filter(|rule| rule.list == List::Private);
    private.any(|rule| rule.covers_port(port, &[25]) && rule.depth_for_address(address).is_some())
}

/// Returns whether the rules about addresses allow a connection, and the rule that decides.
pub(super) fn judge_address(rules: &[Rule], address: IpAddr, port: u16) -> Option<(bool, usize)> {
    let index = decider(rules, port, &[25], |rule| rule.depth_for_address(address))?;
    Some((rules.get(index)?.list != List::Deny, index))
}
