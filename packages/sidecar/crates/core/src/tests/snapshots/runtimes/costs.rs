//! Prints the costs of the operations on whole runtimes: `cargo test --profile builder -p
//! coldframe-core --lib -- --ignored --nocapture runtimes::costs --test-threads=1`.

use super::*;
use std::time::Instant;

const ROUNDS: usize = 200;

fn median(mut samples: Vec<Duration>) -> f64 {
    samples.sort_unstable();
    samples[samples.len() / 2].as_secs_f64() * 1e3
}

/// Measures the CPU time of this thread, which depends less on other load than wall time does.
fn computed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let began = coldframe_sys::thread_usage().cpu_ns;
    let value = run();
    (value, Duration::from_nanos(coldframe_sys::thread_usage().cpu_ns.saturating_sub(began)))
}

fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let value = run();
    (value, began.elapsed())
}

#[test]
#[ignore = "prints measurements"]
fn costs_of_each_operation() {
    let core = core();
    for (name, residents) in [("empty", 0), ("one idle resident", 1), ("five idle residents", 5)] {
        let source = runtime(&core);
        let mut runners: Vec<_> = (0..residents).map(|_| runner(&source)).collect();
        runners.iter_mut().for_each(|runner| drop(runner.eval("globalThis.n = 1")));
        let (mut taking, mut restoring, mut answering, mut rolling, mut after) = (vec![], vec![], vec![], vec![], vec![]);
        for _ in 0..ROUNDS {
            let (snapshot, took) = timed(|| take(&source));
            taking.push(took);
            let (copied, took) = computed(|| copy(&core, &snapshot));
            restoring.push(took);
            if residents > 0 {
                let (copied, mut runner) = copied.runner();
                let (answer, took) = timed(|| runner.eval("console.log(n)"));
                assert_eq!(answer, "1");
                answering.push(took);
                copied.dispose();
            }
            let ((programs, _), took) = computed(|| rollback(&source, &snapshot));
            rolling.push(took);
            runners.iter_mut().for_each(|runner| runner.continue_with(&programs));
            for runner in &mut runners {
                let (answer, took) = timed(|| runner.eval("console.log(n)"));
                assert_eq!(answer, "1");
                after.push(took);
            }
        }
        let answered = |samples: Vec<_>| if samples.is_empty() { 0.0 } else { median(samples) };
        println!(
            "{name:20} snapshot {:.3} ms, restore {:.3} ms + reply {:.3} ms, rollback {:.3} ms + reply {:.3} ms \
             (restore and rollback: CPU)",
            median(taking),
            median(restoring),
            answered(answering),
            median(rolling),
            answered(after),
        );
    }
}

#[test]
#[ignore = "prints measurements"]
fn costs_of_a_hundred_clones() {
    let core = core();
    let source = runtime(&core);
    let mut original = runner(&source);
    original.eval("globalThis.n = 1");
    let snapshot = take(&source);
    for round in 0..5 {
        let ((copies, took), cpu) = computed(|| timed(|| (0..100).map(|_| copy(&core, &snapshot)).collect::<Vec<_>>()));
        println!("round {round}: each of a hundred {:.3} ms, CPU {:.3} ms", took.as_secs_f64() * 10.0, cpu.as_secs_f64() * 10.0);
        let (_, took) = timed(|| drop(copies.into_iter().map(|copied| copied.runtime.dispose()).collect::<Vec<_>>()));
        println!("   disposing {:.3} ms each", took.as_secs_f64() * 10.0);
        while core.resources().processes > 1 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
