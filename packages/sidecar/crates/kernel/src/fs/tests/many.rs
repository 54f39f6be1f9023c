//! Tests of large cases: sparse files, directories with thousands of names, and threads that make
//! equal calls at once.

use super::super::super::Kernel;
use super::{Arg, Guest};
use crate::limits::Limits;
use coldframe_abi::system_calls::FileCall;
use std::sync::Arc;

const OPEN: FileCall = FileCall::Open;
const CLOSE: FileCall = FileCall::Close;
const READ: FileCall = FileCall::Read;
const WRITE: FileCall = FileCall::Write;

#[test]
fn a_hole_costs_nothing_and_reads_as_zeros() {
    let kernel = Arc::new(Kernel::new(&Limits { filesystem_bytes: 100_000, ..Limits::default() }));
    let mut guest = Guest::of(&kernel, "/workspace");
    let fd = guest.plain(OPEN, &["sparse".into(), 0o102.into(), 0o644.into()]);
    assert_eq!(guest.plain(WRITE, &[fd.into(), "end".into(), (1 << 40).into()]), 3);
    let stat = guest.stat("sparse", true).expect("the file exists");
    assert_eq!((stat[8], stat[9]), (((1_u64 << 40) + 3) as f64, 8.0), "a terabyte long, one block of 4,096 bytes");
    assert_eq!(guest.sys(READ, &[fd.into(), Arg::Room(4), ((1 << 40) - 2).into()]), (4, b"\0\0en".to_vec()));
    assert_eq!(guest.plain(FileCall::Ftruncate, &[fd.into(), (1 << 50).into()]), 0);
    assert_eq!(guest.plain(FileCall::Ftruncate, &[fd.into(), 1.into()]), 0);
    assert_eq!(guest.stat("sparse", true).expect("the file exists")[9], 0.0);
    assert_eq!(guest.write_file("other", &[7; 99_000]), 0, "a cut file frees its space");
}

#[test]
fn lists_ten_thousand_names_while_they_are_removed() {
    let mut guest = Guest::new(Limits::default());
    assert_eq!(guest.plain(FileCall::Mkdir, &["many".into(), 0o755.into()]), 0);
    for n in 0..10_000 {
        assert_eq!(guest.write_file(&format!("many/{n:05}"), b""), 0);
    }
    let names = guest.list("many", 4_096).expect("a directory");
    assert_eq!(names.len(), 10_000);
    assert!(names.iter().enumerate().all(|(at, (name, kind))| *name == format!("{at:05}") && *kind == 1));
    // `rm -r` removes names between two batches. The listing must neither skip nor repeat a name.
    let fd = guest.plain(OPEN, &["many".into(), 0o200_000.into(), 0.into()]);
    let mut removed = 0;
    loop {
        let (used, bytes) = guest.sys(FileCall::Readdir, &[fd.into(), Arg::Room(1_000)]);
        if used == 0 {
            break;
        }
        let mut rest = &bytes[..used as usize];
        while let [_, _, len, _, others @ ..] = rest {
            let (name, others) = others.split_at(usize::from(*len));
            let path = format!("many/{}", String::from_utf8_lossy(name));
            assert_eq!(guest.plain(FileCall::Unlink, &[path.as_str().into()]), 0, "{path}");
            removed += 1;
            rest = others;
        }
    }
    assert_eq!((removed, guest.plain(FileCall::Rmdir, &["many".into()])), (10_000, 0));
}

#[test]
fn one_of_many_creates_a_file_and_no_append_is_lost() {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    let made: i64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8_u8)
            .map(|number| {
                let kernel = &kernel;
                scope.spawn(move || {
                    let mut guest = Guest::of(kernel, "/workspace");
                    let mut won = 0;
                    for round in 0..200 {
                        won += i64::from(
                            guest.plain(OPEN, &[format!("once{round}").as_str().into(), 0o302.into(), 0o644.into()]) >= 0,
                        );
                        let fd = guest.plain(OPEN, &["log".into(), 0o2101.into(), 0o644.into()]);
                        assert_eq!(guest.plain(WRITE, &[fd.into(), Arg::Bytes(&[number; 10]), (-1).into()]), 10);
                        guest.plain(CLOSE, &[fd.into()]);
                    }
                    won
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(made, 200, "each file was made once");
    let log = Guest::of(&kernel, "/workspace").read_file("log").expect("the file exists");
    assert_eq!(log.len(), 8 * 200 * 10);
    assert!(log.chunks(10).all(|entry| entry.iter().all(|byte| *byte == entry[0])), "no append is torn");
}
