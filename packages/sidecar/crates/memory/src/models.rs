//! Models of the gate: loom runs the gate's threads in every order that the memory model allows,
//! with a bounded number of preemptions.
//!
//! The models compile `gate.rs` itself, with loom's types. In the place of a guest's memory is a
//! cell. An access reads the cell, and a kill writes it. loom fails if both happen at a time.

#[path = "gate.rs"]
#[expect(clippy::duplicate_mod, reason = "the model compiles the gate with other types")]
mod gate;

use super::{GUARD, RESERVATION};
use coldframe_testing::model::check;
use gate::{Closed, Gate};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

/// The types of the gate in the models.
mod sync {
    pub(super) use coldframe_testing::model::{Mutex, MutexGuard};
    pub(super) use loom::sync::atomic::{AtomicBool, Ordering, fence};

    /// Makes the memory of a model inaccessible.
    ///
    /// # Safety
    /// `base` is the address of a live [`super::Memory`].
    #[expect(clippy::unnecessary_wraps, reason = "the system call can fail")]
    pub(super) unsafe fn forbid(base: usize, _len: usize) -> std::io::Result<()> {
        // SAFETY: the caller's promise.
        let memory = unsafe { &*(base as *const super::Memory) };
        // SAFETY: loom fails the model if another thread uses the cell at the same time.
        memory.0.with_mut(|is_forbidden| unsafe { *is_forbidden = true });
        Ok(())
    }
}

/// The memory of a guest: whether the memory is inaccessible.
struct Memory(UnsafeCell<bool>);

// SAFETY: loom checks every use of the cell.
unsafe impl Sync for Memory {}
// SAFETY: as above.
unsafe impl Send for Memory {}

impl Memory {
    fn is_forbidden(&self) -> bool {
        // SAFETY: loom fails the model if another thread writes the cell at the same time.
        self.0.with(|is_forbidden| unsafe { *is_forbidden })
    }
}

/// Makes a gate that is attached to a memory.
fn attached() -> (Arc<Gate>, Arc<Memory>) {
    let (gate, memory) = (Arc::new(Gate::default()), Arc::new(Memory(UnsafeCell::new(false))));
    gate.attach(Arc::as_ptr(&memory) as usize);
    (gate, memory)
}

/// Accesses the memory as an import does. Returns whether the gate was open.
fn access(gate: &Gate, memory: &Memory) -> bool {
    let entered = gate.enter();
    assert!(entered.is_err() || !memory.is_forbidden(), "an access after the kill");
    entered.is_ok()
}

fn spawn_kill(gate: &Arc<Gate>) -> thread::JoinHandle<()> {
    let gate = gate.clone();
    thread::spawn(move || gate.close())
}

#[test]
fn a_kill_takes_effect_between_accesses_and_is_never_lost() {
    check(None, || {
        let (gate, memory) = attached();
        let kill = spawn_kill(&gate);
        let was_open = access(&gate, &memory);
        assert!(was_open || !access(&gate, &memory), "a closed gate stays closed");
        kill.join().expect("the kill ends");
        assert!(memory.is_forbidden(), "the kill takes effect at the latest when the access ends");
        assert_eq!(gate.enter().map(drop), Err(Closed));
    });
}

#[test]
fn two_kills_take_effect_once_the_access_ends() {
    check(Some(3), || {
        let (gate, memory) = attached();
        let kills = [spawn_kill(&gate), spawn_kill(&gate)];
        access(&gate, &memory);
        kills.into_iter().for_each(|kill| kill.join().expect("the kill ends"));
        assert!(memory.is_forbidden() && !access(&gate, &memory));
    });
}

/// A slot whose memory may be inaccessible must not be used again. An earlier kill must not make a
/// slot inaccessible that is used again.
#[test]
fn a_detached_memory_is_forbidden_exactly_if_the_detach_fails() {
    check(None, || {
        let (gate, memory) = attached();
        let kill = spawn_kill(&gate);
        access(&gate, &memory);
        let detached = gate.detach(Arc::as_ptr(&memory) as usize);
        assert_eq!(detached.is_err(), memory.is_forbidden());
        kill.join().expect("the kill ends");
        assert_eq!(detached.is_err(), memory.is_forbidden(), "a kill after the detach");
    });
}
