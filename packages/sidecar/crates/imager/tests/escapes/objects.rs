//! Numbers of objects: operations, sockets, contexts, jobs, processes, watches. A forged number
//! names no object of another program, and the number of objects is limited. Next: `pointers.rs`.

use crate::scene::scene;
use crate::script::{NEVER, NOW, ROOM, Script};

const EBADF: i64 = -9;
const ECHILD: i64 = -10;
const EAGAIN: i64 = -11;
const ENOTSOCK: i64 = -88;

#[test]
fn cancelling_unknown_operations_has_no_effect() {
    let script = Script::default().sys(0x200, &[2, 1]);
    let script = [0, 1, 2, 1_000, i64::from(i32::MAX), i64::from(u32::MAX)]
        .iter()
        .fold(script, |script, operation| script.sys(0x20e, &[3, *operation]).sys(0x120, &[*operation]));
    let ended = scene().run(&script.sys(0x20e, &[3, -1]).sys(0x20e, &[3, i64::MAX]));
    assert_eq!(ended.log[0], 3);
    assert!(ended.log[1..].iter().all(|answer| *answer <= 0), "{:?}", ended.log);
}

#[test]
fn an_operation_is_not_cancelled_twice() {
    // An operation is armed, disarmed twice and armed up to the limit. Its socket is closed while
    // the operations are pending, and is then used again.
    let script = Script::default().sys(0x210, &[ROOM, 8]).sys(0x20d, &[3, 1]).sys(0x20e, &[3, 1]).sys(0x20e, &[3, 1]);
    let script =
        script.calls('s', 0x20d, 1, &[3, 1]).sys(0x20d, &[3, 1]).sys(0x20d, &[3, 1]).sys(0x20d, &[3, 1]).sys(0x20d, &[3, 1]);
    let ended = scene().run(&script.sys(0x101, &[3]).sys(0x20e, &[3, 2]).sys(0x20d, &[3, 1]).sys(0x101, &[3]));
    assert_eq!(ended.log[..4], [0, 1, 1, 0]);
    assert_eq!(ended.log[8..], [-105, 0, EBADF, EBADF, EBADF]);
}

#[test]
fn cancelled_operations_send_no_events() {
    // The program waits for cancelled operations. It either fails, because it waits for no event,
    // or continues with its timer.
    let script = Script::default().sys(0x210, &[ROOM, 8]).sys(0x20d, &[3, 1]).sys(0x20e, &[3, 1]);
    assert_eq!(scene().run(&script.clone().op('t', &[NEVER])).code(), "ERR_ENGINE_FAULT");
    assert_eq!(scene().run(&script.op('t', &[NOW])).code(), "none");
}

#[test]
fn sockets_of_other_programs_cannot_be_named() {
    // The neighbour has socket 1 of its runtime. The script tries the numbers of the standard
    // streams, of a file and of no descriptor.
    let calls = [0x201, 0x202, 0x203, 0x204, 0x205, 0x206, 0x207, 0x208, 0x209, 0x20b, 0x20c, 0x20d, 0x20e, 0x20f];
    let script = calls.iter().fold(Script::default().text(ROOM, "/workspace").sys(0x100, &[ROOM, 10, 0, 0]), |script, number| {
        script.sys(*number, &[0]).sys(*number, &[3]).sys(*number, &[4]).sys(*number, &[i64::MAX])
    });
    let ended = scene().run(&script);
    for (at, answers) in ended.log[1..].chunks(4).enumerate() {
        assert_eq!(answers, [ENOTSOCK, ENOTSOCK, EBADF, EBADF], "{:x}", calls[at]);
    }
}

#[test]
fn sockets_and_pairs_are_limited() {
    let limits = coldframe_core::Limits { descriptors: 4_096, ..Default::default() };
    let script = Script::default().calls('s', 0x200, 1, &[2, 1]);
    let script = (0..300).fold(script, |script, _| script.sys(0x200, &[1, 1]));
    let script = (0..800).fold(script, |script, _| script.sys(0x210, &[ROOM, 8]));
    let ended = scene().run_with(&script, limits, None);
    assert_eq!(ended.log.iter().filter(|answer| **answer == -23).count(), 1 + 300 - 256 + 800 - 768);
}

#[test]
fn contexts_are_private_and_limited() {
    let forged = [0, 1, -1, i64::from(i32::MAX), i64::MAX].iter().fold(Script::default(), |script, context| {
        script.sys(0x303, &[*context, ROOM, 8]).sys(0x304, &[*context, ROOM, 32]).sys(0x305, &[*context]).sys(0x306, &[*context])
    });
    assert!(scene().run(&forged).log.iter().all(|answer| matches!(answer, -9 | -22)), "forged contexts are refused");
    let many = (0..4_200).fold(Script::default(), |script, _| script.sys(0x301, &[1]));
    assert_eq!(scene().run(&many).log.iter().filter(|answer| **answer == -23).count(), 4_200 - 4_096);
}

#[test]
fn a_context_is_removed_after_its_end_and_keeps_its_kind() {
    let script = Script::default()
        .sys(0x301, &[1])
        .sys(0x309, &[1, ROOM, 8, ROOM, 8])
        .sys(0x30a, &[1, ROOM, 64])
        .sys(0x303, &[1, ROOM, 8]);
    let ended = scene().run(&script.sys(0x304, &[1, ROOM, 8]));
    assert_eq!(ended.log, [1, -22, -22, EBADF, EBADF]);
}

