//! Tests of duplicated descriptors, of status flags, and of paths that start at a descriptor.

use super::{Arg, Guest};
use crate::ids::Fd;
use crate::limits::Limits;
use crate::{Start, call};
use coldframe_abi::system_calls::{FileCall, ProcessCall, SocketCall};
use coldframe_error::Errno;

const READ_WRITE_CREATE: i64 = 0o102;
const APPEND: i64 = 0o2000;
const NON_BLOCKING: i64 = 0o4000;
const DIRECTORY: i64 = 0o200_000;

fn guest() -> Guest {
    Guest::new(Limits { descriptors: 8, ..Limits::default() })
}

fn open(guest: &mut Guest, path: &str, flags: i64) -> i64 {
    guest.plain(FileCall::Open, &[path.into(), flags.into(), 0o666.into()])
}

/// Makes a call of two paths, each relative to a start.
fn at(guest: &Guest, number: FileCall, starts: [Start; 2], paths: [&str; 2]) -> crate::Answer {
    let mut memory = paths.concat().into_bytes();
    let [first, second] = paths.map(|path| path.len() as i64);
    let arguments = crate::Arguments::new([0, first, first, second, 0, 0, 0, 0], &mut memory);
    call(&guest.program, number.into(), &mut arguments.relative_to(starts))
}

fn start(fd: i64) -> Start {
    Start::Descriptor(Fd::from_guest(fd).expect("a descriptor"))
}

#[test]
fn a_duplicate_shares_the_position_and_outlives_the_original() {
    let mut guest = guest();
    let fd = open(&mut guest, "f", READ_WRITE_CREATE);
    assert_eq!(guest.plain(FileCall::Duplicate, &[fd.into(), 0.into()]), fd + 1);
    assert_eq!(guest.plain(FileCall::Duplicate, &[fd.into(), 6.into()]), 6);
    assert_eq!(guest.plain(FileCall::Write, &[fd.into(), Arg::Bytes(b"abc"), (-1).into()]), 3);
    assert_eq!(guest.plain(FileCall::Lseek, &[6.into(), 0.into(), 1.into()]), 3);
    assert_eq!(guest.plain(FileCall::Close, &[fd.into()]), 0);
    assert_eq!(guest.plain(FileCall::Write, &[6.into(), Arg::Bytes(b"d"), (-1).into()]), 1);
    assert_eq!(guest.read_file("f"), Ok(b"abcd".to_vec()));
}

#[test]
fn duplicates_stay_within_the_limit() {
    let mut guest = guest();
    let fd = open(&mut guest, "f", READ_WRITE_CREATE);
    let duplicate = |guest: &mut Guest, lowest: i64| guest.plain(FileCall::Duplicate, &[fd.into(), lowest.into()]);
    assert_eq!(duplicate(&mut guest, 8), Errno::EINVAL.negative());
    assert_eq!(duplicate(&mut guest, -1), Errno::EINVAL.negative());
    assert_eq!(duplicate(&mut guest, 7), 7);
    assert_eq!(duplicate(&mut guest, 7), Errno::EMFILE.negative());
    assert_eq!(guest.plain(FileCall::DuplicateTo, &[fd.into(), 8.into()]), Errno::EBADF.negative());
    assert_eq!(guest.plain(FileCall::DuplicateTo, &[5.into(), 6.into()]), Errno::EBADF.negative());
    for lowest in 0..3 {
        assert_eq!(duplicate(&mut guest, 0), fd + 1 + lowest);
    }
    assert_eq!(duplicate(&mut guest, 0), Errno::EMFILE.negative());
}

#[test]
fn a_duplicate_over_a_socket_ends_the_socket() {
    let mut guest = guest();
    let (_, pair) = guest.sys(SocketCall::Pair, &[Arg::Room(8)]);
    let [one, other] = [&pair[..4], &pair[4..]].map(|fd| i64::from(u32::from_le_bytes(fd.try_into().expect("four bytes"))));
    let fd = open(&mut guest, "f", READ_WRITE_CREATE);
    assert_eq!(guest.plain(FileCall::DuplicateTo, &[one.into(), one.into()]), one);
    assert_eq!(guest.sys(FileCall::Read, &[other.into(), Arg::Room(1), (-1).into()]).0, Errno::EAGAIN.negative());
    assert_eq!(guest.plain(FileCall::DuplicateTo, &[fd.into(), one.into()]), one);
    assert_eq!(guest.sys(FileCall::Read, &[other.into(), Arg::Room(1), (-1).into()]).0, 0);
    assert_eq!(guest.plain(FileCall::Write, &[one.into(), Arg::Bytes(b"x"), (-1).into()]), 1);
}

