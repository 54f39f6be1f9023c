//! A disk that is full, read-only, in the way or broken: an error with its number and place, nothing left behind, and all goes on.

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
fn whatever_step_fails_nothing_is_left_behind() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let shelves = shelves(&core, &scratch.0);
    let kept = paper(&core, "t", None, 2, 1);
    shelves.write(&kept, Stay::No).expect("written");
    let before = scratch.names();
    let one = paper(&core, "t", None, 3, 2);
    for step in [Step::Create, Step::Write, Step::Sync, Step::Rename, Step::SyncFolder] {
        for (number, name) in [(libc::ENOSPC, "ENOSPC"), (libc::EIO, "EIO"), (libc::EDQUOT, "EDQUOT")] {
            shelves.folder.faults.plan(step, Fault::Errno(number));
            assert_eq!(errno(shelves.write(&one, Stay::No)), name, "{step:?}");
            assert_eq!(scratch.names(), before, "{step:?}");
            assert_eq!(code(shelves.get("t", &one.info.id)), "ERR_SNAPSHOT_NOT_FOUND");
        }
    }
    shelves.write(&one, Stay::No).expect("written");
    assert!(same(&core, &shelves.get("t", &one.info.id).expect("opened"), &one));
    assert!(same(&core, &shelves.get("t", &kept.info.id).expect("opened"), &kept));
}

/// Whoever opens the folder removes what nobody locks. Other tests start processes, which hold a copy of every lock of this one until they are what they were started
/// for: so it may take another look.
fn until_swept(core: &Core, scratch: &Scratch, left: &[&str]) {
    for _ in 0..1_000 {
        assert_eq!(listed(&shelves(core, &scratch.0), "t"), vec![]);
        if scratch.names() == left {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert_eq!(scratch.names(), left);
}

#[test]
fn what_a_dead_writer_left_is_removed_and_what_a_living_one_writes_is_not() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let one = paper(&core, "t", None, 3, 2);
    for step in [Step::Write, Step::Sync, Step::Rename] {
        let dying = shelves(&core, &scratch.0);
        dying.folder.faults.plan(step, Fault::Death);
        assert_ne!(code(dying.write(&one, Stay::No)), "no error");
        assert_eq!(scratch.names().iter().filter(|name| name.ends_with(".part")).count(), 1);
        // A writer that lives holds the lock of what it writes.
        let living = scratch.0.join("x.part");
        let file = std::fs::File::create(&living).expect("a file");
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).expect("locked");
        until_swept(&core, &scratch, &["lock", "x.part"]);
        drop(file);
        until_swept(&core, &scratch, &["lock"]);
    }
    // Died when it had its name: it is whole.
    let dying = shelves(&core, &scratch.0);
    dying.folder.faults.plan(Step::SyncFolder, Fault::Death);
    assert_ne!(code(dying.write(&one, Stay::No)), "no error");
    assert!(same(&core, &shelves(&core, &scratch.0).get("t", &one.info.id).expect("opened"), &one));
}

#[test]
fn a_file_in_the_folders_place() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let path = scratch.0.join("taken");
    std::fs::write(&path, "a file").expect("a file");
    for path in [path.clone(), path.join("below")] {
        let shelves = shelves(&core, &path);
        let one = paper(&core, "t", Some("n"), 2, 1);
        assert!(["ENOTDIR", "EEXIST"].contains(&errno(shelves.write(&one, Stay::No))));
        shelves.memory.keep(&one, None, None).expect("kept");
        let (all, damaged) = shelves.list("t");
        assert_eq!((all.len(), damaged.len(), damaged[0].code), (1, 1, "ERR_SNAPSHOT_FILE"), "what is in memory is there");
        assert!(shelves.get("t", "n").is_ok());
        assert_eq!(code(shelves.get("t", "m")), "ERR_SNAPSHOT_FILE");
    }
    assert_eq!(std::fs::read(&path).expect("still there"), b"a file");
}

/// A small disk of its own, if this user may mount one.
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
fn a_full_disk() {
    let Some(disk) = Disk::mount("size=256k") else { return };
    let core = crate::tests::core();
    let path = disk.0.0.join("store");
    let shelves = shelves(&core, &path);
    let small = paper(&core, "t", None, 4, 1);
    shelves.write(&small, Stay::No).expect("written");
    let before = names_in(&path);
    let large = paper(&core, "t", None, 80, 2);
    for _ in 0..3 {
        assert_eq!(errno(shelves.write(&large, Stay::No)), "ENOSPC");
        assert_eq!(names_in(&path), before);
    }
    // There is room again, and it goes on.
    shelves.write(&paper(&core, "t", None, 6, 3), Stay::No).expect("written");
    let export = disk.0.0.join("exported");
    shelves.memory.keep(&large, None, None).expect("kept");
    assert_eq!(errno(shelves.export("t", &large.info.id, &export)), "ENOSPC");
    assert_eq!(names_in(&disk.0.0), ["store"]);
}

#[test]
fn a_folder_that_is_read_only() {
    let Some(disk) = Disk::mount("size=1m") else { return };
    let core = crate::tests::core();
    let path = disk.0.0.join("store");
    let one = paper(&core, "t", Some("n"), 4, 1);
    shelves(&core, &path).write(&one, Stay::No).expect("written");
    disk.remount("ro");
    let shelves = shelves(&core, &path);
    assert_eq!(listed(&shelves, "t"), vec![(one.info.id.clone(), Stored::Disk)]);
    assert!(same(&core, &shelves.get("t", "n").expect("what is there can be used"), &one));
    assert_eq!(errno(shelves.write(&paper(&core, "t", None, 2, 2), Stay::No)), "EROFS");
    assert_eq!(errno(shelves.delete("t", "n")), "EROFS");
    assert_eq!(errno(shelves.protect("t", "n", Stay::Always)), "EROFS");
    assert_eq!(listed(&shelves, "t").len(), 1);
}
