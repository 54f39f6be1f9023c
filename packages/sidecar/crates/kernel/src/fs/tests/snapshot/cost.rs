//! Measures the time of taking and restoring snapshots: `cargo test --release -p coldframe-kernel
//! --lib -- --ignored snapshot::cost --nocapture`.

use super::*;
use std::hint::black_box;
use std::time::Instant;

fn measure(name: &str, rounds: u32, mut run: impl FnMut()) {
    let began = Instant::now();
    (0..rounds).for_each(|_| run());
    println!("{name}: {:.2} µs", began.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
}

#[test]
#[ignore = "prints figures for profiling"]
fn cost() {
    let with = || RestoreInputs {
        limits: Limits::default(),
        permissions: None,
        mounts: &[],
        file_systems: &[],
        library: Library::missing(),
        warnings: None,
    };
    for files in [0, 10_000] {
        let kernel = Arc::new(Kernel::new(&Limits::default()));
        let mut guest = Guest::of(&kernel, "/workspace");
        for n in 0..files {
            guest.write_file(&format!("/tmp/file{n}"), &[7; 4_096]);
        }
        let saved = kernel.snapshot(&[]);
        measure(&format!("{files} files: snapshot of the files"), 10_000, || drop(black_box(kernel.files.lock().snapshot())));
        measure(&format!("{files} files: snapshot of the kernel"), 10_000, || drop(black_box(kernel.snapshot(&[]))));
        measure(&format!("{files} files: restore of the kernel"), 10_000, || drop(black_box(Kernel::restore(&saved, with()))));
        let mut written = 0;
        measure(&format!("{files} files: to bytes and back, checked"), 20, || {
            let read = kernel.snapshot(&[]).rewritten(|bytes| {
                written = bytes.len();
                bytes
            });
            assert!(read.is_ok());
        });
        println!("{files} files: {written} bytes");
        let saved = snapshot(&[&guest]);
        measure(&format!("{files} files, a program: snapshot"), 10_000, || drop(black_box(snapshot(&[&guest]))));
        measure(&format!("{files} files, a program: restore"), 10_000, || drop(black_box(Kernel::restore(&saved, with()))));
    }
}
