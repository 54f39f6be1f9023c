//! A flow that a limit refused: no connection is opened, and the failure is reported in the pace of
//! the runtime's failures. Next: `../limits.rs`.

use super::{Flow, Inner};
use crate::limits::MAX_REFUSED;
use crate::link::Slot;
use crate::runtime::Runtime;
use coldframe_edge_link::{CloseReason, Failure};
use futures_util::future::select;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::time::Instant;

impl Flow {
    /// Begins a flow that ends with `failure`. Returns the use of its id.
    ///
    /// # Errors
    /// Returns the failure if too many refused flows wait. The caller reports it at once.
    pub fn start_refused(id: u32, runtime: &Rc<Runtime>, peer: SocketAddr, failure: Failure) -> Result<Slot, Failure> {
        let mut state = runtime.state.borrow_mut();
        if state.refused.len() >= MAX_REFUSED {
            return Err(failure);
        }
        let inner = RefCell::new(Inner { is_refused: true, ..Inner::default() });
        let this = Rc::new(Self { id, runtime: runtime.clone(), peer, began: Instant::now(), inner });
        state.refused.insert(id, this.clone());
        drop(state);
        let of = this.clone();
        runtime.spawn(async move {
            select(pin!(of.runtime.pace_failure()), pin!(of.until_done())).await;
            of.cut(failure, CloseReason::Failed);
        });
        Ok(Slot::Open(this))
    }
}
