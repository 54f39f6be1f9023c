//! Tests of the two layers, and of the resolution of ids, names and digests.

use super::*;
use crate::installation::ImageKind;

#[test]
fn the_folder_is_made_by_the_first_write() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let path = scratch.0.join("deep/below");
    let store = open_store(&core, &path);
    assert_eq!(listed(&store, "t"), vec![]);
    let one = fake(&core, "t", None, 2, 1);
    store.layers.memory.keep(&one, None, None).expect("kept");
    assert_eq!(listed(&store, "t"), vec![(one.info.id.clone(), Stored::Memory)]);
    assert_eq!(code(store.get("t", "missing")), "ERR_SNAPSHOT_NOT_FOUND");
    assert_eq!(code(store.delete("t", "missing")), "ERR_SNAPSHOT_NOT_FOUND");
    assert!(!scratch.0.join("deep").exists());
    store.write(&one, Retention::No).expect("written");
    assert_eq!(listed(&store, "t"), vec![(one.info.id.clone(), Stored::Both)]);
    let mode =
        |path: &Path| std::os::unix::fs::PermissionsExt::mode(&path.metadata().expect("the file exists").permissions()) & 0o777;
    assert_eq!((mode(&path), mode(&store.layers.folder.file("t", &one.info.id).expect("a name"))), (0o700, 0o600));
}

#[test]
fn another_process_opens_snapshots_on_disk() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let (two, bytes) = {
        let one = fake(&core, "t", Some("first"), 7, 3);
        let memories = vec![
            memory(&core, Pid::new(2), ImageKind::Node, 3, 1),
            memory(&core, Pid::new(5), ImageKind::Shell, 4, 2),
            memory(&core, Pid::new(9), ImageKind::Node, 1, 3),
        ];
        let info = SnapshotInfo {
            id: fresh_id(),
            parent: Some(one.info.id.clone()),
            name: Some("many".to_owned()),
            programs: 3,
            ..one.info.clone()
        };
        let two = Arc::new(FakeSnapshot { info, state: STATE.to_vec(), memories });
        let three = Arc::new(FakeSnapshot {
            info: SnapshotInfo { id: fresh_id(), name: Some("none".to_owned()), ..one.info.clone() },
            state: STATE.to_vec(),
            memories: vec![],
        });
        let store = open_store(&core, &scratch.0);
        for snapshot in [&one, &two, &three] {
            store.write(snapshot, Retention::No).expect("written");
        }
        // The second write finds the snapshot in the folder.
        store.write(&two, Retention::No).expect("written");
        let bytes = memory_bytes(&core, &two);
        (two, bytes)
    };
    let core = crate::tests::core();
    let store = open_store(&core, &scratch.0);
    let opened = store.get("t", "many").expect("opened");
    assert_eq!((&opened.info, &opened.state, memory_bytes(&core, &opened)), (&two.info, &two.state, bytes.clone()));
    assert!(Arc::ptr_eq(&opened, &store.get("t", &two.info.id).expect("opened")), "the opened snapshot is cached");
    assert_eq!(
        store.layers.memory.held("t", &two.info.id).map(|_| ()),
        None,
        "a snapshot on disk is not held, because its file may be removed"
    );
    assert_eq!(store.find("t", "none").map(|(info, stored)| (info.programs, stored)), Ok((1, Stored::Disk)));
    assert!(store.get("t", "none").expect("opened").memories.is_empty());
    // Another process, such as another sidecar, removes the file.
    std::fs::remove_file(store.layers.folder.file("t", &two.info.id).expect("a name")).expect("removed");
    assert_eq!(code(store.get("t", "many")), "ERR_SNAPSHOT_NOT_FOUND");
    assert_eq!(code(store.get("t", &two.info.id)), "ERR_SNAPSHOT_NOT_FOUND");
    assert!(memory_bytes(&core, &opened) == bytes, "an opened snapshot stays usable");
}

