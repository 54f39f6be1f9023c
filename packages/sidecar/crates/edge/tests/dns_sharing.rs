//! Look-ups that need no query: equal queries at the same time, and names without an address.
//! Then the parts of a query that depend on the server: EDNS and NAT64.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test")]

mod common;

use coldframe_edge::Surroundings;
use coldframe_edge_link::*;
use common::dns::{Query, Server, wire};
use common::*;
use hickory_proto::op::{Edns, ResponseCode};
use hickory_proto::rr::rdata::SOA;
use hickory_proto::rr::{RData, Record, RecordType};
use std::io::Write;
use std::sync::{Arc, Mutex, mpsc};

fn edge(server: &Server, allow: &[&str]) -> Sidecar {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, options(server, allow));
    sidecar
}

fn options(server: &Server, allow: &[&str]) -> Options {
    let allow = allow.iter().map(|text| (*text).to_owned()).collect();
    Options { allow, dns_servers: vec![server.address.to_string()], limits: wide(), ..Options::default() }
}

fn code(result: Result<Vec<String>, FailureKind>) -> String {
    match result {
        Err(FailureKind::Dns(code)) => code,
        other => panic!("{other:?}"),
    }
}

/// Returns a response without an address. The zone states the time for which it may be used.
fn nothing(query: &Query, code: ResponseCode, seconds: u32) -> Vec<u8> {
    let mut response = query.response();
    response.metadata.response_code = code;
    let soa = SOA::new(wire("ns.example"), wire("root.example"), 1, 2, 3, 4, seconds);
    response.add_authority(Record::from_rdata(wire("example"), 3_600, RData::SOA(soa)));
    response.to_vec().unwrap()
}

#[test]
fn equal_queries_at_the_same_time_are_sent_once() {
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let server = Server::new(move |query| {
        released.lock().unwrap().recv().unwrap();
        match query.record_type() {
            RecordType::A => vec![query.answer(&[(&query.name(), 0, "8.8.8.8")])],
            _ => vec![query.answer(&[])],
        }
    });
    let mut sidecar = edge(&server, &["*.example"]);
    for request in 1_000..1_020 {
        let name = if request < 1_010 { "A.example" } else { "b.example." }.to_owned();
        sidecar.send(request, &ToEdge::LookUp { runtime: 1, name, family: LookUpFamily::V4 });
    }
    for request in 1_020..1_030 {
        sidecar.send(request, &ToEdge::Query { runtime: 1, name: "a.example".to_owned(), record_type: 15 });
    }
    // The reply follows the look-ups.
    sidecar.ask(&ToEdge::Check { runtime: 1, url: "http://a.example/".to_owned(), method: String::new() });
    (0..3).for_each(|_| release.send(()).unwrap());
    for request in 1_000..1_030 {
        let is_right = match sidecar.reply(request) {
            ToSidecar::Addresses { addresses } => request < 1_020 && addresses.len() == 1,
            ToSidecar::Failed { failure } => request >= 1_020 && failure.kind == FailureKind::Dns("ENODATA".to_owned()),
            _ => false,
        };
        assert!(is_right, "{request}");
    }
    assert_eq!(server.count(), 3);
}

#[test]
fn many_lookups_of_a_runtime_do_not_delay_the_lookup_of_another_runtime() {
    let hosts = vec![DnsHost { name: "fixed.example".to_owned(), addresses: vec!["8.8.8.8".to_owned()] }];
    let options = Options { dns_hosts: hosts, limits: wide(), ..Options::default() };
    let mut sidecar = Sidecar::new();
    sidecar.set(1, options.clone());
    sidecar.set(2, options);
    // One write, so that the edge has all requests before it runs any of them.
    let mut bytes = Vec::new();
    let look_up = |runtime| ToEdge::LookUp { runtime, name: "fixed.example".to_owned(), family: LookUpFamily::V4 };
    (1_000..1_200).for_each(|request| look_up(1).encode(request, &mut bytes).unwrap());
    look_up(2).encode(2_000, &mut bytes).unwrap();
    sidecar.stream.write_all(&bytes).unwrap();
    let replies: Vec<u32> =
        (0..201).map(|_| sidecar.wait(|id, got| matches!(got, Got::Other(ToSidecar::Addresses { .. })).then_some(id))).collect();
    let place = replies.iter().position(|id| *id == 2_000).unwrap();
    assert!(place <= 16, "{place} replies of the other runtime are first");
}

