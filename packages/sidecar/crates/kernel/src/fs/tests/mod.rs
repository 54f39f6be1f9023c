//! Tests of the filesystem's system calls. The calls receive integers and a memory, like the calls
//! of a guest.

mod app_file_system;
mod cost;
mod denials;
mod descriptors;
mod guest_links;
mod hostile;
mod library;
mod longest;
mod many;
mod mounts;
mod oracle;
mod oracle_inputs;
mod overlay;
mod permissions;
mod posix;
mod proc;
mod proc_net;
mod random;
mod snapshot;
mod users;
mod watching;

use crate::caller::Caller;
use crate::limits::Limits;
use crate::steps::MAX_TRANSFER;
use crate::testing::FakeCaller;
use crate::{Arguments, Kernel, Process, call};
use coldframe_abi::system_calls::FileCall;
use coldframe_sys::ThreadClock;
use std::sync::Arc;
use std::time::Duration;

/// A process without a VM. The process's calls start at the kernel's entry point.
pub(super) struct Guest {
    pub(super) program: Arc<dyn Caller>,
    memory: Vec<u8>,
    /// The processor time of the last call.
    pub(super) last: Duration,
}

/// An argument of a call. Bytes and buffers are passed as an address and a length.
#[derive(Clone, Copy)]
pub(super) enum Arg<'a> {
    Int(i64),
    Bytes(&'a [u8]),
    /// A buffer of this length. The test receives the buffer's content after the call.
    Room(usize),
}

impl From<i64> for Arg<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(text: &'a str) -> Self {
        Self::Bytes(text.as_bytes())
    }
}

impl Guest {
    pub(super) fn new(limits: Limits) -> Self {
        Self::of(&Arc::new(Kernel::new(&limits)), "/workspace")
    }

    /// Creates a root process of `kernel` with the working directory `cwd`.
    pub(super) fn of(kernel: &Arc<Kernel>, cwd: &str) -> Self {
        let pid = kernel.processes.enter_root().expect("room");
        Self::with(Process::new(kernel.clone(), pid, cwd))
    }

    /// Creates a guest for the process. The standard input has the text `input`.
    pub(super) fn with(process: Process) -> Self {
        Self { program: FakeCaller::start(process, b"input"), memory: Vec::new(), last: Duration::ZERO }
    }

    /// Makes a call. Returns the call's result and the content of the call's buffer.
    pub(super) fn sys(&mut self, number: impl Into<u32>, arguments: &[Arg<'_>]) -> (i64, Vec<u8>) {
        let mut integers = Vec::new();
        let mut room = 0..0;
        self.memory.clear();
        for argument in arguments {
            let start = self.memory.len();
            match argument {
                Arg::Int(number) => {
                    integers.push(*number);
                    continue;
                }
                Arg::Bytes(bytes) => self.memory.extend_from_slice(bytes),
                Arg::Room(len) => {
                    self.memory.resize(start + len, 0xaa);
                    room = start..start + len;
                }
            }
            integers.extend([start as i64, (self.memory.len() - start) as i64]);
        }
        integers.resize(8, 0);
        let integers: [i64; 8] = integers.try_into().expect("at most eight");
        let clock = || ThreadClock::of_this_thread().and_then(ThreadClock::now_ns).unwrap_or(0);
        let before = clock();
        let answer = call(&self.program, number.into(), &mut Arguments::new(integers, &mut self.memory));
        self.last = Duration::from_nanos(clock().saturating_sub(before));
        (answer.unwrap_or_else(coldframe_error::Errno::negative), self.memory[room].to_vec())
    }

    /// Makes a call without a buffer. Returns the call's result.
    pub(super) fn plain(&mut self, number: impl Into<u32>, arguments: &[Arg<'_>]) -> i64 {
        self.sys(number, arguments).0
    }

    /// Returns the 18 numbers of a stat array.
    pub(super) fn stat(&mut self, path: &str, follow: bool) -> Result<[f64; 18], i64> {
        let (result, bytes) = self.sys(FileCall::Stat, &[path.into(), Arg::Room(144), i64::from(follow).into()]);
        if result == 0 { Ok(numbers(&bytes)) } else { Err(result) }
    }

    pub(super) fn write_file(&mut self, path: &str, bytes: &[u8]) -> i64 {
        let fd = self.plain(FileCall::Open, &[path.into(), 0o1101.into(), 0o666.into()]);
        if fd < 0 {
            return fd;
        }
        let mut done = 0;
        while done < bytes.len() {
            let count = self.plain(FileCall::Write, &[fd.into(), Arg::Bytes(&bytes[done..]), (-1).into()]);
            if count < 0 {
                self.plain(FileCall::Close, &[fd.into()]);
                return count;
            }
            done += count as usize;
        }
        self.plain(FileCall::Close, &[fd.into()])
    }

    pub(super) fn read_file(&mut self, path: &str) -> Result<Vec<u8>, i64> {
        let (len, _) = self.sys(FileCall::ReadFile, &[path.into(), Arg::Room(0)]);
        if len < 0 {
            return Err(len);
        }
        if len > MAX_TRANSFER as i64 {
            return self.read_pieces(path, len as usize);
        }
        let (again, bytes) = self.sys(FileCall::ReadFile, &[path.into(), Arg::Room(len as usize)]);
        assert_eq!(again, len);
        Ok(bytes)
    }

    fn read_pieces(&mut self, path: &str, len: usize) -> Result<Vec<u8>, i64> {
        let fd = self.plain(FileCall::Open, &[path.into(), 0.into(), 0.into()]);
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let (count, piece) = self.sys(FileCall::Read, &[fd.into(), Arg::Room(MAX_TRANSFER), (-1).into()]);
            if count <= 0 {
                return Err(count);
            }
            bytes.extend_from_slice(&piece[..count as usize]);
        }
        self.plain(FileCall::Close, &[fd.into()]);
        Ok(bytes)
    }

    /// Returns the names and types in a directory.
    pub(super) fn list(&mut self, path: &str, room: usize) -> Result<Vec<(String, u8)>, i64> {
        let fd = self.plain(FileCall::Open, &[path.into(), 0o200_000.into(), 0.into()]);
        if fd < 0 {
            return Err(fd);
        }
        let mut entries = Vec::new();
        loop {
            let (used, bytes) = self.sys(FileCall::Readdir, &[fd.into(), Arg::Room(room)]);
            let mut rest = match usize::try_from(used) {
                Ok(0) => break,
                Ok(used) => &bytes[..used],
                Err(_) => return Err(used),
            };
            while let [kind, 0, low, high, others @ ..] = rest {
                let (name, others) = others.split_at(usize::from(u16::from_le_bytes([*low, *high])));
                entries.push((String::from_utf8_lossy(name).into_owned(), *kind));
                rest = others;
            }
        }
        self.plain(FileCall::Close, &[fd.into()]);
        Ok(entries)
    }
}

pub(super) fn numbers<const N: usize>(bytes: &[u8]) -> [f64; N] {
    let mut all = [0.0; N];
    for (number, bytes) in all.iter_mut().zip(bytes.chunks_exact(8)) {
        *number = f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    }
    all
}
