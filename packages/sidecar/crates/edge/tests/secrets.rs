//! Secrets: the socket on which values arrive, placeholders, injected headers and masks.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use coldframe_edge_link::*;
use common::embedder::*;
use common::http::*;
use common::*;
use std::io::{Read, Write};

/// An edge whose runtime 1 has the secret for the origin, over plain connections.
fn with_secret(origin: &Origin, inject: &[(&str, &str)]) -> (Sidecar, Embedder) {
    let mut sidecar = Sidecar::new();
    let header = |(name, value): &(&str, &str)| InjectedHeader { name: (*name).to_owned(), value: (*value).to_owned() };
    let inject = inject.iter().map(header).collect();
    sidecar.set(1, options(vec![HttpRule { inject, ..rule(format!("api.test:{}", origin.port()), None, None) }]));
    let mut embedder = Embedder::open(&mut sidecar, 1).unwrap_or_else(|failure| panic!("{failure:?}"));
    embedder.set(&format!("api.test:{}", origin.port()), true).unwrap();
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
    let (mut sidecar, mut embedder) = with_secret(&origin, &[]);
    embedder.set(&format!("api.test:{}", origin.port()), false).unwrap();
    exchange(&mut sidecar, 1, &origin, &bearer(""));
    embedder.set("api.test", true).unwrap();
    exchange(&mut sidecar, 2, &origin, &bearer(""));
    embedder.set(&format!("*.api.test:{}", origin.port()), true).unwrap();
    exchange(&mut sidecar, 3, &origin, &bearer(""));
    assert!(origin.seen().iter().all(|seen| header(seen, "authorization") == Some(&format!("Bearer {KEY}"))));
    assert_eq!(origin.seen().len(), 3);
}

#[test]
fn an_injected_header_replaces_the_guests_header() {
    let origin = echo();
    let (mut sidecar, mut embedder) = with_secret(&origin, &[("Authorization", "Bearer ${KEY}")]);
    let more = "Connection: authorization\r\nAuthorization: mine\r\nAUTHORIZATION: mine too\r\n";
    let response = exchange(&mut sidecar, 1, &origin, &request("GET", "/", more));
    let seen = origin.seen().remove(0);
    let values: Vec<&str> = seen.lines().filter(|line| line.to_ascii_lowercase().starts_with("authorization")).collect();
    assert_eq!(values, [format!("authorization: Bearer {VALUE}")]);
    assert!(!response.contains(VALUE));
    embedder.ask(&SecretRequest::Value { name: "KEY", value: None }).unwrap();
    let response = exchange(&mut sidecar, 2, &origin, &get("/"));
    assert_eq!((status(&response), header(&response, "coldframe-denied")), ("403", Some("secret-missing")));
}

#[test]
fn a_rotated_value_is_used_by_the_next_request_of_an_open_connection() {
    let origin = Origin::ok();
    let (mut sidecar, mut embedder) = with_secret(&origin, &[]);
    assert_eq!(sidecar.connect(1, origin.address), Ok(()));
    let ok = |sidecar: &mut Sidecar| {
        sidecar.send(1, &ToEdge::Data(&bearer("")));
        let mut received = Vec::new();
        while !received.ends_with(b"ok") {
            received.extend(sidecar.receive_without_credit(1));
        }
    };
    ok(&mut sidecar);
    embedder.ask(&SecretRequest::Value { name: "KEY", value: Some(SecretBytes(b"another-value")) }).unwrap();
    ok(&mut sidecar);
    let values: Vec<String> = origin.seen().iter().map(|seen| header(seen, "authorization").unwrap().to_owned()).collect();
    assert_eq!(values, [format!("Bearer {VALUE}"), "Bearer another-value".to_owned()]);
    embedder.ask(&SecretRequest::Remove { name: "KEY" }).unwrap();
    assert_eq!(embedder.ask(&SecretRequest::Remove { name: "KEY" }), Err("name".to_owned()));
}

#[test]
fn a_missing_value_refuses_the_requests_that_carry_its_placeholder() {
    let origin = Origin::ok();
    let (mut sidecar, mut embedder) = with_secret(&origin, &[]);
    embedder.ask(&SecretRequest::Value { name: "KEY", value: None }).unwrap();
    let response = exchange(&mut sidecar, 1, &origin, &bearer(""));
    assert_eq!((status(&response), header(&response, "coldframe-denied")), ("403", Some("secret-missing")));
    assert!(response.contains("\"detail\":\"KEY\""), "{response}");
    assert_eq!(status(&exchange(&mut sidecar, 2, &origin, &get("/"))), "200");
}

#[test]
fn a_streamed_echo_is_masked_across_pieces_without_delay() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = Origin::ok();
    let (mut sidecar, mut embedder) = with_secret(&origin, &[]);
    let address = listener.local_addr().unwrap();
    sidecar.update(
        1,
        OptionsChange {
            http: Change::Replace(vec![rule(format!("api.test:{}", address.port()), None, None)]),
            ..OptionsChange::default()
        },
        Existing::Recheck,
    );
    embedder.set(&format!("api.test:{}", address.port()), true).unwrap();
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
fn wrong_secrets_and_sockets_are_refused() {
    let origin = Origin::ok();
    let (mut sidecar, mut embedder) = with_secret(&origin, &[]);
    let good = || secret(&["api.test"], false);
    for (what, wrong) in [
        ("value", SecretSet { value: Some(SecretBytes(b"a\r\nb")), ..good() }),
        ("value", SecretSet { value: Some(SecretBytes(b"")), ..good() }),
        ("placeholder", SecretSet { placeholder: Some("short"), ..good() }),
        ("hosts", SecretSet { hosts: vec!["10.0.0.1"], ..good() }),
        ("secret", SecretSet { hosts: vec![], ..good() }),
        ("secret", SecretSet { name: "a b", ..good() }),
        ("in", SecretSet { places: Some(vec!["header:proxy-authorization"]), ..good() }),
        ("in", SecretSet { places: Some(vec!["body:/a"]), ..good() }),
    ] {
        assert_eq!(embedder.ask(&SecretRequest::Set(wrong.clone())), Err(what.to_owned()), "{wrong:?}");
    }
    assert!(matches!(Embedder::open(&mut sidecar, 2), Err(FailureKind::Invalid { .. })), "another runtime");
    // A frame that breaks the rules of the socket ends the socket, and not the link.
    embedder.0.write_all(&[255; 9]).unwrap();
    assert_eq!(embedder.0.read(&mut [0; 1]).unwrap_or(0), 0);
    let mut more: Vec<Embedder> =
        (0..4).map(|_| Embedder::open(&mut sidecar, 1).unwrap_or_else(|kind| panic!("{kind:?}"))).collect();
    assert!(more.iter_mut().all(|embedder| embedder.set("api.test", false).is_ok()));
    let Ok(mut fifth) = Embedder::open(&mut sidecar, 1) else { panic!("no reply") };
    assert_eq!(fifth.0.read(&mut [0; 1]).unwrap_or(0), 0, "at most four sockets");
    sidecar.send(0, &ToEdge::RuntimeEnd { runtime: 1 });
    assert_eq!(more.remove(0).0.read(&mut [0; 1]).unwrap_or(0), 0, "the runtime has ended");
}

#[test]
fn a_message_without_its_descriptor_ends_the_link() {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, loopback());
    sidecar.send(5, &ToEdge::SecretsOpen { runtime: 1 });
    assert_eq!(sidecar.read(), None);
    assert!(matches!(sidecar.finish(), Err(coldframe_edge::LinkFault::Rules(_))));
}
