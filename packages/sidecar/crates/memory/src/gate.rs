//! The gate to a running VM's memory. The sidecar's code passes through the gate, and a kill closes
//! the gate permanently. Next: `meter.rs`.
//!
//! Guest code in a loop without polls does not return. A kill therefore removes all access to the
//! guest's memory. The guest's next load or store faults, and wasmtime turns a fault of guest code
//! into a trap. A fault of the sidecar's own code would end the process. So the sidecar accesses
//! guest memory only inside [`Gate::enter`]. A kill waits for the end of that access, and the gate
//! refuses further accesses. wasmtime executes bulk-memory instructions outside guest code. The
//! image build therefore checks that guest code contains none of these instructions.

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

/// The error of a gate that a kill has closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl Gate {
    /// Attaches the VM that starts to use the memory at `base`.
    pub fn attach(&self, base: usize) {
        self.state.lock().base = Some(base);
    }

    /// Detaches the VM at `base`, which has ended. Fails if a kill has closed the gate, because the
    /// memory may then be inaccessible. A later [`Gate::close`] does not affect the memory. If
    /// another VM has been attached since, the gate stays attached to that VM.
    pub fn detach(&self, base: usize) -> Result<(), Closed> {
        let mut state = self.state.lock();
        if state.base == Some(base) {
            state.base = None;
        }
        if state.closed { Err(Closed) } else { Ok(()) }
    }

    /// Keeps the memory accessible until the guard is dropped. Fails if a kill has closed the gate.
    /// A kill waits until the guard is dropped, so the access must be short.
    pub fn enter(&self) -> Result<MutexGuard<'_, State>, Closed> {
        let state = self.state.lock();
        if state.closed { Err(Closed) } else { Ok(state) }
    }

    /// Makes the memory inaccessible permanently. Has no effect if no VM is attached.
    pub fn close(&self) {
        let mut state = self.state.lock();
        let Some(base) = state.base else { return };
        state.closed = true;
        // SAFETY: the VM is attached, so the reservation belongs to the VM. The sidecar's code
        // touches the memory only inside `enter`, which waits for this lock. If the call fails, the
        // VM still ends at its next poll or import.
        let _ = unsafe { sys::forbid(base, RESERVATION + GUARD) };
    }
}
