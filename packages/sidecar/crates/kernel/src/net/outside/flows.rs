//! Flows: the connections of programs to the outside.
//!
//! The kernel's end of a flow counts for no limit while a program has the other end. After the
//! program has closed its end, the kernel's end counts as a socket until the last bytes have
//! credit. So a program cannot leave more connections behind than its limit of sockets.
//!
//! The methods of [`Outside`](crate::outside::Outside) are called while the table is locked. So
//! the calls for a flow are in order. Next: `look_ups.rs`.

use super::failures;
use crate::ids::SocketId;
use crate::net::address::Address;
use crate::net::link::{FarEnd, Link};
use crate::net::network::Network;
use crate::net::socket::{Domain, OUT, Role, Socket, Stream};
use crate::net::sockets::SocketState;
use crate::net::stream::Progress;
use crate::outside::{FlowId, OutsideEvent, OutsideFailure};
use coldframe_error::Errno;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// The far end of a flow, which outlives the calls of the socket table.
pub(in crate::net) trait FarFlow: FarEnd + Send + Sync {
    /// Closes the flow, as [`crate::outside::Outside::close`].
    fn close(&self, reset: bool);

    /// Returns the number of this runtime's membership, if the far end is another runtime.
    fn membership(&self) -> Option<u32> {
        None
    }

    /// Reports that the connection is open. Only a far end that began the connection needs the
    /// report.
    fn opened(&self) {}
}

/// A flow whose events are expected.
pub(super) struct PlacedFlow {
    pub(super) place: FlowPlace,
    far: Arc<dyn FarFlow>,
}

/// The place of a flow in the socket table.
pub(super) enum FlowPlace {
    /// The program's socket, which waits for the connection, and the peer's address.
    Opening(SocketId, Box<Address>),
    /// The kernel's end.
    Open(SocketId),
}

/// An open flow.
pub(super) struct Flow {
    /// The id. `None` after the flow has ended outside.
    pub(super) id: Option<FlowId>,
    pub(super) far: Arc<dyn FarFlow>,
    pub(super) link: Link,
    /// The local address of a connection that waits in the queue of a listener, and that the far
    /// end began.
    arriving: Option<Address>,
    pub(super) kind: FlowKind,
}

/// The use of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlowKind {
    Connection,
    /// A connection with a session. Both directions end soon, and the flow stays open for the
    /// session until the program closes its socket.
    ConnectionOfSession,
    Session,
}

/// The event breaks the rules of a flow.
pub(super) struct Violation;

/// The state of a flow after bytes were moved.
enum MoveResult {
    /// The flow waits for an event of this mask.
    Waits(u32),
    /// The flow has ended, with a reset if `reset` is set.
    Ended { reset: bool },
}

impl SocketState {
    /// Begins a flow of a socket. Fails like [`Network::begin_flow`].
    pub(in crate::net) fn begin_flow(
        &mut self,
        id: SocketId,
        remote: Address,
        far: impl FnOnce(FlowId) -> Arc<dyn FarFlow>,
    ) -> Result<FlowId, Errno> {
        let flow = self.next_flow();
        self.network.begin_flow(id, flow, &remote)?;
        self.outside.last_flow = flow.get();
        self.outside.flows.insert(flow, PlacedFlow { place: FlowPlace::Opening(id, Box::new(remote)), far: far(flow) });
        Ok(flow)
    }

    /// Ends a flow that was begun and will not be opened. The program receives `errno`.
    pub(in crate::net) fn refuse_flow(&mut self, flow: FlowId, errno: Errno, explanation: Option<Box<str>>) {
        if let Some(FlowPlace::Opening(socket, _)) = self.outside.flows.remove(&flow).map(|flow| flow.place) {
            self.network.fail_flow(socket, errno, explanation);
        }
    }

