//! Addresses and lengths of the plain imports: a range outside the caller's memory is a bad
//! address.

use crate::harness::harness;
use crate::script::{MEMORY, ROOM, Script};

const EFAULT: i64 = -14;

/// Ranges (address, length) that are not inside the memory.
const OUTSIDE: [(i64, i64); 9] = [
    (MEMORY, 1),
    (MEMORY - 1, 2),
    (0, MEMORY + 1),
    (-1, 1),
    (-4_096, 4_096),
    (i32::MIN as i64, 1),
    (1, -1),
    (-1, -1),
    (MEMORY - 8, i32::MAX as i64),
];

#[test]
fn refuses_to_write_bytes_outside_the_memory() {
    let script = OUTSIDE.iter().fold(Script::default(), |script, (at, len)| script.op('o', &[1, *at, *len]));
    let ended = harness().run(&script);
    assert_eq!((ended.code(), ended.log), ("none", vec![EFAULT; OUTSIDE.len()]));
}

#[test]
fn refuses_to_read_to_addresses_outside_the_memory() {
    let script = OUTSIDE.iter().fold(Script::default(), |script, (at, len)| script.op('r', &[0, *at, *len]));
    let ended = harness().run(&script.op('r', &[0, ROOM, 64]));
    assert_eq!(ended.log, [vec![EFAULT; OUTSIDE.len()], vec![5]].concat(), "the input is unchanged");
}

#[test]
fn refuses_entropy_for_addresses_outside_the_memory() {
    for (at, len) in OUTSIDE {
        let ended = harness().run(&Script::default().op('e', &[at, len]));
        assert_eq!(ended.code(), "ERR_ENGINE_FAULT", "{at} {len}");
    }
    assert_eq!(harness().run(&Script::default().op('e', &[0x30_0000, ROOM - 0x30_0000]).op('e', &[MEMORY, 0])).code(), "none");
}

#[test]
fn bounds_the_message_of_fatal_and_reads_only_the_memory() {
    for (at, len) in OUTSIDE.into_iter().chain([(0, 0), (ROOM, 1 << 18)]) {
        let ended = harness().run(&Script::default().op('v', &[ROOM, 0xff, 1 << 18]).op('f', &[2, at, len]));
        let reason = ended.outcome.failure.as_ref().map(ToString::to_string).unwrap_or_default();
        assert_eq!(ended.code(), "ERR_ENGINE_FAULT", "{at} {len}");
        assert!(reason.len() < 16_384, "{} bytes", reason.len());
    }
}

#[test]
fn traps_at_stores_beyond_the_memory() {
    for at in [MEMORY, MEMORY - 3, -1, i64::from(i32::MAX), i64::from(i32::MIN), 1 << 30] {
        let ended = harness().run(&Script::default().op('k', &[at, 1]));
        assert_eq!(ended.code(), "ERR_ENGINE_FAULT", "{at}");
    }
}

#[test]
fn grows_the_memory_to_its_limit() {
    let limits = coldframe_core::Limits { memory_bytes: 16 << 20, ..Default::default() };
    let script = Script::default().op('g', &[1 << 16]).op('g', &[-1]).op('g', &[192]).op('g', &[1]).op('k', &[(16 << 20) - 4, 7]);
    let ended = harness().run_with(&script, limits, None);
    assert_eq!(ended.log, [-1, -1, 64, -1]);
    let beyond = harness().run_with(&Script::default().op('g', &[192]).op('k', &[16 << 20, 7]), limits, None);
    assert!(matches!(beyond.code(), "ERR_ENGINE_FAULT" | "ERR_MEMORY_LIMIT"), "{}", beyond.code());
}

#[test]
fn fills_grown_memory_with_zeros() {
    let script = (0..64).fold(Script::default().op('g', &[512]), |script, at| script.op('l', &[MEMORY + at * (500 << 10)]));
    let ended = harness().run(&script);
    assert!(ended.log[1..].iter().all(|word| *word == 0), "{:?}", ended.log);
}

#[test]
fn refuses_descriptors_that_are_not_open() {
    let numbers = [3, 255, 256, 65_536, -1, i64::from(i32::MAX), i64::from(i32::MIN), -256];
    let script = numbers.iter().fold(Script::default(), |script, fd| {
        script.op('o', &[*fd, ROOM, 1]).op('r', &[*fd, ROOM, 1]).op('W', &[*fd]).op('R', &[*fd])
    });
    let ended = harness().run(&script);
    assert!(ended.log.iter().all(|answer| *answer == -9), "{:?}", ended.log);
}

#[test]
fn reads_the_monotonic_clock_for_an_unknown_clock() {
    let ended = harness().run(&Script::default().op('c', &[7]).op('c', &[-1]).op('c', &[1]));
    assert!(ended.log.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", ended.log);
}
