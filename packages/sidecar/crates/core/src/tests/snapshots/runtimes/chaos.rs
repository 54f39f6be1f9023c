//! Tests of concurrent operations: no operation hangs, every request has a reply, and nothing
//! leaks.

use super::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// A generator of pseudo-random numbers, which are equal in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[test]
fn concurrent_snapshots_evaluations_kills_and_starts_all_have_a_result() {
    let core = core();
    for seed in 0..20 {
        let source = runtime(&core);
        let mut random = Random(seed);
        let answered = Arc::new(AtomicU32::new(0));
        let (sender, taken) = channel();
        let mut runners: Vec<_> = (0..3).map(|_| runner(&source)).collect();
        runners.iter_mut().for_each(|runner| drop(runner.eval("globalThis.n = 0; setInterval(() => 1, 1).unref()")));
        let mut programs = Vec::new();
        let (mut asked, mut pending) = (0, Vec::new());
        for _ in 0..60 {
            let at = random.below(runners.len() as u64) as usize;
            match random.below(6) {
                0 | 1 => {
                    let (sender, answered) = (sender.clone(), answered.clone());
                    asked += 1;
                    let timeout = Duration::from_millis(20 + random.below(2) * 5_000);
                    let options = SnapshotOptions { timeout, hold: random.below(4) == 0, ..SnapshotOptions::default() };
                    source.snapshot(options, move |result| {
                        answered.fetch_add(1, Ordering::SeqCst);
                        let _ = sender.send(result.map(|(snapshot, held)| {
                            drop(held);
                            snapshot
                        }));
                    });
                }
                2 => pending.push((at, runners[at].begin("n++; await new Promise((done) => setTimeout(done, 2))"))),
                3 => programs.push(start(&source, exec("setTimeout(() => {}, 5)"), Dispatch::Worker)),
                4 => {
                    let (process, events) = start(&source, exec("for (;;) {}"), Dispatch::Worker);
                    process.cancel();
                    programs.push((process, events));
                }
                _ => {
                    let code = "(await import('node:child_process')).execSync('node -e 1')";
                    let (process, events) = start(&source, exec(code), Dispatch::Inline(Duration::from_millis(1)));
                    if random.below(2) == 0 {
                        process.cancel();
                    }
                    programs.push((process, events));
                }
            }
        }
        let mut last = None;
        for _ in 0..asked {
            match taken.recv_timeout(STEP_TIMEOUT).expect("every snapshot has a result") {
                Ok(snapshot) => last = Some(snapshot),
                Err(error) => assert_eq!(error.code(), "ERR_NOT_QUIET", "{error}"),
            }
        }
        assert_eq!(answered.load(Ordering::SeqCst), asked, "once");
        for (at, number) in &pending {
            assert_eq!(code_of(&runners[*at].ended(*number)), None);
        }
        programs.iter().for_each(|(_, events)| drop(exited(events)));
        for (at, runner) in runners.iter_mut().enumerate() {
            let evaluated = pending.iter().filter(|(of, _)| *of == at).count();
            assert_eq!(runner.eval("console.log(n)"), evaluated.to_string(), "seed {seed}");
        }
        families::until_left(&source, (3, 3, 0));
        if let Some(snapshot) = last {
            let copied = copy(&core, &snapshot);
            assert_eq!(copied.programs.len() as u32, snapshot.info().programs);
            copied.runtime.dispose();
            copied.events.values().for_each(|events| drop(exited(events)));
            families::until_left(&copied.runtime, (0, 0, 0));
        }
        rollback(&source, &take(&source));
        source.dispose();
        families::until_left(&source, (0, 0, 0));
    }
    // The programs that a rollback ends stop on their own threads, after the rollback.
    let began = std::time::Instant::now();
    while core.resources().processes > 0 {
        assert!(began.elapsed() < STEP_TIMEOUT, "{} processes remain", core.resources().processes);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn concurrent_rollbacks_and_snapshots_leave_one_consistent_runtime() {
    let core = core();
    let source = runtime(&core);
    let mut first = runner(&source);
    first.eval("globalThis.state = 'known'; setInterval(() => 1, 1).unref()");
    let snapshot = take(&source);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (source, snapshot) = (&source, &snapshot);
            scope.spawn(move || {
                let mut random = Random(seed);
                for _ in 0..25 {
                    match random.below(3) {
                        0 => {
                            let rolled = source.rollback(snapshot, &mut |_, old| old.unwrap_or_else(|| TestSink::new().0));
                            if let Err(error) = rolled {
                                assert_eq!(error, Error::RolledBack, "another rollback was faster");
                            }
                        }
                        1 => {
                            let started = source.start(exec("setTimeout(() => {}, 2)"), TestSink::new().0, Dispatch::Worker);
                            assert!(matches!(started, Ok(_) | Err(Error::RolledBack)), "{started:?}");
                        }
                        _ => {
                            if let Err(error) = try_take(source, SnapshotOptions::default()) {
                                assert_eq!(error, Error::RolledBack);
                            }
                        }
                    }
                }
            });
        }
    });
    let (programs, _) = rollback(&source, &snapshot);
    first.continue_with(&programs);
    assert_eq!(first.eval("console.log(state)"), "known");
    families::until_left(&source, (1, 1, 0));
    first.process.cancel();
    families::until_left(&source, (0, 0, 0));
}
