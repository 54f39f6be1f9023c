//! Tests that single calls have the results of Linux. `oracle.rs` compares sequences of calls.

use super::super::user::User;
use super::super::view::View;
use super::{Arg, Guest, numbers};
use crate::limits::Limits;
use coldframe_abi::system_calls::FileCall;

const OPEN: FileCall = FileCall::Open;
const CLOSE: FileCall = FileCall::Close;
const READ: FileCall = FileCall::Read;
const WRITE: FileCall = FileCall::Write;
const MKDIR: FileCall = FileCall::Mkdir;
const RMDIR: FileCall = FileCall::Rmdir;
const UNLINK: FileCall = FileCall::Unlink;
const RENAME: FileCall = FileCall::Rename;
const LINK: FileCall = FileCall::Link;
const SYMLINK: FileCall = FileCall::Symlink;

const EPERM: i64 = -1;
const ENOENT: i64 = -2;
const EBADF: i64 = -9;
const EACCES: i64 = -13;
const EBUSY: i64 = -16;
const EEXIST: i64 = -17;
const ENOTDIR: i64 = -20;
const EISDIR: i64 = -21;
const EINVAL: i64 = -22;
const EMFILE: i64 = -24;
const ENOSPC: i64 = -28;
const ESPIPE: i64 = -29;
const ENAMETOOLONG: i64 = -36;
const ENOTEMPTY: i64 = -39;
const ELOOP: i64 = -40;

fn guest() -> Guest {
    Guest::new(Limits::default())
}

/// Makes a file `f`, a directory `d` with a file, and an empty directory `e`. Also makes links to
/// `f`, `d` and `e`, a link to a missing file, and a link that is its own target.
fn furnished() -> Guest {
    let mut guest = guest();
    for name in ["d", "e"] {
        assert_eq!(guest.plain(MKDIR, &[name.into(), 0o777.into()]), 0);
    }
    for name in ["f", "d/f"] {
        assert_eq!(guest.write_file(name, b"text"), 0);
    }
    for (target, name) in [("f", "lf"), ("d", "ld"), ("nothing", "ln"), ("loop", "loop"), ("e", "le")] {
        assert_eq!(guest.plain(SYMLINK, &[target.into(), name.into()]), 0);
    }
    guest
}

#[test]
fn paths_lead_where_linux_leads_them() {
    let long = "x".repeat(256);
    let deep = format!("d{}", "/..".repeat(1_300));
    let cases: &[(&str, i64)] = &[
        ("", ENOENT),
        ("f", 0),
        ("f/", ENOTDIR),
        ("f/.", ENOTDIR),
        ("f/..", ENOTDIR),
        ("f/x", ENOTDIR),
        ("d/", 0),
        ("d/.", 0),
        ("d/../f", 0),
        ("./././f", 0),
        ("//workspace///f", 0),
        ("/../../workspace/f", 0),
        ("lf", 0),
        ("lf/", ENOTDIR),
        ("ld/f", 0),
        ("ld/../f", 0),
        ("ln", ENOENT),
        ("ln/x", ENOENT),
        ("loop", ELOOP),
        ("loop/x", ELOOP),
        ("nothing/x", ENOENT),
        ("nothing/..", ENOENT),
        (&long, ENAMETOOLONG),
        (&deep, 0),
    ];
    let mut guest = furnished();
    for (path, expected) in cases {
        assert_eq!(guest.stat(path, true).map_or_else(|error| error, |_| 0), *expected, "{path}");
    }
    assert_eq!(guest.stat("loop", false).map(|stat| stat[1]), Ok(f64::from(0o120_777)));
    assert_eq!(guest.stat("ld/", false).map(|stat| stat[1]), Ok(f64::from(0o040_755)));
}

#[test]
fn forty_links_in_a_row_are_followed_and_one_more_is_not() {
    let mut guest = guest();
    guest.write_file("0", b"");
    for n in 1..=41 {
        let (target, name) = ((n - 1).to_string(), n.to_string());
        assert_eq!(guest.plain(SYMLINK, &[target.as_str().into(), name.as_str().into()]), 0);
    }
    assert!(guest.stat("40", true).is_ok());
    assert_eq!(guest.stat("41", true), Err(ELOOP));
}

