//! Connections to addresses, and dry runs.

use super::{current, name, options, texts, with_host};
use crate::{
    Connect, Current, Decision, EgressOptions, Family, HostFacts, InvalidUrl, Outside, PinSet, Policy, check, judge_again,
    judge_connect, judge_server_name,
};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

fn result(current: &Current, pins: &PinSet, peer: &str, now: Instant) -> String {
    match judge_connect(current, pins, peer.parse().unwrap(), now) {
        Connect::Admitted(admission) => format!("connect {}", admission.peer().address()),
        Connect::Renew(name) => format!("renew {name}"),
        Connect::Refused(decision) => decision.reason().unwrap().as_str().to_owned(),
    }
}

fn pin(pins: &mut PinSet, host: &str, addresses: &[&str], now: Instant) {
    let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
    pins.record(&name(host), Family::V4, &addresses, Duration::from_secs(60), now).unwrap();
}

#[test]
fn a_connection_needs_a_rule_about_the_address_or_a_pinned_name() {
    let now = Instant::now();
    let current =
        current(options(&["api.example:443", "8.8.8.0/24:443"], &["8.8.8.9"], &["10.1.2.0/24:5432", "169.254.169.254:80"]));
    let mut pins = PinSet::default();
    pin(&mut pins, "api.example", &["9.9.9.9", "8.8.8.9"], now);
    let cases = [
        ("9.9.9.9:443", "connect 9.9.9.9:443"),
        ("[::ffff:9.9.9.9]:443", "connect 9.9.9.9:443"),
        ("9.9.9.9:80", "not-allowed"),
        ("1.1.1.1:443", "name-not-pinned"),
        ("8.8.8.8:443", "connect 8.8.8.8:443"),
        ("8.8.8.8:80", "name-not-pinned"),
        // A rule that denies an address counts for names too.
        ("8.8.8.9:443", "denied"),
        ("10.1.2.3:5432", "connect 10.1.2.3:5432"),
        ("10.1.2.3:443", "private-address"),
        ("10.1.3.3:5432", "private-address"),
        ("169.254.169.254:80", "connect 169.254.169.254:80"),
        ("169.254.169.254:443", "private-address"),
        ("[::ffff:127.0.0.1]:443", "private-address"),
        ("[::127.0.0.1]:443", "private-address"),
        ("0.0.0.0:443", "private-address"),
        ("[2606:4700::1%2]:443", "private-address"),
        ("9.9.9.9:0", "not-allowed"),
    ];
    for (peer, expected) in cases {
        assert_eq!(result(&current, &pins, peer, now), expected, "{peer}");
    }
}

#[test]
fn an_expired_pin_holds_only_if_the_new_response_has_the_address() {
    let start = Instant::now();
    let current = current(options(&["api.example"], &[], &[]));
    let mut pins = PinSet::default();
    pin(&mut pins, "api.example", &["9.9.9.9", "9.9.9.8"], start);
    let later = start + Duration::from_secs(61);
    assert_eq!(result(&current, &pins, "9.9.9.9:443", later), "renew api.example");
    pin(&mut pins, "api.example", &["9.9.9.9"], later);
    assert_eq!(result(&current, &pins, "9.9.9.9:443", later), "connect 9.9.9.9:443");
    assert_eq!(result(&current, &pins, "9.9.9.8:443", later), "name-not-pinned");
}

#[test]
fn a_held_address_is_withdrawn_for_new_connections_and_stays_for_the_open_one() {
    let start = Instant::now();
    let current = current(options(&["api.example"], &[], &[]));
    let mut pins = PinSet::default();
    pin(&mut pins, "api.example", &["9.9.9.9"], start);
    let Connect::Admitted(admission) = judge_connect(&current, &pins, "9.9.9.9:443".parse().unwrap(), start) else {
        panic!("the pin is fresh")
    };
    assert!(pins.hold("9.9.9.9".parse().unwrap()) && !pins.hold("1.1.1.1".parse().unwrap()));
    let later = start + Duration::from_secs(61);
    pin(&mut pins, "api.example", &["1.1.1.1"], later);
    assert_eq!(result(&current, &pins, "9.9.9.9:443", later), "name-not-pinned");
    assert!(judge_again(&current, &pins, &admission, later).is_ok());
    pins.release("9.9.9.9".parse().unwrap());
    pin(&mut pins, "api.example", &["1.1.1.1"], later);
    assert_eq!(pins.len(), 1);
}

#[test]
fn a_public_policy_connects_to_public_addresses_only() {
    let now = Instant::now();
    let public =
        EgressOptions { outside: Outside::Public, deny: texts(&["evil.example", "9.9.0.0/16"]), ..EgressOptions::default() };
    let own = HostFacts { addresses: vec!["1.2.3.4".parse().unwrap()], ports: vec![8_080], ..HostFacts::default() };
    let current = with_host(public, own);
    let pins = PinSet::default();
    assert_eq!(result(&current, &pins, "8.8.8.8:8080", now), "connect 8.8.8.8:8080");
    for (peer, expected) in [
        ("8.8.8.8:25", "port"),
        ("8.8.8.8:53", "port"),
        ("9.9.9.9:443", "denied"),
        ("1.2.3.4:443", "private-address"),
        ("127.0.0.1:8080", "private-address"),
        ("192.168.1.1:443", "private-address"),
    ] {
        assert_eq!(result(&current, &pins, peer, now), expected, "{peer}");
    }
}

