//! How a turn or a program may end: forged states, forged buffers, turns without end, and what is called after the end.

use crate::scene::scene;
use crate::script::{MEMORY, NEVER, NOW, ROOM, Script};
use coldframe_abi::system_calls::{BlockingCall, FileCall, ProcessCall, SocketCall};
use coldframe_core::Limits;
use std::time::{Duration, Instant};

const STATE: i64 = 1_024;
const AT_INBOX: i64 = 4_112;

fn bits(number: f64) -> i64 {
    number.to_bits().cast_signed()
}

/// A program that has exited with a value at this place.
fn value(at: i64, len: i64) -> Script {
    Script::default().op('k', &[STATE + 20, at]).op('k', &[STATE + 24, len]).op('x', &[1, 0, 1])
}

#[test]
fn a_value_lies_in_the_own_memory() {
    for (at, len) in [(MEMORY, 1), (MEMORY - 1, 2), (-1, -1), (1, -1), (i64::from(i32::MIN), i64::from(i32::MIN)), (ROOM, MEMORY)]
    {
        let ended = scene().run(&value(at, len));
        // Whoever claims more than the limit of results is not looked at further.
        let claims_too_much = u64::from(len as u32) > Limits::default().result_bytes;
        let code = if claims_too_much { "ERR_RESULT_LIMIT" } else { "ERR_ENGINE_FAULT" };
        assert_eq!((ended.code(), ended.outcome.value), (code, None), "{at} {len}");
    }
}

#[test]
fn a_value_of_bytes_that_are_no_text_costs_no_more_than_three_times_its_length() {
    let ended = scene().run(
        &Script::default()
            .op('v', &[ROOM, 0xff, 1 << 18])
            .op('k', &[STATE + 20, ROOM])
            .op('k', &[STATE + 24, 1 << 18])
            .op('x', &[1, 0, 1]),
    );
    assert!(ended.outcome.value.is_some_and(|value| value.len() <= 3 << 18));
}

#[test]
fn states_that_are_none() {
    for (status, code, answer) in [(2, 0, 0), (-1, -1, -1), (0, 0, 1), (7, i64::from(i32::MIN), 99), (1, i64::from(i32::MIN), 0)]
    {
        let ended = scene().run(&Script::default().op('x', &[status, code, answer]).op('x', &[1, 5, 1]));
        assert!(matches!(ended.code(), "none" | "ERR_ENGINE_FAULT"), "{status} {code} {answer}");
    }
    for reason in [1, 2, 3, 4, -1] {
        let ended = scene().run(&Script::default().op('k', &[STATE + 16, reason]).op('x', &[1, 0, 1]));
        assert!(matches!(ended.code(), "none" | "ERR_MEMORY_LIMIT"), "{reason}");
    }
}

#[test]
fn evaluations_that_nobody_asked_for_have_not_ended() {
    let ended = scene().run(
        &Script::default()
            .op('k', &[STATE + 28, 1])
            .op('t', &[NOW])
            .op('k', &[STATE + 28, -1])
            .op('k', &[STATE + 36, 2])
            .op('t', &[NOW]),
    );
    assert_eq!(ended.code(), "none");
}

#[test]
fn timers_that_are_no_times() {
    for time in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MIN_POSITIVE, f64::MAX, 1e300, -1e300, 1.8e13] {
        let ended =
            scene().run_with(&Script::default().op('t', &[bits(time)]), Limits::default(), Some(Duration::from_millis(60)));
        assert!(matches!(ended.code(), "none" | "ERR_TIMEOUT" | "ERR_ENGINE_FAULT"), "{time}: {}", ended.code());
    }
}

#[test]
fn waiting_for_nothing_is_an_end() {
    assert_eq!(scene().run(&Script::default().op('t', &[NEVER])).code(), "ERR_ENGINE_FAULT");
}

#[test]
fn buffers_for_events_lie_in_the_own_memory() {
    // More text than the inbox holds: the guest is asked for a buffer, and names one.
    let padding = " ".repeat(2 << 20);
    for at in [-1, MEMORY - 1, MEMORY, 0, i64::from(i32::MIN)] {
        let scene = scene();
        let runtime = scene.runtime(Limits::default());
        let long = Script::default().op('k', &[AT_INBOX, at]);
        let running = scene.start_text(&runtime, format!("{}{padding}", long.source()));
        let code = running.ended().failure.map(|failure| failure.code());
        assert!(matches!(code, Some("ERR_ENGINE_FAULT" | "ERR_MEMORY_LIMIT")), "{at}: {code:?}");
        drop((running, runtime));
        scene.assert_unharmed();
    }
}

#[test]
fn turns_without_a_poll_cost_processor_time_and_do_not_starve_anybody() {
    let scene = scene();
    let limits = Limits { cpu_ms: 200, ..Limits::default() };
    let runtime = scene.runtime(limits);
    let restless: Vec<_> = (0..4).map(|_| scene.start(&runtime, &Script::default().op('T', &[NOW]))).collect();
    let bystander = scene.start(&runtime, &Script::default());
    assert_eq!(bystander.ended().exit_code, 5);
    scene.ask_neighbour();
    for running in &restless {
        assert_eq!(running.ended().failure.map(|failure| failure.code()), Some("ERR_CPU_LIMIT"));
    }
    drop(runtime);
    scene.assert_unharmed();
}

