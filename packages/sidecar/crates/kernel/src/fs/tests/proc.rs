//! Tests of `/proc` and `/dev`: the texts, the process that a text describes, and the targets of
//! descriptor links.

use super::super::super::Kernel;
use super::{Arg, Guest};
use crate::limits::Limits;
use crate::permissions::policy::{PermissionPolicy, PermissionRule, ScopePolicy, Verdict};
use crate::processes::ProgramKind;
use crate::text::variables;
use coldframe_abi::system_calls::FileCall;
use std::sync::Arc;

const OPEN: FileCall = FileCall::Open;
const READ: FileCall = FileCall::Read;
const WRITE: FileCall = FileCall::Write;
const UNLINK: FileCall = FileCall::Unlink;
const READLINK: FileCall = FileCall::Readlink;
const ENOENT: i64 = -2;
const ENXIO: i64 = -6;
const EACCES: i64 = -13;
const EROFS: i64 = -30;

fn guest() -> Guest {
    Guest::new(Limits::default())
}

fn text(guest: &mut Guest, path: &str) -> String {
    let fd = guest.plain(OPEN, &[path.into(), 0.into(), 0.into()]);
    assert!(fd >= 0, "{path}: {fd}");
    let (count, bytes) = guest.sys(READ, &[fd.into(), Arg::Room(8_192), (-1).into()]);
    assert_eq!(guest.sys(READ, &[fd.into(), Arg::Room(8_192), (-1).into()]).0, 0, "{path} ends");
    guest.plain(FileCall::Close, &[fd.into()]);
    let text = String::from_utf8_lossy(&bytes[..count as usize]).into_owned();
    // The two lengths may differ, because the size of the test process changes with each call.
    let (len, _) = guest.sys(FileCall::ReadFile, &[path.into(), Arg::Room(8_192)]);
    assert_eq!(len > 0, count > 0, "{path} can be read at once");
    text
}

fn link(guest: &mut Guest, path: &str) -> String {
    let (len, target) = guest.sys(READLINK, &[path.into(), Arg::Room(200)]);
    assert!(len >= 0, "{path}: {len}");
    String::from_utf8_lossy(&target[..len as usize]).into_owned()
}

/// Returns the path and the type of each file below `top`, without following links.
fn all(guest: &mut Guest, top: &str) -> Vec<(String, u8)> {
    let (mut found, mut left) = (Vec::new(), vec![top.to_owned()]);
    while let Some(path) = left.pop() {
        for (name, kind) in guest.list(&path, 300).expect("a directory") {
            let below = format!("{path}/{name}");
            if kind == 2 {
                left.push(below.clone());
            }
            found.push((below, kind));
        }
    }
    found
}

#[test]
fn every_listed_file_exists_and_is_readable() {
    let mut guest = guest();
    guest.program.process().facts.set(&ProgramKind::Node, &["node".into(), "a b".into()], &[("KEY".into(), "value".into())]);
    let found = all(&mut guest, "/proc");
    assert!(found.len() > 30, "{found:?}");
    for (path, kind) in &found {
        // The listing contains the descriptor through which the test read the directory. That
        // descriptor is closed.
        if path.ends_with("/fd/3") {
            continue;
        }
        let stat = guest.stat(path, false).unwrap_or_else(|error| panic!("{path}: {error}"));
        let bits = [0, 0o100_000, 0o040_000, 0o120_000][usize::from(*kind)];
        assert_eq!(stat[1] as u32 & 0o170_000, bits, "{path}");
        match kind {
            1 => drop(text(&mut guest, path)),
            3 => drop(link(&mut guest, path)),
            _ => {}
        }
    }
    assert_eq!(text(&mut guest, "/proc/self/cmdline"), "node\0a b\0");
    assert_eq!(text(&mut guest, "/proc/self/environ"), "KEY=value\0");
    assert_eq!(text(&mut guest, "/proc/self/comm"), "node\n");
    assert_eq!(text(&mut guest, "/proc/sys/kernel/osrelease"), "6.1.0\n");
    assert_eq!(text(&mut guest, "/proc/sys/kernel/overflowuid"), "65534\n");
    assert_eq!(text(&mut guest, "/proc/self/stat").split(' ').count(), 52);
    assert!(text(&mut guest, "/proc/self/status").contains("\nUid:\t1000\t1000\t1000\t1000\n"));
    assert!(text(&mut guest, "/proc/self/limits").contains("Max open files            256 "));
    assert!(text(&mut guest, "/proc/meminfo").starts_with("MemTotal:        2097152 kB\n"));
    assert!(text(&mut guest, "/proc/mounts").contains("\nproc /proc proc rw"));
    assert_ne!(text(&mut guest, "/proc/sys/kernel/random/uuid"), text(&mut guest, "/proc/sys/kernel/random/uuid"));
    assert_eq!(link(&mut guest, "/proc/self/cwd"), "/workspace");
    assert_eq!(guest.stat("/proc/self/cwd/x", true), Err(ENOENT));
    assert_eq!(guest.plain(FileCall::Chdir, &["/proc/self/cwd".into()]), 0, "no lock is taken twice");
}

