//! What a process has no more of is refused by name, and everything is as usable afterwards as before.

use super::*;
use crate::memory::{Budget, MAPPINGS_PER_VM, Policy};

fn small(mappings: u64, descriptors: u64) -> Core {
    let options = CoreOptions { warm_slots: 0, ..options() };
    Core::open_within(&options, Budget::with(mappings, descriptors, Policy::default())).expect("a core")
}

/// Which resource there is no more of.
fn lacks<T>(result: Result<T, Error>) -> &'static str {
    match result.err() {
        Some(Error::ResourceExhausted { resource, .. }) => resource,
        other => panic!("it must be refused for want of something: {other:?}"),
    }
}

fn answers(runner: &mut Runner) {
    assert_eq!(runner.eval("globalThis.n = (globalThis.n ?? 0) + 1; console.log(n > 0)"), "true");
}

#[test]
fn one_runtime_more_than_there_may_be() {
    let core = Core::open(&CoreOptions { max_runtimes: 3, ..options() }).expect("a core");
    let create = || core.create_runtime(RuntimeOptions::default());
    let first = create().expect("a runtime");
    // One that cannot be made takes no place.
    for _ in 0..5 {
        let refused = core.create_runtime(RuntimeOptions { cwd: Some("relative".to_owned()), ..RuntimeOptions::default() });
        assert!(refused.is_err_and(|error| error.code() != "ERR_RESOURCE_EXHAUSTED"));
    }
    let mut resident = runner(&first);
    let snapshot = take(&first);
    let (second, third) = (copy(&core, &snapshot), create().expect("a third"));
    assert_eq!(lacks(create()), "runtimes");
    assert_eq!(lacks(try_copy(&core, &snapshot, RestoreOptions::default())), "runtimes");
    assert_eq!(core.resources().runtimes, 3);
    answers(&mut resident);
    third.dispose();
    drop(third);
    let (_runtime, mut other) = copy(&core, &snapshot).runner();
    answers(&mut other);
    answers(&mut second.runner().1);
}

#[test]
fn more_programs_and_copies_than_there_are_mappings_for() {
    // Enough for one and its copy of many runs.
    let core = small(13 * MAPPINGS_PER_VM, 100);
    let runtime = core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    let mut residents: Vec<_> = (0..13).map(|_| runner(&runtime)).collect();
    let one_more = outcome(&runtime, exec("console.log(1)"));
    assert_eq!(code(&one_more), Some("ERR_RESOURCE_EXHAUSTED"), "{one_more:?}");
    // A runner that could not be made says why, whenever it is asked something.
    let (process, told) = start(&runtime, ProcessOptions { mode: Mode::Resident, ..exec("") }, Dispatch::Worker);
    let early = process.evaluate(1, "1".to_owned(), None, Streams::default(), Dispatch::Worker);
    assert_eq!(code(&exited(&told)), Some("ERR_RESOURCE_EXHAUSTED"));
    let late = process.evaluate(2, "1".to_owned(), None, Streams::default(), Dispatch::Worker);
    for refused in [early, late].into_iter().filter_map(Result::err) {
        assert_eq!(refused.code(), "ERR_RESOURCE_EXHAUSTED");
    }
    residents.iter_mut().for_each(answers);
    let snapshot = take(&runtime);
    assert!(matches!(lacks(try_copy(&core, &snapshot, RestoreOptions::default())), "memory mappings" | "memory reservations"));
    residents.iter_mut().for_each(answers);
    // A rollback needs room for both for a moment.
    let refused = runtime.rollback(&snapshot, &mut |_, old| old.expect("they have ears"));
    assert!(matches!(lacks(refused), "memory mappings" | "memory reservations"));
    residents.iter_mut().for_each(answers);
    for resident in residents.drain(1..) {
        resident.process.cancel();
        exited(&resident.told);
    }
    let snapshot = take(&runtime);
    let until = std::time::Instant::now() + PATIENCE;
    // The memory of one that has ended is given back a moment after its end was told.
    let copied = loop {
        match try_copy(&core, &snapshot, RestoreOptions::default()) {
            Ok(copied) => break copied,
            Err(error) => assert!(std::time::Instant::now() < until, "{error}"),
        }
    };
    answers(&mut copied.runner().1);
    answers(&mut residents[0]);
}

#[test]
fn more_snapshots_than_there_are_descriptors_for() {
    let core = small(1_000, 4);
    let runtime = core.create_runtime(RuntimeOptions::default()).expect("a runtime");
    let mut resident = runner(&runtime);
    let mut taken = Vec::new();
    let refused = loop {
        answers(&mut resident);
        match try_take(&runtime, SnapshotOptions::default()) {
            Ok((snapshot, _)) => taken.push(snapshot),
            Err(error) => break error,
        }
        assert!(taken.len() < 10, "descriptors have a limit");
    };
    assert_eq!(refused, Error::ResourceExhausted { resource: "memory descriptors", limit: 4 });
    answers(&mut resident);
    // Copies need none: what is cloned often is mapped as it is when there is none for a file of its own.
    let mut copies: Vec<_> = (0..4).map(|_| copy(&core, &taken[0]).runner()).collect();
    copies.iter_mut().for_each(|(_, runner)| answers(runner));
    drop(taken.pop());
    taken.push(take(&runtime));
    answers(&mut copy(&core, taken.last().expect("one")).runner().1);
}
