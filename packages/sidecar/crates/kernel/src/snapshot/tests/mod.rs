//! A kernel's value, with programs that have no VM: calls go through the kernel's own entrance.

mod bytes;
mod cost;
mod embedder;
mod parts;
mod same;

use super::{KernelSnapshot, Reattach, RestoredKernel};
use crate::caller::Caller;
use crate::limits::Limits;
use crate::testing::FakeCaller;
use crate::{Arguments, Event, Kernel, Process, call};
use coldframe_abi::system_calls::SocketCall;
use coldframe_error::Errno;
use coldframe_ids::Pid;
use std::sync::Arc;

/// A kernel and its programs.
struct World {
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
    /// A buffer of that many bytes; what the call wrote comes back.
    Room(usize),
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
    Guest { program: FakeCaller::new(process, &[]) }
}

impl World {
    /// With so many programs of the caller's.
    fn new(programs: usize) -> Self {
        Self::within(programs, Limits::default())
    }

    fn within(programs: usize, limits: Limits) -> Self {
        let kernel = Arc::new(Kernel::new(&limits));
        let start = |_| {
            let pid = kernel.processes.enter_root().expect("room");
            guest(Process::new(kernel.clone(), pid, "/workspace"))
        };
        let guests = (0..programs).map(start).collect();
        Self { kernel, guests }
    }

    /// A child of a program, which has its parent's descriptors.
    fn fork(&mut self, parent: usize) -> usize {
        let of = &self.guests[parent].program;
        let slots = {
            let table = of.process().files.descriptors.lock();
            let most = table.numbers().last().map_or(0, |last| last + 1);
            (0..most as i64).map(|fd| table.get(fd).ok()).collect()
        };
        let pid = self.kernel.processes.enter_child(of.pid(), false).expect("room");
        let process = Process::new(self.kernel.clone(), pid, "/workspace");
        *process.files.descriptors.lock() = crate::descriptors::Descriptors::inherited(slots, self.kernel.descriptors());
        self.guests.push(guest(process));
        self.guests.len() - 1
    }

    /// The number that a further child would get.
    fn fork_pid(&self, parent: usize) -> Pid {
        let pid = self.kernel.processes.enter_child(self.guests[parent].program.pid(), false).expect("room");
        self.kernel.processes.remove(pid);
        pid
    }

    /// A value that has been bytes on the way.
    fn saved(&self) -> KernelSnapshot {
        KernelSnapshot::decode(&self.snapshot().encode().expect("it can be written")).expect("it can be read")
    }

    fn snapshot(&self) -> KernelSnapshot {
        let processes: Vec<&Process> = self.guests.iter().map(|guest| guest.program.process()).collect();
        self.kernel.snapshot(&processes)
    }

    fn restore(saved: &KernelSnapshot) -> Self {
        Self::try_revive(saved, Limits::default()).expect("nothing is missing")
    }

    fn try_revive(saved: &KernelSnapshot, limits: Limits) -> Result<Self, coldframe_error::Error> {
        let with = Reattach { limits, permissions: None, mounts: &[], file_systems: &[], warnings: None };
        let RestoredKernel { kernel, processes } = Kernel::restore(saved, with)?;
        Ok(Self { kernel, guests: processes.into_iter().map(guest).collect() })
    }

    /// The same again, by way of a value.
    fn copy(&self) -> Self {
        Self::restore(&self.saved())
    }
}

impl Guest {
    /// Makes a call; its result, and what it wrote to its buffer.
    fn sys(&self, number: impl Into<u32>, arguments: &[Arg<'_>]) -> (Result<i64, Errno>, Vec<u8>) {
        let (mut integers, mut memory, mut room) = (Vec::new(), Vec::new(), 0..0);
        for argument in arguments {
            let start = memory.len();
            match argument {
                Arg::Int(number) => {
                    integers.push(*number);
                    continue;
                }
                Arg::Bytes(bytes) => memory.extend_from_slice(bytes),
                Arg::Room(len) => {
                    memory.resize(start + len, 0);
                    room = start..start + len;
                }
            }
            integers.extend([start as i64, (memory.len() - start) as i64]);
        }
        integers.resize(8, 0);
        let integers: [i64; 8] = integers.try_into().expect("at most eight");
        let answer = call(&self.program, number.into(), &mut Arguments::new(integers, &mut memory));
        (answer, memory[room].to_vec())
    }

    /// The same for a call that must succeed.
    fn ok(&self, number: impl Into<u32>, arguments: &[Arg<'_>]) -> i64 {
        self.sys(number, arguments).0.expect("the call succeeds")
    }

    /// Two descriptors that are connected with each other.
    fn pair(&self) -> (i64, i64) {
        let (answer, bytes) = self.sys(SocketCall::Pair, &[Arg::Room(8)]);
        answer.expect("room");
        let number = |at: usize| i64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")));
        (number(0), number(4))
    }

    fn read(&self, fd: i64) -> Result<Vec<u8>, Errno> {
        let (answer, mut bytes) = self.sys(SocketCall::Read, &[fd.into(), Arg::Room(64)]);
        bytes.truncate(answer? as usize);
        Ok(bytes)
    }

    fn write(&self, fd: i64, bytes: &[u8]) -> Result<i64, Errno> {
        self.sys(SocketCall::Write, &[fd.into(), bytes.into()]).0
    }

    /// What it hears: operation, result and bytes.
    fn events(&self) -> Vec<Event> {
        self.program.process().operations.take()
    }
}

/// Readiness to read.
const READ: i64 = 1;