#[test]
fn a_name_without_an_address_is_cached_for_the_time_of_its_zone() {
    let server = Server::new(|query| match &*query.name() {
        "missing.example" => vec![nothing(query, ResponseCode::NXDomain, 60)],
        "short.example" if query.record_type() == RecordType::AAAA => vec![nothing(query, ResponseCode::NoError, 60)],
        "short.example" => vec![query.answer(&[("short.example", 60, "8.8.8.8")])],
        "at-once.example" => vec![nothing(query, ResponseCode::NXDomain, 0)],
        _ => vec![query.failing(ResponseCode::NXDomain)],
    });
    let mut sidecar = edge(&server, &["*.example"]);
    for _ in 0..3 {
        assert_eq!(code(sidecar.look_up("missing.example", LookUpFamily::V4)), "ENOTFOUND");
        assert_eq!(sidecar.look_up("short.example", LookUpFamily::Any).unwrap(), ["8.8.8.8"]);
    }
    assert_eq!(server.count(), 1 + 2);
    for name in ["at-once.example", "unstated.example"] {
        let before = server.count();
        for _ in 0..3 {
            assert_eq!(code(sidecar.look_up(name, LookUpFamily::V4)), "ENOTFOUND");
        }
        assert_eq!(server.count() - before, 3, "{name}");
    }
    // Another policy asks again.
    sidecar.set(1, options(&server, &["missing.example"]));
    let before = server.count();
    assert_eq!(code(sidecar.look_up("missing.example", LookUpFamily::V4)), "ENOTFOUND");
    assert_eq!(server.count() - before, 1);
}

#[test]
fn a_query_states_the_size_of_a_datagram_and_is_repeated_without_edns() {
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let seen = sizes.clone();
    let server = Server::new(move |query| {
        let edns = query.message.edns.as_ref();
        seen.lock().unwrap().push(edns.map(Edns::max_payload));
        match &*query.name() {
            "old.example" if edns.is_some() => vec![query.failing(ResponseCode::FormErr)],
            "older.example" if edns.is_some() => vec![query.failing(ResponseCode::NotImp)],
            "wrong.example" => vec![query.failing(ResponseCode::FormErr)],
            _ => vec![query.answer(&[(&query.name(), 60, "8.8.8.8")])],
        }
    });
    let mut sidecar = edge(&server, &["*.example"]);
    for name in ["new.example", "old.example", "older.example"] {
        assert_eq!(sidecar.look_up(name, LookUpFamily::V4).unwrap(), ["8.8.8.8"], "{name}");
    }
    assert_eq!(code(sidecar.look_up("wrong.example", LookUpFamily::V4)), "EAI_AGAIN");
    let expected = [Some(1_232), Some(1_232), None, Some(1_232), None, Some(1_232), None];
    assert_eq!(*sizes.lock().unwrap(), expected);
}

#[test]
fn an_address_behind_nat64_is_judged_by_the_address_inside() {
    let server = |prefix: &'static str| {
        Server::new(move |query| {
            let name = query.name();
            let inner = match &*name {
                "ipv4only.arpa" => "c000:00aa",
                "public.example" => "0808:0808",
                "private.example" => "0a00:0001",
                _ => "a9fe:a9fe",
            };
            vec![query.answer(&[(&name, 60, &format!("{prefix}{inner}"))])]
        })
    };
    let discovers = || Surroundings { has_v6: true, discovers_nat64: true, ..Surroundings::default() };
    for prefix in ["64:ff9b::", "2606:4700:64::"] {
        let server = server(prefix);
        let mut sidecar = Sidecar::with(discovers());
        sidecar.set(1, options(&server, &["*.example"]));
        let found = sidecar.look_up("public.example", LookUpFamily::Any).unwrap();
        assert_eq!(found, [format!("{prefix}808:808")]);
        assert_eq!(sidecar.look_up("public.example", LookUpFamily::V6).unwrap(), found);
        assert_eq!(server.count(), 2, "the prefix is learned once");
        for (name, detail) in [("private.example", "nat64"), ("metadata.example", "metadata")] {
            let refused = sidecar.look_up(name, LookUpFamily::Any).unwrap_err();
            assert_eq!(reason(refused), ("private-address".to_owned(), Some(detail.to_owned())), "{prefix} {name}");
        }
        assert_eq!(server.count(), 4);
    }
    // Without a discovery no address of the usual prefix is used.
    let server = server("64:ff9b::");
    let mut sidecar = edge(&server, &["*.example"]);
    let refused = sidecar.look_up("public.example", LookUpFamily::V6).unwrap_err();
    assert_eq!(reason(refused), ("private-address".to_owned(), Some("nat64".to_owned())));
    // A network without NAT64 receives one query about prefixes.
    let plain = Server::new(|query| match &*query.name() {
        "ipv4only.arpa" => vec![query.answer(&[])],
        name => vec![query.answer(&[(name, 0, "2606:4700::1111")])],
    });
    let mut sidecar = Sidecar::with(discovers());
    sidecar.set(1, options(&plain, &["*.example"]));
    for _ in 0..3 {
        assert_eq!(sidecar.look_up("public.example", LookUpFamily::V6).unwrap(), ["2606:4700::1111"]);
    }
    assert_eq!(plain.count(), 1 + 3);
}