    /// Moves the bytes of a flow that has arrived, as soon as its far end knows the flow.
    pub(in crate::net) fn begin_arrived(&mut self, flow: FlowId) {
        if let Some(FlowPlace::Open(end)) = self.outside.flows.get(&flow).map(|flow| &flow.place) {
            let end = *end;
            self.pump_flow(end);
        }
    }

    pub(super) fn next_flow(&self) -> FlowId {
        let mut flow = FlowId::new(self.outside.last_flow.checked_add(1).unwrap_or(1));
        while self.outside.flows.contains_key(&flow) || self.outside.datagrams.contains_key(&flow) {
            flow = FlowId::new(flow.get().checked_add(1).unwrap_or(1));
        }
        flow
    }

    /// Begins a flow that the far end has begun, to the listener at `local`. The program sees the
    /// far end at `remote`. Fails with `ECONNREFUSED` if no socket listens, and at the limit of
    /// sockets.
    pub(in crate::net) fn flow_arrived(
        &mut self,
        (local, remote): (Address, Address),
        far: Arc<dyn FarFlow>,
    ) -> Result<FlowId, Errno> {
        let domain = if matches!(local, Address::Ip(ip, _) if ip.is_ipv4()) { Domain::V4 } else { Domain::V6 };
        let end = Socket { is_flow_end: true, local: Some(remote), ..Socket::new(domain, Role::Fresh) };
        let end = self.network.add(end).map_err(|_| Errno::ECONNREFUSED)?;
        match self.network.connect(end, local.clone()) {
            Ok(Progress::Connected) => {}
            // The connection counts as a socket while it waits in the queue.
            Ok(Progress::Waiting) if self.network.set_flow_end(end, false).is_ok() => {}
            _ => {
                let _ = self.network.close(end, true);
                return Err(Errno::ECONNREFUSED);
            }
        }
        let flow = self.next_flow();
        self.outside.last_flow = flow.get();
        self.outside.flows.insert(flow, PlacedFlow { place: FlowPlace::Open(end), far: far.clone() });
        let (link, kind) = (Link::default(), FlowKind::Connection);
        self.outside.ends.insert(end, Box::new(Flow { id: Some(flow), far, link, arriving: Some(local), kind }));
        Ok(flow)
    }

    /// Handles an event. Has no effect if the flow has ended.
    pub(in crate::net) fn flow_event(&mut self, id: FlowId, event: OutsideEvent<'_>) {
        if self.outside.datagrams.contains_key(&id) {
            return self.datagram_event(id, event);
        }
        if self.take_event(id, event).is_err() {
            self.reset_flow(id);
        }
    }

    fn take_event(&mut self, id: FlowId, event: OutsideEvent<'_>) -> Result<(), Violation> {
        let Some(flow) = self.outside.flows.get(&id) else { return Ok(()) };
        let end = match (&flow.place, event) {
            (FlowPlace::Opening(..), OutsideEvent::Connected { local, .. }) => return self.flow_opened(id, local),
            (_, OutsideEvent::Closed(failure)) => {
                self.flow_closed(id, failure.as_ref());
                return Ok(());
            }
            (FlowPlace::Open(end), OutsideEvent::Data(bytes)) => {
                let end = *end;
                if !bytes.is_empty() && self.network.is_parted(end) {
                    // As on Linux, bytes for a closed socket reset the connection.
                    return Err(Violation);
                }
                self.accept(end, bytes, false)?;
                end
            }
            (FlowPlace::Open(end), OutsideEvent::End) => {
                let end = *end;
                self.accept(end, &[], true)?;
                end
            }
            (FlowPlace::Open(end), OutsideEvent::Credit(bytes)) => {
                let end = *end;
                if let Some(flow) = self.outside.ends.get_mut(&end) {
                    flow.link.add_credit(bytes);
                }
                end
            }
            _ => return Err(Violation),
        };
        self.pump_flow(end);
        Ok(())
    }

    fn accept(&mut self, end: SocketId, bytes: &[u8], ends: bool) -> Result<(), Violation> {
        let flow = self.outside.ends.get_mut(&end).filter(|flow| !flow.link.ends).ok_or(Violation)?;
        flow.link.accept(&mut self.network, end, bytes, ends).map_err(|_| Violation)
    }

