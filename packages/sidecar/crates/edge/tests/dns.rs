//! Look-ups with hostile DNS servers.
#![expect(clippy::panic, reason = "a test")]

mod common;

use coldframe_edge::Surroundings;
use coldframe_edge_link::*;
use common::dns::{Query, Server, wire};
use common::*;
use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::{MX, TXT};
use hickory_proto::rr::{RData, Record, RecordType};

/// Returns an edge whose runtime 1 allows `allow`, with this DNS server.
fn edge(server: &Server, allow: &[&str], private: &[&str]) -> Sidecar {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, options(&[server], allow, private));
    sidecar
}

fn options(servers: &[&Server], allow: &[&str], private: &[&str]) -> Options {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Options {
        allow: texts(allow),
        private: texts(private),
        dns_servers: servers.iter().map(|server| server.address.to_string()).collect(),
        limits: wide(),
        ..Options::default()
    }
}

fn code(result: Result<Vec<String>, FailureKind>) -> String {
    match result {
        Err(FailureKind::Dns(code)) => code,
        other => panic!("{other:?}"),
    }
}

fn query_code(result: Result<String, FailureKind>) -> String {
    code(result.map(|json| vec![json]))
}

#[test]
fn a_name_has_the_addresses_of_both_families_or_of_the_one_that_is_wanted() {
    let server = Server::new(|query| {
        let name = query.name();
        vec![query.answer(&[(&name, 60, "8.8.8.8"), (&name, 60, "8.8.4.4"), (&name, 60, "2606:4700::1111")])]
    });
    let mut sidecar = edge(&server, &["a.example"], &[]);
    assert_eq!(sidecar.look_up("A.example.", LookUpFamily::Any).unwrap(), ["2606:4700::1111", "8.8.8.8", "8.8.4.4"]);
    assert_eq!(sidecar.look_up("a.example", LookUpFamily::V4).unwrap(), ["8.8.8.8", "8.8.4.4"]);
    assert_eq!(sidecar.look_up("a.example", LookUpFamily::V6).unwrap(), ["2606:4700::1111"]);
    assert_eq!(server.count(), 2, "the addresses are cached");
    for (has_v4, has_v6, expected) in [(true, false, 2), (false, true, 1), (false, false, 2)] {
        let mut sidecar = Sidecar::with(Surroundings { has_v4, has_v6, ..Surroundings::default() });
        sidecar.set(1, options(&[&server], &["a.example"], &[]));
        assert_eq!(sidecar.look_up("a.example", LookUpFamily::Any).unwrap().len(), expected, "{has_v4} {has_v6}");
    }
}

#[test]
fn names_that_are_not_allowed_never_reach_a_server() {
    let server = Server::new(|query| vec![query.answer(&[(&query.name(), 60, "8.8.8.8")])]);
    let mut sidecar = edge(&server, &["a.example", "*.b.example"], &[]);
    let refused = [
        "other.example",
        "b.example",
        "a.example.other.example",
        "localhost",
        "a.localhost",
        "printer.local",
        "metadata.google.internal",
        "single",
        "2130706433",
        "0x7f.1",
        "017700000001",
        "127.1",
        "127.0.0.1",
        "127.0.0.1.",
        "[::1]",
        "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
        "\u{2460}\u{2461}\u{2466}.0.0.1",
        "a.example\0.other.example",
        "a.example\r\nb",
        "",
        &"a.".repeat(4_000),
    ];
    for name in refused {
        let failure = sidecar.look_up(name, LookUpFamily::Any).unwrap_err();
        assert!(["not-allowed", "special-name", "invalid-name"].contains(&&*reason(failure).0), "{name}");
        reason(sidecar.query(name, 1).unwrap_err());
    }
    assert_eq!(server.count(), 0);
    assert_eq!(reason(sidecar.look_up("a.nobody.example", LookUpFamily::Any).unwrap_err()).0, "not-allowed");
    let unknown = sidecar.ask(&ToEdge::LookUp { runtime: 9, name: "a.example".to_owned(), family: LookUpFamily::Any });
    assert!(matches!(unknown, ToSidecar::Failed { failure: Failure { kind: FailureKind::Denied(_), .. } }));
    sidecar.look_up("x.b.example", LookUpFamily::Any).unwrap();
    assert_eq!(server.count(), 2);
}

