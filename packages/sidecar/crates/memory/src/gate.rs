//! The gate to a running VM's memory. The sidecar's code passes through the gate, and a kill closes
//! the gate permanently. `models.rs` checks the gate in every order of the threads. Next:
//! `meter.rs`.
//!
//! Guest code in a loop without polls does not return. A kill therefore removes all access to the
//! guest's memory. The guest's next load or store faults, and wasmtime turns a fault of guest code
//! into a trap. A fault of the sidecar's own code would end the process. So the sidecar accesses
//! guest memory only inside [`Gate::enter`]. A kill during an access takes effect at the end of the
//! access, on the thread of the access, and the gate refuses further accesses. A kill never waits,
//! because one thread kills the programs of all runtimes. wasmtime executes bulk-memory
//! instructions outside guest code. The image build therefore checks that guest code contains none
//! of these instructions.

use super::sync::{AtomicBool, Mutex, MutexGuard, Ordering, fence, forbid};
use super::{GUARD, RESERVATION};

/// The gate to the memory of one VM.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    /// Whether a kill has asked the thread that holds the lock to close the gate. The thread closes
    /// the gate after it has released the lock.
    is_asked: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// The base of the memory while a VM uses it.
    base: Option<usize>,
    closed: bool,
}

/// The error of a gate that a kill has closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// An access to the memory. The memory stays accessible until the value is dropped.
#[must_use = "the memory is accessible only while the value exists"]
pub struct Access<'g> {
    gate: &'g Gate,
    /// Set until the access is dropped.
    state: Option<MutexGuard<'g, State>>,
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        drop(self.state.take());
        // With the fence in `close`: this thread sees the kill, or the kill gets the lock.
        fence(Ordering::SeqCst);
        self.gate.close_if_asked();
    }
}

impl Gate {
    /// Attaches the VM that starts to use the memory at `base`.
    pub fn attach(&self, base: usize) {
        self.locked(|state| state.base = Some(base));
    }

    /// Detaches the VM at `base`, which has ended. Fails if a kill has closed the gate, because the
    /// memory may then be inaccessible. A later [`Gate::close`] does not affect the memory. If
    /// another VM has been attached since, the gate stays attached to that VM.
    pub fn detach(&self, base: usize) -> Result<(), Closed> {
        self.locked(|state| {
            if state.base == Some(base) {
                state.base = None;
            }
            if state.closed { Err(Closed) } else { Ok(()) }
        })
    }

    /// Keeps the memory accessible until the access is dropped. Fails if a kill has closed the
    /// gate. A kill takes effect when the access is dropped, so the access must be short.
    pub fn enter(&self) -> Result<Access<'_>, Closed> {
        let state = self.state.lock();
        let closed = state.closed || self.is_asked.load(Ordering::Relaxed);
        let access = Access { gate: self, state: Some(state) };
        if closed { Err(Closed) } else { Ok(access) }
    }

    /// Makes the memory inaccessible permanently, now or at the end of the access in progress. Has
    /// no effect if no VM is attached. Never waits.
    pub fn close(&self) {
        self.is_asked.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.close_if_asked();
    }

    /// Closes the gate if a kill has asked for it. If another thread holds the lock, that thread
    /// calls this method after it has released the lock.
    fn close_if_asked(&self) {
        while self.is_asked.load(Ordering::Relaxed) {
            let Some(mut state) = self.state.try_lock() else { return };
            // Another thread may have closed the gate meanwhile. A later kill asks again.
            if self.is_asked.swap(false, Ordering::Relaxed)
                && let Some(base) = state.base
            {
                state.closed = true;
                // SAFETY: the VM is attached, so the reservation belongs to the VM. The sidecar's
                // code touches the memory only inside `enter`, which holds this lock. If the call
                // fails, the VM still ends at its next poll or import.
                let _ = unsafe { forbid(base, RESERVATION + GUARD) };
            }
            drop(state);
            fence(Ordering::SeqCst);
        }
    }

    fn locked<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state.lock();
        let result = change(&mut state);
        drop(Access { gate: self, state: Some(state) });
        result
    }
}
