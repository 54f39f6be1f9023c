//! Numbers of kernel objects: operations, sockets, contexts, jobs, processes, watches. A forged
//! number names no object of another program, and each kind of object has a limit.

use crate::harness::harness;
use crate::script::{NEVER, NOW, ROOM, Script};
use coldframe_abi::system_calls::{BlockingCall, CryptographyCall, FileCall, ProcessCall, SocketCall};

const EBADF: i64 = -9;
const ECHILD: i64 = -10;
const EAGAIN: i64 = -11;
const ENOTSOCK: i64 = -88;

#[test]
fn refuses_to_cancel_operations_that_have_not_started() {
    let script = Script::default().sys(SocketCall::Socket, &[2, 1]);
    let script = [0, 1, 2, 1_000, i64::from(i32::MAX), i64::from(u32::MAX)]
        .iter()
        .fold(script, |script, operation| script.sys(SocketCall::Disarm, &[3, *operation]).sys(FileCall::Unwatch, &[*operation]));
    let ended = harness().run(&script.sys(SocketCall::Disarm, &[3, -1]).sys(SocketCall::Disarm, &[3, i64::MAX]));
    assert_eq!(ended.log[0], 3);
    assert!(ended.log[1..].iter().all(|answer| *answer <= 0), "{:?}", ended.log);
}

#[test]
fn cancels_an_operation_once() {
    // The script arms, disarms and disarms again. It then arms up to the limit, closes the socket
    // with the operations in progress, and uses the socket after that.
    let script = Script::default()
        .sys(SocketCall::Pair, &[ROOM, 8])
        .sys(SocketCall::Arm, &[3, 1])
        .sys(SocketCall::Disarm, &[3, 1])
        .sys(SocketCall::Disarm, &[3, 1]);
    let script = script
        .calls('s', SocketCall::Arm, 1, &[3, 1])
        .sys(SocketCall::Arm, &[3, 1])
        .sys(SocketCall::Arm, &[3, 1])
        .sys(SocketCall::Arm, &[3, 1])
        .sys(SocketCall::Arm, &[3, 1]);
    let ended = harness().run(
        &script
            .sys(FileCall::Close, &[3])
            .sys(SocketCall::Disarm, &[3, 2])
            .sys(SocketCall::Arm, &[3, 1])
            .sys(FileCall::Close, &[3]),
    );
    assert_eq!(ended.log[..4], [0, 1, 1, 0]);
    assert_eq!(ended.log[8..], [-105, 0, EBADF, EBADF, EBADF]);
}

#[test]
fn delivers_no_event_of_a_cancelled_operation() {
    // The program waits for an operation that it has cancelled. Without a timer that wait is a
    // fault.
    let script =
        Script::default().sys(SocketCall::Pair, &[ROOM, 8]).sys(SocketCall::Arm, &[3, 1]).sys(SocketCall::Disarm, &[3, 1]);
    assert_eq!(harness().run(&script.clone().op('t', &[NEVER])).code(), "ERR_ENGINE_FAULT");
    assert_eq!(harness().run(&script.op('t', &[NOW])).code(), "none");
}

#[test]
fn finds_sockets_only_by_descriptors_of_the_caller() {
    // The neighbour has socket 1 of its runtime. The script tries a standard stream, a file and
    // unused numbers.
    let calls = [
        SocketCall::Close,
        SocketCall::Bind,
        SocketCall::Listen,
        SocketCall::Accept,
        SocketCall::Connect,
        SocketCall::Read,
        SocketCall::Write,
        SocketCall::Shutdown,
        SocketCall::Name,
        SocketCall::Send,
        SocketCall::Receive,
        SocketCall::Arm,
        SocketCall::Disarm,
        SocketCall::Error,
    ];
    let script =
        calls.iter().fold(Script::default().text(ROOM, "/workspace").sys(FileCall::Open, &[ROOM, 10, 0, 0]), |script, number| {
            script.sys(*number, &[0]).sys(*number, &[3]).sys(*number, &[4]).sys(*number, &[i64::MAX])
        });
    let ended = harness().run(&script);
    for (at, answers) in ended.log[1..].chunks(4).enumerate() {
        assert_eq!(answers, [ENOTSOCK, ENOTSOCK, EBADF, EBADF], "{:?}", calls[at]);
    }
}

