//! Tests of app file systems whose replies have any content: the results that a program receives,
//! and the requests that the embedder receives.

use super::super::super::{Exchange, Kernel};
use super::{Arg, Guest};
use crate::fs::options::FileSystemOptions;
use crate::limits::Limits;
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Errno;
use proptest::prelude::*;
use std::sync::Arc;

fn guest() -> Guest {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    let system = FileSystemOptions { guest_path: "/app".to_owned(), number: 7, read_only: false };
    kernel.embedder_files().furnish(&[], &[system], &[], "/workspace").expect("mounted");
    Guest::of(&kernel, "/app")
}

/// Makes a call. `answer` returns the reply to each request, by name and path. Returns the call's
/// result, the bytes of the call's buffer, and the requests. Gives up after 100 rounds, with
/// `i64::MIN` as the result.
fn call(
    guest: &mut Guest,
    number: impl Into<u32> + Copy,
    arguments: &[Arg<'_>],
    mut answer: impl FnMut(&str, &str) -> Result<Vec<u8>, Errno>,
) -> (i64, Vec<u8>, Vec<String>) {
    let (mut exchange, mut asked) = (Exchange::new(&Arc::default()), Vec::new());
    for _ in 0..100 {
        let (result, bytes) = exchange.round(|| guest.sys(number, arguments));
        let Some(question) = exchange.wanted() else { return (result, bytes, asked) };
        assert_eq!(question.input[..4], 7_u32.to_le_bytes(), "the number of the file system");
        let len = u32::from_le_bytes(question.input[4..8].try_into().expect("four bytes")) as usize;
        let path = String::from_utf8(question.input[8..8 + len].to_vec()).expect("text");
        asked.push(format!("{} {path}", question.name));
        let answered = answer(question.name, &path);
        exchange.answer(question, answered);
    }
    (i64::MIN, Vec::new(), asked)
}

fn stat(kind: u8, size: u64) -> Vec<u8> {
    let numbers = [&0o644_u32.to_le_bytes()[..], &size.to_le_bytes(), &[0; 32], &5_u64.to_le_bytes(), &1_u32.to_le_bytes()];
    [&[kind][..], &numbers.concat()].concat()
}

#[test]
fn a_call_requests_what_it_needs_and_changes_files_once() {
    let mut guest = guest();
    let tree = |name: &str, path: &str| match (name, path) {
        ("stat", "/d") => Ok(stat(2, 0)),
        ("stat", "/d/link") => Ok(stat(3, 4)),
        ("stat", "/d/file") => Ok(stat(1, 3)),
        ("readlink", _) => Ok(b"file".to_vec()),
        ("read", _) => Ok(b"abc".to_vec()),
        ("stat", _) => Err(Errno::ENOENT),
        _ => Ok(Vec::new()),
    };
    let (result, _, asked) = call(&mut guest, FileCall::Stat, &["d/link".into(), Arg::Room(144), 1.into()], tree);
    assert_eq!((result, asked), (0, ["stat /d", "stat /d/link", "readlink /d/link", "stat /d/file"].map(str::to_owned).to_vec()));
    let (result, _, asked) = call(&mut guest, FileCall::Mkdir, &["d/new".into(), 0o755.into()], tree);
    assert_eq!((result, asked), (0, ["stat /d", "stat /d/new", "mkdir /d/new"].map(str::to_owned).to_vec()));
    let (fd, _, asked) = call(&mut guest, FileCall::Open, &["d/new".into(), 0o102.into(), 0o600.into()], tree);
    assert!(fd >= 3 && asked.ends_with(&["create /d/new".to_owned()]), "{fd} {asked:?}");
    let (count, bytes, _) = call(&mut guest, FileCall::Read, &[fd.into(), Arg::Room(10), (-1).into()], tree);
    assert_eq!((count, &bytes[..3]), (3, &b"abc"[..]));
    let (_, _, asked) = call(&mut guest, FileCall::Read, &[fd.into(), Arg::Room(10), (-1).into()], |_, _| Err(Errno::ETIMEDOUT));
    assert_eq!(asked, ["read /d/new"]);
    assert_eq!(guest.plain(FileCall::Close, &[fd.into()]), 0);
    assert_eq!(
        call(&mut guest, FileCall::Rename, &["d".into(), "d/x".into()], tree).0,
        -22,
        "a directory cannot move into itself"
    );
    assert_eq!(
        call(&mut guest, FileCall::Rename, &["d/file".into(), "/tmp/x".into()], tree).0,
        -18,
        "a rename cannot leave the file system"
    );
    assert_eq!(call(&mut guest, FileCall::Link, &["d/file".into(), "d/new".into()], tree).0, -95);
    assert_eq!(call(&mut guest, FileCall::Watch, &["d".into(), 0.into()], tree).0, -38);
    assert_eq!(call(&mut guest, FileCall::Stat, &["\u{fffd}".into(), Arg::Room(144), 1.into()], tree).0, -2);
}

#[test]
fn a_read_only_file_system_gets_no_request_for_a_change() {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    let system = FileSystemOptions { guest_path: "/app".to_owned(), number: 7, read_only: true };
    kernel.embedder_files().furnish(&[], &[system], &[], "/workspace").expect("mounted");
    let mut guest = Guest::of(&kernel, "/app");
    for (number, arguments) in [
        (FileCall::Open, vec!["new".into(), 0o101.into(), 0o644.into()]),
        (FileCall::Mkdir, vec!["new".into(), 0o755.into()]),
        (FileCall::Symlink, vec!["target".into(), "new".into()]),
    ] {
        let (result, _, asked) = call(&mut guest, number, &arguments, |_, _| Err(Errno::ENOENT));
        assert_eq!((result, asked.iter().all(|one| one.starts_with("stat"))), (-30, true), "{number:?}");
    }
}

#[test]
fn embedder_files_cannot_reach_an_app_file_system() {
    let guest = guest();
    let embedder = guest.program.process().kernel.embedder_files();
    assert_eq!(embedder.read("/app/f", 0, 10).map_err(|error| error.code()), Err("EOPNOTSUPP"));
    assert_eq!(embedder.stat("/app/f", true).map_err(|error| error.code()), Err("EOPNOTSUPP"));
    assert!(embedder.stat("/app", true).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any reply, the call returns a number or an error number.
    #[test]
    fn forged_replies_do_no_harm(
        declared in prop::sample::select(FileCall::DECLARATIONS),
        answers in prop::collection::vec(
            (any::<bool>(), prop::collection::vec(any::<u8>(), 0..80), 1_u8..4, any::<u64>()),
            1..30,
        ),
    ) {
        let mut guest = guest();
        let mut next = answers.iter().cycle();
        let arguments = [Arg::Bytes(b"a/b"), Arg::Room(300), 0.into(), 0.into(), 0.into(), 0.into()];
        let (result, _, _) = call(&mut guest, declared.number, &arguments, |_, _| {
            let (honest, bytes, kind, size) = next.next().expect("there is always one more");
            if *honest { Ok(stat(*kind, *size)) } else { Ok(bytes.clone()) }
        });
        prop_assert!(result == i64::MIN || result > -4_096, "{}", result);
        prop_assert!(guest.stat("/etc/hosts", true).is_ok());
    }
}
