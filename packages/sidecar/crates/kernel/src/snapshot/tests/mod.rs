//! Tests of kernel snapshots with programs that have no VM. The calls start at the kernel's entry
//! point.

mod bytes;
mod cost;
mod embedder;
mod kept_sessions;
mod outside;
mod parts;
mod same;
mod terminals;

use super::{KernelSnapshot, RestoreInputs, RestoredKernel};
use crate::Library;
use crate::caller::Caller;
use crate::limits::Limits;
use crate::testing::FakeCaller;
use crate::{Arguments, Event, Kernel, Process, call};
use coldframe_abi::system_calls::SocketCall;
use coldframe_error::Errno;
use coldframe_ids::Pid;
use std::sync::Arc;

/// A kernel and its programs.
struct TestKernel {
    kernel: Arc<Kernel>,
    guests: Vec<Guest>,
}

/// A program without a VM.
struct Guest {
    program: Arc<dyn Caller>,
}

/// An argument of a call.
enum Arg<'a> {
    Int(i64),
    Bytes(&'a [u8]),
    /// A buffer of this many bytes. The test receives the buffer's content after the call.
    Buffer(usize),
}

impl From<i64> for Arg<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(text: &'a str) -> Self {
        Self::Bytes(text.as_bytes())
    }
}

fn guest(process: Process) -> Guest {
    Guest { program: FakeCaller::start(process, &[]) }
}

impl TestKernel {
    /// Makes a kernel with `programs` root programs.
    fn new(programs: usize) -> Self {
        Self::within(programs, Limits::default())
    }

    fn within(programs: usize, limits: Limits) -> Self {
        let kernel = Arc::new(Kernel::new(&limits));
        let start = |_| {
            let pid = kernel.processes.enter_root().expect("buffer");
            guest(Process::new(kernel.clone(), pid, "/workspace"))
        };
        let guests = (0..programs).map(start).collect();
        Self { kernel, guests }
    }

    /// Makes a child of a program. The child inherits the descriptors of its parent.
    fn fork(&mut self, parent: usize) -> usize {
        let of = &self.guests[parent].program;
        let slots = {
            let table = of.process().files.descriptors.lock();
            table.slots().to_vec()
        };
        let pid = self.kernel.processes.enter_plain_child(of.pid()).expect("buffer");
        let process = Process::new(self.kernel.clone(), pid, "/workspace");
        *process.files.descriptors.lock() = crate::descriptors::Descriptors::inherited(slots, self.kernel.descriptors());
        self.guests.push(guest(process));
        self.guests.len() - 1
    }

    /// Allocates a pid for a child of a program and frees the pid. Returns the pid.
    fn fork_pid(&self, parent: usize) -> Pid {
        let pid = self.kernel.processes.enter_plain_child(self.guests[parent].program.pid()).expect("buffer");
        self.kernel.processes.remove(pid);
        pid
    }

    /// Takes a snapshot, encodes the snapshot, and decodes the bytes.
    fn saved(&self) -> KernelSnapshot {
        KernelSnapshot::decode(&self.snapshot().encode().expect("an encoded snapshot")).expect("a decoded snapshot")
    }

    fn snapshot(&self) -> KernelSnapshot {
        let processes: Vec<&Process> = self.guests.iter().map(|guest| guest.program.process()).collect();
        self.kernel.snapshot(&processes)
    }

    fn restore(saved: &KernelSnapshot) -> Self {
        Self::try_restore(saved, Limits::default()).expect("nothing is missing")
    }

    fn try_restore(saved: &KernelSnapshot, limits: Limits) -> Result<Self, coldframe_error::Error> {
        let with = RestoreInputs {
            limits,
            permissions: None,
            mounts: &[],
            file_systems: &[],
            library: Library::missing(),
            warnings: None,
        };
        let RestoredKernel { kernel, processes } = Kernel::restore(saved, with)?;
        Ok(Self { kernel, guests: processes.into_iter().map(guest).collect() })
    }

    /// Restores a kernel from an encoded snapshot of this kernel.
    fn copy(&self) -> Self {
        Self::restore(&self.saved())
    }
}

impl Guest {
    /// Makes a call. Returns the result and the content of the call's buffer.
    fn sys(&self, number: impl Into<u32>, arguments: &[Arg<'_>]) -> (Result<i64, Errno>, Vec<u8>) {
        let (mut integers, mut memory, mut buffer) = (Vec::new(), Vec::new(), 0..0);
        for argument in arguments {
            let start = memory.len();
            match argument {
                Arg::Int(number) => {
                    integers.push(*number);
                    continue;
                }
                Arg::Bytes(bytes) => memory.extend_from_slice(bytes),
                Arg::Buffer(len) => {
                    memory.resize(start + len, 0);
                    buffer = start..start + len;
                }
            }
            integers.extend([start as i64, (memory.len() - start) as i64]);
        }
        integers.resize(8, 0);
        let integers: [i64; 8] = integers.try_into().expect("at most eight");
        let answer = call(&self.program, number.into(), &mut Arguments::new(integers, &mut memory));
        (answer, memory[buffer].to_vec())
    }

    /// Makes a call that must succeed. Returns the result.
    fn ok(&self, number: impl Into<u32>, arguments: &[Arg<'_>]) -> i64 {
        self.sys(number, arguments).0.expect("the call succeeds")
    }

    /// Makes two connected sockets. Returns their descriptors.
    fn pair(&self) -> (i64, i64) {
        let (answer, bytes) = self.sys(SocketCall::Pair, &[Arg::Buffer(8)]);
        answer.expect("buffer");
        let number = |at: usize| i64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")));
        (number(0), number(4))
    }

    fn read(&self, fd: i64) -> Result<Vec<u8>, Errno> {
        let (answer, mut bytes) = self.sys(SocketCall::Read, &[fd.into(), Arg::Buffer(64)]);
        bytes.truncate(answer? as usize);
        Ok(bytes)
    }

    fn write(&self, fd: i64, bytes: &[u8]) -> Result<i64, Errno> {
        self.sys(SocketCall::Write, &[fd.into(), bytes.into()]).0
    }

    /// Returns the events that the program has not taken.
    fn events(&self) -> Vec<Event> {
        self.program.process().operations.take()
    }
}

/// The event that a descriptor can be read.
const READ: i64 = 1;
