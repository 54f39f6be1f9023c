//! Flows of datagrams: the datagrams between a socket and one peer outside the runtime.
//!
//! The first datagram to a peer opens a flow, and waits for the decision about the peer. The call
//! fails with `EAGAIN`, and the socket is not writable meanwhile. The repeated call sends the
//! datagram, or fails with the refusal. No later call waits: a datagram is dropped if its queue is
//! full, and the drops are counted. A flow passes only datagrams of its peer to the socket.
//!
//! A flow ends with its socket, or after an idle time outside. The next datagram then opens another
//! flow. Next: `look_ups.rs`.

use super::failures::{of_datagrams, of_unreachable};
use crate::STREAM_WINDOW;
use crate::ids::SocketId;
use crate::net::address::Address;
use crate::net::datagram::ENTRY;
use crate::net::members::Place;
use crate::net::network::Network;
use crate::net::socket::{Datagram, Role};
use crate::net::sockets::{SocketState, Sockets};
use crate::outside::{FlowId, MAX_DATAGRAM_FLOWS, OutsideEvent, OutsideFailure, OutsideFailureKind};
use coldframe_error::Errno;
use std::net::SocketAddr;

/// The number of dropped datagrams from which on the number is reported. A smaller number is
/// reported with the next credit, or at the end of the flow.
const REPORTED_DROPS: u64 = 64;

/// A flow of datagrams.
pub(super) struct DatagramFlow {
    pub(super) socket: SocketId,
    peer: SocketAddr,
    state: DatagramState,
    /// The dropped datagrams that are not reported.
    dropped: u64,
}

enum DatagramState {
    /// The peer is not judged.
    Opening,
    /// The flow has this part of the window left.
    Open(u64),
    /// The flow has ended outside. The next call to the peer fails.
    Refused(Errno, Option<Box<str>>),
}

impl Sockets {
    /// Returns the address outside the runtime that a message to `to`, or to the address that the
    /// socket is connected to, reaches. Returns `None` for every other destination.
    pub(in crate::net) fn outside_destination(&self, id: SocketId, to: Option<&Address>) -> Option<SocketAddr> {
        let connected = if to.is_none() { self.lock().network.connected_to(id) } else { None };
        let to = to.or(connected.as_ref())?;
        match self.place_of(to) {
            Place::Outside => to.socket_address(),
            Place::Here => self.lock().host_loopback_datagrams(to),
            Place::Member(_) => None,
        }
    }
}

impl SocketState {
    /// Sends a datagram to a peer outside the runtime. Fails with `EAGAIN` while the peer is
    /// judged, and with the refusal after that. Fails with `EINVAL` for the port 0, and for a
    /// socket that is bound to the loopback. Fails with `ENOBUFS` at the limit of flows.
    pub(in crate::net) fn send_outside(&mut self, id: SocketId, peer: SocketAddr, bytes: &[u8]) -> Result<usize, Errno> {
        let outside = self.outside.outside.clone().ok_or(Errno::EACCES)?;
        self.network.check_message(id, bytes)?;
        self.network.check_source(id, peer)?;
        self.network.bind_if_unbound(id)?;
        let known = self.network.datagram(id).and_then(|datagram| datagram.flows.get(&peer).copied());
        let known = known.and_then(|flow| self.outside.datagrams.get_mut(&flow).map(|of| (flow, of)));
        let Some((flow, of)) = known else { return self.begin_datagrams(id, peer) };
        match &mut of.state {
            DatagramState::Opening => {
                self.network.wait_for(id, Some(flow));
                Err(Errno::EAGAIN)
            }
            DatagramState::Open(left) => {
                match left.checked_sub((bytes.len() + ENTRY) as u64) {
                    Some(rest) => {
                        *left = rest;
                        outside.send_datagram(flow, bytes);
                    }
                    None => of.dropped += 1,
                }
                Ok(bytes.len())
            }
            DatagramState::Refused(errno, explanation) => {
                let (errno, explanation) = (*errno, explanation.take());
                self.forget_datagrams(flow);
                self.network.get_mut(id)?.explanation = explanation;
                Err(errno)
            }
        }
    }

    fn begin_datagrams(&mut self, id: SocketId, peer: SocketAddr) -> Result<usize, Errno> {
        let outside = self.outside.outside.clone().ok_or(Errno::EACCES)?;
        if self.outside.datagrams.len() >= MAX_DATAGRAM_FLOWS {
            // A program may never repeat a call that was refused.
            let is_refused = |of: &DatagramFlow| matches!(of.state, DatagramState::Refused(..));
            let refused = self.outside.datagrams.iter().find(|(_, of)| is_refused(of)).map(|(flow, _)| *flow);
            let Some(refused) = refused else {
                let kind = OutsideFailureKind::Limit { name: "udpFlows".to_owned() };
                let (errno, explanation) = of_datagrams(&OutsideFailure { kind, message: String::new() });
                self.network.get_mut(id)?.explanation = explanation;
                return Err(errno);
            };
            self.forget_datagrams(refused);
        }
        let flow = self.next_flow();
        self.outside.last_flow = flow.get();
        let of = DatagramFlow { socket: id, peer, state: DatagramState::Opening, dropped: 0 };
        self.outside.datagrams.insert(flow, of);
        if let Some(datagram) = self.network.datagram(id) {
            datagram.flows.insert(peer, flow);
        }
        self.network.wait_for(id, Some(flow));
        outside.open_datagrams(flow, peer);
        Err(Errno::EAGAIN)
    }