#[test]
fn open_returns_the_results_of_linux() {
    const READ_ONLY: i64 = 0;
    const WRITE_ONLY: i64 = 1;
    const CREATE: i64 = 0o101;
    const CREATE_NEW: i64 = 0o301;
    let cases: &[(&str, i64, i64)] = &[
        ("f", READ_ONLY, 3),
        ("nothing", READ_ONLY, ENOENT),
        ("f", CREATE_NEW, EEXIST),
        ("ln", CREATE_NEW, EEXIST),
        ("d", CREATE_NEW, EEXIST),
        ("d", CREATE, EISDIR),
        ("new/", CREATE, EISDIR),
        ("f/", CREATE, EISDIR),
        ("d/", CREATE, EISDIR),
        ("d/.", CREATE, EISDIR),
        ("d", WRITE_ONLY, EISDIR),
        ("d", READ_ONLY, 3),
        ("d", 0o1000, EISDIR),
        ("f", 0o200_000, ENOTDIR),
        ("d", 0o200_000, 3),
        ("lf", 0o400_000, ELOOP),
        ("ld", 0o600_000, ENOTDIR),
        ("loop", READ_ONLY, ELOOP),
        ("f", 3, EINVAL),
        ("ln", CREATE, 3),
        ("/etc/passwd", READ_ONLY, 3),
        ("/etc/passwd", WRITE_ONLY, EACCES),
        ("/etc/new", CREATE, EACCES),
        ("/dev/null", 2, 3),
    ];
    for (path, flags, expected) in cases {
        let got = furnished().plain(OPEN, &[(*path).into(), (*flags).into(), 0o666.into()]);
        assert_eq!(got, *expected, "{path} {flags:o}");
    }
}

#[test]
fn names_are_made_removed_and_renamed_as_on_linux() {
    let two: &[(FileCall, &str, &str, i64)] = &[
        (RENAME, "f", "d/f", 0),
        (RENAME, "f", "d", EISDIR),
        (RENAME, "d", "f", ENOTDIR),
        (RENAME, "e", "d", ENOTEMPTY),
        (RENAME, "d", "e", 0),
        (RENAME, "d", "d/x", EINVAL),
        (RENAME, "d/f", "d", ENOTEMPTY),
        (RENAME, "d", "d", 0),
        (RENAME, "f", "new/", ENOTDIR),
        (RENAME, "f/", "new", ENOTDIR),
        (RENAME, "d/", "new/", 0),
        (RENAME, "nothing", "x", ENOENT),
        (RENAME, "f", "nothing/x", ENOENT),
        (RENAME, ".", "x", EBUSY),
        (RENAME, "d/..", "x", EBUSY),
        (RENAME, "f", "/", EBUSY),
        (RENAME, "f", "/etc/x", EACCES),
        (RENAME, "/etc/passwd", "x", EACCES),
        (RENAME, "lf", "d/f", 0),
        (LINK, "f", "new", 0),
        (LINK, "f", "new/", ENOENT),
        (LINK, "f", "d", EEXIST),
        (LINK, "d", "new", EPERM),
        (LINK, "nothing", "new", ENOENT),
        (LINK, "ln", "new", 0),
        (LINK, "/etc/passwd", "new", EPERM),
        (SYMLINK, "", "new", ENOENT),
        (SYMLINK, "x", "f", EEXIST),
        (SYMLINK, "x", "new/", ENOENT),
        (SYMLINK, "x", "ln", EEXIST),
    ];
    for (call, from, to, expected) in two {
        assert_eq!(furnished().plain(*call, &[(*from).into(), (*to).into()]), *expected, "{call:?} {from} {to}");
    }
    let one: &[(FileCall, &str, i64)] = &[
        (MKDIR, "new/", 0),
        (MKDIR, "new//", 0),
        (MKDIR, "f", EEXIST),
        (MKDIR, "ln", EEXIST),
        (MKDIR, ".", EEXIST),
        (MKDIR, "/", EEXIST),
        (MKDIR, "nothing/new", ENOENT),
        (MKDIR, "f/new", ENOTDIR),
        (MKDIR, "/new", EACCES),
        (RMDIR, "e", 0),
        (RMDIR, "e/", 0),
        (RMDIR, "d", ENOTEMPTY),
        (RMDIR, "f", ENOTDIR),
        (RMDIR, "le", ENOTDIR),
        (RMDIR, "e/.", EINVAL),
        (RMDIR, "e/..", ENOTEMPTY),
        (RMDIR, "/", EBUSY),
        (RMDIR, "/tmp", EACCES),
        (UNLINK, "f", 0),
        (UNLINK, "lf", 0),
        (UNLINK, "ld", 0),
        (UNLINK, "ld/", ENOTDIR),
        (UNLINK, "f/", ENOTDIR),
        (UNLINK, "d", EISDIR),
        (UNLINK, "d/", EISDIR),
        (UNLINK, ".", EISDIR),
        (UNLINK, "nothing/", ENOENT),
    ];
    for (call, path, expected) in one {
        assert_eq!(furnished().plain(*call, &[(*path).into(), 0o777.into()]), *expected, "{call:?} {path}");
    }
}

