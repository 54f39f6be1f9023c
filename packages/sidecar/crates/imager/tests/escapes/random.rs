//! Runs random sequences of calls with arguments at the boundaries. The seeds are fixed. The
//! variable `COLDFRAME_ESCAPES_ROUNDS` sets the number of seeds of the test with one program.

use std::time::Duration;

use coldframe_abi::system_calls::BlockingCall;
use coldframe_core::Limits;

use crate::harness::harness;
use crate::script::{MEMORY, NOW, ROOM, Script};

const ROUNDS: u64 = 60;
const CALLS: usize = 400;
const PATHS: [&str; 8] = ["/workspace/a", "/tmp/b/c", "a/../..", "/proc/self/fd/3", "/dev/zero", "/", "l", "/proc/self/cwd/a"];

/// A generator of random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `most - 1`.
    fn below(&mut self, most: u64) -> i64 {
        (self.next() % most).cast_signed()
    }

    /// Returns arguments of a call: addresses and lengths of paths, boundaries, small and random
    /// numbers.
    fn integers(&mut self) -> [i64; 8] {
        const EDGES: [i64; 14] = [0, -1, 1, 2, 8, 64, 4_096, MEMORY, MEMORY - 1, ROOM, i64::MAX, i64::MIN, 1 << 31, 0xffff_ffff];
        let mut integers = [0; 8];
        let mut at = 0;
        while at < 8 {
            match self.below(6) {
                0 | 1 if at < 7 => {
                    let path = self.below(PATHS.len() as u64);
                    integers[at] = ROOM + 64 * path;
                    integers[at + 1] = PATHS[path.cast_unsigned() as usize].len() as i64;
                    at += 1;
                }
                2 => integers[at] = EDGES[self.below(EDGES.len() as u64).cast_unsigned() as usize],
                3 => integers[at] = self.next().cast_signed(),
                _ => integers[at] = self.below(12),
            }
            at += 1;
        }
        integers
    }

    /// Returns a number in the range of a family. Not every number has a system call.
    fn number(&mut self) -> i64 {
        match self.below(12) {
            0..=5 => 0x100 + self.below(0x26),
            6..=8 => 0x200 + self.below(0x12),
            9 => 0x300 + self.below(0x18),
            10 => 0x400 + self.below(0x0b),
            _ => 0x500 + self.below(0x200),
        }
    }
}

fn sequence(seed: u64) -> Script {
    let mut random = Random(seed);
    let mut script = Script::default();
    for (at, path) in PATHS.iter().enumerate() {
        script = script.text(ROOM + 64 * at as i64, path);
    }
    for _ in 0..CALLS {
        script = match random.below(30) {
            0 => script.op('p', &[]),
            1 => script.op('t', &[NOW]),
            2 => script.op('o', &[random.below(8), ROOM, random.below(300)]),
            3 => script.op('r', &[random.below(8), ROOM + 0x1000, random.below(300)]),
            4 => script.calls('w', BlockingCall::WaitForWatched, 1, &[random.below(1_000)]),
            _ => script.calls('s', random.number(), 1, &random.integers()),
        };
    }
    script
}

#[test]
fn survives_random_calls_of_one_program() {
    let rounds = std::env::var("COLDFRAME_ESCAPES_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let limits =
        Limits { filesystem_bytes: 1 << 20, inodes: 100, descriptors: 32, processes: 8, cpu_ms: 5_000, ..Limits::default() };
    for seed in 0..rounds {
        // The program may end by its own signal or wait for an event that never arrives. No other
        // program may be affected, and the program ends within the step's timeout.
        let _ended = harness().run_with(&sequence(seed), limits, Some(Duration::from_secs(2)));
    }
}

#[test]
fn survives_random_calls_of_programs_that_share_files() {
    for seed in 0..6 {
        let harness = harness();
        let runtime = harness.runtime(Limits { filesystem_bytes: 1 << 20, inodes: 100, ..Limits::default() });
        let running: Vec<_> = (0..6).map(|index| harness.start(&runtime, &sequence(1_000 + seed * 10 + index))).collect();
        std::thread::sleep(Duration::from_millis(100));
        runtime.dispose();
        for program in &running {
            program.wait();
        }
        drop((running, runtime));
        harness.assert_unharmed();
    }
}
