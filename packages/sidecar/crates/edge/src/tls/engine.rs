//! The state of a session: turns records of the guest into records for the guest. Next: `flow.rs`.

use super::alerts;
use super::provider;
use super::records::{self, FromGuest, ToGuest};
use super::settings::{Choices, Parts, Refused, Settings, latin1};
use super::tickets::Tickets;
use super::verify::Roots;
use rustls::server::{Accepted, Acceptor};
use rustls::{Connection, Error, HandshakeKind};
use serde::Deserialize;
use serde_json::json;
use std::io::{Read, Write};
use std::sync::Arc;

/// The size of one read of plain bytes.
const PIECE: usize = 16 << 10;

/// The largest size of the authorities in one reply. Hexadecimal digits double the size.
const MAX_ROOT_BYTES: usize = 500 << 10;
/// The largest size of exported material.
const MAX_EXPORT: usize = 64 << 10;

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
        Self { roots, tickets, state: State::New, parts: None, is_secure: false, peer_ended: false }
    }

    /// Handles a record of the guest. Appends records for the guest to `out`.
    pub fn handle(&mut self, kind: FromGuest, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Unexpected> {
        match (kind, &mut self.state) {
            // All bytes before this record have been handled.
            (FromGuest::EncryptedEnd, _) => event(out, &json!({ "type": "ended" })),
            (FromGuest::Ask, _) => {
                let request = serde_json::from_slice(payload).map_err(|_| Unexpected)?;
                event(out, &self.reply(request));
            }
            (_, State::Failed) => {}
            (FromGuest::Start, State::New) => {
                let settings = serde_json::from_slice(payload).map_err(|_| Unexpected)?;
                self.start(settings, out);
            }
            (FromGuest::Encrypted, State::Accepting(..)) => self.accept(payload, out),
            (FromGuest::Encrypted, State::Paused(_, _, waiting)) => waiting.extend_from_slice(payload),
            (FromGuest::Encrypted, State::Running(_)) => self.receive(payload, out),
            (FromGuest::Continue, State::Paused(..)) => {
                let choices = serde_json::from_slice(payload).map_err(|_| Unexpected)?;
                self.go_on(choices, out);
            }
            (FromGuest::Plain, State::Running(connection)) => {
                // The buffer has no limit, so that nothing fails. The guest's record is bounded.
                let _ = connection.writer().write_all(payload);
                flush(connection, out);
                let count = u32::try_from(payload.len()).unwrap_or(u32::MAX);
                records::write(out, ToGuest::Written, &count.to_le_bytes());
            }
            (FromGuest::PlainEnd, State::Running(connection)) => {
                connection.send_close_notify();
                flush(connection, out);
                records::write(out, ToGuest::Written, &0_u32.to_le_bytes());
            }
            // The peer may end during the handshake.
            (FromGuest::PlainEnd, State::Accepting(..) | State::Paused(..)) => {
                records::write(out, ToGuest::Written, &0_u32.to_le_bytes());
            }
            _ => return Err(Unexpected),
        }
        if matches!(kind, FromGuest::Start | FromGuest::Encrypted | FromGuest::Continue) {
            records::write(out, ToGuest::Handled, &[]);
        }
        Ok(())
    }

    fn start(&mut self, settings: Settings, out: &mut Vec<u8>) {
        if settings.is_server {
            self.state = State::Accepting(settings, Box::default());
            return;
        }
        match settings.client(&self.roots, &self.tickets) {
            Ok((client, parts)) => {
                self.parts = Some(parts);
                self.run(Connection::Client(client), out);
            }
            Err(reason) => self.refuse(reason, out),
        }
    }

    fn run(&mut self, mut connection: Connection, out: &mut Vec<u8>) {
        connection.set_buffer_limit(None);
        flush(&mut connection, out);
        self.state = State::Running(Box::new(connection));
    }

    /// Reads the client's first message.
    fn accept(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        let State::Accepting(_, acceptor) = &mut self.state else { return };
        let mut rest = payload;
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
                    records::write(out, ToGuest::Encrypted, &bytes);
                    if payload.iter().take(5).all(|byte| byte.is_ascii_uppercase() || b" /".contains(byte)) {
                        return self.refuse("http request", out);
                    }
                    return self.fail(&error, out);
                }
            }
        }
    }

    fn accepted(&mut self, accepted: Accepted, rest: Vec<u8>, out: &mut Vec<u8>) {
        let State::Accepting(settings, _) = std::mem::replace(&mut self.state, State::Failed) else { return };
        let hello = accepted.client_hello();
        let alpn: Option<Vec<String>> = hello.alpn().map(|names| names.map(text).collect());
        let event = json!({ "type": "hello", "serverName": hello.server_name(), "alpn": alpn });
        records::write(out, ToGuest::Event, event.to_string().as_bytes());
        let pauses = settings.pauses;
        self.state = State::Paused(settings, Box::new(accepted), rest);
        if !pauses {
            self.go_on(Choices::default(), out);
        }
    }

    fn go_on(&mut self, choices: Choices, out: &mut Vec<u8>) {
        let State::Paused(mut settings, accepted, rest) = std::mem::replace(&mut self.state, State::Failed) else { return };
        settings.choose(choices);
        let (config, parts) = match settings.server(&self.roots, &self.tickets) {
            Ok(made) => made,
            Err(reason) => return self.refuse(reason, out),
        };
        self.parts = Some(parts);
        match accepted.into_connection(config) {
            Ok(connection) => {
                self.run(Connection::Server(connection), out);
                self.receive(&rest, out);
            }
            Err((error, mut alert)) => {
                let mut bytes = Vec::new();
                let _ = alert.write_all(&mut bytes);
                records::write(out, ToGuest::Encrypted, &bytes);
                self.fail(&error, out);
            }
        }
    }

    /// Handles encrypted bytes of the peer.
    fn receive(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        let mut rest = payload;
        loop {
            let State::Running(connection) = &mut self.state else { return };
            // An empty slice would mean the end of the stream.
            let is_read = rest.is_empty() || connection.read_tls(&mut rest).is_ok();
            let processed = connection.process_new_packets();
            flush(connection, out);
            self.report(out);
            let State::Running(connection) = &mut self.state else { return };
            take_plain(connection, out);
            match processed {
                Err(error) => return self.fail(&error, out),
                Ok(state) => {
                    if state.peer_has_closed() && !self.peer_ended {
                        self.peer_ended = true;
                        records::write(out, ToGuest::PlainEnd, &[]);
                    }
                }
            }
            if rest.is_empty() || !is_read || self.peer_ended {
                return;
            }
        }
    }

    /// Reports the end of the handshake, new tickets and secrets.
    fn report(&mut self, out: &mut Vec<u8>) {
        let (State::Running(connection), Some(parts)) = (&self.state, &self.parts) else { return };
        for line in parts.key_lines.iter().flat_map(|lines| lines.take()) {
            event(out, &json!({ "type": "keylog", "line": line }));
        }
        if !self.is_secure && !connection.is_handshaking() {
            self.is_secure = true;
            event(out, &facts(connection, parts));
        }
        for number in parts.store.iter().flat_map(|store| store.take_new()) {
            event(out, &json!({ "type": "session", "session": number }));
        }
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

    fn fail(&mut self, error: &Error, out: &mut Vec<u8>) {
        let text = error.to_string();
        event(
            out,
            &json!({ "type": "error", "reason": alerts::reason(error), "alert": alerts::alert_number(error), "detail": text }),
        );
        self.state = State::Failed;
    }

    fn refuse(&mut self, reason: Refused, out: &mut Vec<u8>) {
        event(out, &json!({ "type": "error", "reason": reason }));
        self.state = State::Failed;
    }
}

