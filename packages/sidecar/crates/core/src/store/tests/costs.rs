//! Prints the costs of the store: `cargo test --profile builder -p coldframe-core --lib --
//! --ignored --nocapture store::tests::costs --test-threads=1`.

use super::super::threads::Threads;
use super::*;
use std::sync::mpsc;
use std::time::Instant;

/// Runs `work` `rounds` times. Returns the median and the 90th percentile of the durations as text.
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
    // The test's folder is on the disk, because the folder for temporary files may be in memory.
    let scratch = Scratch(std::env::current_dir().expect("a folder").join(format!("store-costs-{}", std::process::id())));
    let core = crate::tests::core();
    let store = Arc::new(LayeredStore::<FakeSnapshot>::new(core.installation().clone(), 1 << 32, scratch.0.clone(), 1 << 34));
    store.write(&fake(&core, "t", None, 2, 0), Retention::No).expect("written");
    for (pages, rounds) in [(50, 60), (2_560, 10), (25_600, 3)] {
        let snapshots: Vec<_> = (0..rounds).map(|round| fake(&core, "t", None, pages, round as u8)).collect();
        let kib = pages * 4;
        println!(
            "{kib} KiB, keep:   {}",
            time(rounds, |round| store.layers.memory.keep(&snapshots[round], None, None).expect("kept"))
        );
        println!("{kib} KiB, write:  {}", time(rounds, |round| store.write(&snapshots[round], Retention::No).expect("written")));
        for snapshot in &snapshots {
            store.layers.memory.forget("t", &snapshot.info.id);
        }
        println!("{kib} KiB, open:   {}", time(rounds, |round| drop(store.get("t", &snapshots[round].info.id).expect("opened"))));
        println!("{kib} KiB, again:  {}", time(rounds, |round| drop(store.get("t", &snapshots[round].info.id).expect("opened"))));
        println!("{kib} KiB, list:   {}", time(rounds, |_| drop(store.list("t"))));
        println!("{kib} KiB, delete: {}", time(rounds, |round| store.delete("t", &snapshots[round].info.id).expect("deleted")));
    }
    let threads = Arc::new(Threads::default());
    println!(
        "ten of 200 KiB at once: {}",
        time(10, |_| {
            let (send, receive) = mpsc::channel();
            for _ in 0..10 {
                let (send, store, one) = (send.clone(), store.clone(), fake(&core, "t", None, 50, 1));
                threads.run(move || send.send(store.write(&one, Retention::No)).expect("the test receives"));
            }
            (0..10).for_each(|_| receive.recv().expect("a result").expect("written"));
        })
    );
}
