//! Datagrams: their borders, the peer, refusals, limits, and the ends of flows.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use coldframe_edge::{LinkFault, Surroundings};
use coldframe_edge_link::window::{DATAGRAM_COST, STREAM_WINDOW};
use coldframe_edge_link::*;
use common::*;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Options that open all UDP ports of the loopback.
fn datagrams() -> Options {
    let private = ["udp://127.0.0.0/8:*", "udp://[::1]:*"].map(str::to_owned).to_vec();
    Options { private, limits: wide(), ..Options::default() }
}

/// Five of these datagrams are more than the window, and one is less than the step of credit.
const LARGE: ToEdge<'_> = ToEdge::Data(&[0; 60_000]);

/// A socket of this test.
fn peer() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

fn read(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut space = vec![0; 70_000];
    let (count, from) = socket.recv_from(&mut space).unwrap();
    (space[..count].to_vec(), from)
}

/// Asserts that no datagram has arrived. The edge has replied since the last call that could send
/// one. A datagram of the loopback arrives before the call that sends it returns.
fn assert_silent(socket: &UdpSocket) {
    socket.set_nonblocking(true).unwrap();
    let received = socket.recv_from(&mut [0; 1]);
    assert!(matches!(&received, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock), "{received:?}");
    socket.set_nonblocking(false).unwrap();
}

/// Opens a flow of a runtime, and frees its id after a failure.
fn open_of(sidecar: &mut Sidecar, runtime: u64, flow: u32, peer: SocketAddr) -> Result<(), Option<FailureKind>> {
    sidecar.send(flow, &ToEdge::DatagramsOpen { runtime, peer });
    let opened = sidecar.opened(flow);
    if opened.is_err() {
        sidecar.send(flow, &ToEdge::Close { reset: true });
    }
    opened
}

fn open(sidecar: &mut Sidecar, flow: u32, peer: SocketAddr) -> Result<(), Option<FailureKind>> {
    open_of(sidecar, 1, flow, peer)
}

fn reason(opened: Result<(), Option<FailureKind>>) -> String {
    match opened {
        Err(Some(FailureKind::Denied(denied))) => denied.reason,
        Err(Some(FailureKind::Limit { name })) => name,
        other => panic!("{other:?}"),
    }
}

/// Closes a flow, and waits for the edge's last message.
fn close(sidecar: &mut Sidecar, flow: u32) {
    sidecar.send(flow, &ToEdge::Close { reset: true });
    assert_eq!(sidecar.closed(flow), None);
}

#[test]
fn datagrams_keep_their_borders_in_both_directions() {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, datagrams());
    for (number, address) in ["127.0.0.1:0", "[::1]:0"].into_iter().enumerate() {
        let Ok(socket) = UdpSocket::bind(address) else { continue };
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let flow = 7 + number as u32;
        assert_eq!(open(&mut sidecar, flow, socket.local_addr().unwrap()), Ok(()));
        let sizes = [1, 0, 1_472, 65_507, 0, 3];
        let mut from = None;
        for size in sizes {
            let message = if size == 0 { ToEdge::EmptyDatagram {} } else { ToEdge::Data(&vec![7; size]) };
            sidecar.send(flow, &message);
            let (bytes, sender) = read(&socket);
            assert_eq!((bytes.len(), *from.get_or_insert(sender)), (size, sender), "one source of a flow");
        }
        for size in sizes {
            socket.send_to(&vec![9; size], from.unwrap()).unwrap();
            let got = sidecar.wait(|id, got| match got {
                Got::Data(bytes) if id == flow => Some(bytes.len()),
                Got::Other(ToSidecar::EmptyDatagram {}) if id == flow => Some(0),
                _ => None,
            });
            assert_eq!(got, size);
        }
        let [info] = &sidecar.flows(1)[..] else { panic!("one flow") };
        let sum = sizes.iter().sum::<usize>() as u64;
        assert_eq!((info.protocol, info.sent, info.received, info.dropped), (Protocol::Udp, sum, sum, 0));
        close(&mut sidecar, flow);
        assert!(sidecar.flows(1).is_empty());
    }
    sidecar.finish().unwrap();
}

