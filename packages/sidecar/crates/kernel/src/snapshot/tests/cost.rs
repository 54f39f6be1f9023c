//! Measures the time of a snapshot and of a restore: `cargo test --profile builder -p
//! coldframe-kernel --lib -- --ignored --nocapture snapshot::tests::cost`.

use super::*;
use coldframe_abi::system_calls::SocketCall;
use std::time::Instant;

/// Returns the median of 2,000 runs, in microseconds.
fn median(mut run: impl FnMut()) -> f64 {
    let mut samples: Vec<f64> = (0..2_000)
        .map(|_| {
            let began = Instant::now();
            run();
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn report(name: &str, world: &TestKernel) {
    let saved = world.snapshot();
    let mut kept = Vec::new();
    let with = || RestoreInputs {
        limits: Limits::default(),
        permissions: None,
        mounts: &[],
        file_systems: &[],
        library: Library::missing(),
        warnings: None,
    };
    let save = median(|| kept.push(world.snapshot()));
    kept.clear();
    let mut copies = Vec::new();
    let restore = median(|| copies.push(Kernel::restore(&saved, with()).expect("nothing is missing")));
    let bytes = saved.encode().expect("an encoded snapshot");
    let encode = median(|| drop(saved.encode()));
    let mut read = Vec::new();
    let decode = median(|| read.push(KernelSnapshot::decode(&bytes).expect("a decoded snapshot")));
    let len = bytes.len();
    println!("{name}: save {save:.1} µs, restore {restore:.1} µs; {len} bytes, encode {encode:.1} µs, decode {decode:.1} µs");
}

#[test]
#[ignore = "prints figures"]
fn prints_the_cost_of_a_snapshot_and_a_restore() {
    let made = median(|| drop(Kernel::new(&Limits::default())));
    println!("a new kernel: {made:.1} µs, created and dropped");
    report("one process", &TestKernel::new(1));
    report("ten processes", &TestKernel::new(10));
    let busy = TestKernel::new(1);
    for _ in 0..50 {
        let (one, _) = busy.guests[0].pair();
        busy.guests[0].write(one, &[1; 1_000]).expect("room");
        busy.guests[0].ok(SocketCall::Arm, &[one.into(), READ.into()]);
    }
    report("one process with 50 pipes", &busy);
}
