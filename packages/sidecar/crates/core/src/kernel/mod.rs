//! The kernel: what a sandbox's programs share, and the system calls through which they reach it.
//!
//! A [`Kernel`] belongs to a runtime, a [`Process`] to one program in it. A system call is a number and up to eight integers
//! (`docs/internals/guest-abi.md`); [`call`] hands it to the part that owns the number's range. Calls are short: the gate to the guest's
//! memory is open meanwhile, and a kill waits for it. Whatever takes longer starts an operation and completes it with [`Event`]s
//! (`operations.rs`), or waits in [`call_and_wait`], which blocks that VM alone. Next: `arguments.rs`, how a call reads its integers.

mod arguments;
mod clock;
mod errno;
mod operations;

pub(crate) use arguments::Arguments;
pub(crate) use errno::Errno;
pub(crate) use operations::{Event, Operations};

use crate::program::Program;
use std::sync::Arc;

/// What all programs of a runtime share.
#[derive(Default)]
pub(crate) struct Kernel {}

/// What the kernel keeps for one program.
pub(crate) struct Process {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) operations: Operations,
}

impl Process {
    pub(crate) fn new(kernel: Arc<Kernel>) -> Self {
        Self { kernel, operations: Operations::default() }
    }
}

/// A result that a program gets: a number, or an error number.
pub(crate) type Answer = Result<i64, Errno>;

/// Carries out a system call that finishes at once.
pub(crate) fn call(_program: &Arc<Program>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    match number >> 8 {
        0x5 => clock::call(number, arguments),
        _ => Err(Errno::ENOSYS),
    }
}

/// Carries out a system call that may have to wait. It must not hold on to guest memory while it waits: results are short and go
/// back as numbers.
pub(crate) async fn call_and_wait(_program: &Arc<Program>, number: u32, _integers: [i64; 8]) -> Answer {
    match number >> 8 {
        _ => Err(Errno::ENOSYS),
    }
}
