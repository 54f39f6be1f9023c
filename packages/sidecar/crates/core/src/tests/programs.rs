//! Tests of programs from start to end: output, input, exit codes, limits, fairness, kills.

use super::*;
use crate::installation::ImageKind;
use crate::tests::evaluation;
use coldframe_ids::EvaluationId;
use std::time::Instant;

#[test]
fn a_program_gets_its_arguments_environment_and_input_and_returns_output_and_exit_code() {
    let core = core();
    let options = RuntimeOptions { env: vec![("A".into(), "1".into()), ("B".into(), "1".into())], ..RuntimeOptions::default() };
    let runtime = core.create_runtime(options).expect("a runtime");
    let mut options = exec(
        "console.log(process.argv.slice(1).join(), process.env.A, process.env.B, process.cwd());
        console.error('oops'); process.exitCode = 3",
    );
    options.args = vec!["x".into(), "y".into()];
    options.env = vec![("B".into(), "2".into())];
    options.cwd = Some("/tmp".into());
    for dispatch in [Dispatch::Worker, Dispatch::Inline(Duration::from_secs(1))] {
        let outcome = exited(&start(&runtime, options.clone(), dispatch).1);
        assert_eq!((text(&outcome.stdout), text(&outcome.stderr)), ("x,y 1 2 /tmp\n".to_owned(), "oops\n".to_owned()));
        assert_eq!((outcome.exit_code, code(&outcome)), (3, None));
    }
}

#[test]
fn an_inline_program_moves_to_a_worker_after_its_budget() {
    let core = core();
    let runtime = runtime(&core);
    let program = exec("let n = 0; for (let i = 0; i < 3e6; i++) n += i; console.log(n)");
    let began = Instant::now();
    let (_process, events) = start(&runtime, program, Dispatch::Inline(Duration::from_micros(100)));
    let returned = began.elapsed();
    assert_eq!(text(&exited(&events).stdout), "4499998500000\n");
    assert!(returned < began.elapsed(), "the rest ran on a worker");
}

#[test]
fn time_cpu_memory_and_output_limits_end_a_program_with_their_codes() {
    let core = core();
    let limits = Limits { memory_bytes: 32 << 20, cpu_ms: 200, output_bytes: 1_000, ..Limits::default() };
    let runtime = core.create_runtime(RuntimeOptions { limits, ..RuntimeOptions::default() }).expect("a runtime");
    let mut spin = exec("for (;;) {}");
    assert_eq!(code(&outcome(&runtime, spin.clone())), Some("ERR_CPU_LIMIT"));
    spin.timeout = Some(Duration::from_millis(30));
    let timed_out = outcome(&runtime, spin);
    assert_eq!((code(&timed_out), timed_out.exit_code), (Some("ERR_TIMEOUT"), 124));
    let mut wait = exec("await new Promise((done) => setTimeout(done, 100000))");
    wait.timeout = Some(Duration::from_millis(30));
    assert_eq!(code(&outcome(&runtime, wait)), Some("ERR_TIMEOUT"));
    let full = outcome(&runtime, exec("const all = []; for (;;) all.push(new Array(1000).fill({}))"));
    assert_eq!((code(&full), full.exit_code), (Some("ERR_MEMORY_LIMIT"), 134));
    let loud = outcome(&runtime, exec("for (let n = 0; n < 100; n++) console.log('x'.repeat(100)); console.error('end')"));
    assert_eq!((code(&loud), loud.exit_code, loud.stdout.len(), loud.stdout_truncated), (None, 0, 1_000, true));
    assert_eq!((text(&loud.stderr), loud.stderr_truncated), ("end\n".to_owned(), false), "the program ran to its end");
    let endless = outcome(&runtime, exec("for (;;) console.log('x'.repeat(100))"));
    assert_eq!((code(&endless), endless.stdout_truncated), (Some("ERR_CPU_LIMIT"), true));
    assert_eq!(text(&outcome(&runtime, exec("console.log('alive')")).stdout), "alive\n");
}

