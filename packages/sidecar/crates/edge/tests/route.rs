//! The way to peers: through a proxy, and from a chosen address of the machine.
#![expect(clippy::unwrap_used, reason = "a test")]

mod common;

use coldframe_edge::Times;
use coldframe_edge_link::*;
use common::dns::Server;
use common::*;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PEER: &str = "93.184.216.34:443";

/// A proxy that responds with `response`, and then sends back what it receives. Returns the address
/// and the requests.
fn proxy(response: &'static str) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = requests.clone();
    let proxy = Counting::new(move |mut stream| {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
            head.push(byte[0]);
        }
        seen.lock().unwrap().push(String::from_utf8(head).unwrap());
        // The bytes of the peer directly follow the response.
        let _ = stream.write_all(response.as_bytes());
        let mut buffer = [0; 1_024];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let _ = stream.write_all(&buffer[..count]);
        }
    });
    (proxy.address, requests)
}

fn options(proxy: &str) -> Options {
    let allow = vec![PEER.to_owned(), "[2606:2800:220:1::1]:443".to_owned()];
    Options { allow, proxy: Some(proxy.to_owned()), limits: wide(), ..Options::default() }
}

#[test]
fn a_connection_goes_through_the_proxy_after_the_policy_has_allowed_it() {
    let (address, requests) = proxy("HTTP/1.1 200 Connection established\r\nvia: x\r\n\r\n220 hello");
    let mut sidecar = Sidecar::new();
    sidecar.set(1, options(&format!("http://user:p%40ss@{address}")));
    sidecar.send(1, &ToEdge::Connect { runtime: 1, peer: PEER.parse().unwrap() });
    let peer = sidecar.wait(|id, got| match got {
        Got::Other(ToSidecar::Connected { peer, .. }) if id == 1 => Some(*peer),
        _ => None,
    });
    assert_eq!(peer.to_string(), PEER, "the peer is not the proxy");
    assert_eq!(sidecar.receive(1, 9), b"220 hello");
    sidecar.send(1, &ToEdge::Data(b"EHLO"));
    assert_eq!(sidecar.receive(1, 4), b"EHLO");
    let expected = format!("CONNECT {PEER} HTTP/1.1\r\nHost: {PEER}\r\nProxy-Authorization: Basic dXNlcjpwQHNz\r\n\r\n");
    assert_eq!(*requests.lock().unwrap(), [expected]);
    // The proxy receives nothing about a connection that the policy denies.
    let denied = sidecar.connect(2, "93.184.216.34:80".parse().unwrap()).unwrap_err().unwrap();
    assert_eq!(reason(denied).0, "not-allowed");
    sidecar.set(1, options(&format!("http://{address}")));
    assert_eq!(sidecar.connect(3, "[2606:2800:220:1::1]:443".parse().unwrap()), Ok(()));
    let requests = requests.lock().unwrap();
    assert_eq!(requests[1..], ["CONNECT [2606:2800:220:1::1]:443 HTTP/1.1\r\nHost: [2606:2800:220:1::1]:443\r\n\r\n"]);
}

#[test]
fn a_proxy_that_refuses_or_breaks_the_protocol_is_a_typed_failure() {
    let failure = |response| {
        let (address, _) = proxy(response);
        let mut sidecar = Sidecar::new();
        sidecar.set(1, options(&format!("http://{address}")));
        sidecar.connect(1, PEER.parse().unwrap()).unwrap_err().unwrap()
    };
    for (status, response) in [("403", "HTTP/1.1 403 Forbidden\r\n\r\n"), ("407", "HTTP/1.1 407 Who\r\n\r\n")] {
        assert_eq!(reason(failure(response)), ("proxy".to_owned(), Some(status.to_owned())));
    }
    assert_eq!(failure("HTTP/1.1 502 Bad\r\n\r\n"), FailureKind::Errno(113));
    assert_eq!(failure("HTTP/1.1 504 Late\r\n\r\n"), FailureKind::Errno(110));
    for broken in ["SSH-2.0-x\r\n\r\n", "HTTP/1.1 x\r\n\r\n"] {
        assert_eq!(failure(broken), FailureKind::Errno(104), "{broken}");
    }
    let endless: &'static str = "HTTP/1.1 200 OK\r\nx: y".repeat(2_000).leak();
    assert_eq!(failure(endless), FailureKind::Errno(104));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut sidecar = Sidecar::new();
    sidecar.set(1, options(&format!("http://{closed}")));
    assert_eq!(errno(sidecar.connect(1, PEER.parse().unwrap())), 111);
}

