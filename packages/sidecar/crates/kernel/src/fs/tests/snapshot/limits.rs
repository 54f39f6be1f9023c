//! Tests of restores with lower limits: the error names the exceeded limit.

use super::*;
use coldframe_abi::system_calls::FileCall;

fn refused(saved: &KernelSnapshot, limits: Limits) -> (&'static str, u64) {
    match (RestoreOptions { limits, ..RestoreOptions::default() }).restore(saved).err() {
        Some(Error::ResourceExhausted { resource, limit }) => (resource, limit),
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_the_limit_that_a_restore_exceeds() {
    let mut guest = Guest::new(Limits::default());
    guest.write_file("/tmp/f", &[7; 10_000]);
    let fd = (0..5).map(|_| open(&mut guest, "/tmp/f", 0)).max().expect("some");
    guest.plain(FileCall::Watch, &["/tmp".into(), 0.into()]);
    let text = open(&mut guest, "/proc/meminfo", 0);
    assert!(read(&mut guest, text, 10).is_ok());
    let saved = snapshot(&[&guest]);
    let wide = Limits::default();
    assert_eq!(refused(&saved, Limits { filesystem_bytes: 9_999, ..wide }), ("filesystem bytes", 9_999));
    assert_eq!(refused(&saved, Limits { inodes: 0, ..wide }), ("inodes", 0));
    assert_eq!(refused(&saved, Limits { watches: 0, ..wide }), ("watches", 0));
    let open = text as u64 + 1;
    assert_eq!(refused(&saved, Limits { descriptors: open - 1, ..wide }), ("descriptors of a process", open - 1));
    assert_eq!(refused(&saved, Limits { kernel_bytes: 300, ..wide }), ("kernel bytes", 300));
    let limits = Limits { filesystem_bytes: 10_000, inodes: 1, watches: 1, descriptors: open, ..wide };
    let mut other = RestoreOptions { limits, ..RestoreOptions::default() }.only(&saved);
    assert_eq!(other.write_file("/tmp/more", b""), -24, "no descriptor is left");
    other.plain(FileCall::Close, &[fd.into()]);
    assert_eq!(other.write_file("/tmp/more", b""), -28, "the new limits hold");
}

#[test]
fn a_copy_counts_its_present_use_as_its_highest() {
    let mut guest = Guest::new(Limits::default());
    guest.write_file("/tmp/f", &[7; 10_000]);
    guest.write_file("/tmp/g", &[7; 10_000]);
    guest.plain(FileCall::Unlink, &["/tmp/g".into()]);
    let high = |guest: &Guest| guest.program.process().kernel.files.lock().marks[0].high();
    let other = copy(&guest);
    assert_eq!((high(&guest), high(&other)), (20_000, 10_000));
}