#[test]
fn a_wait_for_a_socket_continues_while_the_program_has_a_descriptor() {
    let mut guest = guest();
    let (_, pair) = guest.sys(SocketCall::Pair, &[Arg::Room(8)]);
    let one = i64::from(u32::from_le_bytes(pair[..4].try_into().expect("four bytes")));
    let other = guest.plain(FileCall::Duplicate, &[one.into(), 0.into()]);
    let wait = guest.plain(SocketCall::Arm, &[one.into(), 1.into()]);
    let event = |guest: &mut Guest| guest.sys(ProcessCall::TakeEvent, &[wait.into(), Arg::Room(8)]);
    assert_eq!(guest.plain(FileCall::Close, &[other.into()]), 0);
    assert_eq!(event(&mut guest).0, Errno::EAGAIN.negative());
    assert_eq!(guest.plain(FileCall::Close, &[one.into()]), 0);
    let (len, bytes) = event(&mut guest);
    assert_eq!((len, &bytes[..4]), (4, &(Errno::EBADF.negative() as i32).to_le_bytes()[..]));
    assert_eq!(event(&mut guest).0, Errno::ENOENT.negative());
}

#[test]
fn status_flags_belong_to_the_description() {
    let mut guest = guest();
    let fd = open(&mut guest, "f", READ_WRITE_CREATE);
    let other = guest.plain(FileCall::Duplicate, &[fd.into(), 0.into()]);
    assert_eq!(guest.plain(FileCall::StatusFlags, &[fd.into()]), 2);
    let set = i64::from(u32::MAX);
    assert_eq!(guest.plain(FileCall::SetStatusFlags, &[fd.into(), set.into()]), 0);
    assert_eq!(guest.plain(FileCall::StatusFlags, &[other.into()]), 2 | APPEND | NON_BLOCKING);
    assert_eq!(guest.plain(FileCall::Write, &[fd.into(), Arg::Bytes(b"abc"), (-1).into()]), 3);
    assert_eq!(guest.plain(FileCall::Lseek, &[fd.into(), 0.into(), 0.into()]), 0);
    assert_eq!(guest.plain(FileCall::Write, &[fd.into(), Arg::Bytes(b"d"), (-1).into()]), 1);
    assert_eq!(guest.read_file("f"), Ok(b"abcd".to_vec()));
    assert_eq!(guest.plain(FileCall::SetStatusFlags, &[fd.into(), 0.into()]), 0);
    assert_eq!(guest.plain(FileCall::StatusFlags, &[other.into()]), 2);
    assert_eq!(guest.plain(FileCall::StatusFlags, &[7.into()]), Errno::EBADF.negative());
}

#[test]
fn paths_start_at_the_directory_of_a_descriptor() {
    let mut guest = guest();
    for path in ["/tmp/a", "/tmp/b"] {
        assert_eq!(guest.plain(FileCall::Mkdir, &[path.into(), 0o777.into()]), 0);
    }
    let [a, b] = ["/tmp/a", "/tmp/b"].map(|path| start(open(&mut guest, path, DIRECTORY)));
    assert_eq!(guest.write_file("/tmp/a/f", b"text"), 0);
    // The directory of the descriptor counts, and not its name.
    assert_eq!(guest.plain(FileCall::Rename, &["/tmp/a".into(), "/tmp/c".into()]), 0);
    assert_eq!(at(&guest, FileCall::Rename, [a, b], ["f", "g"]), Ok(0));
    assert_eq!(guest.read_file("/tmp/b/g"), Ok(b"text".to_vec()));
    assert_eq!(at(&guest, FileCall::Link, [b, Start::WorkingDirectory], ["g", "h"]), Ok(0));
    assert_eq!(guest.read_file("/workspace/h"), Ok(b"text".to_vec()));
    assert_eq!(at(&guest, FileCall::Rename, [Start::Root, a], ["tmp/b/g", "i"]), Ok(0));
    assert_eq!(guest.read_file("/tmp/c/i"), Ok(b"text".to_vec()));
    assert_eq!(at(&guest, FileCall::Chdir, [a, a], [".", ""]), Ok(0));
    assert_eq!(guest.read_file("i"), Ok(b"text".to_vec()));
}

#[test]
fn a_path_cannot_start_at_a_file_or_a_closed_descriptor() {
    let mut guest = guest();
    let file = start(open(&mut guest, "f", READ_WRITE_CREATE));
    assert_eq!(at(&guest, FileCall::Rename, [file, file], ["a", "b"]), Err(Errno::ENOTDIR));
    let closed = start(7);
    assert_eq!(at(&guest, FileCall::Rename, [closed, closed], ["a", "b"]), Err(Errno::EBADF));
    assert_eq!(at(&guest, FileCall::Rename, [Start::WorkingDirectory, closed], ["f", "b"]), Err(Errno::EBADF));
}
