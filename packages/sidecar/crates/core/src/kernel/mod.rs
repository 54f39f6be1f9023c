//! The kernel: what a sandbox's programs share, and the system calls through which they reach it.
//!
//! A [`Kernel`] belongs to a runtime, a [`Process`] to one program in it. A system call is a number and up to eight integers
//! (`docs/internals/guest-abi.md`); [`call`] hands it to the part that owns the number's range. Calls are short: the gate to the guest's
//! memory is open meanwhile, and a kill waits for it. Whatever takes longer starts an operation and completes it with [`Event`]s
//! (`operations.rs`), or waits in [`call_and_wait`], which blocks that VM alone. Next: `arguments.rs`, how a call reads its integers.

mod arguments;
mod clock;
pub(crate) mod crypto;
mod descriptors;
mod errno;
mod fs;
mod net;
mod operations;

pub(crate) use arguments::Arguments;
pub(crate) use errno::Errno;
pub(crate) use operations::{Event, Operations};

use crate::options::Limits;
use crate::program::Program;
pub(crate) use fs::Outside;
use fs::{FileSystem, ProcessFiles, Space};
use parking_lot::Mutex;
use std::sync::Arc;

/// What all programs of a runtime share.
pub(crate) struct Kernel {
    files: Mutex<FileSystem>,
    sockets: net::Sockets,
    /// Descriptors that one process may have open.
    descriptors: usize,
}

impl Kernel {
    pub(crate) fn new(limits: &Limits) -> Self {
        let space = Space { bytes: limits.filesystem_bytes, inodes: limits.inodes };
        let (files, sockets) = (Mutex::new(fs::base(space)), net::Sockets::default());
        Self { files, sockets, descriptors: limits.descriptors as usize }
    }

    /// Its files, for the caller outside.
    pub(crate) fn outside(&self) -> Outside<'_> {
        Outside::new(&self.files)
    }
}

/// What the kernel keeps for one program.
pub(crate) struct Process {
    pub(crate) kernel: Arc<Kernel>,
    /// Shared with what may complete them.
    pub(crate) operations: Arc<Operations>,
    pub(crate) crypto: crypto::Crypto,
    files: ProcessFiles,
    sockets: net::ProcessSockets,
}

impl Process {
    /// A process that begins in the directory `cwd`.
    pub(crate) fn new(kernel: Arc<Kernel>, cwd: &str) -> Self {
        let files = ProcessFiles::new(&kernel.files, cwd, kernel.descriptors);
        let (crypto, sockets) = (crypto::Crypto::default(), net::ProcessSockets::default());
        Self { kernel, operations: Arc::default(), crypto, files, sockets }
    }

    /// It has ended: lets go of what it holds in the kernel.
    pub(crate) fn close(&self) {
        self.sockets.close(&self.kernel.sockets);
        self.files.close(&self.kernel.files, &self.operations);
    }
}

/// A result that a program gets: a number, or an error number.
pub(crate) type Answer = Result<i64, Errno>;

/// Carries out a system call that finishes at once.
pub(crate) fn call(program: &Arc<Program>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    match number >> 8 {
        0x1 => fs::call(program, number, arguments),
        0x2 => net::call(program, number, arguments),
        0x3 => crypto::call(program, number, arguments),
        0x5 => clock::call(number, arguments),
        _ => Err(Errno::ENOSYS),
    }
}

/// Carries out a system call that may have to wait. It must not hold on to guest memory while it waits: results are short and go
/// back as numbers.
pub(crate) async fn call_and_wait(program: &Arc<Program>, number: u32, integers: [i64; 8]) -> Answer {
    match number >> 8 {
        0x3 => crypto::call_and_wait(program, number, integers).await,
        _ => Err(Errno::ENOSYS),
    }
}
