//! The time of a decision and of an update, as a measurement: `cargo test --release -p
//! coldframe-egress -- --ignored --nocapture speed`. The figures depend on the machine, so no test
//! asserts them.

use super::{current, name, options};
use crate::{Current, EgressOptions, Existing, Family, PinSet, Policy, PolicyCell, PolicyChange, judge_connect};
use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

/// Returns options with names, wildcards and prefixes in equal parts.
fn mixed(count: u32) -> EgressOptions {
    let entry = |number: u32| match number % 3 {
        0 => format!("host{number}.service.example.com:443"),
        1 => format!("*.zone{number}.example.com:443"),
        _ => format!("{}/24:443", Ipv4Addr::from_bits(0x0800_0000 + (number << 8))),
    };
    EgressOptions { allow: (0..count).map(entry).collect(), ..EgressOptions::default() }
}

/// Prints the minimum, the median and the 99th percentile of single calls, less the clock's time.
fn report(what: &str, mut call: impl FnMut(usize)) {
    let mut floor: Vec<u64> = (0..10_000).map(|_| elapsed(|| ())).collect();
    let mut times: Vec<u64> = (0..200_000).map(|round| elapsed(|| call(round))).collect();
    floor.sort_unstable();
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 1_000].saturating_sub(floor[floor.len() / 2]);
    println!("{what}: minimum {} ns, median {} ns, p99 {} ns, p99.9 {} ns", at(0), at(500), at(990), at(999));
}

fn elapsed(call: impl FnOnce()) -> u64 {
    let start = Instant::now();
    call();
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn measure(current: &Current, count: u32) {
    let hosts: Vec<_> = (0..count)
        .map(|number| match number % 3 {
            0 => name(&format!("host{number}.service.example.com")),
            1 => name(&format!("a.b.zone{number}.example.com")),
            _ => name(&format!("other{number}.example.org")),
        })
        .collect();
    let now = Instant::now();
    let mut pins = PinSet::default();
    let peers: Vec<SocketAddr> =
        (0..count).map(|number| (Ipv4Addr::from_bits(0x0800_0001 + (number << 8)), 443).into()).collect();
    for (host, peer) in hosts.iter().zip(&peers) {
        let _ = pins.record(host, Family::V4, &[peer.ip()], Duration::from_secs(60), now);
    }
    let at = |round: usize| round.wrapping_mul(7_919) % hosts.len();
    report(&format!("{count} rules, name"), |round| {
        black_box(current.policy().judge_name(&hosts[at(round)], 443));
    });
    report(&format!("{count} rules, connect"), |round| {
        black_box(judge_connect(current, &pins, peers[at(round)], now));
    });
    report(&format!("{count} rules, name of 120 labels"), |_| {
        black_box(current.policy().judge_name(black_box(&name_of_many_labels()), 443));
    });
}

fn name_of_many_labels() -> crate::Name {
    thread_local! { static NAME: crate::Name = name(&format!("{}example.com", "a.".repeat(118))); }
    NAME.with(Clone::clone)
}

#[test]
#[ignore = "a measurement"]
fn speed_of_decisions_and_updates() {
    for count in [1, 1_024, 4_096] {
        let current = Current::new(Policy::compile(mixed(count)).unwrap(), crate::HostNetwork::default());
        measure(&current, count);
        let mut times: Vec<u64> = (0..200).map(|_| elapsed(|| drop(black_box(Policy::compile(mixed(count)))))).collect();
        let mut building: Vec<u64> = (0..200).map(|_| elapsed(|| drop(black_box(mixed(count))))).collect();
        times.sort_unstable();
        building.sort_unstable();
        println!("{count} rules, compile: minimum {} ns, median {} ns", times[0] - building[0], times[100] - building[100]);
    }
    let cell = PolicyCell::new(current(options(&["a.example"], &["b.example"], &[])));
    report("update of a small policy", |_| drop(black_box(cell.update(PolicyChange::default(), Existing::Recheck))));
}
