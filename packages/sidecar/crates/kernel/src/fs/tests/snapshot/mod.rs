//! Tests of a runtime's files after a restore. The restored runtime has equal files. Later changes
//! in one of the two runtimes do not affect the other runtime.

mod bytes;
mod cost;
mod hostile;
mod limits;
mod mounts;
mod watches;

use super::{Arg, Guest};
use crate::Kernel;
use crate::Library;
use crate::fs::options::{FileSystemOptions, MountOptions};
use crate::ids::Fd;
use crate::limits::Limits;
use crate::snapshot::{KernelSnapshot, RestoreInputs};
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Error;
use std::sync::Arc;

const READ_WRITE_CREATE: i64 = 0o102;
const DIRECTORY: i64 = 0o200_000;

/// Takes a snapshot of the runtime of these programs.
fn snapshot(guests: &[&Guest]) -> KernelSnapshot {
    let kernel = &guests[0].program.process().kernel;
    let processes: Vec<_> = guests.iter().map(|guest| guest.program.process()).collect();
    kernel.snapshot(&processes)
}

/// The options of a restore.
#[derive(Default)]
struct RestoreOptions {
    limits: Limits,
    mounts: Vec<MountOptions>,
    file_systems: Vec<FileSystemOptions>,
    library: Option<Library>,
}

impl RestoreOptions {
    fn restore(&self, saved: &KernelSnapshot) -> Result<Vec<Guest>, Error> {
        let (mounts, file_systems) = (&self.mounts[..], &self.file_systems[..]);
        let with = RestoreInputs {
            limits: self.limits,
            permissions: None,
            mounts,
            file_systems,
            library: self.library.as_ref().unwrap_or(Library::missing()),
            warnings: None,
        };
        Ok(Kernel::restore(saved, with)?.processes.into_iter().map(Guest::with).collect())
    }

    fn only(&self, saved: &KernelSnapshot) -> Guest {
        let mut guests = self.restore(saved).expect("a copy");
        assert_eq!(guests.len(), 1);
        guests.remove(0)
    }
}

/// Returns the program of a runtime with equal mounts that is restored from an encoded snapshot.
pub(super) fn by_bytes(guest: &Guest) -> Guest {
    let (mounts, file_systems) = guest.program.process().kernel.reattach();
    let saved = snapshot(&[guest]).rewritten(|bytes| bytes).expect("what a runtime has brought about is sound");
    RestoreOptions { mounts, file_systems, ..RestoreOptions::default() }.only(&saved)
}

fn copy(guest: &Guest) -> Guest {
    RestoreOptions::default().only(&snapshot(&[guest]))
}

fn used(guest: &Guest) -> (u64, u64) {
    let used = guest.program.process().kernel.files.lock().used;
    (used.bytes, used.inodes)
}

/// Returns the descriptor that a system call returned as a number.
fn fd_of(answer: i64) -> Fd {
    Fd::from_guest(answer).expect("a descriptor")
}

fn open(guest: &mut Guest, path: &str, flags: i64) -> i64 {
    let fd = guest.plain(FileCall::Open, &[path.into(), flags.into(), 0o644.into()]);
    assert!(fd >= 0, "{path}: {fd}");
    fd
}

fn read(guest: &mut Guest, fd: i64, room: usize) -> Result<Vec<u8>, i64> {
    let (count, mut bytes) = guest.sys(FileCall::Read, &[fd.into(), Arg::Room(room), (-1).into()]);
    bytes.truncate(usize::try_from(count).map_err(|_| count)?);
    Ok(bytes)
}

fn write(guest: &mut Guest, fd: i64, bytes: &[u8]) -> i64 {
    guest.plain(FileCall::Write, &[fd.into(), Arg::Bytes(bytes), (-1).into()])
}

/// Returns the names that an open listing has not returned yet. If `once` is set, returns only the
/// names of the next call.
fn rest_of(guest: &mut Guest, fd: i64, room: usize, once: bool) -> Result<Vec<String>, i64> {
    let mut names = Vec::new();
    loop {
        let (count, bytes) = guest.sys(FileCall::Readdir, &[fd.into(), Arg::Room(room)]);
        let mut rest = &bytes[..usize::try_from(count).map_err(|_| count)?];
        if rest.is_empty() {
            return Ok(names);
        }
        while let [_, 0, low, high, others @ ..] = rest {
            let (name, others) = others.split_at(usize::from(u16::from_le_bytes([*low, *high])));
            names.push(String::from_utf8_lossy(name).into_owned());
            rest = others;
        }
        if once {
            return Ok(names);
        }
    }
}