#[test]
fn an_own_port_needs_an_exact_entry() {
    let now = Instant::now();
    let own = || HostFacts { ports: vec![8_080], ..HostFacts::default() };
    let wide = with_host(options(&[], &[], &["127.0.0.0/8:*"]), own());
    let exact = with_host(options(&[], &[], &["127.0.0.1:8080"]), own());
    let pins = PinSet::default();
    assert_eq!(result(&wide, &pins, "127.0.0.1:8080", now), "private-address");
    assert_eq!(result(&wide, &pins, "127.0.0.1:8081", now), "connect 127.0.0.1:8081");
    assert_eq!(result(&exact, &pins, "127.0.0.1:8080", now), "connect 127.0.0.1:8080");
}

#[test]
fn an_open_connection_is_refused_after_its_name_is_denied() {
    let now = Instant::now();
    let before = current(options(&["a.example", "b.example"], &[], &[]));
    let mut pins = PinSet::default();
    pin(&mut pins, "a.example", &["9.9.9.9"], now);
    let peer: SocketAddr = "9.9.9.9:443".parse().unwrap();
    let Connect::Admitted(admission) = judge_connect(&before, &pins, peer, now) else { panic!("the pin is fresh") };
    let after = current(options(&["a.example", "b.example"], &["a.example"], &[]));
    let refused = judge_again(&after, &pins, &admission, now).unwrap_err();
    assert_eq!(refused.reason().unwrap().as_str(), "denied");
    // Another allowed name with the address keeps the connection, because TLS has not named one.
    pin(&mut pins, "b.example", &["9.9.9.9"], now);
    assert!(judge_again(&after, &pins, &admission, now).is_ok());
}

#[test]
fn a_dry_run_decides_about_urls_as_a_guest_would() {
    let now = Instant::now();
    let current = current(options(&["api.example", "db.example:5432", "8.8.8.8"], &[], &["127.0.0.1:3000"]));
    let mut pins = PinSet::default();
    pin(&mut pins, "api.example", &["9.9.9.9"], now);
    let reason = |url: &str| {
        check(&current, &pins, url, "GET", now).map(|decision| decision.reason().map_or("allowed", |reason| reason.as_str()))
    };
    let cases = [
        ("https://api.example/path?x=1", "allowed"),
        ("https://API.example./", "allowed"),
        ("http://api.example/", "not-allowed"),
        ("wss://api.example", "allowed"),
        ("tcp://db.example:5432", "allowed"),
        ("tcp://8.8.8.8:443", "allowed"),
        ("https://9.9.9.9/", "allowed"),
        ("https://api.example@evil.example/", "not-allowed"),
        ("https://%61pi.example/", "allowed"),
        ("https://2130706433/", "private-address"),
        ("https://0x7f.1/", "private-address"),
        ("http://017700000001:3000/", "allowed"),
        ("https://①②⑦.0.0.1/", "private-address"),
        ("https://[::ffff:169.254.169.254]/", "private-address"),
        ("https://127.0.0.1.nip.io/", "not-allowed"),
        ("https://localhost/", "special-name"),
        ("https://a b.example/", "invalid-name"),
        ("https://1.2.3.256/", "invalid-name"),
    ];
    for (url, expected) in cases {
        assert_eq!(reason(url), Ok(expected), "{url}");
    }
    assert_eq!(reason("api.example"), Err(InvalidUrl::Syntax));
    assert_eq!(reason("data:text/plain,x"), Err(InvalidUrl::Host));
    assert_eq!(reason("redis://api.example"), Err(InvalidUrl::Port));
    let closed = Current::new(Policy::default(), crate::HostNetwork::default());
    assert!(matches!(check(&closed, &pins, "https://8.8.4.4", "GET", now), Ok(Decision::Refused { .. })));
}

#[test]
fn a_server_name_is_judged_by_the_names_of_the_address() {
    let now = Instant::now();
    let mut all = options(&["api.example:443", "8.8.8.0/24:443"], &["denied.example"], &[]);
    all.http = vec![crate::HttpRule { host: "rules.example".to_owned(), ..crate::HttpRule::default() }];
    let current = current(all);
    let mut pins = PinSet::default();
    pin(&mut pins, "api.example", &["9.9.9.9"], now);
    pin(&mut pins, "other.example", &["9.9.9.9"], now);
    pin(&mut pins, "rules.example", &["8.8.8.7"], now);
    let judged = |peer: &str, sent: Option<&str>| {
        let peer: SocketAddr = peer.parse().unwrap();
        let names: Vec<_> = pins.names_of(peer.ip(), now).map(|(name, _)| name).collect();
        let sent = sent.map(name);
        judge_server_name(&current, names.into_iter(), peer, sent.as_ref()).map_err(|rule| rule.is_some())
    };
    let cases = [
        ("9.9.9.9:443", Some("api.example"), Ok(())),
        // Pinned and not allowed, allowed at another port, and not pinned.
        ("9.9.9.9:443", Some("other.example"), Err(false)),
        ("9.9.9.9:444", Some("api.example"), Err(false)),
        ("9.9.9.9:443", Some("www.example"), Err(false)),
        ("9.9.9.9:443", None, Err(false)),
        ("9.9.9.9:443", Some("denied.example"), Err(true)),
        // A rule about the address admits each name that no rule denies.
        ("8.8.8.8:443", Some("www.example"), Ok(())),
        ("8.8.8.8:443", None, Ok(())),
        ("8.8.8.8:443", Some("denied.example"), Err(true)),
        // The rules about HTTP would not apply to this address.
        ("8.8.8.8:443", Some("rules.example"), Err(false)),
        ("8.8.8.7:443", Some("rules.example"), Ok(())),
    ];
    for (peer, sent, expected) in cases {
        assert_eq!(judged(peer, sent), expected, "{peer} {sent:?}");
    }
}