#[test]
fn loops_of_every_kind_end_in_time() {
    let forever: [(&str, Script); 6] = [
        ("calls without a poll", Script::default().sys(ProcessCall::Getppid, &[]).op('j', &[0])),
        ("polls", Script::default().op('p', &[]).op('j', &[0])),
        ("memory without a poll", Script::default().op('n', &[])),
        ("waiting for ever", Script::default().calls('w', BlockingCall::WaitForWatched, 1, &[-1])),
        ("waiting for input that does not come", Script::default().sys(SocketCall::Pair, &[ROOM, 8]).op('R', &[3])),
        ("turns", Script::default().op('T', &[NOW])),
    ];
    for (name, script) in forever {
        let ended = scene().run_with(&script, Limits::default(), Some(Duration::from_millis(50)));
        assert_eq!(ended.code(), "ERR_TIMEOUT", "{name}");
    }
}

#[test]
fn a_gigabyte_of_entropy_does_not_hold_up_the_end() {
    let limits = Limits { memory_bytes: 1 << 30, ..Limits::default() };
    let script = Script::default().op('g', &[16_000]).op('e', &[MEMORY, 1_000 << 20]).op('e', &[MEMORY, 1_000 << 20]);
    let ended = scene().run_with(&script, limits, Some(Duration::from_millis(50)));
    assert_eq!(ended.code(), "ERR_TIMEOUT");
    // A gigabyte takes seconds; the rest is for a machine that does other things as well.
    assert!(ended.took < Duration::from_millis(1_500), "{:?}", ended.took);
}

#[test]
fn a_gigabyte_that_is_read_or_written_at_once_does_not_hold_up_the_end() {
    let limits = Limits { memory_bytes: 1 << 30, ..Limits::default() };
    for (path, flags, number) in [
        ("/dev/zero", 0, FileCall::Read),
        ("/dev/urandom", 0, FileCall::Read),
        ("/dev/null", 1, FileCall::Write),
        ("/tmp/f", 0o102, FileCall::Write),
    ] {
        let script =
            Script::default().text(ROOM, path).sys(FileCall::Open, &[ROOM, path.len() as i64, flags, 0o600]).op('g', &[16_000]);
        let again = script.source().len() as i64 / 161;
        let script = script.sys(number, &[3, MEMORY, 1_000 << 20, 0]).op('j', &[again]);
        let ended = scene().run_with(&script, limits, Some(Duration::from_millis(50)));
        assert_eq!(ended.code(), "ERR_TIMEOUT", "{path}");
        assert!(ended.took < Duration::from_millis(1_500), "{path}: {:?}", ended.took);
    }
}

#[test]
fn what_waits_is_given_back_when_it_is_killed() {
    let scene = scene();
    let runtime = scene.runtime(Limits::default());
    let waiting: Vec<_> = (0..20)
        .map(|index| {
            let script = match index % 4 {
                0 => Script::default().calls('w', BlockingCall::WaitForWatched, 1, &[i64::MAX]),
                1 => Script::default().sys(SocketCall::Pair, &[ROOM, 8]).op('R', &[3]),
                2 => Script::default().op('t', &[bits(1e18)]),
                _ => Script::default().sys(ProcessCall::NextSignal, &[]).op('t', &[NEVER]),
            };
            scene.start(&runtime, &script)
        })
        .collect();
    std::thread::sleep(Duration::from_millis(20));
    let began = Instant::now();
    runtime.dispose();
    for running in &waiting {
        assert_eq!(running.ended().failure.map(|failure| failure.code()), Some("ERR_RUNTIME_DISPOSED"));
    }
    assert!(began.elapsed() < Duration::from_secs(5));
    drop((waiting, runtime));
    scene.assert_unharmed();
}

#[test]
fn recursion_and_traps_are_faults_of_the_guest_alone() {
    for letter in ['S', 'u'] {
        assert_eq!(scene().run(&Script::default().op(letter, &[])).code(), "ERR_ENGINE_FAULT", "{letter}");
    }
}

#[test]
fn nothing_is_called_after_the_end() {
    // Whatever comes behind the exit would be seen in the output.
    let ended = scene().run(&Script::default().op('x', &[1, 7, 1]).sys(ProcessCall::Getppid, &[]).op('d', &[]).op('T', &[NOW]));
    assert_eq!((ended.outcome.exit_code, ended.log), (7, vec![]));
}

#[test]
fn closing_the_streams_and_writing_on() {
    let script = Script::default()
        .sys(FileCall::Close, &[0])
        .sys(FileCall::Close, &[1])
        .sys(FileCall::Close, &[2])
        .sys(FileCall::Close, &[1]);
    let ended = scene().run(&script.op('o', &[1, ROOM, 0]).op('r', &[0, ROOM, 8]));
    assert_eq!(ended.log, [0, 0, 0, -9, 0, -9]);
}

#[test]
fn output_beyond_the_cap_is_not_kept() {
    let limits = Limits { output_bytes: 4_096, ..Limits::default() };
    let ended = scene().run_with(
        &Script::default().op('o', &[1, 0, MEMORY]).op('o', &[2, 0, MEMORY]).op('j', &[0]),
        limits,
        Some(Duration::from_millis(200)),
    );
    assert!(ended.outcome.stdout.len() <= 4_096 && ended.outcome.stderr.len() <= 4_096);
    assert_ne!(ended.code(), "none");
}

#[test]
fn marks_and_polls_without_end_change_nothing() {
    let script = (0..500).fold(Script::default(), |script, kind| script.op('m', &[kind - 250]).op('m', &[1]).op('p', &[]));
    assert_eq!(scene().run(&script).code(), "none");
}
