//! Tests of copies that are checked while they are made: every changed byte, every length, and
//! sources and targets that fail at any offset.

use super::*;
use coldframe_vm::{CopyError, HashedCopy};
use std::io::{self, Read, Write};

/// Makes a snapshot whose file has few pages.
fn small(core: &Core) -> Arc<FakeSnapshot> {
    let one = fake(core, "t", Some("n"), 1, 3);
    Arc::new(FakeSnapshot { info: one.info.clone(), state: STATE.to_vec(), memories: one.memories.clone() })
}

#[test]
fn an_import_refuses_every_changed_byte_and_every_length() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let from = open_store(&core, &scratch.0.join("from"));
    let one = small(&core);
    from.write(&one, Retention::No).expect("written");
    let exported = scratch.0.join("exported");
    from.export("t", "n", &exported).expect("exported");
    let whole = std::fs::read(&exported).expect("read");
    let store = open_store(&core, &scratch.0.join("to"));
    let file = std::fs::OpenOptions::new().write(true).open(&exported).expect("opened");
    let refused = |what: &str, at: usize| {
        let code = code(store.import("t", &exported));
        // The versions of both heads precede their digests.
        let is_version = (8..16).contains(&(at % PAGE)) && code == "ERR_SNAPSHOT_FOREIGN";
        assert!(is_version || code == "ERR_SNAPSHOT_DAMAGED", "{what} {at}: {code}");
    };
    for at in 0..whole.len() {
        file.write_all_at(&[whole[at] ^ (1 << (at % 8))], at as u64).expect("changed");
        refused("a bit of byte", at);
        file.write_all_at(&whole[at..=at], at as u64).expect("restored");
    }
    for len in (0..whole.len()).rev().step_by(7) {
        file.set_len(len as u64).expect("cut");
        refused("length", len);
    }
    assert_eq!(names_in(&scratch.0.join("to")), ["lock"], "no file remains");
    std::fs::write(&exported, [&whole[..], b"x"].concat()).expect("longer");
    refused("length", whole.len() + 1);
    std::fs::write(&exported, &whole).expect("restored");
    store.import("t", &exported).expect("imported");
    assert!(are_equal(&core, &store.get("t", "n").expect("opened"), &one));
}

/// A source and a target of which one fails after `left` bytes.
struct Failing<'a> {
    bytes: &'a [u8],
    left: usize,
    kind: io::ErrorKind,
}

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(self.left).min(self.bytes.len());
        if count == 0 && !buffer.is_empty() {
            return if self.kind == io::ErrorKind::UnexpectedEof { Ok(0) } else { Err(self.kind.into()) };
        }
        buffer[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes = &self.bytes[count..];
        self.left -= count;
        Ok(count)
    }
}

impl Write for Failing<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = buffer.len().min(self.left);
        self.left -= count;
        if count == 0 { Err(self.kind.into()) } else { Ok(count) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_copy_of_a_memory_reports_which_side_failed() {
    let core = crate::tests::core();
    let StoredMemory { image, snapshot, .. } = memory(&core, Pid::new(2), ImageKind::Node, 3, 9);
    let factory = core.installation().factory(image).expect("the image");
    let laid = snapshot.lay_out(&factory, None, Vec::new()).expect("laid out");
    let whole: Vec<u8> = laid.head.iter().chain(laid.pages().flatten()).copied().collect();
    let len = whole.len() as u64;
    let mut copied = Vec::new();
    let copy = VmSnapshot::copy(&factory, &mut HashedCopy::new(&mut &whole[..], &mut copied), len);
    assert_eq!((copy.ok(), &copied), (Some(laid.name), &whole));
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at % 8);
        let copy = VmSnapshot::copy(&factory, &mut HashedCopy::new(&mut &changed[..], &mut io::sink()), len);
        assert!(matches!(copy, Err(CopyError::Refused(_))), "byte {at}: {copy:?}");
    }
    for left in (0..whole.len()).step_by(61) {
        let of = |kind| Failing { bytes: &whole, left, kind };
        let copy = VmSnapshot::copy(&factory, &mut HashedCopy::new(&mut of(io::ErrorKind::Other), &mut io::sink()), len);
        assert!(matches!(copy, Err(CopyError::Read(_))), "{left}: {copy:?}");
        // The file became shorter during the copy.
        let copy = VmSnapshot::copy(&factory, &mut HashedCopy::new(&mut of(io::ErrorKind::UnexpectedEof), &mut io::sink()), len);
        assert!(matches!(copy, Err(CopyError::Refused(_))), "{left}: {copy:?}");
        let copy = VmSnapshot::copy(&factory, &mut HashedCopy::new(&mut &whole[..], &mut of(io::ErrorKind::StorageFull)), len);
        assert!(matches!(copy, Err(CopyError::Write(_))), "{left}: {copy:?}");
    }
    for wrong in [0, 1, 319, 320, len - 1, len + 1, u64::MAX] {
        let copy = VmSnapshot::copy(&factory, &mut HashedCopy::new(&mut &whole[..], &mut io::sink()), wrong);
        assert!(matches!(copy, Err(CopyError::Refused(_))), "{wrong}: {copy:?}");
    }
}

#[test]
fn an_export_of_a_file_needs_no_memory() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let store = open_store(&core, &scratch.0.join("store"));
    let one = fake(&core, "t", Some("n"), 4, 1);
    store.write(&one, Retention::No).expect("written");
    store.export("t", "n", &scratch.0.join("exported")).expect("exported");
    assert!(store.layers.memory.get("t", &one.info.id).is_none(), "the export opens no snapshot");
    store.delete("t", "n").expect("deleted");
    let again = scratch.0.join("again");
    assert_eq!(code(store.export("t", "n", &again)), "ERR_SNAPSHOT_NOT_FOUND");
    assert_eq!(code(store.export("t", &one.info.id, &again)), "ERR_SNAPSHOT_NOT_FOUND");
    assert!(!again.exists());
}

#[test]
fn an_imported_snapshot_is_opened_until_its_file_changes() {
    let (core, scratch) = (crate::tests::core(), Scratch::new());
    let (from, to) = (open_store(&core, &scratch.0.join("from")), open_store(&core, &scratch.0.join("to")));
    let one = fake(&core, "t", Some("n"), 4, 1);
    from.write(&one, Retention::No).expect("written");
    let exported = scratch.0.join("exported");
    from.export("t", "n", &exported).expect("exported");
    assert_eq!(to.import("t", &exported).map(|(_, stored)| stored), Ok(Stored::Disk));
    let held = to.layers.memory.get("t", &one.info.id).expect("the import has opened the snapshot").snapshot;
    assert!(Arc::ptr_eq(&held, &to.get("t", "n").expect("opened")) && are_equal(&core, &held, &one));
    let own = to.layers.folder.file("t", &one.info.id).expect("a name");
    std::fs::remove_file(&own).expect("removed");
    assert_eq!(code(to.get("t", &one.info.id)), "ERR_SNAPSHOT_NOT_FOUND");
    assert!(are_equal(&core, &held, &one), "a removed file does not affect its readers");
}
