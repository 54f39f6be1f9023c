//! What is kept where, and which snapshot an id, a name or a digest means.

use super::*;

#[test]
fn nothing_is_touched_before_it_is_needed() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let path = scratch.0.join("deep/below");
    let shelves = shelves(&core, &path);
    assert_eq!(listed(&shelves, "t"), vec![]);
    let one = paper(&core, "t", None, 2, 1);
    shelves.memory.keep(&one, None, None).expect("kept");
    assert_eq!(listed(&shelves, "t"), vec![(one.info.id.clone(), Stored::Memory)]);
    assert_eq!(code(shelves.get("t", "nobody")), "ERR_SNAPSHOT_NOT_FOUND");
    assert_eq!(code(shelves.delete("t", "nobody")), "ERR_SNAPSHOT_NOT_FOUND");
    assert!(!scratch.0.join("deep").exists());
    shelves.write(&one, Stay::No).expect("written");
    assert_eq!(listed(&shelves, "t"), vec![(one.info.id.clone(), Stored::Both)]);
    let mode = |path: &Path| std::os::unix::fs::PermissionsExt::mode(&path.metadata().expect("there").permissions()) & 0o777;
    assert_eq!((mode(&path), mode(&shelves.folder.file("t", &one.info.id).expect("a name"))), (0o700, 0o600));
}

#[test]
fn what_is_on_disk_is_there_in_another_process() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let (two, bytes) = {
        let one = paper(&core, "t", Some("first"), 7, 3);
        let memories = vec![memory(&core, 2, false, 3, 1), memory(&core, 5, true, 4, 2), memory(&core, 9, false, 1, 3)];
        let info = SnapshotInfo {
            id: fresh_id(),
            parent: Some(one.info.id.clone()),
            name: Some("many".to_owned()),
            programs: 3,
            ..one.info.clone()
        };
        let two = Arc::new(Paper { info, state: STATE.to_vec(), memories });
        let three = Arc::new(Paper {
            info: SnapshotInfo { id: fresh_id(), name: Some("none".to_owned()), ..one.info.clone() },
            state: STATE.to_vec(),
            memories: vec![],
        });
        let shelves = shelves(&core, &scratch.0);
        for paper in [&one, &two, &three] {
            shelves.write(paper, Stay::No).expect("written");
        }
        // A second time it is there.
        shelves.write(&two, Stay::No).expect("written");
        let bytes = bytes_of(&core, &two);
        (two, bytes)
    };
    let core = crate::tests::core();
    let shelves = shelves(&core, &scratch.0);
    let opened = shelves.get("t", "many").expect("opened");
    assert_eq!((&opened.info, &opened.state, bytes_of(&core, &opened)), (&two.info, &two.state, bytes.clone()));
    assert!(Arc::ptr_eq(&opened, &shelves.get("t", &two.info.id).expect("opened")), "it is remembered");
    assert_eq!(shelves.memory.held("t", &two.info.id).map(|_| ()), None, "its file may vanish, so it is not held");
    assert_eq!(shelves.find("t", "none").map(|(info, stored)| (info.programs, stored)), Ok((1, Stored::Disk)));
    assert!(shelves.get("t", "none").expect("opened").memories.is_empty());
    // Removed behind its back, as another sidecar does.
    std::fs::remove_file(shelves.folder.file("t", &two.info.id).expect("a name")).expect("removed");
    assert_eq!(code(shelves.get("t", "many")), "ERR_SNAPSHOT_NOT_FOUND");
    assert_eq!(code(shelves.get("t", &two.info.id)), "ERR_SNAPSHOT_NOT_FOUND");
    assert!(bytes_of(&core, &opened) == bytes, "what was made of it lives on");
}

