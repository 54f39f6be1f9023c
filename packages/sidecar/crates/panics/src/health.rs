//! Whether the state of a runtime is consistent. Next: `hook.rs`.

use crate::containment;
use std::sync::OnceLock;

/// The health of one runtime. A runtime breaks when a panic cuts a change of its state in half. A
/// broken runtime never recovers: its programs end, and all calls on the runtime are refused.
#[derive(Debug, Default)]
pub struct Health {
    /// The place of the panic that broke the runtime.
    broken: OnceLock<Box<str>>,
}

impl Health {
    /// Returns the place of the panic that broke the runtime, or `None` if the runtime is whole.
    pub fn broken_at(&self) -> Option<&str> {
        self.broken.get().map(|place| &**place)
    }

    /// Returns whether the runtime is broken.
    pub fn is_broken(&self) -> bool {
        self.broken.get().is_some()
    }

    /// Breaks the runtime, because of a panic at `place`. The first place counts.
    pub fn break_at(&self, place: &str) {
        let _ = self.broken.set(place.into());
    }

    /// Starts a change that consists of several steps, each of which may have its own lock. A panic
    /// before the value is dropped breaks the runtime.
    pub fn change(&self) -> Change<'_> {
        Change { health: self, began_in_panic: std::thread::panicking() }
    }
}

/// A change of a runtime's state that is in progress ([`Health::change`]).
#[must_use = "the change lasts until the value is dropped"]
#[derive(Debug)]
pub struct Change<'h> {
    health: &'h Health,
    began_in_panic: bool,
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.began_in_panic {
            self.health.break_at(&containment::present_place());
        }
    }
}
