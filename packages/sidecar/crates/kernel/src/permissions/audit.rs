//! Decisions for whoever listens. They are kept only while someone does, at most so many, and never make a program wait: when nobody takes
//! them in time the newest are lost, and counted. A listener is told once that there are some; what comes until it has taken them waits for it.
//! Next: `mod.rs`, where decisions are made.

use crate::permissions::policy::{Decision, Decisions, PermissionListener};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Decisions that may wait.
pub(super) const MOST: usize = 4_096;
/// Bytes of resources in them.
const MOST_BYTES: usize = 1 << 20;

/// See the module.
#[derive(Default)]
pub(super) struct Audit(Mutex<State>);

#[derive(Default)]
struct State {
    listener: Option<Arc<dyn PermissionListener>>,
    waiting: VecDeque<Decision>,
    bytes: usize,
    /// Lost after the last one that waits.
    lost: u64,
    /// The listener knows that something waits.
    told: bool,
}

impl Audit {
    /// From now on `listener` hears of decisions, or nobody does.
    pub fn listen(&self, listener: Option<Arc<dyn PermissionListener>>) {
        let before = std::mem::replace(&mut *self.0.lock(), State { listener, ..State::default() });
        drop(before);
    }

    pub fn listener(&self) -> Option<Arc<dyn PermissionListener>> {
        self.0.lock().listener.clone()
    }

    pub(super) fn add(&self, decision: Decision) {
        let mut state = self.0.lock();
        let Some(listener) = state.listener.clone() else { return };
        if state.lost > 0 || state.waiting.len() >= MOST || state.bytes + decision.resource.len() > MOST_BYTES {
            state.lost += 1;
        } else {
            state.bytes += decision.resource.len();
            state.waiting.push_back(decision);
        }
        if !std::mem::replace(&mut state.told, true) {
            drop(state);
            listener.pending(&|most| self.take(most));
        }
    }

    /// At most `most` of those that wait, and what was lost after them.
    pub fn take(&self, most: usize) -> Decisions {
        let mut state = self.0.lock();
        let count = state.waiting.len().min(most);
        let decisions: Vec<Decision> = state.waiting.drain(..count).collect();
        state.bytes -= decisions.iter().map(|decision| decision.resource.len()).sum::<usize>();
        let lost = if state.waiting.is_empty() { std::mem::take(&mut state.lost) } else { 0 };
        if decisions.is_empty() && lost == 0 {
            state.told = false;
        }
        Decisions { decisions, lost }
    }
}
