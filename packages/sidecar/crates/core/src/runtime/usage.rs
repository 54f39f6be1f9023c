//! Reports a runtime's use of its limits to the embedder. Next: `handles.rs`.

use super::{Inner, Runtime};
use crate::program::Home;
use coldframe_kernel::gather;
use coldframe_kernel::usage::reports::RuntimeResources;

impl Runtime {
    /// Returns the present and the highest use of each limit.
    pub fn resources(&self) -> RuntimeResources {
        self.inner.resources()
    }
}

impl Inner {
    /// Sends the warnings that a call of the embedder has caused. Warnings of programs are sent
    /// when the programs yield.
    pub(super) fn send_warnings(&self) {
        self.kernel().usage.warnings.send();
    }

    fn resources(&self) -> RuntimeResources {
        let programs = self.programs();
        let buffered = programs.iter().map(|program| program.buffered()).sum();
        let uses: Vec<_> = programs.iter().map(|program| program.usage()).collect();
        let mut resources = gather(&self.kernel(), &uses, buffered);
        resources.limits.extend(self.budget.uses());
        resources
    }
}
