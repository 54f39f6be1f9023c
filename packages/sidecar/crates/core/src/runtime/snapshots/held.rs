//! A runtime that rests on after its snapshot was taken, until its caller knows what is to become of it.

use crate::error::Error;
use crate::kernel::Kernel;
use crate::outcome::Sink;
use crate::runtime::{Bygone, Inner};
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

impl Held {
    pub(super) fn new(home: Arc<Inner>, kernel: Arc<Kernel>, number: u64) -> Self {
        Self { home, kernel, number }
    }

    /// Ends all programs and disposes of the runtime, without a word to their sinks: these are given back, by the lineage of their programs, for the
    /// copies that take their places when the snapshot is restored. Connections of the caller outside end with [`Error::RuntimePaused`].
    pub fn vanish(self) -> (HashMap<u64, Arc<dyn Sink>>, Bygone) {
        let roots = self.home.live().into_iter().filter(|program| program.is_root());
        let sinks = roots.filter_map(|program| Some((program.lineage, program.hand_over(None)?))).collect();
        self.home.end(&Error::RuntimePaused);
        (sinks, self.home.bygone())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.kernel.moment.let_go(self.number);
    }
}