/// The attack: a name that is public first and then the loopback.
#[test]
fn rebinding_reaches_no_local_listener_in_a_thousand_rounds() {
    let local = Counting::echo();
    let server = Server::new(|query| {
        let name = query.name();
        let address = if query.number % 2 == 0 { "8.8.8.8" } else { "127.0.0.1" };
        vec![query.answer(&[(&name, 0, address)])]
    });
    let mut sidecar = edge(&server, &["*.rebind.example:*"], &[]);
    sidecar.set(1, Options { outside: OutsideMode::Public, ..options(&[&server], &["rebind.example:*"], &[]) });
    let (mut public, mut refused) = (0, 0);
    for round in 0..1_000 {
        match sidecar.look_up("rebind.example", LookUpFamily::V4) {
            Ok(addresses) => {
                assert_eq!(addresses, ["8.8.8.8"]);
                public += 1;
            }
            Err(failure) => {
                assert_eq!(reason(failure), ("private-address".to_owned(), Some("loopback".to_owned())));
                refused += 1;
            }
        }
        let connected = sidecar.connect(round, local.address).unwrap_err().unwrap();
        assert_eq!(reason(connected).0, "private-address");
    }
    assert_eq!((public, refused, server.count()), (500, 500, 1_000));
    assert_eq!(local.count(), 0, "a connection reached the local listener");
}

#[test]
fn one_address_that_is_not_public_drops_all_addresses_of_both_families() {
    let local = Counting::echo();
    let port = local.address.port();
    let server = Server::new(|query| {
        let name = query.name();
        let records: &[&str] = match &*name {
            "mixed.example" => &["8.8.8.8", "10.0.0.1"],
            "mapped.example" => &["8.8.8.8", "::ffff:127.0.0.1"],
            "metadata.example" => &["169.254.169.254"],
            _ => &["8.8.8.8", "fd00:ec2::254"],
        };
        let records: Vec<_> = records.iter().map(|address| (&*name, 60, *address)).collect();
        vec![query.answer(&records)]
    });
    let mut sidecar = edge(&server, &["*.example:*"], &[]);
    for name in ["mixed.example", "mapped.example", "metadata.example", "other.example"] {
        let failure = sidecar.look_up(name, LookUpFamily::Any).unwrap_err();
        assert_eq!(reason(failure).0, "private-address", "{name}");
        assert_eq!(reason(sidecar.query(name, 255).unwrap_err()).0, "private-address", "{name}");
    }
    // No name was pinned to the public address either.
    let failure = sidecar.connect(1, "8.8.8.8:443".parse().unwrap()).unwrap_err().unwrap();
    assert_eq!(reason(failure).0, "name-not-pinned");
    let failure = sidecar.connect(2, format!("[::ffff:127.0.0.1]:{port}").parse().unwrap()).unwrap_err().unwrap();
    assert_eq!(reason(failure).0, "private-address");
    assert_eq!(local.count(), 0);
}

