//! The fuzz target `client-hello`: the first message of a client of TLS, with any bytes.
//!
//! A server's session reads the bytes in pieces. The pieces do not change the events, a session
//! that has failed stays silent, and a server name is a host name. A reference parser finds the
//! server name of an accepted message in the message itself.
#![expect(clippy::expect_used, reason = "a target panics on a broken promise")]

#[cfg(feature = "fuzzing")]
pub use super::fuzzing_certificates::certificates;

use super::engine::Engine;
use super::output::Output;
use super::records::{FromGuest, HEAD_BYTES, ToGuest};
use super::tickets::Tickets;
use super::verify::Roots;
use serde_json::Value;
use std::sync::Arc;

/// The most bytes that a session writes before the guest's choices: an alert and an event.
const MOST_OUT: usize = 1 << 20;
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// Sends the first message of a client to a server's session.
///
/// # Panics
/// Panics if a promise of the module's comment is broken.
pub fn client_hello(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    // Random bytes seldom have right lengths, so half of the inputs get their heads here.
    let stream = if choice % 2 == 0 { rest.to_vec() } else { framed(rest) };
    let whole = events(&stream, stream.len().max(1));
    assert_eq!(events(&stream, usize::from(choice / 2).max(1)), whole, "the pieces change the events");
    let Some(hello) = whole.iter().find(|event| event["type"] == "hello") else { return };
    let name = hello["serverName"].as_str();
    if let Some(name) = name {
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        assert!(!name.is_empty() && name.len() <= 255 && name.bytes().all(is_valid), "{name:?}");
    }
    let found = handshake(&stream).and_then(|message| server_name(&message));
    // rustls removes the dot of an absolute name.
    let found = found.map(|name| String::from_utf8_lossy(name.strip_suffix(b".").unwrap_or(&name)).to_ascii_lowercase());
    match (name, found) {
        (Some(name), found) => assert_eq!(Some(name.to_ascii_lowercase()), found),
        // An address or another invalid name counts as no name.
        (None, Some(found)) => assert!(rustls::pki_types::DnsName::try_from(found.clone()).is_err(), "{found:?}"),
        (None, None) => {}
    }
}

/// Returns a handshake message of one record for each 16 KiB of the body.
fn framed(body: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = u32::try_from(body.len()).unwrap_or(0).to_be_bytes();
    let message = [&[CLIENT_HELLO, a, b, c], body].concat();
    let record = |piece: &[u8]| {
        let [high, low] = u16::try_from(piece.len()).unwrap_or(0).to_be_bytes();
        [&[HANDSHAKE, 3, 1, high, low], piece].concat()
    };
    message.chunks(16 << 10).flat_map(record).collect()
}

/// Returns the events of a server's session that receives `stream` in pieces.
fn events(stream: &[u8], pieces: usize) -> Vec<Value> {
    let mut engine = Engine::new(Arc::new(Roots::default()), Arc::new(Tickets::default()));
    let mut out = Output::default();
    engine.handle(FromGuest::Start, br#"{"isServer":true,"pauses":true}"#, &mut out).expect("the settings are valid");
    let mut all = Vec::new();
    for piece in stream.chunks(pieces) {
        engine.handle(FromGuest::Encrypted, piece, &mut out).expect("a server accepts encrypted bytes");
    }
    let out = out.records;
    assert!(out.len() <= MOST_OUT + HEAD_BYTES * stream.len(), "{} bytes", out.len());
    let mut rest = out.as_slice();
    while let Some((&[kind, a, b, c], after)) = rest.split_first_chunk::<HEAD_BYTES>() {
        let (payload, after) = after.split_at_checked(u32::from_le_bytes([a, b, c, 0]) as usize).expect("a whole record");
        rest = after;
        if kind == ToGuest::Event as u8 {
            all.push(serde_json::from_slice(payload).expect("an event is JSON"));
        }
    }
    let is_end = |event: &Value| event["type"] == "hello" || event["type"] == "error";
    assert!(all.iter().filter(|event| is_end(event)).count() <= 1, "{all:?}");
    all
}

/// Returns the body of the first handshake message, from the records of a stream.
fn handshake(mut stream: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        if let Some((&[CLIENT_HELLO, a, b, c], body)) = bytes.split_first_chunk::<4>()
            && let Some(body) = body.get(..u32::from_be_bytes([0, a, b, c]) as usize)
        {
            return Some(body.to_vec());
        }
        let (&[HANDSHAKE, _, _, high, low], rest) = stream.split_first_chunk::<5>()? else { return None };
        let (piece, rest) = rest.split_at_checked(u16::from_be_bytes([high, low]).into())?;
        bytes.extend_from_slice(piece);
        stream = rest;
    }
}

/// Returns the first host name of the extension `server_name`.
fn server_name(body: &[u8]) -> Option<Vec<u8>> {
    // Version and random number, then the session id, the suites and the compression methods.
    let rest = body.get(34..)?;
    let rest = skip(rest, 1)?;
    let rest = skip(rest, 2)?;
    let rest = skip(rest, 1)?;
    let mut extensions = vector(rest, 2)?.0;
    while let Some((&[high, low], rest)) = extensions.split_first_chunk::<2>() {
        let (content, rest) = vector(rest, 2)?;
        extensions = rest;
        if u16::from_be_bytes([high, low]) == SERVER_NAME {
            let (&kind, name) = vector(content, 2)?.0.split_first()?;
            return if kind == HOST_NAME { Some(vector(name, 2)?.0.to_vec()) } else { None };
        }
    }
    None
}

/// Splits a vector with a length of `width` bytes from its rest.
fn vector(bytes: &[u8], width: usize) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_at_checked(width)?;
    let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    rest.split_at_checked(length)
}

fn skip(bytes: &[u8], width: usize) -> Option<&[u8]> {
    vector(bytes, width).map(|(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    #[test]
    fn kept_messages_keep_the_promises() {
        coldframe_testing::run_kept_inputs("client-hello", super::client_hello);
    }

    #[test]
    fn the_reference_finds_the_name_of_a_real_message() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/client-hello/openssl-with-name");
        let input = std::fs::read(folder).unwrap();
        let message = super::handshake(&input[1..]).unwrap();
        assert_eq!(super::server_name(&message).as_deref(), Some(b"api.example.com".as_slice()));
        assert_eq!(super::events(&input[1..], 7)[0]["serverName"], "api.example.com");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(coldframe_testing::repetitions(500, 100_000)))]

        #[test]
        fn random_messages_keep_the_promises(data in prop::collection::vec(any::<u8>(), 0..400)) {
            super::client_hello(&data);
        }
    }
}