#[test]
fn jobs_are_limited_by_the_memory_of_their_program() {
    let limits = coldframe_core::Limits { memory_bytes: 8 << 20, ..Default::default() };
    // Each job has a mebibyte and never starts, so the ninth job has no memory. The script then
    // names missing parts of jobs, and results of jobs without results.
    let script = (0..12).fold(Script::default(), |script, _| script.sys(0x310, &[0, 0, 1 << 20]));
    let script = [0, 1, 999, -1, i64::MAX].iter().fold(script, |script, job| {
        script
            .sys(0x311, &[*job, 0, 1 << 20])
            .sys(0x314, &[*job, 0, ROOM, 64])
            .sys(0x314, &[*job, -1, ROOM, 64])
            .sys(0x315, &[*job])
    });
    let ended = scene().run_with(&script.calls('w', 0x313, 1, &[999]).calls('w', 0x313, 1, &[-1]), limits, None);
    assert!(ended.log.iter().filter(|answer| **answer > 0).count() <= 8, "{:?}", ended.log);
    assert_eq!(ended.code(), "none");
}

#[test]
fn a_job_starts_once_and_its_program_may_end_first() {
    for command in 0..64 {
        let script = Script::default()
            .sys(0x310, &[command, ROOM, 4_096])
            .sys(0x312, &[1])
            .sys(0x312, &[1])
            .sys(0x315, &[1])
            .sys(0x311, &[1, ROOM, 8]);
        let ended = scene().run(&script.sys(0x316, &[command, ROOM, 4_096, ROOM, 64]));
        assert!(matches!(ended.code(), "none"), "{command}: {:?}", ended.outcome.failure);
    }
}

#[test]
fn waiting_for_processes_that_are_no_children_fails() {
    let script = [0, 1, 2, 3, 4_194_304, i64::from(u32::MAX)]
        .iter()
        .fold(Script::default(), |script, pid| script.sys(0x401, &[*pid]).sys(0x40a, &[*pid]));
    assert!(scene().run(&script).log.iter().all(|answer| *answer == ECHILD), "no process is a child");
    let forged = Script::default().op('K', &[ROOM, 2]).sys(0x408, &[ROOM, 8]).calls('w', 0x409, 1, &[1_000]);
    assert_eq!(scene().run(&forged).log, [0, ECHILD]);
}

#[test]
fn signals_reach_no_process_outside_the_runtime() {
    let script =
        (-300..300).filter(|pid| !matches!(pid, -2..=0 | 2)).fold(Script::default(), |script, pid| script.sys(0x402, &[pid, 9]));
    let ended =
        scene().run(&script.sys(0x402, &[i64::MIN, 9]).sys(0x402, &[i64::MAX, 9]).sys(0x402, &[2, 99]).sys(0x402, &[2, -9]));
    assert!(ended.log.iter().all(|answer| matches!(answer, -1 | -3 | -22)), "{:?}", ended.log);
}

#[test]
fn waits_are_checked_and_freed() {
    let script = Script::default().sys(0x408, &[ROOM, 7]).sys(0x408, &[ROOM, 8 * 65]).sys(0x408, &[ROOM, 8 * 64]);
    let script =
        script.calls('w', 0x409, 1, &[0]).op('K', &[ROOM, (1 << 32) | 77]).sys(0x408, &[ROOM, 8]).calls('w', 0x409, 1, &[0]);
    let ended = scene().run(&script);
    assert_eq!((ended.log[..3].to_vec(), ended.log[5]), (vec![-22, -22, 0], EBADF));
}

#[test]
fn refuses_incomplete_descriptions_of_children() {
    let words = |numbers: [u32; 6]| numbers.into_iter().enumerate().step_by(2).map(|(at, low)| (at as i64 * 4, i64::from(low)));
    let forged =
        [[0, u32::MAX, 0, 0, 0, 0], [0, 0, u32::MAX, 0, 0, 0], [0, 0, 0, u32::MAX, 0, 0], [7, 0, 0, 0, 0, 0], [0, 0, 0, 1, 9, 9]];
    for numbers in forged {
        let mut script = Script::default().text(ROOM + 0x100, "/usr/local/bin/node");
        for (at, _) in words(numbers) {
            let index = at as usize / 4;
            script = script.op('K', &[ROOM + at, i64::from(numbers[index]) | i64::from(numbers[index + 1]) << 32]);
        }
        let ended = scene().run(
            &script
                .sys(0x400, &[ROOM, 24, ROOM + 0x100, 32])
                .sys(0x400, &[ROOM, 16, ROOM + 0x100, 1])
                .sys(0x400, &[ROOM, 0, ROOM, 0]),
        );
        assert!(ended.log.iter().all(|answer| *answer < 0), "{numbers:?}: {:?}", ended.log);
    }
}

#[test]
fn watches_and_signals_are_limited() {
    let script = Script::default().text(ROOM, "/workspace").sys(0x405, &[]).sys(0x405, &[]);
    let script = (0..1_100).fold(script, |script, _| script.sys(0x11f, &[ROOM, 10, 1]));
    let ended = scene().run(&script);
    assert_eq!(ended.log[1], -16);
    assert!(ended.log[2..].iter().all(|answer| *answer > 0 || matches!(answer, -28 | -105)), "{:?}", ended.log);
}

#[test]
fn connections_of_a_program_with_itself_end_with_it() {
    // The pairs are written full and never read, with operations armed on both sides.
    let script = (0..40).fold(Script::default(), |script, _| script.sys(0x210, &[ROOM, 8]));
    let script =
        (3..83).fold(script, |script, fd| script.sys(0x207, &[fd, 0, 1 << 20]).sys(0x207, &[fd, 0, 1]).sys(0x20d, &[fd, 4]));
    let ended = scene().run(&script);
    assert_eq!(ended.log[40..].chunks(3).filter(|answers| answers[0] == 65_536 && answers[1] == EAGAIN).count(), 80);
}
