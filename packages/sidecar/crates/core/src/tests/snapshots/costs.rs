//! Prints the costs of taking, cloning and rolling back VM snapshots, as medians in milliseconds:
//! `cargo test --profile builder -p coldframe-core --lib -- --ignored --nocapture
//! snapshots::costs`. An evaluation checks the state of three of each hundred clones, and of the
//! guest after every rollback. `docs/internals/snapshots.md` has the figures.

use super::*;
use coldframe_memory::Image;
use coldframe_memory::VacatedSlot;
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
fn costs_of_one_program_at_a_time() {
    let core = core();
    println!("MB  snapshot  copied MB  frozen MB  clone 1  each of 100  first reply  rollback  + freeing  write  open");
    for &megabytes in SIZES_MB {
        let rounds = if megabytes > 500 { 3 } else { 9 };
        let mut times: [Vec<f64>; 9] = Default::default();
        let (mut copied, mut frozen) = (0, 0);
        for _ in 0..rounds {
            let mut guest = dirty(&core, megabytes);
            let (snapshot, time) = timed(|| guest.snapshot());
            times[0].push(time);
            (copied, frozen) = (snapshot.copied >> 20, snapshot.frozen >> 20);
            let bare = (Guest::bare_program(&core), guest.factory.clone());
            let (one, time) = timed(|| Guest::with_program(bare.0, bare.1, &snapshot.saved));
            times[1].push(time);
            drop(one);
            // The rows show the costs of the VMs alone. The kernel's part of a clone is made before
            // the measurement.
            let bare: Vec<_> = (0..100).map(|_| (Guest::bare_program(&core), guest.factory.clone())).collect();
            let make = |(bare, factory)| Guest::with_program(bare, factory, &snapshot.saved);
            let (hundred, time) = timed(|| bare.into_iter().map(make).collect::<Vec<_>>());
            times[2].push(time / 100.0);
            for mut copy in hundred.into_iter().take(3) {
                let (said, time) = timed(|| copy.eval(ANSWER));
                assert_eq!(said, format!("7 {megabytes} true"));
                times[3].push(time);
            }
            guest.eval("globalThis.n = 8; for (const buffer of data) buffer.fill(9)");
            let (remains, time): (VacatedSlot, f64) = timed(|| guest.rollback(&snapshot.saved));
            times[4].push(time);
            times[5].push(timed(|| drop(remains)).1);
            assert_eq!(guest.eval(ANSWER), format!("7 {megabytes} true"));
            if megabytes <= 100 {
                let path = std::env::temp_dir().join(format!("coldframe-costs-{}", std::process::id()));
                let (name, time) = timed(|| snapshot.saved.write(&guest.factory, &path, None, Vec::new()).expect("written"));
                times[6].push(time);
                let (opened, time) = timed(|| coldframe_vm::VmSnapshot::open(&guest.factory, &path).expect("opened"));
                times[7].push(time);
                assert_eq!(opened.name, name);
                let _ = std::fs::remove_file(&path);
            }
        }
        let [save, one, hundred, answer, rollback, remains, write, open, _] =
            times.map(|times| if times.is_empty() { f64::NAN } else { median(times) });
        println!(
            "{megabytes:4} {save:8.3} {copied:6} {frozen:6} {one:8.3} {hundred:8.4} {answer:8.3} {rollback:8.3} \
             {remains:8.3} {write:8.2} {open:8.2}"
        );
    }
}

/// Prints the parts of a clone's time: address range, mappings, instance.
#[test]
#[ignore = "measures"]
fn costs_of_the_parts_of_a_clone() {
    let core = core();
    for megabytes in [0, 100] {
        let mut guest = dirty(&core, megabytes);
        let saved = guest.snapshot().saved;
        let extents = saved.memory().extents();
        println!("{megabytes} MB: {} runs", extents.len());
        let plain = guest.factory.image();
        let (slots, map) = timed(|| (0..100).map(|_| plain.pool().take(plain).expect("a slot")).collect::<Vec<_>>());
        slots.into_iter().for_each(|slot| plain.pool().discard(slot, plain.len()));
        println!("  slots of the image itself: {:.4} ms each", map / 100.0);
        for round in 0..4 {
            let image = saved.memory();
            let (slots, map) = timed(|| (0..100).map(|_| image.pool().take(image).expect("a slot")).collect::<Vec<_>>());
            slots.into_iter().for_each(|slot| image.pool().discard(slot, image.len()));
            let bare: Vec<_> = (0..100).map(|_| (Guest::bare_program(&core), guest.factory.clone())).collect();
            let (all, time) =
                timed(|| bare.into_iter().map(|(bare, factory)| Guest::with_program(bare, factory, &saved)).collect::<Vec<_>>());
            println!("  round {round}: slots {:.4} ms each, whole VMs {:.4} ms each", map / 100.0, time / 100.0);
            drop(all);
        }
        let again = guest.snapshot().saved;
        let (copy, copying) = timed(|| Image::copy_of_origin(&again.memory().origin).expect("a copy"));
        let (_, gather) = timed(|| again.memory().gather(copy).expect("gathered"));
        println!(
            "  a copy of the image takes {copying:.2} ms, gathering {gather:.3} ms: {} runs",
            again.memory().to_map().mapped.len()
        );
        for extent in extents.iter() {
            print!(" {}+{}", extent.at >> 12, extent.len >> 12);
        }
        println!();
    }
}

