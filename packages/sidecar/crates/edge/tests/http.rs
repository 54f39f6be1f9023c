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
fn an_upgrade_other_than_a_websocket_is_refused() {
    let origin = Origin::ok();
    let mut sidecar = edge(&origin, None, None);
    for (flow, (method, more)) in [
        ("GET", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP\r\n"),
        ("GET", "Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n"),
        ("GET", "Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n"),
        ("GET", "Upgrade: websocket\r\n"),
        ("POST", "Connection: Upgrade\r\nUpgrade: websocket\r\n"),
    ]
    .into_iter()
    .enumerate()
    {
        let next = get("/next");
        let response = exchange(&mut sidecar, 1 + flow as u32, &origin, &[request(method, "/", more), next].concat());
        assert_eq!((status(&response), header(&response, "coldframe-denied")), ("403", Some("upgrade")), "{more}");
        assert!(response.contains("HTTP/1.1 200 OK"), "the bytes behind the request are the next request: {response}");
    }
    assert!(origin.seen().iter().all(|seen| seen.starts_with("GET /next ")));
}

#[test]
fn a_peer_cannot_change_the_protocol_without_a_request_for_it() {
    let socket = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (more, protocol) in [("", "websocket"), ("", "h2c"), (socket, "h2c")] {
        let (mut sidecar, mut peer) = pair("/", more);
        let reply = format!("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: {protocol}\r\n\r\n");
        peer.write_all(reply.as_bytes()).unwrap();
        let response = until(&mut sidecar, "}}");
        assert_eq!((status(&response), header(&response, "coldframe-denied")), ("502", Some("upgrade")), "{protocol}");
        sidecar.ended(1);
    }
}

#[test]
fn a_response_with_two_readings_is_refused() {
    for (case, reply) in [
        ("both", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nok"),
        ("different lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok"),
        ("a signed length", "HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\nok"),
        ("another coding", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nok"),
        ("chunked twice", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
        ("a folded header", "HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n"),
        ("a space before the colon", "HTTP/1.1 200 OK\r\ncontent-length : 0\r\n\r\n"),
        ("a NUL", "HTTP/1.1 200 OK\r\nx: a\0\r\ncontent-length: 0\r\n\r\n"),
        ("no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n"),
    ] {
        let (mut sidecar, mut peer) = pair("/", "");
        peer.write_all(reply.as_bytes()).unwrap();
        let response = until(&mut sidecar, "}}");
        assert_eq!((status(&response), header(&response, "coldframe-denied")), ("502", Some("malformed-response")), "{case}");
        sidecar.ended(1);
    }
}

#[test]
fn a_second_response_does_not_answer_the_next_request() {
    let (mut sidecar, mut peer) = pair("/", "");
    let ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let smuggled = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nother";
    peer.write_all(format!("HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n{ok}{smuggled}").as_bytes()).unwrap();
    let first = until(&mut sidecar, "ok");
    assert!(first.starts_with("HTTP/1.1 200 OK\r\n") && !first.contains("other"), "{first}");
    sidecar.send(1, &ToEdge::Data(&get("/next")));
    let mut rest = Vec::new();
    loop {
        match sidecar.read() {
            Some((1, Got::Data(bytes))) => rest.extend(bytes),
            Some((1, Got::Other(ToSidecar::Closed { .. }))) | None => break,
            _ => {}
        }
    }
    assert!(!String::from_utf8_lossy(&rest).contains("other"), "{rest:?}");
}

#[test]
fn a_large_upload_waits_for_the_peer() {
    const TOTAL: usize = 4 << 20;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut sidecar = Sidecar::new();
    sidecar.set(1, options(vec![rule(format!("api.test:{}", address.port()), None, None)]));
    assert_eq!(sidecar.connect(1, address), Ok(()));
    let head = request("POST", "/", &format!("Content-Length: {TOTAL}\r\n"));
    let mut window = window::SendWindow::default();
    assert!(window.send(head.len() as u64));
    sidecar.send(1, &ToEdge::Data(&head));
    let (peer, _) = listener.accept().unwrap();
    peer.set_read_timeout(Some(HANG)).unwrap();
    let piece = [b'x'; MAX_DATA_BYTES];
    let mut sent = 0;
    while window.send(piece.len() as u64) {
        sidecar.send(1, &ToEdge::Data(&piece));
        sent += piece.len();
    }
    assert!(sent < TOTAL, "the window is smaller than the body");
    let reader = std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 20];
        let (mut peer, mut count) = (peer, 0);
        while count < TOTAL {
            let read = peer.read(&mut buffer).unwrap();
            assert!(read > 0);
            count += buffer[..read].iter().filter(|byte| **byte == b'x').count();
        }
        peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
        peer
    });
    while sent < TOTAL {
        let bytes = sidecar.wait(|id, got| match got {
            Got::Other(ToSidecar::Credit { bytes }) if id == 1 => Some(*bytes),
            _ => None,
        });
        sidecar.forget();
        assert!(window.credit(bytes));
        while sent < TOTAL && window.send(piece.len() as u64) {
            let here = piece.len().min(TOTAL - sent);
            sidecar.send(1, &ToEdge::Data(&piece[..here]));
            sent += here;
        }
    }
    assert!(until(&mut sidecar, "ok").starts_with("HTTP/1.1 200 OK"));
    drop(reader.join().unwrap());
}

#[test]
fn a_peer_receives_all_requests_of_a_closed_flow_and_then_the_end() {
    // The body is longer than the pipe to the filter.
    let body = "x".repeat(150_000);
    let post = [request("POST", "/", &format!("Content-Length: {}\r\n", body.len())), body.clone().into_bytes()].concat();
    for has_next in [false, true] {
        let (mut sidecar, mut peer) = pair("/", "");
        // The edge has 60 seconds for the last bytes of a closed flow.
        peer.set_read_timeout(Some(HANG / 2)).unwrap();
        if has_next {
            post.chunks(MAX_DATA_BYTES).for_each(|piece| sidecar.send(1, &ToEdge::Data(piece)));
        } else {
            peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345").unwrap();
            until(&mut sidecar, "12345");
        }
        sidecar.send(1, &ToEdge::Close { reset: false });
        let mut reader = BufReader::new(peer.try_clone().unwrap());
        if has_next {
            peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
            assert_eq!(read_message(&mut reader).unwrap().1, body.as_bytes());
        }
        assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
    }
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
fn a_connection_continues_after_a_refusal() {
    let origin = Origin::ok();
    let mut sidecar = edge(&origin, Some(&["GET"]), None);
    assert_eq!(sidecar.connect(1, origin.address), Ok(()));
    for (method, end) in [("GET", "ok"), ("PUT", "}}"), ("GET", "ok"), ("PUT", "}}"), ("PUT", "}}"), ("GET", "ok")] {
        sidecar.send(1, &ToEdge::Data(&request(method, "/", "")));
        until(&mut sidecar, end);
    }
    assert_eq!(origin.seen().len(), 3);
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
        placeholders: vec![],
        denied: None,
    };
    assert_eq!(event, expected);
}
