//! A refused operation returns a named error, changes nothing, and leaves no state behind.

use super::*;
use crate::Limits;

/// The error codes of a limit that is too narrow.
const LIMIT_CODES: [&str; 2] = ["ERR_RESOURCE_EXHAUSTED", "ERR_MEMORY_LIMIT"];

fn source(core: &Core) -> (Runtime, Arc<Snapshot>) {
    let source = runtime(core);
    let mut first = runner(&source);
    first.eval(
        "globalThis.buffers = Array.from({ length: 12 }, () => Buffer.alloc(1 << 20, 1)); globalThis.text = 'x'.repeat(3e6)",
    );
    let _second = runner(&source);
    source.files().write("/workspace/big", &vec![7; 200_000], false).expect("room");
    let snapshot = take(&source);
    (source, snapshot)
}

#[test]
fn a_restore_into_limits_below_the_snapshots_usage_is_refused() {
    let core = core();
    let (source, snapshot) = source(&core);
    let before = core.resources();
    let wide = *snapshot.limits();
    let image = core.installation().image_len();
    let cases = [
        ("memoryBytes", Limits { memory_bytes: image + (2 << 20), ..wide }),
        ("totalMemoryBytes", Limits { total_memory_bytes: image + (24 << 20), ..wide }),
        ("processes", Limits { processes: 1, ..wide }),
        ("filesystemBytes", Limits { filesystem_bytes: 100_000, ..wide }),
    ];
    for (name, limits) in cases {
        let refused = try_copy(&core, &snapshot, RestoreOptions { limits: Some(limits), ..RestoreOptions::default() });
        let error = refused.err().unwrap_or_else(|| panic!("{name} is too narrow"));
        assert!(LIMIT_CODES.contains(&error.code()), "{name}: {error}");
        let after = core.resources();
        assert_eq!((after.runtimes, after.processes), (before.runtimes, before.processes), "{name}");
    }
    let bad = RestoreOptions { cwd: Some("relative".to_owned()), ..RestoreOptions::default() };
    assert_eq!(try_copy(&core, &snapshot, bad).err().map(|error| error.code()), Some("ERR_INVALID_REQUEST"));
    assert_eq!(source.inner().counts().1, 2);
    copy(&core, &snapshot);
}

#[test]
fn a_failed_rollback_changes_nothing() {
    let core = core();
    let (_big, snapshot) = source(&core);
    let limits = Limits { total_memory_bytes: core.installation().image_len() + (20 << 20), ..Limits::default() };
    let small = core.create_runtime(RuntimeOptions { limits, ..RuntimeOptions::default() }).expect("a runtime");
    let mut runner = runner(&small);
    runner.eval("globalThis.n = 5");
    small.files().write("/workspace/mine", b"1", false).expect("room");
    let error = small.rollback(&snapshot, &mut |_, _| panic!("no sink is assigned")).expect_err("too large");
    assert!(LIMIT_CODES.contains(&error.code()), "{error}");
    assert_eq!(runner.eval("console.log(++n)"), "6");
    assert!(small.files().stat("/workspace/mine", true).is_ok());
    assert_eq!(small.inner().counts().1, 1);
    small.dispose();
    let error = small.rollback(&snapshot, &mut |_, _| panic!("no sink is assigned")).expect_err("disposed");
    assert!(["ERR_RUNTIME_DISPOSED", LIMIT_CODES[0], LIMIT_CODES[1]].contains(&error.code()));
    assert_eq!(try_take(&small, SnapshotOptions::default()).err(), Some(Error::RuntimeDisposed));
}

#[test]
fn a_snapshot_name_that_is_an_id_is_refused() {
    let core = core();
    let runtime = runtime(&core);
    let id = take(&runtime).info().id.clone();
    let named = |name: &str| try_take(&runtime, SnapshotOptions { name: Some(name.to_owned()), ..SnapshotOptions::default() });
    assert_eq!(named(&id).err().map(|error| error.code()), Some("ERR_INVALID_REQUEST"));
    assert!(named("snap-first").is_ok());
}
