//! Tests of snapshots of runners of Python. A stand-in replaces Python (`tests/python.rs`).

use super::*;
use crate::installation::ImageKind;
use crate::tests::python::{Folder, python};
use crate::{Store, StoreOptions};

fn python_runner(runtime: &Runtime) -> Runner {
    let (process, events) = start(runtime, python(Mode::Resident, ""), Dispatch::Worker);
    Runner::of(process, events)
}

const LIBRARY: &str = "console.log(process.getBuiltinModule('fs').readFileSync('/usr/lib/python3.13/os.py', 'utf8'))";

#[test]
fn a_copy_and_a_rollback_keep_the_state_and_the_image() {
    let folder = Folder::new("copy");
    let core = folder.core();
    let runtime = runtime(&core);
    let mut original = python_runner(&runtime);
    original.eval("globalThis.n = 41");
    let snapshot = take(&runtime);
    assert_eq!(snapshot.memories()[0].image, ImageKind::Python);
    let (_copy, mut copied) = copy(&core, &snapshot).runner();
    assert_eq!(copied.eval("console.log(++n, process.argv0)"), "42 python3");
    assert_eq!(copied.eval(LIBRARY), "name = 'posix'");
    original.eval("n = 0");
    let (programs, _) = rollback(&runtime, &snapshot);
    let mut back = Runner::of(programs[0].1.clone(), original.events);
    assert_eq!(back.eval("console.log(n)"), "41");
    assert_eq!(back.eval(LIBRARY), "name = 'posix'");
}

#[test]
fn a_file_of_a_snapshot_is_restored_in_another_core() {
    let folder = Folder::new("file");
    let scratch = std::env::temp_dir().join(format!("coldframe-python-store-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("a temporary directory");
    let options = StoreOptions { directory: Some(scratch.clone()), max_bytes: u64::MAX, memory_bytes: u64::MAX };
    let file = scratch.join("exported");
    {
        let core = folder.core();
        let runtime = runtime(&core);
        let mut original = python_runner(&runtime);
        original.eval("globalThis.n = 41");
        let store = Store::open(&core, options.clone());
        let snapshot = take(&runtime);
        store.keep(&snapshot).expect("kept");
        store.export("", &snapshot.info().id, &file).expect("exported");
    }
    let import = |core: &Core| {
        let store = Store::open(core, StoreOptions { directory: Some(scratch.join("other")), ..options.clone() });
        let (info, _) = store.import("", &file)?;
        store.get("", &info.id)
    };
    let core = folder.core();
    let (_copy, mut copied) = copy(&core, &import(&core).expect("opened")).runner();
    assert_eq!(copied.eval("console.log(++n, process.argv0)"), "42 python3");
    let without = crate::tests::core();
    assert_eq!(import(&without).map_err(|error| error.code()).err(), Some("ERR_PYTHON_MISSING"));
    std::fs::remove_dir_all(&scratch).expect("removed");
}
