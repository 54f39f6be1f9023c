//! The queue of permission decisions for the listener.
//!
//! Decisions are stored only while a listener is attached. The queue is bounded and never makes a
//! program wait: if the queue is full, new decisions are dropped and counted. The listener is
//! notified once when decisions arrive, and again only after a `take` has returned no decisions.
//! A rollback or a pause passes the queue to the runtime's next kernel. Next: `mod.rs`, which makes
//! the decisions.

use crate::permissions::policy::{Decision, Decisions, PermissionListener};
use coldframe_panics::runtime::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// The maximum number of decisions in the queue.
pub(super) const MOST: usize = 4_096;
/// The maximum bytes of the texts in the queue.
const MOST_BYTES: usize = 1 << 20;

/// The queue of decisions and its listener.
#[derive(Default)]
pub struct Audit(Mutex<State>);

#[derive(Default)]
struct State {
    listener: Option<Arc<dyn PermissionListener>>,
    waiting: VecDeque<Decision>,
    bytes: usize,
    /// The number of decisions that were dropped since the last decision in the queue.
    lost: u64,
    /// Whether the listener has been notified since a `take` last returned no decisions.
    is_notified: bool,
}

impl Audit {
    /// Sends all further decisions to `listener`, or to no listener. Drops the decisions in the
    /// queue.
    pub(super) fn listen(&self, listener: Option<Arc<dyn PermissionListener>>) {
        let before = std::mem::replace(&mut *self.0.lock(), State { listener, ..State::default() });
        drop(before);
    }

    pub(super) fn has_listener(&self) -> bool {
        self.0.lock().listener.is_some()
    }

    pub(super) fn add(&self, decision: Decision) {
        let mut state = self.0.lock();
        let Some(listener) = state.listener.clone() else { return };
        if state.lost > 0 || state.waiting.len() >= MOST || state.bytes + text_bytes(&decision) > MOST_BYTES {
            state.lost += 1;
        } else {
            state.bytes += text_bytes(&decision);
            state.waiting.push_back(decision);
        }
        if !std::mem::replace(&mut state.is_notified, true) {
            drop(state);
            listener.pending();
        }
    }

    /// Removes and returns at most `most` decisions of the queue. If no decision is left, also
    /// returns the number of decisions that were dropped after the last decision.
    pub fn take(&self, most: usize) -> Decisions {
        let mut state = self.0.lock();
        let count = state.waiting.len().min(most);
        let decisions: Vec<Decision> = state.waiting.drain(..count).collect();
        state.bytes -= decisions.iter().map(text_bytes).sum::<usize>();
        let lost = if state.waiting.is_empty() { std::mem::take(&mut state.lost) } else { 0 };
        if decisions.is_empty() && lost == 0 {
            state.is_notified = false;
        }
        Decisions { decisions, lost }
    }
}

/// Returns the number of bytes of a decision's texts.
fn text_bytes(decision: &Decision) -> usize {
    let bytes = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    decision.resource.len() + bytes(&decision.pattern) + bytes(&decision.reason)
}