    pub(super) fn flow_opened(&mut self, id: FlowId, local: SocketAddr) -> Result<(), Violation> {
        let Some(flow) = self.outside.flows.get_mut(&id) else { return Ok(()) };
        let FlowPlace::Opening(socket, remote) = &flow.place else { return Err(Violation) };
        let end = self.network.open_flow(*socket, (**remote).clone(), local).map_err(|_| Violation)?;
        flow.place = FlowPlace::Open(end);
        let far = flow.far.clone();
        let kind = FlowKind::Connection;
        self.outside.ends.insert(end, Box::new(Flow { id: Some(id), far, link: Link::default(), arriving: None, kind }));
        self.pump_flow(end);
        Ok(())
    }

    /// Ends a flow that has ended outside. A flow with queued bytes stays until the program's
    /// socket has accepted the bytes.
    fn flow_closed(&mut self, id: FlowId, failure: Option<&OutsideFailure>) {
        match self.outside.flows.remove(&id).map(|flow| flow.place) {
            Some(FlowPlace::Opening(socket, _)) => {
                let (errno, explanation) = failure.map_or((Errno::ECONNRESET, None), failures::of_connection);
                self.network.fail_flow(socket, errno, explanation);
            }
            Some(FlowPlace::Open(end)) => {
                if let Some(flow) = self.outside.ends.get_mut(&end) {
                    (flow.id, flow.link.ends) = (None, true);
                    if let Some(failure) = failure {
                        let (errno, explanation) = match flow.kind {
                            FlowKind::Session => failures::of_connection(failure),
                            _ => (failures::of_open_connection(failure), None),
                        };
                        self.network.break_flow(end, errno, explanation);
                    }
                }
                self.pump_flow(end);
            }
            None => {}
        }
    }

    /// Resets both ends of a flow. Queued bytes are lost.
    pub(super) fn reset_flow(&mut self, id: FlowId) {
        let Some(flow) = self.outside.flows.remove(&id) else { return };
        flow.far.close(true);
        match flow.place {
            FlowPlace::Opening(socket, _) => self.network.fail_flow(socket, Errno::ECONNRESET, None),
            FlowPlace::Open(end) => {
                self.forget_end(end);
                let _ = self.network.close(end, true);
            }
        }
    }

    /// Removes the flow of the kernel's end `end`. Queued bytes are lost.
    fn forget_end(&mut self, end: SocketId) {
        if let Some(mut flow) = self.outside.ends.remove(&end) {
            flow.link.discard(&mut self.network);
        }
    }

    /// Resets all flows of a membership, or all flows to the outside, in ascending order.
    pub(in crate::net) fn reset_flows(&mut self, membership: Option<u32>) {
        let is_own = |far: &dyn FarFlow| far.membership() == membership;
        let flows = self.outside.flows.iter().filter(|(_, flow)| is_own(&*flow.far));
        let mut ids: Vec<FlowId> = flows.map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.into_iter().for_each(|id| self.reset_flow(id));
        if membership.is_none() {
            self.end_datagram_flows();
        }
        // The remaining flows have ended outside.
        let ends = self.outside.ends.iter().filter(|(_, flow)| is_own(&*flow.far));
        let mut ends: Vec<SocketId> = ends.map(|(end, _)| *end).collect();
        ends.sort_unstable();
        for end in ends {
            self.forget_end(end);
            let _ = self.network.close(end, true);
        }
    }

    /// Closes the flows whose sockets were closed before the connection was open, and the flows of
    /// closed datagram sockets.
    pub(in crate::net) fn close_abandoned(&mut self, flows: Vec<FlowId>) {
        for id in flows {
            if let Some(flow) = self.outside.flows.remove(&id) {
                flow.far.close(true);
            }
            self.close_datagram_flow(id);
        }
    }

