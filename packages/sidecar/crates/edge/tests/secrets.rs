//! Secrets: sealed values, placeholders, injected headers and masks.
#![expect(clippy::unwrap_used, reason = "a test")]

mod common;

use coldframe_edge_link::*;
use common::embedder::*;
use common::http::*;
use common::*;
use std::io::Write;

/// An edge whose runtime 1 has the secret for the origin, over plain connections.
fn with_secret(origin: &Origin, inject: &[(&str, &str)]) -> (Sidecar, Embedder) {
    let mut sidecar = Sidecar::new();
    let header = |(name, value): &(&str, &str)| InjectedHeader { name: (*name).to_owned(), value: (*value).to_owned() };
    let inject = inject.iter().map(header).collect();
    let host = format!("api.test:{}", origin.port());
    let secrets = vec![entry(&[&host], true)];
    sidecar.set(1, Options { secrets, ..options(vec![HttpRule { inject, ..rule(host, None, None) }]) });
    let embedder = Embedder::asked(&mut sidecar, 1);
    embedder.value(&mut sidecar, VALUE).unwrap();
    (sidecar, embedder)
}

fn bearer(more: &str) -> Vec<u8> {
    request("GET", "/", &format!("Authorization: Bearer {KEY}\r\n{more}"))
}

/// Replies with the head of the request as the body.
fn echo() -> Origin {
    Origin::new(|head, _| {
        let key = head.lines().find_map(|line| line.strip_prefix("authorization: ")).unwrap_or_default();
        format!("HTTP/1.1 200 OK\r\nx-echo: {key}\r\ncontent-length: {}\r\n\r\n{head}", head.len()).into_bytes()
    })
}

#[test]
fn a_placeholder_becomes_the_value_and_the_echo_is_masked() {
    let origin = echo();
    let (mut sidecar, _embedder) = with_secret(&origin, &[]);
    sidecar.send(0, &ToEdge::Watch { runtime: 1, on: true });
    let response = exchange(&mut sidecar, 1, &origin, &bearer("Accept-Encoding: gzip\r\n"));
    let seen = origin.seen().remove(0);
    assert_eq!(header(&seen, "authorization"), Some(format!("Bearer {VALUE}").as_str()));
    assert_eq!(header(&seen, "accept-encoding"), Some("identity"));
    assert_eq!(status(&response), "200");
    assert!(!response.contains(VALUE), "{response}");
    let stars = "*".repeat(VALUE.len());
    assert_eq!(header(&response, "x-echo"), Some(format!("Bearer {stars}").as_str()));
    assert!(response.contains(&format!("authorization: Bearer {stars}\r\n")));
}

#[test]
fn a_placeholder_in_another_place_stays() {
    let origin = Origin::ok();
    let (mut sidecar, _embedder) = with_secret(&origin, &[]);
    let more = format!("User-Agent: {KEY}\r\nProxy-Authorization: {KEY}\r\nContent-Length: {}\r\n", KEY.len());
    let bytes = [request("POST", &format!("/{KEY}?k={KEY}"), &more), KEY.as_bytes().to_vec()].concat();
    exchange(&mut sidecar, 1, &origin, &bytes);
    let seen = origin.seen().remove(0);
    assert!(!seen.contains(VALUE) && seen.matches(KEY).count() == 4, "{seen}");
}

#[test]
fn a_named_field_of_the_query_becomes_the_value() {
    let origin = echo();
    let (mut sidecar, embedder) = with_secret(&origin, &[]);
    let places = Some(vec!["query:key".to_owned()]);
    declare(&mut sidecar, 1, vec![SecretEntry { places, ..entry(&[&format!("api.test:{}", origin.port())], true) }]);
    embedder.value(&mut sidecar, "real value & more").unwrap();
    let response = exchange(&mut sidecar, 1, &origin, &request("GET", &format!("/a?x=1&key={KEY}&Key={KEY}"), ""));
    let seen = origin.seen().remove(0);
    assert!(seen.starts_with(&format!("GET /a?x=1&key=real%20value%20%26%20more&Key={KEY} HTTP/1.1\r\n")), "{seen}");
    assert!(!response.contains("real%20value"), "{response}");
    let bytes = request("GET", "/", &format!("Authorization: Bearer {KEY}\r\n"));
    exchange(&mut sidecar, 2, &origin, &bytes);
    assert!(origin.seen()[1].contains(KEY), "a list of places replaces the default places");
    embedder.missing(&mut sidecar).unwrap();
    let response = exchange(&mut sidecar, 3, &origin, &get(&format!("/?key={KEY}")));
    assert_eq!(header(&response, "coldframe-denied"), Some("secret-missing"));
}

