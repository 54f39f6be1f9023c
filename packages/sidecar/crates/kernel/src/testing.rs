//! A program without a VM, for tests and fuzz targets of the kernel. The program accepts all output
//! and cannot start children.

#[cfg(test)]
use crate::Kernel;
use crate::Process;
use crate::caller::{AlarmGuard, Caller};
#[cfg(test)]
use crate::ids::{OperationId, SocketId};
use crate::processes::Child;
use coldframe_error::{Errno, Error};
use coldframe_ids::Pid;
use coldframe_panics::runtime::Mutex;
use coldframe_panics::{Health, Panic};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

/// Returns the id of an operation with this number.
#[cfg(test)]
pub(crate) fn operation(number: u32) -> OperationId {
    OperationId::new(number).expect("no id is 0")
}

/// Returns the id of a socket with this number.
#[cfg(test)]
pub(crate) fn socket(number: u32) -> SocketId {
    SocketId::new(number).expect("no id is 0")
}

/// A program without a VM. A start of a child fails. Output is accepted and dropped.
pub(crate) struct FakeCaller {
    pub(crate) process: Process,
    is_ending: AtomicBool,
    health: Health,
    input: Mutex<Vec<u8>>,
    /// The output of the program's terminal.
    pub(crate) terminal_output: Mutex<Vec<u8>>,
}

impl FakeCaller {
    /// Makes a program for `process` and registers the program in the process table. `input` is the
    /// program's standard input.
    pub(crate) fn start(process: Process, input: &[u8]) -> Arc<dyn Caller> {
        let kernel = process.kernel.clone();
        let caller = Self {
            process,
            is_ending: AtomicBool::new(false),
            health: Health::default(),
            input: Mutex::new(input.to_vec()),
            terminal_output: Mutex::default(),
        };
        let caller: Arc<dyn Caller> = Arc::new(caller);
        kernel.processes.register(&caller);
        caller
    }

    /// Makes a root program of `kernel`, with an empty standard input.
    #[cfg(test)]
    pub(crate) fn root(kernel: &Arc<Kernel>, cwd: &str) -> Arc<dyn Caller> {
        let pid = kernel.processes.enter_root().expect("room");
        Self::start(Process::new(kernel.clone(), pid, cwd), &[])
    }
}

impl Caller for FakeCaller {
    fn process(&self) -> &Process {
        &self.process
    }

    fn command(&self) -> &str {
        ""
    }

    fn is_root(&self) -> bool {
        self.process.kernel.processes.family(self.process.pid).0 == Pid::INIT
    }

    fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    fn must_stop(&self) -> bool {
        self.is_ending()
    }

    fn end(&self, _reason: Error) {
        self.is_ending.store(true, Ordering::Release);
    }

    fn health(&self) -> &Health {
        &self.health
    }

    fn fail(&self, _panic: Panic) {
        self.is_ending.store(true, Ordering::Release);
    }

    fn child_memory(&self) -> Option<u64> {
        None
    }

    fn start_child(&self, child: Child) -> Result<(), Box<Process>> {
        Err(Box::new(child.process))
    }

    fn write_output(&self, _fd: u8, bytes: &[u8]) -> Result<usize, Errno> {
        Ok(bytes.len())
    }

    fn has_output_room(&self, _waker: &Waker) -> bool {
        true
    }

    fn write_terminal(&self, bytes: &[u8], _waker: &Waker) -> usize {
        self.terminal_output.lock().extend_from_slice(bytes);
        bytes.len()
    }

    fn resume(&self) {}

    fn flush_output(&self) {}

    fn read_input(&self, buffer: &mut [u8]) -> usize {
        let mut input = self.input.lock();
        let count = input.len().min(buffer.len());
        buffer[..count].copy_from_slice(&input[..count]);
        input.drain(..count);
        count
    }

    fn block(&self) {}

    fn unblock(&self) {}

    fn wake_at(&self, _at_ns: u64, _waker: Waker) -> AlarmGuard<'_> {
        Box::new(())
    }

    fn cpu_ns(&self) -> u64 {
        0
    }

    fn charge_cpu(&self, _cpu_ns: u64) {}
}