    /// Moves bytes between [`Outside`] and the program's socket, and closes a flow that has ended.
    /// Has no effect if `end` is not the kernel's end of a flow.
    pub(in crate::net) fn pump_flow(&mut self, end: SocketId) {
        let Some(flow) = self.outside.ends.get_mut(&end) else { return };
        match flow.move_bytes(&mut self.network, end) {
            MoveResult::Waits(mask) => flow.link.wait(&mut self.network, end, mask),
            MoveResult::Ended { reset } => {
                let id = flow.id;
                self.forget_end(end);
                if let Some(flow) = id.and_then(|id| self.outside.flows.remove(&id)) {
                    flow.far.close(reset);
                }
                let _ = self.network.close(end, false);
            }
        }
    }

    /// Removes the flows from a copy of the table. The programs' connections have a pending
    /// `ECONNRESET`. A datagram socket has no error: its next datagram opens another flow.
    pub(in crate::net) fn remove_flows(&self, sockets: &mut BTreeMap<SocketId, Box<Socket>>) {
        for flow in self.outside.datagrams.values() {
            if let Some(Role::Datagram(datagram)) = sockets.get_mut(&flow.socket).map(|socket| &mut socket.role) {
                (datagram.flows, datagram.awaited) = (BTreeMap::new(), None);
            }
        }
        for end in self.outside.ends.keys() {
            let peer = match sockets.remove(end).map(|socket| socket.role) {
                Some(Role::Connected(Stream { peer: Some(peer), .. })) => peer,
                Some(Role::Connecting(listener)) => {
                    if let Some(Role::Listening(listener)) = sockets.get_mut(&listener).map(|socket| &mut socket.role) {
                        listener.waiting.retain(|waiting| waiting != end);
                    }
                    continue;
                }
                _ => continue,
            };
            let Some(socket) = sockets.get_mut(&peer) else { continue };
            socket.error = Some(Errno::ECONNRESET);
            if let Role::Connected(stream) = &mut socket.role {
                (stream.peer, stream.ended, stream.broken) = (None, true, true);
            }
        }
        for flow in self.outside.flows.values() {
            if let FlowPlace::Opening(id, _) = &flow.place
                && let Some(socket) = sockets.get_mut(id)
            {
                (socket.role, socket.error) = (Role::Fresh, Some(Errno::ECONNRESET));
            }
        }
    }
}

impl Flow {
    fn move_bytes(&mut self, network: &mut Network, end: SocketId) -> MoveResult {
        if self.arriving.is_some() {
            match self.arrive(network, end) {
                Some(true) => {}
                Some(false) => return MoveResult::Waits(OUT),
                None => return MoveResult::Ended { reset: true },
            }
        }
        let is_parted = network.is_parted(end);
        let far = &*self.far;
        if self.id.is_none() {
            // The flow has ended outside. The program's socket receives the queued bytes.
            if !is_parted {
                self.link.push(network, end, None);
            }
            let is_done = is_parted || self.link.queued() == 0;
            return if is_done { MoveResult::Ended { reset: false } } else { MoveResult::Waits(OUT) };
        }
        if is_parted {
            // The program has closed its end. As on Linux, unread bytes cause a reset.
            if self.link.queued() > 0 || network.has_error(end) || self.link.pull(network, end, far).is_err() {
                return MoveResult::Ended { reset: true };
            }
            return if self.link.ended { MoveResult::Ended { reset: false } } else { MoveResult::Waits(0) };
        }
        self.link.push(network, end, Some(far));
        if self.link.pull(network, end, far).is_err() {
            return MoveResult::Ended { reset: true };
        }
        if self.link.ended && self.link.shut && self.kind != FlowKind::ConnectionOfSession {
            return MoveResult::Ended { reset: false };
        }
        MoveResult::Waits(self.link.awaited(network, end))
    }