#[test]
fn an_id_a_name_a_digest() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let shelves = shelves(&core, &scratch.0);
    let papers: Vec<_> = (0..4).map(|byte| paper(&core, "t", Some("name"), 2, byte)).collect();
    // The newest is entered first, and two are on disk.
    for at in [3, 1] {
        shelves.memory.keep(&papers[at], None, None).expect("kept");
    }
    for at in [0, 2] {
        shelves.write(&papers[at], Stay::No).expect("written");
    }
    let newest = |shelves: &Shelves<Paper>| shelves.get("t", "name").map(|paper| paper.info.id.clone());
    let held = |shelves: &Shelves<Paper>| shelves.memory.held("t", "name").map(|paper| paper.info.id.clone());
    for at in [3, 2, 1, 0] {
        assert_eq!(newest(&shelves), Ok(papers[at].info.id.clone()));
        let in_memory = match at {
            3 => Some(3),
            2 | 1 => Some(1),
            _ => None,
        };
        assert_eq!(held(&shelves), in_memory.map(|at: usize| papers[at].info.id.clone()));
        let digest = shelves.digest("t", &papers[at].info.id).expect("a digest");
        assert_eq!(
            (digest.len(), shelves.find("t", &digest[..12]).map(|found| found.0.id)),
            (64, Ok(papers[at].info.id.clone()))
        );
        assert_eq!(code(shelves.find("t", &digest[..7])), "ERR_SNAPSHOT_NOT_FOUND");
        shelves.delete("t", "name").expect("deleted");
    }
    assert_eq!(code(shelves.get("t", "name")), "ERR_SNAPSHOT_NOT_FOUND");
    // Equal contents have equal digests: the newer one is meant.
    let first = paper(&core, "t", None, 2, 9);
    let second = Arc::new(Paper {
        info: SnapshotInfo {
            id: fresh_id(),
            created_ms: first.info.created_ms + 1,
            name: Some("other".to_owned()),
            ..first.info.clone()
        },
        state: first.state.clone(),
        memories: first.memories.clone(),
    });
    for paper in [&second, &first] {
        shelves.write(paper, Stay::No).expect("written");
    }
    let digest = shelves.digest("t", &first.info.id).expect("a digest");
    assert_eq!(shelves.find("t", &digest.to_uppercase()).map(|found| found.0.id), Ok(second.info.id.clone()));
}

#[test]
fn nothing_is_found_by_a_name_that_is_an_id() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let (shelves, elsewhere) = (shelves(&core, &scratch.0), shelves(&core, &scratch.0));
    let real = paper(&core, "t", None, 2, 1);
    let impostor = paper(&core, "t", Some(&real.info.id), 2, 2);
    elsewhere.write(&real, Stay::No).expect("written");
    shelves.memory.keep(&impostor, None, None).expect("kept");
    assert!(shelves.memory.held("t", &real.info.id).is_none(), "it is on disk alone");
    assert_eq!(shelves.get("t", &real.info.id).map(|found| found.info.id.clone()), Ok(real.info.id.clone()));
    shelves.write(&impostor, Stay::No).expect("written");
    shelves.delete("t", &real.info.id).expect("deleted");
    assert_eq!(code(shelves.get("t", &real.info.id)), "ERR_SNAPSHOT_NOT_FOUND");
    assert_eq!(code(shelves.delete("t", &real.info.id)), "ERR_SNAPSHOT_NOT_FOUND");
    assert_eq!(shelves.get("t", &impostor.info.id).map(|found| found.info.id.clone()), Ok(impostor.info.id.clone()));
}

#[test]
fn the_newest_of_a_name_that_was_pushed_out_of_memory_is_on_disk() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let shelves: Shelves<Paper> = Shelves::new(core.clone(), 10 * PAGE as u64, scratch.0.clone(), MIB);
    let (older, newer) = (paper(&core, "t", Some("n"), 4, 1), paper(&core, "t", Some("n"), 4, 2));
    for paper in [&newer, &older] {
        shelves.memory.keep(paper, None, None).expect("kept");
    }
    shelves.write(&newer, Stay::No).expect("written");
    assert!(shelves.memory.held("t", &older.info.id).is_some());
    shelves.memory.keep(&paper(&core, "t", None, 5, 3), None, None).expect("kept");
    assert!(shelves.memory.held("t", &newer.info.id).is_none(), "it was used longest ago");
    assert!(shelves.memory.held("t", "n").is_none(), "the one that is left is not the newest");
    assert_eq!(shelves.get("t", "n").map(|paper| paper.info.id.clone()), Ok(newer.info.id.clone()));
}