#[test]
fn the_name_of_a_proxy_needs_no_entry_and_the_loopback_needs_no_proxy() {
    let (address, requests) = proxy("HTTP/1.1 200 OK\r\n\r\n");
    let server = Server::new(|query| vec![query.answer(&[(&query.name(), 60, "127.0.0.1")])]);
    let echo = Counting::echo();
    let mut sidecar = Sidecar::new();
    let named = |name: &str| Options {
        private: vec![echo.address.to_string()],
        dns_servers: vec![server.address.to_string()],
        dns_hosts: vec![DnsHost { name: "fixed".to_owned(), addresses: vec!["127.0.0.1".to_owned()] }],
        ..options(&format!("http://{name}:{}", address.port()))
    };
    sidecar.set(1, named("proxy.example"));
    assert_eq!(sidecar.connect(1, PEER.parse().unwrap()), Ok(()));
    assert_eq!(sidecar.connect(2, PEER.parse().unwrap()), Ok(()));
    assert_eq!((server.count(), requests.lock().unwrap().len()), (1, 2), "the address is cached");
    assert_eq!(reason(sidecar.look_up("proxy.example", LookUpFamily::V4).unwrap_err()).0, "not-allowed");
    sidecar.set(1, named("fixed"));
    assert_eq!(sidecar.connect(3, PEER.parse().unwrap()), Ok(()));
    assert_eq!((server.count(), requests.lock().unwrap().len()), (1, 3));
    assert_eq!(sidecar.connect(4, echo.address), Ok(()));
    sidecar.send(4, &ToEdge::Data(b"x"));
    assert_eq!(sidecar.receive(4, 1), b"x", "the server has accepted the connection");
    assert_eq!((echo.count(), requests.lock().unwrap().len()), (1, 3));
}

#[test]
fn a_connection_begins_at_the_chosen_address() {
    let all = if_addrs::get_if_addrs().unwrap();
    let own = all.iter().map(if_addrs::Interface::ip).find(|address| address.is_ipv4() && !address.is_loopback());
    // A machine that has only the loopback has no other address to choose.
    let Some(own) = own else { return };
    let listener = TcpListener::bind((own, 0)).unwrap();
    let peer = listener.local_addr().unwrap();
    let from = |local: Option<&str>| {
        let local_address = local.map(str::to_owned);
        Options { private: vec![peer.to_string()], local_address, limits: wide(), ..Options::default() }
    };
    let mut sidecar = Sidecar::new();
    for (flow, local, expected) in [(1, None, own), (2, Some("127.0.0.2"), IpAddr::from([127, 0, 0, 2]))] {
        sidecar.set(1, from(local));
        assert_eq!(sidecar.connect(flow, peer), Ok(()));
        assert_eq!(listener.accept().unwrap().1.ip(), expected);
    }
    for local in ["203.0.113.9", "2001:db8::9"] {
        sidecar.set(1, from(Some(local)));
        assert_eq!(errno(sidecar.connect(9, peer)), 99, "{local}");
    }
    let wrong = ToEdge::PolicySet { runtime: 1, options: from(Some("x")) };
    assert!(matches!(sidecar.ask(&wrong), ToSidecar::Failed { .. }));
}

#[test]
fn a_connection_through_a_silent_proxy_times_out() {
    let (address, _) = proxy("");
    let mut sidecar = Sidecar::with_times(Times { connect: Duration::from_millis(100), ..Times::default() });
    sidecar.set(1, options(&format!("http://{address}")));
    assert_eq!(sidecar.connect(1, PEER.parse().unwrap()), Err(Some(FailureKind::Errno(libc::ETIMEDOUT))));
}