#[test]
fn refuses_sockets_and_pairs_beyond_the_limit() {
    let limits = coldframe_core::Limits { descriptors: 4_096, ..Default::default() };
    let script = Script::default().calls('s', SocketCall::Socket, 1, &[2, 1]);
    let script = (0..300).fold(script, |script, _| script.sys(SocketCall::Socket, &[1, 1]));
    let script = (0..800).fold(script, |script, _| script.sys(SocketCall::Pair, &[ROOM, 8]));
    let ended = harness().run_with(&script, limits, None);
    assert_eq!(ended.log.iter().filter(|answer| **answer == -23).count(), 1 + 300 - 256 + 800 - 768);
}

#[test]
fn refuses_forged_contexts_and_contexts_beyond_the_limit() {
    let forged = [0, 1, -1, i64::from(i32::MAX), i64::MAX].iter().fold(Script::default(), |script, context| {
        script
            .sys(CryptographyCall::Update, &[*context, ROOM, 8])
            .sys(CryptographyCall::Finish, &[*context, ROOM, 32])
            .sys(CryptographyCall::Copy, &[*context])
            .sys(CryptographyCall::Close, &[*context])
    });
    assert!(harness().run(&forged).log.iter().all(|answer| matches!(answer, -9 | -22)), "a context that no call has made");
    let many = (0..4_200).fold(Script::default(), |script, _| script.sys(CryptographyCall::HashOpen, &[1]));
    assert_eq!(harness().run(&many).log.iter().filter(|answer| **answer == -23).count(), 4_200 - 4_096);
}

#[test]
fn refuses_a_context_after_its_end_and_as_another_kind() {
    let script = Script::default()
        .sys(CryptographyCall::HashOpen, &[1])
        .sys(CryptographyCall::CipherUpdate, &[1, ROOM, 8, ROOM, 8])
        .sys(CryptographyCall::CipherFinish, &[1, ROOM, 64])
        .sys(CryptographyCall::Update, &[1, ROOM, 8]);
    let ended = harness().run(&script.sys(CryptographyCall::Finish, &[1, ROOM, 8]));
    assert_eq!(ended.log, [1, -22, -22, EBADF, EBADF]);
}

#[test]
fn charges_jobs_to_the_kernel_memory_of_the_runtime() {
    let limits = coldframe_core::Limits { kernel_bytes: 8 << 20, ..Default::default() };
    // The script begins twelve jobs of 1 MiB. It then adds to, reads and removes jobs, most of
    // which do not exist.
    let script = (0..12).fold(Script::default(), |script, _| script.sys(CryptographyCall::JobBegin, &[1, 0, 1 << 20]));
    let script = [0, 1, 999, -1, i64::MAX].iter().fold(script, |script, job| {
        script
            .sys(CryptographyCall::JobAdd, &[*job, 0, 1 << 20])
            .sys(CryptographyCall::JobRead, &[*job, 0, ROOM, 64])
            .sys(CryptographyCall::JobRead, &[*job, -1, ROOM, 64])
            .sys(CryptographyCall::JobForget, &[*job])
    });
    let ended = harness().run_with(
        &script.calls('w', BlockingCall::JobWait, 1, &[999]).calls('w', BlockingCall::JobWait, 1, &[-1]),
        limits,
        None,
    );
    assert!((1..=8).contains(&ended.log.iter().filter(|answer| **answer > 0).count()), "{:?}", ended.log);
    assert_eq!(ended.code(), "none");
}

#[test]
fn survives_a_program_that_ends_while_its_job_runs() {
    for command in 0..64 {
        let script = Script::default()
            .sys(CryptographyCall::JobBegin, &[command, ROOM, 4_096])
            .sys(CryptographyCall::JobStart, &[1])
            .sys(CryptographyCall::JobStart, &[1])
            .sys(CryptographyCall::JobForget, &[1])
            .sys(CryptographyCall::JobAdd, &[1, ROOM, 8]);
        let ended = harness().run(&script.sys(CryptographyCall::Run, &[command, ROOM, 4_096, ROOM, 64]));
        assert!(matches!(ended.code(), "none"), "{command}: {:?}", ended.outcome.failure);
    }
}

#[test]
fn refuses_to_wait_for_processes_that_are_not_children() {
    let script = [0, 1, 2, 3, 4_194_304, i64::from(u32::MAX)]
        .iter()
        .fold(Script::default(), |script, pid| script.sys(ProcessCall::Wait, &[*pid]).sys(ProcessCall::Reap, &[*pid]));
    assert!(harness().run(&script).log.iter().all(|answer| *answer == ECHILD), "a process that is not a child");
    let forged = Script::default().op('K', &[ROOM, 2]).sys(ProcessCall::Watch, &[ROOM, 8]).calls(
        'w',
        BlockingCall::WaitForWatched,
        1,
        &[1_000],
    );
    assert_eq!(harness().run(&forged).log, [0, ECHILD]);
}

