//! Sessions of two guests in one process, whose encrypted bytes the test moves.

use super::engine::{Engine, Unexpected};
use super::output::Output;
use super::records::{self, FromGuest, HEAD_BYTES, Malformed, Reader, ToGuest};
use super::tickets::Tickets;
use super::verify::Roots;
use proptest::prelude::*;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use std::sync::Arc;

/// A guest's side of a session.
struct Side {
    engine: Engine,
    encrypted: Vec<u8>,
    plain: Vec<u8>,
    events: Vec<Value>,
    written: u32,
    has_ended: bool,
}

impl Side {
    fn new(settings: &Value, tickets: &Arc<Tickets>) -> Self {
        let engine = Engine::new(Arc::new(Roots::default()), tickets.clone());
        let mut side = Self { engine, encrypted: vec![], plain: vec![], events: vec![], written: 0, has_ended: false };
        side.send(FromGuest::Start, settings.to_string().as_bytes());
        side
    }

    fn send(&mut self, kind: FromGuest, payload: &[u8]) {
        let mut out = Output::default();
        self.engine.handle(kind, payload, &mut out).unwrap();
        let mut rest = out.records.as_slice();
        while let Some((&[kind, a, b, c], after)) = rest.split_first_chunk::<HEAD_BYTES>() {
            let (payload, after) = after.split_at(u32::from_le_bytes([a, b, c, 0]) as usize);
            rest = after;
            match kind {
                k if k == ToGuest::Encrypted as u8 => self.encrypted.extend(payload),
                k if k == ToGuest::Plain as u8 => self.plain.extend(payload),
                k if k == ToGuest::PlainEnd as u8 => self.has_ended = true,
                k if k == ToGuest::Written as u8 => self.written += u32::from_le_bytes(payload.try_into().unwrap()),
                k if k == ToGuest::Handled as u8 => assert!(payload.is_empty()),
                _ => self.events.push(serde_json::from_slice(payload).unwrap()),
            }
        }
        assert!(rest.is_empty());
    }

    fn event(&self, name: &str) -> Option<&Value> {
        self.events.iter().find(|event| event["type"] == name)
    }
}

/// Moves encrypted bytes until both sides are silent.
fn run(client: &mut Side, server: &mut Side) {
    while !client.encrypted.is_empty() || !server.encrypted.is_empty() {
        let (up, down) = (std::mem::take(&mut client.encrypted), std::mem::take(&mut server.encrypted));
        // A piece that is no whole record of TLS.
        up.chunks(100).for_each(|piece| server.send(FromGuest::Encrypted, piece));
        down.chunks(1_000).for_each(|piece| client.send(FromGuest::Encrypted, piece));
    }
}

struct World {
    ca: String,
    identity: Value,
}

fn world() -> World {
    world_of("authority")
}

fn world_of(name: &str) -> World {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["example.test".to_owned()]).unwrap();
    let own = params.signed_by(&key, &issuer).unwrap();
    World { ca: issuer.pem(), identity: json!({ "chain": own.pem(), "key": key.serialize_pem() }) }
}

fn server(world: &World) -> Value {
    json!({ "isServer": true, "identities": [world.identity], "alpn": ["h2", "http/1.1"] })
}

fn client(world: &World) -> Value {
    json!({ "serverName": "example.test", "ca": [world.ca], "alpn": ["http/1.1"] })
}

#[test]
fn a_guest_limits_the_bytes_of_the_records_of_tls() {
    let (world, tickets) = (world(), Arc::default());
    let (mut client, mut server) = (Side::new(&client(&world), &tickets), Side::new(&server(&world), &tickets));
    run(&mut client, &mut server);
    client.send(FromGuest::Fragment, &600_u16.to_le_bytes());
    client.send(FromGuest::Plain, &[7; 1_500]);
    let heads = lengths(&client.encrypted);
    assert_eq!(heads.len(), 3);
    assert!(heads.iter().all(|length| (300..=600 + 64).contains(length)), "{heads:?}");
    run(&mut client, &mut server);
    assert_eq!(server.plain, [7; 1_500]);
    let mut out = Output::default();
    assert_eq!(client.engine.handle(FromGuest::Fragment, &[1], &mut out), Err(Unexpected));
}

