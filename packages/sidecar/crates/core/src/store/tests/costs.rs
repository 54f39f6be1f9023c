//! Prints the costs of the store: `cargo test --profile builder -p coldframe-core --lib --
//! --ignored --nocapture store::tests::costs --test-threads=1`.

use super::super::content::Content;
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

/// Makes a snapshot of one program with `mib` MiB of bytes that do not repeat.
fn random(core: &Core, mib: usize, seed: u64) -> Arc<FakeSnapshot> {
    let one = fake(core, "t", None, 1, seed as u8);
    let factory = core.installation().factory(ImageKind::Node).expect("the image");
    let file = sys::memory_file().expect("a file in memory");
    let mut state = seed;
    let mut chunk = vec![0_u8; MIB as usize];
    for at in 0..mib {
        for word in chunk.chunks_exact_mut(8) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            word.copy_from_slice(&(state ^ (state >> 29)).to_le_bytes());
        }
        file.write_all_at(&chunk, at as u64 * MIB).expect("written");
    }
    let len = mib * MIB as usize;
    let piece = Piece::new(file, len as u64, factory.image().budget()).expect("a piece");
    let extents = overlay(&factory.image().extents(), &[Extent { at: 20 * PAGE, len, piece, offset: 0 }]);
    let end = extents.last().map_or(0, Extent::end).max(factory.image().len());
    let saved = VmSnapshot::of(factory.image().saved(extents, end.next_multiple_of(1 << 16), 0, Arc::default()), 5, 6);
    let memories = vec![StoredMemory { pid: Pid::new(2), image: ImageKind::Node, snapshot: Arc::new(saved) }];
    Arc::new(FakeSnapshot { info: one.info.clone(), state: one.state.clone(), memories })
}

#[test]
#[ignore = "prints figures"]
fn moves() {
    let scratch = Scratch(std::env::current_dir().expect("a folder").join(format!("store-moves-{}", std::process::id())));
    let core = crate::tests::core();
    let open =
        |name: &str| LayeredStore::<FakeSnapshot>::new(core.installation().clone(), 1 << 32, scratch.0.join(name), 1 << 34);
    let (from, to) = (open("from"), open("to"));
    for mib in [64, 256] {
        let one = random(&core, mib, 7);
        println!("{mib} MiB, lay out: {}", time(5, |_| drop(Content::of(core.installation(), &*one).expect("laid out"))));
        println!(
            "{mib} MiB, write:   {}",
            time(5, |round| {
                if round > 0 {
                    from.delete("t", &one.info.id).expect("deleted");
                }
                from.write(&one, Retention::No).expect("written");
            })
        );
        let path = scratch.0.join("exported");
        println!(
            "{mib} MiB, export:  {}",
            time(5, |_| {
                from.layers.memory.forget("t", &one.info.id);
                from.export("t", &one.info.id, &path).expect("exported");
            })
        );
        println!(
            "{mib} MiB, import:  {}",
            time(5, |round| {
                if round > 0 {
                    to.delete("t", &one.info.id).expect("deleted");
                }
                to.import("t", &path).map(drop).expect("imported");
            })
        );
        for store in [&from, &to] {
            store.delete("t", &one.info.id).expect("deleted");
        }
        std::fs::remove_file(&path).expect("removed");
    }
}