    /// Handles an event of a flow of datagrams. An event that breaks the rules ends the flow.
    pub(super) fn datagram_event(&mut self, id: FlowId, event: OutsideEvent<'_>) {
        let Some(of) = self.outside.datagrams.get_mut(&id) else { return };
        let (socket, peer) = (of.socket, of.peer);
        match (&mut of.state, event) {
            (DatagramState::Refused(..), _) => {}
            (state @ DatagramState::Opening, OutsideEvent::Connected { .. }) => {
                *state = DatagramState::Open(STREAM_WINDOW);
                self.network.judged(socket, id);
            }
            (state @ DatagramState::Opening, OutsideEvent::Closed(failure)) => {
                let (errno, explanation) = failure.as_ref().map_or((Errno::ECONNRESET, None), of_datagrams);
                *state = DatagramState::Refused(errno, explanation);
                self.network.judged(socket, id);
            }
            (DatagramState::Open(_), OutsideEvent::Data(bytes)) => {
                let from = Address::Ip(peer.ip(), peer.port());
                if !self.network.accepts(socket, &from) || self.network.deliver(socket, from, bytes) {
                    return;
                }
                of.dropped += 1;
                if of.dropped >= REPORTED_DROPS {
                    self.report_drops(id);
                }
            }
            (DatagramState::Open(left), OutsideEvent::Credit(bytes)) if bytes <= STREAM_WINDOW - *left => {
                *left += bytes;
                self.report_drops(id);
            }
            (DatagramState::Open(_), OutsideEvent::Unreachable(errno)) => self.network.unreachable(socket, peer, errno),
            (DatagramState::Open(_), OutsideEvent::Closed(failure)) => {
                self.forget_datagrams(id);
                if let Some(OutsideFailure { kind: OutsideFailureKind::Errno(errno), .. }) = failure {
                    self.network.unreachable(socket, peer, errno);
                }
            }
            _ => {
                self.close_datagram_flow(id);
            }
        }
    }

    fn report_drops(&mut self, id: FlowId) {
        let (Some(of), Some(outside)) = (self.outside.datagrams.get_mut(&id), &self.outside.outside) else { return };
        let count = std::mem::take(&mut of.dropped);
        if count > 0 {
            outside.dropped(id, count);
        }
    }

    /// Closes a flow of datagrams. Has no effect for another flow.
    pub(super) fn close_datagram_flow(&mut self, id: FlowId) {
        let Some(of) = self.outside.datagrams.get(&id) else { return };
        let is_open = !matches!(of.state, DatagramState::Refused(..));
        if is_open {
            self.report_drops(id);
        }
        self.forget_datagrams(id);
        if let Some(outside) = self.outside.outside.as_ref().filter(|_| is_open) {
            outside.close(id, true);
        }
    }

    /// Removes a flow of datagrams. A call that waits for the flow is repeated.
    fn forget_datagrams(&mut self, id: FlowId) {
        let Some(of) = self.outside.datagrams.remove(&id) else { return };
        if let Some(datagram) = self.network.datagram(of.socket) {
            datagram.flows.remove(&of.peer);
        }
        self.network.judged(of.socket, id);
    }

    /// Closes all flows of datagrams, in ascending order.
    pub(super) fn end_datagram_flows(&mut self) {
        let ids: Vec<FlowId> = self.outside.datagrams.keys().copied().collect();
        ids.into_iter().for_each(|id| self.close_datagram_flow(id));
    }
}

impl Network {
    fn datagram(&mut self, id: SocketId) -> Option<&mut Datagram> {
        match self.sockets.get_mut(&id).map(|socket| &mut socket.role) {
            Some(Role::Datagram(datagram)) => Some(datagram),
            _ => None,
        }
    }

    /// Fails with `EINVAL` for the port 0, and for a socket that is bound to the loopback and a
    /// peer outside the loopback.
    fn check_source(&self, id: SocketId, peer: SocketAddr) -> Result<(), Errno> {
        let to = Address::Ip(peer.ip(), peer.port());
        let is_bound = match &self.get(id)?.local {
            Some(Address::Ip(ip, _)) => !ip.is_unspecified() && !self.own.contains(ip),
            _ => false,
        };
        if peer.port() == 0 || is_bound && to.is_outside(&self.own) { Err(Errno::EINVAL) } else { Ok(()) }
    }

    /// Sets the flow that the socket's last call waits for.
    fn wait_for(&mut self, id: SocketId, flow: Option<FlowId>) {
        if let Some(datagram) = self.datagram(id) {
            datagram.awaited = flow;
        }
    }

    /// Wakes a call that waits for the decision about the flow.
    fn judged(&mut self, id: SocketId, flow: FlowId) {
        if self.datagram(id).is_some_and(|datagram| datagram.awaited == Some(flow)) {
            self.wait_for(id, None);
            self.notify(id);
        }
    }

    /// Returns whether the socket receives messages of `from`.
    fn accepts(&mut self, id: SocketId, from: &Address) -> bool {
        self.datagram(id).is_some_and(|datagram| datagram.remote.as_ref().is_none_or(|remote| remote == from))
    }

    /// Sets the pending error of a socket that is connected to the peer. As on Linux, other sockets
    /// get no error.
    fn unreachable(&mut self, id: SocketId, peer: SocketAddr, errno: Errno) {
        let remote = self.datagram(id).and_then(|datagram| datagram.remote.as_ref()?.socket_address());
        if remote == Some(peer)
            && let Ok(socket) = self.get_mut(id)
        {
            socket.error = Some(of_unreachable(errno));
            self.notify(id);
        }
    }
}
