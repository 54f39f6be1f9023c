//! Tests of the connection with a real sidecar: greetings, refused messages, and an embedder that
//! does not read.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(dead_code, reason = "each test file uses its part of `common`")]

mod common;

use std::io::Write;

use coldframe_protocol::messages::*;
use coldframe_protocol::{MAX_FRAME_BYTES, encode};
use common::{Parent, fact, program, runtime, text};
use serde_json::{Value, json};

#[test]
fn replies_to_hello_and_ping() {
    let mut parent = Parent::new(&[]);
    parent.assert_alive();
    let counts: SidecarResources = parent.ask(Kind::Resources, 2, &Empty {}).read();
    assert_eq!((counts.runtimes, counts.processes, counts.buffered_bytes), (0, 0, 0));
}

#[test]
fn answers_a_batch_in_order() {
    let mut parent = Parent::new(&[]);
    let batch: Vec<u8> = (1..=500).flat_map(|id| encode(Kind::Ping, id, &Empty {}, 0).unwrap()).collect();
    parent.socket.write_all(&batch).unwrap();
    for id in 1..=500 {
        let received = parent.receive();
        assert_eq!((received.kind, received.id), (Kind::Reply, id));
    }
}

#[test]
fn another_version_ends_the_connection() {
    let mut parent = Parent::silent(&[]);
    parent.send(Kind::Hello, 0, &SdkHello { version: "9.9.9" });
    let (received, status, stderr) = parent.last_message();
    let failure = received.failure();
    assert_eq!(failure.code, "ERR_VERSION_MISMATCH");
    assert_eq!((fact(&failure, "sdk"), fact(&failure, "sidecar")), (text("9.9.9"), text(VERSION)));
    assert_eq!(status.code(), Some(1));
    assert!(stderr.contains("ERR_VERSION_MISMATCH"), "{stderr}");
}

#[test]
fn hello_must_be_the_first_message_and_sent_once() {
    let mut parent = Parent::silent(&[]);
    parent.send(Kind::Ping, 1, &Empty {});
    assert_eq!(fact(&parent.last_message().0.failure(), "what"), text("hello"));

    let mut parent = Parent::new(&[]);
    parent.send(Kind::Hello, 0, &SdkHello { version: VERSION });
    assert_eq!(fact(&parent.last_message().0.failure(), "what"), text("hello"));
}

#[test]
fn an_oversized_frame_ends_the_connection_before_it_is_read() {
    let mut parent = Parent::new(&[]);
    parent.socket.write_all(&(MAX_FRAME_BYTES as u32 + 1).to_le_bytes()).unwrap();
    let (received, status, _) = parent.last_message();
    let failure = received.failure();
    assert_eq!(failure.code, "ERR_FRAME_TOO_LARGE");
    assert_eq!(fact(&failure, "bytes"), Fact::Number(MAX_FRAME_BYTES as i64 + 1));
    assert_eq!(fact(&failure, "maxBytes"), Fact::Number(MAX_FRAME_BYTES as i64));
    assert_eq!(status.code(), Some(1));
}

#[test]
fn garbage_ends_the_connection() {
    for garbage in [&b"\x04\0\0\0abcd"[..], b"\0\0\0\0", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", &[7; 64]] {
        let mut parent = Parent::new(&[]);
        parent.socket.write_all(garbage).unwrap();
        let (received, status, _) = parent.last_message();
        let failure = received.failure();
        assert!(["ERR_INVALID_REQUEST", "ERR_FRAME_TOO_LARGE"].contains(&failure.code.as_ref()), "{failure:?}");
        assert_eq!(status.code(), Some(1));
    }
}

#[test]
fn an_invalid_body_fails_its_request_and_the_connection_continues() {
    let mut parent = Parent::new(&[]);
    let runtime = parent.runtime();
    let start = |change: Value| {
        let mut body = json!({ "runtime": runtime.get(), "mode": "exec", "code": "" });
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        body
    };
    let cases = [
        (Kind::Ping, json!({ "extra": 1 }), "ping.extra"),
        (Kind::RuntimeCreate, json!({ "limits": { "memory": 1 } }), "limits.memory"),
        (Kind::RuntimeCreate, json!({ "env": { "A": 1 } }), "runtime.create.env.A"),
        (Kind::RuntimeCreate, json!({ "cwd": "relative" }), "cwd"),
        (Kind::RuntimeDispose, json!({}), "runtime.dispose.runtime"),
        (Kind::ProcessStart, start(json!({ "mode": "fork" })), "process.start.mode"),
        (Kind::ProcessStart, start(json!({ "code": 5 })), "process.start.code"),
        (Kind::ProcessStart, start(json!({ "args": ["a", 5] })), "process.start.args[1]"),
        (Kind::ProcessStart, start(json!({ "timeoutMs": -5 })), "process.start.timeoutMs"),
        (Kind::ProcessStart, start(json!({ "stream": true })), "process.start.stream"),
        (Kind::ProcessStart, start(json!({ "env": { "A=B": "" } })), "env"),
        (Kind::RunnerCreate, json!({ "runtime": "1" }), "runner.create.runtime"),
        (Kind::RunnerEval, json!({ "runner": 1 }), "runner.eval.code"),
        (Kind::RunnerEval, json!({ "runner": 77, "code": "" }), "runner"),
        (Kind::RunnerDispose, json!([]), "runner.dispose"),
        (Kind::Resources, json!({ "a": null }), "resources.a"),
        (Kind::Reply, json!({}), "kind"),
    ];
    for (index, (kind, body, what)) in cases.into_iter().enumerate() {
        if kind == Kind::Reply {
            continue; // `reply` is no request. The next test covers this kind.
        }
        let received = parent.ask(kind, 100 + index as u32, &body);
        let failure = received.failure();
        assert_eq!((failure.code.as_ref(), fact(&failure, "what")), ("ERR_INVALID_REQUEST", text(what)), "{failure:?}");
        parent.assert_alive();
    }
}