#[test]
fn an_event_names_placeholders_without_effect() {
    let origin = Origin::ok();
    let (mut sidecar, _embedder) = with_secret(&origin, &[]);
    sidecar.send(0, &ToEdge::Watch { runtime: 1, on: true });
    assert_eq!(sidecar.connect(1, origin.address), Ok(()));
    for (path, more, inert) in [
        ("/".to_owned(), format!("x-api-key: {KEY}\r\n"), false),
        ("/".to_owned(), format!("user-agent: {KEY}\r\n"), true),
        (format!("/{KEY}"), String::new(), true),
        (format!("/?a={KEY}"), String::new(), true),
    ] {
        sidecar.send(1, &ToEdge::Data(&request("GET", &path, &more)));
        let event = sidecar.wait(|_, got| match got {
            Got::Other(ToSidecar::Event { event: Event::Request { secrets, placeholders, .. }, .. }) => {
                Some((secrets.clone(), placeholders.clone()))
            }
            _ => None,
        });
        let named = |is: bool| if is { vec!["KEY".to_owned()] } else { Vec::new() };
        assert_eq!(event, (named(!inert), named(inert)), "{path} {more}");
    }
}

#[test]
fn basic_credentials_are_decoded() {
    let origin = echo();
    let (mut sidecar, _embedder) = with_secret(&origin, &[]);
    // `user:` and the placeholder.
    let encoded = "dXNlcjpjZnNfQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
    let response = exchange(&mut sidecar, 1, &origin, &request("GET", "/", &format!("Authorization: Basic {encoded}\r\n")));
    // `user:real-value-of-the-key`.
    let swapped = "dXNlcjpyZWFsLXZhbHVlLW9mLXRoZS1rZXk=";
    assert_eq!(header(&origin.seen()[0], "authorization"), Some(format!("Basic {swapped}").as_str()));
    assert!(!response.contains(swapped), "{response}");
}

#[test]
fn plain_connections_carry_no_value_unless_the_secret_allows_them() {
    let origin = Origin::ok();
    let (mut sidecar, _embedder) = with_secret(&origin, &[]);
    declare(&mut sidecar, 1, vec![entry(&[&format!("api.test:{}", origin.port())], false)]);
    exchange(&mut sidecar, 1, &origin, &bearer(""));
    declare(&mut sidecar, 1, vec![entry(&["api.test"], true)]);
    exchange(&mut sidecar, 2, &origin, &bearer(""));
    declare(&mut sidecar, 1, vec![entry(&[&format!("*.api.test:{}", origin.port())], true)]);
    exchange(&mut sidecar, 3, &origin, &bearer(""));
    assert!(origin.seen().iter().all(|seen| header(seen, "authorization") == Some(&format!("Bearer {KEY}"))));
    assert_eq!(origin.seen().len(), 3);
}

#[test]
fn an_injected_header_replaces_the_guests_header() {
    let origin = echo();
    let (mut sidecar, embedder) = with_secret(&origin, &[("Authorization", "Bearer ${KEY}")]);
    let more = "Connection: authorization\r\nAuthorization: mine\r\nAUTHORIZATION: mine too\r\n";
    let response = exchange(&mut sidecar, 1, &origin, &request("GET", "/", more));
    let seen = origin.seen().remove(0);
    let values: Vec<&str> = seen.lines().filter(|line| line.to_ascii_lowercase().starts_with("authorization")).collect();
    assert_eq!(values, [format!("authorization: Bearer {VALUE}")]);
    assert!(!response.contains(VALUE));
    embedder.missing(&mut sidecar).unwrap();
    let response = exchange(&mut sidecar, 2, &origin, &get("/"));
    assert_eq!((status(&response), header(&response, "coldframe-denied")), ("403", Some("secret-missing")));
}

