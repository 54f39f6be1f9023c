//! Four threads create and dispose runtimes, and start and cancel programs, at once. Every program
//! must end exactly once, and no resource may stay in use.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod common;

use std::time::{Duration, Instant};

use coldframe_core::{Dispatch, RuntimeOptions};
use common::{Guest, outcome, start};

const THREADS: u32 = 4;
const ROUNDS: u32 = 300;

/// Returns the next number of a small generator (splitmix64). Each thread has a fixed seed.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn programs_end_once_and_return_their_resources_under_stress() {
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
                    let (process, ends) = start(&runtime, code, timeout, dispatch);
                    if choice & 4 == 0 {
                        process.cancel();
                    }
                    if choice & 8 == 0 || (timeout.is_none() && code == "poll") {
                        runtime.dispose();
                    }
                    outcome(&ends);
                    drop(process);
                    assert!(ends.recv_timeout(Duration::ZERO).is_err(), "the program ended twice");
                }
            });
        }
    });
    guest.core.shutdown();
    let in_use = || {
        let resources = guest.core.resources();
        (resources.processes, resources.runtimes, resources.buffered_bytes)
    };
    // A worker releases a program shortly after it has reported the end.
    let until = Instant::now() + Duration::from_secs(10);
    while in_use() != (0, 0, 0) && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(in_use(), (0, 0, 0));
}
