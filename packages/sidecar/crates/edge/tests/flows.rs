//! Connections: bytes, windows, the ends of both directions, failures and limits.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use coldframe_edge::{FAILURES_BURST, LinkFault, MAX_REFUSED};
use coldframe_edge_link::window::STREAM_WINDOW;
use coldframe_edge_link::*;
use common::*;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

/// Opens a flow to a listener of this test. Returns both ends.
fn pair() -> (Sidecar, TcpStream) {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, loopback());
    let peer = accept(&mut sidecar, 1);
    (sidecar, peer)
}

fn accept(sidecar: &mut Sidecar, flow: u32) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    assert_eq!(sidecar.connect(flow, listener.local_addr().unwrap()), Ok(()));
    let (peer, _) = listener.accept().unwrap();
    peer.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    peer
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|place| (place * 31 + place / 251) as u8).collect()
}

#[test]
fn bytes_arrive_unchanged_in_both_directions_beyond_the_window() {
    let echo = Counting::echo();
    let mut sidecar = Sidecar::new();
    sidecar.set(1, loopback());
    assert_eq!(sidecar.connect(7, echo.address), Ok(()));
    let all = pattern(5 << 20);
    let mut window = window::SendWindow::default();
    let (mut sent, mut received) = (0, Vec::new());
    while received.len() < all.len() {
        let most = usize::try_from(window.left()).unwrap().min(MAX_DATA_BYTES).min(all.len() - sent);
        if most > 0 {
            sidecar.send(7, &ToEdge::Data(&all[sent..sent + most]));
            assert!(window.send(most as u64));
            sent += most;
            continue;
        }
        match sidecar.wait(|id, got| (id == 7).then(|| got.clone())) {
            Got::Data(bytes) => {
                sidecar.send(7, &ToEdge::Credit { bytes: bytes.len() as u64 });
                received.extend(bytes);
            }
            Got::Other(ToSidecar::Credit { bytes }) => assert!(window.credit(bytes), "credit for unsent bytes"),
            other => panic!("{other:?}"),
        }
    }
    assert!(received == all);
    sidecar.send(7, &ToEdge::Close { reset: false });
    assert_eq!(sidecar.closed(7), None);
    assert!(sidecar.flows(1).is_empty());
    sidecar.finish().unwrap();
}

#[test]
fn the_edge_sends_no_byte_beyond_the_window_and_the_peer_waits() {
    let (mut sidecar, mut peer) = pair();
    let all = pattern(STREAM_WINDOW as usize + 1);
    let written = all.clone();
    let writer = std::thread::spawn(move || peer.write_all(&written).map(|()| peer).unwrap());
    let mut bytes = Vec::new();
    while bytes.len() < STREAM_WINDOW as usize {
        bytes.extend(sidecar.wait(|_, got| match got {
            Got::Data(piece) => Some(piece.clone()),
            _ => None,
        }));
    }
    let _peer = writer.join().unwrap();
    // A reply follows all data that the edge would send without credit.
    assert_eq!(sidecar.flows(1)[0].received, STREAM_WINDOW);
    sidecar.send(1, &ToEdge::Credit { bytes: 1 });
    assert_eq!(sidecar.receive(1, 1), all[STREAM_WINDOW as usize..]);
    assert!(bytes == all[..STREAM_WINDOW as usize]);
}

#[test]
fn the_end_of_the_peer_needs_no_credit() {
    let (mut sidecar, mut peer) = pair();
    peer.write_all(&pattern(STREAM_WINDOW as usize)).unwrap();
    let mut count = 0;
    while count < STREAM_WINDOW as usize {
        count += sidecar.wait(|_, got| match got {
            Got::Data(piece) => Some(piece.len()),
            _ => None,
        });
    }
    peer.shutdown(Shutdown::Write).unwrap();
    sidecar.ended(1);
    // The other direction is open.
    sidecar.send(1, &ToEdge::Data(b"late"));
    sidecar.send(1, &ToEdge::End {});
    let mut late = Vec::new();
    peer.read_to_end(&mut late).unwrap();
    assert_eq!(late, b"late");
    assert_eq!(sidecar.closed(1), None);
}

