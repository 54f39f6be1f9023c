//! Every number that a system call can have, with arguments at the boundaries: whatever the answer is, the caller gets it and nobody else notices.

use crate::scene::{Ended, scene};
use crate::script::{MEMORY, ROOM, Script};
use coldframe_abi::system_calls::BlockingCall;

/// As many as fit into 16 bits, in one program.
const ALL: i64 = 0x1_0000;

/// Calls every number with these integers. It may well end the program (a signal to itself); it must not fault.
fn every_number(letter: char, integers: [i64; 8]) -> Ended {
    let ended = scene().run(&Script::default().calls(letter, 0, ALL, &integers));
    assert!(matches!(ended.code(), "none" | "ERR_TIMEOUT" | "ERR_CPU_LIMIT"), "{:?}", ended.outcome.failure);
    ended
}

macro_rules! sweeps {
    ($($name:ident: $integers:expr;)+) => {$(
        #[test]
        fn $name() {
            every_number('s', $integers);
        }
    )+};
}

sweeps! {
    every_call_with_zeros: [0; 8];
    every_call_with_minus_one: [-1; 8];
    every_call_with_the_least: [i64::MIN; 8];
    every_call_with_the_largest: [i64::MAX; 8];
    every_call_with_32_bits: [i64::from(u32::MAX); 8];
    every_call_with_31_bits: [1 << 31; 8];
    every_call_with_what_becomes_negative: [i64::from(i32::MIN); 8];
    every_call_with_small_numbers: [3, 2, 1, 0, 3, 2, 1, 0];
    every_call_with_addresses_at_the_end: [MEMORY - 8, 8, MEMORY - 8, 8, MEMORY - 8, 8, MEMORY - 8, 8];
    every_call_with_addresses_across_the_end: [MEMORY - 4, 8, MEMORY - 1, 2, MEMORY, 1, MEMORY - 7, 8];
    every_call_with_the_whole_memory: [0, MEMORY, 0, MEMORY, 0, MEMORY, 0, MEMORY];
    every_call_with_more_than_the_memory: [1, MEMORY, 0, MEMORY + 1, 4096, 1 << 31, 8, i64::from(u32::MAX)];
    every_call_with_sums_that_wrap: [i64::MAX, 1, -1, 2, 1 << 62, 1 << 62, i64::MAX - 7, 8];
    every_call_with_pieces_that_overlap: [ROOM + 1, 301, ROOM + 3, 299, ROOM + 1, 301, ROOM + 7, 300];
    every_call_with_a_descriptor_and_a_buffer: [3, ROOM, 4096, 0, ROOM, 4096, 0, 0];
    every_call_with_a_number_and_numbers: [1, ROOM, 64, ROOM + 64, 64, 5, 64, ROOM];
}

#[test]
fn every_call_that_waits() {
    let waits = i64::from(BlockingCall::WaitForWatched.number());
    for integers in [[0; 8], [1_000; 8], [i64::from(i32::MAX), 0, 0, 0, 0, 0, 0, 0]] {
        // The one that can wait for ever does so for as long as it is told, and at most until its program must end.
        let ended =
            scene().run(&Script::default().calls('w', 0, waits, &integers).calls('w', waits + 1, ALL - waits - 1, &integers));
        assert_eq!(ended.code(), "none");
        assert!(ended.log.iter().all(|answer| *answer == -38), "{:?}", ended.log);
    }
}

#[test]
fn numbers_of_more_than_16_bits_and_below_zero() {
    let numbers = [0x1_0100, 0x100_0104, 0x7fff_ffff, 1 << 31, -1, -0x100, i64::from(i32::MIN), 0xffff_fe00];
    let script = numbers
        .iter()
        .fold(Script::default(), |script, number| script.calls('s', *number, 64, &[0; 8]).calls('w', *number, 64, &[0; 8]));
    let ended = scene().run(&script);
    assert!(ended.log.iter().all(|answer| *answer == -38), "{:?}", ended.log);
}

#[test]
fn there_is_no_call_of_the_build() {
    let ended = scene()
        .run(&Script::default().text(ROOM, "bootstrap/main.js").op('b', &[ROOM, 17, ROOM, 4_096]).op('b', &[-1, -1, -1, -1]));
    assert_eq!(ended.log, [-38, -38]);
}
