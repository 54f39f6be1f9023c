//! Tests of permission rules about files: each call, and access through links, descriptors and
//! `/proc`. Random sequences of calls try to bypass the rules.

use super::super::super::Kernel;
use super::super::user::User;
use super::super::walk::{FinalLink, PathEnd};
use super::{Arg, Guest};
use crate::fs::options::MountOptions;
use crate::limits::Limits;
use crate::permissions::policy::{PermissionPolicy, PermissionRule, Scope, ScopePolicy, Verdict};
use coldframe_abi::system_calls::FileCall;
use proptest::prelude::*;
use std::sync::Arc;

const EACCES: i64 = -13;
const ENOENT: i64 = -2;

/// Makes a policy from texts. A text is `+` or `-` for allowing or denying, paths, and after `|`
/// the operations.
pub(super) fn policy(default: Verdict, rules: &[&str]) -> PermissionPolicy {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rule = |text: &&str| {
        let (paths, operations) = text[1..].split_once('|').unwrap_or((&text[1..], ""));
        PermissionRule {
            verdict: if text.starts_with('-') { Verdict::Deny } else { Verdict::Allow },
            operations: Some(words(operations)).filter(|words| !words.is_empty()),
            patterns: Some(words(paths)),
        }
    };
    PermissionPolicy { fs: Some(ScopePolicy { default, rules: rules.iter().map(rule).collect() }), ..PermissionPolicy::default() }
}

fn kernel(files: &[(&str, &str)], mounts: &[MountOptions]) -> Arc<Kernel> {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    let files: Vec<_> = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    kernel.embedder_files().furnish(mounts, &[], &files, "/workspace").expect("furnished");
    kernel
}

fn set(kernel: &Kernel, default: Verdict, rules: &[&str]) {
    kernel.permissions.set(&policy(default, rules)).expect("a good policy");
}

fn closed(files: &[(&str, &str)], rules: &[&str]) -> Guest {
    let kernel = kernel(files, &[]);
    set(&kernel, Verdict::Allow, rules);
    Guest::of(&kernel, "/workspace")
}

const SECRET: &[(&str, &str)] = &[("/tmp/secret/file", "SECRET"), ("/tmp/open", "open")];

fn calls(path: &'static str) -> Vec<(&'static str, &'static str, FileCall, Vec<Arg<'static>>)> {
    let other = "/tmp/new";
    vec![
        ("open to read", "read", FileCall::Open, vec![path.into(), 0.into(), 0.into()]),
        ("open to write", "write", FileCall::Open, vec![path.into(), 1.into(), 0.into()]),
        ("open to do both", "read write", FileCall::Open, vec![path.into(), 2.into(), 0.into()]),
        ("open to cut", "write truncate", FileCall::Open, vec![path.into(), 0o1001.into(), 0.into()]),
        ("stat", "stat", FileCall::Stat, vec![path.into(), Arg::Room(144), 1.into()]),
        ("access", "stat", FileCall::Access, vec![path.into(), 0.into()]),
        ("access to read", "stat read", FileCall::Access, vec![path.into(), 4.into()]),
        ("access to write", "stat write", FileCall::Access, vec![path.into(), 2.into()]),
        ("rename", "rename", FileCall::Rename, vec![path.into(), other.into()]),
        ("link", "link", FileCall::Link, vec![path.into(), "/tmp/secret/other".into()]),
        ("chmod", "chmod", FileCall::Chmod, vec![path.into(), 0o600.into(), 1.into()]),
        ("chown", "chown", FileCall::Chown, vec![path.into(), (-1).into(), (-1).into(), 1.into()]),
        ("utimes", "utimes", FileCall::Utimes, vec![path.into(), 0.into(), 0.into(), 1.into()]),
        ("realpath", "stat", FileCall::Realpath, vec![path.into(), Arg::Room(100)]),
        ("statfs", "stat", FileCall::Statfs, vec![path.into(), Arg::Room(56)]),
        ("copy from", "read", FileCall::CopyFile, vec![path.into(), other.into(), 0.into()]),
        ("copy to", "write", FileCall::CopyFile, vec!["/tmp/open".into(), path.into(), 0.into()]),
        ("internalModuleStat", "stat", FileCall::ModuleStat, vec![path.into()]),
        ("readFile", "read", FileCall::ReadFile, vec![path.into(), Arg::Room(10)]),
        ("watch", "watch", FileCall::Watch, vec![path.into(), 0.into()]),
        ("truncate", "truncate", FileCall::Truncate, vec![path.into(), 0.into()]),
        ("unlink", "rm", FileCall::Unlink, vec![path.into()]),
    ]
}

