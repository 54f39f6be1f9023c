//! Tests of resident runners and of streamed output with the real guest.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(dead_code, reason = "each test file uses its part of `common`")]

mod common;

use coldframe_ids::RunnerId;
use coldframe_protocol::messages::*;
use common::{Parent, fact, program, runtime};

fn runner(parent: &mut Parent) -> RunnerId {
    let runtime = parent.runtime();
    parent
        .ask(Kind::RunnerCreate, 2, &RunnerCreate { runtime, env: None, cwd: None, limits: None, user: None, language: None })
        .read::<RunnerCreated>()
        .runner
}

fn eval(runner: RunnerId, code: &str) -> RunnerEval<'_> {
    RunnerEval::new(runner, code)
}

#[test]
fn a_runner_keeps_its_state_and_its_evaluations_wait_for_each_other() {
    for inline in ["0", "200"] {
        let mut parent = Parent::new(&["--inline-us", inline]);
        let runner = runner(&mut parent);
        parent.ask(Kind::RunnerEval, 10, &eval(runner, "globalThis.n = 0"));
        for id in 11..61 {
            parent.send(Kind::RunnerEval, id, &eval(runner, "console.log(++n)"));
        }
        for id in 11..61 {
            let received = parent.receive();
            let outcome: Outcome<'_> = received.read();
            assert_eq!((received.id, outcome.stdout), (id, format!("{}\n", id - 10).as_bytes()), "{outcome:?}");
        }
    }
}

#[test]
fn an_evaluation_is_canceled_and_the_runner_continues() {
    for inline in ["0", "200"] {
        let mut parent = Parent::new(&["--inline-us", inline]);
        let runner = runner(&mut parent);
        parent.send(Kind::RunnerEval, 10, &eval(runner, "while (true) {}"));
        parent.send(Kind::RunnerEval, 11, &eval(runner, "console.log('never')"));
        parent.send(Kind::Cancel, 11, &Empty {});
        parent.send(Kind::Cancel, 10, &Empty {});
        for id in [11, 10] {
            let received = parent.receive();
            let outcome: Outcome<'_> = received.read();
            assert_eq!((received.id, outcome.exit_code, outcome.failure.unwrap().code.as_ref()), (id, 137, "ERR_CANCELED"));
        }
        let received = parent.ask(Kind::RunnerEval, 12, &eval(runner, "console.log('alive')"));
        assert_eq!(received.read::<Outcome<'_>>().stdout, b"alive\n");
    }
}

#[test]
fn an_evaluation_in_an_exited_runner_fails() {
    let mut parent = Parent::new(&[]);
    let runner = runner(&mut parent);
    assert_eq!(parent.ask(Kind::RunnerDispose, 10, &RunnerOnly { runner }).kind, Kind::Reply);
    let received = parent.ask(Kind::RunnerEval, 11, &eval(runner, "1"));
    let failure = received.failure();
    assert_eq!(failure.code, "ERR_RUNNER_EXITED");
    assert_eq!((fact(&failure, "runner"), fact(&failure, "exitCode")), (Fact::Number(runner.get().into()), Fact::Number(137)));
}

#[test]
fn evaluations_of_a_disposed_runtime_are_answered() {
    let mut parent = Parent::new(&[]);
    let runner = runner(&mut parent);
    for id in 10..13 {
        parent.send(Kind::RunnerEval, id, &eval(runner, "while (true) {}"));
    }
    parent.send(Kind::RuntimeDispose, 20, &RuntimeDispose { runtime: runtime(1) });
    let mut ids: Vec<u32> = (0..4).map(|_| parent.receive().id).collect();
    ids.sort_unstable();
    assert_eq!(ids, [10, 11, 12, 20]);
    parent.assert_alive();
}

#[test]
fn streamed_output_waits_for_credit() {
    const WINDOW: usize = 262_144;
    const LINES: usize = 20_000;
    for inline in ["0", "200"] {
        let mut parent = Parent::new(&["--inline-us", inline]);
        let runtime = parent.runtime();
        let code = format!("for (let i = 0; i < {LINES}; i++) console.log('x'.repeat(99))");
        let stream = Some(Stream { stdout: Some(true), stderr: None });
        parent.send(Kind::ProcessStart, 10, &ProcessStart { stream, ..program(runtime, &code) });
        // Without credit the window fills, and the sidecar sends nothing more.
        let mut bytes = 0;
        let mut uncredited = 0;
        loop {
            let received = parent.receive();
            if received.kind != Kind::Output {
                let outcome: Outcome<'_> = received.read();
                assert_eq!((received.id, outcome.exit_code, outcome.stdout_truncated), (10, 0, false));
                assert_eq!(outcome.stdout.len(), bytes);
                break;
            }
            let output: Output<'_> = received.read();
            assert!(output.fd == 1 && output.data.len() <= MAX_OUTPUT_BYTES);
            bytes += output.data.len();
            uncredited += output.data.len();
            assert!(uncredited <= WINDOW, "{uncredited} bytes without credit");
            if uncredited == WINDOW {
                parent.assert_alive(); // The next frame is the reply of the ping, not output.
                parent.send(Kind::Credit, 10, &Credit { bytes: uncredited as u64 });
                uncredited = 0;
            }
        }
        assert_eq!(bytes, LINES * 100);
    }
}

#[test]
fn output_larger_than_a_frame_is_cut_at_the_end_of_the_frame() {
    let mut parent = Parent::new(&[]);
    let limits = Some(Numbers(vec![("outputBytes", 64 << 20)]));
    let create = RuntimeCreate { limits, ..RuntimeCreate::default() };
    let runtime = parent.ask(Kind::RuntimeCreate, 1, &create).read::<RuntimeCreated>().runtime;
    let code = "const line = 'x'.repeat((1 << 20) - 1); for (let i = 0; i < 33; i++) console.log(line)";
    let received = parent.ask(Kind::ProcessStart, 10, &program(runtime, code));
    let outcome = received.read::<Outcome<'_>>();
    assert_eq!((outcome.exit_code, outcome.stdout_truncated, outcome.stderr_truncated), (0, true, false));
    assert!((31 << 20..32 << 20).contains(&outcome.stdout.len()), "{} bytes", outcome.stdout.len());
    parent.assert_alive();
}
