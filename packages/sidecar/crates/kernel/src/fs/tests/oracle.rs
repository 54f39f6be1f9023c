//! Runs random sequences of operations in the kernel and in a temporary directory of the host
//! machine's Linux. Every result and the final files must be equal.
//!
//! The sequences run in memory, in a mounted folder, and in an overlay over a folder with files.
//! The overlay's folder must stay unchanged. At random steps, a program restored from an encoded
//! snapshot replaces the tested program, and no result may differ.
//!
//! `COLDFRAME_ORACLE_STEPS` sets the number of steps. The sequences do not test permission checks,
//! because tests may run as root, and Linux does not check root's permissions. `posix.rs` tests
//! permissions. Next: `oracle_inputs.rs`.

use super::oracle_inputs::{FLAGS, NAMES, TARGETS};
use super::random::Random;
use super::snapshot::by_bytes;
use super::{Arg, Guest};
use crate::Kernel;
use crate::fs::options::MountOptions;
use crate::limits::Limits;
use coldframe_abi::system_calls::FileCall;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of operations in one sequence. Each sequence starts with empty directories.
const SEQUENCE: usize = 200;
/// The number of operations in all sequences together, unless the environment sets another number.
const STEPS: usize = 10_000;

/// The directories between the compared root and the working directory. These directories keep `..`
/// and links to `..` inside the root on both sides.
const DEPTH: &str = "1/2/3/4/5/6/7/8/9/10/11/w";

/// The filesystem in which the guest works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    Memory,
    Mounted,
    Overlay,
}

/// Creates the files of the folder below an overlay.
fn populate(folder: &Path) {
    std::fs::create_dir_all(folder.join("a/b")).expect("a directory");
    std::fs::create_dir_all(folder.join("d")).expect("a directory");
    std::fs::write(folder.join("a/b/c"), b"0123456789").expect("a file");
    std::fs::write(folder.join("a/c"), vec![b'x'; 70_000]).expect("a file");
    std::fs::write(folder.join("b"), b"below").expect("a file");
    std::os::unix::fs::symlink("a/b", folder.join("c")).expect("a link");
}

/// The names and types of a directory's entries, or an error number.
type Names = Result<Vec<(String, u8)>, i64>;

/// The real filesystem: a temporary directory, used by path.
struct Real {
    root: PathBuf,
    open: Vec<i32>,
}

