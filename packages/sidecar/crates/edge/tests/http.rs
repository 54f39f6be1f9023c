//! The HTTP filter: rules about requests, smuggling, streams, upgrades and secrets.
#![expect(clippy::unwrap_used, reason = "a test")]

mod common;

use coldframe_edge_link::*;
use common::http::*;
use common::*;
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const HANG: Duration = Duration::from_secs(60);

#[test]
fn a_request_is_forwarded_only_if_a_rule_allows_its_method_and_path() {
    let origin = Origin::ok();
    let mut sidecar = edge(&origin, Some(&["GET"]), Some(&["/repos/acme/**"]));
    sidecar.send(0, &ToEdge::Watch { runtime: 1, on: true });
    for (flow, (method, path, expected)) in [
        ("GET", "/repos/acme/x?page=2", None),
        ("POST", "/repos/acme/x", Some("method")),
        ("GET", "/repos/other", Some("path")),
        ("GET", "/repos/acme/../other", Some("path")),
        ("GET", "/repos/acme/%2e%2e/other", Some("path")),
        ("GET", "/repos//acme/./%78", None),
        ("GET", "/repos/acme/..%2fother", Some("invalid-path")),
        ("TRACE", "/repos/acme/x", Some("method")),
    ]
    .into_iter()
    .enumerate()
    {
        let response = exchange(&mut sidecar, 1 + flow as u32, &origin, &request(method, path, ""));
        assert_eq!(status(&response), if expected.is_some() { "403" } else { "200" }, "{method} {path}: {response}");
        assert_eq!(header(&response, "coldframe-denied"), expected, "{method} {path}");
        if let Some(reason) = expected {
            let json: serde_json::Value = serde_json::from_str(response.split("\r\n\r\n").nth(1).unwrap()).unwrap();
            assert_eq!((json["error"]["reason"].as_str(), json["error"]["host"].as_str()), (Some(reason), Some("api.test")));
        }
    }
    let lines: Vec<String> = origin.seen().iter().map(|seen| seen.lines().next().unwrap().to_owned()).collect();
    assert_eq!(lines, ["GET /repos/acme/x?page=2 HTTP/1.1", "GET /repos/acme/x HTTP/1.1"]);
    assert!(origin.seen().iter().all(|seen| header(seen, "host") == Some(&format!("api.test:{}", origin.port()))));
}

