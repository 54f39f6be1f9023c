//! What others may see of the table: `/proc` shows it. Next: `waiting.rs`.

use super::{INIT, Processes};

impl Processes {
    /// The processes that live, in order.
    pub(crate) fn living(&self) -> Vec<u32> {
        let state = self.0.lock();
        let mut living: Vec<u32> =
            state.programs.iter().filter(|(_, program)| program.strong_count() > 0).map(|(pid, _)| *pid).collect();
        living.sort_unstable();
        living
    }

    /// A process's parent, group and session.
    pub(crate) fn family(&self, pid: u32) -> (u32, u32, u32) {
        let state = self.0.lock();
        state.table.entries.get(&pid).map_or((INIT, pid, pid), |entry| (entry.parent, entry.group, entry.session))
    }
}