impl Drop for Real {
    fn drop(&mut self) {
        self.close_all();
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

impl Real {
    fn new(seed: u64, place: Where) -> Self {
        let root = std::env::temp_dir().join(format!("coldframe-oracle-{place:?}-{}-{seed}", std::process::id()));
        std::fs::create_dir_all(root.join(DEPTH)).expect("a temporary directory");
        if place == Where::Overlay {
            populate(&root.join(DEPTH));
        }
        Self { root, open: Vec::new() }
    }

    fn path(&self, path: &str) -> CString {
        let full = format!("{}/{DEPTH}/{path}", self.root.display());
        CString::new(if path.is_empty() { String::new() } else { full }).expect("no NUL")
    }

    fn close_all(&mut self) {
        for fd in self.open.drain(..) {
            // SAFETY: the test owns the descriptor.
            unsafe { libc::close(fd) };
        }
    }
}

fn result(answer: impl Into<i64>) -> i64 {
    let answer = answer.into();
    if answer >= 0 { answer } else { -i64::from(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)) }
}

/// A temporary directory.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The guest and the real filesystem, with the open files of both.
struct Pair {
    guest: Guest,
    real: Real,
    open: Vec<i64>,
    place: Where,
    folder: Option<Folder>,
}

impl Pair {
    fn new(seed: u64, place: Where) -> Self {
        let kernel = Arc::new(Kernel::new(&Limits::default()));
        let folder = (place != Where::Memory).then(|| {
            let folder = std::env::temp_dir().join(format!("coldframe-{place:?}-{}-{seed}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("a temporary directory");
            if place == Where::Overlay {
                std::fs::create_dir_all(folder.join(DEPTH)).expect("a temporary directory");
                populate(&folder.join(DEPTH));
            }
            let overlay = place == Where::Overlay;
            let mount =
                MountOptions { guest_path: "/workspace".to_owned(), host_path: folder.clone(), read_only: false, overlay };
            kernel.embedder_files().furnish(&[mount], &[], &[], "/workspace").expect("mounted");
            Folder(folder)
        });
        let mut guest = Guest::of(&kernel, "/workspace");
        for name in DEPTH.split('/') {
            guest.plain(FileCall::Mkdir, &[name.into(), 0o755.into()]);
            guest.plain(FileCall::Chdir, &[name.into()]);
        }
        Self { guest, real: Real::new(seed, place), open: Vec::new(), place, folder }
    }

    fn open(&mut self, path: &str, flags: i32) -> (i64, i64) {
        let ours = self.guest.plain(FileCall::Open, &[path.into(), i64::from(flags).into(), 0o644.into()]);
        // SAFETY: the path ends with a NUL.
        let theirs = result(unsafe { libc::open(self.real.path(path).as_ptr(), flags | libc::O_CLOEXEC, 0o644) });
        if ours >= 0 {
            self.open.push(ours);
        }
        if theirs >= 0 {
            self.real.open.push(theirs as i32);
        }
        if self.place == Where::Overlay && flags & 3 == 0 && ours >= 0 && theirs >= 0 {
            // In an overlay, a descriptor that was opened for reading before the file's first
            // change reads the old content, as in Linux's overlay filesystem. The sequence
            // therefore closes the file.
            return self.close(self.open.len() - 1);
        }
        (ours.min(0), theirs.min(0))
    }

    fn close(&mut self, at: usize) -> (i64, i64) {
        let ours = self.guest.plain(FileCall::Close, &[self.open.remove(at).into()]);
        // SAFETY: the test owns the descriptor.
        (ours, result(unsafe { libc::close(self.real.open.remove(at)) }))
    }

    fn write(&mut self, at: usize, offset: i64, bytes: &[u8]) -> (i64, i64) {
        let ours = self.guest.plain(FileCall::Write, &[self.open[at].into(), Arg::Bytes(bytes), offset.into()]);
        let (fd, data, len) = (self.real.open[at], bytes.as_ptr().cast(), bytes.len());
        // SAFETY: pointer and length describe `bytes`.
        let theirs = unsafe { if offset < 0 { libc::write(fd, data, len) } else { libc::pwrite(fd, data, len, offset) } };
        (ours, result(theirs as i64))
    }

    fn read(&mut self, at: usize, offset: i64, len: usize) -> ((i64, Vec<u8>), (i64, Vec<u8>)) {
        let (ours, mut bytes) = self.guest.sys(FileCall::Read, &[self.open[at].into(), Arg::Room(len), offset.into()]);
        bytes.truncate(ours.max(0) as usize);
        let mut other = vec![0_u8; len];
        let (fd, data) = (self.real.open[at], other.as_mut_ptr().cast());
        // SAFETY: pointer and length describe `other`.
        let theirs =
            result(unsafe { if offset < 0 { libc::read(fd, data, len) } else { libc::pread(fd, data, len, offset) } } as i64);
        other.truncate(theirs.max(0) as usize);
        ((ours, bytes), (theirs, other))
    }

    fn paths(&mut self, call: FileCall, path: &str, other: &str) -> (i64, i64) {
        let (first, second) = (self.real.path(path), self.real.path(other));
        let (first, second) = (first.as_ptr(), second.as_ptr());
        let relative = CString::new(path).expect("no NUL");
        // SAFETY: all paths end with a NUL.
        let theirs = unsafe {
            match call {
                FileCall::Mkdir => libc::mkdir(first, 0o755),
                FileCall::Rmdir => libc::rmdir(first),
                FileCall::Unlink => libc::unlink(first),
                FileCall::Rename => libc::rename(first, second),
                FileCall::Link => libc::link(first, second),
                _ => libc::symlink(relative.as_ptr(), second),
            }
        };
        let theirs = result(theirs);
        let ours = match call {
            FileCall::Mkdir => self.guest.plain(call, &[path.into(), 0o755.into()]),
            FileCall::Rmdir | FileCall::Unlink => self.guest.plain(call, &[path.into()]),
            _ => self.guest.plain(call, &[path.into(), other.into()]),
        };
        (ours, theirs)
    }

    fn truncate(&mut self, path: &str, len: i64) -> (i64, i64) {
        // SAFETY: the path ends with a NUL.
        let theirs = result(unsafe { libc::truncate(self.real.path(path).as_ptr(), len) });
        (self.guest.plain(FileCall::Truncate, &[path.into(), len.into()]), theirs)
    }

    /// Returns the type and permissions, the link count and the size. The size of a directory is
    /// left out, because filesystems report different sizes.
    fn stat(&mut self, path: &str, follow: bool) -> (Result<[u64; 3], i64>, Result<[u64; 3], i64>) {
        let ours = self.guest.stat(path, follow).map(|stat| [stat[1], stat[2], stat[8]].map(|number| number as u64));
        let real = self.real.path(path);
        let real = Path::new(real.to_str().expect("text"));
        let theirs = if follow { std::fs::metadata(real) } else { std::fs::symlink_metadata(real) };
        let theirs = theirs.map(|found| [u64::from(found.mode()), found.nlink(), found.size()]);
        let theirs = theirs.map_err(|error| -i64::from(error.raw_os_error().unwrap_or(0)));
        let plain = |stat: [u64; 3]| if stat[0] & 0o170_000 == 0o040_000 { [stat[0], stat[1], 0] } else { stat };
        (ours.map(plain), theirs.map(plain))
    }

    /// Moves a file's position. Directories are left out, because filesystems use different
    /// positions in directories.
    fn seek(&mut self, at: usize, offset: i64, whence: i32) -> (i64, i64) {
        if self.stat_open(at).1[0] & 0o170_000 == 0o040_000 {
            return (0, 0);
        }
        let ours = self.guest.plain(FileCall::Lseek, &[self.open[at].into(), offset.into(), i64::from(whence).into()]);
        // SAFETY: the test owns the descriptor.
        (ours, result(unsafe { libc::lseek(self.real.open[at], offset, whence) }))
    }

    fn truncate_open(&mut self, at: usize, len: i64) -> (i64, i64) {
        let ours = self.guest.plain(FileCall::Ftruncate, &[self.open[at].into(), len.into()]);
        // SAFETY: the test owns the descriptor.
        (ours, result(unsafe { libc::ftruncate(self.real.open[at], len) }))
    }

    /// Returns the type and permissions, the link count, and the size of an open file. The size of
    /// a directory is left out.
    fn stat_open(&mut self, at: usize) -> ([u64; 3], [u64; 3]) {
        // SAFETY: all zeros are a `stat`, and the test owns the descriptor.
        let real = unsafe {
            let mut real: libc::stat = std::mem::zeroed();
            assert_eq!(libc::fstat(self.real.open[at], &raw mut real), 0);
            real
        };
        if self.place != Where::Memory && real.st_mode & 0o170_000 == 0o040_000 {
            // The kernel refers to an open directory of the host machine by path, and the directory
            // may have been renamed.
            return ([0o040_000; 3], [0o040_000; 3]);
        }
        let (answer, bytes) = self.guest.sys(FileCall::Fstat, &[self.open[at].into(), Arg::Room(144)]);
        assert_eq!(answer, 0);
        let stat: [f64; 18] = super::numbers(&bytes);
        let plain = |stat: [u64; 3]| if stat[0] & 0o170_000 == 0o040_000 { [stat[0], stat[1], 0] } else { stat };
        let theirs = [u64::from(real.st_mode), real.st_nlink, real.st_size as u64];
        (plain([stat[1], stat[2], stat[8]].map(|number| number as u64)), plain(theirs))
    }

    fn chmod(&mut self, path: &str, mode: u32) -> (i64, i64) {
        let ours = self.guest.plain(FileCall::Chmod, &[path.into(), i64::from(mode).into(), 1.into()]);
        // SAFETY: the path ends with a NUL.
        (ours, result(unsafe { libc::chmod(self.real.path(path).as_ptr(), mode) }))
    }

    /// Sets the access time and the modification time in seconds. Returns the times of the file.
    fn times(&mut self, path: &str, atime: i64, mtime: i64) -> (Result<[i64; 2], i64>, Result<[i64; 2], i64>) {
        const SECOND: i64 = 1_000_000_000;
        let set = self.guest.plain(FileCall::Utimes, &[path.into(), (atime * SECOND).into(), (mtime * SECOND).into(), 1.into()]);
        let ours = if set < 0 { Err(set) } else { self.guest.stat(path, true).map(|stat| [stat[10] as i64, stat[12] as i64]) };
        let real = self.real.path(path);
        let time = |seconds| libc::timespec { tv_sec: seconds, tv_nsec: 0 };
        // SAFETY: the path ends with a NUL, and there are two times.
        let set = result(unsafe { libc::utimensat(libc::AT_FDCWD, real.as_ptr(), [time(atime), time(mtime)].as_ptr(), 0) });
        let found = std::fs::metadata(Path::new(real.to_str().expect("text")));
        let theirs = found.map(|found| [found.atime(), found.mtime()]).map_err(|_| 0);
        (ours, if set < 0 { Err(set) } else { theirs })
    }

    /// Returns the names and types of a directory's entries.
    fn names(&mut self, path: &str) -> (Names, Names) {
        let ours = self.guest.list(path, 512).map(|mut names| {
            names.sort();
            names
        });
        let real = self.real.path(path);
        // SAFETY: the path ends with a NUL.
        let fd = result(unsafe { libc::open(real.as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC) });
        if fd < 0 {
            return (ours, Err(fd));
        }
        // SAFETY: the test owns the descriptor.
        unsafe { libc::close(fd as i32) };
        let entries = std::fs::read_dir(real.to_str().expect("text")).expect("a directory").flatten();
        let mut theirs: Vec<(String, u8)> = entries
            .map(|entry| {
                let kind = entry.file_type().expect("a type");
                let kind = if kind.is_dir() {
                    2
                } else if kind.is_symlink() {
                    3
                } else {
                    1
                };
                (entry.file_name().to_string_lossy().into_owned(), kind)
            })
            .collect();
        theirs.sort();
        (ours, Ok(theirs))
    }

    /// Returns whether the overlay's folder is unchanged.
    fn is_untouched(&self) -> bool {
        let Some(Folder(folder)) = &self.folder else { return false };
        let at = folder.join(DEPTH);
        let read = |path: &str| std::fs::read(at.join(path)).unwrap_or_default();
        let count =
            std::fs::read_dir(&at).expect("a directory").count() + std::fs::read_dir(at.join("a")).expect("a directory").count();
        (read("a/b/c"), read("a/c"), read("b"), count) == (b"0123456789".to_vec(), vec![b'x'; 70_000], b"below".to_vec(), 6)
    }

    /// Returns all paths with their contents or targets.
    fn everything(&mut self) -> (BTreeMap<String, Vec<u8>>, BTreeMap<String, Vec<u8>>) {
        let (mut ours, mut theirs) = (BTreeMap::new(), BTreeMap::new());
        let mut left = vec!["/workspace/1".to_owned()];
        while let Some(path) = left.pop() {
            for (name, kind) in self.guest.list(&path, 512).expect("a directory") {
                let below = format!("{path}/{name}");
                let held = match kind {
                    2 => b"directory".to_vec(),
                    3 => {
                        let (len, target) = self.guest.sys(FileCall::Readlink, &[below.as_str().into(), Arg::Room(100)]);
                        target[..len as usize].to_vec()
                    }
                    _ => self.guest.read_file(&below).expect("a file"),
                };
                if kind == 2 {
                    left.push(below.clone());
                }
                ours.insert(below, held);
            }
        }
        let mut left = vec![(self.real.root.join("1"), "/workspace/1".to_owned())];
        while let Some((folder, path)) = left.pop() {
            for entry in std::fs::read_dir(folder).expect("a directory").flatten() {
                let below = format!("{path}/{}", entry.file_name().to_string_lossy());
                let kind = entry.file_type().expect("a type");
                let held = if kind.is_dir() {
                    left.push((entry.path(), below.clone()));
                    b"directory".to_vec()
                } else if kind.is_symlink() {
                    std::fs::read_link(entry.path()).expect("a link").to_string_lossy().into_owned().into_bytes()
                } else {
                    std::fs::read(entry.path()).expect("a file")
                };
                theirs.insert(below, held);
            }
        }
        (ours, theirs)
    }
}

fn step(pair: &mut Pair, random: &mut Random) -> (String, String, String) {
    let (path, other) = (random.pick(NAMES), random.pick(NAMES));
    let any_open = |pair: &Pair, random: &mut Random| (!pair.open.is_empty()).then(|| random.below(pair.open.len()));
    let show = |what: String, (ours, theirs): (i64, i64)| (what, ours.to_string(), theirs.to_string());
    match random.below(22) {
        0 | 1 => {
            let flags = random.pick(FLAGS);
            show(format!("open {path} {flags:o}"), pair.open(path, flags))
        }
        2 => match any_open(pair, random) {
            Some(at) => show(format!("close {at}"), pair.close(at)),
            None => Default::default(),
        },
        3 | 4 => match any_open(pair, random) {
            Some(at) => {
                // A write at the last offset leaves a range without data before the written bytes.
                let offset = random.pick(&[-1, -1, 0, 3, 70_000, 131_071, 1 << 20]);
                let bytes = vec![b'a' + random.below(26) as u8; random.pick(&[0, 1, 10, 5_000, 66_000])];
                show(format!("write {at} {offset} {}", bytes.len()), pair.write(at, offset, &bytes))
            }
            None => Default::default(),
        },
        5 => match any_open(pair, random) {
            Some(at) => {
                let (offset, len) = (random.pick(&[-1, 0, 2, 65_530]), random.pick(&[0, 1, 100, 70_000]));
                let (ours, theirs) = pair.read(at, offset, len);
                let equal = ours == theirs;
                let text = |side: &(i64, Vec<u8>), name: &str| format!("{} {}", side.0, if equal { "" } else { name });
                (format!("read {at} {offset} {len}"), text(&ours, "ours"), text(&theirs, "theirs"))
            }
            None => Default::default(),
        },
        6 | 7 => show(format!("mkdir {path}"), pair.paths(FileCall::Mkdir, path, other)),
        8 => show(format!("rmdir {path}"), pair.paths(FileCall::Rmdir, path, other)),
        9 => show(format!("unlink {path}"), pair.paths(FileCall::Unlink, path, other)),
        10 | 11 => show(format!("rename {path} {other}"), pair.paths(FileCall::Rename, path, other)),
        12 => show(format!("link {path} {other}"), pair.paths(FileCall::Link, path, other)),
        13 => {
            let target = random.pick(TARGETS);
            show(format!("symlink {target} {other}"), pair.paths(FileCall::Symlink, target, other))
        }
        14 => {
            let len = random.pick(&[0, 1, 65_536, 70_000, -1]);
            show(format!("truncate {path} {len}"), pair.truncate(path, len))
        }
        15 => match any_open(pair, random) {
            Some(at) => {
                let (offset, whence) = (random.pick(&[0, 5, -3, 70_000, -70_001]), random.pick(&[0, 1, 2, 2]));
                show(format!("lseek {at} {offset} {whence}"), pair.seek(at, offset, whence))
            }
            None => Default::default(),
        },
        16 => match any_open(pair, random) {
            Some(at) => {
                let len = random.pick(&[0, 3, 65_537, -1]);
                show(format!("ftruncate {at} {len}"), pair.truncate_open(at, len))
            }
            None => Default::default(),
        },
        17 => match any_open(pair, random) {
            Some(at) => {
                let (ours, theirs) = pair.stat_open(at);
                (format!("fstat {at}"), format!("{ours:?}"), format!("{theirs:?}"))
            }
            None => Default::default(),
        },
        18 => {
            let mode = random.pick(&[0o700, 0o755, 0o777, 0o744]);
            show(format!("chmod {path} {mode:o}"), pair.chmod(path, mode))
        }
        19 => {
            let (atime, mtime) = (random.pick(&[0, 1, 1_500_000_000]), random.pick(&[-1, 7, 1_600_000_000]));
            let (ours, theirs) = pair.times(path, atime, mtime);
            (format!("utimes {path} {atime} {mtime}"), format!("{ours:?}"), format!("{theirs:?}"))
        }
        20 => {
            let (ours, theirs) = pair.names(path);
            (format!("readdir {path}"), format!("{ours:?}"), format!("{theirs:?}"))
        }
        _ => {
            let follow = random.below(2) == 0;
            let (ours, theirs) = pair.stat(path, follow);
            (format!("stat {path} {follow}"), format!("{ours:?}"), format!("{theirs:?}"))
        }
    }
}

fn compare(steps: usize, place: Where) {
    let steps = std::env::var("COLDFRAME_ORACLE_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(steps);
    for seed in 1..=steps.div_ceil(SEQUENCE) as u64 {
        let mut pair = Pair::new(seed, place);
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut done = Vec::new();
        for _ in 0..SEQUENCE {
            // A restore opens files of the host machine by path, so a restore cannot find a renamed
            // file.
            if random.below(30) == 0 && (place != Where::Mounted || pair.open.is_empty()) {
                pair.guest = by_bytes(&pair.guest);
                done.push("a copy".to_owned());
            }
            let (what, ours, theirs) = step(&mut pair, &mut random);
            let report = |done: &[String]| done[done.len().saturating_sub(160)..].join("\n");
            done.push(format!("{what} = {ours}"));
            assert_eq!(ours, theirs, "seed {seed}, after\n{}", report(&done));
        }
        let (ours, theirs) = pair.everything();
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "seed {seed}");
        assert!(ours == theirs, "seed {seed}: contents differ\n{}", done.join("\n"));
        assert!(place != Where::Overlay || pair.is_untouched(), "seed {seed}");
    }
}

#[test]
fn random_operations_in_memory_match_linux() {
    compare(STEPS, Where::Memory);
}

#[test]
fn random_operations_in_a_mount_match_linux() {
    compare(STEPS, Where::Mounted);
}

#[test]
fn random_operations_in_an_overlay_match_linux() {
    compare(STEPS, Where::Overlay);
}
