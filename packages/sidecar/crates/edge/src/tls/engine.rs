//! The state of a session: turns records of the guest into records for the guest. Next: `flow.rs`.

use super::alerts;
use super::output::Output;
use super::provider;
use super::records::FromGuest;
use super::settings::{Choices, Parts, Refused, Settings, latin1};
use super::tickets::Tickets;
use super::verify::Roots;
use rustls::server::{Accepted, Acceptor};
use rustls::{Connection, Error, HandshakeKind, ProtocolVersion};
use serde::Deserialize;
use serde_json::json;
use std::io::Write;
use std::sync::Arc;

/// The bytes before the content of a record of TLS.
const RECORD_HEAD: usize = 5;

/// The record with the alert `handshake_failure`, without encryption.
const HANDSHAKE_FAILURE: [u8; 7] = [21, 3, 3, 0, 2, 2, 40];
/// The record with the alert `certificate_required`, without encryption.
const CERTIFICATE_REQUIRED: [u8; 7] = [21, 3, 3, 0, 2, 2, 116];

/// The largest size of the authorities in one reply. Hexadecimal digits double the size.
const MAX_ROOT_BYTES: usize = 500 << 10;
/// The largest size of exported material.
const MAX_EXPORT: usize = 64 << 10;

/// The sizes of the plain bytes of one record of TLS that a program may choose.
const MIN_FRAGMENT: usize = 512;
const MAX_FRAGMENT: usize = 16 << 10;

/// A request of the guest.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", deny_unknown_fields)]
enum Request {
    /// The authorities of the operator.
    Roots,
    /// Material from the keys of the session. Label and context have a byte in each character.
    Export { length: usize, label: String, context: Option<String> },
}

/// A session.
pub struct Engine {
    roots: Arc<Roots>,
    tickets: Arc<Tickets>,
    state: State,
    parts: Option<Parts>,
    is_secure: bool,
    /// The peer's `close_notify` has been reported.
    peer_ended: bool,
    /// The head of the first record that a server has received.
    head: Vec<u8>,
    operator: Option<Operator>,
    /// The most plain bytes of one record of TLS to the peer.
    fragment: usize,
}

/// The operator's decision about the peer of a session, which the guest cannot change.
struct Operator {
    /// The name that the certificate of the peer must have.
    name: String,
    /// Whether the guest has not offered the protocol of the session.
    hides_protocol: bool,
}

enum State {
    /// The settings are missing.
    New,
    /// A server waits for the client's first message.
    Accepting(Settings, Box<Acceptor>),
    /// A server waits for the choices of the guest. The bytes of the peer wait.
    Paused(Settings, Box<Accepted>, Vec<u8>),
    Running(Box<Connection>),
    /// The session has failed. Further records are ignored.
    Failed,
}

/// A record that the guest may not send in this state.
#[derive(Debug, PartialEq, Eq)]
pub struct Unexpected;

impl Engine {
    /// Makes a session without settings.
    pub fn new(roots: Arc<Roots>, tickets: Arc<Tickets>) -> Self {
        let (state, head, fragment) = (State::New, Vec::new(), MAX_FRAGMENT);
        Self { roots, tickets, state, parts: None, is_secure: false, peer_ended: false, head, operator: None, fragment }
    }

    /// Handles a record of the guest. Appends records for the guest to `out`.
    pub fn handle(&mut self, kind: FromGuest, payload: &[u8], out: &mut Output) -> Result<(), Unexpected> {
        match (kind, &mut self.state) {
            // All bytes before this record have been handled.
            (FromGuest::Pause | FromGuest::Resume, _) => return Err(Unexpected),
            (FromGuest::EncryptedEnd, _) => out.event(&json!({ "type": "ended" })),
            (FromGuest::Ask, _) => {
                let request = serde_json::from_slice(payload).map_err(|_| Unexpected)?;
                out.event(&self.reply(request));
            }
            (_, State::Failed) => {}
            (FromGuest::Start, State::New) => {
                let settings = serde_json::from_slice(payload).map_err(|_| Unexpected)?;
                self.start(settings, out);
            }
            (FromGuest::Encrypted, State::Accepting(..) | State::Paused(..) | State::Running(_)) => {
                self.encrypted(payload, out);
            }
            (FromGuest::Fragment, _) => {
                let size = payload.try_into().map(u16::from_le_bytes).map_err(|_| Unexpected)?;
                self.fragment = usize::from(size).clamp(MIN_FRAGMENT, MAX_FRAGMENT);
            }
            (FromGuest::Continue, State::Paused(..)) => {
                let choices = serde_json::from_slice(payload).map_err(|_| Unexpected)?;
                self.go_on(choices, out);
            }
            (FromGuest::Plain, State::Running(_)) => {
                self.plain(payload, out);
                out.written(payload.len());
            }
            (FromGuest::PlainEnd, State::Running(_)) => {
                self.plain_end(out);
                out.written(0);
            }
            // The peer may end during the handshake.
            (FromGuest::PlainEnd, State::Accepting(..) | State::Paused(..)) => {
                out.written(0);
            }
            _ => return Err(Unexpected),
        }
        if matches!(kind, FromGuest::Start | FromGuest::Encrypted | FromGuest::Continue) {
            out.handled();
        }
        Ok(())
    }