/// A call succeeds if exactly the call's operations are allowed, and fails if any of these
/// operations is denied.
#[test]
fn each_call_needs_its_operations_and_no_others() {
    for (name, needed, number, arguments) in calls("/tmp/secret/file") {
        // The operations on other names are allowed. A rename or a second name must not add
        // permissions.
        let allow = format!("+/tmp/secret/file|{needed}");
        let free = "+/tmp/new /tmp/open /tmp/secret/other|read write truncate chmod";
        let moved = format!("+/tmp/new /tmp/secret/other|{needed}");
        let kernel = kernel(SECRET, &[]);
        set(&kernel, Verdict::Deny, &[&allow, free, &moved]);
        if needed == "rename" || needed == "link" {
            let same = format!("+/tmp/secret/file /tmp/new /tmp/secret/other|{needed}");
            set(&kernel, Verdict::Deny, &[&same]);
        }
        let mut guest = Guest::of(&kernel, "/tmp");
        kernel.embedder_files().write("/tmp/secret/file", b"SECRET", false).expect("written");
        let answer = guest.plain(number, &arguments);
        assert!(answer >= 0, "{name} with {needed}: {answer}");
        for one in needed.split(' ') {
            let mut guest = closed(SECRET, &[&format!("-/tmp/secret/file|{one}")]);
            assert_eq!(guest.plain(number, &arguments), EACCES, "{name} without {one}");
            let (len, text) = guest.sys(FileCall::Reason, &[Arg::Room(300)]);
            let text = String::from_utf8_lossy(&text[..len as usize]).into_owned();
            let rule = "by the rule permissions.fs.rules[0]; \
                        the app can allow it with a deeper rule in the option permissions.fs";
            assert_eq!(text, format!("the permission fs.{one} is denied {rule}"), "{name}");
        }
    }
}

