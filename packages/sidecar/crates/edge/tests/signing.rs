//! Signatures of AWS: a checker in Node computes each signature again, with Node's own hash, and
//! replies with its result.
#![expect(clippy::unwrap_used, reason = "a test")]

mod common;

use coldframe_edge_link::*;
use common::embedder::*;
use common::http::*;
use common::*;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

const ID: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const TOKEN: &str = "session-token-of-the-host";
const HASH: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

/// Checks the signature as the manual of AWS describes it, the age of the signature, and the hash
/// of the body. Replies with a JSON object.
const CHECKER: &str = r"
const { createHash, createHmac } = require('node:crypto');
const [, id, secret] = process.argv;
const sha = (data) => createHash('sha256').update(data).digest('hex');
const mac = (key, data) => createHmac('sha256', key).update(data).digest();
const escape = (one) => '%' + one.charCodeAt(0).toString(16).toUpperCase();
const strict = (text) => encodeURIComponent(text).replace(/[!'()*]/g, escape);
function check(request, body) {
  const { method, url, headers } = request;
  const form = 'AWS4-HMAC-SHA256 Credential=([^/]+)/([0-9]{8})/([^/]+)/([^/]+)/aws4_request, SignedHeaders=([^,]+), ';
  const match = new RegExp('^' + form + 'Signature=([0-9a-f]{64})$').exec(headers.authorization ?? '');
  if (!match) return 'no signature';
  const [, key, day, region, service, names, signature] = match;
  if (key !== id) return 'key ' + key;
  const date = headers['x-amz-date'];
  const time = Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - time) < 300_000) || !date.startsWith(day)) return 'date ' + date;
  const all = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  for (const name of all) if (!names.split(';').includes(name)) return 'unsigned ' + name;
  const [path, query = ''] = url.split('?');
  if (/X-Amz-(Signature|Credential)/.test(query)) return 'signature in the URL';
  const fields = query.split('&').filter(Boolean).map((field) => {
    const at = field.indexOf('=');
    const [name, value] = at < 0 ? [field, ''] : [field.slice(0, at), field.slice(at + 1)];
    return strict(decodeURIComponent(name)) + '=' + strict(decodeURIComponent(value));
  });
  const given = headers['x-amz-content-sha256'];
  if (service === 's3' && given === undefined) return 'no hash';
  const payload = given ?? sha(body);
  if (/^[0-9a-f]{64}$/.test(payload) && payload !== sha(body)) return 'hash of the body';
  const uri = service === 's3' ? path : path.split('/').map(encodeURIComponent).join('/');
  const lines = names.split(';').map((name) => name + ':' + headers[name].trim().replace(/ +/g, ' ') + '\n').join('');
  const canonical = [method, uri, fields.sort().join('&'), lines, names, payload].join('\n');
  const scope = [day, region, service, 'aws4_request'];
  const derived = scope.reduce((key, part) => mac(key, part), 'AWS4' + secret);
  const expected = mac(derived, ['AWS4-HMAC-SHA256', date, scope.join('/'), sha(canonical)].join('\n')).toString('hex');
  return expected === signature ? 'valid ' + region + ' ' + service : 'another signature';
}
const server = require('node:http').createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts);
    const token = request.headers['x-amz-security-token'] ?? '';
    response.end(JSON.stringify({ result: check(request, body), body: body.toString(), token }));
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
";

struct Checker {
    child: Child,
    address: SocketAddr,
}

