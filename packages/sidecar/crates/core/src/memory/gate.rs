//! The gate to a running VM's memory: the host passes through it, and a killer can close it for good.
//!
//! A guest that does not come back (a native loop that never polls) is stopped by taking its memory away: its next load or store
//! faults, and the engine turns a fault of guest code into a trap. A fault of *host* code would end the process. So every host access
//! to guest memory happens inside [`Gate::enter`], which a killer waits for and which refuses to open afterwards. Guest code contains
//! no bulk-memory instructions, which the engine runs as host code (the image build checks that).

use super::{GUARD, RESERVATION};
use coldframe_sys as sys;
use parking_lot::{Mutex, MutexGuard};

/// See the module. One per VM.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Base of the memory while a VM lives in it.
    base: Option<usize>,
    closed: bool,
}

/// The memory was taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed;

impl Gate {
    /// A VM lives at `base` from now on.
    pub(crate) fn attach(&self, base: usize) {
        self.state.lock().base = Some(base);
    }

    /// The VM at `base` is gone; says whether its memory may have been taken away. A later [`Gate::close`] leaves it alone; if another has taken its
    /// place meanwhile, the gate goes on leading there.
    pub(crate) fn detach(&self, base: usize) -> Result<(), Closed> {
        let mut state = self.state.lock();
        if state.base == Some(base) {
            state.base = None;
        }
        if state.closed { Err(Closed) } else { Ok(()) }
    }

    /// Passes through: the memory stays while the guard lives. Keep it short; a killer waits.
    pub(crate) fn enter(&self) -> Result<MutexGuard<'_, State>, Closed> {
        let state = self.state.lock();
        if state.closed { Err(Closed) } else { Ok(state) }
    }

    /// Takes the memory away for good.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        let Some(base) = state.base else { return };
        state.closed = true;
        // SAFETY: the VM is attached, so the reservation is its own; host code touches it only inside `enter`, and this lock
        // keeps it out. Should the call fail, the VM still ends at its next poll or host call.
        let _ = unsafe { sys::forbid(base, RESERVATION + GUARD) };
    }
}
