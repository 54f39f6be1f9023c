//! A process that is killed while it writes leaves nothing or a whole snapshot, and what it alone needed is nobody's.

use super::*;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Tells the child where to write.
const FOLDER: &str = "COLDFRAME_TEST_CRASH";
const ROUNDS: u64 = 30;

/// What a child works with; nothing where no child was started.
fn in_child() -> Option<(Core, Shelves<Paper>)> {
    let path = std::env::var_os(FOLDER)?;
    let core = crate::tests::core();
    let shelves = shelves(&core, Path::new(&path));
    Some((core, shelves))
}

/// Not a test: what the child does until it is killed.
#[test]
#[ignore = "runs in a process of its own"]
fn child() {
    let Some((core, shelves)) = in_child() else { return };
    println!("ready");
    for round in 0_u8.. {
        let one = paper(&core, "t", None, 40, round);
        shelves.write(&one, Stay::No).expect("written");
        println!("wrote {}", one.info.id);
    }
}

/// Not a test: what another child does until it is killed.
#[test]
#[ignore = "runs in a process of its own"]
fn sleeper() {
    let Some((core, shelves)) = in_child() else { return };
    shelves.write(&paper(&core, "t", None, 40, 0), Stay::WhileOpen).expect("written");
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
fn what_a_process_needs_is_nobody_s_when_it_was_killed() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let (mut child, _lines) = start("sleeper", &scratch);
    let one = paper(&core, "u", None, 40, 1);
    let room = 60 * PAGE as u64;
    let shelves = Shelves::<Paper>::new(core, MIB, scratch.0.clone(), room);
    assert_eq!(code(shelves.write(&one, Stay::No)), "ERR_RESOURCE_EXHAUSTED");
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert_eq!(listed(&shelves, "t").len(), 1, "it can still be had");
    shelves.write(&one, Stay::No).expect("written");
    assert_eq!(listed(&shelves, "t").len(), 0);
}

#[test]
fn killed_while_writing() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let mut told = 0;
    for round in 0..ROUNDS {
        let (mut child, mut lines) = start("child", &scratch);
        // Somewhere in one of the first writes, or right after one.
        let mut wrote: Vec<String> = lines.by_ref().take(round as usize % 3).collect();
        std::thread::sleep(Duration::from_micros(round * 397 % 9_000));
        child.kill().expect("killed");
        wrote.extend(lines);
        child.wait().expect("gone");
        let shelves = shelves(&core, &scratch.0);
        let here = listed(&shelves, "t");
        for id in wrote.iter().filter_map(|line| line.strip_prefix("wrote ")) {
            assert!(here.iter().any(|(one, _)| one == id), "what was told to be written is there");
            told += 1;
        }
        for (id, _) in here {
            let found = shelves.get("t", &id).expect("whole");
            let bytes = &bytes_of(&core, &found)[0].1;
            assert!(bytes.len() == 40 * PAGE && bytes.iter().all(|byte| *byte == bytes[0]));
            shelves.delete("t", &id).expect("deleted");
        }
        assert_eq!(scratch.names(), ["lock"], "round {round}");
    }
    assert!(told > ROUNDS / 3, "the child came to write: {told}");
}
