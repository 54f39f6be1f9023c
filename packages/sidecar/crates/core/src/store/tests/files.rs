//! Tests of exported files, and of files that were changed at any offset.

use super::super::content::{Content, encoded};
use super::*;
use crate::installation::ImageKind;
use std::io::Write;
use std::os::unix::fs::MetadataExt;

#[test]
fn an_exported_snapshot_can_be_imported() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let from = open_store(&core, &scratch.0.join("from"));
    let memories = vec![memory(&core, Pid::new(2), ImageKind::Node, 3, 1), memory(&core, Pid::new(5), ImageKind::Shell, 4, 2)];
    let one = Arc::new(FakeSnapshot {
        info: fake(&core, "secret-tenant", Some("n"), 7, 0).info.clone(),
        state: STATE.to_vec(),
        memories,
    });
    let (of_memory, of_disk) = (scratch.0.join("of-memory"), scratch.0.join("of-disk"));
    from.layers.memory.keep(&one, None, None).expect("kept");
    from.export("secret-tenant", "n", &of_memory).expect("exported");
    from.write(&one, Retention::No).expect("written");
    std::fs::write(&of_disk, "an older file").expect("a file");
    from.export("secret-tenant", "n", &of_disk).expect("the older file is replaced");
    let bytes = std::fs::read(&of_memory).expect("read");
    assert!(bytes == std::fs::read(&of_disk).expect("read"), "both files are equal");
    assert!(!bytes.windows(13).any(|part| part == b"secret-tenant"), "the file does not contain the tenant");
    assert_eq!(of_disk.metadata().expect("the file exists").mode() & 0o777, 0o600);

    let other = crate::tests::core();
    let to = open_store(&other, &scratch.0.join("to"));
    let (info, stored) = to.import("new-tenant", &of_disk).expect("imported");
    assert_eq!((&info, stored), (&SnapshotInfo { tenant: "new-tenant".to_owned(), ..one.info.clone() }, Stored::Disk));
    assert_eq!(to.digest("new-tenant", "n"), from.digest("secret-tenant", "n"));
    let found = to.get("new-tenant", &one.info.id).expect("opened");
    assert_eq!((memory_bytes(&other, &found), &found.state), (memory_bytes(&core, &one), &one.state));
    assert_eq!(listed(&to, "secret-tenant"), vec![]);
    // A second import is accepted. An import for another tenant makes another snapshot. An import
    // whose id already exists with other content is refused, on disk and in memory.
    assert_eq!(to.import("new-tenant", &of_memory).map(|found| found.0), Ok(info.clone()));
    to.import("second", &of_memory).expect("imported");
    to.delete("second", "n").expect("deleted");
    let twin = Arc::new(FakeSnapshot {
        info: SnapshotInfo { tenant: "third".to_owned(), ..info.clone() },
        state: STATE.to_vec(),
        memories: vec![],
    });
    to.layers.memory.keep(&twin, None, None).expect("kept");
    assert_eq!(to.import("third", &of_disk), Err(Error::SnapshotExists { id: info.id.clone() }));
    to.write(&twin, Retention::No).expect("written");
    to.layers.memory.forget("third", &info.id);
    assert_eq!(to.import("third", &of_disk), Err(Error::SnapshotExists { id: info.id.clone() }));
    // An imported snapshot is written to disk even if the snapshot is in memory, so that the import
    // survives the process.
    let kept = Arc::new(FakeSnapshot {
        info: SnapshotInfo { tenant: "fourth".to_owned(), ..info.clone() },
        state: one.state.clone(),
        memories: one.memories.clone(),
    });
    let back = open_store(&core, &scratch.0.join("back"));
    back.layers.memory.keep(&kept, None, None).expect("kept");
    assert_eq!(back.import("fourth", &of_disk).map(|found| found.1), Ok(Stored::Both));
    let mut left = scratch.names();
    left.sort();
    assert_eq!(left, ["back", "from", "of-disk", "of-memory", "to"], "no temporary file remains");
}

