//! Runs one long computation on a thread of the pool. The computation stops when its program must
//! end. The program is charged for the CPU time. Next: `pool.rs`.

use super::pool::Turn;
use crate::caller::Caller;
use coldframe_crypto::{Command, Fault, Watch, run};
use coldframe_panics::{contain, reach};
use coldframe_sys as sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The minimum wall time between two charges of CPU time to the program, in nanoseconds.
const CHARGE_NS: u64 = 2_000_000;

/// Computes the result of `request` on the calling thread. Fails with `Fault::Stopped` if the
/// program must end or the job was cancelled. After a panic, ends the program and fails with
/// `Fault::Internal`.
pub(super) fn compute(
    program: &Arc<dyn Caller>,
    command: Command,
    request: &[u8],
    canceled: Arc<AtomicBool>,
    turn: &mut Turn,
) -> Result<Vec<u8>, Fault> {
    let mut watch = ProgramWatch {
        program: program.clone(),
        canceled,
        turn,
        charged_ns: sys::thread_usage().cpu_ns,
        next_charge: sys::monotonic_ns() + CHARGE_NS,
    };
    let answer = contain(program.health(), || {
        reach("crypto-job", request);
        watch.step().and_then(|()| run(command, request, &mut watch))
    });
    watch.charge();
    answer.unwrap_or_else(|panic| {
        program.fail(panic);
        Err(Fault::Internal)
    })
}

struct ProgramWatch<'a> {
    program: Arc<dyn Caller>,
    canceled: Arc<AtomicBool>,
    turn: &'a mut Turn,
    charged_ns: u64,
    next_charge: u64,
}

impl ProgramWatch<'_> {
    fn must_stop(&self) -> bool {
        self.program.is_ending() || self.canceled.load(Ordering::Acquire)
    }

    fn charge(&mut self) {
        let used = sys::thread_usage().cpu_ns;
        let cpu_ns = used.saturating_sub(self.charged_ns);
        self.program.process().kernel.usage.computed(cpu_ns);
        self.program.charge_cpu(cpu_ns);
        self.charged_ns = used;
    }
}

impl Watch for ProgramWatch<'_> {
    fn step(&mut self) -> Result<(), Fault> {
        if self.must_stop() {
            return Err(Fault::Stopped);
        }
        let now = sys::monotonic_ns();
        if now >= self.next_charge {
            self.next_charge = now + CHARGE_NS;
            self.charge();
        }
        self.turn.pause();
        if self.must_stop() { Err(Fault::Stopped) } else { Ok(()) }
    }

    fn memory(&self) -> usize {
        usize::try_from(self.program.process().limits.memory_bytes).unwrap_or(usize::MAX)
    }
}
