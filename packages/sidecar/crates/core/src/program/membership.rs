//! A program's membership in its runtime: in the list of live programs, and in the programs that
//! must rest for a snapshot (`quiesce.rs`). Next: `run.rs`, which owns the membership.

use super::{Home, Program};
use std::sync::Arc;

/// A program's membership in its runtime. The program's future owns the membership, so the
/// membership ends when the future is dropped, even if the future is not finished.
pub(crate) struct Membership {
    home: Arc<dyn Home>,
    program: Arc<Program>,
    lives: bool,
}

impl Membership {
    /// Admits a program that is already in the list of live programs.
    pub(crate) fn new(home: Arc<dyn Home>, program: Arc<Program>) -> Self {
        let processes = &program.process.kernel.processes;
        if !program.is_root() && program.tree.get().is_none() {
            // The parent of a new child lives. The parent of a restored child may have ended.
            let relatives = [Some(program.ppid), processes.root_of(program.pid)];
            let relatives = relatives.into_iter().flatten().filter_map(|pid| home.program(pid));
            // A rollback may have assigned the pid to a program of another kernel.
            let mut of_kernel = relatives.filter(|relative| Arc::ptr_eq(&relative.process.kernel, &program.process.kernel));
            if let Some(tree) = of_kernel.find_map(|relative| relative.tree()) {
                tree.admit(&program);
            }
        }
        program.quiesce.joined();
        processes.register(&(program.clone() as Arc<dyn coldframe_kernel::Caller>));
        home.joined();
        Self { home, program, lives: true }
    }

    /// Removes the program from the live programs. The caller then reports the program's end.
    pub(crate) fn leave(&mut self) {
        if std::mem::replace(&mut self.lives, false) {
            self.home.remove(&self.program);
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.leave();
        self.program.quiesce.left();
    }
}
