//! Tests of the requests about the files of a runtime.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(dead_code, reason = "each test file uses its part of `common`")]

mod common;

use coldframe_ids::RuntimeId;
use coldframe_protocol::messages::*;
use common::{Parent, fact, other, text};

fn tree(runtime: RuntimeId, path: &str, recursive: Option<bool>) -> FileTree<'_> {
    FileTree { runtime, path, recursive, owner: None }
}

#[test]
fn creates_and_removes_files_and_errors_name_the_call_and_the_path() {
    let mut parent = Parent::new(&[]);
    let files = Some(Blobs(vec![("/workspace/a/seed", &b"seed"[..])]));
    let create = RuntimeCreate { files, ..RuntimeCreate::default() };
    let runtime = parent.ask(Kind::RuntimeCreate, 1, &create).read::<RuntimeCreated>().runtime;
    let path = "/workspace/a/b/file";
    for (data, append) in [(&b"one"[..], None), (b" two", Some(true))] {
        assert_eq!(
            parent.ask(Kind::FileWrite, 2, &FileWrite { runtime, path, data, append, mode: None, owner: None }).kind,
            Kind::Reply
        );
    }
    let received = parent.ask(Kind::FileRead, 3, &FileRead { runtime, path, offset: Some(2), length: 3 });
    assert_eq!(received.read::<FileData<'_>>(), FileData { data: b"e t", size: 7 });
    let received = parent.ask(Kind::FileList, 4, &FileList { runtime, path: "/workspace/a" });
    let types = vec![FileType::Directory, FileType::File];
    assert_eq!(received.read::<FileNames<'_>>(), FileNames { names: vec!["b", "seed"], types });
    let rename = FileRename { runtime, from: path, to: "/workspace/moved" };
    assert_eq!(parent.ask(Kind::FileRename, 5, &rename).kind, Kind::Reply);
    let received = parent.ask(Kind::FileStat, 6, &FileStat { runtime, path: "/workspace/moved", follow: None });
    assert_eq!(received.read::<FileStatus>().size, 7);
    assert_eq!(parent.ask(Kind::FileMkdir, 7, &tree(runtime, "/workspace/x/y", Some(true))).kind, Kind::Reply);
    let failure = parent.ask(Kind::FileRemove, 8, &tree(runtime, "/workspace/x", None));
    let failure = failure.failure();
    assert_eq!(failure.code, "ENOTEMPTY");
    assert_eq!(fact(&failure, "path"), text("/workspace/x"));
    assert_eq!(fact(&failure, "syscall"), text("rm"));
    assert_eq!(parent.ask(Kind::FileRemove, 9, &tree(runtime, "/workspace/x", Some(true))).kind, Kind::Reply);
    let relative = parent.ask(Kind::FileMkdir, 10, &tree(runtime, "relative", None));
    assert_eq!(relative.failure().code, "ERR_INVALID_REQUEST");
    let nowhere = parent.ask(Kind::FileMkdir, 11, &tree(other(runtime), "/a", None));
    assert_eq!(nowhere.failure().code, "ERR_RUNTIME_NOT_FOUND");
    parent.assert_alive();
}

#[test]
fn a_runtime_whose_files_do_not_fit_is_not_created() {
    let mut parent = Parent::new(&[]);
    let limits = Some(Numbers(vec![("filesystemBytes", 3)]));
    let files = Some(Blobs(vec![("/a", &b"four"[..])]));
    let create = RuntimeCreate { limits, files, ..RuntimeCreate::default() };
    assert_eq!(parent.ask(Kind::RuntimeCreate, 1, &create).failure().code, "ENOSPC");
    let mounts =
        Some(vec![Mount { guest_path: "/m", host_path: "/nowhere/at/all", read_only: true, overlay: None, file_system: None }]);
    let received = parent.ask(Kind::RuntimeCreate, 2, &RuntimeCreate { mounts, ..RuntimeCreate::default() });
    let failure = received.failure();
    assert_eq!((&*failure.code, fact(&failure, "what")), ("ERR_INVALID_REQUEST", text("mounts.hostPath")));
    let received = parent.ask(Kind::Resources, 3, &Empty {});
    assert_eq!(received.read::<SidecarResources>().runtimes, 0);
}
