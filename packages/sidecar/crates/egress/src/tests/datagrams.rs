//! Rules about UDP: only an entry with the scheme `udp` opens datagrams.

use super::*;
use crate::{
    Admission, Connect, Decision, Family, Fault, List, PIN_TIMES, PinSet, Protocol, Reason, RuleId, check, judge_again,
    judge_connect, judge_flow, loopback_entries,
};
use std::time::Instant;

fn judged(current: &Current, protocol: Protocol, peer: &str) -> Result<Option<RuleId>, Reason> {
    decided(judge_flow(current, &PinSet::default(), protocol, peer.parse().unwrap(), Instant::now()))
}

fn decided(connect: Connect) -> Result<Option<RuleId>, Reason> {
    match connect {
        Connect::Admitted(admission) => Ok(admission.rule()),
        Connect::Refused(decision) => Err(decision.reason().unwrap()),
        Connect::Renew(name) => panic!("{name} is to be renewed"),
    }
}

fn rule(list: List, index: usize) -> Result<Option<RuleId>, Reason> {
    Ok(Some(RuleId { list, index }))
}

const UDP: Protocol = Protocol::Udp;
const TCP: Protocol = Protocol::Tcp;

#[test]
fn only_an_entry_with_the_scheme_opens_datagrams() {
    let entries = ["9.9.9.9:123", "tcp://8.8.8.8:123", "udp://1.1.1.1:123", "udp://1.1.2.0/24:*"];
    let public =
        EgressOptions { outside: Outside::Public, ..options(&entries, &["1.1.2.3", "udp://1.1.2.4", "tcp://1.1.2.5"], &[]) };
    let current = current(public);
    assert_eq!(judged(&current, UDP, "9.9.9.9:123"), Err(Reason::NotAllowed));
    assert_eq!(judged(&current, UDP, "8.8.8.8:123"), Err(Reason::NotAllowed));
    assert_eq!(judged(&current, UDP, "4.4.4.4:123"), Err(Reason::NotAllowed), "`public` is about TCP");
    assert_eq!(judged(&current, UDP, "1.1.1.1:123"), rule(List::Allow, 2));
    assert_eq!(judged(&current, UDP, "1.1.1.1:124"), Err(Reason::NotAllowed));
    assert_eq!(judged(&current, UDP, "1.1.2.9:9"), rule(List::Allow, 3));
    assert_eq!(judged(&current, UDP, "1.1.2.3:9"), Err(Reason::Denied), "`deny` without a scheme is about both");
    assert_eq!(judged(&current, UDP, "1.1.2.4:9"), Err(Reason::Denied));
    assert_eq!(judged(&current, UDP, "1.1.2.5:9"), rule(List::Allow, 3));
    // A rule about UDP changes nothing for TCP.
    assert_eq!(judged(&current, TCP, "1.1.1.1:123"), Ok(None));
    assert_eq!(judged(&current, TCP, "1.1.2.3:9"), Err(Reason::Denied));
    assert_eq!(judged(&current, TCP, "1.1.2.4:9"), Ok(None));
    assert_eq!(judged(&current, TCP, "1.1.2.5:9"), Err(Reason::Denied));
}

#[test]
fn an_address_that_is_not_public_needs_its_own_entry() {
    let current = current(options(
        &["udp://0.0.0.0/0:*"],
        &[],
        &["10.0.0.1:53", "udp://10.0.0.2:53", "udp://169.254.169.254:123", "udp://127.0.0.1:53"],
    ));
    for refused in ["10.0.0.1:53", "10.0.0.2:54", "169.254.169.254:80", "192.168.1.1:53", "224.0.0.251:5353", "255.255.255.255:9"]
    {
        assert!(matches!(judged(&current, UDP, refused), Err(Reason::PrivateAddress(_))), "{refused}");
    }
    assert_eq!(judged(&current, UDP, "10.0.0.2:53"), rule(List::Private, 1));
    assert_eq!(judged(&current, UDP, "169.254.169.254:123"), rule(List::Private, 2));
    assert!(matches!(judged(&current, TCP, "10.0.0.2:53"), Err(Reason::PrivateAddress(_))));
    // A range does not open the ports of mail and of QUIC.
    assert_eq!(judged(&current, UDP, "9.9.9.9:53"), rule(List::Allow, 0));
    assert_eq!(judged(&current, UDP, "9.9.9.9:443"), Err(Reason::NotAllowed));
    assert_eq!(judged(&current, UDP, "9.9.9.9:25"), Err(Reason::NotAllowed));
    let private = texts(&["127.0.0.1:80", "udp://127.0.0.1:53", "tcp://127.0.0.1:81"]);
    let ports = |protocol| loopback_entries(protocol, &private).unwrap().iter().map(|one| one.port()).collect::<Vec<_>>();
    assert_eq!((ports(TCP), ports(UDP)), (vec![80, 81], vec![53]));
}

