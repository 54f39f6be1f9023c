//! The ports of one host or prefix: which ports the rules allow and deny.
//!
//! A table is a sorted list of disjoint segments. A lookup is a binary search. The table of a host
//! replaces parts of the table of the wider rules around the host. Therefore the lookup of the
//! deepest host is enough. Next: `prefixes.rs` and `names.rs`, which find the deepest host.

use crate::entry::Protocol;

/// The port of an entry that opens a host without a port.
pub(crate) const DEFAULT_PORT: u16 = 443;
/// The port of mail servers. Only an entry with exactly this port opens the port.
pub(crate) const MAIL_PORT: u16 = 25;
/// The ports of DNS servers. A name cannot open the ports, because a resolver behind an allowed
/// name would look up any name.
pub(crate) const DNS_PORTS: [u16; 2] = [53, 853];

/// The ports that a name opens only by an exact entry, or never.
const CLOSED_TO_NAMES: [u16; 3] = [MAIL_PORT, DNS_PORTS[0], DNS_PORTS[1]];
/// The ports of UDP that a name opens only by an exact entry, or never. QUIC hides the name of the
/// host, so a name does not open the port of QUIC.
const UDP_CLOSED_TO_NAMES: [u16; 4] = [MAIL_PORT, DNS_PORTS[0], DEFAULT_PORT, DNS_PORTS[1]];

/// Returns the ports that a range of ports does not open for a name, in ascending order.
pub(crate) fn closed_to_names(protocol: Protocol) -> &'static [u16] {
    match protocol {
        Protocol::Tcp => &CLOSED_TO_NAMES,
        Protocol::Udp => &UDP_CLOSED_TO_NAMES,
    }
}

/// Returns the ports that a range of ports does not open for an address, in ascending order.
pub(crate) fn closed_to_addresses(protocol: Protocol) -> &'static [u16] {
    match protocol {
        Protocol::Tcp => &[MAIL_PORT],
        Protocol::Udp => &[MAIL_PORT, DEFAULT_PORT],
    }
}

/// The ports of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ports {
    /// The entry has no port: 443 if the entry opens, otherwise all ports.
    Omitted,
    /// A number, a range, or `*` for all ports.
    Range(u16, u16),
}

/// The effect of a rule on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) allows: bool,
    /// The number of the rule in the policy. `None` means the policy's default.
    pub(crate) rule: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    first: u16,
    last: u16,
    effect: Effect,
}

/// The effects of rules on all ports. A port without a segment is undecided.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PortTable(Vec<Segment>);

impl PortTable {
    /// Makes the table of rules about hosts of one depth. A rule with a port is deeper than a rule
    /// without a port. Of equal depths a rule that denies counts, then the first rule.
    /// `closed` are ports that a range does not open.
    pub(crate) fn new(rules: &[(Ports, Effect)], closed: &[u16]) -> Self {
        let mut table = Self::default();
        for (is_given, allows) in [(false, true), (false, false), (true, true), (true, false)] {
            let depth = |(ports, effect): &&(Ports, Effect)| (*ports != Ports::Omitted) == is_given && effect.allows == allows;
            // The last rule that is painted counts.
            for (ports, effect) in rules.iter().filter(depth).rev() {
                table.add(*ports, *effect, closed);
            }
        }
        table
    }

    /// Makes the table of a policy that allows every port except `closed`.
    pub(crate) fn open(closed: &[u16]) -> Self {
        let mut table = Self::default();
        table.add(Ports::Range(1, u16::MAX), Effect { allows: true, rule: None }, closed);
        table
    }

    fn add(&mut self, ports: Ports, effect: Effect, closed: &[u16]) {
        let (first, last) = match ports {
            Ports::Omitted if effect.allows => (DEFAULT_PORT, DEFAULT_PORT),
            Ports::Omitted => (1, u16::MAX),
            Ports::Range(first, last) => (first, last),
        };
        if !effect.allows || first == last {
            return self.paint(Segment { first, last, effect });
        }
        let mut next = first;
        for port in closed.iter().copied().filter(|port| (first..=last).contains(port)) {
            if next < port {
                self.paint(Segment { first: next, last: port - 1, effect });
            }
            next = port.saturating_add(1);
        }
        if next <= last {
            self.paint(Segment { first: next, last, effect });
        }
    }

    /// Returns this table with `below` for the undecided ports.
    pub(crate) fn over(&self, below: &Self) -> Self {
        let mut both = below.clone();
        self.0.iter().for_each(|segment| both.paint(*segment));
        both
    }

    fn paint(&mut self, new: Segment) {
        let from = self.0.partition_point(|segment| segment.last < new.first);
        let to = self.0.partition_point(|segment| segment.first <= new.last);
        let overlapped = self.0.get(from..to).unwrap_or_default();
        let before = overlapped.first().filter(|segment| segment.first < new.first);
        let before = before.map(|segment| Segment { last: new.first - 1, ..*segment });
        let after = overlapped.last().filter(|segment| segment.last > new.last);
        let after = after.map(|segment| Segment { first: new.last + 1, ..*segment });
        self.0.splice(from..to, before.into_iter().chain([new]).chain(after));
    }

