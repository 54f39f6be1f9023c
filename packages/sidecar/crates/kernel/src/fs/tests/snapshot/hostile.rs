//! Tests that a snapshot with changed bytes is refused or has valid files. No change causes a panic
//! or an endless loop.

use super::super::random::Random;
use super::super::watching::watch;
use super::*;
use crate::fs::FilesSnapshot;
use crate::fs::content::Content;
use crate::fs::node::{Body, Device, Ino, Node};
use crate::fs::overlay::Below;
use crate::fs::tree::ROOT;
use crate::fs::walk::Location;
use coldframe_abi::system_calls::FileCall;

/// The number of changed snapshots that are tested, unless `COLDFRAME_HOSTILE_ROUNDS` sets another
/// number.
const ROUNDS: u64 = 3_000;

/// A host folder, and a program with open files and changes of each kind. The folder is removed
/// after the test.
struct Fixture {
    root: std::path::PathBuf,
    options: RestoreOptions,
    guest: Guest,
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn fixture(name: &str) -> Fixture {
    let root = std::env::temp_dir().join(format!("coldframe-saved-{}-hostile-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(root.join("dir/deep")).expect("a temporary directory");
    for path in ["file", "dir/file", "dir/deep/file"] {
        std::fs::write(root.join(path), "0123456789").expect("a file");
    }
    let mount =
        |path: &str, overlay| MountOptions { guest_path: path.to_owned(), host_path: root.clone(), read_only: true, overlay };
    let options = RestoreOptions {
        mounts: vec![mount("/m", false), mount("/p", true)],
        file_systems: vec![FileSystemOptions { guest_path: "/app".to_owned(), number: 3, read_only: true }],
        ..RestoreOptions::default()
    };
    let kernel = Arc::new(Kernel::new(&options.limits));
    kernel.embedder_files().furnish(&options.mounts, &options.file_systems, &[], "/workspace").expect("mounted");
    let mut guest = Guest::of(&kernel, "/workspace");
    for path in ["/m/file", "/p/dir/deep/file"] {
        open(&mut guest, path, 0);
    }
    open(&mut guest, "/m/dir", DIRECTORY);
    guest.write_file("/p/dir/deep/own", b"own");
    guest.plain(FileCall::Unlink, &["/p/dir/file".into()]);
    guest.plain(FileCall::Rename, &["/p/dir".into(), "/p/moved".into()]);
    watch(&mut guest, "/m/dir", 0);
    Fixture { root, options, guest: filled(guest) }
}

/// Creates a program with open files and changes of each kind in memory.
fn anything() -> Guest {
    filled(Guest::new(Limits::default()))
}

fn filled(mut guest: Guest) -> Guest {
    for (path, len) in [("a", 10), ("b", 70_000), ("c", 0)] {
        guest.write_file(path, &vec![b'x'; len]);
    }
    guest.plain(FileCall::Mkdir, &["d".into(), 0o755.into()]);
    guest.plain(FileCall::Mkdir, &["d/e".into(), 0o755.into()]);
    guest.plain(FileCall::Link, &["a".into(), "d/again".into()]);
    guest.plain(FileCall::Symlink, &["../a".into(), "d/link".into()]);
    let fds = ["b", "c", "/dev/null", "/proc/stat"].map(|path| open(&mut guest, path, 0));
    let listing = open(&mut guest, "/tmp", DIRECTORY);
    rest_of(&mut guest, listing, 300, true).expect("names");
    let _ = read(&mut guest, fds[0], 5);
    guest.plain(FileCall::Unlink, &["c".into()]);
    watch(&mut guest, "d", 1);
    guest
}

/// Uses every file and descriptor of the program.
fn use_all(guest: &mut Guest) {
    let mut left = vec!["/".to_owned()];
    while let Some(path) = left.pop() {
        for (name, kind) in guest.list(&path, 600).unwrap_or_default() {
            let below = format!("{}/{name}", path.trim_end_matches('/'));
            let _ = guest.stat(&below, false);
            match kind {
                2 if !["/proc", "/app"].contains(&below.as_str()) => left.push(below),
                1 => {
                    let _ = guest.sys(FileCall::ReadFile, &[below.as_str().into(), Arg::Room(100)]);
                }
                _ => {
                    let _ = guest.sys(FileCall::Readlink, &[below.as_str().into(), Arg::Room(100)]);
                }
            }
        }
    }
    for fd in 0..12_i64 {
        let _ = guest.sys(FileCall::Fstat, &[fd.into(), Arg::Room(144)]);
        let _ = guest.sys(FileCall::Readlink, &[format!("/proc/self/fd/{fd}").as_str().into(), Arg::Room(100)]);
        let _ = guest.sys(FileCall::Read, &[fd.into(), Arg::Room(100), (-1).into()]);
        let _ = guest.sys(FileCall::Readdir, &[fd.into(), Arg::Room(600)]);
        let _ = guest.plain(FileCall::Ftruncate, &[fd.into(), 5.into()]);
        let _ = guest.plain(FileCall::Close, &[fd.into()]);
    }
    let _ = guest.sys(FileCall::Getcwd, &[Arg::Room(4_096)]);
    for path in ["a", "b", "d/again", "/p/moved/deep/file", "/p/file"] {
        let _ = guest.plain(FileCall::Unlink, &[path.into()]);
    }
    let _ = guest.program.process().kernel.embedder_files().remove("/workspace/d", true);
    guest.write_file("/p/moved/deep/new", b"new");
    for path in ["/usr", "/p/moved"] {
        let _ = guest.program.process().kernel.embedder_files().remove(path, true);
    }
    guest.program.process().close();
}

/// Changes, removes or inserts bytes at random offsets. Some of the new values have a meaning in
/// the format.
fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        // Half of the offsets are in the last 1,500 bytes. The short parts at the end are therefore
        // changed as often as the contents of files.
        let at = if random.below(2) == 0 { at } else { bytes.len() - 1 - random.below(bytes.len().min(1_500)) };
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.pick(&[0, 1, 2, 3, 0x7f, 0x80, 0xff]),
            2 => bytes[at] = bytes[at].wrapping_add(1),
            3 => drop(bytes.remove(at)),
            4 => bytes.insert(at, random.below(256) as u8),
            5 => {
                let from = random.below(bytes.len());
                let run = bytes[from..(from + random.below(40)).min(bytes.len())].to_vec();
                bytes.splice(at..at, run).for_each(drop);
            }
            _ => bytes.splice(at..(at + 1).min(bytes.len()), [0xff; 9].into_iter().chain([1])).for_each(drop),
        }
    }
}

