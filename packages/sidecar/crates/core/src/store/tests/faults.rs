//! Tests of disk faults: a full, read-only, obstructed or failing disk causes an error with its
//! number and path. No file is left behind, and the store stays usable.

use super::super::faults::{Fault, Step};
use super::*;
use std::process::Command;

fn errno(result: Result<(), Error>) -> &'static str {
    match result {
        Err(Error::SnapshotFile { errno, path, .. }) => {
            assert!(path.starts_with('/'), "{path}");
            errno
        }
        Err(error) => error.code(),
        Ok(()) => "no error",
    }
}

#[test]
fn a_failed_write_leaves_no_file_at_any_step() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store = open_store(&core, &scratch.0);
    let kept = fake(&core, "t", None, 2, 1);
    store.write(&kept, Retention::No).expect("written");
    let before = scratch.names();
    let one = fake(&core, "t", None, 3, 2);
    for step in [Step::Create, Step::Write, Step::Sync, Step::Rename, Step::SyncFolder] {
        for (number, name) in [(libc::ENOSPC, "ENOSPC"), (libc::EIO, "EIO"), (libc::EDQUOT, "EDQUOT")] {
            store.layers.folder.faults.plan(step, Fault::Errno(number));
            assert_eq!(errno(store.write(&one, Retention::No)), name, "{step:?}");
            assert_eq!(scratch.names(), before, "{step:?}");
            assert_eq!(code(store.get("t", &one.info.id)), "ERR_SNAPSHOT_NOT_FOUND");
        }
    }
    store.write(&one, Retention::No).expect("written");
    assert!(are_equal(&core, &store.get("t", &one.info.id).expect("opened"), &one));
    assert!(are_equal(&core, &store.get("t", &kept.info.id).expect("opened"), &kept));
}

#[test]
fn a_failed_import_leaves_no_file_at_any_step() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let from = open_store(&core, &scratch.0.join("from"));
    let one = fake(&core, "t", None, 3, 2);
    from.write(&one, Retention::No).expect("written");
    let exported = scratch.0.join("exported");
    from.export("t", &one.info.id, &exported).expect("exported");
    let path = scratch.0.join("to");
    let store = open_store(&core, &path);
    for step in [Step::SyncAbove, Step::Create, Step::Write, Step::Sync, Step::Rename, Step::SyncFolder] {
        store.layers.folder.faults.plan(step, Fault::Errno(libc::EIO));
        assert_eq!(errno(store.import("t", &exported).map(drop)), "EIO", "{step:?}");
        assert!(names_in(&path).iter().all(|name| name == "lock"), "{step:?}");
        assert_eq!(listed(&store, "t"), vec![]);
    }
    store.import("t", &exported).expect("imported");
    assert!(are_equal(&core, &store.get("t", &one.info.id).expect("opened"), &one));
}

/// Waits until the folder contains only `left`. A store that opens the folder removes part files
/// without a lock. Other tests start processes, which hold a copy of every lock of this process
/// until they execute their program. One check may therefore not be sufficient.
fn until_swept(core: &Core, scratch: &Scratch, left: &[&str]) {
    for _ in 0..1_000 {
        assert_eq!(listed(&open_store(core, &scratch.0), "t"), vec![]);
        if scratch.names() == left {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert_eq!(scratch.names(), left);
}

#[test]
fn removes_files_of_ended_writers_and_keeps_files_of_live_writers() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let one = fake(&core, "t", None, 3, 2);
    for step in [Step::Write, Step::Sync, Step::Rename] {
        let dying = open_store(&core, &scratch.0);
        dying.layers.folder.faults.plan(step, Fault::Death);
        assert_ne!(code(dying.write(&one, Retention::No)), "no error");
        assert_eq!(scratch.names().iter().filter(|name| name.ends_with(".part")).count(), 1);
        // A live writer holds the lock of its file.
        let living = scratch.0.join("x.part");
        let file = std::fs::File::create(&living).expect("a file");
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).expect("locked");
        until_swept(&core, &scratch, &["lock", "x.part"]);
        drop(file);
        until_swept(&core, &scratch, &["lock"]);
    }
    // The writer ended after the rename, so the file is complete.
    let dying = open_store(&core, &scratch.0);
    dying.layers.folder.faults.plan(Step::SyncFolder, Fault::Death);
    assert_ne!(code(dying.write(&one, Retention::No)), "no error");
    assert!(are_equal(&core, &open_store(&core, &scratch.0).get("t", &one.info.id).expect("opened"), &one));
}

