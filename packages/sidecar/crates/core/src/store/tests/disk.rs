//! The folder: its size, who may be removed, several stores on one folder, and things in it that are not ours.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn file_len(paper: &Paper) -> u64 {
    (paper.state.len() as u64).next_multiple_of(PAGE as u64) + 2 * PAGE as u64 + paper.info.size
}

#[test]
fn the_least_recently_used_file_makes_room() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let one_len = file_len(&paper(&core, "t", None, 2, 0));
    let shelves: Shelves<Paper> = Shelves::new(core.clone(), MIB, scratch.0.clone(), 3 * one_len);
    let papers: Vec<_> = (0..5).map(|byte| paper(&core, "t", None, 2, byte)).collect();
    for paper in &papers[..3] {
        shelves.write(paper, Stay::No).expect("written");
    }
    let ids = |shelves: &Shelves<Paper>| listed(shelves, "t").into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    shelves.get("t", &papers[0].info.id).expect("used");
    shelves.write(&papers[3], Stay::No).expect("written");
    assert_eq!(ids(&shelves), [0, 2, 3].map(|at| papers[at].info.id.clone()), "the second was used longest ago");
    // Another store knows by the files alone.
    let other: Shelves<Paper> = Shelves::new(core.clone(), MIB, scratch.0.clone(), 3 * one_len);
    other.get("t", &papers[2].info.id).expect("used");
    // What is protected stays, also for another process, until it is not any more.
    shelves.protect("t", &papers[0].info.id, Stay::Always).expect("protected");
    other.write(&papers[4], Stay::Always).expect("written");
    assert_eq!(ids(&shelves), [0, 2, 4].map(|at| papers[at].info.id.clone()));
    other.write(&papers[1], Stay::No).expect("written");
    assert_eq!(ids(&shelves), [0, 1, 4].map(|at| papers[at].info.id.clone()));
    shelves.protect("t", &papers[1].info.id, Stay::Always).expect("protected");
    let full = Error::ResourceExhausted { resource: "snapshot bytes", limit: 3 * one_len };
    assert_eq!(other.write(&papers[2], Stay::No), Err(full.clone()));
    other.protect("t", &papers[4].info.id, Stay::No).expect("given free");
    other.write(&papers[2], Stay::No).expect("written");
    assert_eq!(ids(&shelves), [0, 1, 2].map(|at| papers[at].info.id.clone()));
    shelves.delete("t", &papers[0].info.id).expect("what is protected can be deleted");
    let large = paper(&core, "t", None, 40, 1);
    assert_eq!(shelves.write(&large, Stay::No), Err(full));
    assert_eq!(ids(&shelves).len(), 2);
    assert!(scratch.names().iter().all(|name| !name.ends_with(".part")));
}

#[test]
fn what_only_one_process_needs_stays_while_it_lives() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let one_len = file_len(&paper(&core, "t", None, 2, 0));
    let open = || Shelves::<Paper>::new(core.clone(), MIB, scratch.0.clone(), one_len);
    let (shelves, other) = (open(), open());
    let (first, second) = (paper(&core, "t", None, 2, 1), paper(&core, "t", None, 2, 2));
    let is_there = |paper: &Paper| listed(&other, "t").iter().any(|(id, _)| *id == paper.info.id);
    let assert_stays = || {
        assert_eq!(code(other.write(&second, Stay::No)), "ERR_RESOURCE_EXHAUSTED");
        assert_eq!(code(open().write(&second, Stay::WhileOpen)), "ERR_RESOURCE_EXHAUSTED", "also for one that begins");
        assert!(is_there(&first));
    };
    shelves.write(&first, Stay::WhileOpen).expect("written");
    assert_stays();
    assert_eq!(code(shelves.write(&second, Stay::No)), "ERR_RESOURCE_EXHAUSTED", "it knows that itself");
    // Somebody has tidied up: it still knows itself, and the others do when it has looked.
    std::fs::remove_file(scratch.0.join("sleepers")).expect("removed");
    assert_eq!(code(shelves.write(&second, Stay::No)), "ERR_RESOURCE_EXHAUSTED");
    assert_stays();
    // Needed for good, which outlives it, and then for as long as it lives again.
    shelves.protect("t", &first.info.id, Stay::Always).expect("protected");
    assert_stays();
    shelves.protect("t", &first.info.id, Stay::WhileOpen).expect("protected");
    assert_stays();
    // What is deleted and comes again is another one.
    shelves.delete("t", &first.info.id).expect("deleted");
    shelves.write(&first, Stay::No).expect("written");
    other.write(&second, Stay::No).expect("nobody needs the first");
    assert!(!is_there(&first));
    shelves.write(&first, Stay::WhileOpen).expect("written");
    assert!(!is_there(&second));
    drop(shelves);
    other.write(&second, Stay::No).expect("nobody needs the first any more");
    assert!(is_there(&second) && !is_there(&first));
}