#[test]
fn a_reset_of_the_peer_is_noticed_without_credit() {
    let (mut sidecar, mut peer) = pair();
    peer.write_all(&pattern(STREAM_WINDOW as usize)).unwrap();
    while sidecar.flows(1)[0].received < STREAM_WINDOW {}
    reset(peer);
    assert_eq!(sidecar.closed(1), Some(FailureKind::Errno(libc::ECONNRESET)));
}

/// The system reports the reset to the first call only.
#[test]
fn a_reset_that_a_write_notices_first_is_reported_as_a_reset() {
    for _ in 0..50 {
        let (mut sidecar, peer) = pair();
        reset(peer);
        sidecar.send(1, &ToEdge::Data(b"into the reset"));
        assert_eq!(sidecar.closed(1), Some(FailureKind::Errno(libc::ECONNRESET)));
    }
}

/// Closes a socket with an RST.
fn reset(socket: TcpStream) {
    rustix::net::sockopt::set_socket_linger(&socket, Some(Duration::ZERO)).unwrap();
    drop(socket);
}

#[test]
fn a_direction_ends_alone() {
    let (mut sidecar, mut peer) = pair();
    sidecar.send(1, &ToEdge::Data(b"request"));
    sidecar.send(1, &ToEdge::End {});
    let mut request = Vec::new();
    peer.read_to_end(&mut request).unwrap();
    assert_eq!(request, b"request");
    peer.write_all(b"response").unwrap();
    assert_eq!(sidecar.receive(1, 8), b"response");
    assert_eq!(sidecar.flows(1).len(), 1);
    drop(peer);
    sidecar.ended(1);
    assert_eq!(sidecar.closed(1), None);
    sidecar.send(1, &ToEdge::Close { reset: false });
    assert!(sidecar.flows(1).is_empty());
    assert!(sidecar.connect(1, "127.0.0.1:1".parse().unwrap()).is_err(), "the id is free");
}

/// The acts of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    End,
    Reset,
    Kill,
}

#[test]
fn every_order_of_ends_closes_the_flow_once() {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, loopback());
    let acts = [Act::End, Act::Reset, Act::Kill];
    let mut flow = 0;
    for guest in acts {
        for peer_act in acts {
            for guest_is_first in [true, false] {
                flow += 1;
                let what = format!("guest {guest:?}, peer {peer_act:?}, guest first {guest_is_first}");
                let mut peer = Some(accept(&mut sidecar, flow));
                peer.as_mut().unwrap().write_all(b"from peer").unwrap();
                assert_eq!(sidecar.receive(flow, 9), b"from peer", "{what}");
                sidecar.send(flow, &ToEdge::Data(b"from guest"));
                let mut bytes = [0; 10];
                peer.as_mut().unwrap().read_exact(&mut bytes).unwrap();
                let by_guest = |sidecar: &mut Sidecar| match guest {
                    Act::End => sidecar.send(flow, &ToEdge::End {}),
                    Act::Reset => sidecar.send(flow, &ToEdge::Close { reset: true }),
                    Act::Kill => sidecar.send(flow, &ToEdge::Close { reset: false }),
                };
                let by_peer = |peer: &mut Option<TcpStream>| match peer_act {
                    Act::End => peer.as_ref().unwrap().shutdown(Shutdown::Write).unwrap_or_default(),
                    Act::Reset => reset(peer.take().unwrap()),
                    Act::Kill => drop(peer.take()),
                };
                if guest_is_first {
                    by_guest(&mut sidecar);
                    if let Some(peer) = &mut peer {
                        let seen = peer.read(&mut bytes).map_err(|error| error.kind());
                        let expected = if guest == Act::Reset { Err(std::io::ErrorKind::ConnectionReset) } else { Ok(0) };
                        assert_eq!(seen, expected, "{what}");
                    }
                    by_peer(&mut peer);
                } else {
                    by_peer(&mut peer);
                    match peer_act {
                        Act::End | Act::Kill => sidecar.ended(flow),
                        // The id is in use until the sidecar's Close.
                        Act::Reset => {
                            let failure = sidecar.closed(flow);
                            assert_eq!(failure, Some(FailureKind::Errno(libc::ECONNRESET)), "{what}");
                        }
                    }
                    by_guest(&mut sidecar);
                }
                if guest_is_first || peer_act != Act::Reset {
                    let failure = sidecar.closed(flow);
                    let is_reset = failure == Some(FailureKind::Errno(libc::ECONNRESET));
                    let may_be_reset = guest == Act::End && peer_act == Act::Reset;
                    assert!(failure.is_none() || may_be_reset && is_reset, "{what}: {failure:?}");
                }
                if guest == Act::End {
                    sidecar.send(flow, &ToEdge::Close { reset: false });
                }
            }
        }
    }
    assert!(sidecar.flows(1).is_empty());
    // All ids are free.
    let echo = Counting::echo();
    (1..=flow).for_each(|flow| assert_eq!(sidecar.connect(flow, echo.address), Ok(())));
    sidecar.finish().unwrap();
}