#[test]
fn a_file_at_the_folders_path_is_an_error() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let path = scratch.0.join("taken");
    std::fs::write(&path, "a file").expect("a file");
    for path in [path.clone(), path.join("below")] {
        let store = open_store(&core, &path);
        let one = fake(&core, "t", Some("n"), 2, 1);
        assert!(["ENOTDIR", "EEXIST"].contains(&errno(store.write(&one, Retention::No))));
        store.layers.memory.keep(&one, None, None).expect("kept");
        let (all, damaged) = store.list("t");
        assert_eq!((all.len(), damaged.len(), damaged[0].code), (1, 1, "ERR_SNAPSHOT_FILE"), "the snapshot in memory is listed");
        assert!(store.get("t", "n").is_ok());
        assert_eq!(code(store.get("t", "m")), "ERR_SNAPSHOT_FILE");
    }
    assert_eq!(std::fs::read(&path).expect("still there"), b"a file");
}

/// A tmpfs of one test. Exists only if the user may mount file systems.
struct Disk(Scratch);

impl Disk {
    fn mount(options: &str) -> Option<Self> {
        let scratch = Scratch::new();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&scratch.0).output();
        mounted.is_ok_and(|output| output.status.success()).then(|| Self(scratch))
    }

    fn remount(&self, options: &str) {
        let done = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0.0).output();
        assert!(done.is_ok_and(|output| output.status.success()));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0.0).output();
    }
}

#[test]
fn a_full_disk_is_an_error_with_its_number() {
    let Some(disk) = Disk::mount("size=256k") else { return };
    let core = crate::tests::core();
    let path = disk.0.0.join("store");
    let store = open_store(&core, &path);
    let small = fake(&core, "t", None, 4, 1);
    store.write(&small, Retention::No).expect("written");
    let before = names_in(&path);
    let large = fake(&core, "t", None, 80, 2);
    for _ in 0..3 {
        assert_eq!(errno(store.write(&large, Retention::No)), "ENOSPC");
        assert_eq!(names_in(&path), before);
    }
    // The disk has space again, and the next write succeeds.
    store.write(&fake(&core, "t", None, 6, 3), Retention::No).expect("written");
    let export = disk.0.0.join("exported");
    store.layers.memory.keep(&large, None, None).expect("kept");
    assert_eq!(errno(store.export("t", &large.info.id, &export)), "ENOSPC");
    assert_eq!(names_in(&disk.0.0), ["store"]);
    // A copy between disks fails in its middle.
    let elsewhere = Scratch::new();
    let source = open_store(&core, &elsewhere.0.join("store"));
    source.write(&large, Retention::No).expect("written");
    assert_eq!(errno(source.export("t", &large.info.id, &export)), "ENOSPC");
    let exported = elsewhere.0.join("exported");
    source.export("t", &large.info.id, &exported).expect("exported");
    store.layers.memory.forget("t", &large.info.id);
    let before = names_in(&path);
    assert_eq!(errno(store.import("t", &exported).map(drop)), "ENOSPC");
    assert_eq!((names_in(&disk.0.0), names_in(&path)), (vec!["store".to_owned()], before));
}

#[test]
fn a_read_only_folder_can_be_read_and_refuses_writes() {
    let Some(disk) = Disk::mount("size=1m") else { return };
    let core = crate::tests::core();
    let path = disk.0.0.join("store");
    let one = fake(&core, "t", Some("n"), 4, 1);
    open_store(&core, &path).write(&one, Retention::No).expect("written");
    disk.remount("ro");
    let store = open_store(&core, &path);
    assert_eq!(listed(&store, "t"), vec![(one.info.id.clone(), Stored::Disk)]);
    assert!(are_equal(&core, &store.get("t", "n").expect("the snapshot can be read"), &one));
    assert_eq!(errno(store.write(&fake(&core, "t", None, 2, 2), Retention::No)), "EROFS");
    assert_eq!(errno(store.delete("t", "n")), "EROFS");
    assert_eq!(errno(store.protect("t", "n", Retention::Always)), "EROFS");
    assert_eq!(listed(&store, "t").len(), 1);
}
