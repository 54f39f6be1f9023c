//! Tests of the process after a panic. Each case runs in a process of its own. The process runs the
//! program of this test, and an environment variable names the case.
#![expect(clippy::unwrap_used, reason = "a test")]

use coldframe_panics::{Health, contain, install, outside, process, runtime};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

const CASE: &str = "COLDFRAME_PANIC_CASE";

/// Runs a case in a process of its own.
fn run(case: &str) -> Output {
    let test =
        Command::new(std::env::current_exe().unwrap()).args(["--exact", "runs_a_case", "--nocapture"]).env(CASE, case).output();
    test.unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn assert_aborts(case: &str) -> String {
    let output = run(case);
    assert_eq!(output.status.signal(), Some(6), "{case}: {}", stderr(&output));
    stderr(&output)
}

fn assert_survives(case: &str) -> String {
    let output = run(case);
    assert!(output.status.success(), "{case}: {}", stderr(&output));
    stderr(&output)
}

/// The program of the cases. Without a case, the test does nothing.
#[test]
fn runs_a_case() {
    let Ok(case) = std::env::var(CASE) else { return };
    install("a test");
    let health = Health::default();
    let panicking = |call: &dyn Fn()| contain(&health, call).unwrap_err().place;
    match case.as_str() {
        "contained" => {
            let place = panicking(&|| panic!("first line\nsecond \u{1b}[31mline"));
            assert_eq!(place, format!("crates/panics/tests/process.rs:{}", line!() - 1));
            assert!(!health.is_broken());
        }
        "resumed" => {
            // wasmtime carries a panic in this way through the frames of a guest.
            let carry = || match std::panic::catch_unwind(|| panic!("a defect")) {
                Ok(()) => {}
                Err(payload) => std::panic::resume_unwind(payload),
            };
            let place = panicking(&carry);
            assert_eq!(place, format!("crates/panics/tests/process.rs:{}", line!() - 5));
        }
        "many" => (0..300).for_each(|_| drop(panicking(&|| panic!("a defect")))),
        "runtime" => {
            let lock = runtime::Mutex::new(());
            let place = panicking(&|| {
                let _guard = lock.lock();
                panic!("a defect");
            });
            assert_eq!(health.broken_at(), Some(place.as_str()));
        }
        "uncontained" => panic!("a defect"),
        "thread" => drop(std::thread::spawn(|| panic!("a defect")).join()),
        "outside" => drop(panicking(&|| outside(|| panic!("a defect")))),
        "process" => {
            let lock = process::Mutex::new(());
            drop(panicking(&|| {
                let _guard = lock.lock();
                panic!("a defect");
            }));
        }
        "second" => {
            struct Panics;
            impl Drop for Panics {
                fn drop(&mut self) {
                    // The first panic still unwinds the thread.
                    let _ = contain(&Health::default(), || panic!("the second defect"));
                }
            }
            drop(panicking(&|| {
                let _panics = Panics;
                panic!("the first defect");
            }));
        }
        _ => panic!("an unknown case"),
    }
}

#[test]
fn a_contained_panic_is_one_line_and_has_a_place() {
    let text = assert_survives("contained");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("a test: internal error: panicked at crates/panics/tests/process.rs:"), "{text}");
    assert!(text.ends_with(": first line\\nsecond \\u{1b}[31mline\n"), "{text}");
}

#[test]
fn the_place_survives_a_panic_that_is_resumed() {
    assert_eq!(assert_survives("resumed").lines().count(), 1);
}

#[test]
fn prints_a_bounded_number_of_contained_panics() {
    let text = assert_survives("many");
    assert_eq!(text.lines().count(), 101);
    assert!(text.ends_with("a test: further internal errors are not printed\n"), "{text}");
}

#[test]
fn a_panic_in_a_change_of_a_runtime_breaks_the_runtime() {
    assert_survives("runtime");
}

#[test]
fn any_other_panic_aborts_the_process() {
    for case in ["uncontained", "thread", "outside"] {
        assert!(assert_aborts(case).contains(": a defect\n"), "{case}");
    }
}

#[test]
fn a_panic_in_a_change_of_the_process_aborts_the_process() {
    let text = assert_aborts("process");
    assert!(text.contains(": a defect\n") && text.contains("the process's state"), "{text}");
}

#[test]
fn a_panic_during_a_panic_aborts_the_process() {
    assert!(assert_aborts("second").contains(": the second defect\n"));
}
