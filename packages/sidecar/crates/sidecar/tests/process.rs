//! Tests of the sidecar as a process: arguments, hardening, exit, and programs.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(dead_code, reason = "each test file uses its part of `common`")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use coldframe_ids::RunnerId;
use coldframe_protocol::encode;
use coldframe_protocol::messages::*;
use common::{Parent, SIDECAR, arguments, command, eventually, fact, program, text, wait_for_exit};
use rustix::process::Resource;

const ENDLESS: &str = "p: while (true) {}";

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(SIDECAR).args(arguments).stdin(Stdio::null()).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), stdout, stderr)
}

#[test]
fn prints_its_version_and_its_help() {
    let (code, stdout, _) = run(&["--help"]);
    assert_eq!(code, Some(0));
    for option in ["--channel-fd", "--image", "--workers", "--warm-slots", "--spin-us", "--inline-us", "--version"] {
        assert!(stdout.contains(option), "{option} is not in {stdout}");
    }
    assert_eq!(run(&["--version"]), (Some(0), format!("{VERSION}\n"), String::new()));
}

#[test]
fn wrong_arguments_are_named() {
    for (arguments, complaint) in [
        (&[][..], "--channel-fd N is missing"),
        (&["--channel-fd", "3"], "--image DIR is missing"),
        (&["--channel-fd", "x", "--image", "."], "--channel-fd: expected a whole number from 3 to 2147483647, received \"x\""),
        (&["--channel-fd", "2", "--image", "."], "--channel-fd: expected a whole number from 3"),
        (&["--workers", "0"], "--workers: expected a whole number from 1 to 256, received \"0\""),
        (&["--spin-us", "1e3"], "--spin-us: expected"),
        (&["--image"], "missing argument for option '--image'"),
        (&["--colour"], "invalid option '--colour'"),
        (&["stray"], "unexpected argument \"stray\""),
        (
            &["--channel-fd", "99", "--image", "."],
            "--channel-fd: expected the descriptor of a connected Unix stream socket, received 99",
        ),
    ] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("coldframe-sidecar: ") && stderr.contains(complaint), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_missing_image_is_reported_on_the_channel() {
    let (mut command, mut socket, theirs) = command(SIDECAR);
    let mut arguments = arguments(&theirs);
    arguments.extend(["--image".to_owned(), "/nonexistent".to_owned()]);
    let mut child = command.args(arguments).stderr(Stdio::piped()).spawn().unwrap();
    drop(theirs);
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).unwrap();
    let frame = coldframe_protocol::Frame::parse(&bytes[4..]).unwrap();
    let failure: Failure<'_> = coldframe_protocol::reader::read(frame.body).unwrap();
    assert_eq!((frame.kind, frame.id, failure.code.as_ref()), (Kind::Error.number(), 0, "ERR_IMAGE"));
    assert!(matches!(fact(&failure, "path"), Fact::Text(path) if path.starts_with("/nonexistent")));
    assert_eq!(wait_for_exit(&mut child).code(), Some(1));
}

#[test]
fn runs_a_program() {
    for inline in ["0", "200"] {
        let mut parent = Parent::new(&["--inline-us", inline]);
        let runtime = parent.runtime();
        for id in 2..20 {
            let received = parent.ask(Kind::ProcessStart, id, &program(runtime, "0; process.exit(5)"));
            let outcome: Outcome<'_> = received.read();
            assert_eq!((outcome.exit_code, outcome.failure.as_ref()), (5, None), "{outcome:?}");
        }
    }
}