#[test]
fn a_flow_receives_datagrams_of_its_peer_only() {
    let ((socket, address), (stranger, _)) = (peer(), peer());
    let mut sidecar = Sidecar::new();
    sidecar.set(1, datagrams());
    assert_eq!(open(&mut sidecar, 1, address), Ok(()));
    sidecar.send(1, &ToEdge::Data(b"hello"));
    let (_, from) = read(&socket);
    stranger.send_to(b"forged", from).unwrap();
    socket.send_to(b"genuine", from).unwrap();
    assert_eq!(sidecar.receive_without_credit(1), b"genuine");
    assert_eq!(sidecar.flows(1)[0].received, 7);
}

#[test]
fn a_refused_peer_receives_no_packet() {
    let (socket, address) = peer();
    let mut sidecar = Sidecar::new();
    let port = address.port();
    let with = |private: &str| Options {
        private: Some(private.to_owned()).filter(|text| !text.is_empty()).into_iter().collect(),
        outside: OutsideMode::Public,
        ..Options::default()
    };
    let mut id = 0;
    let mut refused = |sidecar: &mut Sidecar, options: Options| {
        id += 1;
        sidecar.set(1, options);
        let opened = open(sidecar, id, address);
        assert_silent(&socket);
        reason(opened)
    };
    assert_eq!(refused(&mut sidecar, with("")), "private-address");
    assert_eq!(refused(&mut sidecar, with(&format!("127.0.0.1:{port}"))), "private-address", "an entry about TCP");
    assert_eq!(refused(&mut sidecar, with(&format!("udp://127.0.0.1:{}", port ^ 1))), "private-address");
    let denied = Options { deny: vec![format!("udp://127.0.0.1:{port}")], ..datagrams() };
    assert_eq!(refused(&mut sidecar, denied), "denied");
    assert_eq!(refused(&mut sidecar, Options { deny: vec![format!("127.0.0.1:{port}")], ..datagrams() }), "denied");
    let proxy =
        Options { proxy: Some("http://192.0.2.1:3128".to_owned()), allow: vec!["udp://9.9.9.9:123".to_owned()], ..datagrams() };
    sidecar.set(1, proxy);
    assert_eq!(reason(open(&mut sidecar, 90, "9.9.9.9:123".parse().unwrap())), "proxy");
    assert_eq!(open(&mut sidecar, 91, address), Ok(()), "the loopback needs no proxy");
    // A runtime without a policy.
    assert_eq!(reason(open_of(&mut sidecar, 2, 92, address)), "not-allowed");
    assert_silent(&socket);
}

