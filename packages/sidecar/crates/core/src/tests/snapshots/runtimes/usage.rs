//! CPU time across copies, rollbacks and resumes: it goes on where it was, and neither a save nor a restore is a program's own.

use super::families::{parent, streaming, until_line};
use super::*;

/// What counts for the limit of the program that has computed most, in milliseconds.
fn cpu_ms(runtime: &Runtime) -> u64 {
    let resources = runtime.resources();
    resources.limits.iter().find(|one| one.limit == "cpuMs").expect("it is counted").used
}

/// Computes for a while, says so, and waits.
const BURN: &str = "for (let n = 0; n < 1e7; n++); console.log('burnt'); setInterval(() => {}, 100000);";

/// Goes on with a copy on its own.
fn go_on(core: &Core, before: &Runtime) -> Runtime {
    let snapshot = take(before);
    before.dispose();
    copy(core, &snapshot).runtime
}

#[test]
fn a_restored_child_is_charged_to_its_root_once() {
    let core = core();
    let mut runtime = runtime(&core);
    let code = format!("spawn('node', ['-e', `{BURN}`], {{ stdio: 'inherit' }});");
    let (process, told) = start(&runtime, streaming(parent(&code)), Dispatch::Worker);
    until_line(&process, &told, "burnt");
    let before = cpu_ms(&runtime);
    assert!(before > 0, "what a child computes counts for its root");
    for _ in 0..4 {
        runtime = go_on(&core, &runtime);
        rollback(&runtime, &take(&runtime));
    }
    let after = cpu_ms(&runtime);
    assert!((before..before * 2).contains(&after), "{before} ms became {after} ms");
}

#[test]
fn a_save_gives_no_cpu_time_back() {
    let core = core();
    let mut runtime = runtime(&core);
    let code = format!("globalThis.large = Buffer.alloc(64e6, 1); {BURN} setInterval(() => large.fill(1), 1);");
    let (process, told) = start(&runtime, streaming(exec(&code)), Dispatch::Worker);
    until_line(&process, &told, "burnt");
    for _ in 0..4 {
        // All of its memory is new at every save.
        let before = cpu_ms(&runtime);
        runtime = go_on(&core, &runtime);
        let after = cpu_ms(&runtime);
        assert!(after >= before, "{before} ms became {after} ms");
        let filled = std::time::Instant::now();
        while cpu_ms(&runtime) < before + 30 {
            assert!(filled.elapsed() < PATIENCE, "it computes");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn what_all_programs_have_computed_outlives_a_rollback() {
    let core = core();
    let runtime = runtime(&core);
    let empty = take(&runtime);
    let (process, told) = start(&runtime, streaming(exec(BURN)), Dispatch::Worker);
    until_line(&process, &told, "burnt");
    let full = take(&runtime);
    for snapshot in [full, empty] {
        let before = runtime.resources().cpu_ms;
        rollback(&runtime, &snapshot);
        let after = runtime.resources().cpu_ms;
        assert!(before > 0 && after >= before, "{before} ms became {after} ms");
    }
}
