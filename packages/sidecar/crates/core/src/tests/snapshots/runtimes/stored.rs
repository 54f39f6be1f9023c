//! Tests of runtimes that are stored on disk. Another core opens the snapshot, as after a restart,
//! and the programs continue.

use super::families::{TALK, TALKED, parent, streaming, until_line};
use super::*;
use crate::Retention;
use crate::{Store, StoreOptions, Stored};

/// A store in a folder that is removed when the test ends.
struct TestStore {
    folder: PathBuf,
}

impl TestStore {
    fn new(name: &str) -> Self {
        Self { folder: std::env::temp_dir().join(format!("coldframe-stored-{}-{name}", std::process::id())) }
    }

    fn open(&self, core: &Core) -> Store {
        Store::open(core, StoreOptions { directory: Some(self.folder.clone()), ..StoreOptions::default() })
    }
}

impl Drop for TestStore {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn options(name: &str) -> SnapshotOptions {
    SnapshotOptions { name: Some(name.to_owned()), tenant: "t".to_owned(), ..SnapshotOptions::default() }
}

#[test]
fn a_runner_continues_after_a_restart() {
    let kept = TestStore::new("runner");
    let id = {
        let core = core();
        let source = runtime(&core);
        let mut runner = runner(&source);
        runner.eval(
            "const fs = process.getBuiltinModule('fs'); globalThis.n = 41; globalThis.big = Buffer.alloc(3 << 20, 7);
            fs.mkdirSync('/tmp/a'); fs.writeFileSync('/tmp/a/b', 'text'); globalThis.fd = fs.openSync('/tmp/a/b')",
        );
        let (snapshot, _) = try_take(&source, options("paused")).expect("a snapshot");
        let store = kept.open(&core);
        store.write(&snapshot, Retention::No).expect("written");
        let digest = store.digest("t", "paused").expect("a digest");
        // The snapshot in memory and the snapshot from its file have equal content.
        let opened = store.get("t", "paused").expect("opened");
        assert_eq!(
            (opened.info(), opened.programs(), opened.cwd(), opened.env(), opened.limits()),
            (snapshot.info(), snapshot.programs(), snapshot.cwd(), snapshot.env(), snapshot.limits())
        );
        store.keep(&snapshot).expect("kept");
        assert_eq!(store.digest("t", &snapshot.info().id), Ok(digest));
        snapshot.info().id.clone()
    };
    let core = core();
    let store = kept.open(&core);
    assert_eq!(store.find("t", "paused").map(|(info, stored)| (info.id, stored)), Ok((id.clone(), Stored::Disk)));
    let snapshot = store.get("t", &id).expect("opened");
    let (copied, mut runner) = copy(&core, &snapshot).runner();
    let state = "const s = process.getBuiltinModule('fs');
        console.log(++n, big.every((byte) => byte === 7), s.readFileSync(fd, 'utf8'), s.readdirSync('/tmp/a').join())";
    assert_eq!(runner.eval(state), "42 true text b");
    // A snapshot of a runtime that was restored from a file can be written, as a child of the first
    // snapshot.
    let (second, _) = try_take(&copied, options("later")).expect("a snapshot");
    assert_eq!(second.info().parent.as_ref(), Some(&id));
    store.write(&second, Retention::No).expect("written");
    store.delete("t", &id).expect("deleted");
    drop((snapshot, copied, runner));
    let (_runtime, mut runner) = copy(&core, &store.get("t", "later").expect("opened")).runner();
    assert_eq!(
        runner.eval("console.log(n, big.length)"),
        format!("42 {}", 3 << 20),
        "the second snapshot does not depend on the first"
    );
}

#[test]
fn a_snapshot_with_unrepresentable_options_is_refused() {
    let core = core();
    let source = runtime(&core);
    let before = take(&source);
    let proto = vec![("__proto__".to_owned(), "x".to_owned())];
    for wrong in [
        SnapshotOptions { labels: proto, ..options("a") },
        options(""),
        SnapshotOptions { tenant: "t".repeat(201), ..options("a") },
    ] {
        assert_eq!(try_take(&source, wrong).map(drop).map_err(|error| error.code()), Err("ERR_INVALID_REQUEST"));
    }
    assert_eq!(take(&source).info().parent.as_ref(), Some(&before.info().id), "refused snapshots are no parents");
}

#[test]
fn a_parent_and_its_child_continue_after_a_restart() {
    let kept = TestStore::new("family");
    {
        let core = core();
        let source = runtime(&core);
        let (process, events) = start(&source, streaming(parent(TALK)), Dispatch::Worker);
        until_line(&process, &events, "ready");
        let (snapshot, _) = try_take(&source, options("family")).expect("a snapshot");
        assert_eq!(snapshot.programs().len(), 2);
        kept.open(&core).write(&snapshot, Retention::No).expect("written");
    }
    let core = core();
    let snapshot = kept.open(&core).get("t", "family").expect("opened");
    let copied = copy(&core, &snapshot);
    let outcome = exited(&copied.events[&snapshot.programs()[0].pid]);
    assert_eq!((text(&outcome.stdout).as_str(), outcome.exit_code), (TALKED, 0));
}

#[test]
fn an_exported_runtime_moves_to_another_store() {
    let (here, there) = (TestStore::new("here"), TestStore::new("there"));
    let file = std::env::temp_dir().join(format!("coldframe-exported-{}", std::process::id()));
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    runner.eval("globalThis.n = 1");
    let (snapshot, _) = try_take(&source, options("moves")).expect("a snapshot");
    let store = here.open(&core);
    store.keep(&snapshot).expect("kept");
    store.export("t", "moves", &file).expect("exported");
    let other = super::super::super::core();
    let store = there.open(&other);
    let (info, _) = store.import("new-tenant", &file).expect("imported");
    assert_eq!((info.tenant.as_str(), info.name.as_deref()), ("new-tenant", Some("moves")));
    let (_runtime, mut runner) = copy(&other, &store.get("new-tenant", "moves").expect("opened")).runner();
    assert_eq!(runner.eval("console.log(++n)"), "2");
    std::fs::remove_file(&file).expect("removed");
}

/// A digest detects any changed byte of the state. If an attacker computes a new digest, the state
/// is refused or can be restored. No code panics.
#[test]
fn forged_states_are_refused_or_work() {
    let core = core();
    let source = runtime(&core);
    let mut runner = runner(&source);
    runner.eval(
        "process.getBuiltinModule('fs').writeFileSync('/tmp/x', 'y');
        globalThis.server = process.getBuiltinModule('net').createServer().listen(80);
        await new Promise((done) => server.once('listening', done)); server.unref()",
    );
    let snapshot = take(&source);
    let state = snapshot.state_bytes().expect("bytes");
    let remade = |state: &[u8]| Snapshot::assemble(core.installation(), snapshot.info().clone(), state, snapshot.memories());
    assert_eq!(remade(&state).expect("a valid state").state_bytes().map(|bytes| bytes.len()), Ok(state.len()));
    let mut seed = 3_u64;
    let mut below = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) as usize) % most
    };
    let mut refused = 0;
    for round in 0..600 {
        let mut wild = state.clone();
        match round % 3 {
            0 => wild.truncate(below(state.len())),
            1 => wild[below(state.len())] = below(256) as u8,
            _ => drop(wild.splice(below(state.len())..state.len(), (0..below(200)).map(|byte| byte as u8))),
        }
        match remade(&wild) {
            Err(error) => {
                assert!(["ERR_SNAPSHOT_DAMAGED", "ERR_SNAPSHOT_FOREIGN"].contains(&error.code()), "{error}");
                refused += 1;
            }
            Ok(made) => drop(try_copy(&core, &made, RestoreOptions::default())),
        }
    }
    assert!(refused > 200, "{refused}");
    let fewer = Snapshot::assemble(core.installation(), snapshot.info().clone(), &state, Vec::new());
    assert_eq!(fewer.err().map(|error| error.code()), Some("ERR_SNAPSHOT_DAMAGED"));
    assert_eq!(runner.eval("console.log(1)"), "1");
}

#[test]
fn a_snapshot_is_used_while_runtimes_restored_from_it_exist() {
    let core = core();
    let source = runtime(&core);
    let (first, second) = (take(&source), take(&source));
    assert!(!first.is_used(), "the source was not restored from the snapshot");
    let copied = copy(&core, &first).runtime;
    assert!(first.is_used() && !second.is_used());
    rollback(&copied, &second);
    assert!(!first.is_used() && second.is_used());
    let later = take(&copied);
    copied.dispose();
    assert!(!second.is_used() && !later.is_used());
}
