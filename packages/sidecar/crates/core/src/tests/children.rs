//! Tests of children of programs: ends, orphans, limits, leaks, and attempts to reach other
//! runtimes.

use super::*;
use std::time::Instant;

/// Returns the options of a program that imports `spawn`, `spawnSync` and `once`.
pub(super) fn parent(code: &str) -> ProcessOptions {
    let prelude = "import { spawn, spawnSync } from 'node:child_process'; import { once } from 'node:events';\n";
    exec(&format!("{prelude}{code}"))
}

/// Returns the counts of processes in the table, programs and sockets.
fn counts(runtime: &Runtime) -> (usize, usize, usize) {
    runtime.inner().counts()
}

fn until_empty(runtime: &Runtime) {
    let began = Instant::now();
    while counts(runtime) != (0, 0, 0) {
        assert!(began.elapsed() < STEP_TIMEOUT, "{:?} remain", counts(runtime));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_thousand_children_leave_nothing_behind() {
    let core = core();
    let runtime = runtime(&core);
    let code = "for (let i = 0; i < 250; i++) {
        const children = [0, 1, 2, 3].map((n) => spawn('node', ['-e', `process.exit(${n})`]));
        const codes = await Promise.all(children.map(async (child) => (await once(child, 'close'))[0]));
        if (codes.join() !== '0,1,2,3') throw new Error(codes.join());
    }
    console.log(process.memoryUsage().rss < 100e6)";
    let outcome = outcome(&runtime, parent(code));
    assert_eq!((text(&outcome.stdout), text(&outcome.stderr)), ("true\n".into(), String::new()));
    until_empty(&runtime);
}

#[test]
fn a_fork_bomb_reaches_the_limit_and_another_runtime_continues() {
    let core = core();
    let bombed = limited(&core, Limits { processes: 20, cpu_ms: 2_000, ..Limits::default() });
    let bomb = "const code = `const { spawn } = require('child_process'); const { argv } = process;
        for (;;) spawn(process.execPath, ['-e', argv[1], argv[1]], { stdio: 'ignore' }).on('error', () => {})`;
        for (;;) spawn(process.execPath, ['-e', code, code], { stdio: 'ignore' }).on('error', () => {});";
    let mut bomb = parent(bomb);
    bomb.timeout = Some(Duration::from_secs(3));
    let (_process, events) = start(&bombed, bomb, Dispatch::Worker);
    let neighbour = runtime(&core);
    for _ in 0..5 {
        let other = outcome(&neighbour, parent("console.log(spawnSync('node', ['-p', '6*7']).stdout.toString())"));
        assert_eq!(text(&other.stdout), "42\n\n");
        assert!(counts(&bombed).0 <= 20);
    }
    let failure = exited(&events);
    assert!(matches!(code(&failure), Some("ERR_CPU_LIMIT" | "ERR_TIMEOUT" | "ERR_MEMORY_LIMIT")), "{:?}", code(&failure));
    until_empty(&bombed);
}

#[test]
fn too_many_processes_fail_with_eagain_and_long_arguments_with_e2big() {
    let core = core();
    let runtime = limited(&core, Limits { processes: 3, ..Limits::default() });
    let code = "const made = [1, 2, 3].map(() => spawn('node', ['-e', 'setInterval(() => {}, 1000)']));
        const [error] = await once(made[2], 'error');
        console.log(error.code, made[2].pid);
        made[0].kill(); made[1].kill();
        await Promise.all([once(made[0], 'exit'), once(made[1], 'exit')]);
        try { spawn('node', ['-e', 'x'.repeat(2 ** 20)]); } catch (error) { console.log(error.code); }
        console.log(spawnSync('node', ['-p', '1']).status);";
    let outcome = outcome(&runtime, parent(code));
    assert_eq!((text(&outcome.stdout), text(&outcome.stderr)), ("EAGAIN undefined\nE2BIG\n0\n".into(), String::new()));
    until_empty(&runtime);
}

#[test]
fn the_end_of_a_program_ends_its_children_except_detached_ones() {
    let core = core();
    let runtime = runtime(&core);
    let spin = "['-e', 'setInterval(() => {}, 1000)']";
    let ends = outcome(&runtime, parent(&format!("spawn('node', {spin}); process.exit(0)")));
    assert_eq!(ends.exit_code, 0);
    until_empty(&runtime);
    let leaves = format!("spawn('node', {spin}, {{ detached: true, stdio: 'ignore' }}).unref()");
    assert_eq!(outcome(&runtime, parent(&leaves)).exit_code, 0);
    assert_eq!(counts(&runtime).0, 1, "a detached process continues");
    let finds = "for (let pid = 2; pid < 100; pid++) try { if (pid !== process.pid) process.kill(pid); } catch {}";
    assert_eq!(outcome(&runtime, parent(finds)).exit_code, 0);
    until_empty(&runtime);
    let (process, events) =
        start(&runtime, parent(&format!("{leaves}; console.log(1); setInterval(() => {{}}, 1000)")), Dispatch::Worker);
    while counts(&runtime).0 < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    process.cancel();
    assert_eq!(code(&exited(&events)), Some("ERR_CANCELED"));
    until_empty(&runtime);
}

#[test]
fn a_kept_session_continues_and_delays_the_outcome_until_its_output_has_ended() {
    let core = core();
    let runtime = runtime(&core);
    let late = "`setTimeout(() => console.log('late'), 100)`";
    let code = format!("spawn('node', ['-e', {late}], {{ stdio: 'inherit' }}); console.log('early'); process.exit(3)");
    let ended = outcome(&runtime, ProcessOptions { keeps_session: true, ..parent(&code) });
    assert_eq!((ended.exit_code, ended.signal, text(&ended.stdout)), (3, None, "early\nlate\n".into()));
    until_empty(&runtime);
    let quiet = "spawn('node', ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }); process.kill(process.pid, 'SIGKILL')";
    let ended = outcome(&runtime, ProcessOptions { keeps_session: true, ..parent(quiet) });
    assert_eq!((ended.exit_code, ended.signal, counts(&runtime).0), (137, Some(9), 1));
    runtime.dispose();
    until_empty(&runtime);
}

#[test]
fn cpu_time_of_children_counts_for_the_program_that_started_them() {
    let core = core();
    let runtime = limited(&core, Limits { cpu_ms: 300, ..Limits::default() });
    let code_of = "for (let i = 0; i < 4; i++) spawn('node', ['-e', 'for (;;);'])";
    let ended = outcome(&runtime, parent(code_of));
    assert_eq!((code(&ended), ended.exit_code), (Some("ERR_CPU_LIMIT"), 124));
    until_empty(&runtime);
}

#[test]
fn a_limit_that_a_child_reaches_ends_the_child_with_a_signal() {
    let core = core();
    let runtime = limited(&core, Limits { memory_bytes: 64 << 20, ..Limits::default() });
    let code = "const full = spawnSync('node', ['-e', 'const all = []; for (;;) all.push(new Array(1000).fill({}))']);
        console.log(full.status, full.signal);";
    assert_eq!(text(&outcome(&runtime, parent(code)).stdout), "null SIGABRT\n");
    until_empty(&runtime);
}

#[test]
fn processes_of_another_runtime_cannot_be_reached() {
    let core = core();
    let (one, other) = (runtime(&core), runtime(&core));
    let (_process, events) = start(&one, parent("setInterval(() => {}, 1000)"), Dispatch::Worker);
    let code = "const found = []; for (let pid = -300; pid < 300; pid++) try { process.kill(pid, 0); found.push(pid); } catch {}
        console.log(found.includes(process.pid), found.filter((pid) => ![process.pid, -process.pid, 0].includes(pid)).length)";
    assert_eq!(text(&outcome(&other, parent(code)).stdout), "true 0\n");
    one.dispose();
    assert_eq!(super::code(&exited(&events)), Some("ERR_RUNTIME_DISPOSED"));
}

#[test]
fn streamed_output_of_children_is_sent_with_their_parents_output() {
    let core = core();
    let runtime = runtime(&core);
    let mut options = parent("await once(spawn('node', ['-e', 'console.log(\"x\".repeat(3e5))'], { stdio: 'inherit' }), 'exit')");
    options.streams.stdout = true;
    let (process, events) = start(&runtime, options, Dispatch::Worker);
    let mut received = 0;
    loop {
        match events.recv_timeout(STEP_TIMEOUT).expect("the program continues") {
            SinkEvent::Output(0, 1, data) => {
                received += data.len();
                process.credit(data.len() as u64);
            }
            SinkEvent::Exited(outcome) => {
                assert_eq!((outcome.exit_code, received), (0, 300_001));
                break;
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    until_empty(&runtime);
}
