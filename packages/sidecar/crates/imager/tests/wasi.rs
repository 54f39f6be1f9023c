//! Calls WASI preview 1 from guests of a few lines: correct calls, and calls with forged pointers,
//! numbers and lengths.
//!
//! Each guest compares the results of its calls with the expected numbers. The exit code is the
//! number of the first comparison that failed, or 0.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]
#![allow(dead_code, reason = "each test file uses its part of `common`")]

mod common;

use coldframe_core::{Dispatch, Outcome, RuntimeOptions};
use coldframe_imager::GuestKind;
use common::{GUEST, Guest, outcome, start};

/// The imports that the tests use, and the comparison `$expect`.
const IMPORTS: &str = r#"
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $fd_close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_fdstat_get" (func $fd_fdstat_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_prestat_get" (func $fd_prestat_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_readdir" (func $fd_readdir (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_renumber" (func $fd_renumber (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_seek" (func $fd_seek (param i32 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_filestat_get" (func $path_filestat_get (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (import "wasi_snapshot_preview1" "sock_accept" (func $sock_accept (param i32 i32 i32) (result i32)))"#;

/// Stores the number of a comparison that fails. The exit code in the state block is at 1028.
const EXPECT: &str = r#"
  (func $expect (param $number i32) (param $result i32) (param $expected i32)
    (if (i32.and (i32.eqz (i32.load (i32.const 1028))) (i32.ne (local.get $result) (local.get $expected)))
      (then (i32.store (i32.const 1028) (local.get $number)))))
  (func $vector (param $at i32) (param $address i32) (param $len i32)
    (i32.store (local.get $at) (local.get $address))
    (i32.store offset=4 (local.get $at) (local.get $len)))"#;

/// The descriptor that stands for `/`.
const ROOT: u32 = 0x7fff_0000;
/// The rights to read and to write.
const READ_WRITE: u32 = 0b100_0010;

/// Runs a guest whose turn is `body`, with `data` at 8192.
fn run(name: &str, data: &str, body: &str, timeout: Option<u64>) -> Outcome {
    let turn = "(local $first i32)";
    let store = "(i32.store (i32.const 1028) (i32.const 5))";
    let text = GUEST.replacen("(module", &format!("(module {IMPORTS}"), 1);
    let text = text.replacen("(memory (export", &format!("(data (i32.const 8192) \"{data}\")\n  (memory (export"), 1);
    let text = text.replacen("(func (export \"_initialize\"))", &format!("{EXPECT}\n  (func (export \"_initialize\"))"), 1);
    assert!(text.contains(turn) && text.contains(store));
    let text =
        text.replacen(store, "", 1).replacen("(call $mark (i32.const 1))", &format!("(call $mark (i32.const 1)) {body}"), 1);
    let guest = Guest::of_kind(name, &text, GuestKind::Python).expect("an image");
    let runtime = guest.core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    outcome(&start(&runtime, "x", timeout, Dispatch::Worker).1)
}

/// Returns the call of `$expect` for a comparison.
fn expect(number: u32, result: &str, expected: u32) -> String {
    format!("(call $expect (i32.const {number}) {result} (i32.const {expected}))\n")
}

#[test]
fn forged_pointers_and_numbers_are_errors() {
    let far = "(i32.const 0xfffffff0)";
    let cases = [
        (format!("(call $fd_write (i32.const 1) {far} (i32.const 1) (i32.const 16384))"), 21),
        ("(call $fd_write (i32.const 1) (i32.const 8192) (i32.const 1025) (i32.const 16384))".to_owned(), 28),
        (format!("(call $fd_write (i32.const 1) (i32.const 8192) (i32.const 0) {far})"), 21),
        ("(call $fd_write (i32.const 77) (i32.const 16640) (i32.const 1) (i32.const 16384))".to_owned(), 8),
        (format!("(call $clock_time_get (i32.const 1) (i64.const 0) {far})"), 21),
        ("(call $clock_time_get (i32.const 9) (i64.const 0) (i32.const 16384))".to_owned(), 28),
        ("(call $fd_prestat_get (i32.const 3) (i32.const 16384))".to_owned(), 8),
        ("(call $fd_close (i32.const -1))".to_owned(), 8),
        ("(call $fd_readdir (i32.const 1) (i32.const 16384) (i32.const 99) (i64.const 0) (i32.const 16384))".to_owned(), 70),
        (format!("(call $path_filestat_get (i32.const {ROOT}) (i32.const 0) {far} (i32.const 5) (i32.const 16384))"), 21),
        (
            format!(
                "(call $path_filestat_get (i32.const {ROOT}) (i32.const 0) (i32.const 0) (i32.const 5000) (i32.const 16384))"
            ),
            37,
        ),
        ("(call $path_filestat_get (i32.const 1) (i32.const 0) (i32.const 8192) (i32.const 3) (i32.const 16384))".to_owned(), 54),
        ("(call $sock_accept (i32.const 1) (i32.const 0) (i32.const 16384))".to_owned(), 57),
        ("(call $poll_oneoff (i32.const 8192) (i32.const 16384) (i32.const 0) (i32.const 16384))".to_owned(), 28),
        ("(call $poll_oneoff (i32.const 8192) (i32.const 16384) (i32.const 1025) (i32.const 16384))".to_owned(), 28),
        (format!("(call $poll_oneoff {far} (i32.const 16384) (i32.const 1) (i32.const 16384))"), 21),
    ];
    let body: String = (1..).zip(&cases).map(|(number, (call, error))| expect(number, call, *error)).collect();
    assert_eq!(run("wasi-forged", "tmp", &body, None).exit_code, 0);
}

#[test]
fn files_are_written_read_moved_and_listed() {
    let open = format!(
        "(call $path_open (i32.const {ROOT}) (i32.const 1) (i32.const 8192) (i32.const 5) (i32.const 1) (i64.const {READ_WRITE})
           (i64.const 0) (i32.const 0) (i32.const 16384))"
    );
    let directory = format!(
        "(call $path_open (i32.const {ROOT}) (i32.const 1) (i32.const 8192) (i32.const 3) (i32.const 2) (i64.const 2)
           (i64.const 0) (i32.const 0) (i32.const 16384))"
    );
    let list = |cookie: u32, len: u32| {
        format!("(call $fd_readdir (i32.const 3) (i32.const 20480) (i32.const {len}) (i64.const {cookie}) (i32.const 16384))")
    };
    let body = [
        expect(1, &open, 0),
        expect(2, "(i32.load (i32.const 16384))", 3),
        "(call $vector (i32.const 12288) (i32.const 8192) (i32.const 3))".to_owned(),
        "(call $vector (i32.const 12296) (i32.const 8195) (i32.const 2))".to_owned(),
        expect(3, "(call $fd_write (i32.const 3) (i32.const 12288) (i32.const 2) (i32.const 16384))", 0),
        expect(4, "(i32.load (i32.const 16384))", 5),
        expect(5, "(call $fd_renumber (i32.const 3) (i32.const 9))", 0),
        expect(6, "(call $fd_close (i32.const 3))", 8),
        expect(7, "(call $fd_seek (i32.const 9) (i64.const 1) (i32.const 0) (i32.const 16384))", 0),
        "(call $vector (i32.const 12288) (i32.const 24576) (i32.const 9))".to_owned(),
        expect(8, "(call $fd_read (i32.const 9) (i32.const 12288) (i32.const 1) (i32.const 16384))", 0),
        expect(9, "(i32.load (i32.const 16384))", 4),
        expect(10, "(i32.load8_u (i32.const 24576))", u32::from(b'm')),
        expect(11, "(call $fd_fdstat_get (i32.const 9) (i32.const 20480))", 0),
        expect(12, "(i32.load8_u (i32.const 20480))", 4),
        expect(13, &directory, 0),
        // The buffer cuts off the entry `a`, which the second call returns again.
        expect(14, &list(0, 24), 0),
        expect(15, "(i32.load (i32.const 16384))", 24),
        expect(16, &list(0, 99), 0),
        expect(17, "(i32.load (i32.const 16384))", 25),
        expect(18, "(i32.load8_u (i32.const 20504))", u32::from(b'a')),
        expect(19, &list(1, 99), 0),
        expect(20, "(i32.load (i32.const 16384))", 0),
        expect(21, &list(u32::MAX, 99), 0),
        expect(22, "(i32.load (i32.const 16384))", 0),
    ];
    assert_eq!(run("wasi-files", "tmp/a", &body.concat(), None).exit_code, 0);
}

#[test]
fn a_list_of_large_vectors_does_not_move_more_than_one_transfer() {
    let open = format!(
        "(call $path_open (i32.const {ROOT}) (i32.const 1) (i32.const 8192) (i32.const 8) (i32.const 0) (i64.const 2)
           (i64.const 0) (i32.const 0) (i32.const 16384))"
    );
    let vectors: String = (0..64)
        .map(|vector| format!("(call $vector (i32.const {}) (i32.const 131072) (i32.const 65536))", 20480 + 8 * vector))
        .collect();
    let read = "(call $fd_read (i32.const 3) (i32.const 20480) (i32.const 64) (i32.const 16384))";
    let body = [expect(1, &open, 0), vectors, expect(2, read, 0), expect(3, "(i32.load (i32.const 16384))", 1 << 20)];
    assert_eq!(run("wasi-vectors", "dev/zero", &body.concat(), None).exit_code, 0);
}

#[test]
fn a_poll_reports_times_closed_descriptors_and_unknown_clocks() {
    // The subscriptions: a clock after 1 ms, a descriptor that is not open, and an unknown clock.
    let body = [
        "(i64.store (i32.const 12288) (i64.const 7)) (i32.store (i32.const 12304) (i32.const 1))".to_owned(),
        "(i64.store (i32.const 12312) (i64.const 1000000))".to_owned(),
        expect(1, "(call $poll_oneoff (i32.const 12288) (i32.const 20480) (i32.const 1) (i32.const 16384))", 0),
        expect(2, "(i32.load (i32.const 16384))", 1),
        expect(3, "(i32.load (i32.const 20480))", 7),
        "(i32.store8 (i32.const 12344) (i32.const 1)) (i32.store (i32.const 12352) (i32.const 55))".to_owned(),
        "(i32.store (i32.const 12400) (i32.const 3))".to_owned(),
        expect(4, "(call $poll_oneoff (i32.const 12288) (i32.const 20480) (i32.const 3) (i32.const 16384))", 0),
        expect(5, "(i32.load (i32.const 16384))", 2),
        expect(6, "(i32.load16_u (i32.const 20488))", 8),
        expect(7, "(i32.load16_u (i32.const 20520))", 28),
    ];
    assert_eq!(run("wasi-poll", "", &body.concat(), None).exit_code, 0);
}

#[test]
fn a_wait_without_an_end_ends_at_the_time_limit() {
    let body = "(i32.store (i32.const 12304) (i32.const 1)) (i64.store (i32.const 12312) (i64.const -1))
      (drop (call $poll_oneoff (i32.const 12288) (i32.const 20480) (i32.const 1) (i32.const 16384)))";
    let ended = run("wasi-endless", "", body, Some(50));
    assert_eq!(ended.failure.expect("a failure").code(), "ERR_TIMEOUT");
}

#[test]
fn an_exit_in_the_middle_of_a_turn_ends_the_program() {
    assert_eq!(run("wasi-exit", "", "(call $proc_exit (i32.const 300)) (unreachable)", None).exit_code, 44);
}

#[test]
fn the_guest_of_node_may_not_import_wasi() {
    let text = GUEST.replacen("(module", &format!("(module {IMPORTS}"), 1);
    let failure = Guest::from_text("wasi-node", &text).map(|_| ()).expect_err("a failure").to_string();
    assert!(failure.contains("import wasi_snapshot_preview1.fd_read is not in the ABI"), "{failure}");
}
