//! A stand-in for an escaped guest: native code in the sidecar's process, behind the real wall. The
//! test needs the feature `stand-in`, which no release has.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(dead_code, reason = "each test file uses its part of `common`")]

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use common::{Copies, SIDECAR, arguments, command};

/// A folder with a secret, and a copy of the image, which the attempts without the wall change.
struct Stage(PathBuf, Copies);

impl Stage {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("coldframe-stand-in-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("secret"), "secret").unwrap();
        Self(folder, Copies::new(name))
    }

    fn run(&self, more: &[&str]) -> Output {
        let (mut command, _ours, theirs) = command(SIDECAR);
        let (folder, image) = (self.0.to_str().unwrap(), self.1.image());
        let options = ["--image", image.to_str().unwrap(), "--stand-in", folder];
        command.args(arguments(&theirs)).args(options).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap()
    }

    /// Returns the control and the result of each attempt.
    fn attempts(&self, more: &[&str]) -> BTreeMap<String, (String, String)> {
        let output = self.run(more);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && text.ends_with("all attempts made\n"), "{:?}: {text}", output.status);
        let row = |line: &str| {
            let mut parts = line.split('\t').map(str::to_owned);
            Some((parts.next()?, (parts.next()?, parts.next()?)))
        };
        text.lines().filter_map(row).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The attempt that the filter answers with the end of the process.
const ENDS: &str = "calls the kernel as x32";

fn names(attempts: &BTreeMap<String, (String, String)>, keep: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let kept = attempts.iter().filter(|(_, (control, result))| keep(control, result));
    kept.map(|(name, (_, result))| format!("{name}: {result}")).collect()
}

#[test]
fn the_wall_refuses_what_an_escaped_guest_tries() {
    let stage = Stage::new("walled");
    // The parents of the folder of snapshots exist behind the wall, as empty folders.
    let snapshots = Stage::new("snapshots");
    let snapshots = &snapshots.0;
    let attempts = stage.attempts(&["--snapshots", snapshots.to_str().unwrap()]);
    assert!(attempts.len() >= 40, "{} attempts", attempts.len());
    assert_eq!(names(&attempts, |_, result| result == "done"), [""; 0]);
    assert_eq!(std::fs::read_to_string(stage.0.join("secret")).unwrap(), "secret");
}

#[test]
fn the_attempts_succeed_without_the_wall() {
    if !rustix::process::geteuid().is_root() {
        return; // The attempts need the rights of root to show that the wall refuses them.
    }
    let stage = Stage::new("open");
    let attempts = stage.attempts(&["--walls", "off"]);
    let controls = attempts.values().filter(|(control, _)| control == "Succeeds").count();
    assert!(controls >= 40, "{controls} controls");
    assert_eq!(names(&attempts, |control, result| control == "Succeeds" && result != "done"), [""; 0]);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_call_of_another_architecture_ends_the_process() {
    use std::os::unix::process::ExitStatusExt;
    let stage = Stage::new("x32");
    let output = stage.run(&["--only", ENDS]);
    assert_eq!(output.status.signal(), Some(libc::SIGSYS), "{:?}", String::from_utf8_lossy(&output.stderr));
}
