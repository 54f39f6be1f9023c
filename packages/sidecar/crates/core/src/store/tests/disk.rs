//! Tests of the store's folder: its size, the removable snapshots, several stores in one folder,
//! and foreign files.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn file_len(snapshot: &FakeSnapshot) -> u64 {
    (snapshot.state.len() as u64).next_multiple_of(PAGE as u64) + 2 * PAGE as u64 + snapshot.info.size
}

#[test]
fn removes_the_least_recently_used_file_of_a_full_store() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let one_len = file_len(&fake(&core, "t", None, 2, 0));
    let store: LayeredStore<FakeSnapshot> = LayeredStore::new(core.installation().clone(), MIB, scratch.0.clone(), 3 * one_len);
    let snapshots: Vec<_> = (0..5).map(|byte| fake(&core, "t", None, 2, byte)).collect();
    for snapshot in &snapshots[..3] {
        store.write(snapshot, Retention::No).expect("written");
    }
    let ids = |store: &LayeredStore<FakeSnapshot>| listed(store, "t").into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    store.get("t", &snapshots[0].info.id).expect("used");
    store.write(&snapshots[3], Retention::No).expect("written");
    assert_eq!(ids(&store), [0, 2, 3].map(|at| snapshots[at].info.id.clone()), "the second is the least recently used");
    // A second store reads the last use of a snapshot from the file.
    let other: LayeredStore<FakeSnapshot> = LayeredStore::new(core.installation().clone(), MIB, scratch.0.clone(), 3 * one_len);
    other.get("t", &snapshots[2].info.id).expect("used");
    // No process removes a protected snapshot until its protection ends.
    store.protect("t", &snapshots[0].info.id, Retention::Always).expect("protected");
    other.write(&snapshots[4], Retention::Always).expect("written");
    assert_eq!(ids(&store), [0, 2, 4].map(|at| snapshots[at].info.id.clone()));
    other.write(&snapshots[1], Retention::No).expect("written");
    assert_eq!(ids(&store), [0, 1, 4].map(|at| snapshots[at].info.id.clone()));
    store.protect("t", &snapshots[1].info.id, Retention::Always).expect("protected");
    let full = Error::ResourceExhausted { resource: "snapshot bytes", limit: 3 * one_len };
    assert_eq!(other.write(&snapshots[2], Retention::No), Err(full.clone()));
    other.protect("t", &snapshots[4].info.id, Retention::No).expect("no longer protected");
    other.write(&snapshots[2], Retention::No).expect("written");
    assert_eq!(ids(&store), [0, 1, 2].map(|at| snapshots[at].info.id.clone()));
    store.delete("t", &snapshots[0].info.id).expect("a protected snapshot can be deleted");
    let large = fake(&core, "t", None, 40, 1);
    assert_eq!(store.write(&large, Retention::No), Err(full));
    assert_eq!(ids(&store).len(), 2);
    assert!(scratch.names().iter().all(|name| !name.ends_with(".part")));
}

#[test]
fn a_snapshot_that_a_process_needs_stays_while_the_process_runs() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let one_len = file_len(&fake(&core, "t", None, 2, 0));
    let open = || LayeredStore::<FakeSnapshot>::new(core.installation().clone(), MIB, scratch.0.clone(), one_len);
    let (store, other) = (open(), open());
    let (first, second) = (fake(&core, "t", None, 2, 1), fake(&core, "t", None, 2, 2));
    let is_there = |snapshot: &FakeSnapshot| listed(&other, "t").iter().any(|(id, _)| *id == snapshot.info.id);
    let assert_stays = || {
        assert_eq!(code(other.write(&second, Retention::No)), "ERR_RESOURCE_EXHAUSTED");
        assert_eq!(
            code(open().write(&second, Retention::WhileOpen)),
            "ERR_RESOURCE_EXHAUSTED",
            "a new store cannot write either"
        );
        assert!(is_there(&first));
    };
    store.write(&first, Retention::WhileOpen).expect("written");
    assert_stays();
    assert_eq!(code(store.write(&second, Retention::No)), "ERR_RESOURCE_EXHAUSTED", "the store itself cannot write either");
    // The file of locks is removed. The store still has the set of locked bytes, and locks these
    // bytes in a new file at the store's next check.
    std::fs::remove_file(scratch.0.join("needed")).expect("removed");
    assert_eq!(code(store.write(&second, Retention::No)), "ERR_RESOURCE_EXHAUSTED");
    assert_stays();
    // Retention `Always` survives the process. A later `WhileOpen` replaces `Always`.
    store.protect("t", &first.info.id, Retention::Always).expect("protected");
    assert_stays();
    store.protect("t", &first.info.id, Retention::WhileOpen).expect("protected");
    assert_stays();
    // A deleted snapshot that is written again is a new snapshot.
    store.delete("t", &first.info.id).expect("deleted");
    store.write(&first, Retention::No).expect("written");
    other.write(&second, Retention::No).expect("the first snapshot is not needed");
    assert!(!is_there(&first));
    store.write(&first, Retention::WhileOpen).expect("written");
    assert!(!is_there(&second));
    drop(store);
    other.write(&second, Retention::No).expect("the first snapshot is no longer needed");
    assert!(is_there(&second) && !is_there(&first));
}