#[test]
fn aliases_are_followed_inside_one_message_and_circles_fail() {
    let server = Server::new(|query| {
        let chain: Vec<(String, u32, String)> = match &*query.name() {
            "chain.example" => (0..8).map(|at| (at, format!("c{}.example", at + 1))).map(link("chain.example")).collect(),
            "long.example" => (0..9).map(|at| (at, format!("c{}.example", at + 1))).map(link("long.example")).collect(),
            "circle.example" => vec![
                ("circle.example".to_owned(), 60, "x.example".to_owned()),
                ("x.example".to_owned(), 60, "circle.example".to_owned()),
            ],
            "self.example" => vec![("self.example".to_owned(), 60, "self.example".to_owned())],
            // An address of another name does not count.
            _ => vec![("other.example".to_owned(), 60, "8.8.8.8".to_owned())],
        };
        let end = chain.last().map(|(_, _, target)| target.clone()).unwrap_or_default();
        let mut response = Message::from_vec(&query.answer(&[])).unwrap();
        for (owner, ttl, target) in &chain {
            if target.parse::<std::net::IpAddr>().is_err() {
                let data = RData::CNAME(hickory_proto::rr::rdata::CNAME(wire(target)));
                response.add_answer(Record::from_rdata(wire(owner), *ttl, data));
            }
        }
        let address = Message::from_vec(&query.answer(&[(&end, 60, "8.8.8.8")])).unwrap();
        response.add_answers(address.answers);
        vec![response.to_vec().unwrap()]
    });
    let mut sidecar = edge(&server, &["*.example"], &[]);
    assert_eq!(sidecar.look_up("chain.example", LookUpFamily::V4).unwrap(), ["8.8.8.8"]);
    for name in ["long.example", "circle.example", "self.example"] {
        assert_eq!(code(sidecar.look_up(name, LookUpFamily::V4)), "EAI_FAIL", "{name}");
    }
    assert_eq!(code(sidecar.look_up("stray.example", LookUpFamily::V4)), "ENOTFOUND");
}

fn link(first: &'static str) -> impl Fn((u32, String)) -> (String, u32, String) {
    move |(at, target)| (if at == 0 { first.to_owned() } else { format!("c{at}.example") }, 60, target)
}

#[test]
fn wrong_responses_are_ignored_and_the_right_one_counts() {
    let server = Server::new(|query| {
        let name = query.name();
        let right = query.answer(&[(&name, 60, "8.8.8.8")]);
        let forged = |change: &dyn Fn(&mut Message)| {
            let mut message = Message::from_vec(&query.answer(&[(&name, 60, "9.9.9.9")])).unwrap();
            change(&mut message);
            message.to_vec().unwrap()
        };
        let other_id = forged(&|message| message.metadata.id = message.metadata.id.wrapping_add(1));
        let other_name = forged(&|message| message.queries[0].name = wire("other.example"));
        let other_type = forged(&|message| message.queries[0].query_type = RecordType::AAAA);
        let no_question = forged(&|message| message.queries.clear());
        let a_query = forged(&|message| message.metadata.message_type = hickory_proto::op::MessageType::Query);
        vec![vec![0xff; 9], other_id, other_name, other_type, no_question, a_query, right]
    });
    let mut sidecar = edge(&server, &["a.example"], &[]);
    assert_eq!(sidecar.look_up("a.example", LookUpFamily::V4).unwrap(), ["8.8.8.8"]);
}

#[test]
fn a_flood_of_wrong_responses_and_a_wrong_case_move_the_query_to_tcp() {
    let server = Server::new(|query| {
        let name = query.name();
        if query.over_tcp {
            return vec![query.answer(&[(&name, 60, "8.8.8.8")])];
        }
        let mut message = Message::from_vec(&query.answer(&[(&name, 60, "9.9.9.9")])).unwrap();
        match &*name {
            "flood.example" => {
                message.metadata.id = message.metadata.id.wrapping_add(1);
                vec![message.to_vec().unwrap(); 64]
            }
            "case.example" => {
                let flipped: String = message.queries[0].name.to_ascii().chars().map(flip).collect();
                message.queries[0].name = wire(flipped.trim_end_matches('.'));
                vec![message.to_vec().unwrap()]
            }
            _ => {
                message.answers.clear();
                message.metadata.truncation = true;
                vec![message.to_vec().unwrap()]
            }
        }
    });
    let mut sidecar = edge(&server, &["*.example"], &[]);
    for name in ["flood.example", "case.example", "truncated.example"] {
        assert_eq!(sidecar.look_up(name, LookUpFamily::V4).unwrap(), ["8.8.8.8"], "{name}");
    }
    assert_eq!(server.count(), 6);
}