#[test]
fn a_name_opens_no_port_of_dns_and_of_quic() {
    let mut pins = PinSet::default();
    let now = Instant::now();
    let (time, web) = (name("time.example"), name("web.example"));
    pins.record(&time, Family::V4, &["9.9.9.9".parse().unwrap()], PIN_TIMES.0, now).unwrap();
    pins.record(&web, Family::V4, &["8.8.8.8".parse().unwrap()], PIN_TIMES.0, now).unwrap();
    let current = current(options(&["udp://time.example:1-65535", "web.example:*"], &[], &[]));
    let at = |protocol, peer: &str| decided(judge_flow(&current, &pins, protocol, peer.parse().unwrap(), now));
    assert_eq!(at(UDP, "9.9.9.9:123"), rule(List::Allow, 0));
    for port in [25, 53, 443, 853] {
        assert_eq!(at(UDP, &format!("9.9.9.9:{port}")), Err(Reason::Port), "{port}");
    }
    assert_eq!(at(UDP, "8.8.8.8:123"), Err(Reason::NotAllowed), "the name is allowed for TCP only");
    assert_eq!(at(TCP, "9.9.9.9:123"), Err(Reason::NotAllowed), "the name is allowed for UDP only");
    assert_eq!(at(UDP, "7.7.7.7:123"), Err(Reason::NameNotPinned));
    assert!(current.policy().judge_lookup(&time).is_allowed(), "a rule about UDP allows the lookup");
    assert_eq!(
        judge_connect(&current, &pins, "8.8.8.8:80".parse().unwrap(), now),
        judge_flow(&current, &pins, TCP, "8.8.8.8:80".parse().unwrap(), now)
    );
}

#[test]
fn an_open_flow_is_judged_again_by_the_rules_of_its_protocol() {
    let now = Instant::now();
    let before = current(options(&["udp://9.9.9.9:123", "9.9.9.9:123"], &[], &[]));
    let admitted = |protocol| -> Admission {
        match judge_flow(&before, &PinSet::default(), protocol, "9.9.9.9:123".parse().unwrap(), now) {
            Connect::Admitted(admission) => admission,
            other => panic!("{other:?}"),
        }
    };
    let only_tcp = current(options(&["9.9.9.9:123"], &[], &[]));
    let again = |admission| judge_again(&only_tcp, &PinSet::default(), &admission, now).is_ok();
    assert!(again(admitted(TCP)) && !again(admitted(UDP)));
}

#[test]
fn an_entry_about_udp_that_cannot_take_effect_is_an_error() {
    let fault = |options: EgressOptions| Policy::compile(options).unwrap_err().fault;
    assert_eq!(fault(options(&["udp://time.example"], &[], &[])), Fault::UdpPort);
    assert_eq!(fault(options(&[], &[], &["udp://10.0.0.1"])), Fault::UdpPort);
    assert_eq!(fault(options(&["udp://web.example:443"], &[], &[])), Fault::QuicPort);
    assert_eq!(fault(options(&["udp://dns.example:53"], &[], &[])), Fault::DnsPort);
    assert_eq!(fault(options(&["sctp://9.9.9.9:1"], &[], &[])), Fault::Scheme);
    assert!(Policy::compile(options(&["udp://9.9.9.9:443", "udp://9.9.9.9:53"], &["udp://9.9.9.8"], &[])).is_ok());
}

#[test]
fn the_dry_run_judges_a_url_with_the_scheme_udp() {
    let current = current(options(&["udp://time.example:123", "udp://9.9.9.9:123"], &[], &[]));
    let checked = |url: &str| check(&current, &PinSet::default(), url, "GET", Instant::now()).unwrap();
    assert!(checked("udp://time.example:123").is_allowed() && checked("udp://9.9.9.9:123").is_allowed());
    assert_eq!(checked("tcp://9.9.9.9:123"), Decision::refused(Reason::NotAllowed));
    assert!(!checked("https://time.example:123").is_allowed());
}
