//! The sink of a program, which can be replaced and taken.
//!
//! A program that a rollback replaces, or that ends because its runtime is paused, loses its sink.
//! After [`ProgramSink::take`] has returned, the program sends no report, and no call of the sink
//! is running. Next: `run.rs`.

use crate::outcome::Sink;
use coldframe_panics::outside;
use coldframe_panics::runtime::{RwLock, RwLockReadGuard};
use std::sync::Arc;

/// The sink of a program, until the sink is taken.
pub(crate) struct ProgramSink(RwLock<Option<Arc<dyn Sink>>>);

impl ProgramSink {
    pub(super) fn new(sink: Option<Arc<dyn Sink>>) -> Self {
        Self(RwLock::new(sink))
    }

    /// Keeps the sink in place until the guard is dropped. A caller that removes state from the
    /// program and then reports the state needs the guard.
    pub(super) fn hold(&self) -> RwLockReadGuard<'_, Option<Arc<dyn Sink>>> {
        // The lock is taken recursively, because a report can cause further reports on this thread.
        self.0.read_recursive()
    }

    /// Calls `report` with the sink, if the program has a sink. The report must not replace or take
    /// the sink. A panic of the report aborts the process, because the report would be lost.
    pub(super) fn send(&self, report: impl FnOnce(&dyn Sink)) {
        if let Some(sink) = &*self.hold() {
            outside(|| report(&**sink));
        }
    }

    /// Returns the sink, unless the sink was taken.
    pub(crate) fn get(&self) -> Option<Arc<dyn Sink>> {
        self.hold().clone()
    }

    /// Replaces the sink.
    pub(crate) fn replace(&self, sink: Arc<dyn Sink>) {
        let before = self.0.write().replace(sink);
        drop(before);
    }

    /// Removes and returns the sink. All later reports are dropped.
    pub(super) fn take(&self) -> Option<Arc<dyn Sink>> {
        self.0.write().take()
    }
}
