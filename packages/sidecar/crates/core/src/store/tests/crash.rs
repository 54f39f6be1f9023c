//! A process that is killed while writing leaves no file or a whole snapshot, and the snapshots
//! that only this process needed can be removed.

use super::*;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The variable that names the child's folder.
const FOLDER: &str = "COLDFRAME_TEST_CRASH";
const ROUNDS: u64 = 30;

/// Returns the store of a child process. Returns `None` in the test's own process.
fn in_child() -> Option<(Core, LayeredStore<FakeSnapshot>)> {
    let path = std::env::var_os(FOLDER)?;
    let core = crate::tests::core();
    let store = open_store(&core, Path::new(&path));
    Some((core, store))
}

/// The body of a child process that writes until a test kills the process.
#[test]
#[ignore = "runs in a process of its own"]
fn child_that_writes() {
    let Some((core, store)) = in_child() else { return };
    println!("ready");
    for round in 0_u8.. {
        let one = fake(&core, "t", None, 40, round);
        store.write(&one, Retention::No).expect("written");
        println!("wrote {}", one.info.id);
    }
}

/// The body of a child process that needs a snapshot until a test kills the process.
#[test]
#[ignore = "runs in a process of its own"]
fn child_that_needs_a_snapshot() {
    let Some((core, store)) = in_child() else { return };
    store.write(&fake(&core, "t", None, 40, 0), Retention::WhileOpen).expect("written");
    println!("ready");
    let _ = std::io::stdin().read_line(&mut String::new());
}

fn start(name: &str, scratch: &Scratch) -> (Child, impl Iterator<Item = String>) {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", &format!("store::tests::crash::{name}"), "--nocapture", "--test-threads=1"])
        .env(FOLDER, &scratch.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    assert!(lines.by_ref().any(|line| line.ends_with("ready")));
    (child, lines)
}

#[test]
fn a_killed_process_no_longer_keeps_its_snapshots() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let (mut child, _lines) = start("child_that_needs_a_snapshot", &scratch);
    let one = fake(&core, "u", None, 40, 1);
    let room = 60 * PAGE as u64;
    let store = LayeredStore::<FakeSnapshot>::new(core.installation().clone(), MIB, scratch.0.clone(), room);
    assert_eq!(code(store.write(&one, Retention::No)), "ERR_RESOURCE_EXHAUSTED");
    child.kill().expect("killed");
    child.wait().expect("an exit status");
    assert_eq!(listed(&store, "t").len(), 1, "the snapshot is still listed");
    store.write(&one, Retention::No).expect("written");
    assert_eq!(listed(&store, "t").len(), 0);
}

#[test]
fn a_process_killed_while_writing_leaves_whole_snapshots_only() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let mut reported = 0;
    for round in 0..ROUNDS {
        let (mut child, mut lines) = start("child_that_writes", &scratch);
        // The child is killed during one of the first writes, or directly after such a write.
        let mut wrote: Vec<String> = lines.by_ref().take(round as usize % 3).collect();
        std::thread::sleep(Duration::from_micros(round * 397 % 9_000));
        child.kill().expect("killed");
        wrote.extend(lines);
        child.wait().expect("an exit status");
        let store = open_store(&core, &scratch.0);
        let here = listed(&store, "t");
        for id in wrote.iter().filter_map(|line| line.strip_prefix("wrote ")) {
            assert!(here.iter().any(|(one, _)| one == id), "a snapshot that was reported as written exists");
            reported += 1;
        }
        for (id, _) in here {
            let found = store.get("t", &id).expect("whole");
            let bytes = &memory_bytes(&core, &found)[0].1;
            assert!(bytes.len() == 40 * PAGE && bytes.iter().all(|byte| *byte == bytes[0]));
            store.delete("t", &id).expect("deleted");
        }
        assert_eq!(scratch.names(), ["lock"], "round {round}");
    }
    assert!(reported > ROUNDS / 3, "the child reported {reported} writes");
}
