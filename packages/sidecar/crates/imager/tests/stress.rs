//! Many threads start, cancel and dispose at once. The end of each program is reported exactly
//! once, and no resources remain.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod common;

use coldframe_core::{Dispatch, RuntimeOptions};
use common::{Guest, outcome, start};
use std::time::{Duration, Instant};

const THREADS: u32 = 4;
const ROUNDS: u32 = 300;

/// A small generator with a fixed seed for each thread (splitmix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn every_end_is_reported_once_and_no_resources_remain() {
    let guest = Guest::build("stress");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let core = guest.core.clone();
            scope.spawn(move || {
                let mut random = u64::from(thread);
                for _ in 0..ROUNDS {
                    let runtime = core.create_runtime(RuntimeOptions::default()).expect("a runtime");
                    let choice = next(&mut random);
                    let dispatch = if choice & 1 == 0 { Dispatch::Worker } else { Dispatch::Inline(Duration::from_micros(50)) };
                    let code = ["exit", "exit", "exit", "poll", "poll", "grow"][(choice >> 8) as usize % 6];
                    let timeout = (choice & 2 == 0).then_some(1 + (choice >> 16) % 3);
                    let (process, outcomes) = start(&runtime, code, timeout, dispatch);
                    if choice & 4 == 0 {
                        process.cancel();
                    }
                    if choice & 8 == 0 || (timeout.is_none() && code == "poll") {
                        runtime.dispose();
                    }
                    outcome(&outcomes);
                    drop(process);
                    assert!(outcomes.recv_timeout(Duration::ZERO).is_err(), "an end was reported twice");
                }
            });
        }
    });
    guest.core.shutdown();
    let left = || {
        let left = guest.core.resources();
        (left.processes, left.runtimes, left.buffered_bytes)
    };
    // A worker drops a program shortly after the report of its end.
    let until = Instant::now() + Duration::from_secs(10);
    while left() != (0, 0, 0) && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(left(), (0, 0, 0));
}
