//! What saving, cloning and going back costs. Not a test: `cargo test --profile builder -p coldframe-core --lib -- --ignored --nocapture snapshots::costs`.
//!
//! Medians in milliseconds; three of each hundred copies, and the guest after every rollback, are asked for their state. `docs/internals/snapshots.md` has the figures.

use super::*;
use crate::image::Image;
use crate::memory::Remains;
use std::time::Instant;

const SIZES_MB: &[usize] = &[0, 10, 100, 1024];

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let result = work();
    (result, began.elapsed().as_secs_f64() * 1e3)
}

fn dirty(core: &Core, megabytes: usize) -> Guest {
    let mut guest = Guest::start(core);
    guest.eval(&format!(
        "globalThis.n = 7; globalThis.data = Array.from({{ length: {megabytes} }}, () => Buffer.alloc(1 << 20, 7))"
    ));
    guest
}

const ANSWER: &str = "console.log(n, data.length, data.every((buffer) => buffer[5] === 7))";

#[test]
#[ignore = "measures; takes seconds and up to 2 GB"]
fn one_at_a_time() {
    let core = core();
    println!("MB  snapshot  copied MB  frozen MB  clone 1  each of 100  first answer  rollback  + what is left  write  open");
    for &megabytes in SIZES_MB {
        let rounds = if megabytes > 500 { 3 } else { 9 };
        let mut times: [Vec<f64>; 9] = Default::default();
        let (mut copied, mut frozen) = (0, 0);
        for _ in 0..rounds {
            let mut guest = dirty(&core, megabytes);
            let (snapshot, time) = timed(|| guest.save());
            times[0].push(time);
            (copied, frozen) = (snapshot.copied >> 20, snapshot.frozen >> 20);
            let above = (Guest::above(&core), guest.factory.clone());
            let (one, time) = timed(|| Guest::under(above.0, above.1, &snapshot.saved));
            times[1].push(time);
            drop(one);
            // Of the VMs alone: the kernel's part of a clone is not here yet.
            let above: Vec<_> = (0..100).map(|_| (Guest::above(&core), guest.factory.clone())).collect();
            let make = |(above, factory)| Guest::under(above, factory, &snapshot.saved);
            let (hundred, time) = timed(|| above.into_iter().map(make).collect::<Vec<_>>());
            times[2].push(time / 100.0);
            for mut copy in hundred.into_iter().take(3) {
                let (said, time) = timed(|| copy.eval(ANSWER));
                assert_eq!(said, format!("7 {megabytes} true"));
                times[3].push(time);
            }
            guest.eval("globalThis.n = 8; for (const buffer of data) buffer.fill(9)");
            let (remains, time): (Remains, f64) = timed(|| guest.rollback(&snapshot.saved));
            times[4].push(time);
            times[5].push(timed(|| drop(remains)).1);
            assert_eq!(guest.eval(ANSWER), format!("7 {megabytes} true"));
            if megabytes <= 100 {
                let path = std::env::temp_dir().join(format!("coldframe-costs-{}", std::process::id()));
                let (name, time) = timed(|| snapshot.saved.write(&guest.factory, &path, None, Vec::new()).expect("written"));
                times[6].push(time);
                let (opened, time) = timed(|| crate::vm::saved::Saved::open(&guest.factory, &path).expect("opened"));
                times[7].push(time);
                assert_eq!(opened.name, name);
                let _ = std::fs::remove_file(&path);
            }
        }
        let [save, one, hundred, answer, rollback, remains, write, open, _] =
            times.map(|times| if times.is_empty() { f64::NAN } else { median(times) });
        println!(
            "{megabytes:4} {save:8.3} {copied:6} {frozen:6} {one:8.3} {hundred:8.4} {answer:8.3} {rollback:8.3} {remains:8.3} {write:8.2} {open:8.2}"
        );
    }
}

/// Where the time of a clone goes: its address range, its mappings, its instance.
#[test]
#[ignore = "measures"]
fn clones() {
    let core = core();
    for megabytes in [0, 100] {
        let mut guest = dirty(&core, megabytes);
        let saved = guest.save().saved;
        let extents = saved.memory().extents();
        println!("{megabytes} MB: {} runs", extents.len());
        let plain = guest.factory.image();
        let (slots, map) = timed(|| (0..100).map(|_| plain.pool().take(plain).expect("a slot")).collect::<Vec<_>>());
        slots.into_iter().for_each(|slot| plain.pool().discard(slot));
        println!("  slots of the image itself: {:.4} ms each", map / 100.0);
        for round in 0..4 {
            let image = saved.memory();
            let (slots, map) = timed(|| (0..100).map(|_| image.pool().take(image).expect("a slot")).collect::<Vec<_>>());
            slots.into_iter().for_each(|slot| image.pool().discard(slot));
            let above: Vec<_> = (0..100).map(|_| (Guest::above(&core), guest.factory.clone())).collect();
            let (all, time) =
                timed(|| above.into_iter().map(|(above, factory)| Guest::under(above, factory, &saved)).collect::<Vec<_>>());
            println!("  round {round}: slots {:.4} ms each, whole VMs {:.4} ms each", map / 100.0, time / 100.0);
            drop(all);
        }
        let again = guest.save().saved;
        let (copy, copying) = timed(|| Image::copy_of_origin(&again.memory().origin).expect("a copy"));
        let (_, gather) = timed(|| again.memory().gather(copy).expect("gathered"));
        println!("  a copy of the image takes {copying:.2} ms, gathering {gather:.3} ms: {} runs", again.memory().to_map().len());
        for extent in extents.iter() {
            print!(" {}+{}", extent.at >> 12, extent.len >> 12);
        }
        println!();
    }
}

/// The prototype's outlier: ten 500 MB programs saved at once took seconds.
#[test]
#[ignore = "measures; takes seconds and up to 3 GB"]
fn ten_at_once() {
    let core = core();
    for megabytes in [0, 10, 100, 250] {
        let mut guests: Vec<_> = (0..10).map(|_| dirty(&core, megabytes)).collect();
        let began = Instant::now();
        let times: Vec<f64> = std::thread::scope(|scope| {
            let running: Vec<_> = guests.iter_mut().map(|guest| scope.spawn(|| timed(|| guest.save()))).collect();
            running.into_iter().map(|thread| thread.join().expect("no panic").1).collect()
        });
        let wall = began.elapsed().as_secs_f64() * 1e3;
        let slowest = times.iter().copied().fold(0.0, f64::max);
        println!("{megabytes} MB: ten at once {wall:.1} ms wall, median {:.1}, slowest {slowest:.1}", median(times));
    }
}