fn flip(letter: char) -> char {
    if letter.is_ascii_uppercase() { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() }
}

#[test]
fn the_case_of_queries_varies_and_so_do_id_and_port() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let queries = seen.clone();
    let server = Server::new(move |query| {
        queries.lock().unwrap().push((query.message.metadata.id, query.message.queries[0].name.to_ascii()));
        vec![query.answer(&[(&query.name(), 0, "8.8.8.8")])]
    });
    let mut sidecar = edge(&server, &["a-name-with-many-letters.example"], &[]);
    for _ in 0..20 {
        sidecar.look_up("a-name-with-many-letters.example", LookUpFamily::V4).unwrap();
    }
    let mut seen = seen.lock().unwrap().clone();
    assert_eq!(seen.len(), 20);
    seen.sort();
    seen.dedup_by_key(|(id, _)| *id);
    assert!(seen.len() > 15, "the ids repeat");
    seen.sort_by_key(|(_, name)| name.clone());
    seen.dedup_by_key(|(_, name)| name.clone());
    assert!(seen.len() > 15, "the case repeats");
}

#[test]
fn the_next_server_receives_the_query_at_once_after_a_failure() {
    let failing = |code| Server::new(move |query: &Query| vec![query.failing(code)]);
    let (first, second) = (failing(ResponseCode::ServFail), failing(ResponseCode::Refused));
    let garbage = Server::new(|query| vec![query.message.metadata.id.to_be_bytes().to_vec()]);
    let good = Server::new(|query| vec![query.answer(&[(&query.name(), 60, "8.8.8.8")])]);
    let closed = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut sidecar = Sidecar::new();
    let mut all = options(&[&first, &second, &garbage, &good], &["a.example"], &[]);
    all.dns_servers.insert(0, closed.to_string());
    sidecar.set(1, all);
    assert_eq!(sidecar.look_up("a.example", LookUpFamily::V4).unwrap(), ["8.8.8.8"]);
    assert_eq!([first.count(), second.count()], [1, 1]);
    let mut sidecar = Sidecar::new();
    sidecar.set(1, options(&[&first, &second], &["a.example"], &[]));
    assert_eq!(code(sidecar.look_up("a.example", LookUpFamily::V4)), "EAI_AGAIN");
    assert_eq!(query_code(sidecar.query("a.example", 15)), "EREFUSED");
    assert_eq!([first.count(), second.count()], [3, 3], "a server that has replied receives a query once");
}

#[test]
fn a_silent_server_is_left_after_its_time_and_a_silent_network_is_a_temporary_failure() {
    let silent = Server::new(|_| Vec::new());
    let good = Server::new(|query| vec![query.answer(&[(&query.name(), 60, "8.8.8.8")])]);
    let mut sidecar = Sidecar::new();
    sidecar.set(1, options(&[&silent, &good], &["a.example"], &[]));
    assert_eq!(sidecar.look_up("a.example", LookUpFamily::V4).unwrap(), ["8.8.8.8"]);
    assert_eq!(silent.count(), 1);
    // The servers are silent for 8 s.
    if coldframe_testing::repetitions(0, 1) == 1 {
        let mut sidecar = Sidecar::new();
        sidecar.set(1, options(&[&silent], &["a.example"], &[]));
        assert_eq!(code(sidecar.look_up("a.example", LookUpFamily::Any)), "EAI_AGAIN");
        assert_eq!(silent.count(), 1 + 2 * 4, "four times 2 s for each family");
    }
}

