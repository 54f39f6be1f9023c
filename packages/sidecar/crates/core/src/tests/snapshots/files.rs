//! Tests of VM snapshots in files: reading returns the written state, or an error with the reason.
//! The store's tests check that files are written completely.

use super::*;
use coldframe_vm::VmSnapshot;
use std::path::Path;

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coldframe-snapshots-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn written(guest: &mut Guest, path: &Path) -> coldframe_ids::Digest {
    let saved = guest.snapshot().saved;
    saved.write(&guest.factory, path, None, b"of the kernel".to_vec()).expect("written")
}

#[test]
fn a_program_restored_from_a_file_continues() {
    let core = core();
    let folder = Folder::new("back");
    let mut guest = Guest::start(&core);
    guest.eval("globalThis.n = 1; globalThis.data = Buffer.alloc(30 << 20, 7); setTimeout(() => {}, 1e6).unref()");
    let (first, second) = (folder.file("first"), folder.file("second"));
    let name = written(&mut guest, &first);
    let opened = VmSnapshot::open(&guest.factory, &first).expect("opened");
    assert_eq!((opened.name, opened.parent, &opened.added[..]), (name, None, &b"of the kernel"[..]));
    assert!(opened.bytes > 30 << 20 && opened.bytes < 36 << 20, "only pages that differ from the image: {}", opened.bytes);
    assert_eq!(
        opened.snapshot.own_bytes(&guest.factory).next_multiple_of(1 << 20),
        (opened.bytes - 8_192).next_multiple_of(1 << 20)
    );
    // The file is read in another core, as after a restart. The file may be unlinked after the
    // rollback, because a snapshot can be deleted while programs use its pages.
    let other = super::core();
    let mut copy = Guest::start(&other);
    let opened = VmSnapshot::open(&copy.factory, &first).expect("opened");
    drop(copy.rollback(&opened.snapshot));
    std::fs::remove_file(&first).expect("removed");
    assert_eq!(copy.eval("console.log(++n, data.every((byte) => byte === 7))"), "2 true");
    // A snapshot of a restored program does not depend on the first file.
    let saved = copy.snapshot().saved;
    let child = saved.write(&copy.factory, &second, Some(opened.name), Vec::new()).expect("written");
    drop((copy, saved, opened));
    let opened = VmSnapshot::open(&guest.factory, &second).expect("opened");
    assert_eq!((opened.name, opened.parent), (child, Some(name)));
    drop(guest.rollback(&opened.snapshot));
    assert_eq!(guest.eval("console.log(++n, data.length)"), "3 31457280");
}

#[test]
fn torn_and_changed_files_are_damaged_and_files_of_other_builds_are_foreign() {
    let core = core();
    let folder = Folder::new("torn");
    let mut guest = Guest::start(&core);
    let path = folder.file("whole");
    written(&mut guest, &path);
    let whole = std::fs::read(&path).expect("the file");
    let code_of = |bytes: &[u8]| {
        let path = folder.file("changed");
        std::fs::write(&path, bytes).expect("write");
        VmSnapshot::open(&guest.factory, &path).err().map(|error| error.code())
    };
    assert_eq!(code_of(&whole), None);
    let damaged = Some("ERR_SNAPSHOT_DAMAGED");
    for len in [0, 7, 100, 319, 320, 4_095, 4_096, whole.len() / 2, whole.len() - 1] {
        assert_eq!(code_of(&whole[..len]), damaged, "{len} bytes");
    }
    let mut long = whole.clone();
    long.push(0);
    assert_eq!(code_of(&long), damaged);
    let mut seed = 7_u64;
    for _ in 0..60 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut changed = whole.clone();
        let at = (seed >> 20) as usize % whole.len();
        changed[at] ^= 1 << (seed % 8);
        let code = code_of(&changed);
        // The versions precede the digest. A file of another build is therefore foreign, not
        // damaged.
        assert!(code == damaged || ((8..16).contains(&at) && code == Some("ERR_SNAPSHOT_FOREIGN")), "byte {at}: {code:?}");
    }
    // A machine can leave zero pages at the end of a file after a power failure.
    let mut torn = whole.clone();
    let from = torn.len() - 8 * 4_096;
    torn[from..].fill(0);
    assert_eq!(code_of(&torn), damaged);
    let missing = VmSnapshot::open(&guest.factory, &folder.file("missing")).map(|_| ());
    assert_eq!(missing.err().map(|error| error.code()), Some("ERR_SNAPSHOT_FILE"));
    // A valid file of the image for `node` is foreign to the shell's image.
    let shell = core.installation().factory(crate::installation::ImageKind::Shell).expect("the shell");
    let foreign = VmSnapshot::open(&shell, &path).map(|_| ());
    assert_eq!(foreign.err().map(|error| error.code()), Some("ERR_SNAPSHOT_FOREIGN"));
}
