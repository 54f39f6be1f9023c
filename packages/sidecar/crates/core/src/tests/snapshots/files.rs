//! Saved VMs on disk: what comes back is what was written, or an error that says why not. How files come to be whole is tested with the store.

use super::*;
use crate::vm::saved::Saved;
use std::path::Path;

/// A folder that is gone when the test ends.
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
    let saved = guest.save().saved;
    saved.write(&guest.factory, path, None, b"of the kernel".to_vec()).expect("written")
}

#[test]
fn what_comes_back_from_disk_goes_on() {
    let core = core();
    let folder = Folder::new("back");
    let mut guest = Guest::start(&core);
    guest.eval("globalThis.n = 1; globalThis.data = Buffer.alloc(30 << 20, 7); setTimeout(() => {}, 1e6).unref()");
    let (first, second) = (folder.file("first"), folder.file("second"));
    let name = written(&mut guest, &first);
    let opened = Saved::open(&guest.factory, &first).expect("opened");
    assert_eq!((opened.name, opened.parent, &opened.added[..]), (name, None, &b"of the kernel"[..]));
    assert!(opened.bytes > 30 << 20 && opened.bytes < 36 << 20, "only what differs from the image: {}", opened.bytes);
    assert_eq!(
        opened.saved.own_bytes(&guest.factory).next_multiple_of(1 << 20),
        (opened.bytes - 8_192).next_multiple_of(1 << 20)
    );
    // In another core, as after a restart; and the file's name may be gone, as when a snapshot is deleted while programs live on it.
    let other = super::core();
    let mut copy = Guest::start(&other);
    let opened = Saved::open(&copy.factory, &first).expect("opened");
    drop(copy.rollback(&opened.saved));
    std::fs::remove_file(&first).expect("removed");
    assert_eq!(copy.eval("console.log(++n, data.every((byte) => byte === 7))"), "2 true");
    // A save of what came from a file stands for itself.
    let saved = copy.save().saved;
    let child = saved.write(&copy.factory, &second, Some(opened.name), Vec::new()).expect("written");
    drop((copy, saved, opened));
    let opened = Saved::open(&guest.factory, &second).expect("opened");
    assert_eq!((opened.name, opened.parent), (child, Some(name)));
    drop(guest.rollback(&opened.saved));
    assert_eq!(guest.eval("console.log(++n, data.length)"), "3 31457280");
}

#[test]
fn torn_and_changed_files_are_damaged_and_others_are_foreign() {
    let core = core();
    let folder = Folder::new("torn");
    let mut guest = Guest::start(&core);
    let path = folder.file("whole");
    written(&mut guest, &path);
    let whole = std::fs::read(&path).expect("the file");
    let code_of = |bytes: &[u8]| {
        let path = folder.file("changed");
        std::fs::write(&path, bytes).expect("write");
        Saved::open(&guest.factory, &path).err().map(|error| error.code())
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
        // The versions stand before the digest: what another build wrote is not called damaged.
        assert!(code == damaged || ((8..16).contains(&at) && code == Some("ERR_SNAPSHOT_FOREIGN")), "byte {at}: {code:?}");
    }
    // Pages of zeros in place of the last ones, as a machine that has lost power leaves them.
    let mut torn = whole.clone();
    let from = torn.len() - 8 * 4_096;
    torn[from..].fill(0);
    assert_eq!(code_of(&torn), damaged);
    let missing = Saved::open(&guest.factory, &folder.file("missing")).map(|_| ());
    assert_eq!(missing.err().map(|error| error.code()), Some("ERR_SNAPSHOT_FILE"));
    // Of the shell's image: whole, and not for this one.
    let shell = core.shared().factory(&crate::kernel::processes::Image::Shell("sh".to_owned())).expect("the shell");
    let foreign = Saved::open(&shell, &path).map(|_| ());
    assert_eq!(foreign.err().map(|error| error.code()), Some("ERR_SNAPSHOT_FOREIGN"));
}