#[test]
fn answers_many_programs_at_once() {
    let mut parent = Parent::new(&[]);
    let runtime = parent.runtime();
    let start = program(runtime, "0; process.exit(5)");
    let batch: Vec<u8> = (100..300).flat_map(|id| encode(Kind::ProcessStart, id, &start, 0).unwrap()).collect();
    parent.socket.write_all(&batch).unwrap();
    let mut ids: Vec<u32> = (0..200)
        .map(|_| {
            let received = parent.receive();
            assert_eq!(received.read::<Outcome<'_>>().exit_code, 5);
            received.id
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (100..300).collect::<Vec<_>>());
}

#[test]
fn cancel_ends_an_endless_program() {
    for inline in ["0", "200"] {
        let mut parent = Parent::new(&["--inline-us", inline]);
        let runtime = parent.runtime();
        parent.send(Kind::ProcessStart, 5, &program(runtime, ENDLESS));
        std::thread::sleep(Duration::from_millis(20));
        parent.assert_alive();
        parent.send(Kind::Cancel, 5, &Empty {});
        let received = parent.receive();
        let outcome: Outcome<'_> = received.read();
        assert_eq!((received.id, outcome.exit_code, outcome.failure.unwrap().code.as_ref()), (5, 137, "ERR_CANCELED"));
    }
}

#[test]
fn dispose_ends_the_programs_of_the_runtime() {
    let mut parent = Parent::new(&[]);
    let runtime = parent.runtime();
    parent.send(Kind::ProcessStart, 5, &program(runtime, ENDLESS));
    parent.send(Kind::RuntimeDispose, 6, &RuntimeDispose { runtime });
    let (first, second) = (parent.receive(), parent.receive());
    let (dispose, program) = if first.id == 6 { (first, second) } else { (second, first) };
    assert_eq!((dispose.id, dispose.kind), (6, Kind::Reply));
    assert_eq!((program.id, program.read::<Outcome<'_>>().exit_code), (5, 137));
}

#[test]
fn exits_when_the_channel_closes_while_guests_run() {
    let mut parent = Parent::new(&[]);
    let runtime = parent.runtime();
    for id in 5..10 {
        parent.send(Kind::ProcessStart, id, &program(runtime, ENDLESS));
    }
    parent.assert_alive();
    parent.socket.shutdown(std::net::Shutdown::Both).unwrap();
    assert_eq!(wait_for_exit(&mut parent.child).code(), Some(0));
}

#[test]
fn exits_when_the_parent_process_exits_although_the_channel_is_open() {
    let (mut command, _socket, theirs) = command("sh");
    command.args(["-c", "\"$@\" & echo $!; wait", "sh", SIDECAR]).args(arguments(&theirs));
    let mut shell = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut pid = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut pid).unwrap();
    let process = format!("/proc/{}/stat", pid.trim());
    // The sidecar has reached its main loop when it runs and sleeps.
    eventually("the sidecar does not start", || {
        std::fs::read_to_string(&process).is_ok_and(|s| s.contains("(coldframe-sidec) S"))
    });
    shell.kill().unwrap();
    shell.wait().unwrap();
    eventually("the sidecar has outlived its parent", || match std::fs::read_to_string(&process) {
        Ok(stat) => stat.contains(") Z"), // a zombie that no process has reaped
        Err(_) => true,
    });
}

#[test]
fn keeps_no_descriptor_and_dumps_no_core() {
    let (_stray, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    rustix::io::fcntl_setfd(&theirs, rustix::io::FdFlags::empty()).unwrap();
    let mut parent = Parent::new(&[]);
    parent.assert_alive();
    let pid = parent.child.id();
    let ours = std::fs::read_link(format!("/proc/self/fd/{}", theirs.as_raw_fd())).unwrap();
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap() {
        let target = std::fs::read_link(entry.unwrap().path()).unwrap();
        assert_ne!(target, ours, "a descriptor that was inherited by accident is still open");
    }
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().collect::<Vec<_>>()[4..], ["1", "1", "bytes"], "{core}");
}

#[test]
fn a_disposed_runner_differs_from_a_runner_that_never_existed() {
    let mut parent = Parent::new(&[]);
    let received = parent.ask(Kind::RunnerDispose, 9, &RunnerOnly { runner: RunnerId::new(5).unwrap() });
    assert_eq!(fact(&received.failure(), "what"), text("runner"));
}

#[test]
fn a_program_without_address_space_fails_and_other_programs_continue() {
    let mut parent = Parent::cramped(Resource::As, 48 << 30, &[]);
    let runtime = parent.runtime();
    // Each program takes 4 GiB of addresses and hardly any memory.
    for id in 100..116 {
        parent.send(Kind::ProcessStart, id, &program(runtime, "setTimeout(() => {}, 1e6)"));
    }
    let refused = parent.receive();
    let outcome: Outcome<'_> = refused.read();
    let failure = outcome.failure.expect("a refusal");
    assert_eq!((failure.code.as_ref(), fact(&failure, "resource")), ("ERR_RESOURCE_EXHAUSTED", text("address space")));
    for id in (100..116).filter(|id| *id != refused.id) {
        parent.send(Kind::Cancel, id, &Empty {});
    }
    for _ in 1..16 {
        assert!(parent.receive().read::<Outcome<'_>>().failure.is_some(), "canceled, or refused like the first program");
    }
    let received = parent.ask(Kind::ProcessStart, 200, &program(runtime, "console.log('alive')"));
    assert_eq!(received.read::<Outcome<'_>>().stdout, b"alive\n");
}

#[test]
fn a_file_size_limit_fails_the_write_and_other_programs_continue() {
    let folder = std::env::temp_dir().join(format!("coldframe-file-limit-{}", std::process::id()));
    let mut parent = Parent::cramped(Resource::Fsize, 64 << 10, &["--snapshots", folder.to_str().unwrap()]);
    let runtime = parent.runtime();
    const WRITE: &str = "process.getBuiltinModule('fs').writeFileSync('/tmp/large', Buffer.alloc(2e5, 'x'))";
    // A guest's growth above 1 MiB is in a file, and a snapshot on disk is in a file.
    let received = parent.ask(Kind::ProcessStart, 1, &program(runtime, "console.log(Buffer.alloc(20e6, 1).length)"));
    assert_eq!(received.read::<Outcome<'_>>().exit_code, 134);
    let received = parent.ask(Kind::ProcessStart, 2, &program(runtime, WRITE));
    assert_eq!(received.read::<Outcome<'_>>().exit_code, 0);
    let received = parent.ask(Kind::RuntimePause, 3, &RuntimePause { runtime, timeout_ms: None, temporary: None, freeze: None });
    assert_eq!((received.failure().code.as_ref(), fact(&received.failure(), "errno")), ("ERR_SNAPSHOT_FILE", text("EFBIG")));
    parent.send(Kind::ProcessStart, 4, &program(runtime, "setTimeout(() => {}, 1e6)"));
    let received = parent.ask(Kind::RuntimePause, 5, &RuntimePause { runtime, timeout_ms: None, temporary: None, freeze: None });
    assert_eq!(received.failure().code, "ERR_SNAPSHOT");
    let received = parent.ask(Kind::ProcessStart, 6, &program(runtime, "console.log('alive')"));
    assert_eq!(received.read::<Outcome<'_>>().stdout, b"alive\n");
    assert_eq!(
        std::fs::read_dir(&folder)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part"))
            .count(),
        0
    );
    let _ = std::fs::remove_dir_all(folder);
}
