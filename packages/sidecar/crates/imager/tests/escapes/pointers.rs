//! Addresses and lengths of the plain imports: what lies outside of the memory is a bad address, and never anybody else's.

use crate::scene::scene;
use crate::script::{MEMORY, ROOM, Script};

const EFAULT: i64 = -14;

/// Addresses and lengths of which no piece may be touched.
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
fn what_is_written_comes_from_the_own_memory() {
    let script = OUTSIDE.iter().fold(Script::default(), |script, (at, len)| script.op('o', &[1, *at, *len]));
    let ended = scene().run(&script);
    assert_eq!((ended.code(), ended.log), ("none", vec![EFAULT; OUTSIDE.len()]));
}

#[test]
fn what_is_read_goes_into_the_own_memory() {
    let script = OUTSIDE.iter().fold(Script::default(), |script, (at, len)| script.op('r', &[0, *at, *len]));
    let ended = scene().run(&script.op('r', &[0, ROOM, 64]));
    assert_eq!(ended.log, [vec![EFAULT; OUTSIDE.len()], vec![5]].concat(), "the input is still there");
}

#[test]
fn no_entropy_goes_outside_of_the_memory() {
    for (at, len) in OUTSIDE {
        let ended = scene().run(&Script::default().op('e', &[at, len]));
        assert_eq!(ended.code(), "ERR_ENGINE_FAULT", "{at} {len}");
    }
    assert_eq!(scene().run(&Script::default().op('e', &[0x30_0000, ROOM - 0x30_0000]).op('e', &[MEMORY, 0])).code(), "none");
}

#[test]
fn last_words_are_short_and_the_own() {
    for (at, len) in OUTSIDE.into_iter().chain([(0, 0), (ROOM, 1 << 18)]) {
        let ended = scene().run(&Script::default().op('v', &[ROOM, 0xff, 1 << 18]).op('f', &[2, at, len]));
        let reason = ended.outcome.failure.as_ref().map(ToString::to_string).unwrap_or_default();
        assert_eq!(ended.code(), "ERR_ENGINE_FAULT", "{at} {len}");
        assert!(reason.len() < 16_384, "{} bytes", reason.len());
    }
}

#[test]
fn own_stores_beyond_the_memory_trap() {
    for at in [MEMORY, MEMORY - 3, -1, i64::from(i32::MAX), i64::from(i32::MIN), 1 << 30] {
        let ended = scene().run(&Script::default().op('k', &[at, 1]));
        assert_eq!(ended.code(), "ERR_ENGINE_FAULT", "{at}");
    }
}

#[test]
fn memory_grows_to_its_limit_and_not_beyond() {
    let limits = coldframe_core::Limits { memory_bytes: 16 << 20, ..Default::default() };
    let script = Script::default().op('g', &[1 << 16]).op('g', &[-1]).op('g', &[192]).op('g', &[1]).op('k', &[(16 << 20) - 4, 7]);
    let ended = scene().run_with(&script, limits, None);
    assert_eq!(ended.log, [-1, -1, 64, -1]);
    let beyond = scene().run_with(&Script::default().op('g', &[192]).op('k', &[16 << 20, 7]), limits, None);
    assert!(matches!(beyond.code(), "ERR_ENGINE_FAULT" | "ERR_MEMORY_LIMIT"), "{}", beyond.code());
}

#[test]
fn memory_that_grew_is_empty_and_the_neighbours_is_not_in_it() {
    let script = (0..64).fold(Script::default().op('g', &[512]), |script, at| script.op('l', &[MEMORY + at * (500 << 10)]));
    let ended = scene().run(&script);
    assert!(ended.log[1..].iter().all(|word| *word == 0), "{:?}", ended.log);
}

#[test]
fn descriptors_that_nobody_has() {
    let numbers = [3, 255, 256, 65_536, -1, i64::from(i32::MAX), i64::from(i32::MIN), -256];
    let script = numbers.iter().fold(Script::default(), |script, fd| {
        script.op('o', &[*fd, ROOM, 1]).op('r', &[*fd, ROOM, 1]).op('W', &[*fd]).op('R', &[*fd])
    });
    let ended = scene().run(&script);
    assert!(ended.log.iter().all(|answer| *answer == -9), "{:?}", ended.log);
}

#[test]
fn clocks_that_nobody_has_are_one_of_the_two() {
    let ended = scene().run(&Script::default().op('c', &[7]).op('c', &[-1]).op('c', &[1]));
    assert!(ended.log.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", ended.log);
}