/// Measures a case that was slow in the prototype: taking snapshots of ten 500 MB programs at once
/// took seconds. The measurement also rolls back ten programs and makes ten clones at once.
#[test]
#[ignore = "measures; takes seconds and up to 6 GB"]
fn costs_of_ten_programs_at_once() {
    let core = core();
    let sizes = std::env::var("SIZES_MB").unwrap_or_else(|_| "0,10,100,250".to_owned());
    for megabytes in sizes.split(',').map(|size| size.parse().expect("a number")) {
        println!("{megabytes} MB         one, ms  ten, wall       ratio     median    slowest  CPU of one  each of ten");
        let mut one = dirty(&core, megabytes);
        let (_, alone) = measured(|| one.snapshot());
        drop(one);
        let mut guests: Vec<_> = (0..10).map(|_| dirty(&core, megabytes)).collect();
        let saved: Vec<_> = at_once("save", alone, &mut guests, |guest| guest.snapshot().saved);
        let mut pairs: Vec<_> = guests.into_iter().zip(saved).collect();
        let dirty_again = "globalThis.n = 8; for (const buffer of data) buffer.fill(9)";
        pairs.iter_mut().for_each(|(guest, _)| drop(guest.eval(dirty_again)));
        let (guest, saved) = &mut pairs[0];
        let (remains, alone) = measured(|| guest.rollback(saved));
        drop(remains);
        pairs[0].0.eval(dirty_again);
        let remains = at_once("rollback", alone, &mut pairs, |(guest, saved)| guest.rollback(saved));
        let mut remains: Vec<_> = remains.into_iter().map(Some).collect();
        let (_, alone) = measured(|| drop(remains[0].take()));
        at_once("free", alone, &mut remains[1..], |remains| drop(remains.take()));
        let bare = |core| (Guest::bare_program(core), pairs[0].0.factory.clone());
        let (made_of, saved) = (bare(&core), pairs[0].1.clone());
        let (copy, alone) = measured(|| Guest::with_program(made_of.0, made_of.1, &saved));
        drop(copy);
        let mut wanted: Vec<_> = pairs.iter().map(|(_, saved)| (Some(bare(&core)), saved.clone())).collect();
        let copies = at_once("copy", alone, &mut wanted, |(bare, saved)| {
            let (bare, factory) = bare.take().expect("once");
            Guest::with_program(bare, factory, saved)
        });
        for mut copy in copies {
            assert_eq!(copy.eval(ANSWER), format!("7 {megabytes} true"));
        }
    }
}

/// The start and end of one piece of work, and its CPU time in milliseconds.
#[derive(Clone, Copy)]
struct Measured {
    began: Instant,
    ended: Instant,
    cpu: f64,
}

impl Measured {
    fn wall(self) -> f64 {
        (self.ended - self.began).as_secs_f64() * 1e3
    }
}

fn measured<T>(work: impl FnOnce() -> T) -> (T, Measured) {
    let (began, before) = (Instant::now(), coldframe_sys::thread_usage().cpu_ns);
    let result = work();
    let cpu = (coldframe_sys::thread_usage().cpu_ns - before) as f64 / 1e6;
    (result, Measured { began, ended: Instant::now(), cpu })
}

/// Runs `work` on all items at once, each on a thread that waits until all threads have started.
/// `alone` is the cost of one item without the other items.
fn at_once<T: Send, R: Send>(what: &str, alone: Measured, of: &mut [T], work: impl Fn(&mut T) -> R + Sync) -> Vec<R> {
    let ready = std::sync::Barrier::new(of.len());
    let results: Vec<(R, Measured)> = std::thread::scope(|scope| {
        let (work, ready) = (&work, &ready);
        let start = |item| {
            scope.spawn(move || {
                ready.wait();
                measured(|| work(item))
            })
        };
        let running: Vec<_> = of.iter_mut().map(start).collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let (results, took): (Vec<R>, Vec<Measured>) = results.into_iter().unzip();
    let began = took.iter().map(|took| took.began).min().expect("some");
    let wall = took.iter().map(|took| (took.ended - began).as_secs_f64() * 1e3).fold(0.0, f64::max);
    let slowest = took.iter().map(|took| took.wall()).fold(0.0, f64::max);
    let cpu: f64 = took.iter().map(|took| took.cpu).sum();
    let (one, times) = (alone.wall(), took.iter().map(|took| took.wall()).collect());
    println!(
        "  {what:10} {one:10.3} {wall:10.3} {:10.1} {:10.3} {slowest:10.3} {:10.3} {:10.3}",
        wall / one,
        median(times),
        alone.cpu,
        cpu / of.len() as f64
    );
    results
}
