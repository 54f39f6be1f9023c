//! The target `egress-rules`: policies of any entries, and checks of names, addresses and URLs.
//!
//! A policy is compiled or refused. For entries of a small vocabulary, the decisions equal the
//! decisions of the reference evaluator.
#![expect(clippy::expect_used, clippy::panic, reason = "a target panics on a broken promise")]

use super::reference::{self, Hosts, Rule};
use super::text;
use crate::{
    AddressKind, Connect, Current, Decision, EgressOptions, Family, HostFacts, HostNetwork, List, Name, Outside, PinSet, Policy,
    RuleId, check, judge_again, judge_connect,
};
use arbitrary::{Result, Unstructured};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

const NAMES: &[&str] = &["a.test", "b.a.test", "c.b.a.test", "x.test", "y.x.test", "test.a"];
const PARENTS: &[&str] = &["test", "a.test", "b.a.test", "x.test"];
const PUBLIC: &[(&str, usize)] = &[
    ("8.0.0.0", 5),
    ("8.8.0.0", 16),
    ("8.8.8.0", 24),
    ("8.8.8.8", 32),
    ("2600::", 12),
    ("2606:4700::", 32),
    ("2606:4700::1", 128),
];
const PRIVATE: &[(&str, usize)] = &[("10.0.0.0", 8), ("10.1.0.0", 16), ("10.1.2.3", 32), ("fd12::", 16), ("8.8.8.8", 32)];
const ADDRESSES: &[&str] =
    &["8.8.8.8", "8.8.8.9", "8.8.1.1", "9.9.9.9", "10.1.2.3", "10.1.9.9", "10.9.9.9", "2606:4700::1", "2606:4700::2", "fd12::1"];
const PORTS: &[(u16, u16)] = &[(443, 443), (80, 80), (1, 65_535), (1, 1_023), (25, 25), (20, 60), (8_000, 8_010), (440, 450)];
const TRIED: &[u16] = &[443, 80, 25, 24, 26, 53, 853, 1, 1_023, 1_024, 445, 8_005, 65_535, 0];

fn rule(list: List, input: &mut Unstructured<'_>) -> Result<Rule> {
    let hosts = match (list, input.int_in_range(0..=2)?) {
        (List::Private, _) => prefix(PRIVATE, input)?,
        (_, 0) => Hosts::Name(input.choose(NAMES)?),
        (_, 1) => Hosts::Below(input.choose(PARENTS)?),
        _ => prefix(PUBLIC, input)?,
    };
    let ports = if input.arbitrary()? { Some(*input.choose(PORTS)?) } else { None };
    Ok(Rule { list, hosts, ports })
}

fn prefix(of: &[(&str, usize)], input: &mut Unstructured<'_>) -> Result<Hosts> {
    let (base, length) = input.choose(of)?;
    Ok(Hosts::Prefix(base.parse().expect("an address"), *length))
}

fn id(rules: &[Rule], index: usize) -> RuleId {
    let list = rules.get(index).expect("the rule of an index").list;
    RuleId { list, index: rules.iter().take(index).filter(|rule| rule.list == list).count() }
}

/// Compares the decisions of a policy with the reference evaluator.
fn compare(input: &mut Unstructured<'_>) -> Result<()> {
    let outside = if input.arbitrary()? { Outside::Public } else { Outside::Deny };
    let mut rules = Vec::new();
    for list in List::ALL {
        for _ in 0..input.int_in_range(0..=4)? {
            rules.push(rule(list, input)?);
        }
    }
    let of = |list| rules.iter().filter(|rule| rule.list == list).map(Rule::text).collect();
    let options =
        EgressOptions { outside, allow: of(List::Allow), deny: of(List::Deny), private: of(List::Private), http: Vec::new() };
    let own: IpAddr = "9.9.9.9".parse().expect("an address");
    let host = HostNetwork::new(HostFacts { addresses: vec![own], ports: vec![8_005], ..HostFacts::default() });
    let current = Current::new(Policy::compile(options).expect("a valid policy"), host);
    let (now, mut pins, mut pinned) = (Instant::now(), PinSet::default(), Vec::new());
    for _ in 0..input.int_in_range(0..=3)? {
        let (name, address) = (*input.choose(NAMES)?, input.choose(ADDRESSES)?.parse().expect("an address"));
        let parsed = Name::parse(name).expect("a name");
        let _ = pins.record(&parsed, Family::of(address), &[address], Duration::from_secs(60), now);
        pinned.push((name, address));
    }
    for port in TRIED.iter().copied() {
        for name in NAMES {
            check_name(&current, outside, &rules, name, port);
        }
        for address in ADDRESSES {
            let address = address.parse().expect("an address");
            check_address(&current, &rules, (&pins, &pinned), SocketAddr::new(address, port), now);
        }
    }
    Ok(())
}