#[test]
fn an_export_to_an_impossible_path_is_an_error() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store = open_store(&core, &scratch.0.join("store"));
    let one = fake(&core, "t", Some("n"), 2, 1);
    store.write(&one, Retention::No).expect("written");
    let folder = scratch.0.join("folder");
    std::fs::create_dir_all(folder.join("x")).expect("a folder");
    for path in [
        &*folder,
        &scratch.0.join("no/such/folder"),
        Path::new("/"),
        Path::new(""),
        &folder.join(".."),
        &scratch.0.join("x".repeat(300)),
    ] {
        assert_eq!(code(store.export("t", "n", path)), "ERR_SNAPSHOT_FILE", "{}", path.display());
    }
    assert_eq!((scratch.names(), names_in(&folder)), (vec!["folder".to_owned(), "store".to_owned()], vec!["x".to_owned()]));
    for (path, expected) in [
        (&*folder, "ERR_SNAPSHOT_DAMAGED"),
        (&scratch.0.join("none"), "ERR_SNAPSHOT_FILE"),
        (Path::new("/dev/zero"), "ERR_SNAPSHOT_DAMAGED"),
    ] {
        assert_eq!(code(store.import("t", path)), expected, "{}", path.display());
    }
}

/// A snapshot in memory is valid, regardless of its file.
#[test]
fn a_damaged_file_does_not_hide_the_snapshot_in_memory() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store = open_store(&core, &scratch.0.join("store"));
    let one = fake(&core, "t", Some("n"), 2, 1);
    store.layers.memory.keep(&one, None, None).expect("kept");
    store.write(&one, Retention::No).expect("written");
    let digest = store.digest("t", "n").expect("a digest");
    let own = store.layers.folder.file("t", &one.info.id).expect("a name");
    std::fs::write(&own, "torn").expect("damaged");
    assert_eq!(store.digest("t", "n"), Ok(digest.clone()));
    let path = scratch.0.join("exported");
    store.export("t", "n", &path).expect("exported");
    assert_eq!(store.list("t").1.len(), 1, "the damaged file is reported");
    assert_eq!(store.import("t", &path).map(|(_, stored)| stored), Ok(Stored::Both), "the damaged file is replaced");
    assert_eq!(store.digest("t", "n"), Ok(digest));
    let other = fake(&core, "t", None, 2, 9);
    let altered = Arc::new(FakeSnapshot { info: one.info.clone(), state: other.state.clone(), memories: other.memories.clone() });
    std::fs::remove_file(&own).expect("removed");
    store.layers.memory.forget("t", &one.info.id);
    store.layers.memory.keep(&altered, None, None).expect("kept");
    assert_eq!(code(store.import("t", &path)), "ERR_SNAPSHOT_EXISTS", "equal id and other content");
}

#[test]
fn an_import_of_a_snapshot_in_memory_is_written() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store = open_store(&core, &scratch.0.join("store"));
    let one = fake(&core, "t", Some("n"), 2, 1);
    store.layers.memory.keep(&one, None, None).expect("kept");
    let path = scratch.0.join("exported");
    store.export("t", "n", &path).expect("exported");
    for _ in 0..2 {
        assert_eq!(store.import("t", &path).map(|(_, stored)| stored), Ok(Stored::Both));
    }
    store.delete("t", "n").expect("deleted");
    assert_eq!(code(store.persist("t", &one.info.id)), "ERR_SNAPSHOT_NOT_FOUND");
    store.layers.memory.keep(&one, None, None).expect("kept");
    store.persist("t", "n").expect("written");
    assert_eq!(listed(&store, "t"), vec![(one.info.id.clone(), Stored::Both)]);
}

/// A generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % most
    }
}

