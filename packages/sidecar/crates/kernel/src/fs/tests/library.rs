//! Tests of the library of Python: a folder of the installation that every runtime shares.

use super::permissions::policy;
use super::{Arg, Guest};
use crate::fs::options::MountOptions;
use crate::limits::Limits;
use crate::permissions::policy::Verdict;
use crate::snapshot::RestoreInputs;
use crate::usage::Resource;
use crate::{Kernel, Library, Owner, Process};
use coldframe_abi::system_calls::FileCall;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;

const EPERM: i64 = -1;
const ENOENT: i64 = -2;
const EACCES: i64 = -13;
const EBUSY: i64 = -16;
const EXDEV: i64 = -18;
const EROFS: i64 = -30;
const ENOSYS: i64 = -38;
const FILE: &str = "/usr/lib/python3.13/os.py";
const READ_ONLY: [Arg<'static>; 2] = [Arg::Int(0), Arg::Int(0)];

/// A folder with a library of two files. The folder is removed after the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Folder {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("coldframe-library-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(root.join("lib/json")).expect("a temporary directory");
        std::fs::write(root.join("lib/os.py"), b"name = 'posix'\n").expect("a file");
        std::fs::write(root.join("lib/json/decoder.py"), b"pass\n").expect("a file");
        std::fs::write(root.join("secret"), b"secret").expect("a file");
        std::fs::set_permissions(root.join("lib/os.py"), PermissionsExt::from_mode(0o777)).expect("its mode");
        Self(root)
    }

    fn library(&self) -> Library {
        Library::open(&self.0.join("lib")).expect("a folder")
    }
}

fn guest(library: &Library) -> Guest {
    Guest::of(&Arc::new(Kernel::with_library(&Limits::default(), library)), "/workspace")
}

fn open(guest: &mut Guest, path: &str) -> i64 {
    guest.plain(FileCall::Open, &[path.into(), READ_ONLY[0], READ_ONLY[1]])
}

fn read(guest: &mut Guest, fd: i64) -> Vec<u8> {
    let (count, bytes) = guest.sys(FileCall::Read, &[fd.into(), Arg::Room(4), (-1).into()]);
    bytes[..usize::try_from(count).expect("bytes")].to_vec()
}

#[test]
fn every_runtime_reads_the_library_and_none_changes_it() {
    let folder = Folder::new("read");
    let library = folder.library();
    for mut guest in [guest(&library), guest(&library)] {
        assert_eq!(guest.read_file(FILE).as_deref(), Ok(&b"name = 'posix'\n"[..]));
        let mut names = guest.list("/usr/lib/python3.13", 4_096).expect("a directory");
        names.sort();
        assert_eq!(names, [("json".to_owned(), 2), ("os.py".to_owned(), 1)]);
        assert_eq!(guest.list("/usr/lib/python3.13/json", 4_096), Ok(vec![("decoder.py".to_owned(), 1)]));
        let file = guest.stat(FILE, true).expect("the file exists");
        let folder = guest.stat("/usr/lib/python3.13/json", true).expect("the directory exists");
        let mode = |stat: [f64; 18]| (stat[1] as u32 & 0o7777, stat[3] as u32, stat[4] as u32);
        assert_eq!((mode(file), mode(folder)), ((0o444, 0, 0), (0o555, 0, 0)));
        assert_eq!(guest.write_file(FILE, b""), EACCES);
        assert_eq!(guest.write_file("/usr/lib/python3.13/new", b""), EROFS);
        assert_eq!(guest.plain(FileCall::Unlink, &[FILE.into()]), EROFS);
        assert_eq!(guest.plain(FileCall::Rename, &["/usr/lib/python3.13".into(), "/usr/lib/x".into()]), EXDEV);
        assert_eq!(guest.plain(FileCall::Watch, &[FILE.into(), 0.into()]), ENOSYS);
        assert_eq!(guest.stat("/usr/lib/python3.13/nothing", true), Err(ENOENT));
    }
    assert_eq!(std::fs::read(folder.0.join("lib/os.py")).expect("a file"), b"name = 'posix'\n");
}

