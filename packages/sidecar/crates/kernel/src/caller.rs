//! The program that makes a system call, as the kernel sees it.
//!
//! The kernel refers to processes, but not to VMs, to the scheduler or to the runtime. [`Caller`]
//! has everything that the kernel needs from these parts. The kernel stores `Weak<dyn Caller>` in
//! its process table, and system calls receive a `&dyn Caller`. Next: `process.rs`, the kernel's
//! part of a program.

use crate::Process;
use crate::processes::Child;
use coldframe_error::{Errno, Error};
use coldframe_ids::Pid;
use coldframe_panics::{Health, Panic};
use std::task::Waker;

/// The guard of an alarm. Dropping the guard cancels the alarm.
pub type AlarmGuard<'a> = Box<dyn Send + 'a>;

/// The program that makes a system call.
pub trait Caller: Send + Sync {
    /// Returns the kernel's part of the program.
    fn process(&self) -> &Process;

    /// Returns the pid of the program's process.
    fn pid(&self) -> Pid {
        self.process().pid
    }

    /// Returns the command line, which process lists show.
    fn command(&self) -> &str;

    /// Returns whether the embedder started the program.
    fn is_root(&self) -> bool;

    /// Returns whether the program must end, or its runtime is broken.
    fn is_ending(&self) -> bool;

    /// Returns whether the present work must stop because the program or the evaluation in progress
    /// must end.
    fn must_stop(&self) -> bool;

    /// Ends the program with `reason`. If the method is called again, the first reason stays.
    fn end(&self, reason: Error);

    /// Returns the health of the program's runtime.
    fn health(&self) -> &Health;

    /// Ends the program, because a computation for the program has panicked.
    fn fail(&self, panic: Panic);

    /// Returns the bytes of linear memory that a child starts with. Returns `None` if the runtime
    /// has been dropped.
    fn child_memory(&self) -> Option<u64>;

    /// Makes a program for `child` and starts the program. Returns the process of `child` as the
    /// error if the runtime has been disposed.
    fn start_child(&self, child: Child) -> Result<(), Box<Process>>;

    /// Writes to the program's standard stream 1 or 2, which the embedder reads. Returns the number
    /// of bytes written. Fails with `EAGAIN` if too many bytes of a streamed output are unread.
    fn write_output(&self, fd: u8, bytes: &[u8]) -> Result<usize, Errno>;

    /// Returns whether a standard stream accepts a write now. If not, `waker` is called when the
    /// reader has read enough bytes.
    fn has_output_room(&self, waker: &Waker) -> bool;

    /// Writes the output of the program's terminal to the standard output, which is not captured.
    /// Returns the number of accepted bytes. If the number is 0, `waker` is
    /// called when the reader has read enough bytes or when a reader arrives.
    fn write_terminal(&self, bytes: &[u8], waker: &Waker) -> usize;

    /// Runs the program again, which a signal has continued.
    fn resume(&self);

    /// Sends the buffered output of the program and of its root program to the readers.
    fn flush_output(&self);

    /// Reads from the standard input that the embedder passed at the start. Returns the number of
    /// bytes, 0 at the end of the input.
    fn read_input(&self, buffer: &mut [u8]) -> usize;

    /// Marks the program as blocked in the middle of a turn. Until [`Caller::unblock`], the
    /// runtime's programs do not rest for a snapshot, because the blocked program may wait for
    /// another program.
    fn block(&self);

    /// Removes the mark that [`Caller::block`] set.
    fn unblock(&self);

    /// Calls `waker` when the host machine's monotonic clock reaches `at_ns`. Dropping the guard
    /// cancels the call.
    fn wake_at(&self, at_ns: u64, waker: Waker) -> AlarmGuard<'_>;

    /// Returns the time in which the program's runtime was frozen, in nanoseconds. This time does
    /// not count for the program's clocks and waits.
    fn frozen_ns(&self) -> u64 {
        0
    }

    /// Returns the CPU time that the program has used, in nanoseconds.
    fn cpu_ns(&self) -> u64;

    /// Charges the program for CPU time that a thread of the kernel spent on the program's work.
    fn charge_cpu(&self, cpu_ns: u64);
}

/// Marks a program as blocked in the middle of a turn. Dropping the value removes the mark.
pub(crate) struct Blocked<'a>(&'a dyn Caller);

impl<'a> Blocked<'a> {
    pub(crate) fn new(caller: &'a dyn Caller) -> Self {
        caller.block();
        Self(caller)
    }
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        self.0.unblock();
    }
}