/// Calls `each` with the description and the bytes of changed copies of a file. Every page is
/// changed.
fn mutations(whole: &[u8], each: &mut dyn FnMut(&str, &[u8])) {
    let mut random = Random(7);
    let mut places: Vec<usize> = (0..200).collect();
    // Each page is changed at several offsets.
    for page in 0..whole.len() / PAGE {
        places.extend((0..6).map(|_| page * PAGE + random.below(PAGE)));
        places.extend([page * PAGE, page * PAGE + PAGE - 1, page * PAGE + 8, page * PAGE + 300]);
    }
    for at in places {
        let mut changed = whole.to_vec();
        changed[at] ^= 1 << random.below(8);
        each(&format!("a bit of byte {at}"), &changed);
        changed[at] = 0xff ^ whole[at];
        each(&format!("byte {at}"), &changed);
    }
    for page in 0..whole.len() / PAGE {
        let mut torn = whole.to_vec();
        torn[page * PAGE..][..PAGE].fill(0);
        if torn != whole {
            each(&format!("zeros in page {page}"), &torn);
        }
        each(&format!("cut at page {page}"), &whole[..page * PAGE]);
        each(&format!("cut behind page {page}"), &whole[..page * PAGE + 1 + random.below(PAGE - 1)]);
        let mut gone = whole.to_vec();
        gone.drain(page * PAGE..(page + 1) * PAGE);
        each(&format!("without page {page}"), &gone);
        let mut twice = whole.to_vec();
        let copy = whole[page * PAGE..][..PAGE].to_vec();
        twice.splice(page * PAGE..page * PAGE, copy);
        each(&format!("twice page {page}"), &twice);
    }
    for _ in 0..100 {
        let mut noise = whole.to_vec();
        let (from, len) = (random.below(whole.len()), 1 + random.below(5_000));
        noise.iter_mut().skip(from).take(len).for_each(|byte| *byte = random.below(256) as u8);
        if noise != whole {
            each(&format!("noise at {from}"), &noise);
        }
        // Changes a number of the head.
        let mut wild = whole.to_vec();
        let at = 8 + 4 * random.below(40);
        wild[at..at + 4].copy_from_slice(&[[0xff; 4], [0; 4], [0, 0, 0, 0x80], [1, 0, 0, 0]][random.below(4)]);
        if wild != whole {
            each(&format!("a number at {at}"), &wild);
        }
    }
}

#[test]
fn every_change_of_a_file_is_detected() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let memories = vec![memory(&core, Pid::new(2), ImageKind::Node, 3, 1), memory(&core, Pid::new(5), ImageKind::Shell, 2, 2)];
    let one = Arc::new(FakeSnapshot {
        info: fake(&core, "t", Some("n"), 5, 0).info.clone(),
        state: [STATE, &[7; 5_000]].concat(),
        memories,
    });
    let exported = scratch.0.join("exported");
    let own = {
        let store = open_store(&core, &scratch.0.join("store"));
        store.write(&one, Retention::No).expect("written");
        store.export("t", "n", &exported).expect("exported");
        store.layers.folder.file("t", &one.info.id).expect("a name")
    };
    let refused = |code: &str, bytes: &[u8]| {
        // The versions precede the digest. A file of another build is therefore foreign, not
        // damaged.
        code == "ERR_SNAPSHOT_DAMAGED" || (code == "ERR_SNAPSHOT_FOREIGN" && bytes[..8] == *b"COLDRUN1")
    };
    let whole = std::fs::read(&own).expect("read");
    let kept = scratch.0.join("kept");
    std::fs::write(&kept, "an older file").expect("a file");
    let mut count = 0;
    mutations(&whole, &mut |what, bytes| {
        std::fs::write(&own, bytes).expect("changed");
        let store = open_store(&core, &scratch.0.join("store"));
        let code = code(store.get("t", &one.info.id));
        assert!(refused(code, bytes), "{what}: {code}");
        let (all, damaged) = store.list("t");
        assert_eq!((all.len(), damaged.len()), (0, 1), "{what}: a known damaged file is reported");
        let store = open_store(&core, &scratch.0.join("store"));
        let code = super::code(store.export("t", &one.info.id, &kept));
        assert!(refused(code, bytes), "{what}: {code} of an export");
        assert_eq!(store.list("t").1.len(), 1, "{what}: a file that an export has refused is reported");
        count += 1;
    });
    assert_eq!(std::fs::read(&kept).expect("read"), b"an older file", "a refused export replaces no file");
    std::fs::remove_file(&own).expect("removed");
    let whole = std::fs::read(&exported).expect("read");
    let store = open_store(&core, &scratch.0.join("store"));
    mutations(&whole, &mut |what, bytes| {
        std::fs::write(&exported, bytes).expect("changed");
        let code = code(store.import("t", &exported));
        assert!(refused(code, bytes), "{what}: {code}");
        count += 1;
    });
    assert!(count > 1_000, "{count}");
    assert_eq!(names_in(&scratch.0.join("store")), ["lock"], "no file of a refused import remains");
    assert_eq!(scratch.names(), ["exported", "kept", "store"], "no file of a refused export remains");
}

