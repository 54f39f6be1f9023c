//! A panic ends the program, the call or the runtime that it happens in, and nothing else. The
//! places that panic are in `crates/panics/src/stand_in.rs`.

use super::isolation::assert_all_slots_pristine;
use super::*;
use crate::SnapshotOptions;
use coldframe_error::Ended;

/// Panics in a system call.
const CALL: &str = "import fs from 'node:fs'; fs.accessSync('/panic-at:guest-call');";
/// Panics in a system call that changes the files.
const CHANGE: &str = "import fs from 'node:fs'; fs.mkdirSync('/panic-at:file-lock');";
/// Panics in a computation, while the program waits for the computation.
const COMPUTATION: &str = "import c from 'node:crypto'; c.pbkdf2Sync('panic-at:crypto-job', 's', 1, 4, 'sha1');";
/// Panics in a computation, while the program does other work.
const BACKGROUND: &str = "import c from 'node:crypto'; c.pbkdf2('panic-at:crypto-job', 's', 1, 4, 'sha1', () => {});";

const EACH: [Dispatch; 2] = [Dispatch::Worker, Dispatch::Inline(Duration::from_millis(5))];

fn ended(error: Option<&Error>) -> Option<Ended> {
    match error {
        Some(Error::Internal { ended, .. }) => Some(*ended),
        _ => None,
    }
}

fn assert_runs(runtime: &Runtime) {
    let outcome = outcome(runtime, exec("console.log('runs')"));
    assert_eq!((text(&outcome.stdout).as_str(), outcome.exit_code), ("runs\n", 0));
}

/// Starts a program that runs until it is ended.
fn waiting(runtime: &Runtime) -> (Process, Receiver<SinkEvent>) {
    start(runtime, exec("console.log(1); setInterval(() => {}, 1_000)"), Dispatch::Worker)
}

#[test]
fn a_panic_in_a_call_of_a_program_ends_the_program() {
    let core = core();
    let (runtime, other) = (runtime(&core), runtime(&core));
    let (beside, events) = waiting(&runtime);
    for source in [CALL, COMPUTATION, BACKGROUND] {
        for dispatch in EACH {
            let outcome = exited(&start(&runtime, exec(source), dispatch).1);
            assert_eq!(ended(outcome.failure.as_ref()), Some(Ended::Program), "{source}: {outcome:?}");
            assert_eq!(outcome.exit_code, 137);
        }
    }
    assert_runs(&runtime);
    assert_runs(&other);
    assert!(!beside.is_ending(), "the other program of the runtime continues");
    beside.cancel();
    assert_eq!(code(&exited(&events)), Some("ERR_CANCELED"));
    assert!(runtime.contain(|runtime| runtime.files().list("/")).is_ok());
}

#[test]
fn a_panic_in_a_change_ends_the_runtime() {
    for dispatch in EACH {
        let core = core();
        let (runtime, other) = (runtime(&core), runtime(&core));
        let (_beside, events) = waiting(&runtime);
        let (_process, failing) = start(&runtime, exec(CHANGE), dispatch);
        for events in [&events, &failing] {
            assert_eq!(ended(exited(events).failure.as_ref()), Some(Ended::Runtime));
        }
        let refused = runtime.contain(|runtime| runtime.files().list("/"));
        assert_eq!(ended(refused.err().as_ref()), Some(Ended::Runtime));
        let (sink, _events) = TestSink::new();
        let refused = runtime.contain(|runtime| runtime.start(exec("1"), sink, Dispatch::Worker));
        assert_eq!(ended(refused.err().as_ref()), Some(Ended::Runtime));
        let (send, taken) = channel();
        runtime.snapshot(SnapshotOptions::default(), move |result| send.send(result.err()).expect("the test receives"));
        let refused = taken.recv_timeout(STEP_TIMEOUT).expect("the request is completed");
        assert_eq!(ended(refused.as_ref()), Some(Ended::Runtime));
        assert_runs(&other);
        runtime.dispose();
        drop((runtime, other));
        // The end of a program is reported before the program leaves its runtime.
        while core.resources().runtimes > 0 {
            std::thread::yield_now();
        }
        assert_eq!((core.resources().processes, core.resources().buffered_bytes), (0, 0));
    }
}

#[test]
fn a_panic_in_a_call_of_the_embedder_ends_the_call_or_the_runtime() {
    let core = core();
    let runtime = runtime(&core);
    let (_beside, events) = waiting(&runtime);
    let failed = runtime.contain(|runtime| runtime.files().stat("/panic-at:owner-request", true));
    assert_eq!(ended(failed.err().as_ref()), Some(Ended::Request));
    assert_runs(&runtime);
    let failed = runtime.contain(|runtime| runtime.files().mkdir("/panic-at:file-lock", false));
    assert_eq!(ended(failed.err().as_ref()), Some(Ended::Runtime));
    assert_eq!(ended(exited(&events).failure.as_ref()), Some(Ended::Runtime));
    runtime.notify(|_| panic!("a broken runtime receives no notice"));
    let other = super::runtime(&core);
    other.notify(|_| panic!("a defect"));
    let refused = other.contain(|runtime| runtime.files().list("/"));
    assert_eq!(ended(refused.err().as_ref()), Some(Ended::Runtime), "nothing reports the lost notice");
}

#[test]
fn an_evaluation_is_answered_after_a_panic_of_its_runner() {
    let core = core();
    let runtime = runtime(&core);
    let (process, events) = start(&runtime, ProcessOptions { mode: Mode::Resident, ..exec("") }, Dispatch::Worker);
    let evaluate = |number, code: &str| {
        let (settings, streams) = (EvaluationSettings::default(), Streams::default());
        let code = code.to_owned();
        process.contain(|process| process.evaluate(evaluation(number), code, settings, None, streams, Dispatch::Worker))
    };
    evaluate(1, "(await import('node:fs')).accessSync('/panic-at:guest-call')").expect("queued");
    let mut evaluated = Vec::new();
    loop {
        match events.recv_timeout(STEP_TIMEOUT).expect("the runner must end") {
            SinkEvent::Evaluated(number, outcome) => evaluated.push((number, ended(outcome.failure.as_ref()))),
            SinkEvent::Exited(outcome) => break assert_eq!(ended(outcome.failure.as_ref()), Some(Ended::Program)),
            SinkEvent::Output(..) | SinkEvent::Ready => {}
        }
    }
    assert_eq!(evaluated, [(1, Some(Ended::Program))]);
    assert_eq!(ended(evaluate(2, "1").err().as_ref()), Some(Ended::Program));
}

#[test]
fn every_slot_equals_its_image_after_panics() {
    let core = core();
    for round in 0..4 {
        for source in [CALL, CHANGE, COMPUTATION, BACKGROUND] {
            let hostile = format!("globalThis.keep = new Uint8Array(8 << 20).fill(7); {source}");
            for dispatch in EACH {
                let runtime = runtime(&core);
                assert!(ended(exited(&start(&runtime, exec(&hostile), dispatch).1).failure.as_ref()).is_some(), "round {round}");
                runtime.dispose();
            }
        }
    }
    // The end of a program is reported before its memory is freed, so the test waits for a slot.
    while core.resources().warm_slots == 0 {
        std::thread::yield_now();
    }
    core.shutdown();
    assert_all_slots_pristine(&core);
}
