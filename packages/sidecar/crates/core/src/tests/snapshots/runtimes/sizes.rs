//! The size of a snapshot includes all state that the snapshot keeps beside the memory of its
//! programs.

use super::*;

#[test]
fn captured_output_environment_and_labels_are_in_the_size() {
    let core = core();
    let large = "x".repeat(200_000);
    let options = RuntimeOptions { env: vec![("LARGE".to_owned(), large.clone())], ..RuntimeOptions::default() };
    let runtime = core.create_runtime(options).expect("a runtime");
    let bare = core.create_runtime(RuntimeOptions::default()).expect("another");
    let size = |runtime: &Runtime, options: SnapshotOptions| try_take(runtime, options).expect("a snapshot").0.info().size;
    let labels = || (0..60).map(|number| (number.to_string(), "x".repeat(1_000))).collect();
    let labelled = || SnapshotOptions { labels: labels(), ..SnapshotOptions::default() };
    let nothing = size(&bare, SnapshotOptions::default());
    assert!(nothing >= 4 << 10, "an empty snapshot has a size too: {nothing}");
    assert!(size(&bare, labelled()) >= nothing + 60_000);
    assert!(size(&runtime, SnapshotOptions::default()) >= nothing + 200_000);
    // The output is captured and not reported before the evaluation ends.
    let mut runner = runner(&bare);
    let before = size(&bare, SnapshotOptions::default());
    runner.begin(
        "const b = Buffer.alloc(1 << 16, 97);
        for (let i = 0; i < 40; i++) { process.stdout.write(b); process.stderr.write(b); }
        await new Promise((f) => setTimeout(f, 1e6))",
    );
    let began = std::time::Instant::now();
    let mut after = before;
    while after < before + (5 << 20) {
        assert!(began.elapsed() < STEP_TIMEOUT, "{after} and {before} before");
        after = size(&bare, SnapshotOptions::default());
    }
    // The standard input was passed and not read.
    let fed = core.create_runtime(RuntimeOptions::default()).expect("a third");
    let unread = ProcessOptions { stdin: vec![1; 8 << 20], ..exec("setTimeout(() => {}, 1e6)") };
    let (_process, _told) = start(&fed, unread, Dispatch::Worker);
    assert!(size(&fed, SnapshotOptions::default()) >= 8 << 20);
}