#[test]
fn tenants_know_nothing_of_each_other() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let shelves = shelves(&core, &scratch.0);
    let (kept, written) = (paper(&core, "one", Some("n"), 2, 1), paper(&core, "one", Some("m"), 2, 2));
    shelves.memory.keep(&kept, None, None).expect("kept");
    shelves.write(&written, Stay::No).expect("written");
    let digest = shelves.digest("one", "m").expect("a digest");
    for other in ["two", "", "One", "one/", "../one", "one\0"] {
        assert_eq!(listed(&shelves, other), vec![]);
        for name in [&*kept.info.id, &*written.info.id, "n", "m", &digest] {
            assert_eq!(code(shelves.get(other, name)), "ERR_SNAPSHOT_NOT_FOUND");
            assert_eq!(code(shelves.find(other, name)), "ERR_SNAPSHOT_NOT_FOUND");
            assert_eq!(code(shelves.digest(other, name)), "ERR_SNAPSHOT_NOT_FOUND");
            assert_eq!(code(shelves.delete(other, name)), "ERR_SNAPSHOT_NOT_FOUND");
            assert_eq!(code(shelves.protect(other, name, Stay::Always)), "ERR_SNAPSHOT_NOT_FOUND");
            assert_eq!(code(shelves.export(other, name, &scratch.0.join("x"))), "ERR_SNAPSHOT_NOT_FOUND");
            assert!(shelves.memory.held(other, name).is_none());
        }
    }
    // A file that was put under another tenant's name is not what its name says.
    let (from, to) = (shelves.folder.file("one", &written.info.id), shelves.folder.file("two", &written.info.id));
    std::fs::copy(from.expect("a name"), to.expect("a name")).expect("copied");
    assert_eq!(code(shelves.get("two", &written.info.id)), "ERR_SNAPSHOT_DAMAGED");
    // The same name and id in two tenants are two snapshots.
    let twin = Arc::new(Paper {
        info: SnapshotInfo { tenant: "three".to_owned(), ..kept.info.clone() },
        state: STATE.to_vec(),
        memories: vec![],
    });
    shelves.memory.keep(&twin, None, None).expect("kept");
    shelves.delete("three", "n").expect("deleted");
    assert!(shelves.memory.held("one", "n").is_some());
    assert_eq!(shelves.memory.total(), 2 * PAGE as u64);
}

#[test]
fn what_runtimes_live_from_is_forgotten_last() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let shelves: Shelves<Paper> = Shelves::new(core.clone(), 8 * PAGE as u64, scratch.0.clone(), MIB);
    let plain = paper(&core, "t", None, 4, 1);
    let info = SnapshotInfo { id: fresh_id(), labels: vec![("used".to_owned(), String::new())], ..plain.info.clone() };
    let used = Arc::new(Paper { info, state: STATE.to_vec(), memories: plain.memories.clone() });
    let here = |paper: &Paper| shelves.memory.held("t", &paper.info.id).is_some();
    for paper in [&used, &plain] {
        shelves.memory.keep(paper, None, None).expect("kept");
    }
    let next = paper(&core, "t", None, 4, 2);
    shelves.memory.keep(&next, None, None).expect("kept");
    assert_eq!((here(&used), here(&plain), here(&next)), (true, false, true));
    let large = paper(&core, "t", None, 6, 3);
    shelves.memory.keep(&large, None, None).expect("it is no reason to refuse another");
    assert_eq!((here(&used), here(&next), here(&large)), (false, false, true));
}

#[test]
fn what_is_forgotten_lives_on_where_it_is_used() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let shelves: Shelves<Paper> = Shelves::new(core.clone(), 8 * PAGE as u64, scratch.0.clone(), MIB);
    let first = paper(&core, "t", None, 4, 1);
    shelves.memory.keep(&first, None, None).expect("kept");
    let held = shelves.memory.held("t", &first.info.id).expect("held");
    let neighbour = paper(&core, "u", None, 3, 7);
    shelves.memory.keep(&neighbour, None, None).expect("kept");
    let second = paper(&core, "t", None, 4, 2);
    shelves.memory.keep(&second, None, None).expect("kept");
    assert_eq!(listed(&shelves, "t"), vec![(second.info.id.clone(), Stored::Memory)]);
    assert_eq!(listed(&shelves, "u"), vec![(neighbour.info.id.clone(), Stored::Memory)]);
    assert!(bytes_of(&core, &held)[0].1.iter().all(|byte| *byte == 1));
    let large = paper(&core, "t", None, 9, 3);
    let refused = shelves.memory.keep(&large, None, None);
    assert_eq!(refused, Err(Error::ResourceExhausted { resource: "snapshot bytes", limit: 8 * PAGE as u64 }));
    assert_eq!(listed(&shelves, "t").len(), 1, "nothing was pushed out for what does not fit");
}