#[test]
fn invalid_descriptions_are_damage() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let good = fake(&core, "t", Some("n"), 1, 1);
    let label = |name: &str, text: &str| vec![(name.to_owned(), text.to_owned())];
    let most = SnapshotInfo {
        parent: Some(fresh_id()),
        created_ms: 8_640_000_000_000_000,
        size: (1 << 53) - 1,
        name: Some("ñ".repeat(200)),
        labels: (0..64).map(|n| (format!("{n:x>1000}"), "ñ".repeat(1_000))).collect(),
        tenant: "ñ".repeat(200),
        ..good.info.clone()
    };
    assert_eq!(most.check(), Ok(()));
    assert_eq!(SnapshotInfo { labels: label("a", ""), tenant: String::new(), ..good.info.clone() }.check(), Ok(()));
    let of = || good.info.clone();
    let wrong = [
        ("its id is invalid", SnapshotInfo { id: "snap-x".to_owned(), ..of() }),
        ("its parent is invalid", SnapshotInfo { parent: Some("p".repeat(100_000)), ..of() }),
        ("an invalid time", SnapshotInfo { created_ms: 1 << 60, ..of() }),
        ("an invalid size", SnapshotInfo { size: 1 << 53, ..of() }),
        ("an invalid image", SnapshotInfo { image: "i".repeat(100_000), ..of() }),
        ("an invalid name", SnapshotInfo { name: Some("n".repeat(201)), ..of() }),
        ("an invalid name", SnapshotInfo { name: Some(String::new()), ..of() }),
        ("an invalid name", SnapshotInfo { name: Some("a\0".to_owned()), ..of() }),
        ("an invalid tenant", SnapshotInfo { tenant: "t".repeat(201), ..of() }),
        ("invalid labels", SnapshotInfo { labels: label("__proto__", "x"), ..of() }),
        ("invalid labels", SnapshotInfo { labels: label("", "x"), ..of() }),
        ("invalid labels", SnapshotInfo { labels: label(&"n".repeat(1_001), ""), ..of() }),
        ("invalid labels", SnapshotInfo { labels: label("n", &"x".repeat(1_001)), ..of() }),
        ("invalid labels", SnapshotInfo { labels: vec![label("n", "x")[0].clone(); 65], ..of() }),
    ];
    for (reason, info) in wrong {
        assert_eq!(info.check(), Err(reason));
        let path = scratch.0.join("wrong");
        let mut file = std::fs::File::create(&path).expect("a file");
        let content =
            Content::of(core.installation(), &FakeSnapshot { info, state: good.state.clone(), memories: good.memories.clone() })
                .expect("laid out");
        file.write_all(&encoded(content.head()).expect("a head")).and_then(|()| content.write_body(&mut file)).expect("written");
        let store = open_store(&core, &scratch.0.join("store"));
        let refused = store.import("t", &path).map(|_| ());
        let path = path.display().to_string();
        assert_eq!(refused, Err(Error::SnapshotDamaged { path, reason: reason.to_owned() }));
        assert_eq!(listed(&store, "t"), vec![]);
    }
}

#[test]
fn an_invalid_state_is_damage() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store = open_store(&core, &scratch.0);
    let one =
        Arc::new(FakeSnapshot { info: fake(&core, "t", None, 1, 0).info.clone(), state: b"wrong".to_vec(), memories: vec![] });
    store.write(&one, Retention::No).expect("written");
    let path = store.layers.folder.file("t", &one.info.id).expect("a name").display().to_string();
    let refused = store.get("t", &one.info.id).map(|_| ());
    assert_eq!(refused, Err(Error::SnapshotDamaged { path, reason: "an invalid state".to_owned() }));
}
