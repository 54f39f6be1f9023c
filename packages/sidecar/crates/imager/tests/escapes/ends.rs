//! The ends of turns and programs: forged states, forged buffers, turns without end, and calls
//! after the end.

use crate::scene::scene;
use crate::script::{MEMORY, NEVER, NOW, ROOM, Script};
use coldframe_core::Limits;
use std::time::{Duration, Instant};

const STATE: i64 = 1_024;
const AT_INBOX: i64 = 4_112;

fn bits(number: f64) -> i64 {
    number.to_bits().cast_signed()
}

/// Returns a program that exits with a value at this address.
fn value(at: i64, len: i64) -> Script {
    Script::default().op('k', &[STATE + 20, at]).op('k', &[STATE + 24, len]).op('x', &[1, 0, 1])
}

#[test]
fn refuses_a_value_outside_the_guests_memory() {
    for (at, len) in [(MEMORY, 1), (MEMORY - 1, 2), (-1, -1), (1, -1), (i64::from(i32::MIN), i64::from(i32::MIN)), (ROOM, MEMORY)]
    {
        let ended = scene().run(&value(at, len));
        // A value that exceeds the limit of results is not read.
        let claims_too_much = u64::from(len as u32) > Limits::default().result_bytes;
        let code = if claims_too_much { "ERR_RESULT_LIMIT" } else { "ERR_ENGINE_FAULT" };
        assert_eq!((ended.code(), ended.outcome.value), (code, None), "{at} {len}");
    }
}

#[test]
fn a_value_of_invalid_text_has_at_most_three_times_its_length() {
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
fn invalid_states_end_the_program_at_most() {
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
fn ends_of_unknown_evaluations_are_ignored() {
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
fn invalid_timers_end_the_program_at_most() {
    for time in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MIN_POSITIVE, f64::MAX, 1e300, -1e300, 1.8e13] {
        let ended =
            scene().run_with(&Script::default().op('t', &[bits(time)]), Limits::default(), Some(Duration::from_millis(60)));
        assert!(matches!(ended.code(), "none" | "ERR_TIMEOUT" | "ERR_ENGINE_FAULT"), "{time}: {}", ended.code());
    }
}

#[test]
fn waiting_without_a_timer_ends_the_program() {
    assert_eq!(scene().run(&Script::default().op('t', &[NEVER])).code(), "ERR_ENGINE_FAULT");
}

#[test]
fn refuses_event_buffers_outside_the_guests_memory() {
    // The text exceeds the inbox, so the guest must provide a buffer.
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
fn turns_without_a_poll_count_as_cpu_time_and_starve_no_program() {
    let scene = scene();
    let limits = Limits { cpu_ms: 200, ..Limits::default() };
    let runtime = scene.runtime(limits);
    let restless: Vec<_> = (0..4).map(|_| scene.start(&runtime, &Script::default().op('T', &[NOW]))).collect();
    let bystander = scene.start(&runtime, &Script::default());
    assert_eq!(bystander.ended().exit_code, 5);
    scene.check_neighbour();
    for running in &restless {
        assert_eq!(running.ended().failure.map(|failure| failure.code()), Some("ERR_CPU_LIMIT"));
    }
    drop(runtime);
    scene.assert_unharmed();
}

#[test]
fn loops_of_every_kind_end_at_their_timeout() {
    let forever: [(&str, Script); 6] = [
        ("calls without a poll", Script::default().sys(0x403, &[]).op('j', &[0])),
        ("polls", Script::default().op('p', &[]).op('j', &[0])),
        ("memory without a poll", Script::default().op('n', &[])),
        ("waiting forever", Script::default().calls('w', 0x409, 1, &[-1])),
        ("waiting for input that is never sent", Script::default().sys(0x210, &[ROOM, 8]).op('R', &[3])),
        ("turns", Script::default().op('T', &[NOW])),
    ];
    for (name, script) in forever {
        let ended = scene().run_with(&script, Limits::default(), Some(Duration::from_millis(50)));
        assert_eq!(ended.code(), "ERR_TIMEOUT", "{name}");
    }
}

#[test]
fn a_gigabyte_of_entropy_does_not_delay_the_end() {
    let limits = Limits { memory_bytes: 1 << 30, ..Limits::default() };
    let script = Script::default().op('g', &[16_000]).op('e', &[MEMORY, 1_000 << 20]).op('e', &[MEMORY, 1_000 << 20]);
    let ended = scene().run_with(&script, limits, Some(Duration::from_millis(50)));
    assert_eq!(ended.code(), "ERR_TIMEOUT");
    // Filling a gigabyte takes seconds. The bound leaves time for other work of the machine.
    assert!(ended.took < Duration::from_millis(1_500), "{:?}", ended.took);
}

#[test]
fn a_read_or_write_of_a_gigabyte_does_not_delay_the_end() {
    let limits = Limits { memory_bytes: 1 << 30, ..Limits::default() };
    for (path, flags, number) in
        [("/dev/zero", 0, 0x102), ("/dev/urandom", 0, 0x102), ("/dev/null", 1, 0x103), ("/tmp/f", 0o102, 0x103)]
    {
        let script = Script::default().text(ROOM, path).sys(0x100, &[ROOM, path.len() as i64, flags, 0o600]).op('g', &[16_000]);
        let again = script.source().len() as i64 / 161;
        let script = script.sys(number, &[3, MEMORY, 1_000 << 20, 0]).op('j', &[again]);
        let ended = scene().run_with(&script, limits, Some(Duration::from_millis(50)));
        assert_eq!(ended.code(), "ERR_TIMEOUT", "{path}");
        assert!(ended.took < Duration::from_millis(1_500), "{path}: {:?}", ended.took);
    }
}

#[test]
fn frees_waiting_programs_when_their_runtime_is_disposed() {
    let scene = scene();
    let runtime = scene.runtime(Limits::default());
    let waiting: Vec<_> = (0..20)
        .map(|index| {
            let script = match index % 4 {
                0 => Script::default().calls('w', 0x409, 1, &[i64::MAX]),
                1 => Script::default().sys(0x210, &[ROOM, 8]).op('R', &[3]),
                2 => Script::default().op('t', &[bits(1e18)]),
                _ => Script::default().sys(0x405, &[]).op('t', &[NEVER]),
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
fn recursion_and_traps_end_the_guest_alone() {
    for letter in ['S', 'u'] {
        assert_eq!(scene().run(&Script::default().op(letter, &[])).code(), "ERR_ENGINE_FAULT", "{letter}");
    }
}

#[test]
fn makes_no_call_after_the_exit() {
    // Calls after the exit would appear in the output.
    let ended = scene().run(&Script::default().op('x', &[1, 7, 1]).sys(0x403, &[]).op('d', &[]).op('T', &[NOW]));
    assert_eq!((ended.outcome.exit_code, ended.log), (7, vec![]));
}

#[test]
fn writes_to_closed_streams_fail() {
    let script = Script::default().sys(0x101, &[0]).sys(0x101, &[1]).sys(0x101, &[2]).sys(0x101, &[1]);
    let ended = scene().run(&script.op('o', &[1, ROOM, 0]).op('r', &[0, ROOM, 8]));
    assert_eq!(ended.log, [0, 0, 0, -9, 0, -9]);
}

#[test]
fn output_beyond_the_limit_is_not_kept() {
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
fn repeated_marks_and_polls_change_nothing() {
    let script = (0..500).fold(Script::default(), |script, kind| script.op('m', &[kind - 250]).op('m', &[1]).op('p', &[]));
    assert_eq!(scene().run(&script).code(), "none");
}
