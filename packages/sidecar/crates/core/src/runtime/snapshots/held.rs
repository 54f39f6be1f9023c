//! A runtime that rests on after its snapshot was taken, until its caller knows what is to become of it.

use crate::kernel::Kernel;
use crate::outcome::Sink;
use crate::policy::PermissionListener;
use crate::runtime::Inner;
use coldframe_error::Error;
use std::collections::HashMap;
use std::sync::Arc;

/// See the module. Dropping it lets all programs go on.
#[must_use = "dropping it lets all programs go on"]
pub struct Held {
    home: Arc<Inner>,
    kernel: Arc<Kernel>,
    /// Of the moment since which they rest.
    number: u64,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Held").field("number", &self.number).finish_non_exhaustive()
    }
}

/// What a runtime that sleeps leaves to the one that takes its place, and is no part of its value: numbers that the caller outside knows go on, so that an old one
/// means nothing in place of something new, and who hears of permissions goes on hearing.
#[derive(Clone, Default)]
pub struct Bygone {
    /// The last number of what the caller has opened.
    opened: u32,
    /// The last number of a call of the caller.
    called: u32,
    /// CPU time of all programs so far.
    cpu_ns: u64,
    audit: Option<Arc<dyn PermissionListener>>,
}

impl Bygone {
    fn of(home: &Inner, kernel: &Kernel) -> Self {
        Self {
            opened: home.last_opened(),
            called: kernel.host_calls.last(),
            cpu_ns: kernel.usage.cpu_ns(),
            audit: kernel.permissions.listener(),
        }
    }

    /// `home` takes the place.
    pub(super) fn give(self, home: &Inner, kernel: &Kernel) {
        home.opened_before(self.opened);
        kernel.host_calls.go_on_from(self.called);
        kernel.usage.computed(self.cpu_ns);
        if self.audit.is_some() {
            kernel.permissions.listen(self.audit);
        }
    }
}

impl Held {
    pub(super) fn new(home: Arc<Inner>, kernel: Arc<Kernel>, number: u64) -> Self {
        Self { home, kernel, number }
    }

    /// Ends all programs and disposes of the runtime, without a word to their sinks: these are given back, by the lineage of their programs, for the
    /// copies that take their places when the snapshot is restored. Connections of the caller outside end with [`Error::RuntimePaused`].
    pub fn vanish(self) -> (HashMap<u64, Arc<dyn Sink>>, Bygone) {
        let roots = self.home.live().into_iter().filter(|program| program.is_root());
        let sinks = roots.filter_map(|program| Some((program.lineage, program.hand_over(None)?))).collect();
        let bygone = Bygone::of(&self.home, &self.kernel);
        self.home.end(&Error::RuntimePaused);
        (sinks, bygone)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.kernel.moment.let_go(self.number);
    }
}
