//! The list of a runtime's programs: the live programs, and the ended root programs whose output is
//! open (`program/open_output.rs`). Next: `registry.rs`.

use super::Inner;
use crate::program::Program;
use coldframe_error::Error;
use coldframe_ids::{Lineage, Pid};
use std::collections::HashMap;
use std::sync::Arc;

/// The programs of a runtime.
#[derive(Default)]
pub(super) struct ProgramList {
    pub(super) live: HashMap<Pid, Arc<Program>>,
    /// Ended root programs whose output is open.
    pub(super) with_open_output: HashMap<Lineage, Arc<Program>>,
    pub(super) disposed: bool,
}

impl ProgramList {
    /// Returns the ended programs whose output is open, and then the live programs. A caller that
    /// ends all programs in this order ends no output before the program that waits for the output.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Program>> {
        self.with_open_output.values().chain(self.live.values())
    }
}

impl Inner {
    /// Adds an ended program whose output is open. Ends the program if the runtime has ended its
    /// programs meanwhile.
    pub(super) fn add_open_output(&self, program: &Arc<Program>) {
        let reason = {
            let mut programs = self.programs.lock();
            programs.with_open_output.insert(program.lineage, program.clone());
            let is_present = Arc::ptr_eq(&program.process.kernel, &self.generation.read().kernel);
            match (programs.disposed, is_present) {
                (true, _) => Some(Error::RuntimeDisposed),
                (false, false) => Some(Error::RolledBack),
                (false, true) => self.budget.exceeded().cloned(),
            }
        };
        reason.into_iter().for_each(|reason| program.end(reason));
    }

    /// Removes an ended program whose output was open.
    pub(super) fn remove_open_output(&self, program: &Program) {
        let removed = {
            let mut programs = self.programs.lock();
            // A restored copy of the program may have taken the place.
            let entry = programs.with_open_output.get(&program.lineage);
            let is_it = entry.is_some_and(|other| std::ptr::eq(&raw const **other, program));
            if is_it { programs.with_open_output.remove(&program.lineage) } else { None }
        };
        drop(removed);
    }

    /// Returns the root program with this pid: a live program, or an ended program whose output is
    /// open.
    pub(super) fn root_program(&self, pid: Pid) -> Option<Arc<Program>> {
        let programs = self.programs.lock();
        let live = programs.live.get(&pid).filter(|program| program.is_root());
        live.or_else(|| programs.with_open_output.values().find(|program| program.pid == pid)).cloned()
    }

    /// Reports the outcomes of the ended programs whose output is open.
    pub(super) fn report_open_outputs(&self) {
        let ended: Vec<_> = self.programs.lock().with_open_output.values().cloned().collect();
        ended.iter().for_each(|program| program.stop_waiting_for_output());
    }
}
