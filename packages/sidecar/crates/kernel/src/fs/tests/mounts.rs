//! Tests of mounted host directories: the paths that lead into a mount. No path leads out.

use super::super::super::Kernel;
use super::{Arg, Guest};
use crate::fs::options::MountOptions;
use crate::limits::Limits;
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Error;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const ENOENT: i64 = -2;
const EACCES: i64 = -13;
const EXDEV: i64 = -18;
const EROFS: i64 = -30;

/// A temporary directory with a folder `inside` to mount and a file `outside/secret`. The directory
/// is removed after the test.
struct Host(PathBuf);

impl Drop for Host {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Host {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("coldframe-host-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        for folder in ["inside/dir/deep", "outside"] {
            std::fs::create_dir_all(root.join(folder)).expect("a temporary directory");
        }
        std::fs::write(root.join("inside/dir/file"), b"inside").expect("a file");
        std::fs::write(root.join("outside/secret"), b"secret").expect("a file");
        Self(root)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    fn mount(&self, guest_path: &str, path: &str, read_only: bool) -> MountOptions {
        MountOptions { guest_path: guest_path.to_owned(), host_path: self.path(path), read_only, overlay: false }
    }

    fn guest(&self, read_only: bool) -> Guest {
        guest(&[self.mount("/m", "inside", read_only)])
    }
}

fn guest(mounts: &[MountOptions]) -> Guest {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    kernel.embedder_files().furnish(mounts, &[], &[], "/workspace").expect("mounted");
    Guest::of(&kernel, "/workspace")
}

#[test]
fn no_path_and_no_link_leads_out_of_a_mount() {
    let host = Host::new("out");
    let absolute = host.path("outside/secret");
    for (target, name) in [
        (absolute.as_path(), "absolute"),
        (Path::new("../outside/secret"), "relative"),
        (Path::new("dir/../../outside"), "through"),
        (Path::new("/proc/self/root"), "magic"),
        (Path::new("/"), "root"),
    ] {
        symlink(target, host.path("inside").join(name)).expect("a link");
    }
    for read_only in [true, false] {
        let mut guest = host.guest(read_only);
        for path in ["/m/absolute", "/m/relative", "/m/through/secret", "/m/magic/etc/passwd", "/m/root/etc/passwd", "/m/root"] {
            assert_eq!(guest.stat(path, true), Err(EACCES), "{path}");
            assert_eq!(guest.read_file(path), Err(EACCES), "{path}");
            assert_eq!(guest.plain(FileCall::Open, &[path.into(), 0.into(), 0.into()]), EACCES, "{path}");
        }
        let (len, reason) = guest.sys(FileCall::Reason, &[Arg::Room(300)]);
        let reason = String::from_utf8_lossy(&reason[..len as usize]).into_owned();
        assert!(reason.contains("'/m/root'") && reason.contains("mount the folder"), "{reason}");
        assert_eq!(guest.sys(FileCall::Reason, &[Arg::Room(300)]).0, 0, "the reason is returned once");
        assert_eq!(guest.stat("/m/root", true), Err(EACCES));
        assert_eq!(guest.plain(FileCall::Mkdir, &["/etc/made".into(), 0o755.into()]), EACCES);
        assert_eq!(guest.sys(FileCall::Reason, &[Arg::Room(300)]).0, 0, "the reason belonged to an earlier call");
        for path in ["/m/../outside/secret", "/m/dir/../../outside/secret", "/m/..", "/m/../m/../outside"] {
            let found = guest.stat(path, true);
            assert!(found == Err(ENOENT) || path == "/m/..", "{path}");
        }
        assert_eq!(guest.stat("/m/dir/../dir/file", true).map(|stat| stat[8]), Ok(6.0));
    }
}

#[test]
fn follows_a_link_into_another_mount() {
    let host = Host::new("workspace");
    symlink("../outside", host.path("inside/relative")).expect("a link");
    symlink(host.path("outside/secret"), host.path("inside/absolute")).expect("a link");
    symlink("dir", host.path("inside/own")).expect("a link");
    let mut guest = guest(&[host.mount("/m", "inside", true), host.mount("/m/dir/deep/other", "outside", true)]);
    for path in ["/m/relative/secret", "/m/absolute", "/m/dir/deep/other/secret", "/m/own/deep/other/secret"] {
        assert_eq!(guest.read_file(path), Ok(b"secret".to_vec()), "{path}");
    }
    let (len, path) = guest.sys(FileCall::Realpath, &["/m/relative/secret".into(), Arg::Room(100)]);
    assert_eq!(&path[..len as usize], b"/m/dir/deep/other/secret");
    assert_eq!(guest.stat("/m/dir/deep/other/..", true).map(|stat| stat[7]), guest.stat("/m/dir/deep", true).map(|stat| stat[7]));
    let names: Vec<_> = guest.list("/m/dir/deep", 512).expect("listed").into_iter().map(|entry| entry.0).collect();
    assert_eq!(names, ["other"]);
}

#[test]
fn a_read_only_mount_refuses_every_change() {
    let host = Host::new("read-only");
    let mut guest = host.guest(true);
    let calls: &[(FileCall, &[Arg<'_>])] = &[
        (FileCall::Open, &[Arg::Bytes(b"/m/dir/file"), Arg::Int(1), Arg::Int(0)]),
        (FileCall::Open, &[Arg::Bytes(b"/m/new"), Arg::Int(0o101), Arg::Int(0o644)]),
        (FileCall::Open, &[Arg::Bytes(b"/m/dir/file"), Arg::Int(0o1000), Arg::Int(0)]),
        (FileCall::Mkdir, &[Arg::Bytes(b"/m/new"), Arg::Int(0o755)]),
        (FileCall::Rmdir, &[Arg::Bytes(b"/m/dir/deep")]),
        (FileCall::Unlink, &[Arg::Bytes(b"/m/dir/file")]),
        (FileCall::Rename, &[Arg::Bytes(b"/m/dir/file"), Arg::Bytes(b"/m/new")]),
        (FileCall::Link, &[Arg::Bytes(b"/m/dir/file"), Arg::Bytes(b"/m/new")]),
        (FileCall::Symlink, &[Arg::Bytes(b"target"), Arg::Bytes(b"/m/new")]),
        (FileCall::Chmod, &[Arg::Bytes(b"/m/dir/file"), Arg::Int(0o777), Arg::Int(1)]),
        (FileCall::Utimes, &[Arg::Bytes(b"/m/dir/file"), Arg::Int(0), Arg::Int(0), Arg::Int(1)]),
        (FileCall::Truncate, &[Arg::Bytes(b"/m/dir/file"), Arg::Int(0)]),
        (FileCall::Access, &[Arg::Bytes(b"/m/dir/file"), Arg::Int(2)]),
    ];
    for (number, arguments) in calls {
        assert_eq!(guest.plain(*number, arguments), EROFS, "{number:?}");
    }
    assert_eq!(guest.write_file("/workspace/f", b"x"), 0);
    assert_eq!(guest.plain(FileCall::Rename, &["/workspace/f".into(), "/m/f".into()]), EXDEV);
    let fd = guest.plain(FileCall::Open, &["/m/dir/file".into(), 0.into(), 0.into()]);
    assert_eq!(guest.plain(FileCall::Fchmod, &[fd.into(), 0o777.into()]), EROFS);
    assert_eq!(std::fs::read(host.path("inside/dir/file")).expect("the file exists"), b"inside");
    assert_eq!(guest.plain(FileCall::CopyFile, &["/m/dir/file".into(), "/workspace/copy".into(), 0.into()]), 0);
    assert_eq!(guest.read_file("/workspace/copy"), Ok(b"inside".to_vec()));
}

#[test]
fn a_guest_cannot_make_links_or_modes_that_endanger_the_host() {
    let host = Host::new("traps");
    let mut guest = host.guest(false);
    for target in ["/etc/passwd", "../outside/secret", "dir/../../outside"] {
        assert_eq!(guest.plain(FileCall::Symlink, &[target.into(), "/m/trap".into()]), EACCES, "{target}");
    }
    assert_eq!(guest.plain(FileCall::Symlink, &["dir/file".into(), "/m/fine".into()]), 0);
    assert_eq!(guest.write_file("/m/tool", b"x"), 0);
    assert_eq!(guest.plain(FileCall::Chmod, &["/m/tool".into(), 0o6755.into(), 1.into()]), 0);
    assert_eq!(guest.stat("/m/tool", true).map(|stat| stat[1]), Ok(f64::from(0o100_755)));
}

#[test]
fn refuses_to_open_pipes_and_sockets_of_the_host() {
    let host = Host::new("special");
    let pipe = std::ffi::CString::new(host.path("inside/pipe").to_str().expect("text")).expect("no NUL");
    // SAFETY: the path ends with a NUL.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o666) }, 0);
    let _socket = std::os::unix::net::UnixListener::bind(host.path("inside/socket")).expect("a socket");
    let mut guest = host.guest(false);
    // A call that waits for a writer of the pipe never returns.
    for name in ["/m/pipe", "/m/socket"] {
        assert!(guest.stat(name, true).is_ok());
        for flags in [0, 1, 2] {
            assert_eq!(guest.plain(FileCall::Open, &[name.into(), flags.into(), 0.into()]), EACCES, "{name}");
        }
        assert_eq!(guest.read_file(name), Err(EACCES));
    }
}

/// A thread of the host machine replaces a directory by a link that leads out, and back, as fast as
/// possible. Meanwhile the guest opens files in the directory.
#[test]
fn a_race_with_the_host_does_not_lead_out() {
    let host = Host::new("race");
    std::fs::write(host.path("inside/dir/secret"), b"inside").expect("a file");
    symlink("../outside", host.path("inside/link")).expect("a link");
    let stop = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (stop, inside) = (stop.clone(), host.path("inside"));
        std::thread::spawn(move || {
            let (dir, link, aside) = (inside.join("dir"), inside.join("link"), inside.join("aside"));
            while !stop.load(Ordering::Relaxed) {
                for (from, to) in [(&dir, &aside), (&link, &dir), (&dir, &link), (&aside, &dir)] {
                    let _ = std::fs::rename(from, to);
                }
            }
        })
    };
    let mut guest = host.guest(true);
    let (mut read, mut refused) = (0, 0);
    let until = Instant::now() + Duration::from_millis(700);
    while Instant::now() < until {
        match guest.sys(FileCall::ReadFile, &["/m/dir/secret".into(), Arg::Room(64)]) {
            (len @ 0.., bytes) => {
                assert_eq!(&bytes[..len as usize], b"inside");
                read += 1;
            }
            (error, _) => {
                assert!([ENOENT, EACCES, -20, -40].contains(&error), "{error}");
                refused += 1;
            }
        }
        // A second case opens and reads in two calls, so that the checked file and the opened file
        // may differ.
        let fd = guest.plain(FileCall::Open, &["/m/dir/secret".into(), 0.into(), 0.into()]);
        if fd >= 0 {
            let (count, bytes) = guest.sys(FileCall::Read, &[fd.into(), Arg::Room(16), (-1).into()]);
            assert_eq!(&bytes[..count as usize], b"inside");
            guest.plain(FileCall::Close, &[fd.into()]);
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapping.join().expect("the host's thread");
    assert!(read > 0 && refused > 0, "{read} read, {refused} refused: there was no race");
}

#[test]
fn refuses_a_folder_that_cannot_be_mounted() {
    let host = Host::new("refused");
    let kernel = Kernel::new(&Limits::default());
    let refusal = |mount: MountOptions| match kernel.embedder_files().furnish(&[mount], &[], &[], "/workspace") {
        Err(Error::InvalidRequest { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(refusal(host.mount("/m", "nothing", true)), "mounts.hostPath");
    assert_eq!(refusal(host.mount("/m", "outside/secret", true)), "mounts.hostPath");
    for guest_path in ["m", "", "/", "/etc/passwd", "/etc/passwd/m", "/m/.."] {
        assert_eq!(refusal(host.mount(guest_path, "inside", true)), "mounts.guestPath", "{guest_path}");
    }
    kernel.embedder_files().furnish(&[host.mount("/m", "inside", true)], &[], &[], "/workspace").expect("mounted");
    assert_eq!(refusal(host.mount("/m", "outside", true)), "mounts.guestPath");
}

/// Permission rules name the path of the mount's options, so the mount must always be at that path.
#[test]
fn a_mount_stays_at_the_path_of_its_options() {
    const EBUSY: i64 = -16;
    const RENAME: FileCall = FileCall::Rename;
    let host = Host::new("place");
    let mut deep =
        guest(&[host.mount("/workspace//a/./b/../c/m/", "inside", true), host.mount("/workspace/a/c/m/dir/n", "outside", true)]);
    let (len, path) = deep.sys(FileCall::Realpath, &["/workspace/a/c/m/dir/n".into(), Arg::Room(100)]);
    assert_eq!(&path[..len as usize], b"/workspace/a/c/m/dir/n");
    for from in ["/workspace/a", "/workspace/a/c"] {
        assert_eq!(deep.plain(RENAME, &[from.into(), "/tmp/moved".into()]), EBUSY, "{from}");
    }
    assert_eq!(deep.plain(RENAME, &["/workspace/a/b".into(), "/tmp/moved".into()]), 0, "nothing is mounted in it");
    super::snapshot::by_bytes(&deep).read_file("/workspace/a/c/m/dir/n/secret").expect("the copy has the file at its path");
    // A guest creates a link with the name of a directory on the path of a later mount.
    let mut sly = guest(&[]);
    assert_eq!(sly.plain(FileCall::Symlink, &["/tmp".into(), "/workspace/a".into()]), 0);
    let mounts = [host.mount("/workspace/a/m", "inside", true)];
    match sly.program.process().kernel.embedder_files().furnish(&mounts, &[], &[], "/workspace") {
        Err(Error::InvalidRequest { what, received, .. }) => {
            assert_eq!((&*what, received.ends_with("ELOOP")), ("mounts.guestPath", true), "{received}");
        }
        other => panic!("{other:?}"),
    }
}

/// Waits for watch events of the host machine. Returns the kinds and names of the events.
fn next_events(guest: &Guest) -> Vec<(u8, String)> {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let mut found = Vec::new();
        for event in guest.program.process().operations.take() {
            let mut rest = &event.bytes[..];
            while let [kind, _, len, _, others @ ..] = rest {
                let (name, others) = others.split_at(usize::from(*len));
                found.push((*kind, String::from_utf8_lossy(name).into_owned()));
                rest = others;
            }
        }
        if !found.is_empty() || Instant::now() > until {
            return found;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_watch_reports_changes_of_a_mount_by_the_host_and_the_guest() {
    const WATCH: FileCall = FileCall::Watch;
    let host = Host::new("watch");
    let mut guest = host.guest(false);
    let watching = |guest: &Guest| guest.program.process().kernel.files.lock().host_watchers.count();
    assert!(guest.plain(WATCH, &["/m/dir".into(), 0.into()]) > 0);
    assert_eq!(watching(&guest), Some(1));
    std::fs::write(host.path("inside/dir/new"), b"").expect("a file");
    assert_eq!(next_events(&guest), [(1, "new".to_owned())], "a change by the host");
    assert_eq!(guest.plain(FileCall::Unlink, &["/m/dir/new".into()]), 0);
    // No operation waits for events, so the events are stored for the next operation.
    std::thread::sleep(Duration::from_millis(50));
    let operation = guest.plain(WATCH, &["/m/dir".into(), 0.into()]);
    assert!(next_events(&guest).contains(&(1, "new".to_owned())), "a change by the guest");
    assert_eq!(watching(&guest), Some(1), "the watch is used again");
    assert_eq!(guest.plain(FileCall::Unwatch, &[operation.into()]), 0);
    assert_eq!(guest.plain(FileCall::Unwatch, &[operation.into()]), -22);
    assert_eq!(watching(&guest), None, "the last watch ends the thread and closes the descriptor");
    assert!(guest.plain(WATCH, &["/m/dir/file".into(), 0.into()]) > 0);
    std::fs::write(host.path("inside/dir/file"), b"changed").expect("a file");
    assert!(next_events(&guest).contains(&(2, "file".to_owned())));
    symlink(host.path("outside"), host.path("inside/out")).expect("a link");
    assert_eq!(guest.plain(WATCH, &["/m/out".into(), 0.into()]), EACCES);
    assert_eq!(guest.plain(WATCH, &["/m/nothing".into(), 0.into()]), ENOENT);
    assert_eq!(guest.plain(WATCH, &["/proc".into(), 0.into()]), -38);
    guest.program.process().close();
    assert_eq!(watching(&guest), None, "the end of a process ends its watches");
}