#[test]
fn an_environment_shows_the_variables_that_the_present_policy_allows() {
    let mut guest = guest();
    let variables = variables(&[("KEY", "1"), ("SECRET", "2")]);
    guest.program.process().facts.set(&ProgramKind::Node, &["node".into()], &variables);
    let own = format!("/proc/{}/environ", guest.program.pid());
    assert_eq!(text(&mut guest, &own), "KEY=1\0SECRET=2\0");
    let rule = PermissionRule { verdict: Verdict::Deny, operations: None, patterns: Some(vec!["SECRET".to_owned()]) };
    let env = Some(ScopePolicy { default: Verdict::Allow, rules: vec![rule] });
    let kernel = guest.program.process().kernel.clone();
    kernel.permissions.set(&PermissionPolicy { env, ..PermissionPolicy::default() }).expect("a good policy");
    assert_eq!(text(&mut guest, &own), "KEY=1\0");
    assert_eq!(text(&mut guest, "/proc/self/environ"), "KEY=1\0");
    let (bytes, _) = kernel.embedder_files().read(&own, 0, 100).expect("read");
    assert!(bytes.is_empty() || bytes.starts_with(b"KEY=1\0SECRET=2\0"), "the embedder reads all variables");
    kernel.permissions.set(&PermissionPolicy::default()).expect("a good policy");
    assert_eq!(text(&mut guest, &own), "KEY=1\0SECRET=2\0");
}

#[test]
fn a_descriptors_link_leads_to_the_open_file() {
    let mut guest = guest();
    guest.write_file("file", b"text");
    let fd = guest.plain(OPEN, &["file".into(), 2.into(), 0.into()]);
    let path = format!("/proc/self/fd/{fd}");
    assert_eq!(link(&mut guest, &path), "/workspace/file");
    assert_eq!(link(&mut guest, &format!("/dev/fd/{fd}")), "/workspace/file");
    assert_eq!(guest.plain(UNLINK, &["file".into()]), 0);
    assert_eq!(link(&mut guest, &path), "/workspace/file (deleted)");
    assert_eq!(guest.read_file(&path), Ok(b"text".to_vec()), "a removed file stays readable");
    assert_eq!(guest.stat(&format!("{path}/x"), true), Err(-20));
    let directory = guest.plain(OPEN, &["/etc".into(), 0o200_000.into(), 0.into()]);
    assert!(guest.read_file(&format!("/dev/fd/{directory}/passwd")).is_ok());
    let null = guest.plain(OPEN, &["/dev/null".into(), 1.into(), 0.into()]);
    assert_eq!(link(&mut guest, &format!("/dev/fd/{null}")), "/dev/null");
    assert_eq!(guest.stat("/dev/fd/99", false), Err(ENOENT));
    assert_eq!(guest.stat("/dev/fd/01", false), Err(ENOENT));
}

