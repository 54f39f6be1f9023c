//! Connections of every end leave nothing behind: no descriptor, no flow, no memory that grows. The
//! file has one test, because the test counts the descriptors of its process.
#![expect(clippy::unwrap_used, reason = "a test")]

mod common;

use coldframe_edge_link::*;
use common::*;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The peer reads one byte, which says how the connection ends.
fn peer(mut stream: TcpStream) {
    let mut act = [0];
    if stream.read_exact(&mut act).is_err() {
        return;
    }
    match act[0] {
        b'e' => drop(stream.shutdown(Shutdown::Write)),
        b'r' => {
            let _ = rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
            return;
        }
        b'c' => return,
        _ => {}
    }
    let _ = stream.write_all(b"bytes that the guest may not read");
    let mut rest = [0; 64];
    while let Ok(1..) = stream.read(&mut rest) {}
}

#[test]
fn connections_of_every_end_leave_nothing_behind() {
    let rounds = coldframe_testing::repetitions(500, 10_000);
    let listener = Counting::new(peer);
    let mut sidecar = Sidecar::new();
    sidecar.set(1, loopback());
    // The first connection opens what stays open.
    assert_eq!(sidecar.connect(0, listener.address), Ok(()));
    sidecar.send(0, &ToEdge::Close { reset: true });
    sidecar.closed(0);
    let before = descriptors();
    let guest_ends: [&[ToEdge<'_>]; 4] = [
        &[ToEdge::End {}, ToEdge::Close { reset: false }],
        &[ToEdge::Close { reset: false }],
        &[ToEdge::Close { reset: true }],
        &[ToEdge::Data(b"more"), ToEdge::End {}, ToEdge::Close { reset: true }],
    ];
    for act in [b"e", b"r", b"c", b"n"] {
        for end in guest_ends {
            for round in 0..rounds / 4 {
                // A free id is used again at once.
                let flow = round % 7;
                assert_eq!(sidecar.connect(flow, listener.address), Ok(()), "{round}");
                sidecar.send(flow, &ToEdge::Data(act));
                end.iter().for_each(|message| sidecar.send(flow, message));
                sidecar.closed(flow);
                sidecar.forget();
            }
        }
    }
    // Ends while the connection is being established, and ends of runtimes.
    for round in 0..rounds {
        let runtime = 2 + u64::from(round % 3);
        sidecar.set(runtime, loopback());
        sidecar.send(100, &ToEdge::Connect { runtime, peer: listener.address });
        if round % 2 == 0 {
            sidecar.send(100, &ToEdge::Close { reset: round % 4 == 0 });
        }
        sidecar.send(0, &ToEdge::RuntimeEnd { runtime });
        sidecar.closed(100);
        if round % 2 == 1 {
            sidecar.send(100, &ToEdge::Close { reset: false });
        }
        sidecar.forget();
    }
    assert!(sidecar.flows(1).is_empty());
    // The peers' sockets of this process are closed by their threads. A leak would never be closed.
    let limit = std::time::Instant::now() + Duration::from_secs(60);
    while descriptors() > before && std::time::Instant::now() < limit {
        std::thread::yield_now();
    }
    assert!(descriptors() <= before, "{} descriptors, {before} before", descriptors());
    assert_eq!(sidecar.connect(1, listener.address), Ok(()));
    sidecar.finish().unwrap();
}
