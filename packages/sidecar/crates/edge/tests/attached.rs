//! Sessions of TLS over the connections of flows, with a server of rustls on the loopback.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed call fails the test")]

mod common;

use coldframe_edge::{Surroundings, Times};
use coldframe_edge_link::*;
use common::http::{options, read_message, rule};
use common::{Counting, Got, Sidecar, loopback};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

const CONNECTION: u32 = 1;
const SESSION: u32 = 2;
const START: u8 = 1;
const ENCRYPTED: u8 = 2;
const PLAIN: u8 = 3;
const PLAIN_END: u8 = 4;
const ENCRYPTED_END: u8 = 6;
const PAUSE: u8 = 7;
const RESUME: u8 = 8;
const FROM_PLAIN: u8 = 130;
const FROM_PLAIN_END: u8 = 131;
const FROM_EVENT: u8 = 132;

/// An authority, and the configuration of a server with a certificate for `api.test`.
fn world() -> (String, Arc<ServerConfig>) {
    world_of("authority")
}

fn world_of(authority: &str) -> (String, Arc<ServerConfig>) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, authority);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["api.test".to_owned()]).unwrap();
    let own = params.signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = builder.with_no_client_auth().with_single_cert(vec![own.der().clone()], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    (issuer.pem(), Arc::new(config))
}

fn tls(config: &Arc<ServerConfig>, stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream)
}

/// A server that sends back what it receives, and ends after the client.
fn echo(config: &Arc<ServerConfig>) -> Counting {
    let config = config.clone();
    Counting::new(move |stream| {
        let mut stream = tls(&config, stream);
        let mut buffer = [0; 65_536];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            if stream.write_all(&buffer[..count]).is_err() {
                return;
            }
        }
        stream.conn.send_close_notify();
        let _ = stream.flush();
    })
}

/// The guest's end of a session.
struct Guest {
    sidecar: Sidecar,
    bytes: Vec<u8>,
}

impl Guest {
    /// Opens a connection and attaches a session, with the hand-over.
    fn attached(mut sidecar: Sidecar, peer: std::net::SocketAddr, settings: &Value) -> Self {
        assert_eq!(sidecar.connect(CONNECTION, peer), Ok(()));
        let mut this = Self { sidecar, bytes: Vec::new() };
        this.attach(settings);
        this.sidecar.send(CONNECTION, &ToEdge::End {});
        this.sidecar.ended(CONNECTION);
        this.send(ENCRYPTED_END, &[]);
        this
    }

    fn attach(&mut self, settings: &Value) {
        self.sidecar.send(SESSION, &ToEdge::TlsAttach { runtime: 1, flow: CONNECTION });
        self.send(START, settings.to_string().as_bytes());
    }

    fn send(&mut self, kind: u8, payload: &[u8]) {
        let [a, b, c, _] = u32::try_from(payload.len()).unwrap().to_le_bytes();
        let record = [&[kind, a, b, c], payload].concat();
        record.chunks(MAX_DATA_BYTES).for_each(|part| self.sidecar.send(SESSION, &ToEdge::Data(part)));
    }

    /// Returns the next record, or the failure of the session.
    fn record(&mut self) -> Result<(u8, Vec<u8>), Option<FailureKind>> {
        loop {
            if let Some((&[kind, a, b, c], rest)) = self.bytes.split_first_chunk::<4>() {
                let length = u32::from_le_bytes([a, b, c, 0]) as usize;
                if rest.len() >= length {
                    let payload = rest[..length].to_vec();
                    self.bytes.drain(..4 + length);
                    return Ok((kind, payload));
                }
            }
            let piece = self.sidecar.wait(|id, got| match got {
                Got::Data(piece) if id == SESSION => Some(Ok(piece.clone())),
                Got::Other(ToSidecar::Closed { failure }) if id == SESSION => {
                    Some(Err(failure.as_ref().map(|failure| failure.kind.clone())))
                }
                _ => None,
            })?;
            self.sidecar.send(SESSION, &ToEdge::Credit { bytes: piece.len() as u64 });
            self.bytes.extend(piece);
        }
    }

