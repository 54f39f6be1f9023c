//! What the store costs. Prints; run with
//! `cargo test --profile builder -p coldframe-core --lib -- --ignored --nocapture store::tests::costs --test-threads=1`.

use super::super::threads::Threads;
use super::*;
use std::sync::mpsc;
use std::time::Instant;

/// Milliseconds that `work` takes: the median, and the slowest but one of ten.
fn time(rounds: usize, mut work: impl FnMut(usize)) -> String {
    let mut times: Vec<f64> = (0..rounds)
        .map(|round| {
            let began = Instant::now();
            work(round);
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    format!("p50 {:.2} ms, p90 {:.2} ms", times[rounds / 2], times[rounds * 9 / 10])
}

#[test]
#[ignore = "prints figures"]
fn costs() {
    // Of the disk, and not of a folder in memory.
    let scratch = Scratch(std::env::current_dir().expect("a folder").join(format!("store-costs-{}", std::process::id())));
    let core = crate::tests::core();
    let shelves = Arc::new(Shelves::<Paper>::new(core.clone(), 1 << 32, scratch.0.clone(), 1 << 34));
    shelves.write(&paper(&core, "t", None, 2, 0), Stay::No).expect("written");
    for (pages, rounds) in [(50, 60), (2_560, 10), (25_600, 3)] {
        let papers: Vec<_> = (0..rounds).map(|round| paper(&core, "t", None, pages, round as u8)).collect();
        let kib = pages * 4;
        println!("{kib} KiB, keep:   {}", time(rounds, |round| shelves.memory.keep(&papers[round], None, None).expect("kept")));
        println!("{kib} KiB, write:  {}", time(rounds, |round| shelves.write(&papers[round], Stay::No).expect("written")));
        for paper in &papers {
            shelves.memory.forget("t", &paper.info.id);
        }
        println!("{kib} KiB, open:   {}", time(rounds, |round| drop(shelves.get("t", &papers[round].info.id).expect("opened"))));
        println!("{kib} KiB, again:  {}", time(rounds, |round| drop(shelves.get("t", &papers[round].info.id).expect("opened"))));
        println!("{kib} KiB, list:   {}", time(rounds, |_| drop(shelves.list("t"))));
        println!("{kib} KiB, delete: {}", time(rounds, |round| shelves.delete("t", &papers[round].info.id).expect("deleted")));
    }
    let threads = Arc::new(Threads::default());
    println!(
        "ten of 200 KiB at once: {}",
        time(10, |_| {
            let (send, receive) = mpsc::channel();
            for _ in 0..10 {
                let (send, shelves, one) = (send.clone(), shelves.clone(), paper(&core, "t", None, 50, 1));
                threads.run(move || send.send(shelves.write(&one, Stay::No)).expect("told"));
            }
            (0..10).for_each(|_| receive.recv().expect("told").expect("written"));
        })
    );
}
