//! The core stops a guest that never polls: the core makes the guest's memory inaccessible, and the
//! next access traps. The core also ends a guest whose memory reaches its limit.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod common;

use coldframe_core::{Dispatch, RuntimeOptions};
use common::{Guest, outcome, start};

const WORKER: Dispatch = Dispatch::Worker;

#[test]
fn stops_a_guest_that_never_polls_while_its_neighbours_run() {
    let guest = Guest::build("stubborn");
    let runtime = guest.core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    for _ in 0..10 {
        let stubborn = [start(&runtime, "spin", Some(1), WORKER), start(&runtime, "spin", Some(1), WORKER)];
        let bystander = start(&runtime, "exit", None, WORKER);
        for (_, ends) in &stubborn {
            let outcome = outcome(ends);
            assert_eq!(outcome.failure.map(|failure| failure.code()), Some("ERR_TIMEOUT"));
        }
        assert_eq!(outcome(&bystander.1).exit_code, 5);
    }
}

#[test]
fn disposes_a_runtime_whose_guests_never_poll() {
    let guest = Guest::build("disposed");
    let runtime = guest.core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    let running: Vec<_> = (0..8).map(|_| start(&runtime, "spin", None, WORKER)).collect();
    runtime.dispose();
    for (_, ends) in &running {
        assert_eq!(outcome(ends).failure.map(|failure| failure.code()), Some("ERR_RUNTIME_DISPOSED"));
    }
}

#[test]
fn ends_a_program_whose_memory_reaches_the_limit() {
    let guest = Guest::build("greedy");
    let runtime = guest.core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    let outcome = outcome(&start(&runtime, "grow", None, WORKER).1);
    assert_eq!(outcome.failure.map(|failure| failure.code()), Some("ERR_MEMORY_LIMIT"));
}