#[test]
fn a_folder_that_was_moved_away_is_another_one() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let path = scratch.0.join("store");
    let one_len = file_len(&paper(&core, "t", None, 2, 0));
    let open = || Shelves::<Paper>::new(core.clone(), MIB, path.clone(), 2 * one_len);
    let (one, other) = (open(), open());
    let write = |shelves: &Shelves<Paper>| shelves.write(&paper(&core, "t", None, 2, 1), Stay::No).expect("written");
    [&one, &other, &one].into_iter().for_each(write);
    one.write(&paper(&core, "u", None, 2, 1), Stay::WhileOpen).expect("written");
    std::fs::rename(&path, scratch.0.join("moved")).expect("moved");
    std::fs::create_dir(&path).expect("made anew");
    [&one, &other].into_iter().for_each(write);
    // Both see what the other one has written, and hold one lock.
    let lock = std::fs::File::open(path.join("lock")).expect("a lock");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("locked");
    std::thread::scope(|scope| {
        let waiting = [&one, &other].map(|shelves| scope.spawn(|| write(shelves)));
        assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
        drop(lock);
        waiting.into_iter().for_each(|waiting| waiting.join().expect("written"));
    });
    for shelves in [&one, &other] {
        assert_eq!(listed(shelves, "t").len(), 2, "there is room for two");
    }
    let names = |path: &Path| names_in(path).iter().filter(|name| name.ends_with(".snapshot")).count();
    assert_eq!((names(&path), names(&scratch.0.join("moved"))), (2, 2));
}

#[test]
fn every_folder_that_is_made_is_on_disk_before_anything_is_in_it() {
    use crate::store::faults::{Fault, Step};
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let path = scratch.0.join("a/b/../b/c");
    let one = paper(&core, "t", None, 2, 1);
    let shelves = shelves(&core, &path);
    // As often as a folder is made: a, b, c.
    for made in ["a", "a/b", "a/b/c"] {
        shelves.folder.faults.plan(Step::SyncAbove, Fault::Errno(libc::EIO));
        assert_eq!(code(shelves.write(&one, Stay::No)), "ERR_SNAPSHOT_FILE");
        let mode = scratch.0.join(made).metadata().expect(made).permissions().mode();
        assert_eq!((mode & 0o777, names_in(&scratch.0.join(made)).len()), (0o700, 0), "{made}");
    }
    shelves.write(&one, Stay::No).expect("written");
    assert_eq!(names_in(&path).len(), 2);
}

#[test]
fn a_neighbour_within_its_share_loses_nothing() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let one_len = file_len(&paper(&core, "t", None, 2, 0));
    let shelves: Shelves<Paper> = Shelves::new(core.clone(), MIB, scratch.0.clone(), 4 * one_len);
    let quiet = paper(&core, "quiet", None, 2, 1);
    shelves.write(&quiet, Stay::No).expect("written");
    for byte in 0..12 {
        shelves.write(&paper(&core, "loud", None, 2, byte), Stay::No).expect("written");
    }
    assert_eq!((listed(&shelves, "quiet").len(), listed(&shelves, "loud").len()), (1, 3));
}

#[test]
fn stores_that_share_a_folder_get_along() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let room = 6 * file_len(&paper(&core, "t", None, 2, 0));
    let failures: Vec<String> = std::thread::scope(|scope| {
        let work = |number: u64| {
            let (core, path) = (core.clone(), scratch.0.clone());
            move || {
                let shelves: Shelves<Paper> = Shelves::new(core.clone(), MIB, path, room);
                let mut failures = Vec::new();
                for round in 0..20_u8 {
                    let one = paper(&core, "t", Some("shared"), 2, round ^ number as u8);
                    failures.extend(shelves.write(&one, Stay::No).err().map(|error| error.to_string()));
                    // Anybody's may be gone at any time, and is whole when it is not.
                    for name in [&*one.info.id, "shared"] {
                        match shelves.get("t", name) {
                            Ok(found) => assert_eq!(bytes_of(&core, &found)[0].1.len(), 2 * PAGE),
                            Err(error) => {
                                failures.extend(Some(error.to_string()).filter(|_| error.code() != "ERR_SNAPSHOT_NOT_FOUND"))
                            }
                        }
                    }
                    let (_, damaged) = shelves.list("t");
                    failures.extend(damaged.into_iter().map(|one| one.reason));
                    if round % 5 == 4 {
                        let deleted = shelves.delete("t", "shared");
                        failures.extend(
                            deleted.err().filter(|error| error.code() != "ERR_SNAPSHOT_NOT_FOUND").map(|error| error.to_string()),
                        );
                    }
                }
                failures
            }
        };
        let all: Vec<_> = (0..4).map(|number| scope.spawn(work(number))).collect();
        all.into_iter().flat_map(|one| one.join().expect("no panic")).collect()
    });
    assert_eq!(failures, Vec::<String>::new());
    let bytes: u64 = scratch.names().iter().map(|name| scratch.0.join(name).metadata().expect("there").len()).sum();
    assert!(bytes <= room, "{bytes} of {room}");
    assert!(scratch.names().iter().all(|name| !name.ends_with(".part")));
}

