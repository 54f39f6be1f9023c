//! Tests of exhausted resources: an error names the exhausted resource of the sidecar's process,
//! and all runtimes stay usable.

use super::*;
use crate::tests::evaluation;
use coldframe_memory::{Budget, MAPPINGS_PER_VM, Policy};

fn small(mappings: u64, descriptors: u64) -> Core {
    let options = CoreOptions { warm_slots: 0, ..options() };
    Core::open_within(&options, Budget::with(mappings, descriptors, Policy::default())).expect("a core")
}

/// Returns the resource that the error names.
fn missing_resource<T>(result: Result<T, Error>) -> &'static str {
    match result.err() {
        Some(Error::ResourceExhausted { resource, .. }) => resource,
        other => panic!("a refusal for a missing resource is expected: {other:?}"),
    }
}

fn assert_evaluates(runner: &mut Runner) {
    assert_eq!(runner.eval("globalThis.n = (globalThis.n ?? 0) + 1; console.log(n > 0)"), "true");
}

#[test]
fn a_runtime_beyond_the_limit_is_refused() {
    let core = Core::open(&CoreOptions { max_runtimes: 3, ..options() }).expect("a core");
    let create = || core.create_runtime(RuntimeOptions::default());
    let first = create().expect("a runtime");
    // A runtime that cannot be made is not counted.
    for _ in 0..5 {
        let refused = core.create_runtime(RuntimeOptions { cwd: Some("relative".to_owned()), ..RuntimeOptions::default() });
        assert!(refused.is_err_and(|error| error.code() != "ERR_RESOURCE_EXHAUSTED"));
    }
    let mut resident = runner(&first);
    let snapshot = take(&first);
    let (second, third) = (copy(&core, &snapshot), create().expect("a third"));
    assert_eq!(missing_resource(create()), "runtimes");
    assert_eq!(missing_resource(try_copy(&core, &snapshot, RestoreOptions::default())), "runtimes");
    assert_eq!(core.resources().runtimes, 3);
    assert_evaluates(&mut resident);
    third.dispose();
    drop(third);
    let (_runtime, mut other) = copy(&core, &snapshot).runner();
    assert_evaluates(&mut other);
    assert_evaluates(&mut second.runner().1);
}

#[test]
fn programs_and_copies_beyond_the_mappings_are_refused() {
    // The budget has mappings for thirteen programs.
    let core = small(13 * MAPPINGS_PER_VM, 100);
    let runtime = core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    let mut residents: Vec<_> = (0..13).map(|_| runner(&runtime)).collect();
    let one_more = outcome(&runtime, exec("console.log(1)"));
    assert_eq!(code(&one_more), Some("ERR_RESOURCE_EXHAUSTED"), "{one_more:?}");
    // A runner that could not be made fails every evaluation with the reason.
    let (process, events) = start(&runtime, ProcessOptions { mode: Mode::Resident, ..exec("") }, Dispatch::Worker);
    let early = process.evaluate(
        evaluation(1),
        "1".to_owned(),
        EvaluationSettings::default(),
        None,
        Streams::default(),
        Dispatch::Worker,
    );
    assert_eq!(code(&exited(&events)), Some("ERR_RESOURCE_EXHAUSTED"));
    let late = process.evaluate(
        evaluation(2),
        "1".to_owned(),
        EvaluationSettings::default(),
        None,
        Streams::default(),
        Dispatch::Worker,
    );
    for refused in [early, late].into_iter().filter_map(Result::err) {
        assert_eq!(refused.code(), "ERR_RESOURCE_EXHAUSTED");
    }
    residents.iter_mut().for_each(assert_evaluates);
    let snapshot = take(&runtime);
    assert!(matches!(
        missing_resource(try_copy(&core, &snapshot, RestoreOptions::default())),
        "memory mappings" | "memory reservations"
    ));
    residents.iter_mut().for_each(assert_evaluates);
    // A rollback needs mappings for the old and the new program at the same time.
    let refused = runtime.rollback(&snapshot, &mut |_, old| old.expect("every program has a sink"));
    assert!(matches!(missing_resource(refused), "memory mappings" | "memory reservations"));
    residents.iter_mut().for_each(assert_evaluates);
    for resident in residents.drain(1..) {
        resident.process.cancel();
        exited(&resident.events);
    }
    let snapshot = take(&runtime);
    let until = std::time::Instant::now() + STEP_TIMEOUT;
    // The memory of an ended program is freed shortly after its end is reported.
    let copied = loop {
        match try_copy(&core, &snapshot, RestoreOptions::default()) {
            Ok(copied) => break copied,
            Err(error) => assert!(std::time::Instant::now() < until, "{error}"),
        }
    };
    assert_evaluates(&mut copied.runner().1);
    assert_evaluates(&mut residents[0]);
}

#[test]
fn snapshots_beyond_the_descriptors_are_refused() {
    let core = small(1_000, 4);
    let runtime = core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    let mut resident = runner(&runtime);
    let mut taken = Vec::new();
    let refused = loop {
        assert_evaluates(&mut resident);
        match try_take(&runtime, SnapshotOptions::default()) {
            Ok((snapshot, _)) => taken.push(snapshot),
            Err(error) => break error,
        }
        assert!(taken.len() < 10, "descriptors have a limit");
    };
    assert_eq!(refused, Error::ResourceExhausted { resource: "memory descriptors", limit: 4 });
    assert_evaluates(&mut resident);
    // Clones need no descriptors. If no descriptor is left for a gathered file, a frequently cloned
    // image stays mapped in its runs.
    let mut copies: Vec<_> = (0..4).map(|_| copy(&core, &taken[0]).runner()).collect();
    copies.iter_mut().for_each(|(_, runner)| assert_evaluates(runner));
    drop(taken.pop());
    taken.push(take(&runtime));
    assert_evaluates(&mut copy(&core, taken.last().expect("one")).runner().1);
}
