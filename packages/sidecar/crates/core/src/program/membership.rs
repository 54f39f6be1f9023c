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
        let root = processes.root_of(program.pid).and_then(|root| home.program(root));
        // A rollback may have assigned that pid to a program of another kernel.
        if let Some(root) = root.filter(|root| Arc::ptr_eq(&root.process.kernel, &program.process.kernel)) {
            program.set_root(&root);
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
