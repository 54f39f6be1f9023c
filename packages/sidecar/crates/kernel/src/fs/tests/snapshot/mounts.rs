//! Tests of mounts in a restored runtime: the embedder passes the mounts again by path, and the
//! mounts keep their numbers.

use super::super::watching::{watch, watch_events};
use super::*;
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Errno;
use std::path::PathBuf;
use std::time::{Duration, Instant};

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Makes a host folder: `{file, other, dir/inner}`.
fn folder(name: &str) -> Folder {
    let root = std::env::temp_dir().join(format!("coldframe-saved-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(root.join("dir")).expect("a temporary directory");
    for (path, text) in [("file", "0123456789"), ("other", "other"), ("dir/inner", "inner")] {
        std::fs::write(root.join(path), text).expect("a file");
    }
    Folder(root)
}

fn mount(guest_path: &str, folder: &Folder, overlay: bool) -> MountOptions {
    MountOptions { guest_path: guest_path.to_owned(), host_path: folder.0.clone(), read_only: false, overlay }
}

fn with_mounts(mounts: &[MountOptions]) -> RestoreOptions {
    RestoreOptions { mounts: mounts.to_vec(), ..RestoreOptions::default() }
}

fn guest(options: &RestoreOptions) -> Guest {
    let kernel = Arc::new(Kernel::new(&options.limits));
    kernel.embedder_files().furnish(&options.mounts, &options.file_systems, &[], "/workspace").expect("mounted");
    Guest::of(&kernel, "/workspace")
}

#[test]
fn names_a_mount_that_a_restore_lacks() {
    let folder = folder("lacks");
    let system = FileSystemOptions { guest_path: "/app".to_owned(), number: 7, read_only: false };
    let mounts = vec![mount("/m", &folder, false), mount("/p/", &folder, true)];
    let all = RestoreOptions { mounts, file_systems: vec![system.clone()], ..RestoreOptions::default() };
    let saved = snapshot(&[&guest(&all)]);
    let lacking = |mounts: &[MountOptions], systems: &[FileSystemOptions]| {
        let options = RestoreOptions { mounts: mounts.to_vec(), file_systems: systems.to_vec(), ..RestoreOptions::default() };
        match options.restore(&saved).err() {
            Some(error @ Error::SnapshotLacks { .. }) => {
                assert_eq!(error.code(), "ERR_SNAPSHOT_LACKS");
                error.to_string()
            }
            other => panic!("{other:?}"),
        }
    };
    let systems = std::slice::from_ref(&system);
    assert_eq!(lacking(&all.mounts[1..], systems), "the snapshot needs a mount '/m', which was not given");
    assert_eq!(lacking(&all.mounts[..1], systems), "the snapshot needs a mount '/p', which was not given");
    assert_eq!(lacking(&all.mounts, &[]), "the snapshot needs a file system '/app', which was not given");
    let folder_there =
        RestoreOptions { mounts: vec![mount("/m", &folder, true), mount("/p", &folder, true)], ..RestoreOptions::default() };
    let error = RestoreOptions { file_systems: vec![system], ..folder_there }.restore(&saved).err().expect("it is no overlay");
    assert_eq!(error.code(), "ERR_SNAPSHOT_FOREIGN");
    assert!(error.to_string().contains("/m"), "{error}");
    assert!(all.restore(&saved).is_ok());
}

#[test]
fn a_mount_keeps_its_number_and_may_have_another_folder() {
    let (one, other) = (folder("one"), folder("another"));
    std::fs::write(other.0.join("file"), "another").expect("a file");
    let before = [mount("/m", &one, false), mount("/m/dir/deep", &other, false), mount("/w", &one, false)];
    let mut original = guest(&with_mounts(&before));
    let dev = |guest: &mut Guest, path: &str| guest.stat(path, true).expect(path)[0];
    let numbers = ["/m/file", "/m/dir/deep/file", "/w/file"].map(|path| dev(&mut original, path));
    let saved = snapshot(&[&original]);
    // The mounts are passed in another order, with another folder, and with a further mount.
    let after =
        [mount("/new", &one, false), mount("/w", &other, false), mount("/m/dir/deep", &other, false), mount("/m", &one, false)];
    let mut copy = with_mounts(&after).only(&saved);
    assert_eq!(["/m/file", "/m/dir/deep/file", "/w/file"].map(|path| dev(&mut copy, path)), numbers);
    assert_eq!(copy.read_file("/w/file").expect("the file exists"), b"another");
    assert_eq!(copy.read_file("/m/dir/deep/file").expect("the file exists"), b"another");
    assert_eq!(copy.read_file("/new/file").expect("the file exists"), b"0123456789");
    assert_eq!(original.read_file("/new/file"), Err(-2));
    let (folders, systems) = copy.program.process().kernel.reattach();
    assert_eq!((folders.len(), systems.len()), (4, 0));
    let again = RestoreOptions { mounts: folders, ..RestoreOptions::default() };
    assert_eq!(again.only(&snapshot(&[&copy])).read_file("/new/other").expect("the file exists"), b"other");
}

#[test]
fn an_open_file_of_a_mount_is_opened_again_at_its_position() {
    let folder = folder("open");
    let with = with_mounts(&[mount("/m", &folder, false)]);
    let mut guest = guest(&with);
    let fd = open(&mut guest, "/m/file", 2);
    assert_eq!(read(&mut guest, fd, 4).expect("the file exists"), b"0123");
    let mut copy = with.only(&snapshot(&[&guest]));
    assert_eq!(read(&mut copy, fd, 4).expect("the file exists"), b"4567");
    assert_eq!(write(&mut copy, fd, b"AB"), 2);
    assert_eq!(std::fs::read(folder.0.join("file")).expect("the file exists"), b"01234567AB");
}

#[test]
fn an_open_file_that_was_removed_or_replaced_fails_with_eio() {
    const EIO: i64 = -5;
    let folder = folder("lost");
    let with = with_mounts(&[mount("/m", &folder, false)]);
    let mut guest = guest(&with);
    let fds = [open(&mut guest, "/m/file", 2), open(&mut guest, "/m/other", 2)];
    let saved = snapshot(&[&guest]);
    std::fs::remove_file(folder.0.join("file")).expect("the file exists");
    std::fs::rename(folder.0.join("dir/inner"), folder.0.join("other")).expect("the file exists");
    let mut copy = with.only(&saved);
    for fd in fds {
        assert_eq!(read(&mut copy, fd, 4), Err(EIO));
        assert_eq!(write(&mut copy, fd, b"x"), EIO);
        assert_eq!(copy.sys(FileCall::Fstat, &[fd.into(), Arg::Room(144)]).0, EIO);
        for (call, arguments) in [
            (FileCall::Ftruncate, [fd, 0]),
            (FileCall::Fchmod, [fd, 0o600]),
            (FileCall::Fsync, [fd, 0]),
            (FileCall::Lseek, [fd, 0]),
        ] {
            assert_eq!(copy.plain(call, &arguments.map(Arg::from)), EIO, "{call:?}");
        }
        let link = format!("/proc/self/fd/{fd}");
        assert_eq!(copy.plain(FileCall::Open, &[link.as_str().into(), 0.into(), 0.into()]), EIO);
        // After a second snapshot and restore, the file is missing too.
        let mut third = with.only(&snapshot(&[&copy]));
        assert_eq!(read(&mut third, fd, 4), Err(EIO));
        assert_eq!(copy.plain(FileCall::Close, &[fd.into()]), 0);
    }
    assert_eq!(std::fs::read(folder.0.join("other")).expect("the file exists"), b"inner", "the new file is unchanged");
    assert_eq!(read(&mut guest, fds[0], 4).expect("the original has it open"), b"0123");
}

#[test]
fn a_copy_has_the_changes_of_an_overlay() {
    let folder = folder("overlay");
    let with = with_mounts(&[mount("/p", &folder, true)]);
    let mut guest = guest(&with);
    let below = open(&mut guest, "/p/other", 0);
    guest.write_file("/p/file", b"changed");
    guest.plain(FileCall::Unlink, &["/p/other".into()]);
    guest.write_file("/p/dir/new", b"new");
    let mut copy = with.only(&snapshot(&[&guest]));
    assert_eq!(used(&copy), used(&guest));
    assert_eq!(copy.read_file("/p/file").expect("the file exists"), b"changed");
    assert_eq!(copy.read_file("/p/other"), Err(-2));
    assert_eq!(read(&mut copy, below, 10).expect("it is open"), b"other");
    let names = |guest: &mut Guest, path: &str| {
        let mut names: Vec<_> = guest.list(path, 300).expect("a directory").into_iter().map(|entry| entry.0).collect();
        names.sort();
        names
    };
    assert_eq!(names(&mut copy, "/p"), ["dir", "file"]);
    assert_eq!(names(&mut copy, "/p/dir"), ["inner", "new"]);
    copy.write_file("/p/dir/inner", b"the copy's");
    assert_eq!(guest.read_file("/p/dir/inner").expect("the file exists"), b"inner");
    assert_eq!(std::fs::read(folder.0.join("dir/inner")).expect("the file exists"), b"inner");
    assert_eq!(copy.plain(FileCall::Rename, &["/p/dir".into(), "/p/moved".into()]), 0);
    assert_eq!(copy.read_file("/p/moved/inner").expect("the file exists"), b"the copy's");
}

#[test]
fn a_copy_continues_a_listing_of_a_mount() {
    for overlay in [false, true] {
        let folder = folder(if overlay { "listing-overlay" } else { "listing" });
        for n in 0..500 {
            std::fs::write(folder.0.join(format!("file{n}")), "").expect("a file");
        }
        let with = with_mounts(&[mount("/m", &folder, overlay)]);
        let mut guest = guest(&with);
        guest.write_file("/m/own", b"");
        let fd = open(&mut guest, "/m", DIRECTORY);
        let begun = rest_of(&mut guest, fd, 300, true).expect("names");
        let mut copy = with.only(&snapshot(&[&guest]));
        let mut third = with.only(&snapshot(&[&copy]));
        let rest = rest_of(&mut guest, fd, 300, false).expect("names");
        assert_eq!(begun.len() + rest.len(), 504);
        assert_eq!(rest_of(&mut copy, fd, 300, false).expect("names"), rest);
        assert_eq!(rest_of(&mut third, fd, 300, false).expect("names"), rest);
        copy.plain(FileCall::Close, &[fd.into()]);
        assert!(copy.list("/m", 300).expect("a directory").len() == 504);
    }
}

#[test]
fn a_listing_fails_where_its_snapshot_is_incomplete() {
    let folder = folder("torn");
    for n in 0..2_000 {
        std::fs::write(folder.0.join(format!("file{n}")), "").expect("a file");
    }
    let mut with = with_mounts(&[mount("/m", &folder, false)]);
    with.limits.kernel_bytes = 100_000;
    let mut guest = guest(&with);
    let fd = open(&mut guest, "/m", DIRECTORY);
    let begun = rest_of(&mut guest, fd, 300, true).expect("names").len();
    let mut copy = with.only(&snapshot(&[&guest]));
    assert_eq!(begun + rest_of(&mut guest, fd, 300, false).expect("the original has all").len(), 2_003);
    assert_eq!(rest_of(&mut copy, fd, 300, false), Err(-5));
}

#[test]
fn restores_a_watch_of_a_mount_or_cancels_it() {
    let folder = folder("watch");
    let with = with_mounts(&[mount("/m", &folder, false)]);
    let mut guest = guest(&with);
    let (dir, file) = (watch(&mut guest, "/m/dir", 0), watch(&mut guest, "/m/file", 0));
    let saved = snapshot(&[&guest]);
    std::fs::remove_file(folder.0.join("file")).expect("the file exists");
    let copy = with.only(&saved);
    let given_up = copy.program.process().operations.take();
    let canceled = i32::try_from(Errno::ECANCELED.negative()).expect("small");
    assert_eq!(given_up.iter().map(|event| (event.operation.get(), event.result)).collect::<Vec<_>>(), [(file, canceled)]);
    std::fs::write(folder.0.join("dir/new"), "").expect("a file");
    let deadline = Instant::now() + Duration::from_secs(20);
    let events = loop {
        let events = watch_events(&copy);
        if !events.is_empty() {
            break events;
        }
        assert!(Instant::now() < deadline, "the host reports changes");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(events, [(dir, vec![(1, "new".to_owned())])]);
}

#[test]
fn an_app_file_system_is_called_by_its_new_number() {
    let system = |number| FileSystemOptions { guest_path: "/app".to_owned(), number, read_only: false };
    let with = |number| RestoreOptions { file_systems: vec![system(number)], ..RestoreOptions::default() };
    let copy = with(9).only(&snapshot(&[&guest(&with(7))]));
    assert_eq!(copy.program.process().kernel.reattach().1, [system(9)]);
    assert!(copy.program.process().kernel.has_app_file_systems.load(std::sync::atomic::Ordering::Relaxed));
}
