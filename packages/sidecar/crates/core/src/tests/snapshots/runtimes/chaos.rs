//! Many things at once: nothing hangs, nothing is lost, and nothing is left.

use super::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[test]
fn snapshots_evaluations_kills_and_starts_at_once() {
    let core = core();
    for seed in 0..20 {
        let source = runtime(&core);
        let mut dice = Dice(seed);
        let answered = Arc::new(AtomicU32::new(0));
        let (tell, taken) = channel();
        let mut runners: Vec<_> = (0..3).map(|_| runner(&source)).collect();
        runners.iter_mut().for_each(|runner| drop(runner.eval("globalThis.n = 0; setInterval(() => 1, 1).unref()")));
        let mut programs = Vec::new();
        let (mut asked, mut pending) = (0, Vec::new());
        for _ in 0..60 {
            let at = dice.throw(runners.len() as u64) as usize;
            match dice.throw(6) {
                0 | 1 => {
                    let (tell, answered) = (tell.clone(), answered.clone());
                    asked += 1;
                    let timeout = Duration::from_millis(20 + dice.throw(2) * 5_000);
                    let options = SnapshotOptions { timeout, hold: dice.throw(4) == 0, ..SnapshotOptions::default() };
                    source.snapshot(options, move |result| {
                        answered.fetch_add(1, Ordering::SeqCst);
                        let _ = tell.send(result.map(|(snapshot, held)| {
                            drop(held);
                            snapshot
                        }));
                    });
                }
                2 => pending.push((at, runners[at].begin("n++; await new Promise((done) => setTimeout(done, 2))"))),
                3 => programs.push(start(&source, exec("setTimeout(() => {}, 5)"), Dispatch::Worker)),
                4 => {
                    let (process, told) = start(&source, exec("for (;;) {}"), Dispatch::Worker);
                    process.cancel();
                    programs.push((process, told));
                }
                _ => {
                    let code = "(await import('node:child_process')).execSync('node -e 1')";
                    let (process, told) = start(&source, exec(code), Dispatch::Inline(Duration::from_millis(1)));
                    if dice.throw(2) == 0 {
                        process.cancel();
                    }
                    programs.push((process, told));
                }
            }
        }
        let mut last = None;
        for _ in 0..asked {
            match taken.recv_timeout(PATIENCE).expect("every snapshot is answered") {
                Ok(snapshot) => last = Some(snapshot),
                Err(error) => assert_eq!(error.code(), "ERR_NOT_QUIET", "{error}"),
            }
        }
        assert_eq!(answered.load(Ordering::SeqCst), asked, "once");
        for (at, number) in &pending {
            assert_eq!(code_of(&runners[*at].ended(*number)), None);
        }
        programs.iter().for_each(|(_, told)| drop(exited(told)));
        for (at, runner) in runners.iter_mut().enumerate() {
            let evaluated = pending.iter().filter(|(of, _)| *of == at).count();
            assert_eq!(runner.eval("console.log(n)"), evaluated.to_string(), "seed {seed}");
        }
        families::until_left(&source, (3, 3, 0));
        if let Some(snapshot) = last {
            let copied = copy(&core, &snapshot);
            assert_eq!(copied.programs.len() as u32, snapshot.info().programs);
            copied.runtime.dispose();
            copied.told.values().for_each(|told| drop(exited(told)));
            families::until_left(&copied.runtime, (0, 0, 0));
        }
        rollback(&source, &take(&source));
        source.dispose();
        families::until_left(&source, (0, 0, 0));
    }
    // Those that a rollback has ended notice it on their own.
    let began = std::time::Instant::now();
    while core.resources().processes > 0 {
        assert!(began.elapsed() < PATIENCE, "{} are left", core.resources().processes);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn rollbacks_and_snapshots_from_several_threads() {
    let core = core();
    let source = runtime(&core);
    let mut first = runner(&source);
    first.eval("globalThis.state = 'known'; setInterval(() => 1, 1).unref()");
    let snapshot = take(&source);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (source, snapshot) = (&source, &snapshot);
            scope.spawn(move || {
                let mut dice = Dice(seed);
                for _ in 0..25 {
                    match dice.throw(3) {
                        0 => {
                            let rolled = source.rollback(snapshot, &mut |_, old| old.unwrap_or_else(|| Ear::new().0));
                            if let Err(error) = rolled {
                                assert_eq!(error, Error::RolledBack, "another was faster");
                            }
                        }
                        1 => {
                            let started = source.start(exec("setTimeout(() => {}, 2)"), Ear::new().0, Dispatch::Worker);
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
    first.follow(&programs);
    assert_eq!(first.eval("console.log(state)"), "known");
    families::until_left(&source, (1, 1, 0));
    first.process.cancel();
    families::until_left(&source, (0, 0, 0));
}