#[test]
fn messages_that_the_sdk_may_not_send_end_the_connection() {
    let cases = [
        (Kind::Reply, 5, json!({}), "kind"),
        (Kind::Credit, 5, json!({ "bytes": "all" }), "credit.bytes"),
        (Kind::Cancel, 5, json!({ "now": true }), "cancel.now"),
        (Kind::Ping, 0, json!({}), "id"),
    ];
    for (kind, id, body, what) in cases {
        let mut parent = Parent::new(&[]);
        parent.send(kind, id, &body);
        let (received, status, _) = parent.last_message();
        assert_eq!(fact(&received.failure(), "what"), text(what));
        assert_eq!(status.code(), Some(1));
    }
}

#[test]
fn an_unknown_kind_fails_its_request() {
    let mut parent = Parent::new(&[]);
    parent.socket.write_all(&[5, 0, 0, 0, 0x93, 0xcc, 200, 9, 0x80]).unwrap();
    let received = parent.receive();
    assert_eq!((received.id, fact(&received.failure(), "what")), (9, text("kind")));
    parent.assert_alive();
}

#[test]
fn an_id_in_use_ends_the_connection() {
    let mut parent = Parent::new(&[]);
    let runtime = parent.runtime();
    parent.send(Kind::ProcessStart, 7, &program(runtime, "p: while (true) {}"));
    parent.send(Kind::ProcessStart, 7, &program(runtime, "0"));
    assert_eq!(fact(&parent.last_message().0.failure(), "what"), text("id"));
}

#[test]
fn credit_and_cancel_may_cross_the_reply() {
    let mut parent = Parent::new(&[]);
    parent.send(Kind::Credit, 77, &Credit { bytes: 5 });
    parent.send(Kind::Cancel, 77, &Empty {});
    parent.assert_alive();
}

#[test]
fn a_disposed_runtime_differs_from_a_runtime_that_never_existed() {
    let mut parent = Parent::new(&[]);
    let received = parent.ask(Kind::ProcessStart, 1, &program(runtime(3), ""));
    let failure = received.failure();
    assert_eq!((failure.code.as_ref(), fact(&failure, "runtime")), ("ERR_RUNTIME_NOT_FOUND", Fact::Number(3)));

    let runtime = parent.runtime();
    assert_eq!(parent.ask(Kind::RuntimeDispose, 2, &RuntimeDispose { runtime }).kind, Kind::Reply);
    for received in [
        parent.ask(Kind::RuntimeDispose, 3, &RuntimeDispose { runtime }),
        parent.ask(Kind::ProcessStart, 4, &program(runtime, "")),
        parent.ask(
            Kind::RunnerCreate,
            5,
            &RunnerCreate { runtime, env: None, cwd: None, limits: None, user: None, language: None },
        ),
    ] {
        let failure = received.failure();
        assert_eq!(
            (failure.code.as_ref(), fact(&failure, "runtime")),
            ("ERR_RUNTIME_DISPOSED", Fact::Number(runtime.get().into()))
        );
    }
}

#[test]
fn the_sidecar_stops_reading_while_the_embedder_does_not_read() {
    let mut parent = Parent::new(&[]);
    let before = resident_bytes(parent.child.id());
    parent.socket.set_nonblocking(true).unwrap();
    let ping = encode(Kind::Ping, 1, &Empty {}, 0).unwrap();
    let block = ping.repeat(1_000);
    let mut sent = 0;
    let mut stalled = 0;
    // 64 MiB of pings are 72 MB of replies. The sidecar must stop reading before 16 MiB.
    while stalled < 200 && sent < 64 << 20 {
        match parent.socket.write(&block[sent % ping.len()..]) {
            Ok(n) => {
                sent += n;
                stalled = 0;
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                stalled += 1;
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(sent < 16 << 20, "{sent} bytes of requests were taken from a parent that reads nothing");
    let grown = resident_bytes(parent.child.id()).saturating_sub(before);
    assert!(grown < 24 << 20, "{grown} bytes more for a parent that reads nothing");
    parent.socket.set_nonblocking(false).unwrap();
    for _ in 0..sent / ping.len() {
        assert_eq!(parent.receive().kind, Kind::Reply);
    }
    let rest = ping.len() - sent % ping.len();
    parent.socket.write_all(&ping[ping.len() - rest..]).unwrap();
    assert_eq!(parent.receive().kind, Kind::Reply);
    parent.assert_alive();
}

fn resident_bytes(pid: u32) -> usize {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
