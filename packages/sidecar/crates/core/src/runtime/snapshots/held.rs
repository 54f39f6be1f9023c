//! A runtime whose programs stay at rest after its snapshot was taken, until the embedder resumes
//! the programs or ends the runtime. Next: `restore.rs`.

use crate::budget::BudgetUse;
use crate::outcome::Sink;
use crate::program::Home;
use crate::runtime::{Generation, Inner};
use coldframe_error::Error;
use coldframe_ids::{HandleId, HostCallId, Lineage};
use coldframe_kernel::{Audit, Decisions, Kernel};
use std::collections::HashMap;
use std::sync::Arc;

/// A runtime whose programs are held at rest. Dropping the value resumes all programs.
#[must_use = "dropping it resumes all programs"]
pub struct Held {
    home: Arc<Inner>,
    generation: Generation,
    /// The number of the request to quiesce, for the release.
    number: u64,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Held").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The state that a paused runtime keeps beside its snapshot.
///
/// Handles and host calls continue with the next number, so that an old number never names a new
/// object. The listener for permission decisions is kept, with the decisions in its queue.
#[derive(Clone, Default)]
pub struct Carryover {
    /// The last assigned handle.
    last_handle: Option<HandleId>,
    /// The id of the last host call.
    last_host_call: Option<HostCallId>,
    /// CPU time of all programs so far, in nanoseconds.
    cpu_ns: u64,
    /// The use of the limits of the whole runtime.
    budget: BudgetUse,
    weight: Option<u64>,
    audit: Arc<Audit>,
}

impl Carryover {
    fn of(home: &Inner, kernel: &Kernel) -> Self {
        Self {
            last_handle: home.last_handle(),
            last_host_call: kernel.host_calls.last(),
            cpu_ns: kernel.usage.cpu_ns(),
            budget: home.budget.used(),
            weight: Some(home.flow.weight()),
            audit: kernel.permissions.audit(),
        }
    }

    /// Passes the state to the runtime that replaces the paused runtime.
    pub(super) fn apply(self, home: &Inner, kernel: &Kernel) {
        home.continue_handles(self.last_handle);
        kernel.host_calls.continue_from(self.last_host_call);
        kernel.usage.computed(self.cpu_ns);
        kernel.permissions.continue_audit(self.audit);
    }

    /// Returns the time that the paused runtime has used.
    pub(super) fn budget(&self) -> BudgetUse {
        self.budget
    }

    /// Returns the weight of the paused runtime.
    pub(super) fn weight(&self) -> Option<u64> {
        self.weight
    }

    /// Takes at most `most` permission decisions of the paused runtime, like
    /// [`crate::Permissions::take`].
    pub fn take_decisions(&self, most: usize) -> Decisions {
        self.audit.take(most)
    }
}

impl Held {
    pub(super) fn new(home: Arc<Inner>, generation: Generation, number: u64) -> Self {
        Self { home, generation, number }
    }

    /// Ends all programs and disposes of the runtime without a report to the sinks.
    ///
    /// Returns the sinks by the lineage of their programs, for the restored programs that replace
    /// these programs. Inbound connections end with [`Error::RuntimePaused`].
    pub fn into_sinks(self) -> (HashMap<Lineage, Arc<dyn Sink>>, Carryover) {
        let roots = self.home.programs().into_iter().filter(|program| program.is_root());
        let sinks = roots.filter_map(|program| Some((program.lineage, program.take_sink(None)?))).collect();
        let carryover = Carryover::of(&self.home, &self.generation.kernel);
        self.home.report_open_outputs();
        self.home.end(&Error::RuntimePaused);
        (sinks, carryover)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.generation.quiesce.release(self.number);
    }
}
