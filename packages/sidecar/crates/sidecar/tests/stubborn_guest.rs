//! A guest on the reading thread that does not poll must not delay other requests.
//!
//! The engine of the real guest polls in its loops, so this guest is another module. A program that
//! begins with `s` spins forever without polling. Any other program exits with code 5.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(dead_code, reason = "each test file uses its part of `common`")]

mod common;

use std::time::Duration;

use coldframe_protocol::messages::*;
use common::{Parent, program, wait_for_exit};

// The inbox begins at 65536 and the source at 65624. The event's header and the start of the start
// block precede the source: five numbers, "/workspace", the URL, and the length of the source.
const GUEST: &str = r#"(module
  (import "coldframe" "mark" (func $mark (param i32)))
  (memory (export "memory") 4 32768)
  (func (export "_initialize"))
  (func (export "cf_boot") (result i32) (i32.const 0))
  (func (export "cf_freeze") (result i32) (i32.const 0))
  (func (export "cf_info") (result i32)
    (i32.store (i32.const 0) (i32.const 7))
    (i32.store (i32.const 4) (i32.const 1024))
    (i32.store (i32.const 8) (i32.const 65536))
    (i32.store (i32.const 12) (i32.const 65536))
    (i32.const 0))
  (func (export "cf_inbox") (param i32) (result i32) (i32.const 0))
  (func (export "cf_turn") (param i32 i32) (result i32)
    (call $mark (i32.const 1))
    (if (i32.eq (i32.load8_u (i32.const 65624)) (i32.const 115))
      (then (loop $spin
        (i32.store (i32.const 2048) (i32.add (i32.load (i32.const 2048)) (i32.const 1)))
        (br $spin))))
    (i32.store (i32.const 1024) (i32.const 1))
    (i32.store (i32.const 1028) (i32.const 5))
    (i32.const 1)))"#;

struct Folder(std::path::PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn image() -> Folder {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("coldframe-stubborn-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    coldframe_imager::build(
        &wat::parse_str(GUEST).unwrap(),
        std::slice::from_ref(&folder),
        &folder,
        "guest",
        coldframe_imager::GuestKind::Node,
    )
    .unwrap();
    Folder(folder)
}

#[test]
fn answers_other_requests_and_can_cancel_the_guest() {
    let image = image();
    let mut parent = Parent::new(&["--image", image.0.to_str().unwrap(), "--inline-us", "200"]);
    let other = parent.runtime();
    for round in 0..3 {
        let (stuck, id) = (parent.runtime(), 10 + round);
        parent.send(Kind::ProcessStart, id, &program(stuck, "s"));
        std::thread::sleep(Duration::from_millis(50));
        parent.assert_alive();
        let outcome = parent.ask(Kind::ProcessStart, 20 + round, &program(other, "x"));
        assert_eq!(outcome.read::<Outcome<'_>>().exit_code, 5);
        assert_eq!(parent.ask(Kind::RuntimeDispose, 30 + round, &RuntimeDispose { runtime: stuck }).kind, Kind::Reply);
        let received = parent.receive();
        let outcome: Outcome<'_> = received.read();
        assert_eq!((received.id, outcome.exit_code, outcome.failure.unwrap().code.as_ref()), (id, 137, "ERR_RUNTIME_DISPOSED"));
    }
}

#[test]
fn a_timeout_ends_the_guest() {
    let image = image();
    let mut parent = Parent::new(&["--image", image.0.to_str().unwrap(), "--inline-us", "200"]);
    let runtime = parent.runtime();
    let start = ProcessStart { timeout_ms: Some(30), ..program(runtime, "s") };
    let outcome = parent.ask(Kind::ProcessStart, 10, &start);
    assert_eq!(outcome.read::<Outcome<'_>>().exit_code, 124);
    parent.assert_alive();
}

#[test]
fn detects_the_end_of_the_channel() {
    let image = image();
    let mut parent = Parent::new(&["--image", image.0.to_str().unwrap(), "--inline-us", "200"]);
    let runtime = parent.runtime();
    parent.send(Kind::ProcessStart, 10, &program(runtime, "s"));
    std::thread::sleep(Duration::from_millis(20));
    parent.socket.shutdown(std::net::Shutdown::Both).unwrap();
    assert_eq!(wait_for_exit(&mut parent.child).code(), Some(0));
}
