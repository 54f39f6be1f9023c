//! Exports a tree and imports the archive: the trees are equal, for any content and any split of
//! the bytes. Other tests export a sparse file, a tree that changes during the export, and the
//! root.

use super::{kernel, pack, state, unpack};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Directory,
    File(Vec<u8>),
    /// A file whose bytes start at a large offset.
    Sparse(u32, Vec<u8>),
    Symlink(String),
    /// Another name of an earlier file.
    Link(prop::sample::Index),
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c]",
        1 => "[^/\u{0}.][^/\u{0}]{0,40}",
        1 => "[a-z]{100,101}",
        1 => "[a-z]{240,250}",
    ]
}

fn step() -> impl Strategy<Value = (Vec<String>, Step, u32, i64)> {
    let what = prop_oneof![
        Just(Step::Directory),
        prop::collection::vec(any::<u8>(), 0..2_000).prop_map(Step::File),
        (65_536_u32..40_000_000, prop::collection::vec(any::<u8>(), 1..100)).prop_map(|(at, bytes)| Step::Sparse(at, bytes)),
        "[^\u{0}]{1,150}".prop_map(Step::Symlink),
        any::<prop::sample::Index>().prop_map(Step::Link),
    ];
    (prop::collection::vec(name(), 1..4), what, 0_u32..0o1000, -10_000_000_000_i64..4_000_000_000_000_000_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_imported_tree_equals_the_exported_tree(steps in prop::collection::vec(step(), 0..12), piece in 1_usize..3_000) {
        let (from, to) = (kernel(), kernel());
        let (from, to) = (from.embedder_files(), to.embedder_files());
        from.mkdir("/workspace/t", true).expect("made");
        let (mut files, mut made): (Vec<String>, Vec<_>) = (Vec::new(), Vec::new());
        for (names, what, mode, mtime) in &steps {
            let path = format!("/workspace/t/{}", names.join("/"));
            // Steps that fail, because a name is used or a path is too long, are left out.
            let done = match what {
                Step::Directory => from.mkdir(&path, true),
                _ if from.stat(&path, false).is_ok() => continue,
                Step::File(bytes) => from.write(&path, bytes, false),
                Step::Sparse(at, bytes) => {
                    let options = crate::OpenOptions { write: true, ..Default::default() };
                    let Ok((file, _)) = from.open(&path, options) else { continue };
                    from.write_open(&file, (*at).into(), bytes).expect("written");
                    from.close(&file);
                    Ok(())
                }
                Step::Symlink(target) => from.symlink(target, &path),
                Step::Link(of) if !files.is_empty() => from.link(of.get(&files[..]).as_str(), &path),
                Step::Link(_) => continue,
            };
            if done.is_err() {
                continue;
            }
            if matches!(what, Step::File(_) | Step::Sparse(..)) {
                files.push(path.clone());
            }
            if !matches!(what, Step::Symlink(_)) {
                made.push((path, *mode, *mtime));
            }
        }
        for (path, mode, mtime) in made.iter().rev() {
            from.chmod(path, *mode, true).expect("mode");
            from.utimes(path, Some(0), Some(*mtime), true).expect("times");
        }
        let archive = pack(&from, "/workspace/t");
        prop_assert_eq!(archive.len() % 512, 0);
        unpack(&to, "/workspace/t", &archive, piece).expect("unpacked");
        prop_assert_eq!(state(&from, "/workspace/t"), state(&to, "/workspace/t"));
        prop_assert_eq!(&pack(&to, "/workspace/t"), &archive, "a second export has equal bytes");
        // A second import replaces the existing files.
        unpack(&to, "/workspace/t", &archive, 1_000).expect("unpacked again");
        prop_assert_eq!(state(&from, "/workspace/t"), state(&to, "/workspace/t"));
    }
}

#[test]
fn exports_one_file_without_storing_its_holes() {
    let (from, to) = (kernel(), kernel());
    let (from, to) = (from.embedder_files(), to.embedder_files());
    let (file, _) = from.open("/workspace/f", crate::OpenOptions { write: true, ..Default::default() }).expect("made");
    from.write_open(&file, 1 << 40, b"end").expect("written");
    from.close(&file);
    let archive = pack(&from, "/workspace/f");
    assert!(archive.len() < 100_000, "{}", archive.len());
    unpack(&to, "/tmp", &archive, 512).expect("unpacked");
    assert_eq!(to.stat("/tmp/f", false).expect("the file exists").size, (1 << 40) + 3);
    assert_eq!(to.read("/tmp/f", 1 << 40, 10).expect("read").0, b"end");
}

#[test]
fn exports_a_valid_archive_while_files_change() {
    let from = kernel();
    let embedder = from.embedder_files();
    for name in ["a", "b", "c"] {
        embedder.write(&format!("/workspace/t/{name}"), &[7; 50_000], false).expect("written");
    }
    let mut archive = embedder.export("/workspace/t").expect("the directory exists");
    let mut bytes = embedder.read_archive(&mut archive, 2_000).expect("read");
    embedder.write("/workspace/t/a", b"short", false).expect("written");
    embedder.remove("/workspace/t/b", false).expect("removed");
    loop {
        let piece = embedder.read_archive(&mut archive, 2_000).expect("read");
        if piece.is_empty() {
            break;
        }
        bytes.extend_from_slice(&piece);
    }
    unpack(&embedder, "/tmp/t", &bytes, 1_000).expect("the archive is complete");
    assert_eq!(embedder.list("/tmp/t").expect("listed").len(), 2);
    assert_eq!(embedder.stat("/tmp/t/a", true).expect("the file exists").size, 50_000);
}

#[test]
fn exports_the_root_without_proc_and_devices() {
    let from = kernel();
    let embedder = from.embedder_files();
    embedder.write("/workspace/f", b"f", false).expect("written");
    let bytes = pack(&embedder, "/");
    unpack(&embedder, "/tmp/all", &bytes, 4_096).expect("unpacked");
    assert!(embedder.stat("/tmp/all/workspace/f", true).is_ok());
    assert!(embedder.stat("/tmp/all/proc", true).is_err());
    assert!(embedder.stat("/tmp/all/dev/null", false).is_err());
}
