//! The ends of turns and programs: forged states, forged buffers, endless turns, and calls after
//! the end.

use std::time::Duration;

use coldframe_abi::system_calls::{BlockingCall, FileCall, ProcessCall, SocketCall};
use coldframe_core::Limits;

use crate::harness::harness;
use crate::script::{MEMORY, NEVER, NOW, ROOM, Script};

/// The address of the state block.
const STATE: i64 = 1_024;
/// The address of the value that `cf_inbox` returns.
const INBOX_RESULT: i64 = 4_112;

fn bits(number: f64) -> i64 {
    number.to_bits().cast_signed()
}

/// Returns a program that exits with a value at `at`.
fn value(at: i64, len: i64) -> Script {
    Script::default().op('k', &[STATE + 20, at]).op('k', &[STATE + 24, len]).op('x', &[1, 0, 1])
}

#[test]
fn refuses_a_value_outside_the_memory() {
    for (at, len) in [(MEMORY, 1), (MEMORY - 1, 2), (-1, -1), (1, -1), (i64::from(i32::MIN), i64::from(i32::MIN)), (ROOM, MEMORY)]
    {
        let ended = harness().run(&value(at, len));
        // If the length exceeds the limit of results, the address is not checked.
        let claims_too_much = u64::from(len as u32) > Limits::default().result_bytes;
        let code = if claims_too_much { "ERR_RESULT_LIMIT" } else { "ERR_ENGINE_FAULT" };
        assert_eq!((ended.code(), ended.outcome.value), (code, None), "{at} {len}");
    }
}

#[test]
fn replaces_invalid_bytes_of_a_value_by_at_most_three_bytes_each() {
    let ended = harness().run(
        &Script::default()
            .op('v', &[ROOM, 0xff, 1 << 18])
            .op('k', &[STATE + 20, ROOM])
            .op('k', &[STATE + 24, 1 << 18])
            .op('x', &[1, 0, 1]),
    );
    assert!(ended.outcome.value.is_some_and(|value| value.len() <= 3 << 18));
}

#[test]
fn accepts_or_refuses_invalid_states_without_harm() {
    for (status, code, answer) in [(2, 0, 0), (-1, -1, -1), (0, 0, 1), (7, i64::from(i32::MIN), 99), (1, i64::from(i32::MIN), 0)]
    {
        let ended = harness().run(&Script::default().op('x', &[status, code, answer]).op('x', &[1, 5, 1]));
        assert!(matches!(ended.code(), "none" | "ERR_ENGINE_FAULT"), "{status} {code} {answer}");
    }
    for reason in [1, 2, 3, 4, -1] {
        let ended = harness().run(&Script::default().op('k', &[STATE + 16, reason]).op('x', &[1, 0, 1]));
        assert!(matches!(ended.code(), "none" | "ERR_MEMORY_LIMIT"), "{reason}");
    }
}

#[test]
fn ignores_the_end_of_an_evaluation_that_was_not_requested() {
    let ended = harness().run(
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
fn accepts_or_refuses_invalid_timers_without_harm() {
    for time in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MIN_POSITIVE, f64::MAX, 1e300, -1e300, 1.8e13] {
        let ended =
            harness().run_with(&Script::default().op('t', &[bits(time)]), Limits::default(), Some(Duration::from_millis(60)));
        assert!(matches!(ended.code(), "none" | "ERR_TIMEOUT" | "ERR_ENGINE_FAULT"), "{time}: {}", ended.code());
    }
}

#[test]
fn ends_a_program_that_waits_for_nothing() {
    assert_eq!(harness().run(&Script::default().op('t', &[NEVER])).code(), "ERR_ENGINE_FAULT");
}

#[test]
fn refuses_an_event_buffer_outside_the_memory() {
    // The text is larger than the inbox, so the core requests a buffer from the guest.
    let padding = " ".repeat(2 << 20);
    for at in [-1, MEMORY - 1, MEMORY, 0, i64::from(i32::MIN)] {
        let harness = harness();
        let runtime = harness.runtime(Limits::default());
        let long = Script::default().op('k', &[INBOX_RESULT, at]);
        let running = harness.start_text(&runtime, format!("{}{padding}", long.source()));
        let code = running.wait().failure.map(|failure| failure.code());
        assert!(matches!(code, Some("ERR_ENGINE_FAULT" | "ERR_MEMORY_LIMIT")), "{at}: {code:?}");
        drop((running, runtime));
        harness.assert_unharmed();
    }
}

#[test]
fn charges_turns_without_a_poll_and_serves_other_programs() {
    let harness = harness();
    let limits = Limits { cpu_ms: 200, ..Limits::default() };
    let runtime = harness.runtime(limits);
    let restless: Vec<_> = (0..4).map(|_| harness.start(&runtime, &Script::default().op('T', &[NOW]))).collect();
    let bystander = harness.start(&runtime, &Script::default());
    assert_eq!(bystander.wait().exit_code, 5);
    harness.ask_neighbour();
    for running in &restless {
        assert_eq!(running.wait().failure.map(|failure| failure.code()), Some("ERR_CPU_LIMIT"));
    }
    drop(runtime);
    harness.assert_unharmed();
}

#[test]
fn ends_loops_of_every_kind_at_the_timeout() {
    let forever: [(&str, Script); 6] = [
        ("calls without a poll", Script::default().sys(ProcessCall::Getppid, &[]).op('j', &[0])),
        ("polls", Script::default().op('p', &[]).op('j', &[0])),
        ("memory without a poll", Script::default().op('n', &[])),
        ("an endless wait", Script::default().calls('w', BlockingCall::WaitForWatched, 1, &[-1])),
        ("a wait for input that never arrives", Script::default().sys(SocketCall::Pair, &[ROOM, 8]).op('R', &[3])),
        ("turns", Script::default().op('T', &[NOW])),
    ];
    for (name, script) in forever {
        let ended = harness().run_with(&script, Limits::default(), Some(Duration::from_millis(50)));
        assert_eq!(ended.code(), "ERR_TIMEOUT", "{name}");
    }
}

#[test]
fn ends_a_program_that_requests_a_gigabyte_of_entropy() {
    let limits = Limits { memory_bytes: 1 << 30, ..Limits::default() };
    let script = Script::default().op('g', &[16_000]).op('e', &[MEMORY, 1_000 << 20]).op('e', &[MEMORY, 1_000 << 20]);
    let ended = harness().run_with(&script, limits, Some(Duration::from_millis(50)));
    assert_eq!(ended.code(), "ERR_TIMEOUT");
}

#[test]
fn ends_a_program_that_reads_or_writes_a_gigabyte_in_one_call() {
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
        let ended = harness().run_with(&script, limits, Some(Duration::from_millis(50)));
        assert_eq!(ended.code(), "ERR_TIMEOUT", "{path}");
    }
}

