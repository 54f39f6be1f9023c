//! Connections and lookups outside the runtime.
//!
//! ```text
//! program ── connect ──► calls.rs ──► flows.rs ──► Outside::connect, write, end, credit, close
//!         ── send ──► datagrams.rs ──► Outside::open_datagrams, send_datagram, close
//!         ── look_up, query ──► look_ups.rs ──► Outside::look_up, query, cancel
//! Outside ── events, results ──► requests.rs ──► flows.rs, datagrams.rs, look_ups.rs
//! ```
//!
//! A **flow** is one connection or one session of TLS. While the connection opens, the flow has
//! only the program's socket, whose role is `Opening`. An open flow has a second socket, the
//! kernel's end, which is connected with the program's socket. A link (`../link.rs`) moves the
//! bytes between the kernel's end and [`Outside`]. The program therefore has an ordinary
//! connection.
//!
//! The events come from another process, which may be hostile. An event that breaks the rules of a
//! flow resets the flow. A snapshot contains no flows and no lookups: the restored sockets have a
//! pending `ECONNRESET`. Next: `opening.rs`, `flows.rs`.

mod calls;
mod datagrams;
mod failures;
mod flows;
mod look_ups;
mod opening;
mod requests;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(super) use calls::{attach_tls, cancel_look_up, check_datagrams, connect, explain, look_up, open_tls, query};

use crate::ids::SocketId;
use crate::net::address::Address;
use crate::outside::{FlowId, LookUpId, Outside};
use datagrams::DatagramFlow;
pub(super) use failures::{Question, of_connection};
pub(super) use flows::FarFlow;
use flows::{Flow, FlowPlace, PlacedFlow};
use look_ups::LookUp;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The flows and lookups in progress.
#[derive(Default)]
pub(super) struct OutsideState {
    /// Opens connections and looks up names. `None` means that nothing outside can be reached.
    pub(super) outside: Option<Arc<dyn Outside>>,
    last_flow: u32,
    last_look_up: u64,
    /// The flows whose events are expected.
    flows: HashMap<FlowId, PlacedFlow>,
    /// The flows by the kernel's ends. A flow that has ended outside stays until the program's
    /// socket has accepted all bytes.
    ends: HashMap<SocketId, Box<Flow>>,
    look_ups: HashMap<LookUpId, LookUp>,
    /// The flows of datagrams.
    datagrams: BTreeMap<FlowId, DatagramFlow>,
}

impl OutsideState {
    /// Returns whether the socket is the kernel's end of a flow.
    pub(super) fn is_end(&self, id: SocketId) -> bool {
        self.ends.contains_key(&id)
    }

    /// Returns the peer's address of a connection that is not open yet.
    pub(super) fn destination_of(&self, flow: FlowId) -> Option<&Address> {
        match &self.flows.get(&flow)?.place {
            FlowPlace::Opening(_, peer) => Some(peer),
            FlowPlace::Open(_) => None,
        }
    }

    /// Returns the number of queued bytes, which wait for space in the programs' sockets.
    #[cfg(test)]
    pub(super) fn queued_bytes(&self) -> u64 {
        self.ends.values().map(|flow| flow.link.queued() as u64).sum()
    }

    /// Returns the number of flows, and of lookups in progress.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn counts(&self) -> (usize, usize) {
        let ended = self.ends.values().filter(|flow| flow.id.is_none()).count();
        (self.flows.len() + ended + self.datagrams.len(), self.look_ups.len())
    }
}
