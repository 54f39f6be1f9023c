//! Implements the trait [`Owner`] of the crate `vm` for a program, which owns a VM. Next:
//! `scheduled.rs`.

use super::Program;
use coldframe_kernel::usage::is_near;
use coldframe_memory::{Gate, Meter};
use coldframe_sys as sys;
use coldframe_vm::{Checkpoint, Owner};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Owner for Program {
    fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    fn grows(&self, before: u64, bytes: u64) {
        let max = self.limits().memory_bytes;
        self.process.kernel.usage.peaks.memory_bytes.record(bytes);
        if is_near(bytes, max) && !is_near(before, max) {
            self.warn("memoryBytes", bytes, max);
        }
    }

    fn checkpoint(&self) -> Checkpoint {
        if self.must_end.load(Ordering::Acquire) {
            Checkpoint::End
        } else if self.must_interrupt.load(Ordering::Acquire) {
            Checkpoint::Interrupt
        } else {
            Checkpoint::Continue
        }
    }

    fn is_slice_over(&self) -> bool {
        // A stopped program yields at its next poll.
        self.process.is_stopped() || sys::monotonic_ns() >= self.slice_end.load(Ordering::Relaxed)
    }

    fn yields(&self) {
        self.flush();
        self.yielded.store(true, Ordering::Relaxed);
    }
}
