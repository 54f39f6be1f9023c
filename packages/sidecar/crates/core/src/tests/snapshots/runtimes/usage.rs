//! Tests of CPU time across restores and rollbacks: the count continues, and programs are not
//! charged for taking or restoring snapshots.

use super::families::{parent, streaming, until_line};
use super::*;

/// Returns the CPU time of the program with the highest use, in milliseconds.
fn cpu_ms(runtime: &Runtime) -> u64 {
    let resources = runtime.resources();
    resources.limits.iter().find(|one| one.limit == "cpuMs").expect("the limit").used
}

/// Computes for a while, prints a line, and sets an endless timer.
const BURN: &str = "for (let n = 0; n < 1e7; n++); console.log('burnt'); setInterval(() => {}, 100000);";

/// Takes a snapshot of the runtime `before`, disposes of the runtime, and returns a runtime
/// restored from the snapshot.
fn replace_by_copy(core: &Core, before: &Runtime) -> Runtime {
    let snapshot = take(before);
    before.dispose();
    copy(core, &snapshot).runtime
}

#[test]
fn a_restored_child_is_charged_to_its_root_once() {
    let core = core();
    let mut runtime = runtime(&core);
    let code = format!("spawn('node', ['-e', `{BURN}`], {{ stdio: 'inherit' }});");
    let (process, events) = start(&runtime, streaming(parent(&code)), Dispatch::Worker);
    until_line(&process, &events, "burnt");
    let before = cpu_ms(&runtime);
    assert!(before > 0, "a child's CPU time counts for its root program");
    for _ in 0..4 {
        runtime = replace_by_copy(&core, &runtime);
        rollback(&runtime, &take(&runtime));
    }
    let after = cpu_ms(&runtime);
    assert!((before..before * 2).contains(&after), "{before} ms became {after} ms");
}

#[test]
fn a_snapshot_does_not_reduce_cpu_time() {
    let core = core();
    let mut runtime = runtime(&core);
    let code = format!("globalThis.large = Buffer.alloc(64e6, 1); {BURN} setInterval(() => large.fill(1), 1);");
    let (process, events) = start(&runtime, streaming(exec(&code)), Dispatch::Worker);
    until_line(&process, &events, "burnt");
    for _ in 0..4 {
        // All of the program's memory is new at every snapshot.
        let before = cpu_ms(&runtime);
        runtime = replace_by_copy(&core, &runtime);
        let after = cpu_ms(&runtime);
        assert!(after >= before, "{before} ms became {after} ms");
        let filled = std::time::Instant::now();
        while cpu_ms(&runtime) < before + 30 {
            assert!(filled.elapsed() < STEP_TIMEOUT, "the program computes");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn total_cpu_time_survives_a_rollback() {
    let core = core();
    let runtime = runtime(&core);
    let empty = take(&runtime);
    let (process, events) = start(&runtime, streaming(exec(BURN)), Dispatch::Worker);
    until_line(&process, &events, "burnt");
    let full = take(&runtime);
    for snapshot in [full, empty] {
        let before = runtime.resources().cpu_ms;
        rollback(&runtime, &snapshot);
        let after = runtime.resources().cpu_ms;
        assert!(before > 0 && after >= before, "{before} ms became {after} ms");
    }
}