#[test]
fn a_dry_run_judges_the_method_and_the_path() {
    let origin = Origin::ok();
    let mut sidecar = edge(&origin, Some(&["GET"]), Some(&["/a/**"]));
    let mut check = |method: &str, path: &str| {
        let url = format!("http://api.test:{}{path}", origin.port());
        match sidecar.ask(&ToEdge::Check { runtime: 1, url, method: method.to_owned() }) {
            ToSidecar::Checked { decision: Decision::Allowed { rule } } => rule.unwrap().list,
            ToSidecar::Checked { decision: Decision::Refused(denied) } => denied.reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(check("GET", "/a/b"), "http");
    assert_eq!((check("PUT", "/a/b").as_str(), check("GET", "/b").as_str()), ("method", "path"));
}

#[test]
fn an_ambiguous_request_is_refused_or_reaches_the_peer_in_one_meaning() {
    let origin = Origin::ok();
    let mut sidecar = edge(&origin, None, None);
    let long = format!("x: {}\r\n", "a".repeat(70_000));
    let many = (0..200).map(|field| format!("x{field}: 1\r\n")).collect::<String>();
    let head = "POST / HTTP/1.1\r\nHost: api.test\r\n";
    let cases: Vec<(&str, String)> = vec![
        ("two hosts", format!("{head}Host: api.test\r\n\r\n")),
        ("another second host", format!("{head}Host: evil.test\r\n\r\n")),
        ("no host", "GET / HTTP/1.1\r\n\r\n".to_owned()),
        ("no host in 1.0", "GET / HTTP/1.0\r\n\r\n".to_owned()),
        ("another host", "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n".to_owned()),
        ("another port", "GET / HTTP/1.1\r\nHost: api.test:1\r\n\r\n".to_owned()),
        ("an address as host", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_owned()),
        ("user info", "GET / HTTP/1.1\r\nHost: a@api.test\r\n\r\n".to_owned()),
        ("another URL", "GET http://evil.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n".to_owned()),
        ("user info in the URL", "GET http://a@api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n".to_owned()),
        ("another scheme", "GET ftp://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n".to_owned()),
        ("CONNECT", "CONNECT api.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n".to_owned()),
        ("length, then coding", format!("{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX")),
        ("coding, then length", format!("{head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nX")),
        ("two lengths", format!("{head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")),
        ("a list of lengths", format!("{head}Content-Length: 5, 6\r\n\r\nhello!")),
        ("a signed length", format!("{head}Content-Length: +5\r\n\r\nhello")),
        ("a negative length", format!("{head}Content-Length: -5\r\n\r\nhello")),
        ("a hexadecimal length", format!("{head}Content-Length: 0x5\r\n\r\nhello")),
        ("a huge length", format!("{head}Content-Length: 99999999999999999999\r\n\r\n")),
        ("identity coding", format!("{head}Transfer-Encoding: identity\r\n\r\n")),
        ("chunked twice", format!("{head}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n")),
        ("chunked not last", format!("{head}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n")),
        ("chunked after gzip", format!("{head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")),
        ("a coding with a vertical tab", format!("{head}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n")),
        ("a coding in 1.0", "POST / HTTP/1.0\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned()),
        ("a space before the colon", format!("{head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n")),
        ("a folded header", format!("{head}X: a\r\n b\r\n\r\n")),
        ("a folded coding", format!("{head}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n")),
        ("a NUL in a value", format!("{head}X: a\0b\r\n\r\n")),
        ("a NUL in a name", format!("{head}X\0: a\r\n\r\n")),
        ("a bare CR in a value", format!("{head}X: a\rb\r\n\r\n")),
        ("a bare CR before the colon", format!("{head}X\r: a\r\n\r\n")),
        ("a bare LF", "GET /lf HTTP/1.1\nHost: api.test\n\n".to_owned()),
        ("an empty name", format!("{head}: a\r\n\r\n")),
        ("a chunk size with a sign", format!("{head}Transfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n")),
        ("a chunk size with a prefix", format!("{head}Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n")),
        ("a huge chunk size", format!("{head}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n")),
        ("a chunk without an end", format!("{head}Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX0\r\n\r\n")),
        ("a chunk extension", format!("{head}Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n")),
        ("a chunk extension with LF", format!("{head}Transfer-Encoding: chunked\r\n\r\n5;a\nhello\r\n0\r\n\r\n")),
        ("a large head", format!("{head}{long}\r\n")),
        ("many fields", format!("{head}{many}\r\n")),
        ("HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
        ("HTTP/0.9", "GET /\r\n\r\n".to_owned()),
        ("a version in another case", "GET / http/1.1\r\nHost: api.test\r\n\r\n".to_owned()),
        ("no HTTP", "\x16\x03\x01\x02\0\x01\0\x01\u{7f}\x03".to_owned()),
        (
            "a second request behind a body",
            format!("{head}Content-Length: 0\r\n\r\nGET /second HTTP/1.1\r\nHost: evil.test\r\n\r\n"),
        ),
        ("h2c", format!("{head}Connection: upgrade, http2-settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP\r\n\r\n")),
    ];
    for (flow, (case, bytes)) in cases.iter().enumerate() {
        let before = origin.seen().len();
        let response = exchange(&mut sidecar, 1 + flow as u32, &origin, bytes.as_bytes());
        let seen = origin.seen().split_off(before);
        let is_refused = ["400", "403", "431", ""].contains(&status(&response));
        match *case {
            // The parser drops the length, and the peer receives the coding alone.
            "length, then coding"
            | "coding, then length"
            | "a chunk extension"
            | "a bare LF"
            | "a second request behind a body"
            | "h2c" => {
                assert!(seen.len() <= 1, "{case}: {seen:?}");
            }
            _ => assert!(is_refused, "{case}: {response}"),
        }
        // The recording peer has a strict parser, which panics on ambiguous requests.
        for request in &seen {
            assert_eq!(header(request, "host"), Some(format!("api.test:{}", origin.port()).as_str()), "{case}");
            let has = |name: &str| header(request, name).is_some();
            assert!(!has("upgrade") && !has("connection") && !has("http2-settings"), "{case}: {request}");
            assert!(!(has("content-length") && has("transfer-encoding")), "{case}: {request}");
            assert!(!request.contains("evil.test"), "{case}: {request}");
        }
    }
}

#[test]
fn headers_about_the_connection_end_at_the_edge() {
    let reply = "HTTP/1.1 200 OK\r\nconnection: x-private\r\nx-private: 1\r\ncoldframe-denied: fake\r\n\
                 keep-alive: timeout=5\r\ncontent-length: 0\r\n\r\n";
    let origin = Origin::new(|_, _| reply.as_bytes().to_vec());
    let mut sidecar = edge(&origin, None, None);
    let more = "Connection: keep-alive, X-Secret\r\nX-Secret: a\r\nX-Kept: b\r\nProxy-Authorization: c\r\nKeep-Alive: 5\r\n";
    let response = exchange(&mut sidecar, 1, &origin, &request("GET", "/", more));
    let seen = origin.seen().remove(0);
    for gone in ["connection", "x-secret", "proxy-authorization", "keep-alive"] {
        assert_eq!(header(&seen, gone), None, "{seen}");
    }
    assert_eq!(header(&seen, "x-kept"), Some("b"));
    for gone in ["x-private", "coldframe-denied", "keep-alive"] {
        assert_eq!(header(&response, gone), None, "{response}");
    }
}

#[test]
fn bodies_of_both_directions_are_streams() {
    let origin = Origin::new(|_, body| {
        let mut reply = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        for chunk in body.chunks(10_000) {
            reply.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            reply.extend(chunk);
            reply.extend(b"\r\n");
        }
        reply.extend(b"0\r\n\r\n");
        reply
    });
    let mut sidecar = edge(&origin, Some(&["POST"]), None);
    let body = "0123456789".repeat(20_000);
    let bytes = request("POST", "/", &format!("Content-Length: {}\r\nExpect: 100-continue\r\n", body.len()));
    let response = exchange(&mut sidecar, 1, &origin, &[bytes, body.clone().into_bytes()].concat());
    assert!(response.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), "{}", &response[..200]);
    let digits = response.matches("0123456789").count();
    assert!(digits >= 19_900, "{digits}");
    assert!(origin.seen()[0].ends_with(&body));
}

/// Opens a flow of a filter to a listener of the test. Returns both ends.
fn pair(path: &str, more: &str) -> (Sidecar, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut sidecar = Sidecar::new();
    sidecar.set(1, options(vec![rule(format!("api.test:{}", address.port()), None, None)]));
    assert_eq!(sidecar.connect(1, address), Ok(()));
    sidecar.send(1, &ToEdge::Data(&request("GET", path, more)));
    let (peer, _) = listener.accept().unwrap();
    peer.set_read_timeout(Some(HANG)).unwrap();
    let mut reader = BufReader::new(peer.try_clone().unwrap());
    assert!(read_message(&mut reader).unwrap().0.starts_with(&format!("GET {path} ")));
    (sidecar, peer)
}

/// Receives bytes of flow 1 until the bytes contain a text.
fn until(sidecar: &mut Sidecar, text: &str) -> String {
    let mut received = String::new();
    while !received.contains(text) {
        received.push_str(&String::from_utf8_lossy(&sidecar.receive_without_credit(1)));
    }
    received
}

#[test]
fn each_event_of_a_stream_arrives_before_the_next_is_sent() {
    let (mut sidecar, mut peer) = pair("/events", "");
    peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").unwrap();
    until(&mut sidecar, "text/event-stream");
    for event in 0..5 {
        peer.write_all(format!("data: {event}\n\n").as_bytes()).unwrap();
        until(&mut sidecar, &format!("data: {event}\n\n"));
    }
    drop(peer);
    sidecar.ended(1);
}

#[test]
fn a_websocket_is_opaque_after_its_upgrade() {
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let (mut sidecar, mut peer) = pair("/socket", upgrade);
    peer.write_all(
        b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n",
    )
    .unwrap();
    assert!(until(&mut sidecar, "\r\n\r\n").starts_with("HTTP/1.1 101 "));
    sidecar.send(1, &ToEdge::Data(b"\x81\x05 no HTTP \r\n\r\n"));
    let mut frame = [0; 15];
    peer.read_exact(&mut frame).unwrap();
    assert_eq!(&frame, b"\x81\x05 no HTTP \r\n\r\n");
    peer.write_all(b"\x81\x02hi").unwrap();
    assert!(until(&mut sidecar, "hi").ends_with("hi"));
    sidecar.send(1, &ToEdge::End {});
    assert_eq!(peer.read(&mut frame).unwrap(), 0, "the end of a direction passes the tunnel");
    peer.write_all(b"last").unwrap();
    until(&mut sidecar, "last");
    drop(peer);
    sidecar.ended(1);
}

#[test]
fn an_upgrade_without_a_request_for_it_is_refused() {
    let (mut sidecar, mut peer) = pair("/", "Connection: upgrade\r\nUpgrade: h2c\r\n");
    peer.write_all(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n").unwrap();
    let response = until(&mut sidecar, "\r\n\r\n");
    assert_eq!((status(&response), header(&response, "coldframe-denied")), ("502", Some("upgrade")));
}

#[test]
fn the_end_of_the_peer_within_a_response_resets_the_flow() {
    let (mut sidecar, mut peer) = pair("/", "");
    peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345").unwrap();
    until(&mut sidecar, "12345");
    drop(peer);
    assert_eq!(sidecar.closed(1), Some(FailureKind::Errno(libc::ECONNRESET)));
    let (mut sidecar, peer) = pair("/", "");
    drop(peer);
    assert_eq!(sidecar.closed(1), Some(FailureKind::Errno(libc::ECONNRESET)), "no response");
}

#[test]
fn the_end_of_a_peer_before_the_first_request_ends_the_flow() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut sidecar = Sidecar::new();
    sidecar.set(1, options(vec![rule(format!("api.test:{}", address.port()), None, None)]));
    assert_eq!(sidecar.connect(1, address), Ok(()));
    drop(listener.accept().unwrap());
    sidecar.ended(1);
}

#[test]
fn the_end_of_an_idle_peer_ends_the_flow() {
    let (mut sidecar, mut peer) = pair("/", "");
    peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
    assert!(until(&mut sidecar, "ok").ends_with("ok"));
    drop(peer);
    sidecar.ended(1);
}

#[test]
fn requests_of_one_connection_use_one_connection_and_are_judged_one_by_one() {
    let origin = Origin::ok();
    let mut sidecar = edge(&origin, Some(&["GET"]), None);
    let all = [get("/1"), request("POST", "/2", "Content-Length: 3\r\n"), b"abc".to_vec(), get("/3")].concat();
    let response = exchange(&mut sidecar, 1, &origin, &all);
    let statuses: Vec<&str> = response.match_indices("HTTP/1.1 ").map(|(place, _)| &response[place + 9..place + 12]).collect();
    assert_eq!(statuses, ["200", "403", "200"]);
    let lines: Vec<String> = origin.seen().iter().map(|seen| seen.lines().next().unwrap().to_owned()).collect();
    assert_eq!(lines, ["GET /1 HTTP/1.1", "GET /3 HTTP/1.1"]);
}

#[test]
fn other_hosts_of_the_address_are_not_reached_through_the_filter() {
    let origin = Origin::ok();
    let mut sidecar = edge(&origin, Some(&["GET"]), None);
    let other = b"GET / HTTP/1.1\r\nHost: other.test\r\n\r\n";
    let response = exchange(&mut sidecar, 1, &origin, other);
    assert_eq!((status(&response), header(&response, "coldframe-denied")), ("403", Some("not-allowed")));
    assert!(origin.seen().is_empty());
}

#[test]
fn an_update_applies_to_the_next_request_and_changed_rules_reset_open_flows() {
    let origin = Origin::ok();
    let mut sidecar = edge(&origin, Some(&["GET"]), None);
    assert_eq!(sidecar.connect(1, origin.address), Ok(()));
    sidecar.send(1, &ToEdge::Data(&get("/")));
    until(&mut sidecar, "ok");
    let same = vec![rule(format!("api.test:{}", origin.port()), Some(&["GET"]), None)];
    let change = |http| OptionsChange { http: Change::Replace(http), ..OptionsChange::default() };
    assert_eq!(sidecar.update(1, change(same), Existing::Recheck), ToSidecar::Done {});
    sidecar.send(1, &ToEdge::Data(&get("/")));
    until(&mut sidecar, "ok");
    let other = vec![rule(format!("api.test:{}", origin.port()), Some(&["POST"]), None)];
    assert_eq!(sidecar.update(1, change(other), Existing::Recheck), ToSidecar::Done {});
    match sidecar.closed(1) {
        Some(FailureKind::Denied(denied)) => assert_eq!(denied.reason, "rules-changed"),
        closed => panic!("{closed:?}"),
    }
    assert_eq!(status(&exchange(&mut sidecar, 2, &origin, &get("/"))), "403");
}

#[test]
fn a_wrong_rule_leaves_the_former_rules_in_force() {
    let origin = Origin::ok();
    let mut sidecar = edge(&origin, Some(&["GET"]), None);
    let good = rule("api.test".to_owned(), None, None);
    let header = |name: &str, value: &str| InjectedHeader { name: name.to_owned(), value: value.to_owned() };
    for wrong in [
        rule("10.0.0.1".to_owned(), None, None),
        rule("api.test".to_owned(), Some(&["TRACE"]), None),
        rule("api.test".to_owned(), None, Some(&["a"])),
        HttpRule { inject: vec![header("host", "x")], ..good.clone() },
        HttpRule { inject: vec![header("proxy-authorization", "x")], ..good.clone() },
        HttpRule { inject: vec![header("authorization", "a\r\nb: c")], ..good.clone() },
        HttpRule { inject: vec![header("authorization", "${")], ..good.clone() },
    ] {
        let change = OptionsChange { http: Change::Replace(vec![good.clone(), wrong]), ..OptionsChange::default() };
        match sidecar.update(1, change, Existing::Recheck) {
            ToSidecar::Failed { failure: Failure { kind: FailureKind::InvalidEntry { list, index, .. }, .. } } => {
                assert_eq!((list.as_str(), index), ("http", 1));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(status(&exchange(&mut sidecar, 1, &origin, &get("/"))), "200");
}

#[test]
fn events_name_the_request_without_its_query() {
    let origin = Origin::ok();
    let mut sidecar = edge(&origin, Some(&["GET"]), None);
    sidecar.send(0, &ToEdge::Watch { runtime: 1, on: true });
    assert_eq!(sidecar.connect(1, origin.address), Ok(()));
    sidecar.send(1, &ToEdge::Data(&get("/a?key=secret")));
    until(&mut sidecar, "ok");
    let event = sidecar.wait(|_, got| match got {
        Got::Other(ToSidecar::Event { event: event @ Event::Request { .. }, .. }) => Some(event.clone()),
        _ => None,
    });
    let expected = Event::Request {
        flow: 1,
        method: "GET".to_owned(),
        host: "api.test".to_owned(),
        path: "/a".to_owned(),
        status: 200,
        secrets: vec![],
        denied: None,
    };
    assert_eq!(event, expected);
}