#[test]
fn what_is_not_ours_is_reported_and_can_be_deleted() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let shelves = shelves(&core, &scratch.0);
    let good = paper(&core, "t", None, 2, 1);
    shelves.write(&good, Stay::No).expect("written");
    let whole = std::fs::read(shelves.folder.file("t", &good.info.id).expect("a name")).expect("read");
    let place = |id: &str| shelves.folder.file("t", id).expect("a name");
    let mut expected = Vec::new();
    let mut put = |code: &'static str, make: &dyn Fn(&Path)| {
        let id = fresh_id();
        make(&place(&id));
        expected.push((id, code));
    };
    put("ERR_SNAPSHOT_DAMAGED", &|path| std::fs::create_dir_all(path.join("half/deleted")).expect("a folder"));
    put("ERR_SNAPSHOT_DAMAGED", &|path| std::fs::write(path, "").expect("a file"));
    put("ERR_SNAPSHOT_DAMAGED", &|path| std::fs::write(path, "COLDRUN1 but short").expect("a file"));
    put("ERR_SNAPSHOT_DAMAGED", &|path| std::fs::write(path, &whole[..whole.len() / 2]).expect("a file"));
    put("ERR_SNAPSHOT_DAMAGED", &|path| std::fs::write(path, &whole).expect("a file of another id"));
    put("ERR_SNAPSHOT_FILE", &|path| std::os::unix::fs::symlink(place(&good.info.id), path).expect("a link"));
    put("ERR_SNAPSHOT_FILE", &|path| std::os::unix::fs::symlink("/nowhere", path).expect("a link"));
    put("ERR_SNAPSHOT_DAMAGED", &|path| {
        let path = std::ffi::CString::new(path.to_str().expect("text")).expect("no zero");
        // SAFETY: the path is a C string.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    });
    put("ERR_SNAPSHOT_FOREIGN", &|path| {
        let mut other = whole.clone();
        other[12] = 99;
        std::fs::write(path, other).expect("a file");
    });
    let theirs = Arc::new(Paper {
        info: SnapshotInfo { id: fresh_id(), image: "another".to_owned(), ..good.info.clone() },
        state: good.state.clone(),
        memories: good.memories.clone(),
    });
    shelves.write(&theirs, Stay::No).expect("written");
    expected.push((theirs.info.id.clone(), "ERR_SNAPSHOT_FOREIGN"));
    let loose = paper(&core, "t", None, 2, 1);
    shelves.write(&loose, Stay::No).expect("written");
    std::fs::set_permissions(place(&loose.info.id), std::fs::Permissions::from_mode(0o662)).expect("changed");
    expected.push((loose.info.id.clone(), "ERR_SNAPSHOT_DAMAGED"));
    for name in ["notes.txt", "snap-x.snapshot", &format!("{}.snap-.snapshot", "0".repeat(32))] {
        std::fs::write(scratch.0.join(name), "not ours").expect("a file");
    }
    for _ in 0..2 {
        let (all, damaged) = shelves.list("t");
        assert_eq!(all.into_iter().map(|(info, _)| info.id).collect::<Vec<_>>(), std::slice::from_ref(&good.info.id));
        let mut found: Vec<_> = damaged.iter().map(|one| (one.id.clone(), one.code)).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }
    for (id, expected) in &expected {
        assert_eq!(code(shelves.get("t", id)), *expected, "{id}");
        shelves.delete("t", id).expect("deleted");
        assert_eq!(code(shelves.delete("t", id)), "ERR_SNAPSHOT_NOT_FOUND");
    }
    assert_eq!(listed(&shelves, "t"), vec![(good.info.id.clone(), Stored::Disk)]);
    assert_eq!(scratch.names().len(), 5, "the lock, a snapshot, and what was never ours: {:?}", scratch.names());
}

#[test]
fn a_file_that_is_damaged_is_written_again() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let one = paper(&core, "t", None, 2, 1);
    let path = {
        let shelves = shelves(&core, &scratch.0);
        shelves.write(&one, Stay::No).expect("written");
        shelves.folder.file("t", &one.info.id).expect("a name")
    };
    std::fs::OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(5_000)).expect("torn");
    let shelves = shelves(&core, &scratch.0);
    assert_eq!(code(shelves.get("t", &one.info.id)), "ERR_SNAPSHOT_DAMAGED");
    shelves.write(&one, Stay::No).expect("written");
    assert!(same(&core, &shelves.get("t", &one.info.id).expect("opened"), &one));
}