#[test]
fn a_name_or_digest_resolves_to_the_newest_snapshot() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store = open_store(&core, &scratch.0);
    let snapshots: Vec<_> = (0..4).map(|byte| fake(&core, "t", Some("name"), 2, byte)).collect();
    // The newest snapshot is inserted first, and two snapshots are on disk.
    for at in [3, 1] {
        store.layers.memory.keep(&snapshots[at], None, None).expect("kept");
    }
    for at in [0, 2] {
        store.write(&snapshots[at], Retention::No).expect("written");
    }
    let newest = |store: &LayeredStore<FakeSnapshot>| store.get("t", "name").map(|snapshot| snapshot.info.id.clone());
    let held =
        |store: &LayeredStore<FakeSnapshot>| store.layers.memory.held("t", "name").map(|snapshot| snapshot.info.id.clone());
    for at in [3, 2, 1, 0] {
        assert_eq!(newest(&store), Ok(snapshots[at].info.id.clone()));
        let in_memory = match at {
            3 => Some(3),
            2 | 1 => Some(1),
            _ => None,
        };
        assert_eq!(held(&store), in_memory.map(|at: usize| snapshots[at].info.id.clone()));
        let digest = store.digest("t", &snapshots[at].info.id).expect("a digest");
        assert_eq!(
            (digest.len(), store.find("t", &digest[..12]).map(|found| found.0.id)),
            (64, Ok(snapshots[at].info.id.clone()))
        );
        assert_eq!(code(store.find("t", &digest[..7])), "ERR_SNAPSHOT_NOT_FOUND");
        store.delete("t", "name").expect("deleted");
    }
    assert_eq!(code(store.get("t", "name")), "ERR_SNAPSHOT_NOT_FOUND");
    // Equal contents have equal digests, which resolve to the newer snapshot.
    let first = fake(&core, "t", None, 2, 9);
    let second = Arc::new(FakeSnapshot {
        info: SnapshotInfo {
            id: fresh_id(),
            created_ms: first.info.created_ms + 1,
            name: Some("other".to_owned()),
            ..first.info.clone()
        },
        state: first.state.clone(),
        memories: first.memories.clone(),
    });
    for snapshot in [&second, &first] {
        store.write(snapshot, Retention::No).expect("written");
    }
    let digest = store.digest("t", &first.info.id).expect("a digest");
    assert_eq!(store.find("t", &digest.to_uppercase()).map(|found| found.0.id), Ok(second.info.id.clone()));
}

#[test]
fn a_name_that_is_an_id_never_resolves() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let (store, elsewhere) = (open_store(&core, &scratch.0), open_store(&core, &scratch.0));
    let real = fake(&core, "t", None, 2, 1);
    let impostor = fake(&core, "t", Some(&real.info.id), 2, 2);
    elsewhere.write(&real, Retention::No).expect("written");
    store.layers.memory.keep(&impostor, None, None).expect("kept");
    assert!(store.layers.memory.held("t", &real.info.id).is_none(), "the snapshot is on disk only");
    assert_eq!(store.get("t", &real.info.id).map(|found| found.info.id.clone()), Ok(real.info.id.clone()));
    store.write(&impostor, Retention::No).expect("written");
    store.delete("t", &real.info.id).expect("deleted");
    assert_eq!(code(store.get("t", &real.info.id)), "ERR_SNAPSHOT_NOT_FOUND");
    assert_eq!(code(store.delete("t", &real.info.id)), "ERR_SNAPSHOT_NOT_FOUND");
    assert_eq!(store.get("t", &impostor.info.id).map(|found| found.info.id.clone()), Ok(impostor.info.id.clone()));
}

#[test]
fn finds_the_newest_of_a_name_on_disk_after_its_removal_from_memory() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store: LayeredStore<FakeSnapshot> =
        LayeredStore::new(core.installation().clone(), 10 * PAGE as u64, scratch.0.clone(), MIB);
    let (older, newer) = (fake(&core, "t", Some("n"), 4, 1), fake(&core, "t", Some("n"), 4, 2));
    for snapshot in [&newer, &older] {
        store.layers.memory.keep(snapshot, None, None).expect("kept");
    }
    store.write(&newer, Retention::No).expect("written");
    assert!(store.layers.memory.held("t", &older.info.id).is_some());
    store.layers.memory.keep(&fake(&core, "t", None, 5, 3), None, None).expect("kept");
    assert!(store.layers.memory.held("t", &newer.info.id).is_none(), "the snapshot is the least recently used");
    assert!(store.layers.memory.held("t", "n").is_none(), "the remaining snapshot is not the newest");
    assert_eq!(store.get("t", "n").map(|snapshot| snapshot.info.id.clone()), Ok(newer.info.id.clone()));
}

