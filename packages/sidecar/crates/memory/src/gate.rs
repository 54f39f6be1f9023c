//! The gate to a running VM's memory: host code passes through the gate, and a kill closes it for
//! good.
//!
//! A guest that does not return (a native loop that never polls) is stopped by taking its memory
//! away: the next load or store faults, and wasmtime turns a fault of guest code into a trap. A
//! fault of *host* code would end the process. So every host access to guest memory happens inside
//! [`Gate::enter`]. A kill waits for such an access, and the gate refuses to open afterwards. Guest
//! code contains no bulk-memory instructions, which wasmtime carries out as host code (the image
//! build checks that).

use super::{GUARD, RESERVATION};
use coldframe_sys as sys;
use parking_lot::{Mutex, MutexGuard};

/// The gate to the memory of one VM.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
/// The state behind the gate's lock.
pub struct State {
    /// The base of the memory while a VM uses it.
    base: Option<usize>,
    closed: bool,
}

/// The error of a gate whose memory was taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl Gate {
    /// A VM starts to use the memory at `base`.
    pub fn attach(&self, base: usize) {
        self.state.lock().base = Some(base);
    }

    /// The VM at `base` has ended. Fails if its memory may have been taken away. A later
    /// [`Gate::close`] leaves the memory alone. If another VM has replaced it, the gate stays
    /// attached to that VM.
    pub fn detach(&self, base: usize) -> Result<(), Closed> {
        let mut state = self.state.lock();
        if state.base == Some(base) {
            state.base = None;
        }
        if state.closed { Err(Closed) } else { Ok(()) }
    }

    /// Keeps the memory in place while the guard lives. A kill waits for the guard, so the access
    /// must be short.
    pub fn enter(&self) -> Result<MutexGuard<'_, State>, Closed> {
        let state = self.state.lock();
        if state.closed { Err(Closed) } else { Ok(state) }
    }

    /// Takes the memory away for good.
    pub fn close(&self) {
        let mut state = self.state.lock();
        let Some(base) = state.base else { return };
        state.closed = true;
        // SAFETY: the VM is attached, so the reservation is its own. Host code touches the memory
        // only inside `enter`, and this lock keeps host code out. If the call fails, the VM still
        // ends at its next poll or host call.
        let _ = unsafe { sys::forbid(base, RESERVATION + GUARD) };
    }
}