#[test]
fn a_moved_folder_is_no_longer_used() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let path = scratch.0.join("store");
    let one_len = file_len(&fake(&core, "t", None, 2, 0));
    let open = || LayeredStore::<FakeSnapshot>::new(core.installation().clone(), MIB, path.clone(), 2 * one_len);
    let (one, other) = (open(), open());
    let write = |store: &LayeredStore<FakeSnapshot>| store.write(&fake(&core, "t", None, 2, 1), Retention::No).expect("written");
    [&one, &other, &one].into_iter().for_each(write);
    one.write(&fake(&core, "u", None, 2, 1), Retention::WhileOpen).expect("written");
    std::fs::rename(&path, scratch.0.join("moved")).expect("moved");
    std::fs::create_dir(&path).expect("made again");
    [&one, &other].into_iter().for_each(write);
    // Each store finds the other store's snapshots, and the stores share one lock.
    let lock = std::fs::File::open(path.join("lock")).expect("a lock");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("locked");
    std::thread::scope(|scope| {
        let waiting = [&one, &other].map(|store| scope.spawn(|| write(store)));
        assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
        drop(lock);
        waiting.into_iter().for_each(|waiting| waiting.join().expect("written"));
    });
    for store in [&one, &other] {
        assert_eq!(listed(store, "t").len(), 2, "two snapshots fit");
    }
    let names = |path: &Path| names_in(path).iter().filter(|name| name.ends_with(".snapshot")).count();
    assert_eq!((names(&path), names(&scratch.0.join("moved"))), (2, 2));
}

#[test]
fn every_created_folder_is_synced_before_use() {
    use crate::store::faults::{Fault, Step};
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let path = scratch.0.join("a/b/../b/c");
    let one = fake(&core, "t", None, 2, 1);
    let store = open_store(&core, &path);
    // Each created folder is flushed once: a, b, c.
    for made in ["a", "a/b", "a/b/c"] {
        store.layers.folder.faults.plan(Step::SyncAbove, Fault::Errno(libc::EIO));
        assert_eq!(code(store.write(&one, Retention::No)), "ERR_SNAPSHOT_FILE");
        let mode = scratch.0.join(made).metadata().expect(made).permissions().mode();
        assert_eq!((mode & 0o777, names_in(&scratch.0.join(made)).len()), (0o700, 0), "{made}");
    }
    store.write(&one, Retention::No).expect("written");
    assert_eq!(names_in(&path).len(), 2);
}

#[test]
fn a_tenant_within_its_share_loses_no_snapshot() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let one_len = file_len(&fake(&core, "t", None, 2, 0));
    let store: LayeredStore<FakeSnapshot> = LayeredStore::new(core.installation().clone(), MIB, scratch.0.clone(), 4 * one_len);
    let quiet = fake(&core, "quiet", None, 2, 1);
    store.write(&quiet, Retention::No).expect("written");
    for byte in 0..12 {
        store.write(&fake(&core, "loud", None, 2, byte), Retention::No).expect("written");
    }
    assert_eq!((listed(&store, "quiet").len(), listed(&store, "loud").len()), (1, 3));
}