#[test]
fn a_rotated_value_is_used_by_the_next_request_of_an_open_connection() {
    let origin = Origin::ok();
    let (mut sidecar, embedder) = with_secret(&origin, &[]);
    assert_eq!(sidecar.connect(1, origin.address), Ok(()));
    let ok = |sidecar: &mut Sidecar| {
        sidecar.send(1, &ToEdge::Data(&bearer("")));
        let mut received = Vec::new();
        while !received.ends_with(b"ok") {
            received.extend(sidecar.receive_without_credit(1));
        }
    };
    ok(&mut sidecar);
    embedder.value(&mut sidecar, "another-value").unwrap();
    ok(&mut sidecar);
    let values: Vec<String> = origin.seen().iter().map(|seen| header(seen, "authorization").unwrap().to_owned()).collect();
    assert_eq!(values, [format!("Bearer {VALUE}"), "Bearer another-value".to_owned()]);
    declare(&mut sidecar, 1, Vec::new());
    assert!(sidecar.closed(1).is_some(), "the connection had a removed secret");
    exchange(&mut sidecar, 2, &origin, &bearer(""));
    assert_eq!(header(&origin.seen()[2], "authorization"), Some(format!("Bearer {KEY}").as_str()), "the secret is removed");
}

#[test]
fn a_missing_value_refuses_the_requests_that_carry_its_placeholder() {
    let origin = Origin::ok();
    let (mut sidecar, embedder) = with_secret(&origin, &[]);
    embedder.missing(&mut sidecar).unwrap();
    let response = exchange(&mut sidecar, 1, &origin, &bearer(""));
    assert_eq!((status(&response), header(&response, "coldframe-denied")), ("403", Some("secret-missing")));
    assert!(response.contains("\"detail\":\"KEY\""), "{response}");
    assert_eq!(status(&exchange(&mut sidecar, 2, &origin, &get("/"))), "200");
}

#[test]
fn a_streamed_echo_is_masked_across_pieces_without_delay() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = Origin::ok();
    let (mut sidecar, _embedder) = with_secret(&origin, &[]);
    let address = listener.local_addr().unwrap();
    sidecar.update(
        1,
        OptionsChange {
            http: Change::Replace(vec![rule(format!("api.test:{}", address.port()), None, None)]),
            ..OptionsChange::default()
        },
        Existing::Recheck,
    );
    declare(&mut sidecar, 1, vec![entry(&[&format!("api.test:{}", address.port())], true)]);
    assert_eq!(sidecar.connect(1, address), Ok(()));
    sidecar.send(1, &ToEdge::Data(&bearer("")));
    let (mut peer, _) = listener.accept().unwrap();
    assert!(read_message(&mut std::io::BufReader::new(peer.try_clone().unwrap())).unwrap().0.contains(VALUE));
    peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: first\n\n").unwrap();
    let mut received = String::new();
    let mut until = |sidecar: &mut Sidecar, text: &str| {
        while !received.contains(text) {
            received.push_str(&String::from_utf8_lossy(&sidecar.receive_without_credit(1)));
        }
        std::mem::take(&mut received)
    };
    until(&mut sidecar, "data: first\n\n");
    let (begin, end) = VALUE.split_at(7);
    peer.write_all(format!("data: x{begin}").as_bytes()).unwrap();
    // Only the begin of the value is held back.
    let piece = until(&mut sidecar, "data: x");
    assert!(!piece.contains(begin), "{piece}");
    peer.write_all(format!("{end}y\n\n").as_bytes()).unwrap();
    let piece = until(&mut sidecar, "y\n\n");
    assert!(piece.contains(&"*".repeat(VALUE.len())) && !piece.contains(end), "{piece}");
}

#[test]
fn events_have_the_names_of_secrets_and_no_values() {
    let origin = Origin::ok();
    let (mut sidecar, _embedder) = with_secret(&origin, &[]);
    sidecar.send(0, &ToEdge::Watch { runtime: 1, on: true });
    assert_eq!(sidecar.connect(1, origin.address), Ok(()));
    sidecar.send(1, &ToEdge::Data(&bearer("")));
    let event = sidecar.wait(|_, got| match got {
        Got::Other(ToSidecar::Event { event: event @ Event::Request { .. }, .. }) => Some(event.clone()),
        _ => None,
    });
    assert!(matches!(&event, Event::Request { secrets, status: 200, .. } if secrets == &["KEY"]), "{event:?}");
    assert!(!format!("{event:?}").contains(VALUE));
}

