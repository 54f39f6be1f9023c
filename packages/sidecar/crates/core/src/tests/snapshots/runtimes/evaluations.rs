//! Tests of snapshots and rollbacks while a runner evaluates snippets.

use super::*;
use crate::tests::evaluation;
use std::collections::HashMap;

const LONG: &str = "console.log('begun'); globalThis.began = true; await new Promise((done) => setTimeout(done, 200)); \
                    globalThis.finished = true; console.log('ended')";

fn until_begun(runtime: &Runtime, runner: &mut Runner) -> u32 {
    runner.eval("globalThis.finished = false");
    let number = runner.begin(LONG);
    // The snippet is running after its first turn. A snapshot waits for that turn.
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(runtime.inner().counts().1, 1);
    number
}

#[test]
fn a_running_evaluation_is_reported_by_the_original_only() {
    let core = core();
    let source = runtime(&core);
    let mut original = runner(&source);
    let number = until_begun(&source, &mut original);
    let snapshot = take(&source);
    let (_runtime, mut copied) = copy(&core, &snapshot).runner();
    // The next snippet waits for the first snippet, and its output does not contain output of the
    // first snippet.
    assert_eq!(copied.eval("console.log(began, finished)"), "true true");
    let outcome = original.ended(number);
    assert_eq!((text(&outcome.stdout).as_str(), code(&outcome)), ("begun\nended\n", None));
    assert!(copied.events.try_recv().is_err(), "the copy does not report the end");
}

#[test]
fn a_restored_evaluation_keeps_its_remaining_time() {
    let core = core();
    let source = runtime(&core);
    let original = runner(&source);
    let endless = "await new Promise((done) => setTimeout(done, 60_000))";
    let timeout = Some(Duration::from_millis(300));
    original
        .process
        .evaluate(evaluation(9), endless.to_owned(), EvaluationSettings::default(), timeout, Streams::default(), Dispatch::Worker)
        .expect("a live program");
    let snapshot = take(&source);
    let (_runtime, mut copied) = copy(&core, &snapshot).runner();
    assert_eq!(copied.eval("console.log('free')"), "free", "the evaluation ends at its timeout");
    assert_eq!(code(&original.ended(9)), Some("ERR_TIMEOUT"));
}

#[test]
fn a_rollback_ends_the_present_evaluations() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    runner.eval("globalThis.n = 1");
    let snapshot = take(&source);
    runner.eval("n = 2");
    let (current, queued) = (runner.begin("for (;;) {}"), runner.begin("console.log('never')"));
    std::thread::sleep(Duration::from_millis(20));
    let stale = runner.process.clone();
    let (programs, sinks) = rollback(&source, &snapshot);
    assert!(sinks.is_empty());
    assert_eq!(code(&runner.ended(current)), Some("ERR_ROLLED_BACK"));
    assert_eq!(code(&runner.ended(queued)), Some("ERR_ROLLED_BACK"));
    runner.continue_with(&programs);
    assert_eq!(runner.eval("console.log(n)"), "1");
    let asked =
        stale.evaluate(evaluation(77), String::new(), EvaluationSettings::default(), None, Streams::default(), Dispatch::Worker);
    assert_eq!(asked, Err(Error::RolledBack), "a handle of the state before the rollback");
    families::until_left(&source, (1, 1, 0));
}

#[test]
fn an_evaluation_that_a_rollback_restored_ends_without_a_report() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    let number = until_begun(&source, &mut runner);
    let snapshot = take(&source);
    assert_eq!(code(&runner.ended(number)), None);
    assert_eq!(runner.eval("console.log(finished)"), "true");
    let (programs, _) = rollback(&source, &snapshot);
    runner.continue_with(&programs);
    assert_eq!(runner.eval("console.log(finished)"), "true", "the running evaluation has ended");
    assert!(runner.events.try_recv().is_err());
}

#[test]
fn requests_that_are_not_in_the_snapshot_fail_with_rolled_back() {
    let core = core();
    let source = runtime(&core);
    let empty = take(&source);
    let (_process, events) = start(&source, exec("setTimeout(() => {}, 60_000)"), Dispatch::Worker);
    let mut runner = runner(&source);
    let (current, queued) = (runner.begin("for (;;) {}"), runner.begin("console.log('never')"));
    let (file, _) =
        source.files().open("/workspace/f", crate::OpenOptions { write: true, ..Default::default() }).expect("a file");
    let (programs, sinks) = rollback(&source, &empty);
    assert!(programs.is_empty() && sinks.is_empty());
    assert_eq!(code(&exited(&events)), Some("ERR_ROLLED_BACK"));
    assert_eq!(code(&runner.ended(current)), Some("ERR_ROLLED_BACK"));
    assert_eq!(code(&runner.ended(queued)), Some("ERR_ROLLED_BACK"), "a queued evaluation fails too");
    assert_eq!(code(&exited(&runner.events)), Some("ERR_ROLLED_BACK"));
    let asked = runner.process.evaluate(
        evaluation(77),
        String::new(),
        EvaluationSettings::default(),
        None,
        Streams::default(),
        Dispatch::Worker,
    );
    assert_eq!(asked, Err(Error::RolledBack));
    assert_eq!(source.files().write_open(file, 0, b"x"), Err(Error::RolledBack), "its open file is closed");
    assert_eq!(source.files().stat("/workspace/f", true).map_err(|error| error.code()), Err("ENOENT"));
    assert_eq!(text(&outcome(&source, exec("console.log(1)")).stdout), "1\n");
    families::until_left(&source, (0, 0, 0));
}