#[test]
fn missing_names_and_missing_addresses_are_not_found() {
    let server = Server::new(|query| match &*query.name() {
        "missing.example" => vec![query.failing(ResponseCode::NXDomain)],
        "short.example" => vec![query.answer(&[("short.example", 60, "8.8.8.8")])],
        _ => vec![query.answer(&[])],
    });
    let mut sidecar = edge(&server, &["*.example"], &[]);
    assert_eq!(code(sidecar.look_up("missing.example", LookUpFamily::Any)), "ENOTFOUND");
    assert_eq!(code(sidecar.look_up("empty.example", LookUpFamily::Any)), "ENOTFOUND");
    assert_eq!(sidecar.look_up("short.example", LookUpFamily::Any).unwrap(), ["8.8.8.8"]);
    assert_eq!(query_code(sidecar.query("missing.example", 15)), "ENOTFOUND");
    assert_eq!(query_code(sidecar.query("empty.example", 15)), "ENODATA");
    assert_eq!(query_code(sidecar.query("empty.example", 99)), "ENOTIMP");
}

#[test]
fn queries_return_records_and_pin_their_addresses() {
    let server = Server::new(|query| {
        let mut response = query.response();
        let owner = query.message.queries[0].name.clone();
        match query.record_type() {
            RecordType::MX => {
                let mx = MX::new(10, wire("mail.example"));
                response.add_answer(Record::from_rdata(owner, 60, RData::MX(mx)));
            }
            RecordType::TXT => {
                let text = TXT::new(vec!["v=spf1".to_owned(), "-all".to_owned()]);
                response.add_answer(Record::from_rdata(owner, 60, RData::TXT(text)));
            }
            _ => return vec![query.answer(&[(&query.name(), 60, "8.8.8.8")])],
        }
        vec![response.to_vec().unwrap()]
    });
    let mut sidecar = edge(&server, &["a.example"], &[]);
    assert_eq!(sidecar.query("a.example", 15).unwrap(), r#"[{"exchange":"mail.example","priority":10}]"#);
    assert_eq!(sidecar.query("a.example", 16).unwrap(), r#"[["v=spf1","-all"]]"#);
    assert_eq!(sidecar.query("a.example", 1).unwrap(), r#"[{"address":"8.8.8.8","ttl":60}]"#);
    // The address is pinned, so that the connection is refused because of its port only.
    let failure = sidecar.connect(1, "8.8.8.8:80".parse().unwrap()).unwrap_err().unwrap();
    assert_eq!(reason(failure).0, "not-allowed");
    let failure = sidecar.connect(2, "8.8.4.4:80".parse().unwrap()).unwrap_err().unwrap();
    assert_eq!(reason(failure).0, "name-not-pinned");
}

#[test]
fn names_below_a_wildcard_have_a_budget() {
    let server = Server::new(|query| vec![query.answer(&[(&query.name(), 0, "8.8.8.8")])]);
    let mut sidecar = edge(&server, &["*.tunnel.example"], &[]);
    let results: Vec<_> =
        (0..150).map(|number| sidecar.look_up(&format!("data{number}.tunnel.example"), LookUpFamily::V4)).collect();
    assert!(results[..100].iter().all(Result::is_ok));
    let limit = Err(FailureKind::Limit { name: "wildcardNames".to_owned() });
    assert!(results[100..].iter().all(|result| *result == limit));
    assert_eq!(server.count(), 100);
}

#[test]
fn an_allowed_name_connects_to_its_address_and_only_to_its_port() {
    let echo = Counting::echo();
    let (address, port) = (echo.address, echo.address.port());
    let server = Server::new(|query| vec![query.answer(&[(&query.name(), 60, "127.0.0.1")])]);
    let mut sidecar = edge(&server, &[], &[&format!("127.0.0.1:{port}")]);
    sidecar.set(1, options(&[&server], &[&format!("db.example:{port}")], &[&format!("127.0.0.1:{port}")]));
    assert_eq!(sidecar.look_up("db.example", LookUpFamily::V4).unwrap(), ["127.0.0.1"]);
    assert_eq!(sidecar.connect(1, address), Ok(()));
    sidecar.send(1, &ToEdge::Data(b"hello"));
    assert_eq!(sidecar.receive(1, 5), b"hello");
    let mut other = address;
    other.set_port(port.wrapping_add(1).max(1));
    assert_eq!(reason(sidecar.connect(2, other).unwrap_err().unwrap()).0, "private-address");
}

#[test]
fn fixed_names_need_no_server_and_no_rule_but_connections_are_judged() {
    let echo = Counting::echo();
    let server = Server::new(|_| Vec::new());
    let mut sidecar = Sidecar::new();
    let host = |name: &str, address: &str| DnsHost { name: name.to_owned(), addresses: vec![address.to_owned()] };
    let mut all = options(&[&server], &[], &[&echo.address.to_string()]);
    all.dns_hosts = vec![host("db", "127.0.0.1"), host("meta.test", "169.254.169.254"), host("evil.test", "127.0.0.1")];
    all.deny = vec!["evil.test".to_owned()];
    sidecar.set(1, all);
    assert_eq!(sidecar.look_up("DB", LookUpFamily::Any).unwrap(), ["127.0.0.1"]);
    assert_eq!(sidecar.connect(1, echo.address), Ok(()));
    assert_eq!(code(sidecar.look_up("db", LookUpFamily::V6)), "ENOTFOUND");
    assert_eq!(sidecar.look_up("meta.test", LookUpFamily::Any).unwrap(), ["169.254.169.254"]);
    let failure = sidecar.connect(2, "169.254.169.254:80".parse().unwrap()).unwrap_err().unwrap();
    assert_eq!(reason(failure), ("private-address".to_owned(), Some("metadata".to_owned())));
    assert_eq!(reason(sidecar.look_up("evil.test", LookUpFamily::Any).unwrap_err()).0, "denied");
    assert_eq!(server.count(), 0);
}

#[test]
fn an_expired_address_is_used_while_no_server_replies() {
    let server = Server::new(|query| match query.number {
        0 => vec![query.answer(&[(&query.name(), 0, "8.8.8.8")])],
        _ => vec![query.failing(ResponseCode::ServFail)],
    });
    let mut sidecar = edge(&server, &["a.example"], &[]);
    for _ in 0..3 {
        assert_eq!(sidecar.look_up("a.example", LookUpFamily::V4).unwrap(), ["8.8.8.8"]);
    }
    assert_eq!(server.count(), 3);
    // Another policy does not use the addresses that the former policy has judged.
    sidecar.set(1, options(&[&server], &["a.example", "b.example"], &[]));
    assert_eq!(code(sidecar.look_up("a.example", LookUpFamily::V4)), "EAI_AGAIN");
}

#[test]
fn look_ups_of_one_runtime_are_bounded_and_fail_when_the_runtime_ends() {
    let silent = Server::new(|_| Vec::new());
    let mut sidecar = edge(&silent, &["*.example"], &[]);
    let name = |number: u32| format!("n{}.example", number % 50);
    for number in 0..300 {
        sidecar.send(1_000 + number, &ToEdge::LookUp { runtime: 1, name: name(number), family: LookUpFamily::V4 });
    }
    for number in 256..300 {
        let reply = sidecar.reply(1_000 + number);
        let expected = FailureKind::Limit { name: "lookups".to_owned() };
        assert!(matches!(&reply, ToSidecar::Failed { failure } if failure.kind == expected), "{reply:?}");
    }
    sidecar.send(0, &ToEdge::RuntimeEnd { runtime: 1 });
    for number in 0..256 {
        let reply = sidecar.reply(1_000 + number);
        assert!(
            matches!(&reply, ToSidecar::Failed { failure } if matches!(failure.kind, FailureKind::Invalid { .. })),
            "{reply:?}"
        );
    }
    sidecar.finish().unwrap();
}
