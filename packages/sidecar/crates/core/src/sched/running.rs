//! Checks the programs that run now, from another thread.
//!
//! A guest's CPU time is counted when the guest yields at a poll. Without a further check, a guest
//! that no longer polls would compute forever. Therefore an alarm checks running programs at
//! intervals, with the CPU clocks of their threads (`Meter` of the crate `memory`). The limit of
//! CPU time thus also ends a guest that does not poll.
//!
//! One alarm checks all programs. No alarm is set while no program runs. A program that starts to
//! run adds an entry to a list, and sets the alarm if no program was running. Next:
//! `program/usage.rs`.

use super::Scheduled;
use coldframe_panics::process::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The interval of checks. A guest without polls uses at most about this much CPU time beyond its
/// limit before the sidecar ends the guest.
pub(super) const INTERVAL: Duration = Duration::from_millis(50);

/// The programs that run now.
#[derive(Default)]
pub(super) struct Running {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    programs: Vec<Weak<dyn Scheduled>>,
    /// Whether an alarm for the next check is set.
    is_scheduled: bool,
    /// Whether a program has started since the last check.
    has_started: bool,
}

impl Running {
    /// Records that a thread starts to run `program`. Returns whether the caller must schedule a
    /// check.
    pub(super) fn starts(&self, program: Weak<dyn Scheduled>) -> bool {
        let mut state = self.state.lock();
        state.programs.push(program);
        state.has_started = true;
        !std::mem::replace(&mut state.is_scheduled, true)
    }

    /// Records that a thread no longer runs `program`.
    pub(super) fn stops<P: Scheduled>(&self, program: &P) {
        let mut state = self.state.lock();
        if let Some(at) = state.programs.iter().position(|running| std::ptr::addr_eq(running.as_ptr(), program)) {
            state.programs.swap_remove(at);
        }
    }

    /// Checks all running programs. Returns whether the caller must schedule a further check.
    pub(super) fn check(&self) -> bool {
        let running: Vec<Arc<dyn Scheduled>> = {
            let mut state = self.state.lock();
            state.is_scheduled = std::mem::take(&mut state.has_started) || !state.programs.is_empty();
            if !state.is_scheduled {
                return false;
            }
            state.programs.iter().filter_map(Weak::upgrade).collect()
        };
        running.iter().for_each(|program| program.check_running());
        true
    }
}