    /// Handles encrypted bytes of the peer.
    pub fn encrypted(&mut self, payload: &[u8], out: &mut Output) {
        match &mut self.state {
            State::Accepting(..) => self.accept(payload, out),
            State::Paused(_, _, waiting) => waiting.extend_from_slice(payload),
            State::Running(_) => self.receive(payload, out),
            State::New | State::Failed => {}
        }
    }

    /// Returns whether the session can receive encrypted bytes now.
    pub fn receives(&self) -> bool {
        matches!(self.state, State::Accepting(..) | State::Running(_)) && !self.peer_ended
    }

    /// Returns whether the session has no settings.
    pub fn is_new(&self) -> bool {
        matches!(self.state, State::New)
    }

    /// Returns whether the handshake has ended with success.
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// Returns whether the session has failed.
    pub fn has_failed(&self) -> bool {
        matches!(self.state, State::Failed)
    }

    /// Returns whether the peer has sent `close_notify`.
    pub fn peer_ended(&self) -> bool {
        self.peer_ended
    }

    /// Encrypts plain bytes for the peer. Has no effect before the session runs.
    pub fn plain(&mut self, payload: &[u8], out: &mut Output) {
        if let State::Running(connection) = &mut self.state {
            // The buffer has no limit, so that nothing fails. The caller bounds the bytes. Each
            // call makes records of its own.
            for piece in payload.chunks(self.fragment) {
                let _ = connection.writer().write_all(piece);
            }
            out.flush(connection);
        }
    }

    /// Sends `close_notify`. Has no effect before the session runs.
    pub fn plain_end(&mut self, out: &mut Output) {
        if let State::Running(connection) = &mut self.state {
            connection.send_close_notify();
            out.flush(connection);
        }
    }

    /// Begins the session, once.
    pub fn start(&mut self, settings: Settings, out: &mut Output) {
        if settings.is_server {
            self.state = State::Accepting(settings, Box::default());
            return;
        }
        self.start_client(&settings, &self.roots.clone(), out);
    }

    fn start_client(&mut self, settings: &Settings, roots: &Arc<Roots>, out: &mut Output) {
        match settings.client(roots, &self.tickets) {
            Ok((client, parts)) => {
                self.parts = Some(parts);
                self.run(Connection::Client(client), out);
            }
            Err(reason) => self.refuse(reason, out),
        }
    }

    /// Begins a client's session, once, whose plain bytes the HTTP filter judges. The operator's
    /// authorities and `name` decide about the peer. `roots` replaces the operator's authorities.
    pub fn start_filtered(&mut self, mut settings: Settings, name: &str, roots: Option<&Arc<Roots>>, out: &mut Output) {
        let hides_protocol = settings.restrict();
        self.operator = Some(Operator { name: name.to_owned(), hides_protocol });
        let roots = roots.unwrap_or(&self.roots).clone();
        self.start_client(&settings, &roots, out);
    }

    fn run(&mut self, mut connection: Connection, out: &mut Output) {
        connection.set_buffer_limit(None);
        out.flush(&mut connection);
        self.state = State::Running(Box::new(connection));
    }

