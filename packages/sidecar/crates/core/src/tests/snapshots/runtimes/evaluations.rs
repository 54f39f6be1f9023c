//! Snapshots and rollbacks while something is asked of a resident program.

use super::*;
use std::collections::HashMap;

const LONG: &str = "console.log('begun'); globalThis.began = true; await new Promise((done) => setTimeout(done, 200)); \
                    globalThis.finished = true; console.log('ended')";

fn until_begun(runtime: &Runtime, runner: &mut Runner) -> u32 {
    runner.eval("globalThis.finished = false");
    let number = runner.begin(LONG);
    // It is under way when its first turn is over, for which a snapshot waits.
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(runtime.inner().counts().1, 1);
    number
}

#[test]
fn one_under_way_stays_with_the_original_and_ends_unheard_in_the_copy() {
    let core = core();
    let source = runtime(&core);
    let mut original = runner(&source);
    let number = until_begun(&source, &mut original);
    let snapshot = take(&source);
    let (_runtime, mut copied) = copy(&core, &snapshot).runner();
    // The next one waits for it, as always, and has its own output only.
    assert_eq!(copied.eval("console.log(began, finished)"), "true true");
    let outcome = original.ended(number);
    assert_eq!((text(&outcome.stdout).as_str(), code(&outcome)), ("begun\nended\n", None));
    assert!(copied.told.try_recv().is_err(), "nobody hears of it there");
}

#[test]
fn its_remaining_time_is_kept_in_the_copy() {
    let core = core();
    let source = runtime(&core);
    let original = runner(&source);
    let endless = "await new Promise((done) => setTimeout(done, 60_000))";
    let timeout = Some(Duration::from_millis(300));
    original.process.evaluate(9, endless.to_owned(), timeout, Streams::default(), Dispatch::Worker).expect("it lives");
    let snapshot = take(&source);
    let (_runtime, mut copied) = copy(&core, &snapshot).runner();
    assert_eq!(copied.eval("console.log('free')"), "free", "it is over when its time is");
    assert_eq!(code(&original.ended(9)), Some("ERR_TIMEOUT"));
}

#[test]
fn a_rollback_ends_those_of_now() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    runner.eval("globalThis.n = 1");
    let snapshot = take(&source);
    runner.eval("n = 2");
    let (current, queued) = (runner.begin("for (;;) {}"), runner.begin("console.log('never')"));
    std::thread::sleep(Duration::from_millis(20));
    let stale = runner.process.clone();
    let (programs, ears) = rollback(&source, &snapshot);
    assert!(ears.is_empty());
    assert_eq!(code(&runner.ended(current)), Some("ERR_ROLLED_BACK"));
    assert_eq!(code(&runner.ended(queued)), Some("ERR_ROLLED_BACK"));
    runner.follow(&programs);
    assert_eq!(runner.eval("console.log(n)"), "1");
    let asked = stale.evaluate(77, String::new(), None, Streams::default(), Dispatch::Worker);
    assert_eq!(asked, Err(Error::RolledBack), "the handle of before");
    families::until_left(&source, (1, 1, 0));
}

#[test]
fn a_rollback_to_the_middle_of_one_lets_it_end_unheard() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    let number = until_begun(&source, &mut runner);
    let snapshot = take(&source);
    assert_eq!(code(&runner.ended(number)), None);
    assert_eq!(runner.eval("console.log(finished)"), "true");
    let (programs, _) = rollback(&source, &snapshot);
    runner.follow(&programs);
    assert_eq!(runner.eval("console.log(finished)"), "true", "the one under way has ended before");
    assert!(runner.told.try_recv().is_err());
}

#[test]
fn who_is_not_in_the_snapshot_hears_that_it_was_rolled_back() {
    let core = core();
    let source = runtime(&core);
    let empty = take(&source);
    let (_process, told) = start(&source, exec("setTimeout(() => {}, 60_000)"), Dispatch::Worker);
    let mut runner = runner(&source);
    let (current, queued) = (runner.begin("for (;;) {}"), runner.begin("console.log('never')"));
    let (file, _) =
        source.files().open("/workspace/f", crate::OpenOptions { write: true, ..Default::default() }).expect("a file");
    let (programs, ears) = rollback(&source, &empty);
    assert!(programs.is_empty() && ears.is_empty());
    assert_eq!(code(&exited(&told)), Some("ERR_ROLLED_BACK"));
    assert_eq!(code(&runner.ended(current)), Some("ERR_ROLLED_BACK"));
    assert_eq!(code(&runner.ended(queued)), Some("ERR_ROLLED_BACK"), "also what had not begun");
    assert_eq!(code(&exited(&runner.told)), Some("ERR_ROLLED_BACK"));
    let asked = runner.process.evaluate(77, String::new(), None, Streams::default(), Dispatch::Worker);
    assert_eq!(asked, Err(Error::RolledBack));
    assert_eq!(source.files().write_open(file, 0, b"x"), Err(Error::RolledBack), "its open file is closed");
    assert_eq!(source.files().stat("/workspace/f", true).map_err(|error| error.code()), Err("ENOENT"));
    assert_eq!(text(&outcome(&source, exec("console.log(1)")).stdout), "1\n");
    families::until_left(&source, (0, 0, 0));
}

