//! Tests of the frames, the messages and the windows.

use crate::window::{CREDIT_STEP, ReceiveWindow, STREAM_WINDOW, SendWindow};
use crate::*;
use proptest::prelude::*;

fn change() -> OptionsChange {
    OptionsChange {
        outside: Change::Replace(OutsideMode::Public),
        allow: Change::Replace(vec!["example.com".to_owned(), "*.example.org:8443".to_owned()]),
        deny: Change::Clear,
        private: Change::Leave,
        http: Change::Replace(vec![HttpRule {
            host: "api.example".to_owned(),
            methods: Some(vec!["GET".to_owned()]),
            paths: None,
            inject: vec![InjectedHeader { name: "authorization".to_owned(), value: "Bearer ${KEY}".to_owned() }],
            handler: Some(Handler { id: 7, timeout_ms: 30_000 }),
        }]),
        secrets: Change::Replace(vec![SecretEntry {
            name: "KEY".to_owned(),
            placeholder: Some("cfs_AAAAAAAAAAAAAAAAAAAA".to_owned()),
            hosts: vec!["api.example".to_owned()],
            places: Some(vec!["header:x-token".to_owned()]),
            insecure: true,
            sign: Some(SigningEntry { region: Some("eu-central-1".to_owned()), service: None }),
        }]),
        authorities: Change::Replace(vec!["-----BEGIN CERTIFICATE-----".to_owned()]),
        dns_servers: Change::Replace(vec!["192.0.2.1:5353".to_owned()]),
        dns_hosts: Change::Replace(vec![DnsHost { name: "db.test".to_owned(), addresses: vec!["10.1.2.5".to_owned()] }]),
        local_address: Change::Replace(Some("198.51.100.9".to_owned())),
        proxy: Change::Replace(Some("http://proxy.example:3128".to_owned())),
        limits: LimitsChange { connections: Change::Replace(7), bytes: Change::Replace(Some(9)), ..LimitsChange::default() },
    }
}

fn denied() -> Denied {
    let rule = Rule { list: "deny".to_owned(), index: 3, entry: "evil.example".to_owned() };
    Denied { reason: "denied".to_owned(), rule: Some(rule), host: Some("evil.example".to_owned()), detail: None }
}

fn to_edge() -> Vec<ToEdge<'static>> {
    let peer = "[2606:4700::1111]:443".parse().unwrap();
    let options = Options::default().changed(&change());
    vec![
        ToEdge::Data(b"GET / HTTP/1.1\r\n\r\n"),
        ToEdge::Hello { version: VERSION },
        ToEdge::PolicySet { runtime: u64::MAX, options },
        ToEdge::PolicyUpdate { runtime: 1, change: change(), existing: Existing::Keep },
        ToEdge::RuntimeEnd { runtime: 1 },
        ToEdge::LookUp { runtime: 1, name: "example.com".to_owned(), family: LookUpFamily::Any },
        ToEdge::Query { runtime: 1, name: "example.com".to_owned(), record_type: 15 },
        ToEdge::Connect { runtime: 1, peer },
        ToEdge::Credit { bytes: 65_536 },
        ToEdge::End {},
        ToEdge::Close { reset: true },
        ToEdge::Check { runtime: 1, url: "https://example.com/".to_owned(), method: "GET".to_owned() },
        ToEdge::Flows { runtime: 1 },
        ToEdge::Watch { runtime: 1, on: true },
        ToEdge::SecretsKey { runtime: 1 },
        ToEdge::SecretsPut { runtime: 1, key: [7; 32], sealed: vec![1, 2] },
        ToEdge::TlsOpen { runtime: 1 },
        ToEdge::TlsAttach { runtime: 1, flow: 7 },
        ToEdge::HandlerOpen { runtime: 1, number: 9 },
        ToEdge::DatagramsOpen { runtime: 1, peer },
        ToEdge::EmptyDatagram {},
        ToEdge::Dropped { count: 3 },
        ToEdge::Roots { pem: "-----BEGIN CERTIFICATE-----".to_owned() },
    ]
}