#[test]
fn calls_that_create_or_read_names_need_their_operations() {
    let cases: &[(&str, FileCall, &[Arg<'_>])] = &[
        ("create_dir", FileCall::Mkdir, &[Arg::Bytes(b"/tmp/secret/new"), Arg::Int(0o777)]),
        ("symlink", FileCall::Symlink, &[Arg::Bytes(b"anything"), Arg::Bytes(b"/tmp/secret/new")]),
        ("write", FileCall::Open, &[Arg::Bytes(b"/tmp/secret/new"), Arg::Int(0o101), Arg::Int(0o666)]),
        ("readdir", FileCall::Open, &[Arg::Bytes(b"/tmp/secret"), Arg::Int(0o200_000), Arg::Int(0)]),
        ("readdir", FileCall::Open, &[Arg::Bytes(b"/tmp/secret"), Arg::Int(0), Arg::Int(0)]),
        ("rm", FileCall::Rmdir, &[Arg::Bytes(b"/tmp/secret/dir")]),
        ("readlink", FileCall::Readlink, &[Arg::Bytes(b"/tmp/secret/link"), Arg::Room(100)]),
        ("stat", FileCall::Stat, &[Arg::Bytes(b"/tmp/secret/link"), Arg::Room(144), Arg::Int(0)]),
        ("link", FileCall::Link, &[Arg::Bytes(b"/tmp/open"), Arg::Bytes(b"/tmp/secret/second")]),
        ("rename", FileCall::Rename, &[Arg::Bytes(b"/tmp/open"), Arg::Bytes(b"/tmp/secret/moved")]),
        ("stat", FileCall::Chdir, &[Arg::Bytes(b"/tmp/secret")]),
    ];
    let furnish = |guest: &mut Guest| {
        guest.plain(FileCall::Mkdir, &["/tmp/secret".into(), 0o777.into()]);
        guest.plain(FileCall::Mkdir, &["/tmp/secret/dir".into(), 0o777.into()]);
        guest.plain(FileCall::Symlink, &["nowhere".into(), "/tmp/secret/link".into()]);
        guest.write_file("/tmp/open", b"open");
    };
    for (operation, number, arguments) in cases {
        let mut guest = Guest::new(Limits::default());
        furnish(&mut guest);
        set(&guest.program.process().kernel, Verdict::Allow, &[&format!("-/tmp/secret|{operation}")]);
        assert_eq!(guest.plain(*number, arguments), EACCES, "{operation} {number:?}");
        let others = super::super::super::permissions::operations::names(Scope::Fs);
        let others: Vec<_> = others.iter().copied().filter(|name| name != operation).collect();
        // A name in a denied directory has fewer permissions. Both names of a linked file must have
        // equal permissions.
        let places = if *number == FileCall::Link { "/tmp/secret /tmp/open" } else { "/tmp/secret" };
        set(&guest.program.process().kernel, Verdict::Allow, &[&format!("-{places}|{}", others.join(" "))]);
        assert!(guest.plain(*number, arguments) >= 0, "{operation} {number:?} needs nothing else");
    }
}

#[test]
fn no_other_path_leads_to_a_denied_file() {
    let mut guest = Guest::of(&kernel(SECRET, &[]), "/tmp/secret");
    let kernel = guest.program.process().kernel.clone();
    guest.plain(FileCall::Symlink, &["/tmp/secret".into(), "/tmp/to".into()]);
    guest.plain(FileCall::Symlink, &["to/file".into(), "/tmp/through".into()]);
    guest.plain(FileCall::Symlink, &["/tmp/through".into(), "/tmp/twice".into()]);
    let fd = guest.plain(FileCall::Open, &["/tmp/secret/file".into(), 0.into(), 0.into()]);
    let folder = guest.plain(FileCall::Open, &["/tmp/secret".into(), 0o200_000.into(), 0.into()]);
    set(&kernel, Verdict::Allow, &["-/tmp/secret"]);
    let own = format!("/proc/{}/cwd/file", guest.program.pid());
    let ways = [
        "/tmp/secret/file".to_owned(),
        "file".to_owned(),
        "./file".to_owned(),
        "../secret/file".to_owned(),
        "/tmp//secret/./file".to_owned(),
        "/tmp/open/../secret/file".to_owned(),
        "/tmp/to/file".to_owned(),
        "/tmp/through".to_owned(),
        "/tmp/twice".to_owned(),
        "/proc/self/cwd/file".to_owned(),
        own,
        "/proc/self/root/tmp/secret/file".to_owned(),
        format!("/proc/self/fd/{fd}"),
        format!("/dev/fd/{fd}"),
        format!("/proc/self/fd/{folder}/file"),
    ];
    for way in &ways {
        let read = guest.read_file(way);
        assert!(matches!(read, Err(EACCES | -20)), "{way}: {read:?}");
        assert_ne!(guest.plain(FileCall::Open, &[way.as_str().into(), 2.into(), 0.into()]), 0, "{way}");
        // The links below `/tmp` are in another directory than the denied file and may be removed.
        // `/proc` allows no removal.
        if !way.starts_with("/tmp/t") && !way.contains("fd") {
            let removed = guest.plain(FileCall::Unlink, &[way.as_str().into()]);
            assert!(matches!(removed, EACCES | -20), "{way}: {removed}");
        }
    }
    // An open file can still be read. Other operations on the file are checked.
    let (count, bytes) = guest.sys(FileCall::Read, &[fd.into(), Arg::Room(6), 0.into()]);
    assert_eq!((count, &bytes[..]), (6, &b"SECRET"[..]));
    for (call, arguments) in
        [(FileCall::Fchmod, vec![fd.into(), 0o600.into()]), (FileCall::Fchown, vec![fd.into(), (-1).into(), (-1).into()])]
    {
        assert_eq!(guest.plain(call, &arguments), EACCES, "{call:?}");
    }
    assert_eq!(guest.plain(FileCall::Futimes, &[fd.into(), 0.into(), 0.into()]), EACCES);
    assert_eq!(kernel.embedder_files().read("/tmp/secret/file", 0, 10).expect("the owner reads").0, b"SECRET");
}

#[test]
fn a_denied_directory_does_not_reveal_its_names() {
    let mut guest = closed(&[("/tmp/secret/dir/file", "")], &["-/tmp/secret"]);
    let stat = |guest: &mut Guest, path: &str| guest.stat(path, true).err();
    for path in [
        "/tmp/secret",
        "/tmp/secret/dir",
        "/tmp/secret/dir/file",
        "/tmp/secret/none",
        "/tmp/secret/none/at/all",
        "/tmp/secret/dir/file/x",
    ] {
        assert_eq!(stat(&mut guest, path), Some(EACCES), "{path}");
    }
    for path in ["/tmp/secret/dir/../../open", "/tmp/secret/none/../../open", "/tmp/secret/dir/file/../../../open"] {
        assert_eq!(stat(&mut guest, path), Some(EACCES), "{path}");
    }
    assert_eq!((stat(&mut guest, "/tmp/none"), stat(&mut guest, "/tmp/secrets/x")), (Some(ENOENT), Some(ENOENT)));
    assert_eq!(guest.plain(FileCall::Chdir, &["/tmp/secret/none".into()]), EACCES, "chdir reveals nothing either");
    assert_eq!(guest.plain(FileCall::Chdir, &["/tmp/none".into()]), ENOENT);
}

#[test]
fn a_denied_file_stays_denied_when_a_directory_moves() {
    let files = [("/tmp/a/b/secret/file", "SECRET"), ("/tmp/open", "")];
    let mut guest = closed(&files, &["-/tmp/a/b/secret|read"]);
    let mv = |guest: &mut Guest, from: &str, to: &str| guest.plain(FileCall::Rename, &[from.into(), to.into()]);
    for from in ["/tmp/a", "/tmp/a/b", "/tmp/a/b/secret", "/tmp/a/b/secret/file"] {
        assert_eq!(mv(&mut guest, from, "/tmp/elsewhere"), EACCES, "{from}");
    }
    assert_eq!(guest.plain(FileCall::Link, &["/tmp/a/b/secret/file".into(), "/tmp/second".into()]), EACCES);
    assert_eq!(mv(&mut guest, "/tmp/a/b/secret/file", "/tmp/a/b/secret/other"), 0, "a rename within the denied directory works");
    assert_eq!(mv(&mut guest, "/tmp/open", "/tmp/a/b/secret/open"), 0, "a rename into the denied directory works");
    // If a rule applies in every directory, directories can move.
    let mut guest = closed(&[("/tmp/a/.env", "SECRET"), ("/tmp/a/x", "")], &["-**/.env|read"]);
    assert_eq!(mv(&mut guest, "/tmp/a", "/tmp/b"), 0);
    assert_eq!(guest.read_file("/tmp/b/.env"), Err(EACCES));
    assert_eq!(mv(&mut guest, "/tmp/b/.env", "/tmp/b/env"), EACCES);
    // A file cannot move to a place with more permissions.
    let mut guest = closed(&[("/tmp/in/file", ""), ("/tmp/out/x", "")], &["-/tmp|read", "+/tmp/out"]);
    assert_eq!(mv(&mut guest, "/tmp/in/file", "/tmp/out/file"), EACCES);
    assert_eq!(mv(&mut guest, "/tmp/out/x", "/tmp/in/x"), 0);
}

#[test]
fn rules_hold_in_mounted_folders_and_overlays() {
    let root = std::env::temp_dir().join(format!("coldframe-rules-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(root.join("secret")).expect("a folder");
    std::fs::create_dir_all(root.join("real")).expect("a folder");
    std::fs::write(root.join("secret/file"), "SECRET").expect("a file");
    std::os::unix::fs::symlink("secret", root.join("to")).expect("a link");
    std::os::unix::fs::symlink("../secret/file", root.join("real/through")).expect("a link");
    for overlay in [false, true] {
        let mount = MountOptions { guest_path: "/m".into(), host_path: root.clone(), read_only: false, overlay };
        let kernel = kernel(&[], &[mount]);
        let mut guest = Guest::of(&kernel, "/m");
        set(&kernel, Verdict::Allow, &["-/m/secret"]);
        for path in ["/m/secret/file", "to/file", "real/through", "real/../secret/file", "/m/secret/none"] {
            assert_eq!(guest.read_file(path), Err(EACCES), "{path} {overlay}");
            assert_eq!(guest.plain(FileCall::Open, &[path.into(), 0o1101.into(), 0o666.into()]), EACCES, "{path} {overlay}");
        }
        for (from, to) in [("secret", "x"), ("/m/secret/file", "x"), ("to/file", "x")] {
            assert_eq!(guest.plain(FileCall::Rename, &[from.into(), to.into()]), EACCES, "{from} {overlay}");
            assert_eq!(guest.plain(FileCall::Unlink, &[from.into()]), EACCES, "{from} {overlay}");
        }
        assert_eq!(guest.plain(FileCall::Link, &["to/file".into(), "x".into()]), EACCES);
        assert_eq!(guest.write_file("own", b"own"), 0);
        assert_eq!(guest.read_file("own"), Ok(b"own".to_vec()));
    }
    assert_eq!(std::fs::read(root.join("secret/file")).expect("still there"), b"SECRET");
    let _ = std::fs::remove_dir_all(&root);
}

#[test]
fn a_recursive_watch_reports_nothing_of_a_denied_directory() {
    let mut guest = closed(&[("/tmp/a/x", ""), ("/tmp/secret/x", "")], &["-/tmp/secret|watch"]);
    assert_eq!(guest.plain(FileCall::Watch, &["/tmp/secret".into(), 0.into()]), EACCES);
    assert_eq!(guest.plain(FileCall::Watch, &["/tmp/secret/x".into(), 0.into()]), EACCES);
    assert!(guest.plain(FileCall::Watch, &["/tmp".into(), 1.into()]) > 0);
    guest.write_file("/tmp/secret/new", b"");
    assert!(guest.program.process().operations.take().is_empty());
    guest.write_file("/tmp/a/new", b"");
    assert_eq!(guest.program.process().operations.take().len(), 1);
}

#[test]
fn a_copied_file_keeps_its_mode_where_chmod_is_denied() {
    let kernel = kernel(&[("/tmp/from", "from"), ("/tmp/secret/to", "")], &[]);
    set(&kernel, Verdict::Allow, &["-/tmp/secret|chmod"]);
    let mut guest = Guest::of(&kernel, "/tmp");
    assert_eq!(guest.plain(FileCall::Chmod, &["from".into(), 0o777.into(), 1.into()]), 0);
    let before = guest.stat("secret/to", true).expect("the file exists")[1];
    assert_eq!(guest.plain(FileCall::CopyFile, &["from".into(), "secret/to".into(), 0.into()]), 0);
    assert_eq!(guest.stat("secret/to", true).expect("the file exists")[1], before);
    assert_eq!(guest.read_file("secret/to"), Ok(b"from".to_vec()));
}

#[test]
fn a_new_policy_applies_to_the_next_call_of_each_process() {
    let kernel = kernel(SECRET, &[]);
    let (mut one, mut other) = (Guest::of(&kernel, "/"), Guest::of(&kernel, "/"));
    assert!(one.read_file("/tmp/secret/file").is_ok());
    set(&kernel, Verdict::Allow, &["-/tmp/secret"]);
    assert_eq!((one.read_file("/tmp/secret/file"), other.read_file("/tmp/secret/file")), (Err(EACCES), Err(EACCES)));
    kernel.permissions.set(&PermissionPolicy::default()).expect("the default");
    assert!(one.read_file("/tmp/secret/file").is_ok() && other.read_file("/tmp/secret/file").is_ok());
}

#[test]
fn a_policy_that_allows_one_folder_is_enough_to_work_in_it() {
    let kernel = kernel(&[("/workspace/app/a", "a"), ("/workspace/other", "")], &[]);
    set(&kernel, Verdict::Deny, &["+/workspace/app"]);
    let mut guest = Guest::of(&kernel, "/workspace/app");
    assert_eq!(guest.read_file("a"), Ok(b"a".to_vec()));
    assert_eq!((guest.write_file("b", b"b"), guest.plain(FileCall::Rename, &["b".into(), "c".into()])), (0, 0));
    assert_eq!((guest.plain(FileCall::Link, &["c".into(), "d".into()]), guest.plain(FileCall::Unlink, &["d".into()])), (0, 0));
    assert!(guest.list(".", 1_000).is_ok() && guest.list("..", 1_000).is_err());
    assert!(
        guest.stat("/workspace", true).is_ok() && guest.stat("/", true).is_ok() && guest.stat("/workspace/other", true).is_err()
    );
    assert_eq!(guest.read_file("/etc/passwd"), Err(EACCES));
    assert_eq!(guest.plain(FileCall::Rename, &["c".into(), "/workspace/c".into()]), EACCES);
}

const NAMES: &[&str] = &[
    "/tmp/p",
    "/tmp/p/s",
    "/tmp/p/s/f",
    "/tmp/q",
    "/tmp/q/x",
    "/tmp/l",
    "p",
    "..",
    "s/f",
    "../p/s",
    "/tmp/p/y",
    "f",
    "/proc/self/cwd/f",
    "/proc/self/fd/3",
];

/// One call of a sequence: the kind of the call, and the indexes of two names in [`NAMES`].
type Step = (u8, usize, usize);

fn take(guest: &mut Guest, (kind, one, other): Step) {
    let (one, other): (Arg<'_>, Arg<'_>) = (NAMES[one].into(), NAMES[other].into());
    match kind {
        0 => drop(guest.plain(FileCall::Mkdir, &[one, 0o777.into()])),
        1 => drop(guest.plain(FileCall::Symlink, &[other, one])),
        2 | 3 => drop(guest.plain(FileCall::Rename, &[one, other])),
        4 => drop(guest.plain(FileCall::Link, &[one, other])),
        5 => drop(guest.plain(FileCall::Chdir, &[one])),
        6 => drop(guest.plain(FileCall::CopyFile, &[one, other, 0.into()])),
        7 => drop(guest.plain(FileCall::Open, &[one, 0o2.into(), 0o666.into()])),
        8 => drop(guest.plain(FileCall::Unlink, &[one])),
        9 => drop(guest.plain(FileCall::Truncate, &[one, 1.into()])),
        10 => drop(guest.plain(FileCall::Chmod, &[one, 0o777.into(), 1.into()])),
        11 => drop(guest.plain(FileCall::Open, &[one, 0o1101.into(), 0o666.into()])),
        _ => drop(guest.plain(FileCall::Rmdir, &[one])),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// No sequence of a program's calls reads a denied file.
    #[test]
    fn no_sequence_of_calls_reads_a_denied_file(
        steps in prop::collection::vec((0_u8..13, 0..NAMES.len(), 0..NAMES.len()), 1..40),
        allow_list in any::<bool>(),
    ) {
        let kernel = kernel(&[("/tmp/p/s/f", "SECRET"), ("/tmp/q/x", "own")], &[]);
        if allow_list {
            set(&kernel, Verdict::Deny, &["+/tmp", "-/tmp/p/s|read", "+/proc"]);
        } else {
            set(&kernel, Verdict::Allow, &["-/tmp/p/s|read"]);
        }
        let mut guest = Guest::of(&kernel, "/tmp");
        for step in steps {
            take(&mut guest, step);
            for name in NAMES {
                if let Ok(bytes) = guest.read_file(name) {
                    prop_assert!(!bytes.starts_with(b"S"), "{name} after {step:?}");
                }
            }
            for fd in 3..8 {
                let (count, bytes) = guest.sys(FileCall::Read, &[fd.into(), Arg::Room(6), 0.into()]);
                prop_assert!(count < 1 || bytes[0] != b'S', "descriptor {fd} after {step:?}");
            }
        }
    }

    /// No sequence of a program's calls changes or moves a denied file.
    #[test]
    fn no_sequence_of_calls_changes_a_denied_file(
        steps in prop::collection::vec((0_u8..13, 0..NAMES.len(), 0..NAMES.len()), 1..40),
    ) {
        let kernel = kernel(&[("/tmp/p/s/f", "SECRET"), ("/tmp/q/x", "own")], &[]);
        set(&kernel, Verdict::Allow, &["-/tmp/p/s|write truncate rm rename chmod create_dir symlink link"]);
        let mut guest = Guest::of(&kernel, "/tmp");
        let mode = guest.stat("/tmp/p/s/f", true).expect("the file exists")[1];
        for step in steps {
            take(&mut guest, step);
            let _ = guest.plain(FileCall::Write, &[3.into(), Arg::Bytes(b"own"), 0.into()]);
        }
        let tree = kernel.files.lock();
        let found = tree.walk(&User::EMBEDDER, None, b"/tmp/p/s/f", FinalLink::Stay);
        let Ok(PathEnd::Memory(spot)) = found else { panic!("removed: {found:?}") };
        let ino = spot.existing().expect("the file exists");
        prop_assert_eq!(tree.content(ino).expect("a file").len(), 6);
        prop_assert_eq!(f64::from(tree.node(ino).expect("the file exists").meta.mode | 0o100_000), mode);
        drop(tree);
        prop_assert_eq!(kernel.embedder_files().read("/tmp/p/s/f", 0, 10).expect("the file exists").0, b"SECRET".to_vec());
    }
}
