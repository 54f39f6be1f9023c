//! Tests of resident programs: state persists, one snippet runs at a time, and ending a snippet
//! does not end the program.

use super::*;
use crate::tests::evaluation;

fn resident(runtime: &Runtime) -> (Process, Receiver<SinkEvent>) {
    let (process, events) = start(runtime, ProcessOptions { mode: Mode::Resident, ..exec("") }, Dispatch::Worker);
    assert!(matches!(events.recv_timeout(STEP_TIMEOUT), Ok(SinkEvent::Ready)), "a runner reports that it is ready");
    (process, events)
}

fn evaluated(events: &Receiver<SinkEvent>, id: u32) -> Outcome {
    match events.recv_timeout(STEP_TIMEOUT).expect("the evaluation must end") {
        SinkEvent::Evaluated(done, outcome) if done == id => outcome,
        other => panic!("waited for evaluation {id}, received {other:?}"),
    }
}

fn evaluate(
    process: &Process,
    events: &Receiver<SinkEvent>,
    id: u32,
    code: &str,
    timeout: Option<u64>,
    dispatch: Dispatch,
) -> Outcome {
    let timeout = timeout.map(Duration::from_millis);
    process
        .evaluate(evaluation(id), code.to_owned(), EvaluationSettings::default(), timeout, Streams::default(), dispatch)
        .expect("evaluate");
    evaluated(events, id)
}

#[test]
fn a_runner_keeps_its_state_and_survives_failures() {
    let core = core();
    let (process, events) = resident(&runtime(&core));
    let mut id = 0;
    let never = evaluate(&process, &events, 100, "await new Promise(() => {})", None, Dispatch::Worker);
    assert_eq!(never.exit_code, 13, "a promise that can never settle ends as in Node");
    for dispatch in [Dispatch::Worker, Dispatch::Inline(Duration::from_secs(1))] {
        let mut run = |code: &str, timeout| {
            id += 1;
            evaluate(&process, &events, id, code, timeout, dispatch)
        };
        assert_eq!(run("globalThis.n = 1", None).exit_code, 0);
        assert_eq!(text(&run("await null; console.log(++n)", None).stdout), "2\n");
        let thrown = run("throw new Error('boom')", None);
        assert_eq!((thrown.exit_code, text(&thrown.stderr).contains("boom")), (1, true));
        let spun = run("for (;;) {}", Some(20));
        assert_eq!((code(&spun), spun.exit_code), (Some("ERR_TIMEOUT"), 124));
        let waited = run("await new Promise((done) => setTimeout(done, 60_000))", Some(20));
        assert_eq!(code(&waited), Some("ERR_TIMEOUT"));
        assert_eq!(text(&run("console.log(++n)", None).stdout), "3\n");
    }
}

#[test]
fn snippets_run_in_order_and_can_be_cancelled() {
    let core = core();
    let (process, events) = resident(&runtime(&core));
    let evaluate_snippet = |id: u32, code: &str| {
        process
            .evaluate(evaluation(id), code.to_owned(), EvaluationSettings::default(), None, Streams::default(), Dispatch::Worker)
            .expect("evaluate")
    };
    evaluate_snippet(1, "await new Promise((done) => setTimeout(done, 50)); console.log(1)");
    evaluate_snippet(2, "console.log(2)");
    evaluate_snippet(3, "console.log(3)");
    process.cancel_evaluation(evaluation(2));
    assert_eq!(code(&evaluated(&events, 2)), Some("ERR_CANCELED"));
    assert_eq!(text(&evaluated(&events, 1).stdout), "1\n");
    assert_eq!(text(&evaluated(&events, 3).stdout), "3\n");
}

#[test]
fn a_timeout_includes_the_time_in_the_queue() {
    let core = core();
    let limits = crate::Limits { wall_ms: 60_000, ..crate::Limits::default() };
    let runtime = core.create_runtime(RuntimeOptions { limits, ..RuntimeOptions::default() }).expect("a runtime");
    let (process, events) = resident(&runtime);
    let evaluate_snippet = |id: u32, code: &str, timeout: Option<u64>| {
        let timeout = timeout.map(Duration::from_millis);
        process
            .evaluate(
                evaluation(id),
                code.to_owned(),
                EvaluationSettings::default(),
                timeout,
                Streams::default(),
                Dispatch::Worker,
            )
            .expect("evaluate")
    };
    evaluate_snippet(1, "await new Promise((done) => setTimeout(done, 60_000))", None);
    evaluate_snippet(2, "console.log('never')", Some(20));
    evaluate_snippet(3, "console.log(3)", None);
    evaluate_snippet(4, "console.log(4); await new Promise((done) => setTimeout(done, 60_000))", Some(1_000));
    let late = evaluated(&events, 2);
    assert_eq!((code(&late), late.exit_code, text(&late.stdout)), (Some("ERR_TIMEOUT"), 124, String::new()));
    process.cancel_evaluation(evaluation(1));
    assert_eq!(code(&evaluated(&events, 1)), Some("ERR_CANCELED"));
    assert_eq!(text(&evaluated(&events, 3).stdout), "3\n", "without a timeout, the limit starts with the snippet");
    let interrupted = evaluated(&events, 4);
    assert_eq!((code(&interrupted), text(&interrupted.stdout)), (Some("ERR_TIMEOUT"), "4\n".to_owned()));
    assert_eq!(text(&evaluate(&process, &events, 5, "console.log(5)", None, Dispatch::Worker).stdout), "5\n");
}

#[test]
fn exit_ends_the_program_and_the_queued_snippets() {
    let core = core();
    let (process, events) = resident(&runtime(&core));
    let evaluate_snippet = |id: u32, code: &str| {
        process.evaluate(
            evaluation(id),
            code.to_owned(),
            EvaluationSettings::default(),
            None,
            Streams::default(),
            Dispatch::Worker,
        )
    };
    evaluate_snippet(1, "await new Promise((done) => setTimeout(done, 30)); process.exit(7)").expect("evaluate");
    evaluate_snippet(2, "console.log('never')").expect("evaluate");
    assert_eq!(evaluated(&events, 1).exit_code, 7);
    assert_eq!(code(&evaluated(&events, 2)), Some("ERR_RUNNER_EXITED"));
    assert_eq!(exited(&events).exit_code, 7);
    assert_eq!(evaluate_snippet(3, ""), Err(Error::RunnerExited { exit_code: 7 }));
}