#[test]
fn a_request_waits_for_the_first_value() {
    let origin = Origin::ok();
    let mut sidecar = Sidecar::new();
    let host = format!("api.test:{}", origin.port());
    let secrets = vec![entry(&[&host], true)];
    sidecar.set(1, Options { secrets, ..options(vec![rule(host, None, None)]) });
    let embedder = Embedder::asked(&mut sidecar, 1);
    assert_eq!(sidecar.connect(1, origin.address), Ok(()));
    sidecar.send(1, &ToEdge::Data(&bearer("")));
    // The value arrives while the request waits, or before the request: the result is equal.
    embedder.value(&mut sidecar, VALUE).unwrap();
    let mut received = Vec::new();
    while !received.ends_with(b"ok") {
        received.extend(sidecar.receive_without_credit(1));
    }
    assert_eq!(header(&origin.seen()[0], "authorization"), Some(format!("Bearer {VALUE}").as_str()));
    embedder.put(&mut sidecar, "KEY", ValueState::Unavailable, None).unwrap();
    let response = exchange(&mut sidecar, 2, &origin, &bearer(""));
    assert_eq!((status(&response), header(&response, "coldframe-denied")), ("502", Some("secret-unavailable")));
    assert!(response.contains("\"detail\":\"KEY\""), "{response}");
    assert_eq!(origin.seen().len(), 1);
}

#[test]
fn wrong_values_and_declarations_are_refused() {
    let origin = Origin::ok();
    let (mut sidecar, embedder) = with_secret(&origin, &[]);
    for wrong in [&b"a\r\nb"[..], b"", b" a"] {
        assert_eq!(embedder.put(&mut sidecar, "KEY", ValueState::Value, Some(wrong)), Err("secrets.KEY".to_owned()), "{wrong:?}");
    }
    assert_eq!(embedder.put(&mut sidecar, "NONE", ValueState::Value, Some(b"x")), Ok(()), "a removed secret");
    let good = || entry(&["api.test"], false);
    for (what, wrong) in [
        ("secrets.KEY.placeholder", SecretEntry { placeholder: Some("short".to_owned()), ..good() }),
        ("secrets.KEY.hosts", entry(&["10.0.0.1"], false)),
        ("secrets.KEY", entry(&[], false)),
        ("secrets.a b", SecretEntry { name: "a b".to_owned(), ..good() }),
        ("secrets.KEY.in", SecretEntry { places: Some(vec!["header:proxy-authorization".to_owned()]), ..good() }),
        ("secrets.KEY.in", SecretEntry { places: Some(vec!["body:/a".to_owned()]), ..good() }),
    ] {
        let change = OptionsChange { secrets: Change::Replace(vec![wrong.clone()]), ..OptionsChange::default() };
        sidecar.send(77, &ToEdge::PolicyUpdate { runtime: 1, change, existing: Existing::Recheck });
        match sidecar.reply(77) {
            ToSidecar::Failed { failure } => {
                assert!(matches!(&failure.kind, FailureKind::Invalid { what: named, .. } if named == what), "{failure:?}");
            }
            other => panic!("{wrong:?}: {other:?}"),
        }
    }
    // The former secret is still in force.
    exchange(&mut sidecar, 1, &origin, &bearer(""));
    assert_eq!(header(&origin.seen()[0], "authorization"), Some(format!("Bearer {VALUE}").as_str()));
}

#[test]
fn a_key_opens_one_message_of_its_runtime() {
    let origin = Origin::ok();
    let (mut sidecar, _embedder) = with_secret(&origin, &[]);
    sidecar.set(2, loopback());
    assert!(matches!(Embedder::key(&mut sidecar, 3), Err(FailureKind::Invalid { .. })), "no such runtime");
    let values = [SealedValue { name: "KEY", state: ValueState::Value, parts: vec![SecretBytes(b"replayed-value")] }];
    let values = encode_values(&values).unwrap();
    let key = Embedder::key(&mut sidecar, 1).unwrap_or_else(|kind| panic!("{kind:?}"));
    let sealed = seal(key, SEAL_INFO, &values);
    assert!(Embedder::send(&mut sidecar, 2, key, sealed.clone()).is_err(), "another runtime");
    assert!(Embedder::send(&mut sidecar, 1, [7; 32], sealed.clone()).is_err(), "an unknown key");
    assert!(Embedder::send(&mut sidecar, 1, key, sealed.clone()).is_ok());
    assert!(Embedder::send(&mut sidecar, 1, key, sealed).is_err(), "the key was used");
    let key = Embedder::key(&mut sidecar, 1).unwrap_or_else(|kind| panic!("{kind:?}"));
    assert!(Embedder::send(&mut sidecar, 1, key, seal(key, b"other", &values)).is_err(), "another seal");
    assert!(Embedder::send(&mut sidecar, 1, key, vec![0; (256 << 10) + 1]).is_err(), "too many bytes");
}