#[test]
fn who_was_held_goes_on_when_it_is_let_go() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    runner.eval("globalThis.n = 0; setInterval(() => n++, 1).unref()");
    let options = SnapshotOptions { hold: true, ..SnapshotOptions::default() };
    let (_, held) = try_take(&source, options.clone()).expect("a snapshot");
    let number = runner.begin("console.log('heard')");
    assert!(runner.told.recv_timeout(Duration::from_millis(50)).is_err(), "it rests");
    // Another snapshot waits for the first to let go, and no longer than its time.
    let brief = SnapshotOptions { timeout: Duration::from_millis(30), ..SnapshotOptions::default() };
    assert!(matches!(try_take(&source, brief), Err(Error::Busy { pid: 0, .. })));
    let (tell, told) = channel();
    source.snapshot(SnapshotOptions::default(), move |taken| tell.send(taken.map(drop)).expect("the test listens"));
    drop(held);
    assert_eq!(text(&runner.ended(number).stdout), "heard\n");
    assert_eq!(told.recv_timeout(PATIENCE).expect("an answer"), Ok(()));
    // What must end while it is held ends.
    let (_, held) = try_take(&source, options).expect("a snapshot");
    source.dispose();
    assert_eq!(code(&exited(&runner.told)), Some("ERR_RUNTIME_DISPOSED"));
    drop(held);
}

#[test]
fn who_vanished_goes_on_where_it_was_and_is_heard() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    let number = until_begun(&source, &mut runner);
    let queued = runner.begin("console.log('queued', finished)");
    let options = SnapshotOptions { hold: true, ..SnapshotOptions::default() };
    let (snapshot, held) = try_take(&source, options).expect("a snapshot");
    let (mut sinks, bygone) = held.expect("held").vanish();
    families::until_left(&source, (0, 0, 0));
    assert!(runner.told.try_recv().is_err(), "not a word");
    assert!(runner.process.evaluate(1, String::new(), None, Streams::default(), Dispatch::Worker).is_err());
    let resume = RestoreOptions { resume: Some(bygone), ..RestoreOptions::default() };
    let ((_runtime, programs), _) =
        core.restore(&snapshot, resume, &mut |info, _| sinks.remove(&info.lineage).expect("its sink")).expect("a copy");
    runner.follow(&programs);
    let outcome = runner.ended(number);
    assert_eq!((text(&outcome.stdout).as_str(), code(&outcome)), ("begun\nended\n", None));
    assert_eq!(text(&runner.ended(queued).stdout), "queued true\n");
    assert_eq!(runner.eval("console.log('as ever')"), "as ever");
}

#[test]
fn time_that_passes_while_it_is_held_is_not_its() {
    let core = core();
    let source = runtime(&core);
    let runner = runner(&source);
    let short = Duration::from_millis(100);
    let waits = "await new Promise((done) => setTimeout(done, 60_000))".to_owned();
    runner.process.evaluate(9, waits, Some(short), Streams::default(), Dispatch::Worker).expect("it lives");
    let (_snapshot, held) = try_take(&source, SnapshotOptions { hold: true, ..SnapshotOptions::default() }).expect("a snapshot");
    std::thread::sleep(short * 3);
    assert!(runner.told.try_recv().is_err(), "nobody was told that its time is over");
    drop(held);
    assert_eq!(code(&runner.ended(9)), Some("ERR_TIMEOUT"));
}

#[test]
fn one_that_is_canceled_before_its_copy_has_begun_never_goes_on() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    let number = runner.begin("await new Promise((done) => setTimeout(done, 60_000))");
    let queued = runner.begin("console.log('never')");
    let options = SnapshotOptions { hold: true, ..SnapshotOptions::default() };
    let (snapshot, held) = try_take(&source, options).expect("a snapshot");
    let (mut sinks, bygone) = held.expect("held").vanish();
    let resume = RestoreOptions { resume: Some(bygone), ..RestoreOptions::default() };
    let ((_runtime, programs), starting) =
        core.restore(&snapshot, resume, &mut |info, _| sinks.remove(&info.lineage).expect("its sink")).expect("a copy");
    runner.follow(&programs);
    runner.process.cancel_evaluation(number);
    runner.process.cancel_evaluation(queued);
    drop(starting);
    // The one under way ends when the copy runs; whether it had begun at the save is not said here.
    let mut ended = HashMap::new();
    while ended.len() < 2 {
        if let Told::Evaluated(id, outcome) = runner.told.recv_timeout(PATIENCE).expect("both end") {
            ended.insert(id, code(&outcome));
        }
    }
    assert_eq!(ended, HashMap::from([number, queued].map(|id| (id, Some("ERR_CANCELED")))));
    assert_eq!(runner.eval("console.log('as ever')"), "as ever");
}
