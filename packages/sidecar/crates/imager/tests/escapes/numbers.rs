//! Calls every number of a system call with arguments at the boundaries. The caller must receive a
//! result, and no other program may be affected.

use coldframe_abi::system_calls::BlockingCall;

use crate::harness::{CaseResult, harness};
use crate::script::{MEMORY, ROOM, Script};

/// The number of 16-bit numbers. One program calls all of them.
const ALL: i64 = 0x1_0000;

/// Calls every number with these integers. A call may end the program, for example by a signal to
/// the program itself, but must not cause a fault.
fn every_number(letter: char, integers: [i64; 8]) -> CaseResult {
    let ended = harness().run(&Script::default().calls(letter, 0, ALL, &integers));
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
    survives_every_call_with_zeros: [0; 8];
    survives_every_call_with_minus_one: [-1; 8];
    survives_every_call_with_the_smallest_integer: [i64::MIN; 8];
    survives_every_call_with_the_largest_integer: [i64::MAX; 8];
    survives_every_call_with_32_bits: [i64::from(u32::MAX); 8];
    survives_every_call_with_31_bits: [1 << 31; 8];
    survives_every_call_with_the_smallest_i32: [i64::from(i32::MIN); 8];
    survives_every_call_with_small_numbers: [3, 2, 1, 0, 3, 2, 1, 0];
    survives_every_call_with_addresses_at_the_end_of_memory: [MEMORY - 8, 8, MEMORY - 8, 8, MEMORY - 8, 8, MEMORY - 8, 8];
    survives_every_call_with_addresses_across_the_end_of_memory: [MEMORY - 4, 8, MEMORY - 1, 2, MEMORY, 1, MEMORY - 7, 8];
    survives_every_call_with_the_whole_memory: [0, MEMORY, 0, MEMORY, 0, MEMORY, 0, MEMORY];
    survives_every_call_with_more_than_the_memory: [1, MEMORY, 0, MEMORY + 1, 4096, 1 << 31, 8, i64::from(u32::MAX)];
    survives_every_call_with_sums_that_wrap: [i64::MAX, 1, -1, 2, 1 << 62, 1 << 62, i64::MAX - 7, 8];
    survives_every_call_with_overlapping_ranges: [ROOM + 1, 301, ROOM + 3, 299, ROOM + 1, 301, ROOM + 7, 300];
    survives_every_call_with_a_descriptor_and_a_buffer: [3, ROOM, 4096, 0, ROOM, 4096, 0, 0];
    survives_every_call_with_a_number_and_buffers: [1, ROOM, 64, ROOM + 64, 64, 5, 64, ROOM];
}

#[test]
fn survives_every_blocking_call() {
    // The call `WaitForWatched` is left out, because the call can wait for ever.
    let waits = i64::from(BlockingCall::WaitForWatched.number());
    for integers in [[0; 8], [1_000; 8], [i64::from(i32::MAX), 0, 0, 0, 0, 0, 0, 0]] {
        let ended =
            harness().run(&Script::default().calls('w', 0, waits, &integers).calls('w', waits + 1, ALL - waits - 1, &integers));
        assert_eq!(ended.code(), "none");
        assert!(ended.log.iter().all(|answer| *answer == -38), "{:?}", ended.log);
    }
}

#[test]
fn refuses_numbers_of_more_than_16_bits_and_below_zero() {
    let numbers = [0x1_0100, 0x100_0104, 0x7fff_ffff, 1 << 31, -1, -0x100, i64::from(i32::MIN), 0xffff_fe00];
    let script = numbers
        .iter()
        .fold(Script::default(), |script, number| script.calls('s', *number, 64, &[0; 8]).calls('w', *number, 64, &[0; 8]));
    let ended = harness().run(&script);
    assert!(ended.log.iter().all(|answer| *answer == -38), "{:?}", ended.log);
}

#[test]
fn refuses_the_import_of_the_image_build() {
    let ended = harness()
        .run(&Script::default().text(ROOM, "bootstrap/main.js").op('b', &[ROOM, 17, ROOM, 4_096]).op('b', &[-1, -1, -1, -1]));
    assert_eq!(ended.log, [-38, -38]);
}
