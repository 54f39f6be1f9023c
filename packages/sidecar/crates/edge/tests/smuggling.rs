//! A corpus of ambiguous requests. The edge refuses a request, or Node reads the edge's request and
//! the guest's bytes in one way.
#![expect(clippy::unwrap_used, reason = "a test")]

mod common;

use common::http::*;
use common::*;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Prints the port, and each request when its body has ended.
const SERVER: &str = "
const server = require('node:http').createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const { method, url, headers } = request;
    console.log(JSON.stringify([method, url, headers.host ?? '', Buffer.concat(parts).toString('latin1')]));
    response.end('ok');
  });
});
server.httpAllowHalfOpen = true;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
";

/// Node's HTTP server as the peer.
struct Node {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request as Node has read it: method, URL, host, body.
type Read4 = [String; 4];

impl Node {
    fn start() -> Self {
        let mut child = Command::new("node").args(["-e", SERVER]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port: u16 = lines.next().unwrap().unwrap().parse().unwrap();
        Self { child, lines, address: SocketAddr::from(([127, 0, 0, 1], port)) }
    }

    /// Sends bytes without the edge.
    fn direct(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        // Node closes the connection after a malformed request, also while bytes arrive.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        response
    }

    /// Returns the requests since the last call. The last request of this function marks their end.
    fn requests(&mut self) -> Vec<Read4> {
        self.direct(b"GET /marker HTTP/1.1\r\nHost: marker\r\n\r\n");
        let all = self.lines.by_ref().map(|line| serde_json::from_str::<Read4>(&line.unwrap()).unwrap());
        all.take_while(|[_, _, host, _]| host != "marker").collect()
    }
}

fn corpus() -> Vec<(&'static str, String)> {
    let head = "POST /a HTTP/1.1\r\nHost: api.test\r\n";
    let te = |coding: &str| format!("{head}Transfer-Encoding: {coding}\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    let chunks = |body: &str| format!("{head}Transfer-Encoding: chunked\r\n\r\n{body}");
    let length = |length: &str| format!("{head}Content-Length: {length}\r\n\r\nhello");
    let field = |field: &str| format!("{head}{field}\r\nContent-Length: 0\r\n\r\n");
    let line = |line: &str| format!("{line}\r\nHost: api.test\r\n\r\n");
    let hidden = "GET /hidden HTTP/1.1\r\nHost: api.test\r\n\r\n";
    let many: String = (0..200).map(|field| format!("x{field}: 1\r\n")).collect();
    vec![
        ("two hosts", field("Host: api.test")),
        ("a second, other host", field("Host: evil.test")),
        ("no host", "GET / HTTP/1.1\r\n\r\n".to_owned()),
        ("no host in 1.0", "GET / HTTP/1.0\r\n\r\n".to_owned()),
        ("an empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n".to_owned()),
        ("another host", "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n".to_owned()),
        ("another port", "GET / HTTP/1.1\r\nHost: api.test:1\r\n\r\n".to_owned()),
        ("an address as host", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_owned()),
        ("user info in the host", "GET / HTTP/1.1\r\nHost: a@api.test\r\n\r\n".to_owned()),
        ("a list of hosts", "GET / HTTP/1.1\r\nHost: api.test, evil.test\r\n\r\n".to_owned()),
        ("a host with a path", "GET / HTTP/1.1\r\nHost: api.test/x\r\n\r\n".to_owned()),
        ("a URL", line("GET http://api.test/a HTTP/1.1")),
        ("another URL", line("GET http://evil.test/ HTTP/1.1")),
        ("user info in the URL", line("GET http://a@api.test/ HTTP/1.1")),
        ("another scheme", line("GET ftp://api.test/ HTTP/1.1")),
        ("a URL without a scheme", line("GET //api.test/ HTTP/1.1")),
        ("a target without a slash", line("GET a HTTP/1.1")),
        ("a backslash target", line("GET \\a HTTP/1.1")),
        ("a fragment", line("GET /a#b HTTP/1.1")),
        ("an asterisk", line("OPTIONS * HTTP/1.1")),
        ("an asterisk with GET", line("GET * HTTP/1.1")),
        ("CONNECT", line("CONNECT api.test:443 HTTP/1.1")),
        ("CONNECT to another host", "CONNECT evil.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n".to_owned()),
        ("TRACE", line("TRACE / HTTP/1.1")),
        ("a plain length", length("5")),
        ("a length with zeros", length("0005")),
        ("length, then coding", format!("{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX")),
        ("coding, then length", format!("{head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nX")),
        ("CL.TE", format!("{head}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG")),
        ("TE.CL", format!("{head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nSMUGGLED\r\n0\r\n\r\n")),
        ("two equal lengths", format!("{head}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello")),
        ("two lengths", format!("{head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")),
        ("a list of equal lengths", length("5, 5")),
        ("a list of lengths", length("5, 6")),
        ("a signed length", length("+5")),
        ("a negative length", length("-5")),
        ("a hexadecimal length", length("0x5")),
        ("an empty length", length("")),
        ("a length with an underscore", length("1_0")),
        ("a length with a unit", length("5 b")),
        ("a length with a vertical tab", length("\x0b5")),
        ("a huge length", length("99999999999999999999")),
        ("a length of 2^63", length("9223372036854775808")),
        ("a length of 2^64", length("18446744073709551616")),
        ("a length with another name", format!("{head}Content_Length: 5\r\nContent-Length: 0\r\n\r\n{hidden}")),
        ("GET with a length", "GET /a HTTP/1.1\r\nHost: api.test\r\nContent-Length: 5\r\n\r\nhello".to_owned()),
        (
            "GET with a hidden request",
            format!("GET /a HTTP/1.1\r\nHost: api.test\r\nContent-Length: {}\r\n\r\n{hidden}", hidden.len()),
        ),
        ("chunked", te("chunked")),
        ("chunked in capitals", te("CHUNKED")),
        ("identity", te("identity")),
        ("chunked twice in a list", te("chunked, chunked")),
        ("chunked twice", te("chunked\r\nTransfer-Encoding: chunked")),
        ("chunked not last", te("chunked, gzip")),
        ("chunked after gzip", te("gzip, chunked")),
        ("identity, then chunked", te("identity, chunked")),
        ("a coding with a vertical tab", te("\x0bchunked")),
        ("a coding with a form feed", te("chunked\x0c")),
        ("a coding in quotes", te("\"chunked\"")),
        ("a coding with a parameter", te("chunked;a=b")),
        ("a coding with a comma", te(",chunked")),
        ("an unknown coding", te("xchunked")),
        ("a coding with a tab", te("\tchunked\t")),
        ("an empty coding", te("")),
        ("a coding in 1.0", "POST / HTTP/1.0\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned()),
        ("a space before the colon", format!("{head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n")),
        ("a space before the name", "POST /a HTTP/1.1\r\n Host: api.test\r\n\r\n".to_owned()),
        ("a folded header", field("X: a\r\n b")),
        ("a folded coding", format!("{head}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n")),
        ("a NUL in a value", field("X: a\0b")),
        ("a NUL in a name", field("X\0: a")),
        ("a bare CR in a value", field("X: a\rb")),
        ("a bare CR as a line end", field("X: a\rContent-Length: 5")),
        ("a bare CR before the colon", field("X\r: a")),
        ("two CR", field("X: a\r")),
        ("bare LF", "GET /lf HTTP/1.1\nHost: api.test\n\n".to_owned()),
        ("one bare LF", "GET /lf HTTP/1.1\r\nX: a\nHost: api.test\r\n\r\n".to_owned()),
        ("a bare LF as the empty line", "GET /lf HTTP/1.1\r\nHost: api.test\r\n\nGET /hidden HTTP/1.1\r\n\r\n".to_owned()),
        ("an empty name", field(": a")),
        ("no colon", field("abc")),
        ("a name with a bracket", field("X[: a")),
        ("a name of UTF-8", field("é: a")),
        ("a value of UTF-8", field("X: é")),
        ("an escape in a value", field("X: \x1b[0m")),
        ("a DEL in a value", field("X: a\x7f")),
        ("an empty value", field("X:")),
        ("a chunk size with a sign", chunks("+5\r\nhello\r\n0\r\n\r\n")),
        ("a negative chunk size", chunks("-5\r\nhello\r\n0\r\n\r\n")),
        ("a chunk size with a prefix", chunks("0x5\r\nhello\r\n0\r\n\r\n")),
        ("a chunk size with a space", chunks("5 \r\nhello\r\n0\r\n\r\n")),
        ("a chunk size after a space", chunks(" 5\r\nhello\r\n0\r\n\r\n")),
        ("a chunk size with zeros", chunks("0005\r\nhello\r\n0\r\n\r\n")),
        ("a chunk size in capitals", chunks("A\r\nhellohello\r\n0\r\n\r\n")),
        ("an empty chunk size", chunks("\r\nhello\r\n0\r\n\r\n")),
        ("a huge chunk size", chunks("fffffffffffffffff\r\nhello\r\n0\r\n\r\n")),
        ("a chunk size of 2^64 and 5", chunks("10000000000000005\r\nhello\r\n0\r\n\r\n")),
        ("a chunk size that ends with LF", chunks("5\nhello\r\n0\r\n\r\n")),
        ("a chunk that ends with LF", chunks("5\r\nhello\n0\r\n\r\n")),
        ("a chunk without an end", chunks("5\r\nhelloX0\r\n\r\n")),
        ("a chunk that is too long", chunks("3\r\nhello\r\n0\r\n\r\n")),
        ("a chunk extension", chunks("5;a=b\r\nhello\r\n0\r\n\r\n")),
        ("a chunk extension with LF", chunks("5;a\nhello\r\n0\r\n\r\n")),
        ("a chunk extension with CR", chunks("5;a\rb\r\nhello\r\n0\r\n\r\n")),
        ("a quoted chunk extension", chunks("5;a=\"\r\nX\"\r\nhello\r\n0\r\n\r\n")),
        ("a last chunk with zeros", chunks("5\r\nhello\r\n000\r\n\r\n")),
        ("a trailer", chunks("5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n")),
        ("a length as trailer", chunks("5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n")),
        ("a host as trailer", chunks("5\r\nhello\r\n0\r\nHost: evil.test\r\n\r\n")),
        ("a folded trailer", chunks("5\r\nhello\r\n0\r\nx: a\r\n b\r\n\r\n")),
        ("a malformed trailer", chunks("5\r\nhello\r\n0\r\nx a\r\n\r\n")),
        ("a trailer that ends with LF", chunks("5\r\nhello\r\n0\r\nx: a\n\r\n")),
        ("chunks that end early", chunks("5\r\nhel")),
        ("a body that ends early", length("50")),
        ("a head that ends early", "GET / HTTP/1.1\r\nHost: api".to_owned()),
        ("a large head", field(&format!("x: {}", "a".repeat(70_000)))),
        ("many fields", field(many.trim_end())),
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
        ("HTTP/0.9", "GET /\r\n\r\n".to_owned()),
        ("HTTP/1.2", line("GET / HTTP/1.2")),
        ("HTTP/3", line("GET / HTTP/3.0")),
        ("a version with a zero", line("GET / HTTP/01.1")),
        ("a version in another case", line("GET / http/1.1")),
        ("two spaces", line("GET  / HTTP/1.1")),
        ("a space behind the version", line("GET / HTTP/1.1 ")),
        ("a tab in the request line", line("GET\t/ HTTP/1.1")),
        ("a space in the target", line("GET /a b HTTP/1.1")),
        ("a target of UTF-8", line("GET /é HTTP/1.1")),
        ("a target with a NUL", line("GET /\0 HTTP/1.1")),
        ("a method with a colon", line("GET: / HTTP/1.1")),
        ("a method of lower case", line("get / HTTP/1.1")),
        ("an unknown method", line("BREW / HTTP/1.1")),
        ("a long method", line(&format!("{} / HTTP/1.1", "A".repeat(33)))),
        ("an empty line before the request", line("\r\nGET / HTTP/1.1")),
        ("an LF before the request", line("\nGET / HTTP/1.1")),
        ("no HTTP", "\x16\x03\x01\x02\0\x01\0\x01\u{7f}\x03".to_owned()),
        ("a hidden request behind a body", format!("{head}Content-Length: 0\r\n\r\n{hidden}")),
        (
            "a request for another host behind a body",
            format!("{head}Content-Length: 0\r\n\r\nGET /x HTTP/1.1\r\nHost: evil.test\r\n\r\n"),
        ),
        ("a malformed request behind a request", format!("{hidden}GET /x HTTP/1.1\r\nHost : api.test\r\n\r\n{hidden}")),
        ("bytes behind chunks", chunks(&format!("0\r\n\r\n{hidden}"))),
        ("connection without a length", field("Connection: content-length")),
        ("connection without a host", field("Connection: close, host")),
        ("a content length in Connection", format!("{head}Connection: content-length\r\nContent-Length: 5\r\n\r\nhello")),
        ("expect", format!("{head}Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello")),
        ("a method override", field("X-HTTP-Method-Override: DELETE")),
    ]
}

/// Returns the facts that both ways must agree in. A URL of a proxy's client becomes a path.
fn facts([method, url, _, body]: &Read4) -> (&str, &str, &str) {
    (method, url.strip_prefix("http://api.test").unwrap_or(url), body)
}

#[test]
fn a_request_is_refused_or_read_by_the_peer_as_the_guest_has_sent_it() {
    let mut node = Node::start();
    let mut sidecar = Sidecar::new();
    let port = node.address.port();
    sidecar.set(1, options(vec![rule(format!("api.test:{port}"), None, None)]));
    let mut forwarded = 0;
    for (flow, (case, bytes)) in corpus().iter().enumerate() {
        let response = exchange_with(&mut sidecar, 1 + flow as u32, node.address, bytes.as_bytes());
        let through = node.requests();
        node.direct(bytes.as_bytes());
        let direct = node.requests();
        let refused = response.contains("\r\ncoldframe-denied: ");
        assert!(refused || !through.is_empty() || !response.starts_with("HTTP/1.1 2"), "{case}: {response}");
        assert!(through.len() <= direct.len(), "{case}: {through:?} against {direct:?}");
        for (through, direct) in through.iter().zip(&direct) {
            assert_eq!(facts(through), facts(direct), "{case}");
            assert_eq!(through[2], format!("api.test:{port}"), "{case}");
        }
        assert!(through.len() == direct.len() || refused, "{case}: {through:?} against {direct:?}: {response}");
        forwarded += through.len();
    }
    // The corpus also has requests that a strict reader accepts.
    assert!(forwarded >= 15, "{forwarded}");
}

#[test]
fn a_malformed_request_is_refused_with_its_reason_and_ends_the_connection() {
    let origin = Origin::ok();
    let mut sidecar = edge(&origin, None, None);
    let good = "GET /first HTTP/1.1\r\nHost: api.test\r\n\r\n";
    let chunks = "POST / HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (flow, (bad, expected, detail)) in [
        ("GET / HTTP/1.1\r\nHost: api.test\r\nHost: api.test\r\n\r\n", "400", "exactly one Host header"),
        ("GET / HTTP/1.1\nHost: api.test\n\n", "400", "CRLF at the end of each line"),
        (
            "GET / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "400",
            "and not both",
        ),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505", "HTTP/1.1, and not HTTP/2"),
        ("\x16\x03\x01\x02\0", "400", "a head without control bytes"),
        (&format!("{chunks}5;a=b\r\nhello\r\n0\r\n\r\n"), "400", "chunk sizes of hexadecimal digits"),
        (&format!("{chunks}5\r\nhelloX"), "400", "CRLF after each chunk"),
    ]
    .into_iter()
    .enumerate()
    {
        let before = origin.seen().len();
        let response = exchange(&mut sidecar, 1 + flow as u32, &origin, format!("{good}{bad}{good}").as_bytes());
        let (first, second) = response.split_once("ok").unwrap();
        assert_eq!(status(first), "200", "{bad:?}: {response}");
        assert_eq!((status(second), header(second, "connection")), (expected, Some("close")), "{bad:?}: {response}");
        let reason = if expected == "505" { "http2" } else { "malformed-request" };
        assert_eq!(header(second, "coldframe-denied"), Some(reason), "{bad:?}");
        assert!(second.contains(detail), "{bad:?}: {second}");
        assert!(!second.contains("HTTP/1.1 200"), "no request behind a malformed request is read: {second}");
        assert_eq!(origin.seen().len(), before + 1, "{bad:?}");
    }
}