    /// Reads the client's first message.
    fn accept(&mut self, payload: &[u8], out: &mut Output) {
        // OpenSSL also waits for the whole head of the first record. So the reason of a failure
        // does not depend on the pieces that arrive.
        let first = if self.head.len() < RECORD_HEAD {
            self.head.extend_from_slice(payload);
            if self.head.len() < RECORD_HEAD {
                return;
            }
            let first = self.head.clone();
            self.head.truncate(RECORD_HEAD);
            Some(first)
        } else {
            None
        };
        let State::Accepting(_, acceptor) = &mut self.state else { return };
        let mut rest = first.as_deref().unwrap_or(payload);
        while !rest.is_empty() {
            if acceptor.read_tls(&mut rest).is_err() {
                return self.refuse("bad record type", out);
            }
            match acceptor.accept() {
                Ok(None) => {}
                Ok(Some(accepted)) => return self.accepted(accepted, rest.to_vec(), out),
                Err((error, mut alert)) => {
                    let mut bytes = Vec::new();
                    let _ = alert.write_all(&mut bytes);
                    out.encrypted(&bytes);
                    if self.head.iter().all(|byte| byte.is_ascii_uppercase() || b" /".contains(byte)) {
                        return self.refuse("http request", out);
                    }
                    return self.fail(&error, out);
                }
            }
        }
    }

    fn accepted(&mut self, accepted: Accepted, rest: Vec<u8>, out: &mut Output) {
        let State::Accepting(settings, _) = std::mem::replace(&mut self.state, State::Failed) else { return };
        let hello = accepted.client_hello();
        let alpn: Option<Vec<String>> = hello.alpn().map(|names| names.map(text).collect());
        let event = json!({ "type": "hello", "serverName": hello.server_name(), "alpn": alpn });
        out.event(&event);
        let pauses = settings.pauses;
        self.state = State::Paused(settings, Box::new(accepted), rest);
        if !pauses {
            self.go_on(Choices::default(), out);
        }
    }

    fn go_on(&mut self, choices: Choices, out: &mut Output) {
        let State::Paused(mut settings, accepted, rest) = std::mem::replace(&mut self.state, State::Failed) else { return };
        settings.choose(choices);
        let hello = accepted.client_hello();
        let is_13 = settings.allows_13() && provider::has_suite_13(hello.cipher_suites());
        let Some(shared) = settings.shared_schemes(hello.signature_schemes()) else {
            return self.refuse_hello("no shared signature algorithms", out);
        };
        let (config, mut parts) = match settings.server(&self.roots, &self.tickets) {
            Ok(made) => made,
            Err(reason) => return self.refuse(reason, out),
        };
        parts.shared_schemes = shared;
        self.parts = Some(parts);
        match accepted.into_connection(config) {
            Ok(connection) => {
                self.run(Connection::Server(connection), out);
                self.receive(&rest, out);
            }
            // No certificate of the server has a signature of the client. OpenSSL has another alert
            // than rustls.
            Err((Error::General(_), _)) if is_13 => self.refuse_hello("no suitable signature algorithm", out),
            Err((Error::General(_), _)) => self.refuse_hello("no shared cipher", out),
            Err((error, mut alert)) => {
                let mut bytes = Vec::new();
                let _ = alert.write_all(&mut bytes);
                out.encrypted(&bytes);
                self.fail(&error, out);
            }
        }
    }

    /// Ends the session after the client's first message, with the alert `handshake_failure`.
    fn refuse_hello(&mut self, reason: Refused, out: &mut Output) {
        out.encrypted(&HANDSHAKE_FAILURE);
        self.refuse(reason, out);
    }

    /// Handles encrypted bytes of the peer.
    fn receive(&mut self, payload: &[u8], out: &mut Output) {
        let mut rest = payload;
        loop {
            let State::Running(connection) = &mut self.state else { return };
            // An empty slice would mean the end of the stream.
            let is_read = rest.is_empty() || connection.read_tls(&mut rest).is_ok();
            let processed = connection.process_new_packets();
            let is_12 = connection.protocol_version() == Some(ProtocolVersion::TLSv1_2);
            if is_12 && matches!(processed, Err(Error::NoCertificatesPresented)) {
                // TLS 1.2 has no alert `certificate_required`, which rustls sends.
                out.flush_replacing(connection, &CERTIFICATE_REQUIRED, &HANDSHAKE_FAILURE);
            }
            // As in OpenSSL, the end of the handshake is reported before the last messages are
            // sent. A client that then refuses its peer sends nothing more.
            self.report(out);
            let State::Running(connection) = &mut self.state else { return };
            out.flush(connection);
            out.take_plain(connection);
            match processed {
                Err(error) => return self.fail(&error, out),
                Ok(state) => {
                    if state.peer_has_closed() && !self.peer_ended {
                        self.peer_ended = true;
                        out.plain_end();
                    }
                }
            }
            if rest.is_empty() || !is_read || self.peer_ended {
                return;
            }
        }
    }

