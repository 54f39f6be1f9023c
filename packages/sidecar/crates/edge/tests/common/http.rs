//! A recording HTTP server with a strict parser, and exchanges through the filter.

use super::{Got, Sidecar, loopback};
use coldframe_edge_link::*;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// An HTTP server that records each request, and sends chosen bytes.
pub struct Origin {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Origin {
    /// Replies to each request with `reply(head, body)`. A reply without bytes closes the
    /// connection.
    pub fn new(reply: impl Fn(&str, &[u8]) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (reply, recorded) = (Arc::new(reply), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (reply, recorded) = (reply.clone(), recorded.clone());
                std::thread::spawn(move || serve(stream, &*reply, &recorded));
            }
        });
        Self { address, seen }
    }

    pub fn ok() -> Self {
        Self::new(|_, _| b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_vec())
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
    }
}

fn serve(stream: TcpStream, reply: &dyn Fn(&str, &[u8]) -> Vec<u8>, seen: &Mutex<Vec<Vec<u8>>>) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some((head, body)) = read_message(&mut reader) {
        seen.lock().unwrap().push([head.as_bytes(), &body].concat());
        let bytes = reply(&head, &body);
        if bytes.is_empty() || writer.write_all(&bytes).is_err() {
            let _ = writer.shutdown(Shutdown::Both);
            return;
        }
    }
}

/// Reads a strict message: CRLF alone, and a body by exactly one of the two headers.
pub fn read_message(reader: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        assert!(line.ends_with("\r\n"), "{line:?}");
        head.push_str(&line);
        if line == "\r\n" {
            break;
        }
    }
    let values = |name: &str| -> Vec<String> {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned()).collect()
    };
    let mut body = Vec::new();
    match (values("content-length").as_slice(), values("transfer-encoding").as_slice()) {
        ([], []) => {}
        ([length], []) => {
            body.resize(length.parse().unwrap(), 0);
            reader.read_exact(&mut body).ok()?;
        }
        ([], [coding]) if coding == "chunked" => loop {
            let mut size = String::new();
            // The edge has ended the connection if the rest of the body is missing.
            if reader.read_line(&mut size).ok()? == 0 {
                return None;
            }
            let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            if size == 0 {
                break;
            }
            body.extend(&chunk[..size]);
        },
        other => panic!("an ambiguous message reached the peer: {other:?} {head:?}"),
    }
    Some((head, body))
}

pub fn rule(host: String, methods: Option<&[&str]>, paths: Option<&[&str]>) -> HttpRule {
    let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
    HttpRule { host, methods: methods.map(texts), paths: paths.map(texts), ..HttpRule::default() }
}

/// Options with rules for `api.test`, whose fixed address is the loopback.
pub fn options(http: Vec<HttpRule>) -> Options {
    let host = |name: &str| DnsHost { name: name.to_owned(), addresses: vec!["127.0.0.1".to_owned()] };
    Options { http, dns_hosts: vec![host("api.test"), host("other.test")], ..loopback() }
}

pub fn edge(origin: &Origin, methods: Option<&[&str]>, paths: Option<&[&str]>) -> Sidecar {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, options(vec![rule(format!("api.test:{}", origin.port()), methods, paths)]));
    sidecar
}

/// Opens a flow, sends bytes, and returns all bytes of the response until its end.
pub fn exchange(sidecar: &mut Sidecar, flow: u32, origin: &Origin, bytes: &[u8]) -> String {
    exchange_with(sidecar, flow, origin.address, bytes)
}

/// Exchanges bytes with any peer, as `exchange` does.
pub fn exchange_with(sidecar: &mut Sidecar, flow: u32, address: SocketAddr, bytes: &[u8]) -> String {
    assert_eq!(sidecar.connect(flow, address), Ok(()));
    for piece in bytes.chunks(MAX_DATA_BYTES) {
        sidecar.send(flow, &ToEdge::Data(piece));
    }
    sidecar.send(flow, &ToEdge::End {});
    let mut response = Vec::new();
    loop {
        let piece = sidecar.wait(|id, got| match got {
            Got::Data(piece) if id == flow => Some(Some(piece.clone())),
            Got::Other(ToSidecar::End {} | ToSidecar::Closed { .. }) if id == flow => Some(None),
            _ => None,
        });
        let Some(piece) = piece else { break };
        response.extend(piece);
    }
    sidecar.send(flow, &ToEdge::Close { reset: true });
    sidecar.forget();
    String::from_utf8_lossy(&response).into_owned()
}

pub fn status(response: &str) -> &str {
    response.get(9..12).unwrap_or_default()
}

pub fn header<'a>(response: &'a str, name: &str) -> Option<&'a str> {
    let head = response.split("\r\n\r\n").next().unwrap_or_default();
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

pub fn get(path: &str) -> Vec<u8> {
    request("GET", path, "")
}

pub fn request(method: &str, path: &str, more: &str) -> Vec<u8> {
    format!("{method} {path} HTTP/1.1\r\nHost: api.test\r\n{more}\r\n").into_bytes()
}