    /// Opens a connection that the far end has begun, when the connection is in the queue of the
    /// listener. Returns false if the connection waits for space, and `None` if the listener is
    /// closed or the far end has left.
    fn arrive(&mut self, network: &mut Network, end: SocketId) -> Option<bool> {
        let accepted = match &network.get(end).ok()?.role {
            Role::Connecting(_) => return self.id.map(|_| false),
            Role::Connected(Stream { peer, .. }) => *peer,
            _ => return None,
        };
        let local = self.arriving.take();
        if let Some(accepted) = accepted {
            // A socket that has waited has the address that the queue has guessed.
            let _ = network.change(accepted, |socket| socket.local = local);
            let _ = network.set_flow_end(end, true);
        }
        self.far.opened();
        Some(true)
    }
}

impl Network {
    /// Marks a socket as a client that waits for the connection `flow`. Fails with `EINVAL` if the
    /// socket is bound to the loopback and `remote` is outside the loopback. Fails with `EALREADY`
    /// if the socket waits for another connection, and with `EISCONN` if the socket is connected
    /// or listens.
    fn begin_flow(&mut self, id: SocketId, flow: FlowId, remote: &Address) -> Result<(), Errno> {
        self.check_fresh(id)?;
        let own = &self.own;
        let socket = self.sockets.get_mut(&id).ok_or(Errno::EBADF)?;
        if let Some(Address::Ip(ip, _)) = &socket.local
            && !ip.is_unspecified()
            && !own.contains(ip)
            && remote.is_outside(own)
        {
            return Err(Errno::EINVAL);
        }
        (socket.role, socket.explanation) = (Role::Opening(flow), None);
        Ok(())
    }

    /// Connects a waiting client with a new socket, the kernel's end of the flow. Returns the
    /// kernel's end.
    fn open_flow(&mut self, client: SocketId, remote: Address, local: SocketAddr) -> Result<SocketId, Errno> {
        let domain = self.get(client)?.domain;
        let mut end = Socket::new(domain, Role::Connected(Stream::new(client, remote.clone())));
        end.is_flow_end = true;
        let end = self.add(end)?;
        self.change(client, |socket| {
            let port = socket.local.as_ref().map_or(0, Address::port);
            let ip = local.ip().to_canonical();
            if domain == Domain::V6 || ip.is_ipv4() {
                socket.local = Some(Address::Ip(ip, if port == 0 { local.port() } else { port }));
            }
            socket.role = Role::Connected(Stream::new(end, remote));
        })?;
        self.notify(client);
        Ok(end)
    }

    /// Fails a client that waits for a connection to the outside.
    fn fail_flow(&mut self, client: SocketId, error: Errno, explanation: Option<Box<str>>) {
        if let Ok(socket) = self.get_mut(client)
            && matches!(socket.role, Role::Opening(_))
        {
            socket.explanation = explanation;
            self.fail_connecting(client, error);
        }
    }

    /// Makes the program's calls on a flow fail with `error`, after the program has read all bytes.
    /// The bytes that the program has written and that were not sent are lost.
    fn break_flow(&mut self, end: SocketId, error: Errno, explanation: Option<Box<str>>) {
        let Ok(Socket { role: Role::Connected(stream), .. }) = self.get_mut(end) else { return };
        let (lost, peer) = (std::mem::take(&mut stream.incoming).len(), stream.peer);
        self.count_buffered(0, lost);
        let Some(peer) = peer else { return };
        if let Ok(socket) = self.get_mut(peer) {
            (socket.error, socket.explanation) = (Some(error), explanation);
            if let Role::Connected(stream) = &mut socket.role {
                stream.broken = true;
            }
        }
        self.notify(peer);
    }

    /// Returns whether the other end of a connection is closed.
    fn is_parted(&self, id: SocketId) -> bool {
        !matches!(self.get(id), Ok(Socket { role: Role::Connected(Stream { peer: Some(_), .. }), .. }))
    }

    fn has_error(&self, id: SocketId) -> bool {
        self.get(id).is_ok_and(|socket| socket.error.is_some())
    }
}