#[test]
fn a_removed_file_stays_readable_until_it_is_closed() {
    let mut guest = furnished();
    let before = space(&mut guest);
    let fd = guest.plain(OPEN, &["f".into(), 2.into(), 0.into()]);
    assert_eq!(guest.plain(UNLINK, &["f".into()]), 0);
    assert_eq!(guest.plain(WRITE, &[fd.into(), "more".into(), 4.into()]), 4);
    let (count, bytes) = guest.sys(READ, &[fd.into(), Arg::Room(100), (-1).into()]);
    assert_eq!(&bytes[..count as usize], b"textmore");
    let (_, stat) = guest.sys(FileCall::Fstat, &[fd.into(), Arg::Room(144)]);
    assert_eq!(numbers::<18>(&stat)[2], 0.0, "no links");
    assert_eq!(guest.plain(CLOSE, &[fd.into()]), 0);
    assert_eq!(guest.plain(CLOSE, &[fd.into()]), EBADF);
    assert_eq!(space(&mut guest)[6], before[6] + 1.0);
}

#[test]
fn appends_at_the_end_and_moves_positions() {
    let mut guest = furnished();
    let fd = guest.plain(OPEN, &["f".into(), 0o2002.into(), 0.into()]);
    assert_eq!(guest.plain(WRITE, &[fd.into(), "A".into(), 0.into()]), 1, "as on Linux, a positioned write appends too");
    assert_eq!(guest.plain(WRITE, &[fd.into(), "B".into(), (-1).into()]), 1);
    assert_eq!(guest.plain(FileCall::Lseek, &[fd.into(), 0.into(), 1.into()]), 6);
    assert_eq!(guest.plain(FileCall::Lseek, &[fd.into(), (-2).into(), 2.into()]), 4);
    let (count, bytes) = guest.sys(READ, &[fd.into(), Arg::Room(9), (-1).into()]);
    assert_eq!((count, &bytes[..2]), (2, &b"AB"[..]));
    assert_eq!(guest.plain(FileCall::Lseek, &[fd.into(), (-9).into(), 2.into()]), EINVAL);
    assert_eq!(guest.sys(READ, &[fd.into(), Arg::Room(9), (-7).into()]).0, EINVAL);
    assert_eq!(guest.plain(FileCall::Ftruncate, &[fd.into(), 2.into()]), 0);
    assert_eq!(guest.read_file("f"), Ok(b"te".to_vec()));
}

#[test]
fn reads_and_writes_streams_and_devices() {
    let mut guest = guest();
    let (count, bytes) = guest.sys(READ, &[0.into(), Arg::Room(3), (-1).into()]);
    assert_eq!((count, &bytes[..]), (3, &b"inp"[..]));
    let fd = guest.plain(OPEN, &["/dev/stdin".into(), 0.into(), 0.into()]);
    assert_eq!(guest.sys(READ, &[fd.into(), Arg::Room(8), (-1).into()]).0, 2);
    assert_eq!(guest.sys(READ, &[0.into(), Arg::Room(1), 0.into()]).0, ESPIPE);
    assert_eq!(guest.plain(WRITE, &[0.into(), "x".into(), (-1).into()]), EBADF);
    assert_eq!(guest.plain(WRITE, &[1.into(), "x".into(), (-1).into()]), 1);
    let zero = guest.plain(OPEN, &["/dev/zero".into(), 2.into(), 0.into()]);
    assert_eq!(guest.sys(READ, &[zero.into(), Arg::Room(4), (-1).into()]), (4, vec![0; 4]));
    let random = guest.plain(OPEN, &["/dev/urandom".into(), 0.into(), 0.into()]);
    assert_ne!(guest.sys(READ, &[random.into(), Arg::Room(16), (-1).into()]).1, vec![0xaa; 16]);
    let full = guest.plain(OPEN, &["/dev/full".into(), 1.into(), 0.into()]);
    assert_eq!(guest.plain(WRITE, &[full.into(), "x".into(), (-1).into()]), ENOSPC);
    assert_eq!(guest.plain(CLOSE, &[1.into()]), 0);
    assert_eq!(guest.plain(WRITE, &[1.into(), "x".into(), (-1).into()]), EBADF);
}

