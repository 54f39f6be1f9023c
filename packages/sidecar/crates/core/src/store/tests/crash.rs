//! A process that is killed while it writes leaves nothing or a whole snapshot.

use super::*;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Tells the child where to write.
const FOLDER: &str = "COLDFRAME_TEST_CRASH";
const ROUNDS: u64 = 30;

/// Not a test: what the child does until it is killed.
#[test]
#[ignore = "runs in a process of its own"]
fn child() {
    let Some(path) = std::env::var_os(FOLDER) else { return };
    let core = crate::tests::core();
    let shelves = shelves(&core, Path::new(&path));
    println!("ready");
    for round in 0_u8.. {
        let one = paper(&core, "t", None, 40, round);
        shelves.write(&one, false).expect("written");
        println!("wrote {}", one.info.id);
    }
}

#[test]
fn killed_while_writing() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let mut told = 0;
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--ignored", "--exact", "store::tests::crash::child", "--nocapture", "--test-threads=1"])
            .env(FOLDER, &scratch.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        assert!(lines.by_ref().any(|line| line.ends_with("ready")));
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