#[test]
fn a_command_needs_a_memory_limit_of_at_least_the_shells_image() {
    let core = core();
    let image = core.installation().factory(ImageKind::Shell).expect("the shell").image().len() as u64;
    assert!(core.installation().image_len() < image);
    let mut command = exec("true");
    command.mode = Mode::Command;
    for (memory_bytes, expected) in [(image - 1, Some("ERR_MEMORY_LIMIT")), (image, None)] {
        let runtime = limited(&core, Limits { memory_bytes, ..Limits::default() });
        let command = outcome(&runtime, command.clone());
        assert_eq!((code(&command), command.exit_code == 0), (expected, expected.is_none()));
        assert_eq!(text(&outcome(&runtime, exec("console.log('alive')")).stdout), "alive\n");
    }
}

#[test]
fn a_streamed_program_waits_for_its_reader_and_ends_when_cancelled() {
    let core = core();
    let runtime = runtime(&core);
    let mut options = exec("for (let i = 0; i < 3e4; i++) console.log('0123456789'.repeat(10))");
    options.streams.stdout = true;
    let (process, events) = start(&runtime, options.clone(), Dispatch::Worker);
    let (mut received, mut unread) = (0_u64, 0_u64);
    loop {
        match events.recv_timeout(STEP_TIMEOUT).expect("the program continues") {
            SinkEvent::Output(0, 1, data) => {
                received += data.len() as u64;
                unread += data.len() as u64;
                assert!(unread <= 256 << 10, "the window is {unread} bytes wide");
                if unread > 200_000 {
                    process.credit(std::mem::take(&mut unread));
                }
            }
            SinkEvent::Exited(outcome) => {
                assert_eq!((outcome.exit_code, received), (0, 3_030_000));
                break;
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    let (process, events) = start(&runtime, options, Dispatch::Worker);
    while !matches!(events.recv_timeout(STEP_TIMEOUT), Ok(SinkEvent::Output(..))) {}
    process.cancel();
    assert_eq!(code(&exited(&events)), Some("ERR_CANCELED"), "a program that waits for its reader can be cancelled");
}

#[test]
fn spinning_guests_do_not_delay_others_and_can_be_killed() {
    let core = core();
    // 21 short programs end before any loop has computed for a second. A load of the machine slows
    // the loops too.
    let limits = Limits { cpu_ms: 1_000, ..Limits::default() };
    let spinners: Vec<_> = (0..8).map(|_| limited(&core, limits)).collect();
    let running: Vec<_> = spinners.iter().map(|runtime| start(runtime, exec("for (;;) {}"), Dispatch::Worker)).collect();
    let quick = runtime(&core);
    for _ in 0..21 {
        assert_eq!(text(&outcome(&quick, exec("console.log('quick')")).stdout), "quick\n");
    }
    for spinner in &spinners {
        spinner.dispose();
    }
    for (_process, events) in running {
        assert_eq!(code(&exited(&events)), Some("ERR_RUNTIME_DISPOSED"));
    }
}

#[test]
fn native_loops_can_be_killed() {
    let core = core();
    let runtime = runtime(&core);
    let loops = [
        "const a = []; a.length = 2 ** 32 - 1; a.fill.call({ length: 2 ** 53 - 1 }, 0)",
        "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "'x'.repeat(2 ** 24).split('').sort(() => { for (;;); })",
        "/(a+)+$/.test('a'.repeat(40) + 'b')",
        "3n ** (3n ** 15n)",
        "for (;;) ('a'.repeat(2 ** 22) + 'b').indexOf('a'.repeat(2 ** 21) + 'c')",
    ];
    for code_text in loops {
        let mut program = exec(code_text);
        program.timeout = Some(Duration::from_millis(20));
        let (_process, events) = start(&runtime, program, Dispatch::Worker);
        let outcome = exited(&events);
        assert_eq!(code(&outcome), Some("ERR_TIMEOUT"), "{code_text}: {}", text(&outcome.stderr));
    }
}

#[test]
fn an_invalid_option_is_refused_by_name() {
    let core = core();
    let refused = |options: RuntimeOptions| match core.create_runtime(options) {
        Err(Error::InvalidRequest { what, .. }) => what,
        other => panic!("{:?}", other.map(|_| ()).map_err(|error| error.to_string())),
    };
    let with_limits = |limits| RuntimeOptions { limits, ..RuntimeOptions::default() };
    assert_eq!(refused(RuntimeOptions { cwd: Some("relative".into()), ..RuntimeOptions::default() }), "cwd");
    assert_eq!(refused(RuntimeOptions { env: vec![("a=b".into(), String::new())], ..RuntimeOptions::default() }), "env");
    assert_eq!(refused(with_limits(Limits { memory_bytes: 1, ..Limits::default() })), "limits.memoryBytes");
    assert_eq!(refused(with_limits(Limits { cpu_ms: 0, ..Limits::default() })), "limits.cpuMs");
    let runtime = runtime(&core);
    runtime.dispose();
    let (sink, _told) = TestSink::new();
    let refused = runtime.start(exec(""), sink, Dispatch::Worker).map(|_| ());
    assert_eq!(refused, Err(Error::RuntimeDisposed));
}

#[test]
fn shutdown_ends_every_running_program() {
    let core = core();
    let runtime = runtime(&core);
    let (_process, events) = start(&runtime, exec("for (;;) {}"), Dispatch::Worker);
    core.shutdown();
    assert_eq!(code(&exited(&events)), Some("ERR_RUNTIME_DISPOSED"));
    assert_eq!(core.resources().processes, 0);
}

/// A sink that computes on the guest's thread, during its slice, until the guest must end.
struct Stubborn {
    sink: Arc<TestSink>,
    process: std::sync::OnceLock<Process>,
    had_to_end: std::sync::atomic::AtomicBool,
}

impl Sink for Stubborn {
    fn output(&self, _evaluation: Option<EvaluationId>, _fd: u8, _data: Vec<u8>) {
        let began = std::time::Instant::now();
        let is_ending = || self.process.get().is_some_and(Process::is_ending);
        while !is_ending() && began.elapsed() < STEP_TIMEOUT / 2 {
            std::hint::spin_loop();
        }
        self.had_to_end.store(is_ending(), std::sync::atomic::Ordering::Relaxed);
    }
    fn evaluated(&self, id: EvaluationId, outcome: Outcome) {
        self.sink.evaluated(id, outcome);
    }
    fn ready(&self, timings: Timings) {
        self.sink.ready(timings);
    }
    fn exited(&self, outcome: Outcome) {
        self.sink.exited(outcome);
    }
}

#[test]
fn the_cpu_limit_ends_a_program_that_never_yields() {
    let core = core();
    let limits = Limits { cpu_ms: 100, ..Limits::default() };
    let runtime = core.create_runtime(RuntimeOptions { limits, ..RuntimeOptions::default() }).expect("a runtime");
    for mode in [Mode::Exec, Mode::Resident] {
        let (sink, events) = TestSink::new();
        let stubborn = Arc::new(Stubborn { sink, process: Default::default(), had_to_end: Default::default() });
        let code = "process.stdout.write('x'); await new Promise((done) => setTimeout(done, 60_000))";
        let streams = Streams { stdout: true, stderr: false };
        let options = ProcessOptions { mode, streams, ..exec(if mode == Mode::Exec { code } else { "" }) };
        let process = runtime.start(options, stubborn.clone(), Dispatch::Worker).expect("start");
        if mode == Mode::Resident {
            process
                .evaluate(evaluation(1), code.to_owned(), EvaluationSettings::default(), None, streams, Dispatch::Worker)
                .expect("evaluate");
        }
        assert!(stubborn.process.set(process).is_ok());
        assert_eq!(super::code(&exited(&events)), Some("ERR_CPU_LIMIT"), "{mode:?}");
        assert!(
            stubborn.had_to_end.load(std::sync::atomic::Ordering::Relaxed),
            "{mode:?}: the program ended while the sink computed"
        );
    }
}