#[test]
fn changes_owners_modes_and_times() {
    let mut guest = furnished();
    assert_eq!(guest.plain(FileCall::Umask, &[0o077.into()]), 0o022);
    guest.write_file("private", b"");
    assert_eq!(guest.stat("private", true).map(|stat| (stat[1], stat[3], stat[4])), Ok((f64::from(0o100_600), 1000.0, 1000.0)));
    assert_eq!(guest.plain(FileCall::Chmod, &["f".into(), 0.into(), 1.into()]), 0);
    assert_eq!(guest.read_file("f"), Err(EACCES));
    assert_eq!(guest.plain(FileCall::Access, &["f".into(), 0.into()]), 0);
    assert_eq!(guest.plain(FileCall::Access, &["f".into(), 4.into()]), EACCES);
    assert_eq!(guest.plain(FileCall::Chmod, &["d".into(), 0o600.into(), 1.into()]), 0);
    assert_eq!(guest.stat("d/f", true), Err(EACCES));
    assert_eq!(guest.plain(FileCall::Chmod, &["/etc/passwd".into(), 0o777.into(), 1.into()]), EPERM);
    assert_eq!(guest.plain(FileCall::Chown, &["f".into(), 0.into(), 0.into(), 1.into()]), EPERM);
    assert_eq!(guest.plain(FileCall::Chown, &["f".into(), 1000.into(), (-1).into(), 1.into()]), 0);
    let (second, half) = (1_000_000_000, 500_000_000);
    assert_eq!(guest.plain(FileCall::Utimes, &["e".into(), (-second - half).into(), (7 * second + half).into(), 1.into()]), 0);
    let stat = guest.stat("e", true).expect("the file exists");
    assert_eq!(stat[10..14], [-2.0, 5e8, 7.0, 5e8]);
    assert_eq!(guest.plain(FileCall::Utimes, &["e".into(), i64::MIN.into(), i64::MAX.into(), 1.into()]), 0);
    let stat = guest.stat("e", true).expect("the file exists");
    assert_eq!(stat[10], -2.0);
    assert!(stat[12] > 1e9);
}

#[test]
fn the_sticky_bit_keeps_other_users_from_removing() {
    let mut guest = guest();
    guest.write_file("/tmp/mine", b"");
    assert_eq!(guest.plain(UNLINK, &["/tmp/mine".into()]), 0);
    let kernel = guest.program.process().kernel.clone();
    kernel.embedder_files().write("/tmp/theirs", b"", false).expect("made");
    let view = View { files: &kernel.files, user: User::EMBEDDER, cwd: None, umask: 0, permissions: None };
    view.chown(b"/tmp/theirs", Some(0), None, true).expect("the file has another owner");
    assert_eq!(guest.plain(UNLINK, &["/tmp/theirs".into()]), EPERM);
    assert_eq!(guest.plain(RENAME, &["/tmp/theirs".into(), "/tmp/x".into()]), EPERM);
}

#[test]
fn exceeded_limits_are_errors_and_removed_files_free_their_space() {
    let mut guest = Guest::new(Limits { filesystem_bytes: 100_000, inodes: 10, descriptors: 8, ..Limits::default() });
    assert_eq!(guest.write_file("big", &[7; 100_001]), ENOSPC);
    assert_eq!(guest.stat("big", true).map(|stat| stat[7 + 1]), Ok(100_000.0), "the written part fits");
    assert_eq!(guest.write_file("other", b"x"), ENOSPC);
    assert_eq!(guest.plain(UNLINK, &["big".into()]), 0);
    assert_eq!(guest.write_file("other", b"x"), 0);
    for n in 0..9 {
        let name = format!("link{n}");
        assert_eq!(guest.plain(LINK, &["other".into(), name.as_str().into()]), 0);
    }
    assert_eq!(guest.plain(MKDIR, &["d".into(), 0o777.into()]), ENOSPC);
    assert_eq!(guest.plain(UNLINK, &["link0".into()]), 0);
    assert_eq!(guest.plain(MKDIR, &["d".into(), 0o777.into()]), 0);
    for fd in 3..8 {
        assert_eq!(guest.plain(OPEN, &["other".into(), 0.into(), 0.into()]), fd);
    }
    assert_eq!(guest.plain(OPEN, &["other".into(), 0.into(), 0.into()]), EMFILE);
}

