//! Tests of snapshots and rollbacks of runtimes with resident programs.

use super::*;
use std::collections::HashSet;

const STATE: &str = r"
    globalThis.count = 41;
    globalThis.data = Array.from({ length: 1000 }, (_, i) => ({ i }));
    const { readFileSync, writeFileSync } = await import('node:fs');
    writeFileSync('/workspace/state', 'one');
    globalThis.state = () => console.log(count, data[999].i, readFileSync('/workspace/state', 'utf8'));
    const { randomUUID } = await import('node:crypto');
    globalThis.draw = () => console.log(Math.random(), randomUUID());
    draw();
";

#[test]
fn a_copy_has_memory_and_files_of_its_own() {
    let core = core();
    let source = runtime(&core);
    let mut original = runner(&source);
    original.eval(STATE);
    let snapshot = take(&source);
    let info = snapshot.info().clone();
    assert_eq!((info.programs, info.parent, info.image.as_str()), (1, None, core.image_id()));
    assert_eq!(original.eval("state()"), "41 999 one", "the original continues");
    original.eval("count = 0; (await import('node:fs')).writeFileSync('/workspace/state', 'two')");
    let (copied, mut runner) = copy(&core, &snapshot).runner();
    assert_eq!(runner.eval("state()"), "41 999 one");
    runner.eval("count++; (await import('node:fs')).writeFileSync('/workspace/state', 'three')");
    assert_eq!(original.eval("state()"), "0 999 two");
    assert_eq!(runner.eval("state()"), "42 999 three");
    assert_eq!(runner.process.info(), original.process.info(), "the program's description is equal");
    let next = take(&copied);
    assert_eq!(next.info().parent.as_deref(), Some(snapshot.info().id.as_str()));
    assert_ne!(next.info().id, snapshot.info().id);
}

#[test]
fn copies_share_no_random_number_and_are_notified_of_the_restore() {
    let core = core();
    let source = runtime(&core);
    let mut original = runner(&source);
    original.eval(STATE);
    original.eval("process.on('coldframe:restore', () => globalThis.heard = (globalThis.heard ?? 0) + 1)");
    let snapshot = take(&source);
    let mut drawn = HashSet::new();
    let mut copies: Vec<_> = (0..20).map(|_| copy(&core, &snapshot).runner()).collect();
    for (_runtime, runner) in &mut copies {
        assert_eq!(runner.eval("console.log(heard)"), "1");
        runner.eval("draw()").split(' ').for_each(|number| assert!(drawn.insert(number.to_owned()), "{number} again"));
    }
    original.eval("draw()").split(' ').for_each(|number| assert!(drawn.insert(number.to_owned()), "{number} again"));
    assert_eq!(drawn.len(), 42);
}

#[test]
fn copies_start_on_request_and_never_after_their_runtime_was_disposed() {
    let core = core();
    let source = runtime(&core);
    let code = "process.on('coldframe:restore', () => process.exit(3)); console.log('begun'); setInterval(() => {}, 1e6)";
    let streams = Streams { stdout: true, stderr: false };
    let (_program, events) = start(&source, ProcessOptions { streams, ..exec(code) }, Dispatch::Worker);
    assert!(matches!(events.recv_timeout(STEP_TIMEOUT), Ok(SinkEvent::Output(_, 1, data)) if data == b"begun\n"));
    let snapshot = take(&source);
    snapshot.expect_copies(40);
    let (mut copies, mut starting) = (Vec::new(), Vec::new());
    for number in 0..40 {
        let (sink, events) = TestSink::new();
        let restored = core.restore(&snapshot, RestoreOptions::default(), &mut |_, _| sink.clone());
        let ((runtime, _), start) = restored.expect("a copy");
        if number % 2 == 0 {
            runtime.dispose();
        }
        copies.push((runtime, events));
        starting.push(start);
    }
    assert!(copies.iter().all(|(_, events)| events.try_recv().is_err()), "no copy has run");
    drop(starting);
    for (number, (_runtime, events)) in copies.iter().enumerate() {
        let outcome = exited(events);
        let expected = if number % 2 == 0 { (137, Some("ERR_RUNTIME_DISPOSED")) } else { (3, None) };
        assert_eq!((outcome.exit_code, code_of(&outcome)), expected);
    }
}

#[test]
fn a_rollback_restores_the_state_and_keeps_the_handle() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    runner.eval(STATE);
    let first = take(&source);
    runner.eval("count = 1; (await import('node:fs')).writeFileSync('/workspace/state', 'two')");
    let second = take(&source);
    for (snapshot, state) in [(&first, "41 999 one"), (&second, "1 999 two"), (&first, "41 999 one")] {
        let (programs, sinks) = rollback(&source, snapshot);
        assert!(sinks.is_empty(), "the sink is kept");
        runner.continue_with(&programs);
        assert_eq!(runner.eval("state()"), state);
        runner.eval("count = 7");
    }
    assert_eq!(source.inner().counts().1, 1);
}

#[test]
fn an_empty_runtime_can_be_snapshotted_and_restored() {
    let core = core();
    let source = runtime(&core);
    source.files().write("/workspace/a", b"kept", false).expect("room");
    let mut taken_result = None;
    let (sender, events) = channel();
    source.snapshot(SnapshotOptions::default(), move |taken| sender.send(taken).expect("the test waits"));
    taken_result.replace(events.try_recv().expect("a result within the call"));
    let (snapshot, _) = taken_result.expect("a result").expect("a snapshot");
    source.files().write("/workspace/a", b"changed", false).expect("room");
    let copied = copy(&core, &snapshot);
    assert_eq!(copied.runtime.files().read("/workspace/a", 0, 99).expect("a file").0, b"kept");
    let outcome = outcome(
        &copied.runtime,
        exec(
            "console.log(require('node:fs').readFileSync('a', 'utf8'))"
                .replace("require('node:fs')", "(await import('node:fs'))")
                .as_str(),
        ),
    );
    assert_eq!(text(&outcome.stdout), "kept\n");
    rollback(&source, &snapshot);
    assert_eq!(source.files().read("/workspace/a", 0, 99).expect("a file").0, b"kept");
}