#[test]
fn standard_streams_have_names_too() {
    let mut guest = guest();
    assert!(link(&mut guest, "/dev/fd/0").starts_with("pipe:["));
    assert_eq!(guest.stat("/dev/stdin", true).expect("the stream exists")[1] as u32 & 0o170_000, 0o010_000);
    assert_eq!(guest.stat("/dev/stdin", false).expect("the link exists")[1] as u32 & 0o170_000, 0o120_000);
    let out = guest.plain(OPEN, &["/dev/stdout".into(), 0o1101.into(), 0o666.into()]);
    assert_eq!(guest.plain(WRITE, &[out.into(), "x".into(), (-1).into()]), 1);
    assert_eq!(guest.plain(OPEN, &["/dev/tty".into(), 2.into(), 0.into()]), ENXIO);
    let names: Vec<String> = guest.list("/dev/fd", 300).expect("a directory").into_iter().map(|entry| entry.0).collect();
    assert_eq!(names[..3], ["0", "1", "2"]);
}

#[test]
fn processes_see_each_other_and_self_is_the_caller() {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    let (mut one, mut other) = (Guest::of(&kernel, "/workspace"), Guest::of(&kernel, "/tmp"));
    let (first, second) = (one.program.pid(), other.program.pid());
    other.program.process().facts.set(&ProgramKind::Shell("grep".into()), &["grep".into(), "x".into()], &[]);
    assert_eq!(text(&mut one, &format!("/proc/{second}/comm")), "grep\n");
    assert_eq!(link(&mut one, &format!("/proc/{second}/exe")), "/bin/grep");
    assert_eq!(link(&mut one, "/proc/self/exe"), "/usr/local/bin/node");
    assert_eq!(link(&mut one, "/proc/self"), first.to_string());
    assert_eq!(link(&mut other, "/proc/self"), second.to_string());
    assert_eq!(link(&mut one, &format!("/proc/{second}/cwd")), "/tmp");
    let fd = other.plain(OPEN, &["/tmp/theirs".into(), 0o102.into(), 0o644.into()]);
    assert_eq!(link(&mut one, &format!("/proc/{second}/fd/{fd}")), "/tmp/theirs");
    assert_eq!(one.plain(OPEN, &[format!("/proc/{second}/fd/1").as_str().into(), 1.into(), 0.into()]), EACCES);
    assert!(text(&mut one, &format!("/proc/{second}/status")).contains("S (sleeping)"));
    assert!(kernel.embedder_files().stat("/proc/self", false).is_err(), "the embedder is no process");
    assert!(kernel.embedder_files().stat(&format!("/proc/{first}"), false).is_ok());
    drop(other);
    assert_eq!(one.stat(&format!("/proc/{second}"), true), Err(ENOENT));
    assert_eq!(one.stat("/proc/99999", true), Err(ENOENT));
    for pid in ["01", "+1", "4294967296", "-1"] {
        assert_eq!(one.stat(&format!("/proc/{pid}"), true), Err(ENOENT), "{pid}");
    }
}

#[test]
fn proc_refuses_every_change() {
    let mut guest = guest();
    assert_eq!(guest.plain(FileCall::Mkdir, &["/proc/x".into(), 0o755.into()]), EROFS);
    assert_eq!(guest.plain(UNLINK, &["/proc/version".into()]), EROFS);
    assert_eq!(guest.plain(FileCall::Rename, &["/proc/version".into(), "/proc/other".into()]), EROFS);
    assert_eq!(guest.plain(FileCall::Symlink, &["x".into(), "/proc/link".into()]), EROFS);
    assert_eq!(guest.plain(FileCall::Link, &["/proc/version".into(), "/proc/other".into()]), EROFS);
    assert_eq!(guest.plain(FileCall::Chmod, &["/proc/version".into(), 0o777.into(), 1.into()]), EROFS);
    assert_eq!(guest.plain(OPEN, &["/proc/version".into(), 1.into(), 0.into()]), EACCES);
    assert!(guest.plain(OPEN, &["/proc/new".into(), 0o101.into(), 0.into()]) < 0);
    assert_eq!(guest.plain(FileCall::Rmdir, &["/proc".into()]), -16);
}