    /// Reports the end of the handshake, new tickets and secrets.
    fn report(&mut self, out: &mut Output) {
        let (State::Running(connection), Some(parts)) = (&self.state, &self.parts) else { return };
        for line in parts.key_lines.iter().flat_map(|lines| lines.take()) {
            out.event(&json!({ "type": "keylog", "line": line }));
        }
        let mut events = Vec::new();
        if !self.is_secure && !connection.is_handshaking() {
            let mut facts = facts(connection, parts);
            if let Some(operator) = &self.operator {
                let chain = connection.peer_certificates().unwrap_or_default();
                if let Err(code) = parts.roots.verify_for_operator(chain, &operator.name) {
                    out.event(&json!({ "type": "error", "reason": "certificate verify failed", "code": code }));
                    self.state = State::Failed;
                    return;
                }
                if operator.hides_protocol {
                    facts["alpn"] = serde_json::Value::Null;
                }
            }
            self.is_secure = true;
            events.push(facts);
        }
        let is_resumed = connection.handshake_kind() == Some(HandshakeKind::Resumed);
        let new = parts.store.iter().flat_map(|store| store.take_new(is_resumed));
        events.extend(new.map(|number| json!({ "type": "session", "session": number })));
        if connection.protocol_version() == Some(ProtocolVersion::TLSv1_2) {
            // In TLS 1.2, a ticket arrives before the end of the handshake.
            events.reverse();
        }
        events.iter().for_each(|event| out.event(event));
    }

    /// Answers a request. A wrong request has an empty answer.
    fn reply(&mut self, request: Request) -> serde_json::Value {
        match (request, &mut self.state) {
            (Request::Roots, _) => {
                json!({ "type": "reply", "roots": self.roots.listed(MAX_ROOT_BYTES).map(hex).collect::<Vec<_>>() })
            }
            (Request::Export { length, label, context }, State::Running(connection)) if length <= MAX_EXPORT => {
                let context = context.as_deref().map(latin1);
                let found = connection.export_keying_material(vec![0; length], &latin1(&label), context.as_deref());
                json!({ "type": "reply", "material": found.ok().map(|found| hex(&found)) })
            }
            _ => json!({ "type": "reply" }),
        }
    }

    fn fail(&mut self, error: &Error, out: &mut Output) {
        let text = error.to_string();
        out.event(
            &json!({ "type": "error", "reason": alerts::reason(error), "alert": alerts::alert_number(error), "detail": text }),
        );
        self.state = State::Failed;
    }

    /// Ends the session with a reason in OpenSSL's words.
    pub fn refuse(&mut self, reason: Refused, out: &mut Output) {
        out.event(&json!({ "type": "error", "reason": reason }));
        self.state = State::Failed;
    }
}

/// Returns the facts of an established session.
fn facts(connection: &Connection, parts: &Parts) -> serde_json::Value {
    let chain = connection.peer_certificates().unwrap_or_default();
    let verified = parts.roots.verify(chain, &parts.rules);
    // Programs see the authority as the last issuer, which most peers do not send.
    let certificates = chain.iter().map(AsRef::as_ref).chain(parts.roots.authority_of(chain));
    let suite = connection.negotiated_cipher_suite().map(provider::suite_names).unwrap_or_default();
    let group = connection.negotiated_key_exchange_group().map(provider::group_name);
    let server_name = match connection {
        Connection::Server(server) => server.server_name(),
        Connection::Client(_) => None,
    };
    json!({
        "type": "secure",
        "protocol": provider::version_name(connection.protocol_version()),
        "cipher": suite.0,
        "standardName": suite.1,
        "group": group,
        "alpn": connection.alpn_protocol().map(text),
        "serverName": server_name,
        "reused": connection.handshake_kind() == Some(HandshakeKind::Resumed),
        "verified": verified.err(),
        "sigalgs": parts.shared_schemes,
        "chain": certificates.map(hex).collect::<Vec<_>>(),
    })
}

/// Returns bytes as a text with a byte in each character.
fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(|digit| DIGITS.get(usize::from(digit))).collect()
}
