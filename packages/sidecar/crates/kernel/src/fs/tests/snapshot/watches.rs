//! Tests that a program's watches continue in a restored runtime. The embedder's watches do not
//! continue.

use super::super::watching::{one, watch, watch_events};
use super::*;
use coldframe_abi::system_calls::FileCall;

const RENAME: u8 = 1;
const CHANGE: u8 = 2;

#[test]
fn a_waiting_watch_reports_only_changes_of_its_runtime() {
    let mut guest = Guest::new(Limits::default());
    let operation = watch(&mut guest, "/workspace", 1);
    guest.plain(FileCall::Mkdir, &["/workspace/d".into(), 0o755.into()]);
    let first = watch_events(&guest);
    assert_eq!(first, [(operation, one(RENAME, "d"))]);
    let operation = watch(&mut guest, "/workspace", 1);
    let mut other = copy(&guest);
    assert!(other.program.process().operations.are_under_way());
    other.write_file("/workspace/d/f", b"");
    assert_eq!(watch_events(&other), [(operation, one(RENAME, "d/f"))]);
    assert_eq!(watch_events(&guest), []);
    // The restored runtime has the watch: a later call continues the watch, and another call ends
    // the watch.
    let next = watch(&mut other, "/workspace", 1);
    assert_ne!(next, operation);
    assert_eq!(other.plain(FileCall::Unwatch, &[i64::from(next).into()]), 0);
    assert_eq!(other.program.process().kernel.files.lock().watches(), 0);
}

#[test]
fn a_copy_reports_the_events_that_were_kept() {
    let mut guest = Guest::new(Limits::default());
    watch(&mut guest, ".", 0);
    guest.write_file("a", b"text");
    guest.write_file("b", b"");
    let mut other = copy(&guest);
    let batches = |guest: &mut Guest| {
        let first = watch_events(guest);
        watch(guest, ".", 0);
        (first, watch_events(guest))
    };
    let of_copy = batches(&mut other);
    assert_eq!(of_copy, batches(&mut guest));
    assert_eq!(of_copy.1[0].1, [(CHANGE, "a".to_owned()), (RENAME, "b".to_owned())]);
    assert_eq!(guest.program.process().kernel.files.lock().watches(), 1, "the next call uses the watch again");
    assert_eq!(other.program.process().kernel.files.lock().watches(), 1);
}

#[test]
fn a_watch_holds_its_file() {
    let mut guest = Guest::new(Limits::default());
    guest.write_file("f", b"bytes");
    watch(&mut guest, "f", 0);
    guest.plain(FileCall::Unlink, &["f".into()]);
    watch_events(&guest);
    let other = copy(&guest);
    assert_eq!(used(&other), (5, 1));
    other.program.process().close();
    assert_eq!(used(&other), (0, 0));
}

#[test]
fn a_copy_lacks_the_embedders_watches() {
    let guest = Guest::new(Limits::default());
    let kernel = &guest.program.process().kernel;
    let (own, _) = kernel.embedder_files().watch("/tmp", false, false).expect("room");
    let other = copy(&guest);
    assert_eq!((kernel.files.lock().watches(), other.program.process().kernel.files.lock().watches()), (1, 0));
    kernel.embedder_files().unwatch(&own);
}