#[test]
fn stores_that_share_a_folder_stay_consistent() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let room = 6 * file_len(&fake(&core, "t", None, 2, 0));
    let failures: Vec<String> = std::thread::scope(|scope| {
        let work = |number: u64| {
            let (core, path) = (core.clone(), scratch.0.clone());
            move || {
                let store: LayeredStore<FakeSnapshot> = LayeredStore::new(core.installation().clone(), MIB, path, room);
                let mut failures = Vec::new();
                for round in 0..20_u8 {
                    let one = fake(&core, "t", Some("shared"), 2, round ^ number as u8);
                    failures.extend(store.write(&one, Retention::No).err().map(|error| error.to_string()));
                    // Any store may remove a snapshot at any time. A listed file is complete.
                    for name in [&*one.info.id, "shared"] {
                        match store.get("t", name) {
                            Ok(found) => assert_eq!(memory_bytes(&core, &found)[0].1.len(), 2 * PAGE),
                            Err(error) => {
                                failures.extend(Some(error.to_string()).filter(|_| error.code() != "ERR_SNAPSHOT_NOT_FOUND"))
                            }
                        }
                    }
                    let (_, damaged) = store.list("t");
                    failures.extend(damaged.into_iter().map(|one| one.reason));
                    if round % 5 == 4 {
                        let deleted = store.delete("t", "shared");
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
    let bytes: u64 = scratch.names().iter().map(|name| scratch.0.join(name).metadata().expect("the file exists").len()).sum();
    assert!(bytes <= room, "{bytes} of {room}");
    assert!(scratch.names().iter().all(|name| !name.ends_with(".part")));
}

#[test]
fn foreign_files_are_reported_and_can_be_deleted() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store = open_store(&core, &scratch.0);
    let good = fake(&core, "t", None, 2, 1);
    store.write(&good, Retention::No).expect("written");
    let whole = std::fs::read(store.layers.folder.file("t", &good.info.id).expect("a name")).expect("read");
    let place = |id: &str| store.layers.folder.file("t", id).expect("a name");
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
    let theirs = Arc::new(FakeSnapshot {
        info: SnapshotInfo { id: fresh_id(), image: "another".to_owned(), ..good.info.clone() },
        state: good.state.clone(),
        memories: good.memories.clone(),
    });
    store.write(&theirs, Retention::No).expect("written");
    expected.push((theirs.info.id.clone(), "ERR_SNAPSHOT_FOREIGN"));
    let loose = fake(&core, "t", None, 2, 1);
    store.write(&loose, Retention::No).expect("written");
    std::fs::set_permissions(place(&loose.info.id), std::fs::Permissions::from_mode(0o662)).expect("changed");
    expected.push((loose.info.id.clone(), "ERR_SNAPSHOT_DAMAGED"));
    for name in ["notes.txt", "snap-x.snapshot", &format!("{}.snap-.snapshot", "0".repeat(32))] {
        std::fs::write(scratch.0.join(name), "not ours").expect("a file");
    }
    for _ in 0..2 {
        let (all, damaged) = store.list("t");
        assert_eq!(all.into_iter().map(|(info, _)| info.id).collect::<Vec<_>>(), std::slice::from_ref(&good.info.id));
        let mut found: Vec<_> = damaged.iter().map(|one| (one.id.clone(), one.code)).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }
    for (id, expected) in &expected {
        assert_eq!(code(store.get("t", id)), *expected, "{id}");
        store.delete("t", id).expect("deleted");
        assert_eq!(code(store.delete("t", id)), "ERR_SNAPSHOT_NOT_FOUND");
    }
    assert_eq!(listed(&store, "t"), vec![(good.info.id.clone(), Stored::Disk)]);
    assert_eq!(scratch.names().len(), 5, "the lock, a snapshot, and the foreign files: {:?}", scratch.names());
}

#[test]
fn a_damaged_file_is_written_again() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let one = fake(&core, "t", None, 2, 1);
    let path = {
        let store = open_store(&core, &scratch.0);
        store.write(&one, Retention::No).expect("written");
        store.layers.folder.file("t", &one.info.id).expect("a name")
    };
    std::fs::OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(5_000)).expect("torn");
    let store = open_store(&core, &scratch.0);
    assert_eq!(code(store.get("t", &one.info.id)), "ERR_SNAPSHOT_DAMAGED");
    store.write(&one, Retention::No).expect("written");
    assert!(are_equal(&core, &store.get("t", &one.info.id).expect("opened"), &one));
}
