//! A guest that never polls is stopped by making its memory inaccessible.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod common;

use coldframe_core::{Dispatch, RuntimeOptions};
use common::{Guest, outcome, start};
use std::time::{Duration, Instant};

const WORKER: Dispatch = Dispatch::Worker;

#[test]
fn stops_a_guest_that_never_polls_and_its_neighbours_continue() {
    let guest = Guest::build("stubborn");
    let runtime = guest.core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    let mut late = Vec::new();
    for _ in 0..10 {
        let stubborn = [start(&runtime, "spin", Some(1), WORKER), start(&runtime, "spin", Some(1), WORKER)];
        let began = Instant::now();
        let bystander = start(&runtime, "exit", None, WORKER);
        for (_, outcomes) in &stubborn {
            let outcome = outcome(outcomes);
            assert_eq!(outcome.failure.map(|failure| failure.code()), Some("ERR_TIMEOUT"));
        }
        late.push(began.elapsed());
        assert_eq!(outcome(&bystander.1).exit_code, 5);
    }
    late.sort();
    assert!(late[5] < Duration::from_millis(50), "half of the kills took longer than {:?}", late[5]);
}

#[test]
fn a_runtime_full_of_stubborn_guests_can_be_disposed() {
    let guest = Guest::build("disposed");
    let runtime = guest.core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    let running: Vec<_> = (0..8).map(|_| start(&runtime, "spin", None, WORKER)).collect();
    runtime.dispose();
    for (_, outcomes) in &running {
        assert_eq!(outcome(outcomes).failure.map(|failure| failure.code()), Some("ERR_RUNTIME_DISPOSED"));
    }
}

#[test]
fn memory_growth_stops_at_the_limit() {
    let guest = Guest::build("greedy");
    let runtime = guest.core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    let outcome = outcome(&start(&runtime, "grow", None, WORKER).1);
    assert_eq!(outcome.failure.map(|failure| failure.code()), Some("ERR_MEMORY_LIMIT"));
}