#[test]
fn changes_of_one_runtime_are_not_visible_in_the_other() {
    let mut guest = Guest::new(Limits::default());
    guest.write_file("/tmp/both", b"before");
    guest.write_file("/tmp/gone", b"x");
    let mut other = copy(&guest);
    assert_eq!(used(&guest), used(&other));
    guest.write_file("/tmp/both", b"the original's");
    guest.plain(FileCall::Unlink, &["/tmp/gone".into()]);
    other.write_file("/tmp/both", b"the copy's");
    other.write_file("/tmp/new", b"");
    assert_eq!(guest.read_file("/tmp/both").expect("the file exists"), b"the original's");
    assert_eq!(other.read_file("/tmp/both").expect("the file exists"), b"the copy's");
    assert_eq!(other.read_file("/tmp/gone").expect("the file exists"), b"x");
    assert_eq!(guest.read_file("/tmp/new"), Err(-2));
    // Both runtimes continue the inode numbers of the snapshot, so new files may have equal
    // numbers.
    assert!(
        other.stat("/tmp/new", true).expect("the file exists")[7] > guest.stat("/tmp/both", true).expect("the file exists")[7]
    );
}

#[test]
fn copies_the_files_of_a_runtime_without_programs() {
    let guest = Guest::new(Limits::default());
    let kernel = guest.program.process().kernel.clone();
    kernel.embedder_files().write("/workspace/a/b", b"text", false).expect("room");
    let saved = kernel.snapshot(&[]);
    let with = RestoreInputs {
        limits: Limits::default(),
        permissions: None,
        mounts: &[],
        file_systems: &[],
        library: Library::missing(),
        warnings: None,
    };
    let copy = Kernel::restore(&saved, with).expect("a copy").kernel;
    assert_eq!(copy.embedder_files().read("/workspace/a/b", 0, 10).expect("the file exists").0, b"text");
    kernel.embedder_files().write("/workspace/a/b", b"more", true).expect("room");
    assert_eq!(copy.embedder_files().read("/workspace/a/b", 0, 10).expect("the file exists").1, 4);
}

#[test]
fn a_copy_keeps_positions_flags_and_shared_descriptions() {
    let mut guest = Guest::new(Limits::default());
    guest.write_file("f", b"0123456789");
    let fd = open(&mut guest, "f", 0);
    let again = open(&mut guest, "/proc/self/fd/0", 0);
    let appends = open(&mut guest, "f", 0o2001);
    assert_eq!(read(&mut guest, fd, 3).expect("readable"), b"012");
    let mut other = copy(&guest);
    assert_eq!(read(&mut other, fd, 3).expect("readable"), b"345");
    assert_eq!(read(&mut guest, fd, 3).expect("readable"), b"345", "each has its own position");
    write(&mut other, appends, b"ab");
    assert_eq!(other.read_file("f").expect("the file exists"), b"0123456789ab");
    assert_eq!(write(&mut other, fd, b"x"), -9, "the file was opened for reading");
    let table = other.program.process().files.descriptors.lock();
    let (stdin, twice) =
        (table.get(Fd::new(0)).expect("an open descriptor"), table.get(fd_of(again)).expect("an open descriptor"));
    assert!(Arc::ptr_eq(&stdin, &twice), "one description, as in the original");
}

#[test]
fn programs_of_a_copy_share_the_descriptions_they_shared() {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    let mut one = Guest::of(&kernel, "/workspace");
    one.write_file("f", b"0123456789");
    let fd = open(&mut one, "f", 0);
    let other = Guest::of(&kernel, "/workspace");
    let shared = one.program.process().files.descriptors.lock().get(fd_of(fd)).expect("open");
    assert_eq!(other.program.process().add_descriptor(shared), Ok(fd_of(fd)));
    let mut copies = RestoreOptions::default().restore(&snapshot(&[&one, &other])).expect("a copy");
    assert_eq!(read(&mut copies[0], fd, 4).expect("the file exists"), b"0123");
    assert_eq!(read(&mut copies[1], fd, 4).expect("the file exists"), b"4567");
    assert_eq!(read(&mut one, fd, 4).expect("the file exists"), b"0123");
}

#[test]
fn a_removed_file_stays_in_a_copy_until_the_copy_closes_it() {
    let mut guest = Guest::new(Limits::default());
    let fd = open(&mut guest, "/tmp/f", READ_WRITE_CREATE);
    write(&mut guest, fd, b"still here");
    guest.plain(FileCall::Unlink, &["/tmp/f".into()]);
    let mut other = copy(&guest);
    assert_eq!(used(&guest), (10, 1));
    guest.plain(FileCall::Close, &[fd.into()]);
    assert_eq!((used(&guest), used(&other)), ((0, 0), (10, 1)));
    let (_, bytes) = other.sys(FileCall::Read, &[fd.into(), Arg::Room(10), 0.into()]);
    assert_eq!(bytes, b"still here");
    // After a second snapshot and restore, the runtime has the file too.
    let mut third = copy(&other);
    for guest in [&mut other, &mut third] {
        guest.plain(FileCall::Close, &[fd.into()]);
        assert_eq!(used(guest), (0, 0));
        assert!(guest.program.process().kernel.files.lock().holds.len() == 1, "the working directory");
    }
}