#[test]
fn sends_no_signal_outside_the_runtime() {
    let script = (-300..300)
        .filter(|pid| !matches!(pid, -2..=0 | 2))
        .fold(Script::default(), |script, pid| script.sys(ProcessCall::Kill, &[pid, 9]));
    let ended = harness().run(
        &script
            .sys(ProcessCall::Kill, &[i64::MIN, 9])
            .sys(ProcessCall::Kill, &[i64::MAX, 9])
            .sys(ProcessCall::Kill, &[2, 99])
            .sys(ProcessCall::Kill, &[2, -9]),
    );
    assert!(ended.log.iter().all(|answer| matches!(answer, -1 | -3 | -22)), "{:?}", ended.log);
}

#[test]
fn checks_the_list_of_objects_of_a_wait() {
    let script = Script::default()
        .sys(ProcessCall::Watch, &[ROOM, 7])
        .sys(ProcessCall::Watch, &[ROOM, 8 * 65])
        .sys(ProcessCall::Watch, &[ROOM, 8 * 64]);
    let script = script
        .calls('w', BlockingCall::WaitForWatched, 1, &[0])
        .op('K', &[ROOM, (1 << 32) | 77])
        .sys(ProcessCall::Watch, &[ROOM, 8])
        .calls('w', BlockingCall::WaitForWatched, 1, &[0]);
    let ended = harness().run(&script);
    assert_eq!((ended.log[..3].to_vec(), ended.log[5]), (vec![-22, -22, 0], EBADF));
}

#[test]
fn refuses_an_incomplete_description_of_a_child() {
    let words = |numbers: [u32; 6]| numbers.into_iter().enumerate().step_by(2).map(|(at, low)| (at as i64 * 4, i64::from(low)));
    let forged =
        [[0, u32::MAX, 0, 0, 0, 0], [0, 0, u32::MAX, 0, 0, 0], [0, 0, 0, u32::MAX, 0, 0], [7, 0, 0, 0, 0, 0], [0, 0, 0, 1, 9, 9]];
    for numbers in forged {
        let mut script = Script::default().text(ROOM + 0x100, "/usr/local/bin/node");
        for (at, _) in words(numbers) {
            let index = at as usize / 4;
            script = script.op('K', &[ROOM + at, i64::from(numbers[index]) | i64::from(numbers[index + 1]) << 32]);
        }
        let ended = harness().run(
            &script
                .sys(ProcessCall::Spawn, &[ROOM, 24, ROOM + 0x100, 32])
                .sys(ProcessCall::Spawn, &[ROOM, 16, ROOM + 0x100, 1])
                .sys(ProcessCall::Spawn, &[ROOM, 0, ROOM, 0]),
        );
        assert!(ended.log.iter().all(|answer| *answer < 0), "{numbers:?}: {:?}", ended.log);
    }
}

#[test]
fn refuses_watches_and_signals_beyond_the_limit() {
    let script = Script::default().text(ROOM, "/workspace").sys(ProcessCall::NextSignal, &[]).sys(ProcessCall::NextSignal, &[]);
    let script = (0..1_100).fold(script, |script, _| script.sys(FileCall::Watch, &[ROOM, 10, 1]));
    let ended = harness().run(&script);
    assert_eq!(ended.log[1], -16);
    assert!(ended.log[2..].iter().all(|answer| *answer > 0 || matches!(answer, -28 | -105)), "{:?}", ended.log);
}

#[test]
fn closes_a_connection_of_a_program_with_itself_at_its_end() {
    // The script fills both directions of 40 socket pairs, reads no byte, and arms an operation on
    // every socket.
    let script = (0..40).fold(Script::default(), |script, _| script.sys(SocketCall::Pair, &[ROOM, 8]));
    let script = (3..83).fold(script, |script, fd| {
        script.sys(SocketCall::Write, &[fd, 0, 1 << 20]).sys(SocketCall::Write, &[fd, 0, 1]).sys(SocketCall::Arm, &[fd, 4])
    });
    let ended = harness().run(&script);
    assert_eq!(ended.log[40..].chunks(3).filter(|answers| answers[0] == 65_536 && answers[1] == EAGAIN).count(), 80);
}