#[test]
fn a_close_sends_the_bytes_before_it() {
    let (mut sidecar, mut peer) = pair();
    let all = pattern(STREAM_WINDOW as usize);
    all.chunks(MAX_DATA_BYTES).for_each(|piece| sidecar.send(1, &ToEdge::Data(piece)));
    sidecar.send(1, &ToEdge::Close { reset: false });
    let mut received = Vec::new();
    peer.read_to_end(&mut received).unwrap();
    assert!(received == all);
    assert_eq!(sidecar.closed(1), None);
}

#[test]
fn data_before_the_connection_is_established_is_sent_after() {
    let echo = Counting::echo();
    let mut sidecar = Sidecar::new();
    sidecar.set(1, loopback());
    sidecar.send(3, &ToEdge::Connect { runtime: 1, peer: echo.address });
    sidecar.send(3, &ToEdge::Data(b"early"));
    sidecar.send(3, &ToEdge::End {});
    assert_eq!(sidecar.opened(3), Ok(()));
    assert_eq!(sidecar.receive(3, 5), b"early");
    sidecar.ended(3);
    assert_eq!(sidecar.closed(3), None);
}

#[test]
fn the_guest_sees_the_errors_of_the_system() {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, loopback());
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(errno(sidecar.connect(1, closed)), libc::ECONNREFUSED);
    // Linux refuses to connect to the broadcast address.
    sidecar.set(1, Options { private: vec!["255.255.255.255:*".to_owned()], limits: wide(), ..Options::default() });
    let refused = errno(sidecar.connect(2, "255.255.255.255:9".parse().unwrap()));
    assert!([libc::ENETUNREACH, libc::EACCES, libc::EHOSTUNREACH].contains(&refused), "{refused}");
    assert!(sidecar.flows(1).is_empty());
}

fn limited(limits: Limits) -> Sidecar {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, Options { limits, ..loopback() });
    sidecar
}

