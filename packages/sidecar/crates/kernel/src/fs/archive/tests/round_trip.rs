//! What is packed and unpacked again is the same tree, whatever is in it and whatever pieces it comes in.

use super::{kernel, pack, state, unpack};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Directory,
    File(Vec<u8>),
    /// Bytes far from the beginning.
    Sparse(u32, Vec<u8>),
    Symlink(String),
    /// A further name of a file that was made before.
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
    fn a_tree_survives(steps in prop::collection::vec(step(), 0..12), piece in 1_usize..3_000) {
        let (from, to) = (kernel(), kernel());
        let (from, to) = (from.embedder_files(), to.embedder_files());
        from.mkdir("/workspace/t", true).expect("made");
        let (mut files, mut made): (Vec<String>, Vec<_>) = (Vec::new(), Vec::new());
        for (names, what, mode, mtime) in &steps {
            let path = format!("/workspace/t/{}", names.join("/"));
            // Steps that cannot be done (a name is taken, a path too long) are left out.
            let done = match what {
                Step::Directory => from.mkdir(&path, true),
                _ if from.stat(&path, false).is_ok() => continue,
                Step::File(bytes) => from.write(&path, bytes, false),
                Step::Sparse(at, bytes) => {
                    let Ok((file, _)) = from.open(&path, crate::OpenOptions { write: true, ..Default::default() }) else { continue };
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
        prop_assert_eq!(&pack(&to, "/workspace/t"), &archive, "and packs to the same bytes");
        // Once more over what is there.
        unpack(&to, "/workspace/t", &archive, 1_000).expect("unpacked again");
        prop_assert_eq!(state(&from, "/workspace/t"), state(&to, "/workspace/t"));
    }
}

#[test]
fn holes_cost_nothing_and_one_file_is_an_archive_too() {
    let (from, to) = (kernel(), kernel());
    let (from, to) = (from.embedder_files(), to.embedder_files());
    let (file, _) = from.open("/workspace/f", crate::OpenOptions { write: true, ..Default::default() }).expect("made");
    from.write_open(&file, 1 << 40, b"end").expect("written");
    from.close(&file);
    let archive = pack(&from, "/workspace/f");
    assert!(archive.len() < 100_000, "{}", archive.len());
    unpack(&to, "/tmp", &archive, 512).expect("unpacked");
    assert_eq!(to.stat("/tmp/f", false).expect("there").size, (1 << 40) + 3);
    assert_eq!(to.read("/tmp/f", 1 << 40, 10).expect("read").0, b"end");
}

#[test]
fn what_changes_while_it_is_packed_does_no_harm() {
    let from = kernel();
    let outside = from.embedder_files();
    for name in ["a", "b", "c"] {
        outside.write(&format!("/workspace/t/{name}"), &[7; 50_000], false).expect("written");
    }
    let mut archive = outside.export("/workspace/t").expect("it is there");
    let mut bytes = outside.read_archive(&mut archive, 2_000).expect("read");
    outside.write("/workspace/t/a", b"short", false).expect("written");
    outside.remove("/workspace/t/b", false).expect("removed");
    loop {
        let piece = outside.read_archive(&mut archive, 2_000).expect("read");
        if piece.is_empty() {
            break;
        }
        bytes.extend_from_slice(&piece);
    }
    unpack(&outside, "/tmp/t", &bytes, 1_000).expect("it is a whole archive");
    assert_eq!(outside.list("/tmp/t").expect("listed").len(), 2);
    assert_eq!(outside.stat("/tmp/t/a", true).expect("there").size, 50_000);
}

#[test]
fn the_whole_box_is_packed_without_what_is_made_up() {
    let from = kernel();
    let outside = from.embedder_files();
    outside.write("/workspace/f", b"f", false).expect("written");
    let bytes = pack(&outside, "/");
    unpack(&outside, "/tmp/all", &bytes, 4_096).expect("unpacked");
    assert!(outside.stat("/tmp/all/workspace/f", true).is_ok());
    assert!(outside.stat("/tmp/all/proc", true).is_err());
    assert!(outside.stat("/tmp/all/dev/null", false).is_err());
}