impl Checker {
    fn start() -> Self {
        let mut child = Command::new("node").args(["-e", CHECKER, ID, SECRET]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port: u16 = line.trim().parse().unwrap();
        Self { child, address: SocketAddr::from(([127, 0, 0, 1], port)) }
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn signing(checker: &Checker, placeholder: bool, sign: SigningEntry) -> (Sidecar, Embedder) {
    let mut sidecar = Sidecar::new();
    let host = format!("api.test:{}", checker.address.port());
    let plain = entry(&[&host], true);
    let secrets = vec![SecretEntry { sign: Some(sign), placeholder: plain.placeholder.clone().filter(|_| placeholder), ..plain }];
    sidecar.set(1, Options { secrets, ..options(vec![rule(host, None, None)]) });
    let embedder = Embedder::asked(&mut sidecar, 1);
    embedder.parts(&mut sidecar, ValueState::Aws, &[ID.as_bytes(), SECRET.as_bytes()]).unwrap();
    (sidecar, embedder)
}

/// The header of a guest that signs with the placeholder.
fn claim(service: &str) -> String {
    format!(
        "Authorization: AWS4-HMAC-SHA256 Credential={KEY}/20200101/eu-west-1/{service}/aws4_request, \
         SignedHeaders=host;x-amz-date, Signature={HASH}\r\nX-Amz-Date: 20200101T000000Z\r\n"
    )
}

#[test]
fn the_edge_signs_what_the_guest_has_signed_with_its_placeholder() {
    let checker = Checker::start();
    let (mut sidecar, _embedder) = signing(&checker, true, SigningEntry::default());
    let with = |method: &str, path: &str, service: &str, more: &str, body: &str| {
        let length = format!("Content-Length: {}\r\n", body.len());
        [request(method, path, &format!("{}{more}{length}", claim(service))), body.as_bytes().to_vec()].concat()
    };
    let hash = |hash: &str| format!("X-Amz-Content-Sha256: {hash}\r\n");
    let credential = format!("{KEY}%2F20200101%2Feu-west-1%2Fs3%2Faws4_request");
    let url = format!(
        "/b/key%20a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={credential}&X-Amz-Date=20200101T000000Z&X-Amz-Expires=900\
         &X-Amz-Signature={HASH}&X-Amz-SignedHeaders=host&x-id=GetObject"
    );
    let chunked = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
    for (flow, (case, bytes, expected)) in [
        ("a hash", with("PUT", "/b/k", "s3", &hash(HASH), "hello"), "valid eu-west-1 s3"),
        ("a query", with("GET", "/b?prefix=a%2Fb&list-type=2&empty", "s3", &hash("UNSIGNED-PAYLOAD"), ""), "valid eu-west-1 s3"),
        ("no hash and no body", with("GET", "/b/k", "s3", "", ""), "valid eu-west-1 s3"),
        (
            "headers",
            with("PUT", "/b/k", "s3", &format!("{}X-Amz-Acl:  a   b \r\nContent-Type: text/plain\r\n", hash(HASH)), "hello"),
            "valid eu-west-1 s3",
        ),
        (
            "the guest's token",
            with("PUT", "/b/k", "s3", &format!("{}X-Amz-Security-Token: mine\r\n", hash(HASH)), "hello"),
            "valid eu-west-1 s3",
        ),
        (
            "a trailer of AWS",
            with("PUT", "/b/k", "s3", &hash("STREAMING-UNSIGNED-PAYLOAD-TRAILER"), chunked),
            "valid eu-west-1 s3",
        ),
        ("another service", with("POST", "/", "dynamodb", &hash(HASH), "hello"), "valid eu-west-1 dynamodb"),
        ("another service without a body", with("GET", "/a%20b/c", "execute-api", "", ""), "valid eu-west-1 execute-api"),
        ("a signed URL", get(&url), "valid eu-west-1 s3"),
        ("a body that differs from its hash", with("PUT", "/b/k", "s3", &hash(HASH), "other"), "hash of the body"),
        ("another key", request("GET", "/", &claim("s3").replace(KEY, "AKIDOFGUEST")), "key AKIDOFGUEST"),
        ("no signature", get("/"), "no signature"),
    ]
    .into_iter()
    .enumerate()
    {
        let response = exchange_with(&mut sidecar, 1 + flow as u32, checker.address, &bytes);
        assert!(response.contains(&format!("\"result\":\"{expected}\"")), "{case}: {response}");
        assert!(response.contains("\"token\":\"\""), "{case}: {response}");
        if case == "a trailer of AWS" {
            assert!(response.contains("x-amz-checksum-crc32:NhCmhg=="), "the body is unchanged: {response}");
        }
    }
}

#[test]
fn a_request_that_cannot_be_signed_is_refused() {
    let checker = Checker::start();
    let (mut sidecar, embedder) = signing(&checker, true, SigningEntry::default());
    let refused = |sidecar: &mut Sidecar, flow, more: &str| {
        let response = exchange_with(sidecar, flow, checker.address, &request("PUT", "/b/k", &format!("{}{more}", claim("s3"))));
        (status(&response).to_owned(), header(&response, "coldframe-denied").unwrap_or_default().to_owned())
    };
    let denied = |reason: &str| ("403".to_owned(), reason.to_owned());
    let chunks = "X-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\nContent-Length: 0\r\n";
    assert_eq!(refused(&mut sidecar, 1, chunks), denied("unsignable"));
    assert_eq!(refused(&mut sidecar, 2, &chunks.replace("PAYLOAD", "PAYLOAD-TRAILER")), denied("unsignable"));
    assert_eq!(refused(&mut sidecar, 3, "Transfer-Encoding: chunked\r\n"), denied("unsignable"));
    embedder.missing(&mut sidecar).unwrap();
    assert_eq!(refused(&mut sidecar, 4, ""), denied("secret-missing"));
    embedder.parts(&mut sidecar, ValueState::Unavailable, &[]).unwrap();
    assert_eq!(refused(&mut sidecar, 5, ""), ("502".to_owned(), "secret-unavailable".to_owned()));
    embedder.parts(&mut sidecar, ValueState::Value, &[b"a text"]).unwrap();
    assert_eq!(refused(&mut sidecar, 6, ""), denied("secret-missing"), "a text cannot sign");
}

#[test]
fn a_key_without_a_placeholder_signs_every_request_for_its_own_scope() {
    let checker = Checker::start();
    let scope = SigningEntry { region: Some("us-east-1".to_owned()), service: Some("s3".to_owned()) };
    let (mut sidecar, embedder) = signing(&checker, false, scope);
    let response = exchange_with(&mut sidecar, 1, checker.address, &get("/b?list-type=2"));
    assert!(response.contains("valid us-east-1 s3"), "{response}");
    let token = [ID.as_bytes(), SECRET.as_bytes(), TOKEN.as_bytes()];
    embedder.parts(&mut sidecar, ValueState::Aws, &token).unwrap();
    let response = exchange_with(&mut sidecar, 2, checker.address, &get("/b"));
    assert!(response.contains("valid us-east-1 s3"), "{response}");
    assert!(response.contains(&format!("\"token\":\"{}\"", "*".repeat(TOKEN.len()))), "an echoed token is masked: {response}");
}
