//! The wire of one connection between two runtimes. Next: `../net/members/mod.rs`, the connections
//! in a socket table.

use super::PrivateNetwork;
use super::events::MemberEventKind;
use super::mailbox::{Mail, Mailbox, WireEvent};
use crate::outside::FlowId;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

/// The connecting end of a wire, and the listening end.
pub(crate) const ENDS: [usize; 2] = [0, 1];

/// A connection between two runtimes.
pub(crate) struct Wire {
    /// The number of the wire in its network.
    pub(super) id: u64,
    pub(super) network: Weak<PrivateNetwork>,
    /// The connecting end, and the listening end.
    pub(super) ends: [WireSide; 2],
    pub(super) since: SystemTime,
    /// The names of the connecting member and of the listening member.
    pub(super) names: [String; 2],
    /// The listener has the connection.
    pub(super) is_open: AtomicBool,
}

/// One end of a wire.
pub(super) struct WireSide {
    /// The number of the membership.
    pub(super) member: u32,
    /// The address that the other end sees.
    pub(super) address: SocketAddr,
    pub(super) mailbox: Arc<Mailbox>,
    /// The flow in the socket table, 0 before the flow exists.
    pub(super) flow: AtomicU32,
    /// The number of bytes that this end has sent.
    pub(super) sent: AtomicU64,
}

impl Wire {
    /// Returns the address of an end.
    pub(crate) fn address(&self, side: usize) -> SocketAddr {
        self.ends[side].address
    }

    /// Returns the number of the membership of an end.
    pub(crate) fn member(&self, side: usize) -> u32 {
        self.ends[side].member
    }

    /// Stores the flow of an end. The end's events are handled after this call, because the table
    /// of the end is locked.
    pub(crate) fn set_flow(&self, side: usize, flow: FlowId) {
        self.ends[side].flow.store(flow.get(), Ordering::Relaxed);
    }

    /// Returns the flow of an end.
    pub(crate) fn flow(&self, side: usize) -> Option<FlowId> {
        match self.ends[side].flow.load(Ordering::Relaxed) {
            0 => None,
            flow => Some(FlowId::new(flow)),
        }
    }

    /// Posts the connection to the listening end.
    pub(crate) fn arrive(self: &Arc<Self>) {
        self.ends[1].mailbox.post(Mail::Arrival(self.clone()));
    }

    /// Posts an event of the end `side` to the other end.
    pub(crate) fn send(self: &Arc<Self>, side: usize, event: WireEvent) {
        if let WireEvent::Data(bytes) = &event {
            self.ends[side].sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        let other = 1 - side;
        self.ends[other].mailbox.post(Mail::Event { wire: self.clone(), side: other, event });
    }

    /// Reports that the listener has the connection.
    pub(crate) fn opened(&self) {
        self.is_open.store(true, Ordering::Relaxed);
        if let Some(network) = self.network.upgrade() {
            network.report(self, MemberEventKind::Open);
        }
    }

    /// Removes the wire from its network. `is_reset` is true if a program has reset the connection.
    pub(crate) fn forget(&self, is_reset: bool) {
        if let Some(network) = self.network.upgrade() {
            network.forget(self.id, is_reset);
        }
    }
}