fn limit(result: Result<(), Option<FailureKind>>) -> String {
    match result {
        Err(Some(FailureKind::Limit { name })) => name,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_limit_refuses_with_its_name_and_spares_other_runtimes() {
    let echo = Counting::echo();
    let mut sidecar = limited(Limits { connections: 3, ..wide() });
    (1..=3).for_each(|flow| assert_eq!(sidecar.connect(flow, echo.address), Ok(())));
    assert_eq!(limit(sidecar.connect(4, echo.address)), "connections");
    sidecar.set(2, loopback());
    assert_eq!(sidecar.connect_of(2, 5, echo.address), Ok(()));
    sidecar.send(1, &ToEdge::Close { reset: false });
    sidecar.closed(1);
    assert_eq!(sidecar.connect(6, echo.address), Ok(()));

    let mut sidecar = limited(Limits { connects_per_second: 1, connects_burst: 2, ..wide() });
    let results: Vec<_> = (1..=20).map(|flow| sidecar.connect(flow, echo.address)).collect();
    assert!(results[..2].iter().all(Result::is_ok));
    assert_eq!(limit(results[2].clone()), "connectsPerSecond");
}

#[test]
fn a_flood_of_refused_connections_waits_for_its_reports() {
    let echo = Counting::echo();
    let mut sidecar = limited(Limits { connects_per_second: 0, connects_burst: 0, ..wide() });
    sidecar.set(2, loopback());
    // The burst, the failures that wait for seconds, and the failures for which no place is free.
    let count = FAILURES_BURST + u32::try_from(MAX_REFUSED).unwrap() + 100;
    (1..=count).for_each(|flow| sidecar.send(flow, &ToEdge::Connect { runtime: 1, peer: echo.address }));
    assert_eq!(sidecar.connect_of(2, count + 1, echo.address), Ok(()), "another runtime does not wait");
    let mut reported = sidecar.forget_closed();
    assert!(reported.len() < count as usize, "{}", reported.len());
    assert!(reported.iter().all(|(_, failure)| limit(Err(failure.clone())) == "connectsPerSecond"));

    // A close does not wait.
    let last = (1..=count).rev().find(|flow| reported.iter().all(|(id, _)| id != flow)).unwrap();
    sidecar.send(last, &ToEdge::Close { reset: false });
    assert_eq!(sidecar.closed(last), None);
    assert_eq!(sidecar.connect_of(2, last, echo.address), Ok(()), "the id is free");

    // Nor does the end of the runtime.
    sidecar.send(0, &ToEdge::RuntimeEnd { runtime: 1 });
    assert_eq!(sidecar.connect_of(2, count + 2, echo.address), Ok(()));
    reported.extend(sidecar.forget_closed());
    assert_eq!(reported.len(), count as usize - 1);
    assert_eq!(echo.count(), 3);
}

#[test]
fn the_limit_of_bytes_ends_all_flows() {
    let echo = Counting::echo();
    let mut sidecar = limited(Limits { bytes: Some(1_000), ..wide() });
    sidecar.send(0, &ToEdge::Watch { runtime: 1, on: true });
    assert_eq!(sidecar.connect(1, echo.address), Ok(()));
    assert_eq!(sidecar.connect(2, echo.address), Ok(()));
    sidecar.send(1, &ToEdge::Data(&[7; 600]));
    let reached = Some(FailureKind::Limit { name: "bytes".to_owned() });
    assert_eq!([sidecar.closed(1), sidecar.closed(2)], [reached.clone(), reached]);
    assert_eq!(limit(sidecar.connect(3, echo.address)), "bytes");
    while !matches!(sidecar.event(), Event::Limit { name } if name == "bytes") {}
}

#[test]
fn no_byte_beyond_the_limit_of_bytes_reaches_the_peer() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let sink = Counting::new(move |mut stream| {
        let mut buffer = [0; 65_536];
        let mut count = 0;
        while let Ok(more @ 1..) = stream.read(&mut buffer) {
            count += more;
        }
        sender.send(count).unwrap();
    });
    let mut sidecar = limited(Limits { bytes: Some(100_001), ..wide() });
    for flow in [1, 2] {
        assert_eq!(sidecar.connect(flow, sink.address), Ok(()));
    }
    for flow in [1, 2] {
        for _ in 0..2 {
            sidecar.send(flow, &ToEdge::Data(&[7; 50_000]));
        }
    }
    for flow in [1, 2] {
        assert_eq!(sidecar.closed(flow), Some(FailureKind::Limit { name: "bytes".to_owned() }));
    }
    let received: usize = (0..2).map(|_| receiver.recv().unwrap()).sum();
    assert!(received <= 100_001, "{received}");
}

#[test]
fn connections_into_a_listener_that_never_accepts_are_bounded() {
    let _ = rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        rustix::process::Rlimit { current: Some(65_536), maximum: Some(65_536) },
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut sidecar = limited(Limits { connecting: 64, ..wide() });
    // The system completes the first connections of the queue. The others stay in progress.
    let mut refused = 0;
    for flow in 0..10_000 {
        sidecar.send(flow, &ToEdge::Connect { runtime: 1, peer: address });
    }
    let waiting = loop {
        let flows = sidecar.flows(1);
        let waiting = flows.iter().filter(|flow| !flow.connected).count();
        if waiting == 64 && flows.len() < 10_000 {
            break flows.len();
        }
    };
    for _ in 0..10_000 - waiting {
        let failure = sidecar.wait(|_, got| match got {
            Got::Other(ToSidecar::Closed { failure }) => Some(failure.clone()),
            _ => None,
        });
        assert_eq!(failure.map(|failure| failure.kind), Some(FailureKind::Limit { name: "connecting".to_owned() }));
        refused += 1;
    }
    assert_eq!(refused + waiting, 10_000);
    // Another runtime is not affected.
    let echo = Counting::echo();
    sidecar.set(2, loopback());
    assert_eq!(sidecar.connect_of(2, 20_000, echo.address), Ok(()));
    sidecar.send(20_000, &ToEdge::Data(b"x"));
    assert_eq!(sidecar.receive(20_000, 1), b"x");
    sidecar.send(0, &ToEdge::RuntimeEnd { runtime: 1 });
    assert!(sidecar.flows(1).is_empty());
}

#[test]
fn a_rate_of_bytes_delays_and_loses_nothing() {
    let echo = Counting::echo();
    let mut sidecar = limited(Limits { bytes_per_second: 4 << 20, ..wide() });
    assert_eq!(sidecar.connect(1, echo.address), Ok(()));
    let all = pattern(3 << 20);
    let mut received = Vec::new();
    for piece in all.chunks(MAX_DATA_BYTES) {
        sidecar.send(1, &ToEdge::Data(piece));
        received.extend(sidecar.receive(1, piece.len()));
    }
    assert!(received == all);
}

fn fault(message: &[(u32, ToEdge<'_>)]) -> LinkFault {
    let (mut sidecar, _peer) = pair();
    message.iter().for_each(|(id, message)| sidecar.send(*id, message));
    while sidecar.read().is_some() {}
    sidecar.finish().unwrap_err()
}

#[test]
fn a_message_against_the_rules_ends_the_link() {
    let window = vec![0; MAX_DATA_BYTES];
    let check = || ToEdge::Check { runtime: 1, url: "http://a.example".to_owned(), method: "GET".to_owned() };
    let wrong: [&[(u32, ToEdge<'_>)]; 8] = [
        &[(9, ToEdge::Data(b"x"))],
        &[(1, ToEdge::Connect { runtime: 1, peer: "127.0.0.1:1".parse().unwrap() })],
        &[(1, ToEdge::Credit { bytes: 1 })],
        &[(1, ToEdge::End {}), (1, ToEdge::Data(b"x"))],
        &[(1, ToEdge::End {}), (1, ToEdge::End {})],
        &[(9, ToEdge::Close { reset: false })],
        &[(0, ToEdge::Hello { version: VERSION })],
        &[(1, ToEdge::Close { reset: true }), (1, ToEdge::Close { reset: true })],
    ];
    for messages in wrong {
        assert!(matches!(fault(messages), LinkFault::Rules(_)), "{messages:?}");
    }
    // The peer reads nothing, so that no credit is sent.
    let many: Vec<_> = (0..400).map(|_| (1, ToEdge::Data(&window))).collect();
    let (mut sidecar, _peer) = pair();
    let mut bytes = Vec::new();
    many.iter().for_each(|(id, message)| message.encode(*id, &mut bytes).unwrap());
    let _ = sidecar.stream.write_all(&bytes);
    while sidecar.read().is_some() {}
    assert!(matches!(sidecar.finish(), Err(LinkFault::Rules(_))));
    let mut sidecar = Sidecar::silent(coldframe_edge::Surroundings::default());
    sidecar.send(1, &check());
    assert!(sidecar.read().is_none());
    assert!(matches!(sidecar.finish(), Err(LinkFault::Rules(_))));
    let mut sidecar = Sidecar::silent(coldframe_edge::Surroundings::default());
    sidecar.send(0, &ToEdge::Hello { version: VERSION + 1 });
    assert!(matches!(sidecar.finish(), Err(LinkFault::Version(_))));
    let mut sidecar = Sidecar::new();
    let _ = sidecar.stream.write_all(&[0xff; 64]);
    assert!(matches!(sidecar.finish(), Err(LinkFault::Invalid(_))));
}
