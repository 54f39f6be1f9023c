//! What a runtime uses of its limits, for its owner.

use super::{Inner, Runtime};
use crate::kernel::usage::gather;
use crate::outcome::RuntimeResources;
use crate::program::Program;
use std::sync::Arc;

impl Runtime {
    /// What it has in use at this moment, and had at most.
    pub fn resources(&self) -> RuntimeResources {
        self.inner.resources()
    }
}

impl Inner {
    /// Tells the listener of warnings that its owner's own call has led to. Those of programs are told when they make way.
    pub(super) fn tell_warnings(&self) {
        self.kernel().usage.warnings.tell();
    }

    fn resources(&self) -> RuntimeResources {
        let programs: Vec<Arc<Program>> = self.live();
        let buffered = programs.iter().map(|program| program.buffered()).sum();
        gather(&self.kernel(), &programs, buffered)
    }
}