fn to_sidecar() -> Vec<ToSidecar<'static>> {
    let (local, peer): (std::net::SocketAddr, std::net::SocketAddr) =
        ("192.0.2.7:50000".parse().unwrap(), "203.0.113.9:443".parse().unwrap());
    let failure = Failure { kind: FailureKind::Denied(denied()), message: "evil.example is denied".to_owned() };
    let rule = denied().rule;
    let host = Some("example.com".to_owned());
    let flow = FlowInfo {
        flow: 3,
        protocol: Protocol::Udp,
        host: host.clone(),
        peer,
        connected: true,
        sent: 1,
        received: 2,
        dropped: 4,
        age_ms: 3,
        rule: rule.clone(),
    };
    let close = Event::Close {
        flow: 3,
        protocol: Protocol::Tcp,
        host: host.clone(),
        peer,
        sent: 1,
        received: 2,
        dropped: 0,
        duration_ms: 3,
        reason: CloseReason::Ended,
    };
    let event = |event| ToSidecar::Event { runtime: 1, event, lost: 2 };
    vec![
        ToSidecar::Data(b"HTTP/1.1 200 OK\r\n\r\n"),
        ToSidecar::Hello { version: VERSION },
        ToSidecar::Done {},
        ToSidecar::Failed { failure: failure.clone() },
        ToSidecar::Addresses { addresses: vec![local.ip(), "2606:4700::1111".parse().unwrap()] },
        ToSidecar::Records { json: "[]".to_owned() },
        ToSidecar::Connected { local, peer },
        ToSidecar::Credit { bytes: 65_536 },
        ToSidecar::End {},
        ToSidecar::Closed { failure: Some(failure) },
        ToSidecar::Closed { failure: None },
        ToSidecar::HandlerWanted { runtime: 1, number: 9 },
        ToSidecar::Checked { decision: Decision::Refused(denied()) },
        ToSidecar::Checked { decision: Decision::Allowed { rule: rule.clone() } },
        ToSidecar::FlowList { flows: vec![flow], more: false },
        event(Event::Open { flow: 3, protocol: Protocol::Udp, host, peer, rule }),
        event(close),
        event(Event::Denied { refused: Refused::Datagrams { peer }, denied: denied() }),
        ToSidecar::EmptyDatagram {},
        ToSidecar::Unreachable { errno: 111 },
        ToSidecar::Walls { parts: vec![WallPart { name: "seccomp".to_owned(), missing: Some("EPERM".to_owned()) }] },
        event(Event::Denied { refused: Refused::Connect { peer }, denied: denied() }),
        event(Event::Limit { name: "connections".to_owned() }),
    ]
}

/// Encodes messages with the ids 0, 1, 2, …
fn stream<'a, M: Message<'a>>(messages: &[M]) -> Vec<u8> {
    let mut out = Vec::new();
    for (id, message) in messages.iter().enumerate() {
        message.encode(id as u32, &mut out).unwrap();
    }
    out
}