#[test]
fn a_peer_that_does_not_listen_is_unreachable_and_the_flow_stays_open() {
    let (socket, address) = peer();
    drop(socket);
    let mut sidecar = Sidecar::new();
    sidecar.set(1, datagrams());
    assert_eq!(open(&mut sidecar, 1, address), Ok(()));
    sidecar.send(1, &ToEdge::Data(b"to nobody"));
    let errno = |sidecar: &mut Sidecar| {
        sidecar.wait(|_, got| match got {
            Got::Other(ToSidecar::Unreachable { errno }) => Some(*errno),
            _ => None,
        })
    };
    assert_eq!(errno(&mut sidecar), libc::ECONNREFUSED);
    // The datagram after the error is sent.
    let socket = UdpSocket::bind(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    sidecar.send(1, &ToEdge::Data(b"again"));
    assert_eq!(read(&socket).0, b"again");
}

#[test]
fn an_idle_flow_ends_and_frees_its_place() {
    let idle = Some(Duration::from_millis(20));
    let mut sidecar = Sidecar::with(Surroundings { has_v4: true, datagrams_idle: idle, ..Surroundings::default() });
    sidecar.set(1, datagrams());
    sidecar.send(0, &ToEdge::Watch { runtime: 1, on: true });
    let (_socket, address) = peer();
    assert_eq!(open(&mut sidecar, 1, address), Ok(()));
    assert_eq!(sidecar.closed(1), None);
    assert!(matches!(sidecar.event(), Event::Open { protocol: Protocol::Udp, rule: Some(_), .. }));
    assert!(matches!(sidecar.event(), Event::Close { protocol: Protocol::Udp, reason: CloseReason::Idle, .. }));
    sidecar.send(1, &ToEdge::Close { reset: true });
    assert!(sidecar.flows(1).is_empty());
    assert_eq!(open(&mut sidecar, 1, address), Ok(()), "the id is free");
}

#[test]
fn a_runtime_has_a_bounded_number_of_flows() {
    let (_socket, address) = peer();
    let mut sidecar = Sidecar::new();
    sidecar.set(1, datagrams());
    sidecar.set(2, datagrams());
    for flow in 1..=64 {
        assert_eq!(open(&mut sidecar, flow, address), Ok(()));
    }
    assert_eq!(reason(open(&mut sidecar, 65, address)), "udpFlows");
    assert_eq!(open_of(&mut sidecar, 2, 66, address), Ok(()), "another runtime");
    close(&mut sidecar, 1);
    assert_eq!(open(&mut sidecar, 1, address), Ok(()));
    sidecar.send(0, &ToEdge::RuntimeEnd { runtime: 1 });
    for flow in 1..=64 {
        assert_eq!(sidecar.closed(flow), Some(FailureKind::Errno(libc::ECONNRESET)));
        sidecar.send(flow, &ToEdge::Close { reset: true });
    }
    assert_eq!((sidecar.flows(1).len(), sidecar.flows(2).len()), (0, 1));
    sidecar.finish().unwrap();
}

#[test]
fn an_update_ends_a_flow_before_its_next_datagram() {
    let (socket, address) = peer();
    let mut sidecar = Sidecar::new();
    sidecar.set(1, datagrams());
    sidecar.send(0, &ToEdge::Watch { runtime: 1, on: true });
    for flow in [1, 2] {
        assert_eq!(open(&mut sidecar, flow, address), Ok(()));
        sidecar.send(flow, &ToEdge::Data(b"before"));
        assert_eq!(read(&socket).0, b"before");
        sidecar.event();
    }
    let change = |private: Vec<String>| OptionsChange { private: Change::Replace(private), ..OptionsChange::default() };
    assert_eq!(sidecar.update(1, change(Vec::new()), Existing::Keep), ToSidecar::Done {});
    sidecar.send(1, &ToEdge::Data(b"kept"));
    assert_eq!(read(&socket).0, b"kept");
    assert_eq!(sidecar.update(1, change(vec!["10.0.0.0/8:1".to_owned()]), Existing::Recheck), ToSidecar::Done {});
    sidecar.send(2, &ToEdge::Data(b"after"));
    for flow in [1, 2] {
        assert!(matches!(sidecar.closed(flow), Some(FailureKind::Denied(denied)) if denied.reason == "private-address"));
        sidecar.send(flow, &ToEdge::Close { reset: true });
    }
    assert!(matches!(sidecar.event(), Event::Denied { refused: Refused::Datagrams { .. }, .. }));
    assert!(matches!(sidecar.event(), Event::Close { reason: CloseReason::Denied, .. }));
    assert!(sidecar.flows(1).is_empty());
    assert_silent(&socket);
}

#[test]
fn the_limits_of_bytes_count_datagrams_and_their_heads() {
    let (socket, address) = peer();
    let mut sidecar = Sidecar::new();
    // Two datagrams with heads of 28 bytes reach the limit.
    sidecar.set(1, Options { limits: Limits { bytes: Some(2 * 128), ..wide() }, ..datagrams() });
    assert_eq!(open(&mut sidecar, 1, address), Ok(()));
    for _ in 0..2 {
        sidecar.send(1, &ToEdge::Data(&[1; 100]));
        assert_eq!(read(&socket).0.len(), 100);
    }
    sidecar.send(1, &ToEdge::Data(&[1; 100]));
    assert_eq!(sidecar.closed(1), Some(FailureKind::Limit { name: "bytes".to_owned() }));
    sidecar.send(1, &ToEdge::Close { reset: true });
    assert_eq!(reason(open(&mut sidecar, 2, address)), "bytes");
    assert_silent(&socket);
}

/// The flooding runtime has no tokens after its burst, so its datagrams wait in its own queue.
#[test]
fn a_flood_of_one_runtime_leaves_the_rate_of_another() {
    let ((flooded, flooded_address), (socket, address)) = (peer(), peer());
    let mut sidecar = Sidecar::new();
    sidecar.set(1, Options { limits: Limits { bytes_per_second: 1, ..wide() }, ..datagrams() });
    sidecar.set(2, datagrams());
    assert_eq!(open(&mut sidecar, 1, flooded_address), Ok(()));
    assert_eq!(open_of(&mut sidecar, 2, 2, address), Ok(()));
    let datagram = vec![1; 16_000];
    let sent = STREAM_WINDOW / (16_000 + DATAGRAM_COST);
    (0..sent).for_each(|_| sidecar.send(1, &ToEdge::Data(&datagram)));
    for round in 0..100_u8 {
        sidecar.send(2, &ToEdge::Data(&[round]));
        let (bytes, from) = read(&socket);
        socket.send_to(&bytes, from).unwrap();
        assert_eq!(sidecar.receive_without_credit(2), [round]);
    }
    // The burst of the rate is 64 KiB.
    let passed = sidecar.flows(1)[0].sent;
    assert!((16_000..=64 << 10).contains(&passed), "{passed} bytes");
    close(&mut sidecar, 1);
    drop(flooded);
}

#[test]
fn a_datagram_that_the_system_refuses_is_dropped_and_counted() {
    let (socket, address) = peer();
    let mut sidecar = Sidecar::new();
    sidecar.set(1, datagrams());
    assert_eq!(open(&mut sidecar, 1, address), Ok(()));
    // The system sends at most 65,507 bytes over IPv4.
    sidecar.send(1, &ToEdge::Data(&vec![1; 65_508]));
    sidecar.send(1, &ToEdge::Dropped { count: 4 });
    sidecar.send(1, &ToEdge::Data(b"next"));
    assert_eq!(read(&socket).0, b"next");
    assert_eq!(sidecar.flows(1)[0].dropped, 5);
    // 65,508 and 64 bytes are more than a quarter of the window.
    let credit = sidecar.wait(|id, got| match got {
        Got::Other(ToSidecar::Credit { bytes }) if id == 1 => Some(*bytes),
        _ => None,
    });
    assert_eq!(credit, 65_508 + DATAGRAM_COST);
}

#[test]
fn a_message_that_breaks_the_rules_of_datagrams_ends_the_link() {
    let (_socket, address) = peer();
    let rules: [(&str, &[ToEdge<'_>]); 5] = [
        ("End", &[ToEdge::End {}]),
        ("Credit", &[ToEdge::Credit { bytes: 1 }]),
        ("two flows", &[ToEdge::DatagramsOpen { runtime: 1, peer: address }]),
        ("the window", &[LARGE, LARGE, LARGE, LARGE, LARGE]),
        ("a session", &[ToEdge::TlsAttach { runtime: 1, flow: 1 }]),
    ];
    for (rule, messages) in rules {
        let mut sidecar = Sidecar::new();
        // Without a rate, no datagram of the window gets credit before the last one arrives.
        sidecar.set(1, Options { limits: Limits { bytes_per_second: 1, ..wide() }, ..datagrams() });
        assert_eq!(open(&mut sidecar, 1, address), Ok(()));
        messages.iter().for_each(|message| sidecar.send(1, message));
        assert!(matches!(sidecar.finish(), Err(LinkFault::Rules(_))), "{rule}");
    }
    let mut sidecar = Sidecar::new();
    sidecar.set(1, datagrams());
    sidecar.send(1, &ToEdge::EmptyDatagram {});
    assert!(matches!(sidecar.finish(), Err(LinkFault::Rules(_))), "a datagram of no flow");
}
