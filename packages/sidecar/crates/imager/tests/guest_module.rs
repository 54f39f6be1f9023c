//! Builds images from modules with bulk-memory instructions and from modules that break the guest
//! ABI.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]
#![allow(dead_code, reason = "each test file uses its part of `common`")]

mod common;

use coldframe_core::{Dispatch, RuntimeOptions};
use coldframe_imager::Failure;
use common::{GUEST, Guest, outcome, start};

/// A memset for lengths of one byte.
const MEMSET: &str = r#"(func $memset (param $to i32) (param $byte i32) (param $len i32) (result i32)
    (i32.store8 (local.get $to) (local.get $byte)) (local.get $to))"#;

#[test]
fn runs_a_guest_whose_bulk_instructions_were_lowered() {
    let store = "(i32.store (i32.const 1028) (i32.const 5))";
    let fill = "(memory.fill (i32.const 1028) (i32.const 7) (i32.const 1))";
    assert!(GUEST.contains(store));
    let text = GUEST.replace(store, fill).replace("(func (export \"cf_boot\")", &format!("{MEMSET}(func (export \"cf_boot\")"));
    let guest = Guest::from_text("lowered", &text).expect("an image");
    let runtime = guest.core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    assert_eq!(outcome(&start(&runtime, "exit", None, Dispatch::Worker).1).exit_code, 7);
}

#[test]
fn refuses_a_guest_with_an_import_outside_the_abi() {
    let text = GUEST.replacen("(module", r#"(module (import "env" "f" (func))"#, 1);
    match Guest::from_text("refused", &text).map(|_| ()) {
        Err(Failure::Module(reason)) => assert!(reason.contains("import env.f is not in the ABI"), "{reason}"),
        other => panic!("{other:?}"),
    }
}