#[test]
fn root_cannot_change_or_move_the_library() {
    let folder = Folder::new("root");
    let kernel = Arc::new(Kernel::with_library(&Limits::default(), &folder.library()));
    let pid = kernel.processes.enter_root().expect("room");
    let mut root = Guest::with(Process::for_user(kernel, pid, "/", Owner { uid: 0, gid: 0 }));
    assert_eq!(root.write_file(FILE, b""), EROFS);
    assert_eq!(root.plain(FileCall::Rename, &["/usr/lib".into(), "/usr/x".into()]), EBUSY);
    assert_eq!(root.plain(FileCall::Rmdir, &["/usr/lib/python3.13".into()]), EBUSY);
    assert_eq!(root.read_file(FILE).as_deref(), Ok(&b"name = 'posix'\n"[..]));
}

#[test]
fn a_runtime_without_python_has_an_empty_library() {
    let mut guest = Guest::new(Limits::default());
    assert_eq!(guest.list("/usr/lib/python3.13", 4_096), Ok(vec![]));
    assert_eq!(guest.read_file(FILE), Err(ENOENT));
    assert!(!String::from_utf8_lossy(&guest.read_file("/proc/mounts").expect("a text")).contains("python"));
    assert_eq!(guest.write_file("/usr/lib/python3.13/new", b""), EROFS);
}

#[test]
fn no_link_leads_out_of_the_library() {
    let folder = Folder::new("links");
    for (target, name) in [("../secret", "relative"), ("/etc/passwd", "absolute"), ("os.py", "inside")] {
        symlink(target, folder.0.join("lib").join(name)).expect("a link");
    }
    let mut guest = guest(&folder.library());
    for name in ["relative", "absolute"] {
        assert_eq!(guest.read_file(&format!("/usr/lib/python3.13/{name}")), Err(EACCES), "{name}");
    }
    assert_eq!(guest.read_file("/usr/lib/python3.13/inside").as_deref(), Ok(&b"name = 'posix'\n"[..]));
}

#[test]
fn an_open_file_of_the_library_counts_for_no_limit_on_host_files() {
    let folder = Folder::new("limit");
    let limits = Limits { host_files: 1, ..Limits::default() };
    let kernel = Arc::new(Kernel::with_library(&limits, &folder.library()));
    let mut guest = Guest::of(&kernel, "/workspace");
    let descriptors = || std::fs::read_dir("/proc/self/fd").expect("descriptors").filter_map(Result::ok);
    let opened =
        |name: &str| descriptors().filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|to| to.ends_with(name))).count();
    let fds: Vec<i64> = (0..50).map(|_| open(&mut guest, FILE)).collect();
    assert!(fds.iter().all(|fd| *fd > 0), "{fds:?}");
    assert_eq!(kernel.usage.gauge(Resource::HostFiles).used_and_highest().0, 0);
    let own = folder.0.join("lib/os.py");
    assert_eq!(opened(&own.to_string_lossy()[1..]), 1, "all programs share one descriptor of the host machine");
    assert_eq!((read(&mut guest, fds[0]), read(&mut guest, fds[1])), (b"name".to_vec(), b"name".to_vec()));
    assert_eq!(read(&mut guest, fds[0]), b" = '");
    for fd in fds {
        assert_eq!(guest.plain(FileCall::Close, &[fd.into()]), 0);
    }
    assert_eq!(opened(&own.to_string_lossy()[1..]), 0);
}

#[test]
fn no_policy_denies_reading_the_library() {
    let folder = Folder::new("policy");
    let mut guest = guest(&folder.library());
    let kernel = guest.program.process().kernel.clone();
    kernel.permissions.set(&policy(Verdict::Deny, &[])).expect("a good policy");
    assert_eq!(guest.read_file(FILE).as_deref(), Ok(&b"name = 'posix'\n"[..]));
    assert_eq!(guest.list("/usr/lib/python3.13", 4_096).map(|names| names.len()), Ok(2));
    assert_eq!(guest.stat("/usr/lib/python3.13/nothing", true), Err(ENOENT));
    assert_eq!(guest.stat("/usr/lib", true), Err(EACCES));
    assert_eq!(guest.write_file("/usr/lib/python3.13/new", b""), EACCES);
    // A folder of the app that hides the library is not the library.
    let hiding = MountOptions { guest_path: "/usr".into(), host_path: folder.0.clone(), read_only: true, overlay: false };
    kernel.embedder_files().furnish(&[hiding], &[], &[], "/workspace").expect("mounted");
    std::fs::create_dir_all(folder.0.join("lib/python3.13")).expect("a directory");
    std::fs::write(folder.0.join("lib/python3.13/os.py"), b"hidden").expect("a file");
    assert_eq!(guest.read_file(FILE), Err(EACCES));
}

