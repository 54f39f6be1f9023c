//! Tests of the events that a watcher of files in memory receives. `mounts.rs` tests watches of
//! mounted folders.

use super::super::super::Kernel;
use super::{Arg, Guest};
use crate::limits::Limits;
use coldframe_abi::system_calls::FileCall;
use std::sync::Arc;

const RENAME: u8 = 1;
const CHANGE: u8 = 2;

/// Returns the batches of watch events: the operation, and the kinds and names of the events.
pub(super) fn watch_events(guest: &Guest) -> Vec<(u32, Vec<(u8, String)>)> {
    let events = guest.program.process().operations.take();
    let entries = |bytes: &[u8]| {
        let (mut all, mut rest) = (Vec::new(), bytes);
        while let [kind, 0, low, high, others @ ..] = rest {
            let (name, others) = others.split_at(usize::from(u16::from_le_bytes([*low, *high])));
            all.push((*kind, String::from_utf8_lossy(name).into_owned()));
            rest = others;
        }
        all
    };
    events.iter().map(|event| (event.operation.get(), entries(&event.bytes))).collect()
}

pub(super) fn watch(guest: &mut Guest, path: &str, flags: i64) -> u32 {
    let operation = guest.plain(FileCall::Watch, &[path.into(), flags.into()]);
    u32::try_from(operation).expect("an operation")
}

pub(super) fn one(kind: u8, name: &str) -> Vec<(u8, String)> {
    vec![(kind, name.to_owned())]
}

#[test]
fn a_watch_of_a_directory_reports_its_names_and_keeps_events_between_batches() {
    let mut guest = Guest::new(Limits::default());
    let first = watch(&mut guest, ".", 0);
    assert_eq!(watch_events(&guest), []);
    guest.write_file("a", b"text");
    guest.plain(FileCall::Rename, &["a".into(), "b".into()]);
    guest.plain(FileCall::Unlink, &["b".into()]);
    assert_eq!(watch_events(&guest), [(first, one(RENAME, "a"))], "the first change alone, because no call requests more");
    let second = watch(&mut guest, ".", 0);
    let rest = [(CHANGE, "a"), (RENAME, "a"), (RENAME, "b")].map(|(kind, name)| (kind, name.to_owned())).to_vec();
    let (operation, mut batch) = watch_events(&guest).remove(0);
    // The rename to `b` and the removal of `b` cause equal events in a row. The test merges equal
    // events.
    batch.dedup();
    assert_eq!((operation, batch), (second, rest));
    let third = watch(&mut guest, ".", 0);
    guest.plain(FileCall::Mkdir, &["/tmp/elsewhere".into(), 0o755.into()]);
    assert_eq!(watch_events(&guest), []);
    assert_eq!(guest.plain(FileCall::Unwatch, &[i64::from(third).into()]), 0);
    guest.write_file("c", b"");
    assert_eq!(watch_events(&guest), []);
    assert_eq!(guest.plain(FileCall::Unwatch, &[i64::from(third).into()]), -22);
    assert!(!guest.program.process().operations.are_under_way());
}

#[test]
fn a_watch_of_a_file_reports_its_own_name() {
    let mut guest = Guest::new(Limits::default());
    guest.write_file("f", b"text");
    watch(&mut guest, "/workspace/f", 0);
    guest.plain(FileCall::Chmod, &["f".into(), 0o600.into(), 1.into()]);
    assert_eq!(watch_events(&guest)[0].1, one(CHANGE, "f"));
    watch(&mut guest, "/workspace/f", 0);
    guest.plain(FileCall::Unlink, &["f".into()]);
    assert_eq!(watch_events(&guest)[0].1, one(RENAME, "f"));
    assert_eq!(guest.plain(FileCall::Watch, &["f".into(), 0.into()]), -2, "the file is removed");
}

#[test]
fn a_recursive_watch_reports_paths() {
    let mut guest = Guest::new(Limits::default());
    for name in ["a", "a/b"] {
        guest.plain(FileCall::Mkdir, &[name.into(), 0o755.into()]);
    }
    watch(&mut guest, "/workspace", 1);
    guest.write_file("a/b/c", b"");
    assert_eq!(watch_events(&guest)[0].1, one(RENAME, "a/b/c"));
}

#[test]
fn watches_are_limited_and_end_with_their_process() {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    let (mut one, mut other) = (Guest::of(&kernel, "/workspace"), Guest::of(&kernel, "/workspace"));
    for _ in 0..1_024 {
        watch(&mut one, ".", 0);
    }
    assert_eq!(one.plain(FileCall::Watch, &[".".into(), 0.into()]), -28);
    one.program.process().close();
    watch(&mut other, ".", 0);
    other.write_file("a", b"");
    assert_eq!(watch_events(&other).len(), 1);
    assert_eq!(watch_events(&one), []);
    assert_eq!(one.sys(FileCall::Watch, &["/".into(), Arg::Int(0)]).0.min(0), 0);
}
