//! Freezes a runtime in memory, because its programs did not rest for a pause.
//!
//! The programs of a frozen runtime receive no worker. Their clocks, timers and limits of time
//! stop. Everything else stays as before: files, connections, descriptors, memory. Next:
//! `handles.rs`.

use super::{Inner, Runtime};

impl Runtime {
    /// Freezes the runtime. A program that runs on a worker stops after its slice.
    pub fn freeze(&self) {
        log::debug!(target: "runtime", "{} is frozen", self.inner.ordinal);
        self.inner.freeze.freeze();
    }

    /// Ends the freeze. The programs continue.
    pub fn thaw(&self) {
        self.inner.thaw();
    }
}

impl Inner {
    fn thaw(&self) {
        // The deadlines move before the programs run, and the alarms check the deadlines.
        let frozen_ns = self.freeze.thaw();
        if frozen_ns == 0 {
            return;
        }
        log::debug!(target: "runtime", "{} continues after {} ms", self.ordinal, frozen_ns / 1_000_000);
        self.budget.exempt_wall(frozen_ns);
        let programs: Vec<_> = self.programs.lock().all().cloned().collect();
        programs.iter().for_each(|program| program.move_deadlines(frozen_ns));
    }
}
