//! A program's place in its runtime: among those that live, and among those that must rest for a value of the runtime (`program/moment.rs`).

use super::Inner;
use crate::kernel::Kernel;
use crate::program::Program;
use coldframe_error::Error;
use std::sync::Arc;

/// See the module. Held by the program's life, so that the place is given up however that ends.
pub(crate) struct Membership {
    home: Arc<Inner>,
    kernel: Arc<Kernel>,
    program: Arc<Program>,
    lives: bool,
}

impl Inner {
    /// Gives a program a place. An error when the runtime has been disposed of, or rolled back since the program's process was made.
    pub(super) fn enter(self: &Arc<Self>, program: &Arc<Program>) -> Result<Membership, Error> {
        let mut programs = self.programs.lock();
        if programs.disposed {
            return Err(Error::RuntimeDisposed);
        }
        let kernel = &program.process.kernel;
        if !Arc::ptr_eq(kernel, &self.kernel.read()) {
            return Err(Error::RolledBack);
        }
        programs.live.insert(program.pid, program.clone());
        drop(programs);
        Ok(self.admit(program))
    }

    /// The place of a program that is among those that live already.
    pub(super) fn admit(self: &Arc<Self>, program: &Arc<Program>) -> Membership {
        let kernel = program.process.kernel.clone();
        kernel.moment.entered();
        kernel.processes.register(program);
        self.core.program_began();
        Membership { home: self.clone(), kernel, program: program.clone(), lives: true }
    }
}

impl Membership {
    /// It lives no more. What follows from its end is still to come.
    pub(crate) fn leave(&mut self) {
        if !std::mem::replace(&mut self.lives, false) {
            return;
        }
        let gone = {
            let mut programs = self.home.programs.lock();
            // Another may have its number by now: the copy that has taken its place.
            let is_it = programs.live.get(&self.program.pid).is_some_and(|live| Arc::ptr_eq(live, &self.program));
            if is_it { programs.live.remove(&self.program.pid) } else { None }
        };
        drop(gone);
        self.home.core.program_ended();
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.leave();
        self.kernel.moment.left();
    }
}