#[test]
fn a_listing_continues_after_its_directory_has_changed() {
    let mut guest = guest();
    for n in 0..10_000 {
        let path = format!("/tmp/{n:05}");
        guest.plain(OPEN, &[path.as_str().into(), 0o101.into(), 0o600.into()]);
        guest.plain(CLOSE, &[3.into()]);
    }
    let names = guest.list("/tmp", 300).expect("listed");
    assert_eq!(names.len(), 10_000);
    assert!(names.is_sorted() && names.iter().all(|entry| entry.1 == 1));
    let fd = guest.plain(OPEN, &["/tmp".into(), 0.into(), 0.into()]);
    assert_eq!(guest.sys(FileCall::Readdir, &[fd.into(), Arg::Room(258)]).0, EINVAL, "not every name would fit");
    assert_eq!(guest.sys(FileCall::Readdir, &[fd.into(), Arg::Room(300)]).0, 33 * 9);
    for n in 0..10_000 {
        let path = format!("/tmp/{n:05}");
        guest.plain(UNLINK, &[path.as_str().into()]);
    }
    assert_eq!(guest.sys(FileCall::Readdir, &[fd.into(), Arg::Room(300)]).0, 0);
}

#[test]
fn follows_the_working_directory_when_it_moves_or_is_removed() {
    let mut guest = furnished();
    let getcwd = |guest: &mut Guest| {
        let (len, path) = guest.sys(FileCall::Getcwd, &[Arg::Room(100)]);
        if len < 0 { Err(len) } else { Ok(String::from_utf8_lossy(&path[..len as usize]).into_owned()) }
    };
    assert_eq!(guest.plain(FileCall::Chdir, &["f".into()]), ENOTDIR);
    assert_eq!(guest.plain(FileCall::Chdir, &["le".into()]), 0);
    assert_eq!(getcwd(&mut guest).as_deref(), Ok("/workspace/e"));
    assert_eq!(guest.plain(RENAME, &["../e".into(), "/tmp/moved".into()]), 0);
    assert_eq!(getcwd(&mut guest).as_deref(), Ok("/tmp/moved"));
    assert_eq!(guest.plain(RMDIR, &["/tmp/moved".into()]), 0);
    assert_eq!(getcwd(&mut guest), Err(ENOENT));
    assert_eq!(guest.write_file("x", b""), ENOENT);
    assert_eq!(guest.plain(FileCall::Chdir, &["/".into()]), 0);
    assert_eq!(getcwd(&mut guest).as_deref(), Ok("/"));
    let (len, path) = guest.sys(FileCall::Realpath, &["workspace/ld/../lf".into(), Arg::Room(100)]);
    assert_eq!(&path[..len as usize], b"/workspace/f");
}

#[test]
fn a_copied_file_is_independent() {
    let mut guest = furnished();
    assert_eq!(guest.plain(FileCall::Chmod, &["f".into(), 0o751.into(), 1.into()]), 0);
    assert_eq!(guest.plain(FileCall::CopyFile, &["lf".into(), "copy".into(), 0.into()]), 0);
    assert_eq!(guest.stat("copy", true).map(|stat| stat[1]), Ok(f64::from(0o100_751)));
    assert_eq!(guest.plain(FileCall::CopyFile, &["f".into(), "copy".into(), 1.into()]), EEXIST);
    assert_eq!(guest.plain(FileCall::CopyFile, &["f".into(), "lf".into(), 0.into()]), 0, "a file onto itself");
    assert_eq!(guest.plain(FileCall::CopyFile, &["d".into(), "x".into(), 0.into()]), EISDIR);
    assert_eq!(guest.write_file("copy", b"changed"), 0);
    assert_eq!(guest.read_file("f"), Ok(b"text".to_vec()));
}

fn space(guest: &mut Guest) -> [f64; 7] {
    numbers(&guest.sys(FileCall::Statfs, &["/".into(), Arg::Room(56)]).1)
}