/// Decodes a stream that arrives in pieces. `check` receives the index, the id and the frame.
fn decode(stream: &[u8], pieces: usize, mut check: impl FnMut(usize, Frame<'_>)) -> Result<usize, Invalid> {
    let mut decoder = Decoder::new();
    let mut count = 0;
    for piece in stream.chunks(pieces) {
        let mut piece = piece;
        while !piece.is_empty() {
            let space = decoder.spare();
            let taken = space.len().min(piece.len());
            space[..taken].copy_from_slice(&piece[..taken]);
            decoder.filled(taken);
            piece = &piece[taken..];
            while let Some(frame) = decoder.next_frame()? {
                check(count, frame);
                count += 1;
            }
        }
    }
    Ok(count)
}

#[test]
fn arriving_messages_equal_the_sent_messages() {
    let (edge, sidecar) = (to_edge(), to_sidecar());
    for pieces in [1, 7, 4_096] {
        let count = decode(&stream(&edge), pieces, |index, frame| {
            assert_eq!((frame.id as usize, ToEdge::decode(frame)), (index, Ok(edge[index].clone())));
        });
        assert_eq!(count, Ok(edge.len()));
        let count = decode(&stream(&sidecar), pieces, |index, frame| {
            assert_eq!((frame.id as usize, ToSidecar::decode(frame)), (index, Ok(sidecar[index].clone())));
        });
        assert_eq!(count, Ok(sidecar.len()));
    }
}

#[test]
fn a_message_of_the_wrong_direction_is_refused() {
    let _ = decode(&stream(&to_edge()), 4_096, |_, frame| assert!(matches!(ToSidecar::decode(frame), Err(Invalid::Kind(_)))));
    let _ = decode(&stream(&to_sidecar()), 4_096, |_, frame| assert!(matches!(ToEdge::decode(frame), Err(Invalid::Kind(_)))));
}

#[test]
fn the_head_of_data_equals_the_encoded_head() {
    for bytes in [&b"x"[..], &[7; MAX_DATA_BYTES]] {
        let mut out = Vec::new();
        ToSidecar::Data(bytes).encode(0x0102_0304, &mut out).unwrap();
        assert_eq!(out[..DATA_HEAD_BYTES], data_head(ToSidecar::DATA_KIND, 0x0102_0304, bytes.len()));
    }
}

#[test]
fn refuses_wrong_lengths_before_they_take_memory() {
    for length in [0_u32, 4, MAX_FRAME_BYTES as u32 + 1, u32::MAX] {
        let bytes = [&length.to_le_bytes()[..], &[2, 0, 0, 0, 0]].concat();
        assert!(matches!(decode(&bytes, 16, |_, _| panic!("a frame")), Err(Invalid::Length { .. })), "{length}");
    }
    let mut decoder = Decoder::new();
    decoder.spare()[..4].copy_from_slice(&(MAX_FRAME_BYTES as u32).to_le_bytes());
    decoder.filled(4);
    assert_eq!(decoder.next_frame(), Ok(None));
    assert!(decoder.spare().len() < 256 << 10, "an announced length takes memory");
}

#[test]
fn refuses_payloads_that_are_cut_or_too_long() {
    for message in to_edge().iter().skip(1) {
        let mut bytes = Vec::new();
        message.encode(1, &mut bytes).unwrap();
        let (kind, payload) = (bytes[4], &bytes[9..]);
        let longer = [payload, &[0]].concat();
        assert!(matches!(ToEdge::decode(Frame { kind, id: 1, payload: &longer }), Err(Invalid::Payload { .. })), "{message:?}");
        for cut in 0..payload.len() {
            let frame = Frame { kind, id: 1, payload: &payload[..cut] };
            assert!(matches!(ToEdge::decode(frame), Err(Invalid::Payload { .. })), "{message:?} to {cut}");
        }
    }
    for payload in [&[][..], &vec![0; MAX_DATA_BYTES + 1]] {
        assert!(ToEdge::decode(Frame { kind: 1, id: 1, payload }).is_err());
        assert!(ToSidecar::decode(Frame { kind: 129, id: 1, payload }).is_err());
    }
}

#[test]
fn a_message_that_is_too_long_leaves_the_output_unchanged() {
    let mut out = vec![1, 2, 3];
    let options = Options { allow: vec!["x".repeat(1_000); 1_100], ..Options::default() };
    let error = ToEdge::PolicySet { runtime: 1, options }.encode(1, &mut out).unwrap_err();
    assert!(matches!(error, Unencodable::TooLong { most: MAX_FRAME_BYTES, .. }), "{error}");
    let long = vec![0; MAX_DATA_BYTES + 1];
    let error = ToSidecar::Data(&long).encode(1, &mut out).unwrap_err();
    assert_eq!((error, &*out), (Unencodable::TooLong { bytes: MAX_DATA_BYTES + 1, most: MAX_DATA_BYTES }, &[1, 2, 3][..]));
    ToSidecar::Data(&long[1..]).encode(1, &mut out).unwrap();
}

#[test]
fn a_change_leaves_clears_or_replaces_each_field() {
    let first = Options::default().changed(&change());
    assert_eq!((first.allow.len(), first.limits.connections, first.limits.bytes), (2, 7, Some(9)));
    assert_eq!(first.changed(&OptionsChange::default()), first);
    let limits = LimitsChange { connections: Change::Clear, bytes: Change::Clear, ..LimitsChange::default() };
    let second =
        first.changed(&OptionsChange { allow: Change::Clear, outside: Change::Clear, limits, ..OptionsChange::default() });
    assert_eq!((second.allow.len(), second.limits, second.outside), (0, Limits::default(), OutsideMode::Deny));
    assert_eq!(second.dns_hosts, first.dns_hosts);
}

#[test]
fn kept_streams_keep_the_promises() {
    coldframe_testing::run_kept_inputs("edge-link", fuzzing::frames);
}

/// Writes the streams of all messages to the kept inputs, after a change of the messages.
#[test]
#[ignore = "writes files"]
fn write_kept_streams() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/edge-link");
    std::fs::create_dir_all(folder).unwrap();
    for (name, stream) in [("to-edge", stream(&to_edge())), ("to-sidecar", stream(&to_sidecar()))] {
        std::fs::write(format!("{folder}/{name}"), [&[9], &*stream].concat()).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(coldframe_testing::repetitions(500, 100_000)))]

    #[test]
    fn random_streams_keep_the_promises(data in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzzing::frames(&data);
    }

    #[test]
    fn damaged_streams_keep_the_promises(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        for mut stream in [stream(&to_edge()), stream(&to_sidecar())] {
            for (place, byte) in &places {
                let place = place.index(stream.len());
                stream[place] = *byte;
            }
            stream.insert(0, 31);
            fuzzing::frames(&stream);
        }
    }

    #[test]
    fn windows_of_both_sides_agree(steps in prop::collection::vec((any::<bool>(), 0_u64..100_000), 1..200)) {
        let (mut sender, mut receiver) = (SendWindow::default(), ReceiveWindow::default());
        let mut buffered = 0;
        for (sends, bytes) in steps {
            if sends {
                if sender.send(bytes) {
                    prop_assert!(receiver.receive(bytes), "the receiver refuses what the sender may send");
                    buffered += bytes;
                }
            } else {
                let bytes = bytes.min(buffered);
                buffered -= bytes;
                if let Some(credit) = receiver.consume(bytes) {
                    prop_assert!(credit >= CREDIT_STEP && sender.credit(credit));
                }
            }
            prop_assert!(sender.left() + buffered <= STREAM_WINDOW);
            // The receiver of a full window has bytes, whose consumption leads to credit.
            prop_assert!(buffered > 0 || sender.left() > STREAM_WINDOW - CREDIT_STEP);
        }
    }
}

#[test]
fn a_window_refuses_bytes_and_credit_that_the_other_side_may_not_send() {
    let (mut sender, mut receiver) = (SendWindow::default(), ReceiveWindow::default());
    assert!(!sender.credit(1) && !sender.send(STREAM_WINDOW + 1) && !receiver.receive(STREAM_WINDOW + 1));
    assert!(!sender.credit(u64::MAX) && sender.send(STREAM_WINDOW) && !sender.send(1));
    assert!(sender.credit(STREAM_WINDOW) && !sender.credit(1));
    assert_eq!(receiver.consume(u64::MAX), None, "no byte was received");
    assert!(receiver.receive(STREAM_WINDOW));
    assert_eq!(receiver.consume(u64::MAX), Some(STREAM_WINDOW));
}