    fn event(&mut self, name: &str) -> Value {
        loop {
            let (kind, payload) = self.record().unwrap();
            if kind == FROM_EVENT {
                let event: Value = serde_json::from_slice(&payload).unwrap();
                assert!(event["type"] == name || event["type"] == "session", "{event}");
                if event["type"] == name {
                    return event;
                }
            }
        }
    }

    fn plain(&mut self, count: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while all.len() < count {
            let (kind, payload) = self.record().unwrap();
            assert_ne!(kind, FROM_PLAIN_END);
            if kind == FROM_PLAIN {
                all.extend(payload);
            }
        }
        all
    }

    fn plain_ended(&mut self) {
        while self.record().unwrap().0 != FROM_PLAIN_END {}
    }

    fn failure(&mut self) -> Option<FailureKind> {
        loop {
            if let Err(failure) = self.record() {
                return failure;
            }
        }
    }

    fn denied(&mut self) -> Denied {
        match self.failure() {
            Some(FailureKind::Denied(denied)) => denied,
            failure => panic!("{failure:?}"),
        }
    }
}

fn open() -> Sidecar {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, loopback());
    sidecar
}

fn filtered(authority: &str, rules: Vec<HttpRule>) -> Sidecar {
    let mut sidecar = Sidecar::with(Surroundings { has_v4: true, has_v6: true, ..Surroundings::default() });
    sidecar.send(0, &ToEdge::Roots { pem: authority.to_owned() });
    sidecar.set(1, options(rules));
    sidecar.send(0, &ToEdge::Watch { runtime: 1, on: true });
    sidecar
}

