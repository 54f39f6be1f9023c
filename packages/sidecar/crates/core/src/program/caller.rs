//! Implements the kernel's trait [`Caller`] for a program, which makes system calls. Next:
//! `owner.rs`.

use super::Program;
use super::output::Written;
use coldframe_error::{Errno, Error};
use coldframe_kernel::processes::Child;
use coldframe_kernel::{AlarmGuard, Caller, Process};
use coldframe_panics::{Health, Panic};
use coldframe_vm::{Checkpoint, Owner};
use std::task::Waker;

impl Caller for Program {
    fn process(&self) -> &Process {
        &self.process
    }

    fn command(&self) -> &str {
        &self.command
    }

    fn is_root(&self) -> bool {
        Program::is_root(self)
    }

    fn is_ending(&self) -> bool {
        Program::is_ending(self) || self.health.is_broken()
    }

    fn must_stop(&self) -> bool {
        self.checkpoint() != Checkpoint::Continue
    }

    fn end(&self, reason: Error) {
        Program::end(self, reason);
    }

    fn health(&self) -> &Health {
        &self.health
    }

    fn fail(&self, panic: Panic) {
        Program::fail(self, panic);
    }

    fn child_memory(&self) -> Option<u64> {
        Some(self.home()?.image_len())
    }

    fn start_child(&self, child: Child) -> Result<(), Box<Process>> {
        match self.home() {
            Some(home) => home.start_child(child),
            None => Err(Box::new(child.process)),
        }
    }

    fn write_output(&self, fd: u8, bytes: &[u8]) -> Result<usize, Errno> {
        match self.write(fd, bytes) {
            Written::Taken(taken) => Ok(taken),
            Written::Full => Err(Errno::EAGAIN),
        }
    }

    fn has_output_room(&self, waker: &Waker) -> bool {
        let mut output = self.output.lock();
        let has_room = output.has_room();
        if !has_room {
            output.wait(waker);
        }
        has_room
    }

    fn write_terminal(&self, bytes: &[u8], waker: &Waker) -> usize {
        let mut output = self.output.lock();
        let taken = output.write_terminal(bytes);
        if taken == 0 {
            output.wait(waker);
        }
        taken
    }

    fn resume(&self) {
        let waiting = self.control.lock().waiting.take();
        self.wake(waiting);
    }

    fn flush_output(&self) {
        self.flush_all();
    }

    fn read_input(&self, buffer: &mut [u8]) -> usize {
        self.input.lock().read(buffer)
    }

    fn block(&self) {
        self.quiesce.block();
    }

    fn unblock(&self) {
        self.quiesce.unblock();
    }

    fn wake_at(&self, at_ns: u64, waker: Waker) -> AlarmGuard<'_> {
        Box::new(self.timers().wait(at_ns, move || waker.wake()))
    }

    fn frozen_ns(&self) -> u64 {
        self.freeze.total_ns()
    }

    fn cpu_ns(&self) -> u64 {
        self.meter.cpu_ns()
    }

    fn charge_cpu(&self, cpu_ns: u64) {
        self.spend_budget(cpu_ns);
        self.check_cpu(self.meter.charge(cpu_ns));
    }
}
