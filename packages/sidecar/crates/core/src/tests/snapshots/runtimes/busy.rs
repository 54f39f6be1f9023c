//! Tests of snapshots that are requested while a program computes.

use super::families::{parent, streaming, until_left, until_line};
use super::*;

/// The first program computes, starts a program that waits without end, and ends.
#[test]
fn a_snapshot_requested_during_a_computation_contains_the_program_that_follows() {
    let core = core();
    let source = runtime(&core);
    let code = r"
        console.log('computes');
        await new Promise((done) => setTimeout(done, 0));
        const end = performance.now() + 200;
        while (performance.now() < end);
        spawn('node', ['-e', 'setTimeout(() => {}, 1e9)'], { detached: true, stdio: 'ignore' }).unref();
    ";
    let (process, events) = start(&source, streaming(parent(code)), Dispatch::Worker);
    until_line(&process, &events, "computes");
    let snapshot = take(&source);
    assert!(!snapshot.programs().is_empty());
    source.dispose();
    until_left(&source, (0, 0, 0));
}
