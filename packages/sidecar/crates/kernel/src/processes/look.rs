//! Queries of the process table for `/proc`. The results are copies, so `/proc` holds no lock of
//! the table. Next: `waiting.rs`.

use super::Processes;
use coldframe_ids::Pid;

impl Processes {
    /// Returns the pids of the live processes, in ascending order.
    pub(crate) fn living(&self) -> Vec<Pid> {
        let state = self.registry.lock();
        let mut living: Vec<Pid> =
            state.programs.iter().filter(|(_, program)| program.strong_count() > 0).map(|(pid, _)| *pid).collect();
        living.sort_unstable();
        living
    }

    /// Returns a process's parent, group and session. For an unknown pid, the parent is process 1,
    /// and the group and the session are the pid.
    pub(crate) fn family(&self, pid: Pid) -> (Pid, Pid, Pid) {
        let state = self.registry.lock();
        state.table.entries.get(&pid).map_or((Pid::INIT, pid, pid), |entry| (entry.parent, entry.group, entry.session))
    }
}