/// Returns the lengths of the records of TLS.
fn lengths(mut bytes: &[u8]) -> Vec<usize> {
    let mut all = Vec::new();
    while let Some((&[_, _, _, high, low], rest)) = bytes.split_first_chunk::<5>() {
        let length = usize::from(u16::from_be_bytes([high, low]));
        all.push(length);
        bytes = &rest[length..];
    }
    all
}

#[test]
fn a_client_and_a_server_exchange_bytes_and_end() {
    for version in ["TLSv1.2", "TLSv1.3"] {
        let (world, tickets) = (world(), Arc::default());
        let mut settings = client(&world);
        settings["maxVersion"] = json!(version);
        let (mut client, mut server) = (Side::new(&settings, &tickets), Side::new(&server(&world), &tickets));
        run(&mut client, &mut server);
        let facts = client.event("secure").unwrap();
        assert_eq!((&facts["protocol"], &facts["alpn"]), (&json!(version), &json!("http/1.1")));
        assert_eq!(facts["verified"], Value::Null);
        assert_eq!(server.event("secure").unwrap()["serverName"], "example.test");
        let bytes: Vec<u8> = (0..300_000_u32).map(|number| number as u8).collect();
        client.send(FromGuest::Plain, &bytes);
        assert_eq!(client.written, 300_000);
        run(&mut client, &mut server);
        assert!(server.plain == bytes && !server.has_ended);
        client.send(FromGuest::PlainEnd, b"");
        run(&mut client, &mut server);
        assert!(server.has_ended);
        server.send(FromGuest::Plain, b"half-closed");
        run(&mut client, &mut server);
        assert_eq!(client.plain, b"half-closed");
    }
}

#[test]
fn the_verification_has_the_codes_of_openssl() {
    let (world, other, tickets) = (world(), world_of("other"), Arc::default());
    let own = rcgen::generate_simple_self_signed(vec!["example.test".to_owned()]).unwrap();
    let self_signed = json!({ "chain": own.cert.pem(), "key": own.signing_key.serialize_pem() });
    let with_authority =
        json!({ "chain": format!("{}{}", world.identity["chain"].as_str().unwrap(), world.ca), "key": world.identity["key"] });
    for (identity, ca, code) in [
        (&world.identity, json!([world.ca]), json!(null)),
        (&world.identity, json!([other.ca]), json!("UNABLE_TO_VERIFY_LEAF_SIGNATURE")),
        (&world.identity, json!(null), json!("UNABLE_TO_VERIFY_LEAF_SIGNATURE")),
        (&self_signed, json!([]), json!("DEPTH_ZERO_SELF_SIGNED_CERT")),
        (&self_signed, json!([own.cert.pem()]), json!(null)),
        (&with_authority, json!([]), json!("SELF_SIGNED_CERT_IN_CHAIN")),
    ] {
        let mut server = Side::new(&json!({ "isServer": true, "identities": [identity] }), &tickets);
        let mut client = Side::new(&json!({ "serverName": "example.test", "ca": ca }), &tickets);
        run(&mut client, &mut server);
        assert_eq!(client.event("secure").unwrap()["verified"], code);
    }
}