#[test]
fn a_mount_cannot_replace_the_library() {
    let folder = Folder::new("mount");
    let kernel = Kernel::with_library(&Limits::default(), &folder.library());
    for guest_path in ["/usr/lib/python3.13", "/usr/lib/python3.13/json"] {
        let options =
            MountOptions { guest_path: guest_path.to_owned(), host_path: folder.0.clone(), read_only: true, overlay: false };
        let error = kernel.embedder_files().furnish(&[options], &[], &[], "/workspace").expect_err("refused");
        assert!(error.to_string().contains("EBUSY"), "{error}");
    }
}

#[test]
fn a_snapshot_has_the_library_of_the_process_that_restores_it() {
    let (before, after) = (Folder::new("before"), Folder::new("after"));
    std::fs::write(after.0.join("lib/os.py"), b"name = 'other'\n").expect("a file");
    let mut original = guest(&before.library());
    let fd = open(&mut original, FILE);
    assert_eq!(read(&mut original, fd), b"name");
    let process = original.program.process();
    let saved = process.kernel.snapshot(&[process]).rewritten(|bytes| bytes).expect("a sound snapshot");
    let restored = |library: &Library| {
        let with = RestoreInputs {
            limits: Limits::default(),
            permissions: None,
            mounts: &[],
            file_systems: &[],
            library,
            warnings: None,
        };
        Guest::with(Kernel::restore(&saved, with).expect("a copy").processes.remove(0))
    };
    let mut copy = restored(&after.library());
    assert_eq!(copy.read_file(FILE).as_deref(), Ok(&b"name = 'other'\n"[..]));
    assert_eq!(copy.sys(FileCall::Read, &[fd.into(), Arg::Room(11), (-1).into()]).1, b" = 'other'\n");
    let mut without = restored(Library::missing());
    assert_eq!(without.read_file(FILE), Err(ENOENT));
    assert_eq!(without.plain(FileCall::Read, &[fd.into(), Arg::Room(4), (-1).into()]), -5);
    assert_eq!(without.plain(FileCall::Close, &[fd.into()]), 0);
}

/// `pip install` of an ordinary program writes to the directory of packages, to the directory of
/// commands, and to directories for data.
#[test]
fn the_guest_installs_packages_without_replacing_files_of_root() {
    let mut guest = Guest::new(Limits::default());
    assert_eq!(guest.write_file("/usr/local/bin/tool", b"#!/usr/bin/python3\n"), 0);
    assert_eq!(guest.plain(FileCall::Mkdir, &["/usr/local/share".into(), 0o755.into()]), 0);
    assert_eq!(guest.plain(FileCall::Unlink, &["/usr/local/bin/tool".into()]), 0);
    assert_eq!(guest.plain(FileCall::Unlink, &["/usr/local/bin/node".into()]), EPERM);
    assert_eq!(guest.write_file("/usr/local/bin/node", b""), EACCES);
    assert_eq!(guest.write_file("/usr/local/lib/python3.13/site-packages/six.py", b""), 0);
    assert_eq!(guest.write_file("/usr/local/lib/python3.13/six.py", b""), EACCES);
}

#[test]
fn the_links_of_python_lead_to_the_program_files() {
    let mut guest = Guest::new(Limits::default());
    for name in ["python3", "python", "python3.13"] {
        assert_eq!(guest.read_file(&format!("/usr/bin/{name}")).as_deref(), Ok(&b"\x7fCOLDFRAME python\n"[..]), "{name}");
    }
    for name in ["pip3", "pip"] {
        let text = guest.read_file(&format!("/usr/bin/{name}")).expect("a file");
        assert!(text.starts_with(b"#!/usr/bin/python3\n"), "{name}");
    }
}