#[test]
fn a_held_program_continues_when_it_is_released() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    runner.eval("globalThis.n = 0; setInterval(() => n++, 1).unref()");
    let options = SnapshotOptions { hold: true, ..SnapshotOptions::default() };
    let (_, held) = try_take(&source, options.clone()).expect("a snapshot");
    let number = runner.begin("console.log('heard')");
    assert!(runner.events.recv_timeout(Duration::from_millis(50)).is_err(), "the program is held");
    // A second snapshot waits until the first snapshot releases the programs, but not longer than
    // its own timeout.
    let brief = SnapshotOptions { timeout: Duration::from_millis(30), ..SnapshotOptions::default() };
    assert!(matches!(try_take(&source, brief), Err(Error::SnapshotInProgress { .. })));
    let (sender, events) = channel();
    source.snapshot(SnapshotOptions::default(), move |taken| sender.send(taken.map(drop)).expect("the test waits"));
    drop(held);
    assert_eq!(text(&runner.ended(number).stdout), "heard\n");
    assert_eq!(events.recv_timeout(STEP_TIMEOUT).expect("a result"), Ok(()));
    // A held program ends when its runtime is disposed.
    let (_, held) = try_take(&source, options).expect("a snapshot");
    source.dispose();
    assert_eq!(code(&exited(&runner.events)), Some("ERR_RUNTIME_DISPOSED"));
    drop(held);
}

#[test]
fn a_program_restored_with_its_old_sink_continues_and_reports() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    let number = until_begun(&source, &mut runner);
    let queued = runner.begin("console.log('queued', finished)");
    let options = SnapshotOptions { hold: true, ..SnapshotOptions::default() };
    let (snapshot, held) = try_take(&source, options).expect("a snapshot");
    let (mut sinks, carryover) = held.expect("held").into_sinks();
    families::until_left(&source, (0, 0, 0));
    assert!(runner.events.try_recv().is_err(), "nothing is reported while the program is held");
    assert!(
        runner
            .process
            .evaluate(evaluation(1), String::new(), EvaluationSettings::default(), None, Streams::default(), Dispatch::Worker)
            .is_err()
    );
    let resume = RestoreOptions { resume: Some(carryover), ..RestoreOptions::default() };
    let ((_runtime, programs), _) =
        core.restore(&snapshot, resume, &mut |info, _| sinks.remove(&info.lineage).expect("its sink")).expect("a copy");
    runner.continue_with(&programs);
    let outcome = runner.ended(number);
    assert_eq!((text(&outcome.stdout).as_str(), code(&outcome)), ("begun\nended\n", None));
    assert_eq!(text(&runner.ended(queued).stdout), "queued true\n");
    assert_eq!(runner.eval("console.log('as before')"), "as before");
}

#[test]
fn time_while_held_does_not_count_for_a_timeout() {
    let core = core();
    let source = runtime(&core);
    let runner = runner(&source);
    let short = Duration::from_millis(100);
    let waits = "await new Promise((done) => setTimeout(done, 60_000))".to_owned();
    runner
        .process
        .evaluate(evaluation(9), waits, EvaluationSettings::default(), Some(short), Streams::default(), Dispatch::Worker)
        .expect("a live program");
    let (_snapshot, held) = try_take(&source, SnapshotOptions { hold: true, ..SnapshotOptions::default() }).expect("a snapshot");
    std::thread::sleep(short * 3);
    assert!(runner.events.try_recv().is_err(), "the timeout has not fired");
    drop(held);
    assert_eq!(code(&runner.ended(9)), Some("ERR_TIMEOUT"));
}

#[test]
fn an_evaluation_cancelled_before_its_restored_program_starts_never_continues() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    let number = runner.begin("await new Promise((done) => setTimeout(done, 60_000))");
    let queued = runner.begin("console.log('never')");
    let options = SnapshotOptions { hold: true, ..SnapshotOptions::default() };
    let (snapshot, held) = try_take(&source, options).expect("a snapshot");
    let (mut sinks, carryover) = held.expect("held").into_sinks();
    let resume = RestoreOptions { resume: Some(carryover), ..RestoreOptions::default() };
    let ((_runtime, programs), starting) =
        core.restore(&snapshot, resume, &mut |info, _| sinks.remove(&info.lineage).expect("its sink")).expect("a copy");
    runner.continue_with(&programs);
    runner.process.cancel_evaluation(evaluation(number));
    runner.process.cancel_evaluation(evaluation(queued));
    drop(starting);
    // The running snippet ends after the restore. The snapshot may precede the start of the
    // snippet, so only the error code of the outcome is checked.
    let mut ended = HashMap::new();
    while ended.len() < 2 {
        if let SinkEvent::Evaluated(id, outcome) = runner.events.recv_timeout(STEP_TIMEOUT).expect("both evaluations end") {
            ended.insert(id, code(&outcome));
        }
    }
    assert_eq!(ended, HashMap::from([number, queued].map(|id| (id, Some("ERR_CANCELED")))));
    assert_eq!(runner.eval("console.log('as before')"), "as before");
}
