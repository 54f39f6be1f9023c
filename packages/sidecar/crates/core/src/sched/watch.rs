//! Who runs now, looked at from outside.
//!
//! What a guest has computed is known when it makes way, which it does at a poll: one that does not poll any more would compute for ever. So now and then
//! somebody looks at those that run, with the clocks of their threads (`meter.rs`), and the limit of CPU time ends them as any other limit ends a guest that does not cooperate.
//!
//! One alarm for all, and none while nothing runs: beginning and making way cost an entry in a list, and once after a rest an alarm. Next: `program/usage.rs`.

use crate::program::Program;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How often somebody looks: what a guest computes too much when it does not poll.
pub(super) const OFTEN: Duration = Duration::from_millis(50);

/// See the module.
#[derive(Default)]
pub(super) struct Watch {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: Vec<Weak<Program>>,
    /// Somebody will look.
    looks: bool,
    /// One has begun since the last look.
    begun: bool,
}

impl Watch {
    /// A thread runs `program` from now on. Whether somebody must be sent to look.
    pub(super) fn begins(&self, program: &Weak<Program>) -> bool {
        let mut state = self.state.lock();
        state.running.push(program.clone());
        state.begun = true;
        !std::mem::replace(&mut state.looks, true)
    }

    /// No thread runs `program` any more.
    pub(super) fn made_way(&self, program: &Program) {
        let mut state = self.state.lock();
        if let Some(at) = state.running.iter().position(|one| std::ptr::eq(one.as_ptr(), program)) {
            state.running.swap_remove(at);
        }
    }

    /// Looks at all that run. Whether somebody must look again.
    pub(super) fn look(&self) -> bool {
        let running: Vec<Arc<Program>> = {
            let mut state = self.state.lock();
            state.looks = std::mem::take(&mut state.begun) || !state.running.is_empty();
            if !state.looks {
                return false;
            }
            state.running.iter().filter_map(Weak::upgrade).collect()
        };
        running.iter().for_each(|program| program.look());
        true
    }
}