#[test]
fn refuses_changed_bytes_or_restores_valid_files() {
    let rounds = std::env::var("COLDFRAME_HOSTILE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let fixture = fixture("change");
    let (mut refused, mut taken) = (0, 0);
    for seed in 1..=rounds {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let altered = snapshot(&[&fixture.guest]).rewritten(|mut bytes| {
            change(&mut bytes, &mut random);
            bytes
        });
        match altered.ok().and_then(|saved| fixture.options.restore(&saved).ok()) {
            Some(mut copies) => {
                use_all(&mut copies[0]);
                taken += 1;
            }
            None => refused += 1,
        }
    }
    assert!(refused > rounds / 4 && taken > rounds / 50, "{refused} refused, {taken} taken");
}

#[test]
fn refuses_truncated_bytes() {
    let guest = anything();
    let mut len = 0;
    let _ = snapshot(&[&guest]).rewritten(|bytes| {
        len = bytes.len();
        bytes
    });
    for end in (0..len).step_by(97).chain(len.saturating_sub(200)..len) {
        let cut = snapshot(&[&guest]).rewritten(|mut bytes| {
            bytes.truncate(end);
            bytes
        });
        assert_eq!(cut.err(), Some("no valid snapshot"), "{end}");
    }
}

fn node(files: &mut FilesSnapshot, ino: Ino) -> &mut Node {
    files.nodes.get_mut(&ino).expect("the file exists")
}

fn move_to(node: &mut Node, parent: Ino) {
    let name = node.name.clone();
    node.set_place(parent, name);
}

fn names(files: &mut FilesSnapshot, ino: Ino) -> &mut crate::fs::node::Directory {
    let Body::Directory(directory) = &mut node(files, ino).body else { panic!("a directory") };
    directory
}

#[test]
fn refuses_states_that_no_runtime_can_reach() {
    let mut guest = anything();
    let mut ino = |path: &str| Ino::new(guest.stat(path, false).expect(path)[7] as u64);
    let (work, a, d, e, link, null) = (ino("."), ino("a"), ino("d"), ino("d/e"), ino("d/link"), ino("/dev/null"));
    type Change = Box<dyn FnOnce(&mut FilesSnapshot)>;
    let cases: Vec<(&str, Change)> = vec![
        ("no root directory", Box::new(|files| assert!(files.nodes.remove_mut(&ROOT)))),
        ("no root directory", Box::new(|files| node(files, ROOT).body = Body::Socket)),
        ("an impossible root directory", Box::new(move |files| move_to(node(files, ROOT), d))),
        ("an inode number out of range", Box::new(|files| files.last = Ino::new(u64::MAX))),
        ("an inode number out of range", Box::new(|files| files.last = Ino::new(files.last.get() - 1))),
        ("a mode with unknown bits", Box::new(move |files| node(files, a).meta.mode = 0o10_644)),
        ("an inode with a wrong link count", Box::new(move |files| node(files, a).meta.links = 3)),
        ("an inode with a wrong link count", Box::new(move |files| node(files, a).meta.links = 0)),
        ("a directory with a wrong link count", Box::new(move |files| node(files, d).meta.links = 1)),
        ("a removed directory that is not empty", Box::new(move |files| node(files, d).meta.links = 0)),
        ("an inode with a wrong link count", Box::new(move |files| node(files, e).meta.links = 0)),
        ("an invalid name", Box::new(move |files| names(files, work).names.insert(b"x/y", a))),
        ("an invalid name", Box::new(move |files| names(files, work).names.insert(b"..", a))),
        ("an invalid name", Box::new(move |files| names(files, work).names.insert(&[b'n'; 256], a))),
        ("a name without an inode", Box::new(move |files| names(files, work).names.insert(b"x", Ino::new(9_999_999)))),
        // The next four cases have a directory that is in two directories, in itself, or in a
        // directory other than its parent.
        ("an invalid name", Box::new(move |files| names(files, work).names.insert(b"e", e))),
        ("an invalid name", Box::new(move |files| names(files, e).names.insert(b"d", d))),
        ("an invalid name", Box::new(move |files| names(files, e).names.insert(b"e", e))),
        ("an invalid name", Box::new(move |files| move_to(node(files, e), work))),
        (
            "a directory inside itself",
            Box::new(move |files| {
                names(files, work).names.remove(b"d");
                names(files, e).names.insert(b"d", d);
                move_to(node(files, d), e);
            }),
        ),
        ("a directory inside itself", Box::new(move |files| move_to(node(files, a), a))),
        ("a link without a target", Box::new(move |files| node(files, link).body = Body::Link(Arc::from(&b""[..])))),
        ("a mount point without a mount", Box::new(move |files| node(files, link).body = Body::Mount(7))),
        ("counters that do not match the inodes", Box::new(|files| files.used.bytes = 0)),
        ("counters that do not match the inodes", Box::new(|files| files.used.inodes += 1_000)),
        (
            "counters that do not match the inodes",
            Box::new(move |files| node(files, a).body = Body::File(Content::of(&[1; 100_000]))),
        ),
        ("a mount point without a mount", Box::new(|files| files.mounts.clear())),
        ("a library that is not mount 1", Box::new(|files| files.mounts.push(files.mounts[1].clone()))),
        ("a mount point without a mount", Box::new(|files| files.mounts[1].parent = Location::Memory(ROOT))),
        ("a /proc that is not mount 0", Box::new(|files| files.mounts.push(files.mounts[0].clone()))),
        ("a mount point without a mount", Box::new(move |files| files.mounts[0].parent = Location::Memory(a))),
        ("a mount point without a mount", Box::new(|files| files.mounts[0].parent = Location::Mount(0, Vec::new()))),
        ("a raised directory without an overlay", Box::new(move |files| files.raised.insert_mut((0, Box::default()), d))),
        ("a raised directory without an overlay", Box::new(move |files| names(files, d).below = Some(Box::new(Below::root(0))))),
        ("an impossible watch", Box::new(|files| files.watches[0].node = Some(Ino::new(9_999_999)))),
        ("an impossible watch", Box::new(|files| files.watches[0].node = None)),
        ("an invalid open description", Box::new(move |files| node(files, null).body = Body::Device(Device::Full))),
    ];
    for (reason, change) in cases {
        let refused = snapshot(&[&guest]).with_files(change).rewritten(|bytes| bytes).err();
        assert_eq!(refused, Some(reason));
    }
    assert!(snapshot(&[&guest]).with_files(|_| {}).rewritten(|bytes| bytes).is_ok());
    let fixture = fixture("sound");
    let over = |change: fn(&mut Below)| {
        let moved = fixture.guest.program.process().kernel.files.lock().raised.values().next().copied().expect("the root");
        snapshot(&[&fixture.guest])
            .with_files(|files| change(names(files, moved).below.as_mut().expect("an overlay")))
            .rewritten(|bytes| bytes)
    };
    assert!(over(|_| {}).is_ok());
    assert_eq!(over(|below| below.path = b"../out".to_vec()).err(), Some("an invalid name"));
    assert_eq!(over(|below| below.path = b"/etc".to_vec()).err(), Some("an invalid name"));
    assert_eq!(over(|below| below.gone.insert_mut(b"a/b"[..].into())).err(), Some("an invalid name"));
    assert_eq!(over(|below| below.mount = 1).err(), Some("a raised directory without an overlay"));
}

/// Permission rules name the mount's path, so a snapshot must not move a mount.
#[test]
fn refuses_a_mount_at_another_path_than_its_options_name() {
    let fixture = fixture("elsewhere");
    let refused = |change: &dyn Fn(&mut FilesSnapshot)| {
        snapshot(&[&fixture.guest]).with_files(|files| change(files)).rewritten(|bytes| bytes).err()
    };
    assert_eq!(refused(&|_| {}), None);
    let named = |files: &FilesSnapshot, name: &[u8]| {
        let mut mounts = files.mounts.iter();
        mounts.position(|mount| mount.name[..] == *name).expect("mounted")
    };
    for (name, reason) in [
        (&b"m"[..], "a mount point without a mount"),
        (b"app", "a mount point without a mount"),
        (b"p", "a mount at another path than its own"),
    ] {
        let renamed = refused(&|files| {
            let number = named(files, name);
            files.mounts[number].name = b"q"[..].into();
        });
        assert_eq!(renamed, Some(reason));
        // The names in the tree are changed too.
        let moved = refused(&|files| {
            let number = named(files, name);
            let ino = names(files, ROOT).names.get(name).expect("no call").expect("mounted");
            names(files, ROOT).names.remove(name);
            names(files, ROOT).names.insert(b"q", ino);
            node(files, ino).name = Arc::from(&b"q"[..]);
            files.mounts[number].name = b"q"[..].into();
        });
        assert_eq!(moved, Some("a mount at another path than its own"));
    }
    // Only the directory of an overlay is renamed.
    let moved = refused(&|files| {
        let ino = names(files, ROOT).names.get(b"p").expect("no call").expect("mounted");
        names(files, ROOT).names.remove(b"p");
        names(files, ROOT).names.insert(b"q", ino);
        node(files, ino).name = Arc::from(&b"q"[..]);
    });
    assert_eq!(moved, Some("an overlay at another path than its own"));
    assert_eq!(
        refused(&|files| assert!(files.raised.remove_mut(&(named(files, b"p"), Box::default())))),
        Some("an overlay at another path than its own")
    );
}