fn check_name(current: &Current, outside: Outside, rules: &[Rule], name: &str, port: u16) {
    let parsed = Name::parse(name).expect("a name");
    let decision = current.policy().judge_name(&parsed, port);
    let (allowed, decider) = reference::judge_name(outside, rules, name, port);
    assert_eq!(decision.is_allowed(), allowed, "{name}:{port} {outside:?} {rules:?}");
    assert_eq!(decision.rule(), decider.map(|index| id(rules, index)), "{name}:{port} {outside:?} {rules:?}");
    // The decision changes only at the bounds of rules.
    let bounds =
        rules.iter().filter_map(|rule| rule.ports).flat_map(|(first, last)| [first, last, first - 1, last.saturating_add(1)]);
    let any = bounds.chain(TRIED.iter().copied()).any(|port| reference::judge_name(outside, rules, name, port).0);
    assert_eq!(current.policy().judge_lookup(&parsed).is_allowed(), any, "the lookup of {name}: {outside:?} {rules:?}");
}

fn check_address(current: &Current, rules: &[Rule], pins: (&PinSet, &[(&str, IpAddr)]), peer: SocketAddr, now: Instant) {
    let outside = current.policy().options().outside;
    let kind = current.host().kind_of_peer(peer);
    let exact = |rule: &Rule| matches!(rule.hosts, Hosts::Prefix(base, 32 | 128) if base == peer.ip());
    let is_open = match kind {
        AddressKind::Public => true,
        AddressKind::OwnPort => rules.iter().any(|rule| {
            rule.list == List::Private && exact(rule) && rule.ports.is_some_and(|ports| ports == (peer.port(), peer.port()))
        }),
        _ => reference::opens(rules, peer.ip(), peer.port()),
    };
    let names = || pins.1.iter().filter(|(_, address)| *address == peer.ip()).map(|(name, _)| *name);
    let expected = match reference::judge_address(rules, peer.ip(), peer.port()) {
        _ if !is_open => false,
        Some((allowed, _)) => allowed,
        None if names().next().is_some() => names().any(|name| reference::judge_name(outside, rules, name, peer.port()).0),
        None => outside == Outside::Public && ![0, 25, 53, 853].contains(&peer.port()),
    };
    match judge_connect(current, pins.0, peer, now) {
        Connect::Admitted(admission) => {
            assert!(expected, "{peer} is admitted: {outside:?} {rules:?} {:?}", pins.1);
            assert_eq!(admission.peer().address(), peer);
            assert_eq!(judge_again(current, pins.0, &admission, now), Ok(admission), "an unchanged policy");
        }
        Connect::Refused(decision) => {
            assert!(!expected, "{peer} is refused, {decision:?}: {outside:?} {rules:?} {:?}", pins.1);
            assert!(matches!(decision, Decision::Refused { .. }));
        }
        Connect::Renew(name) => panic!("{name} is fresh"),
    }
}

/// Compiles entries of any texts, and checks any texts.
fn check_any(input: &mut Unstructured<'_>) -> Result<()> {
    let mut options = EgressOptions { outside: Outside::Deny, ..EgressOptions::default() };
    for _ in 0..input.int_in_range(0..=4)? {
        let entry = text(input)?;
        match *input.choose(&List::ALL)? {
            List::Allow => options.allow.push(entry),
            List::Deny => options.deny.push(entry),
            List::Private => options.private.push(entry),
            List::Http => {}
        }
    }
    let policy = Policy::compile(options).unwrap_or_else(|invalid| {
        let error = coldframe_error::Error::from(invalid.clone());
        assert!(error.to_string().contains("network.") && invalid.received.chars().count() <= 100);
        Policy::default()
    });
    let current = Current::new(policy, HostNetwork::default());
    let now = Instant::now();
    while !input.is_empty() {
        let url = text(input)?;
        let decision = check(&current, &PinSet::default(), &url, "GET", now);
        if let Ok(Decision::Allowed { rule }) = decision {
            let entry = current.policy().entry(rule.expect("nothing is allowed without a rule"));
            assert!(entry.is_some(), "{url:?}");
        }
        let _ = current.policy().judge_text(&url);
    }
    Ok(())
}

/// Compiles a policy and checks names, addresses and URLs.
///
/// # Panics
/// Panics if the policy decides otherwise than the reference evaluator.
pub fn rules(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else { return };
    let mut input = Unstructured::new(data);
    // The input may end in the middle of a value.
    let _ = if kind % 2 == 0 { compare(&mut input) } else { check_any(&mut input) };
}