#[test]
fn an_authority_may_be_the_certificate_of_a_server() {
    let mut params = CertificateParams::new(vec!["example.test".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    let tickets = Arc::default();
    let identity = json!({ "chain": pem, "key": key.serialize_pem() });
    for (ca, code) in [(json!([pem]), json!(null)), (json!([]), json!("DEPTH_ZERO_SELF_SIGNED_CERT"))] {
        let mut server = Side::new(&json!({ "isServer": true, "identities": [identity] }), &tickets);
        let mut client = Side::new(&json!({ "ca": ca }), &tickets);
        run(&mut client, &mut server);
        assert_eq!(client.event("secure").unwrap()["verified"], code);
    }
}

#[test]
fn a_server_receives_the_certificate_of_a_client() {
    let (world, tickets) = (world(), Arc::default());
    let mut settings = server(&world);
    (settings["requestCert"], settings["ca"]) = (json!(true), json!([world.ca]));
    for (identities, code) in
        [(json!([world.identity]), json!("INVALID_PURPOSE")), (json!([]), json!("UNABLE_TO_GET_ISSUER_CERT"))]
    {
        let mut own = client(&world);
        own["identities"] = identities;
        let (mut client, mut server) = (Side::new(&own, &tickets), Side::new(&settings, &tickets));
        run(&mut client, &mut server);
        let facts = server.event("secure").unwrap();
        // The certificate has no purposes, so the purpose of a client is allowed too.
        assert!(facts["verified"] == code || facts["verified"].is_null() && code == "INVALID_PURPOSE", "{facts}");
    }
}

#[test]
fn a_server_waits_for_the_choices_of_its_guest() {
    let (world, tickets) = (world(), Arc::default());
    let mut settings = json!({ "isServer": true, "pauses": true });
    settings["identities"] = json!([]);
    let (mut client, mut server) = (Side::new(&client(&world), &tickets), Side::new(&settings, &tickets));
    run(&mut client, &mut server);
    let hello = server.event("hello").unwrap();
    assert_eq!((&hello["serverName"], &hello["alpn"]), (&json!("example.test"), &json!(["http/1.1"])));
    assert!(client.events.is_empty());
    server.send(FromGuest::Continue, json!({ "identities": [world.identity], "alpn": ["http/1.1"] }).to_string().as_bytes());
    run(&mut client, &mut server);
    assert_eq!(client.event("secure").unwrap()["alpn"], "http/1.1");
}

#[test]
fn a_session_is_resumed_with_the_number_of_its_ticket() {
    for version in ["TLSv1.2", "TLSv1.3"] {
        let (world, tickets) = (world(), Arc::default());
        let mut settings = client(&world);
        settings["maxVersion"] = json!(version);
        let mut reused = Vec::new();
        for _ in 0..4 {
            let (mut client, mut server) = (Side::new(&settings, &tickets), Side::new(&server(&world), &tickets));
            run(&mut client, &mut server);
            reused.push(client.event("secure").unwrap()["reused"].clone());
            if let Some(event) = client.event("session") {
                settings["session"] = event["session"].clone();
            }
        }
        // The number stays valid, because a resumed session renews its ticket.
        assert_eq!(reused, [json!(false), json!(true), json!(true), json!(true)]);
        assert_eq!(settings["session"], 1);
        // Another runtime has no ticket of this number.
        let other = Arc::default();
        let (mut client, mut server) = (Side::new(&settings, &other), Side::new(&server(&world), &tickets));
        run(&mut client, &mut server);
        assert_eq!(client.event("secure").unwrap()["reused"], false);
    }
}

#[test]
fn servers_resume_sessions_of_servers_with_the_same_ticket_keys() {
    for version in ["TLSv1.2", "TLSv1.3"] {
        let (world, tickets) = (world(), Arc::default());
        let mut settings = client(&world);
        settings["maxVersion"] = json!(version);
        let mut reused = Vec::new();
        for keys in ["one", "one", "two", "one"] {
            let mut own = server(&world);
            own["ticketKeys"] = json!(keys);
            let (mut client, mut server) = (Side::new(&settings, &tickets), Side::new(&own, &tickets));
            run(&mut client, &mut server);
            reused.push(client.event("secure").unwrap()["reused"].clone());
            if settings["session"].is_null() {
                settings["session"] = client.event("session").unwrap()["session"].clone();
            }
        }
        // A ticket of TLS 1.3 is used once, also without success.
        assert_eq!(reused, [json!(false), json!(true), json!(false), json!(version == "TLSv1.2")]);
    }
}

#[test]
fn a_changed_ticket_is_not_accepted() {
    let tickets = Tickets::default();
    let ticketer = tickets.server(b"keys").unwrap();
    let ticket = ticketer.encrypt(b"state").unwrap();
    assert_eq!(ticketer.decrypt(&ticket).as_deref(), Some(&b"state"[..]));
    assert_eq!(tickets.server(b"keys").unwrap().decrypt(&ticket).as_deref(), Some(&b"state"[..]));
    assert_eq!(tickets.server(b"other").unwrap().decrypt(&ticket), None);
    assert_eq!(Tickets::default().server(b"keys").unwrap().decrypt(&ticket), None);
    for at in 0..ticket.len() {
        let mut changed = ticket.clone();
        changed[at] ^= 1;
        assert_eq!(ticketer.decrypt(&changed), None);
        assert_eq!(ticketer.decrypt(&ticket[..at]), None);
    }
}

#[test]
fn a_server_reports_the_shared_signatures_in_the_order_of_the_client() {
    let (world, tickets) = (world(), Arc::default());
    for (own, others, expected) in [
        (
            json!(["rsa-pss+sha256", "rsa-pss+sha512", "ecdsa+sha256"]),
            json!(["ecdsa+sha256", "rsa-pss+sha256"]),
            vec!["RSA-PSS+SHA256", "ECDSA+SHA256"],
        ),
        (json!(["rsa-pss+sha256", "ecdsa+sha256"]), json!(null), vec!["RSA-PSS+SHA256", "ECDSA+SHA256"]),
        (json!(null), json!(["rsa_pss_rsae_sha256", "ecdsa+sha256"]), vec!["ECDSA+SHA256", "RSA-PSS+SHA256"]),
        (json!(["ecdsa_secp256r1_sha256"]), json!(["ECDSA+SHA256", "unknown"]), vec!["ECDSA+SHA256"]),
    ] {
        let (mut up, mut down) = (client(&world), server(&world));
        (up["sigalgs"], down["sigalgs"]) = (own, others);
        let (mut client, mut server) = (Side::new(&up, &tickets), Side::new(&down, &tickets));
        run(&mut client, &mut server);
        assert_eq!(server.event("secure").unwrap()["sigalgs"], json!(expected));
    }
}

#[test]
fn a_server_with_two_keys_chooses_the_key_of_the_suite() {
    let (world, tickets) = (world(), Arc::default());
    let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let own = CertificateParams::new(vec!["other.test".to_owned()]).unwrap().self_signed(&key).unwrap();
    let mut down = server(&world);
    down["identities"] = json!([{ "chain": own.pem(), "key": key.serialize_pem() }, world.identity]);
    for (schemes, is_first) in [(json!(null), true), (json!(["ecdsa+sha256"]), false), (json!(["ed25519"]), true)] {
        for version in ["TLSv1.2", "TLSv1.3"] {
            let mut up = client(&world);
            (up["sigalgs"], up["maxVersion"]) = (schemes.clone(), json!(version));
            let (mut client, mut server) = (Side::new(&up, &tickets), Side::new(&down, &tickets));
            run(&mut client, &mut server);
            let chain = client.event("secure").unwrap()["chain"].clone();
            let is_own = chain == json!([own.der().iter().map(|byte| format!("{byte:02x}")).collect::<String>()]);
            assert!(is_own == is_first || schemes.is_null(), "{version} {schemes}");
        }
    }
}

#[test]
fn failures_have_the_reasons_of_openssl() {
    let (world, tickets) = (world(), Arc::default());
    let pair = |change: fn(&mut Value, &mut Value)| {
        let (mut up, mut down) = (client(&world), server(&world));
        change(&mut up, &mut down);
        let (mut client, mut server) = (Side::new(&up, &tickets), Side::new(&down, &tickets));
        run(&mut client, &mut server);
        let reason = |side: &Side| side.event("error").map(|event| event["reason"].as_str().unwrap().to_owned());
        (reason(&client), reason(&server))
    };
    let texts = |a: &str, b: &str| (Some(a.to_owned()), Some(b.to_owned()));
    assert_eq!(
        pair(|up, _| up["alpn"] = json!(["spdy"])),
        texts("tlsv1 alert no application protocol", "no application protocol")
    );
    assert_eq!(
        pair(|up, down| (up["minVersion"], down["maxVersion"]) = (json!("TLSv1.3"), json!("TLSv1.2"))),
        texts("tlsv1 alert protocol version", "unsupported protocol")
    );
    let refused = "ssl/tls alert handshake failure";
    assert_eq!(pair(|_, down| down["identities"] = json!([])), texts(refused, "no suitable signature algorithm"));
    assert_eq!(
        pair(|up, down| (up["maxVersion"], down["identities"]) = (json!("TLSv1.2"), json!([]))),
        texts(refused, "no shared cipher")
    );
    let missing = "peer did not return a certificate";
    assert_eq!(
        pair(|_, down| (down["requestCert"], down["requireCert"]) = (json!(true), json!(true))),
        texts("tlsv13 alert certificate required", missing)
    );
    assert_eq!(
        pair(|up, down| {
            (down["requestCert"], down["requireCert"], up["maxVersion"]) = (json!(true), json!(true), json!("TLSv1.2"));
        }),
        texts(refused, missing)
    );
    assert_eq!(
        pair(|up, down| (up["sigalgs"], down["sigalgs"]) = (json!(["rsa-pss+sha256"]), json!(["ecdsa+sha256"]))),
        texts(refused, "no shared signature algorithms")
    );
    let mut server = Side::new(&server(&world), &tickets);
    server.send(FromGuest::Encrypted, b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!(server.event("error").unwrap()["reason"], "http request");
}

#[test]
fn a_record_in_the_wrong_state_is_refused() {
    let mut engine = Engine::new(Arc::default(), Arc::default());
    let mut out = Output::default();
    assert_eq!(engine.handle(FromGuest::Plain, b"x", &mut out), Err(Unexpected));
    assert_eq!(engine.handle(FromGuest::Start, b"{\"unknown\":1}", &mut out), Err(Unexpected));
    assert_eq!(engine.handle(FromGuest::Start, b"{}", &mut out), Ok(()));
    assert_eq!(engine.handle(FromGuest::Start, b"{}", &mut out), Err(Unexpected));
}

proptest! {
    #[test]
    fn records_do_not_depend_on_the_pieces(
        records in prop::collection::vec((1_u8..=6, prop::collection::vec(any::<u8>(), 0..300)), 1..10),
        size in 1_usize..50,
    ) {
        let mut bytes = Vec::new();
        for (kind, payload) in &records {
            bytes.push(*kind);
            bytes.extend(&u32::try_from(payload.len()).unwrap().to_le_bytes()[..3]);
            bytes.extend(payload);
        }
        let (mut reader, mut read) = (Reader::default(), 0);
        for piece in bytes.chunks(size) {
            let mut piece = piece;
            while !piece.is_empty() {
                let (now, later) = piece.split_at(reader.missing().unwrap().min(piece.len()));
                reader.add(now);
                piece = later;
                while let Some((_, payload)) = reader.take() {
                    prop_assert_eq!(&payload, &records[read].1);
                    read += 1;
                }
            }
        }
        prop_assert_eq!(read, records.len());
    }

    #[test]
    fn hostile_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), is_server: bool) {
        let mut engine = Engine::new(Arc::default(), Arc::default());
        let mut out = Output::default();
        engine.handle(FromGuest::Start, json!({ "isServer": is_server }).to_string().as_bytes(), &mut out).unwrap();
        let _ = engine.handle(FromGuest::Encrypted, &bytes, &mut out);
        let _ = engine.handle(FromGuest::PlainEnd, &[], &mut out);
    }
}

#[test]
fn an_unknown_kind_and_a_long_record_are_malformed() {
    for head in [[10, 0, 0, 0], [1, 1, 0, 16]] {
        let mut reader = Reader::default();
        reader.add(&head);
        assert_eq!(reader.missing(), Err(Malformed));
    }
}

#[test]
fn a_record_is_extended_up_to_its_bound() {
    let mut out = vec![0; 3];
    records::write(&mut out, ToGuest::Plain, &[1; 40_000]);
    assert!(records::extend(&mut out, 3, &[2; 25_536]));
    assert_eq!(out[3..7], [130, 0, 0, 1]);
    assert_eq!(out.len(), 3 + HEAD_BYTES + (64 << 10));
    let before = out.clone();
    assert!(!records::extend(&mut out, 3, &[3]));
    assert_eq!(out, before);
}
