//! Who hears of a program: its sink, which can be taken away. A program that a rollback replaces, or that vanishes with its runtime, falls silent
//! at one moment: when [`Voice::take`] has returned nothing more is told, and nothing is being told. Next: `run.rs`.

use crate::outcome::Sink;
use parking_lot::{RwLock, RwLockReadGuard};
use std::sync::Arc;

/// See the module.
pub(crate) struct Voice(RwLock<Option<Arc<dyn Sink>>>);

impl Voice {
    pub(super) fn new(sink: Option<Arc<dyn Sink>>) -> Self {
        Self(RwLock::new(sink))
    }

    /// While this is held the sink stays: for what is taken out of the program first, and told then.
    pub(super) fn hold(&self) -> RwLockReadGuard<'_, Option<Arc<dyn Sink>>> {
        // Recursive: what is told may lead to telling more.
        self.0.read_recursive()
    }

    /// Tells the sink something, if there is one. It must not be taken away or exchanged by what it is told.
    pub(super) fn tell(&self, say: impl FnOnce(&dyn Sink)) {
        if let Some(sink) = &*self.hold() {
            say(&**sink);
        }
    }

    /// From now on `sink` is told.
    pub(crate) fn give(&self, sink: Arc<dyn Sink>) {
        let before = self.0.write().replace(sink);
        drop(before);
    }

    /// From now on nobody is told.
    pub(super) fn take(&self) -> Option<Arc<dyn Sink>> {
        self.0.write().take()
    }
}
