//! Tests of snapshots of programs whose root program has ended.

use super::families::{parent, until_left};
use super::*;
use crate::Limits;
use std::time::Instant;

/// The limit leaves time for the starts of three programs after the computation.
const CPU_MS: u64 = 2_000;
const COMPUTED_MS: u64 = 100;
/// The time for which a program may exceed its limit, and the time of its restore.
const EXTRA_MS: u64 = 90;

/// Computes for half a second, and starts a detached program that computes without end after a
/// pause.
const CHAIN: &str = r"
    const { spawn } = require('child_process');
    const end = performance.now() + 500;
    while (performance.now() < end);
    spawn('node', ['-e', 'setTimeout(() => { while (true); }, 3000)'], { detached: true, stdio: 'ignore' }).unref();
";

#[test]
fn a_restored_descendant_has_the_rest_of_the_time_of_its_ended_root() {
    let core = core();
    let source = core
        .create_runtime(crate::RuntimeOptions {
            limits: Limits { cpu_ms: CPU_MS, ..Limits::default() },
            ..crate::RuntimeOptions::default()
        })
        .expect("a runtime");
    let code = format!(
        "const child = spawn('node', ['-e', {CHAIN:?}], {{ detached: true, stdio: 'ignore' }});
        await once(child, 'spawn'); child.unref();"
    );
    let outcome = outcome(&source, parent(&code));
    assert_eq!((outcome.exit_code, text(&outcome.stderr)), (0, String::new()));
    let (began, mut before) = (Instant::now(), 0);
    // The last program of the chain uses no CPU time before its pause ends.
    loop {
        let cpu_ms = source.resources().cpu_ms;
        if cpu_ms >= COMPUTED_MS && cpu_ms == before && source.inner().counts().0 == 1 {
            break;
        }
        assert!(began.elapsed() < STEP_TIMEOUT, "the first program of the chain ends");
        before = cpu_ms;
        std::thread::sleep(Duration::from_millis(50));
    }
    let snapshot = take(&source);
    assert_eq!(snapshot.programs().len(), 1);
    let spent = source.resources().cpu_ms;
    let restored = copy(&core, &snapshot);
    until_left(&restored.runtime, (0, 0, 0));
    let cpu_ms = restored.runtime.resources().cpu_ms;
    assert!(cpu_ms <= CPU_MS - spent + EXTRA_MS, "{cpu_ms} ms after {spent} of the {CPU_MS} ms of the whole tree");
    until_left(&source, (0, 0, 0));
}
