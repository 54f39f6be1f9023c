//! Tests of long computations in `node:crypto`. A computation stops when its program ends, and the
//! CPU time of the computation counts for the program.

use super::{code, core, exec, exited, outcome, runtime, start, text};
use crate::{Core, Dispatch, Limits, ProcessOptions, Runtime, RuntimeOptions};
use std::time::Duration;

const ENDLESS: &str = "import c from 'node:crypto'; c.pbkdf2Sync('p', 's', 2 ** 31 - 1, 64, 'sha512');";
const ENDLESS_PILE: &str = "import c from 'node:crypto';
    for (let i = 0; i < 200; i++) c.pbkdf2('p', 's', 2 ** 31 - 1, 64, 'sha512', () => {});
    for (let i = 0; i < 20; i++) c.generatePrime(4096, { safe: true }, () => {});";
const SHORT: &str = "import c from 'node:crypto'; console.log(c.pbkdf2Sync('p', 's', 1000, 4, 'sha256').toString('hex'));";

/// Runs `source`, which computes for an hour, for a tenth of a second and kills the program.
fn assert_killed(runtime: &Runtime, source: &str) {
    let (process, events) = start(runtime, exec(source), Dispatch::Worker);
    std::thread::sleep(Duration::from_millis(100));
    process.cancel();
    assert_eq!(code(&exited(&events)), Some("ERR_CANCELED"));
}

/// Asserts that a short computation runs, because a thread is free.
fn assert_threads_are_free(core: &Core) {
    let other = outcome(&runtime(core), exec(SHORT));
    assert_eq!(text(&other.stdout).trim(), "07f5f5e2");
}

#[test]
fn a_kill_stops_the_computations_of_the_program() {
    let core = core();
    let runtime = runtime(&core);
    for source in [ENDLESS, ENDLESS_PILE, ENDLESS, ENDLESS_PILE, ENDLESS, ENDLESS_PILE, ENDLESS] {
        assert_killed(&runtime, source);
    }
    assert_threads_are_free(&core);
}

#[test]
fn computations_count_as_cpu_time_whether_or_not_the_program_waits() {
    let core = core();
    let limits = Limits { cpu_ms: 200, ..Limits::default() };
    let runtime = core.create_runtime(RuntimeOptions { limits, ..RuntimeOptions::default() }).expect("a runtime");
    for source in [ENDLESS, ENDLESS_PILE] {
        assert_eq!(code(&outcome(&runtime, exec(source))), Some("ERR_CPU_LIMIT"));
    }
}

#[test]
fn a_computation_is_bounded_by_its_programs_memory() {
    let core = core();
    let source = "import c from 'node:crypto';
        const tries = [() => c.scryptSync('p', 's', 8, { N: 2 ** 22, r: 8, maxmem: 2 ** 40 }),
            () => c.pbkdf2Sync('p', 's', 1, 2 ** 31 - 1, 'sha1')];
        for (const attempt of tries) try { attempt(); } catch (error) { console.log(error.code); }";
    let got = outcome(&runtime(&core), exec(source));
    assert_eq!(text(&got.stdout), "ERR_CRYPTO_OPERATION_FAILED\nERR_CRYPTO_OPERATION_FAILED\n", "{}", text(&got.stderr));
}

#[test]
fn garbage_collection_frees_digests_when_a_program_has_too_many() {
    let core = core();
    let source = "import c from 'node:crypto';
        for (let i = 0; i < 20_000; i++) c.createHash('md5').update('a').update('b');
        console.log('done');";
    let got = outcome(&runtime(&core), ProcessOptions { timeout: Some(Duration::from_secs(20)), ..exec(source) });
    assert_eq!(text(&got.stdout), "done\n", "{}", text(&got.stderr));
}
