//! Tests of overlays: the host folder is read and never written, and the guest's changes stay in
//! memory.

use super::super::super::Kernel;
use super::{Arg, Guest};
use crate::fs::options::MountOptions;
use crate::limits::Limits;
use coldframe_abi::system_calls::FileCall;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const OPEN: FileCall = FileCall::Open;
const UNLINK: FileCall = FileCall::Unlink;
const RENAME: FileCall = FileCall::Rename;
const ENOENT: i64 = -2;
const EACCES: i64 = -13;
const EBUSY: i64 = -16;
const EEXIST: i64 = -17;
const ENOSPC: i64 = -28;
const ENOTEMPTY: i64 = -39;

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes a host folder: `project/{package.json, src/{main.js, util.js, deep/file}, link ->
/// src/main.js, out -> /etc}`.
fn folder(name: &str) -> Folder {
    let root = std::env::temp_dir().join(format!("coldframe-overlay-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(root.join("src/deep")).expect("a temporary directory");
    for (path, text) in [("package.json", "{}"), ("src/main.js", "main"), ("src/util.js", "util"), ("src/deep/file", "deep")] {
        std::fs::write(root.join(path), text).expect("a file");
    }
    symlink("src/main.js", root.join("link")).expect("a link");
    symlink("/etc", root.join("out")).expect("a link");
    Folder(root)
}

/// Returns the path, the size, the mode, and the nanoseconds of the modification time and the
/// change time of each file in a folder.
fn state(folder: &Path) -> Vec<(PathBuf, u64, u32, i64, i64)> {
    let (mut found, mut left) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(path) = left.pop() {
        let stat = std::fs::symlink_metadata(&path).expect("the file exists");
        if stat.is_dir() {
            left.extend(std::fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("an entry").path()));
        }
        let size = if stat.is_dir() { 0 } else { stat.size() };
        found.push((path, size, stat.mode(), stat.mtime_nsec(), stat.ctime_nsec()));
    }
    found.sort();
    found
}

fn kernel(folder: &Folder, limits: &Limits) -> Arc<Kernel> {
    let kernel = Arc::new(Kernel::new(limits));
    let mount = MountOptions { guest_path: "/p".to_owned(), host_path: folder.0.clone(), read_only: true, overlay: true };
    kernel.embedder_files().furnish(&[mount], &[], &[], "/workspace").expect("mounted");
    kernel
}

fn names(guest: &mut Guest, path: &str) -> Vec<String> {
    let mut names: Vec<_> = guest.list(path, 300).expect("a directory").into_iter().map(|entry| entry.0).collect();
    names.sort();
    names
}

#[test]
fn changes_of_a_guest_stay_in_the_runtime() {
    let folder = folder("changes");
    let before = state(&folder.0);
    let mut guest = Guest::of(&kernel(&folder, &Limits::default()), "/p/src");
    assert_eq!(guest.read_file("main.js"), Ok(b"main".to_vec()), "read below");
    assert_eq!(guest.write_file("main.js", b"changed"), 0);
    assert_eq!(guest.read_file("/p/link"), Ok(b"changed".to_vec()), "a link of the folder leads to the changed file");
    let fd = guest.plain(OPEN, &["util.js".into(), 0o2001.into(), 0.into()]);
    assert_eq!(guest.plain(FileCall::Write, &[fd.into(), "!".into(), (-1).into()]), 1);
    assert_eq!(guest.read_file("util.js"), Ok(b"util!".to_vec()), "appended to the folder's content");
    assert_eq!(guest.plain(UNLINK, &["main.js".into()]), 0);
    assert_eq!(guest.stat("main.js", true), Err(ENOENT));
    assert_eq!(guest.plain(UNLINK, &["/p/link".into()]), 0);
    assert_eq!(guest.stat("/p/link", false), Err(ENOENT));
    assert_eq!(names(&mut guest, "/p"), ["out", "package.json", "src"]);
    assert_eq!(names(&mut guest, "."), ["deep", "util.js"]);
    assert_eq!(guest.write_file("main.js", b"new"), 0);
    assert_eq!(names(&mut guest, "/p/src"), ["deep", "main.js", "util.js"]);
    assert_eq!(guest.plain(FileCall::Mkdir, &["/p/src/deep".into(), 0o755.into()]), EEXIST);
    assert_eq!(guest.plain(FileCall::Symlink, &["x".into(), "/p/package.json".into()]), EEXIST);
    assert_eq!(guest.plain(FileCall::Chmod, &["/p/package.json".into(), 0o600.into(), 1.into()]), 0);
    assert_eq!(guest.stat("/p/package.json", true).map(|stat| stat[1] as u32), Ok(0o100_600));
    assert_eq!(guest.plain(FileCall::Access, &["/p/src/deep/file".into(), 2.into()]), 0, "the file is writable");
    assert_eq!(guest.stat("/p/out/passwd", true), Err(EACCES), "a link cannot lead out of the mounts");
    assert_eq!(state(&folder.0), before, "the folder is unchanged");
}

#[test]
fn renames_directories_with_their_content() {
    let folder = folder("rename");
    let before = state(&folder.0);
    let mut guest = Guest::of(&kernel(&folder, &Limits::default()), "/p/src/deep");
    assert_eq!(guest.plain(RENAME, &["/p/src".into(), "/p/lib".into()]), 0);
    assert_eq!(guest.stat("/p/src", true), Err(ENOENT));
    assert_eq!(guest.read_file("/p/lib/deep/file"), Ok(b"deep".to_vec()));
    assert_eq!(guest.read_file("file"), Ok(b"deep".to_vec()), "the working directory moved along");
    assert_eq!(guest.read_file("../util.js"), Ok(b"util".to_vec()));
    let (len, path) = guest.sys(FileCall::Getcwd, &[Arg::Room(100)]);
    assert_eq!(&path[..len as usize], b"/p/lib/deep");
    let (len, path) = guest.sys(FileCall::Realpath, &["../util.js".into(), Arg::Room(100)]);
    assert_eq!(&path[..len as usize], b"/p/lib/util.js");
    assert_eq!(guest.plain(RENAME, &["/p/lib/deep".into(), "/tmp/deep".into()]), 0, "out of the overlay, too");
    assert_eq!(guest.read_file("/tmp/deep/file"), Ok(b"deep".to_vec()));
    assert_eq!(guest.read_file("../deep/file"), Ok(b"deep".to_vec()));
    assert_eq!(guest.plain(FileCall::Mkdir, &["/p/src".into(), 0o755.into()]), 0);
    assert_eq!(names(&mut guest, "/p/src"), Vec::<String>::new(), "a new directory hides the folder's directory of this name");
    assert_eq!(guest.plain(RENAME, &["/p/src".into(), "/p/lib".into()]), ENOTEMPTY);
    assert_eq!(guest.plain(FileCall::Rmdir, &["/p".into()]), EBUSY);
    assert_eq!(guest.plain(RENAME, &["/p".into(), "/q".into()]), EBUSY);
    assert_eq!(guest.plain(RENAME, &["/p/lib/util.js".into(), "/p/package.json".into()]), 0);
    assert_eq!(guest.read_file("/p/package.json"), Ok(b"util".to_vec()));
    assert_eq!(state(&folder.0), before);
}

#[test]
fn the_embedder_changes_and_removes_files_of_an_overlay() {
    let folder = folder("outside");
    let before = state(&folder.0);
    let kernel = kernel(&folder, &Limits::default());
    let embedder = kernel.embedder_files();
    embedder.write("/p/src/deep/new/file", b"new", false).expect("directories are made");
    embedder.write("/p/src/util.js", b"!", true).expect("appended");
    assert_eq!(embedder.read("/p/src/util.js", 0, 100).expect("read").0, b"util!");
    assert_eq!(embedder.list("/p/src/deep").expect("listed").len(), 2);
    embedder.rename("/p/src/deep", "/p/deep").expect("renamed");
    embedder.remove("/p/src", true).expect("removed");
    assert!(embedder.stat("/p/src/main.js", true).is_err());
    embedder.mkdir("/p/src/main.js", true).expect("made");
    for name in ["link", "out", "package.json", "src", "deep"] {
        embedder.remove(&format!("/p/{name}"), true).expect(name);
    }
    assert!(embedder.list("/p").expect("listed").is_empty());
    let used = kernel.files.lock().used.inodes;
    assert!(used <= 7, "{used}: the root, and an inode for each hidden name");
    assert_eq!(state(&folder.0), before);
}

#[test]
fn limits_count_copied_up_files() {
    let folder = folder("limits");
    std::fs::write(folder.0.join("large"), vec![7; 100_000]).expect("a file");
    let before = state(&folder.0);
    let kernel = kernel(&folder, &Limits { filesystem_bytes: 50_000, ..Limits::default() });
    let mut guest = Guest::of(&kernel, "/p");
    let append = guest.plain(OPEN, &["large".into(), 0o2001.into(), 0.into()]);
    assert_eq!(append, ENOSPC);
    assert_eq!(guest.read_file("large").map(|bytes| bytes.len()), Ok(100_000), "the file is unchanged");
    assert_eq!(guest.plain(RENAME, &["large".into(), "other".into()]), ENOSPC);
    assert_eq!(guest.write_file("large", b"short"), 0, "a truncated file is not copied up");
    assert_eq!(guest.plain(UNLINK, &["large".into()]), 0);
    assert_eq!(kernel.files.lock().used.bytes, 0);
    let kernel = self::kernel(&folder, &Limits { inodes: 3, ..Limits::default() });
    let mut guest = Guest::of(&kernel, "/p");
    assert_eq!(guest.write_file("src/deep/new", b""), ENOSPC, "the root, two directories, and no room for a file");
    for name in ["package.json", "link", "large"] {
        assert_eq!(guest.plain(UNLINK, &[name.into()]), 0, "removing works when nothing else does");
    }
    assert_eq!(guest.plain(FileCall::Mkdir, &["d".into(), 0o755.into()]), ENOSPC);
    assert_eq!(state(&folder.0), before);
}

#[test]
fn a_watch_reports_changes_in_an_overlay() {
    let folder = folder("watch");
    let mut guest = Guest::of(&kernel(&folder, &Limits::default()), "/p");
    let operation = guest.plain(FileCall::Watch, &["src".into(), 1.into()]);
    assert!(operation > 0, "{operation}");
    assert_eq!(guest.plain(UNLINK, &["src/main.js".into()]), 0);
    assert_eq!(guest.program.process().operations.take().len(), 1);
}

#[test]
fn serves_other_calls_while_a_large_file_is_copied_up() {
    const LEN: u64 = 64 << 20;
    let folder = folder("large");
    std::fs::File::create(folder.0.join("large")).and_then(|file| file.set_len(LEN)).expect("a file");
    // The file has data at every offset, so that the used bytes show the progress.
    std::fs::write(folder.0.join("large"), vec![1; LEN as usize]).expect("a file");
    let kernel = kernel(&folder, &Limits { filesystem_bytes: 2 * LEN, ..Limits::default() });
    let (mut one, mut other) = (Guest::of(&kernel, "/p"), Guest::of(&kernel, "/p"));
    let copying = std::thread::spawn(move || one.plain(OPEN, &["large".into(), 0o2001.into(), 0.into()]));
    let mut between = 0;
    loop {
        assert!(other.stat("/etc/hosts", true).is_ok());
        let used = kernel.files.lock().used.bytes;
        between += usize::from(used > 0 && used < LEN);
        if used == LEN && copying.is_finished() {
            break;
        }
        std::thread::yield_now();
    }
    assert!(copying.join().expect("no panic") >= 3);
    assert!(between > 0, "a call of the other guest ran during the copy");
    assert_eq!(kernel.files.lock().used.bytes, LEN);
}

#[test]
fn simultaneous_changes_of_a_file_share_one_copy() {
    const LEN: usize = 4 << 20;
    for round in 0..20 {
        let folder = folder(&format!("race-{round}"));
        std::fs::write(folder.0.join("large"), vec![b'.'; LEN]).expect("a file");
        let kernel = kernel(&folder, &Limits { filesystem_bytes: 3 * LEN as u64, ..Limits::default() });
        let append = |text: &'static str| {
            let mut guest = Guest::of(&kernel, "/p");
            move || {
                let fd = guest.plain(OPEN, &["large".into(), 0o2001.into(), 0.into()]);
                assert!(fd >= 0, "{fd}");
                assert_eq!(guest.plain(FileCall::Write, &[fd.into(), text.into(), (-1).into()]), 1);
            }
        };
        let threads = ["a", "b"].map(|text| std::thread::spawn(append(text)));
        let gone = (round % 2 == 1).then(|| {
            let mut guest = Guest::of(&kernel, "/p");
            std::thread::spawn(move || guest.plain(UNLINK, &["package.json".into()]))
        });
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        gone.into_iter().for_each(|thread| assert_eq!(thread.join().expect("no panic"), 0));
        let bytes = kernel.embedder_files().read("/p/large", 0, LEN + 10).expect("read").0;
        assert_eq!(bytes.len(), LEN + 2);
        assert_eq!(bytes[LEN..].iter().map(|byte| u32::from(*byte)).sum::<u32>(), u32::from(b'a') + u32::from(b'b'));
        let used = kernel.files.lock().used.bytes;
        assert!(used < LEN as u64 + 10_000, "nothing is counted twice: {used}");
    }
}