    /// Returns the effect on a port.
    pub(crate) fn at(&self, port: u16) -> Option<Effect> {
        let place = self.0.partition_point(|segment| segment.last < port);
        self.0.get(place).filter(|segment| segment.first <= port).map(|segment| segment.effect)
    }

    /// Returns the effect that allows the first allowed port.
    pub(crate) fn first_allowed(&self) -> Option<Effect> {
        self.0.iter().map(|segment| segment.effect).find(|effect| effect.allows)
    }

    /// Returns the effect that denies the first denied port.
    pub(crate) fn first_denied(&self) -> Option<Effect> {
        self.0.iter().map(|segment| segment.effect).find(|effect| !effect.allows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rule(allows: bool, number: u32) -> Effect {
        Effect { allows, rule: Some(number) }
    }

    #[test]
    fn an_entry_without_a_port_opens_443_and_closes_all_ports() {
        let table = PortTable::new(&[(Ports::Omitted, rule(true, 0))], &[]);
        assert_eq!(table.at(443), Some(rule(true, 0)));
        assert_eq!((table.at(442), table.at(444)), (None, None));
        let table = PortTable::new(&[(Ports::Omitted, rule(false, 0))], &[25]);
        assert!([1, 25, 443, 65_535].iter().all(|port| table.at(*port) == Some(rule(false, 0))));
        assert_eq!(table.at(0), None);
    }

    #[test]
    fn a_given_port_is_deeper_than_none_and_deny_counts_at_equal_depth() {
        let rules = [
            (Ports::Range(443, 443), rule(true, 0)),
            (Ports::Omitted, rule(false, 1)),
            (Ports::Range(1, 1_023), rule(true, 2)),
            (Ports::Range(80, 80), rule(false, 3)),
            (Ports::Range(80, 80), rule(false, 4)),
        ];
        let table = PortTable::new(&rules, &[]);
        assert_eq!(table.at(443), Some(rule(true, 0)), "the first of two equal rules");
        assert_eq!(table.at(80), Some(rule(false, 3)));
        assert_eq!(table.at(79), Some(rule(true, 2)));
        assert_eq!(table.at(1_024), Some(rule(false, 1)));
    }

    #[test]
    fn only_an_exact_port_opens_a_closed_port() {
        let at = |ports, port| PortTable::new(&[(ports, rule(true, 0))], &[25, 53]).at(port).is_some();
        assert!(at(Ports::Range(25, 25), 25));
        for port in [25, 53] {
            assert!(!at(Ports::Range(1, u16::MAX), port) && !at(Ports::Range(25, 53), port));
        }
        for port in [1, 24, 26, 52, 54, u16::MAX] {
            assert!(at(Ports::Range(1, u16::MAX), port), "{port}");
        }
        assert!(!PortTable::open(&[25]).at(25).is_some_and(|effect| effect.allows));
        assert!(PortTable::open(&[25]).at(65_535).is_some());
    }

    proptest! {
        #[test]
        fn painted_tables_equal_a_list_of_all_ports(
            below in prop::collection::vec((1_u16..40, 0_u16..20, any::<bool>(), any::<bool>()), 0..8),
            above in prop::collection::vec((1_u16..40, 0_u16..20, any::<bool>(), any::<bool>()), 0..8),
        ) {
            let rules = |list: &[(u16, u16, bool, bool)]| -> Vec<(Ports, Effect)> {
                list.iter().zip(0..).map(|((first, more, allows, is_given), number)| {
                    let ports = if *is_given { Ports::Range(*first, first + more) } else { Ports::Omitted };
                    (ports, rule(*allows, number))
                }).collect()
            };
            let naive = |rules: &[(Ports, Effect)], port: u16| {
                let covers = |(ports, effect): &&(Ports, Effect)| match ports {
                    Ports::Omitted => !effect.allows || port == 443,
                    Ports::Range(first, last) => (*first..=*last).contains(&port),
                };
                // `min_by_key` returns the first of equal rules.
                rules.iter().filter(covers).min_by_key(|(ports, effect)| (*ports == Ports::Omitted, effect.allows))
                    .map(|(_, effect)| *effect)
            };
            let (below, above) = (rules(&below), rules(&above));
            let table = PortTable::new(&above, &[]).over(&PortTable::new(&below, &[]));
            for port in (1..70).chain([443]) {
                prop_assert_eq!(table.at(port), naive(&above, port).or(naive(&below, port)), "{}", port);
            }
            prop_assert!(table.0.windows(2).all(|pair| pair[0].last < pair[1].first));
        }
    }
}