#[test]
fn a_tenant_cannot_reach_snapshots_of_another() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store = open_store(&core, &scratch.0);
    let (kept, written) = (fake(&core, "one", Some("n"), 2, 1), fake(&core, "one", Some("m"), 2, 2));
    store.layers.memory.keep(&kept, None, None).expect("kept");
    store.write(&written, Retention::No).expect("written");
    let digest = store.digest("one", "m").expect("a digest");
    for other in ["two", "", "One", "one/", "../one", "one\0"] {
        assert_eq!(listed(&store, other), vec![]);
        for name in [&*kept.info.id, &*written.info.id, "n", "m", &digest] {
            assert_eq!(code(store.get(other, name)), "ERR_SNAPSHOT_NOT_FOUND");
            assert_eq!(code(store.find(other, name)), "ERR_SNAPSHOT_NOT_FOUND");
            assert_eq!(code(store.digest(other, name)), "ERR_SNAPSHOT_NOT_FOUND");
            assert_eq!(code(store.delete(other, name)), "ERR_SNAPSHOT_NOT_FOUND");
            assert_eq!(code(store.protect(other, name, Retention::Always)), "ERR_SNAPSHOT_NOT_FOUND");
            assert_eq!(code(store.export(other, name, &scratch.0.join("x"))), "ERR_SNAPSHOT_NOT_FOUND");
            assert!(store.layers.memory.held(other, name).is_none());
        }
    }
    // A file that was copied to the file name of another tenant does not match its name.
    let (from, to) = (store.layers.folder.file("one", &written.info.id), store.layers.folder.file("two", &written.info.id));
    std::fs::copy(from.expect("a name"), to.expect("a name")).expect("copied");
    assert_eq!(code(store.get("two", &written.info.id)), "ERR_SNAPSHOT_DAMAGED");
    // Snapshots of two tenants with equal names and ids are two snapshots.
    let counterpart = Arc::new(FakeSnapshot {
        info: SnapshotInfo { tenant: "three".to_owned(), ..kept.info.clone() },
        state: STATE.to_vec(),
        memories: vec![],
    });
    store.layers.memory.keep(&counterpart, None, None).expect("kept");
    store.delete("three", "n").expect("deleted");
    assert!(store.layers.memory.held("one", "n").is_some());
    assert_eq!(store.layers.memory.total(), 2 * PAGE as u64);
}

#[test]
fn snapshots_in_use_are_removed_last() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store: LayeredStore<FakeSnapshot> =
        LayeredStore::new(core.installation().clone(), 8 * PAGE as u64, scratch.0.clone(), MIB);
    let plain = fake(&core, "t", None, 4, 1);
    let info = SnapshotInfo { id: fresh_id(), labels: vec![("used".to_owned(), String::new())], ..plain.info.clone() };
    let used = Arc::new(FakeSnapshot { info, state: STATE.to_vec(), memories: plain.memories.clone() });
    let here = |snapshot: &FakeSnapshot| store.layers.memory.held("t", &snapshot.info.id).is_some();
    for snapshot in [&used, &plain] {
        store.layers.memory.keep(snapshot, None, None).expect("kept");
    }
    let next = fake(&core, "t", None, 4, 2);
    store.layers.memory.keep(&next, None, None).expect("kept");
    assert_eq!((here(&used), here(&plain), here(&next)), (true, false, true));
    let large = fake(&core, "t", None, 6, 3);
    store.layers.memory.keep(&large, None, None).expect("a used snapshot makes room");
    assert_eq!((here(&used), here(&next), here(&large)), (false, false, true));
}

#[test]
fn a_removed_snapshot_stays_usable() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store: LayeredStore<FakeSnapshot> =
        LayeredStore::new(core.installation().clone(), 8 * PAGE as u64, scratch.0.clone(), MIB);
    let first = fake(&core, "t", None, 4, 1);
    store.layers.memory.keep(&first, None, None).expect("kept");
    let held = store.layers.memory.held("t", &first.info.id).expect("held");
    let neighbour = fake(&core, "u", None, 3, 7);
    store.layers.memory.keep(&neighbour, None, None).expect("kept");
    let second = fake(&core, "t", None, 4, 2);
    store.layers.memory.keep(&second, None, None).expect("kept");
    assert_eq!(listed(&store, "t"), vec![(second.info.id.clone(), Stored::Memory)]);
    assert_eq!(listed(&store, "u"), vec![(neighbour.info.id.clone(), Stored::Memory)]);
    assert!(memory_bytes(&core, &held)[0].1.iter().all(|byte| *byte == 1));
    let large = fake(&core, "t", None, 9, 3);
    let refused = store.layers.memory.keep(&large, None, None);
    assert_eq!(refused, Err(Error::ResourceExhausted { resource: "snapshot bytes", limit: 8 * PAGE as u64 }));
    assert_eq!(listed(&store, "t").len(), 1, "a snapshot that does not fit displaces no other");
}