#[test]
fn releases_the_resources_of_killed_programs_that_wait() {
    let harness = harness();
    let runtime = harness.runtime(Limits::default());
    let waiting: Vec<_> = (0..20)
        .map(|index| {
            let script = match index % 4 {
                0 => Script::default().calls('w', BlockingCall::WaitForWatched, 1, &[i64::MAX]),
                1 => Script::default().sys(SocketCall::Pair, &[ROOM, 8]).op('R', &[3]),
                2 => Script::default().op('t', &[bits(1e18)]),
                _ => Script::default().sys(ProcessCall::NextSignal, &[]).op('t', &[NEVER]),
            };
            harness.start(&runtime, &script)
        })
        .collect();
    std::thread::sleep(Duration::from_millis(20));
    runtime.dispose();
    for running in &waiting {
        assert_eq!(running.wait().failure.map(|failure| failure.code()), Some("ERR_RUNTIME_DISPOSED"));
    }
    drop((waiting, runtime));
    harness.assert_unharmed();
}

#[test]
fn reports_recursion_and_traps_as_faults_of_the_guest() {
    for letter in ['S', 'u'] {
        assert_eq!(harness().run(&Script::default().op(letter, &[])).code(), "ERR_ENGINE_FAULT", "{letter}");
    }
}

#[test]
fn calls_no_export_after_the_exit() {
    // An operation after the exit would appear in the output.
    let ended = harness().run(&Script::default().op('x', &[1, 7, 1]).sys(ProcessCall::Getppid, &[]).op('d', &[]).op('T', &[NOW]));
    assert_eq!((ended.outcome.exit_code, ended.log), (7, vec![]));
}

#[test]
fn refuses_reads_and_serves_writes_after_the_streams_are_closed() {
    let script = Script::default()
        .sys(FileCall::Close, &[0])
        .sys(FileCall::Close, &[1])
        .sys(FileCall::Close, &[2])
        .sys(FileCall::Close, &[1]);
    let ended = harness().run(&script.op('o', &[1, ROOM, 0]).op('r', &[0, ROOM, 8]));
    assert_eq!(ended.log, [0, 0, 0, -9, 0, -9]);
}

#[test]
fn drops_output_beyond_the_limit() {
    let limits = Limits { output_bytes: 4_096, ..Limits::default() };
    let ended = harness().run_with(
        &Script::default().op('o', &[1, 0, MEMORY]).op('o', &[2, 0, MEMORY]).op('j', &[0]),
        limits,
        Some(Duration::from_millis(200)),
    );
    assert!(ended.outcome.stdout.len() <= 4_096 && ended.outcome.stderr.len() <= 4_096);
    assert_ne!(ended.code(), "none");
}

#[test]
fn accepts_repeated_marks_and_polls() {
    let script = (0..500).fold(Script::default(), |script, kind| script.op('m', &[kind - 250]).op('m', &[1]).op('p', &[]));
    assert_eq!(harness().run(&script).code(), "none");
}