/// Returns the facts of an established session.
fn facts(connection: &Connection, parts: &Parts) -> serde_json::Value {
    let chain = connection.peer_certificates().unwrap_or_default();
    let verified = parts.roots.verify(chain, &parts.rules);
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
        "chain": chain.iter().map(|certificate| hex(certificate)).collect::<Vec<_>>(),
    })
}

fn event(out: &mut Vec<u8>, event: &serde_json::Value) {
    records::write(out, ToGuest::Event, event.to_string().as_bytes());
}

/// Moves encrypted bytes to the guest.
fn flush(connection: &mut Connection, out: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    while connection.wants_write() {
        // A vector accepts all bytes.
        if !matches!(connection.write_tls(&mut bytes), Ok(1..)) {
            break;
        }
    }
    if !bytes.is_empty() {
        records::write(out, ToGuest::Encrypted, &bytes);
    }
}

/// Moves plain bytes to the guest.
fn take_plain(connection: &mut Connection, out: &mut Vec<u8>) {
    let mut piece = [0; PIECE];
    while let Ok(count @ 1..) = connection.reader().read(&mut piece) {
        records::write(out, ToGuest::Plain, piece.get(..count).unwrap_or_default());
    }
}

/// Returns bytes as a text with a byte in each character.
fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(|digit| DIGITS.get(usize::from(digit))).collect()
}
