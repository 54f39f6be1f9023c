//! The embedder's requests: attaching an [`Outside`], and its results and events. Next:
//! `../stream.rs`.

use crate::Kernel;
use crate::net::sockets::Sockets;
use crate::outside::{FlowId, LookUpAnswer, LookUpId, Outside, OutsideEvent, OutsideFailure};
use std::sync::Arc;

impl Kernel {
    /// Sets the implementation that opens connections and looks up names. `None` means that
    /// programs reach nothing outside the runtime. All flows of an earlier implementation are
    /// reset, and its lookups fail with `EAI_AGAIN`.
    pub fn set_outside(&self, outside: Option<Arc<dyn Outside>>) {
        self.sockets.set_outside(outside);
    }

    /// Passes the result of a lookup or query to the program. Has no effect if the lookup was
    /// cancelled or has ended.
    pub fn looked_up(&self, id: LookUpId, result: Result<LookUpAnswer, OutsideFailure>) {
        let _ = self.sockets.with(|state| {
            state.end_look_up(id, result);
            Ok(())
        });
    }
}

impl Sockets {
    /// Handles an event of a flow. Has no effect if the flow has ended. An event that breaks the
    /// rules of [`OutsideEvent`] resets the flow.
    pub fn outside_event(&self, flow: FlowId, event: OutsideEvent<'_>) {
        let _ = self.with(|state| {
            state.flow_event(flow, event);
            Ok(())
        });
    }

    /// Sets the implementation, and ends the flows and lookups of the earlier implementation.
    pub(in crate::net) fn set_outside(&self, outside: Option<Arc<dyn Outside>>) {
        let _ = self.with(|state| {
            state.reset_flows(None);
            state.lose_look_ups();
            state.outside.outside = outside;
            Ok(())
        });
    }

    /// Returns whether programs can reach addresses outside the runtime.
    pub(in crate::net) fn has_outside(&self) -> bool {
        self.lock().outside.outside.is_some()
    }

    /// Takes the implementation from `before`, the kernel that this kernel replaces. The numbers of
    /// flows and lookups continue, so that a late event of `before` matches no new flow.
    pub(in crate::net) fn take_over_outside(&self, before: &Self) {
        let (outside, flow, look_up) = {
            let state = before.lock();
            (state.outside.outside.clone(), state.outside.last_flow, state.outside.last_look_up)
        };
        before.set_outside(None);
        let mut state = self.lock();
        state.outside.outside = outside;
        (state.outside.last_flow, state.outside.last_look_up) = (flow, look_up);
    }

    /// Returns the number of the kernel's ends of flows.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn flow_ends(&self) -> usize {
        self.lock().outside.ends.len()
    }

    /// Returns the number of flows, and of lookups in progress.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn outside_counts(&self) -> (usize, usize) {
        self.lock().outside.counts()
    }
}