#[test]
fn bytes_of_both_directions_pass_and_each_direction_ends_on_its_own() {
    let (_, config) = world();
    let server = echo(&config);
    let mut guest = Guest::attached(open(), server.address, &json!({ "serverName": "api.test", "alpn": ["h2"] }));
    let secure = guest.event("secure");
    assert_eq!((&secure["protocol"], &secure["alpn"]), (&json!("TLSv1.3"), &json!("h2")));
    assert_eq!(secure["verified"], "UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    guest.send(PLAIN, b"hello");
    assert_eq!(guest.plain(5), b"hello");
    let all: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    let mut received = Vec::new();
    for part in all.chunks(60_000) {
        guest.send(PLAIN, part);
        received.extend(guest.plain(part.len()));
    }
    assert!(received == all);
    let flows = guest.sidecar.flows(1);
    assert_eq!(flows.len(), 1);
    assert!(flows[0].sent > 3_000_000 && flows[0].received > 3_000_000, "the encrypted bytes count");
    guest.send(PLAIN_END, &[]);
    guest.plain_ended();
    guest.sidecar.send(CONNECTION, &ToEdge::Close { reset: false });
    guest.sidecar.send(SESSION, &ToEdge::Close { reset: true });
    assert_eq!(guest.sidecar.closed(CONNECTION), None);
    assert!(guest.sidecar.flows(1).is_empty());
    guest.sidecar.finish().unwrap();
}

#[test]
fn a_session_follows_the_plain_bytes_and_reads_early_bytes_in_their_order() {
    let (_, config) = world();
    // The peer expects a text, sends a text, and its first message of TLS follows at once.
    let server = Counting::new(move |mut stream| {
        let mut request = [0; 8];
        stream.read_exact(&mut request).unwrap();
        assert_eq!(&request, b"STARTTLS");
        stream.write_all(b"ready").unwrap();
        let mut stream = tls(&config, stream);
        let mut byte = [0; 1];
        stream.read_exact(&mut byte).unwrap();
        stream.write_all(&[byte[0] + 1]).unwrap();
    });
    let mut sidecar = open();
    assert_eq!(sidecar.connect(CONNECTION, server.address), Ok(()));
    sidecar.send(CONNECTION, &ToEdge::Data(b"START"));
    let mut guest = Guest { sidecar, bytes: Vec::new() };
    guest.attach(&json!({}));
    // Bytes that the sidecar held back at the attaching.
    guest.sidecar.send(CONNECTION, &ToEdge::Data(b"TLS"));
    guest.sidecar.ended(CONNECTION);
    guest.sidecar.send(CONNECTION, &ToEdge::End {});
    // The edge has ended the flow before the peer has sent its text, which is no TLS.
    guest.send(ENCRYPTED_END, &[]);
    assert_eq!(guest.event("error")["reason"], "wrong version number");
}

#[test]
fn early_bytes_of_the_peer_are_the_first_bytes_of_the_session() {
    // The guest is the server, and the first message of the client arrives before the session.
    let (authority, _) = world();
    let hello = {
        let root = rustls::RootCertStore::empty();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = builder.with_root_certificates(root).with_no_client_auth();
        let mut client = rustls::ClientConnection::new(Arc::new(config), "early.test".try_into().unwrap()).unwrap();
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        bytes
    };
    let (first, rest) = hello.split_at(40);
    let rest = rest.to_vec();
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let receiver = std::sync::Mutex::new(receiver);
    let early = first.to_vec();
    let server = Counting::new(move |mut stream| {
        stream.write_all(&early).unwrap();
        receiver.lock().unwrap().recv().unwrap();
        stream.write_all(&rest).unwrap();
        let _ = stream.read(&mut [0; 1]);
    });
    let mut sidecar = open();
    assert_eq!(sidecar.connect(CONNECTION, server.address), Ok(()));
    let early = sidecar.receive(CONNECTION, 40);
    let mut guest = Guest { sidecar, bytes: Vec::new() };
    guest.attach(&json!({ "isServer": true, "pauses": true }));
    guest.sidecar.ended(CONNECTION);
    sender.send(()).unwrap();
    guest.sidecar.send(CONNECTION, &ToEdge::End {});
    guest.send(ENCRYPTED, &early);
    guest.send(ENCRYPTED_END, &[]);
    assert_eq!(guest.event("hello")["serverName"], "early.test");
    assert!(!authority.is_empty());
}

#[test]
fn a_paused_guest_stops_the_peer_and_a_close_sends_the_last_bytes() {
    let (_, config) = world();
    let (sender, receiver) = std::sync::mpsc::channel();
    let server = Counting::new(move |stream| {
        // The system has little space, so the last bytes wait at the edge while this server sends
        // its tickets.
        rustix::net::sockopt::set_socket_recv_buffer_size(&stream, 16 << 10).unwrap();
        let mut stream = tls(&config, stream);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let _ = sender.send(all.len());
    });
    let mut guest = Guest::attached(open(), server.address, &json!({}));
    guest.event("secure");
    guest.send(PAUSE, &[]);
    guest.send(RESUME, &[]);
    (0..4).for_each(|_| guest.send(PLAIN, &[7; 50_000]));
    guest.send(PLAIN_END, &[]);
    guest.sidecar.send(SESSION, &ToEdge::Close { reset: false });
    assert_eq!(guest.failure(), None);
    assert_eq!(receiver.recv().unwrap(), 200_000);
}

#[test]
fn a_closed_session_ends_although_its_peer_continues() {
    let (_, config) = world();
    for keeps_sending in [false, true] {
        let config = config.clone();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let receiver = std::sync::Mutex::new(receiver);
        let server = Counting::new(move |stream| {
            let mut stream = tls(&config, stream);
            while keeps_sending && stream.write_all(&[7; 16_384]).is_ok() {}
            let _ = stream.read_to_end(&mut Vec::new());
            // The connection stays open until the session has ended.
            let _ = receiver.lock().unwrap().recv();
        });
        let mut guest = Guest::attached(open(), server.address, &json!({}));
        guest.event("secure");
        guest.sidecar.send(SESSION, &ToEdge::Close { reset: false });
        assert_eq!(guest.failure(), None);
        drop(sender);
    }
}

#[test]
fn the_reset_of_the_peer_and_of_the_guest_reach_the_other_side() {
    let (_, config) = world();
    let resets = Counting::new(|mut stream| {
        stream.read_exact(&mut [0; 1]).unwrap();
        let _ = rustix::net::sockopt::set_socket_linger(&stream, Some(std::time::Duration::ZERO));
    });
    let mut guest = Guest::attached(open(), resets.address, &json!({}));
    assert_eq!(guest.failure(), Some(FailureKind::Errno(libc::ECONNRESET)));
    let (sender, receiver) = std::sync::mpsc::channel();
    let server = Counting::new(move |stream| {
        let mut stream = tls(&config, stream);
        let _ = sender.send(stream.read_to_end(&mut Vec::new()).map_err(|error| error.kind()));
    });
    let mut guest = Guest::attached(open(), server.address, &json!({}));
    guest.event("secure");
    guest.sidecar.send(CONNECTION, &ToEdge::Close { reset: true });
    assert_eq!(guest.failure(), Some(FailureKind::Errno(libc::ECONNRESET)));
    assert_eq!(receiver.recv().unwrap(), Err(std::io::ErrorKind::ConnectionReset));
}

#[test]
fn a_second_session_and_a_foreign_connection_end_the_link() {
    let (_, config) = world();
    let server = echo(&config);
    let mut guest = Guest::attached(open(), server.address, &json!({}));
    guest.event("secure");
    guest.sidecar.send(3, &ToEdge::TlsAttach { runtime: 1, flow: CONNECTION });
    assert!(guest.sidecar.finish().is_err());
    let mut sidecar = open();
    sidecar.send(3, &ToEdge::TlsAttach { runtime: 1, flow: 9 });
    assert!(sidecar.finish().is_err());
}

#[test]
fn requests_over_tls_pass_the_filter_and_the_operator_verifies_the_peer() {
    let (authority, config) = world();
    let paths = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (seen, of_server) = (paths.clone(), config.clone());
    let server = Counting::new(move |stream| {
        let mut stream = BufReader::new(tls(&of_server, stream));
        while let Some((head, _)) = read_message(&mut stream) {
            seen.lock().unwrap().push(head.split(' ').nth(1).unwrap().to_owned());
            stream.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
        }
    });
    let port = server.address.port();
    let rules = || vec![rule(format!("api.test:{port}"), None, Some(&["/allowed/**"]))];
    let settings = json!({ "serverName": "api.test", "ca": [], "keyLog": true, "alpn": ["h2"] });
    let mut guest = Guest::attached(filtered(&authority, rules()), server.address, &settings);
    let secure = guest.event("secure");
    assert_eq!((&secure["verified"], &secure["alpn"]), (&Value::Null, &Value::Null), "the guest offers no HTTP/1.1");
    for (path, status) in [("/allowed/1", "200"), ("/denied", "403"), ("/allowed/2", "200")] {
        guest.send(PLAIN, format!("GET {path} HTTP/1.1\r\nHost: api.test:{port}\r\n\r\n").as_bytes());
        let mut response = String::new();
        while !response.ends_with("ok") && !response.ends_with('}') {
            response += &String::from_utf8(guest.plain(1)).unwrap();
        }
        assert_eq!(&response[9..12], status, "{path}");
    }
    assert_eq!(*paths.lock().unwrap(), ["/allowed/1", "/allowed/2"]);
    // Another authority than the operator's: no request leaves.
    let (other, _) = world_of("another authority");
    let mut guest = Guest::attached(filtered(&other, rules()), server.address, &settings);
    let error = guest.event("error");
    assert_eq!(error["code"], "UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    assert_eq!(paths.lock().unwrap().len(), 2);
}

#[test]
fn a_filtered_host_needs_its_name_and_refuses_tls_that_the_edge_cannot_read() {
    let (authority, config) = world();
    let server = echo(&config);
    let rules = || vec![rule(format!("api.test:{}", server.address.port()), None, None)];
    for settings in [json!({}), json!({ "serverName": "www.test" })] {
        let mut guest = Guest::attached(filtered(&authority, rules()), server.address, &settings);
        assert_eq!(guest.denied().reason, "sni");
        assert!(matches!(guest.sidecar.event(), Event::Open { .. }));
        let Event::Denied { refused: Refused::Flow { flow: CONNECTION, .. }, denied } = guest.sidecar.event() else {
            panic!("an event of the refusal")
        };
        assert_eq!(denied.reason, "sni");
        assert_eq!(guest.sidecar.closed(CONNECTION), None, "the session has the failure");
    }
    let mut sidecar = filtered(&authority, rules());
    assert_eq!(sidecar.connect(CONNECTION, server.address), Ok(()));
    sidecar.send(CONNECTION, &ToEdge::Data(&[0x16, 3, 1]));
    match sidecar.closed(CONNECTION) {
        Some(FailureKind::Denied(denied)) => assert_eq!(denied.reason, "opaque-tls"),
        closed => panic!("{closed:?}"),
    }
}

#[test]
fn the_first_message_of_a_guests_own_tls_is_judged_before_a_byte_is_sent() {
    let hello = |name: &str| {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth();
        let name = name.to_owned().try_into().unwrap();
        let mut bytes = Vec::new();
        rustls::ClientConnection::new(Arc::new(config), name).unwrap().write_tls(&mut bytes).unwrap();
        bytes
    };
    let (sender, receiver) = std::sync::mpsc::channel();
    let server = Counting::new(move |mut stream| {
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let _ = sender.send(all);
    });
    let mut sidecar = Sidecar::new();
    sidecar.set(1, Options { deny: vec!["denied.test".to_owned()], ..loopback() });
    let mut send = |flow: u32, bytes: &[u8], piece: usize| {
        assert_eq!(sidecar.connect(flow, server.address), Ok(()));
        bytes.chunks(piece).for_each(|piece| sidecar.send(flow, &ToEdge::Data(piece)));
        sidecar.send(flow, &ToEdge::End {});
        let reason = sidecar.wait(|id, got| match got {
            Got::Other(ToSidecar::Closed { failure: Some(Failure { kind: FailureKind::Denied(denied), .. }) }) if id == flow => {
                Some(denied.reason.clone())
            }
            Got::Other(ToSidecar::End {} | ToSidecar::Closed { .. }) if id == flow => Some(String::new()),
            _ => None,
        });
        sidecar.send(flow, &ToEdge::Close { reset: false });
        (reason, receiver.recv().unwrap())
    };
    let good = hello("good.test");
    assert_eq!(send(1, &good, 7), (String::new(), good.clone()));
    assert_eq!(send(2, &hello("denied.test"), 100), ("sni".to_owned(), Vec::new()));
    assert_eq!(send(3, &good[..good.len() - 1], 100), ("sni".to_owned(), Vec::new()));
    assert_eq!(send(4, b"\x16\x03\x01\x00\x05hello", 100), ("sni".to_owned(), Vec::new()));
    assert_eq!(send(5, b"plain", 1), (String::new(), b"plain".to_vec()));
}

#[test]
fn an_update_that_denies_the_name_resets_the_session() {
    let (_, config) = world();
    let server = echo(&config);
    let mut guest = Guest::attached(open(), server.address, &json!({ "serverName": "api.test" }));
    guest.event("secure");
    let change = OptionsChange { deny: Change::Replace(vec!["api.test".to_owned()]), ..OptionsChange::default() };
    assert_eq!(guest.sidecar.update(1, change, Existing::Recheck), ToSidecar::Done {});
    assert_eq!(guest.failure(), Some(FailureKind::Errno(libc::ECONNRESET)));
}

/// A server that accepts, and neither sends nor closes until the client has closed.
fn silent() -> Counting {
    Counting::new(|mut stream| while stream.read(&mut [0; 4_096]).is_ok_and(|count| count > 0) {})
}

#[test]
fn a_handshake_with_a_silent_peer_times_out_with_and_without_rules() {
    for has_rules in [false, true] {
        let mut sidecar = Sidecar::with_times(Times { handshake: Duration::from_millis(100), ..Times::default() });
        let server = silent();
        let rules = vec![rule(format!("api.test:{}", server.address.port()), None, None)];
        sidecar.set(1, if has_rules { options(rules) } else { loopback() });
        let mut guest = Guest::attached(sidecar, server.address, &json!({ "serverName": "api.test" }));
        assert_eq!(guest.failure(), Some(FailureKind::Errno(libc::ETIMEDOUT)));
        assert_eq!(guest.sidecar.closed(CONNECTION), None);
        assert_eq!(guest.sidecar.flows(1), []);
    }
}

#[test]
fn the_handshake_of_a_server_is_bounded_by_the_guest_only() {
    let mut sidecar = Sidecar::with_times(Times { handshake: Duration::ZERO, ..Times::default() });
    let server = silent();
    sidecar.set(1, loopback());
    let mut guest = Guest::attached(sidecar, server.address, &json!({ "isServer": true }));
    // The flow is open after the turn that would have ended the session.
    assert_eq!(guest.sidecar.flows(1).len(), 1);
    guest.sidecar.send(SESSION, &ToEdge::Close { reset: false });
    assert_eq!(guest.failure(), None);
}