#[test]
fn a_copy_lacks_a_removed_file_that_only_the_embedder_has_open() {
    let guest = Guest::new(Limits::default());
    let embedder = guest.program.process().kernel.embedder_files();
    let options = crate::OpenOptions { write: true, ..Default::default() };
    let (file, _) = embedder.open("/tmp/f", options).expect("room");
    embedder.write_open(&file, 0, b"bytes").expect("room");
    embedder.remove("/tmp/f", false).expect("the file exists");
    let other = copy(&guest);
    assert_eq!((used(&guest), used(&other)), ((5, 1), (0, 0)));
    embedder.close(&file);
    assert_eq!(used(&guest), (0, 0));
}

#[test]
fn a_copy_holds_no_file_of_a_program_outside_the_snapshot() {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    let (one, mut other) = (Guest::of(&kernel, "/workspace"), Guest::of(&kernel, "/tmp"));
    let fd = open(&mut other, "/tmp/f", READ_WRITE_CREATE);
    write(&mut other, fd, b"bytes");
    other.plain(FileCall::Unlink, &["/tmp/f".into()]);
    let alone = RestoreOptions::default().only(&snapshot(&[&one]));
    assert_eq!((used(&other), used(&alone)), ((5, 1), (0, 0)));
    assert_eq!(alone.program.process().kernel.files.lock().holds.len(), 1);
}

#[test]
fn a_copy_keeps_a_removed_working_directory() {
    let mut guest = Guest::new(Limits::default());
    guest.plain(FileCall::Mkdir, &["/tmp/d".into(), 0o755.into()]);
    guest.program.process().files.chdir(&guest.program.process().kernel.files, b"/tmp/d").expect("the file exists");
    guest.program.process().files.set_umask(0o077);
    guest.plain(FileCall::Rmdir, &["/tmp/d".into()]);
    let mut other = copy(&guest);
    assert_eq!(other.write_file("f", b""), -2);
    assert_eq!(other.program.process().files.umask(), 0o077);
    let cwd = |guest: &Guest| guest.program.process().files.getcwd(&guest.program.process().kernel.files.lock());
    assert_eq!(cwd(&other), cwd(&guest));
    other.program.process().files.chdir(&other.program.process().kernel.files, b"/tmp").expect("the file exists");
    assert_eq!((used(&other), used(&guest)), ((0, 0), (0, 1)));
    guest.program.process().files.chdir(&guest.program.process().kernel.files, b"/workspace").expect("the file exists");
    other.program.process().files.chdir(&other.program.process().kernel.files, b"/workspace").expect("the file exists");
    assert_eq!(cwd(&other).as_deref(), Ok(&b"/workspace"[..]));
}

#[test]
fn a_copy_continues_a_listing() {
    let mut guest = Guest::new(Limits::default());
    for n in 0..100 {
        guest.write_file(&format!("/workspace/file{n:03}"), b"");
    }
    let fd = open(&mut guest, "/workspace", DIRECTORY);
    let begun = rest_of(&mut guest, fd, 300, true).expect("names");
    assert!((1..100).contains(&begun.len()));
    let mut other = copy(&guest);
    let rest = rest_of(&mut guest, fd, 300, false).expect("names");
    assert_eq!(rest_of(&mut other, fd, 300, false).expect("names"), rest);
    assert_eq!(begun.len() + rest.len(), 100);
}

#[test]
fn proc_shows_the_copy() {
    let mut guest = Guest::new(Limits::default());
    let fd = open(&mut guest, "/proc/stat", 0);
    let mut other = copy(&guest);
    let text = read(&mut guest, fd, 4_096).expect("a text");
    assert!(!text.is_empty());
    drop(guest);
    assert_eq!(read(&mut other, fd, 4_096).expect("the text of then"), text);
    let own = open(&mut other, "/proc/self/stat", 0);
    assert!(read(&mut other, own, 10).is_ok_and(|text| !text.is_empty()));
}

#[test]
fn a_copy_has_its_own_standard_streams() {
    let mut guest = Guest::new(Limits::default());
    assert_eq!(guest.plain(FileCall::Close, &[2.into()]), 0);
    let mut other = copy(&guest);
    assert_eq!(write(&mut other, 1, b"out"), 3);
    assert_eq!(write(&mut other, 2, b"err"), -9);
}
