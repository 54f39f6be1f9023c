//! Flows: the connections of programs to the outside.
//!
//! The kernel's end of a flow counts for no limit while a program has the other end. After the
//! program has closed its end, the kernel's end counts as a socket until the last bytes have
//! credit. So a program cannot leave more connections behind than its limit of sockets.
//!
//! The methods of [`Outside`] are called while the table is locked, so that the calls for a flow
//! are in order. Next: `look_ups.rs`.

use super::failures;
use crate::ids::SocketId;
use crate::net::address::Address;
use crate::net::link::{FarEnd, Link};
use crate::net::network::Network;
use crate::net::socket::{Domain, OUT, Role, Socket, Stream};
use crate::net::sockets::SocketState;
use crate::outside::{FlowId, Outside, OutsideEvent, OutsideFailure};
use coldframe_error::Errno;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

/// The place of a flow in the socket table.
pub(super) enum FlowPlace {
    /// The program's socket, which waits for the connection, and the peer's address.
    Opening(SocketId, Address),
    /// The kernel's end.
    Open(SocketId),
}

/// An open flow.
pub(super) struct Flow {
    /// The id. `None` after the flow has ended outside.
    pub(super) id: Option<FlowId>,
    pub(super) link: Link,
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

/// The far end of a flow.
struct OutsideEnd<'a> {
    outside: &'a dyn Outside,
    flow: FlowId,
}

impl FarEnd for OutsideEnd<'_> {
    fn data(&self, bytes: Vec<u8>) {
        self.outside.write(self.flow, &bytes);
    }

    fn credit(&self, bytes: u64) {
        self.outside.credit(self.flow, bytes);
    }

    fn ended(&self) {
        self.outside.end(self.flow);
    }
}

/// The event breaks the rules of a flow.
struct Violation;

/// The state of a flow after bytes were moved.
enum MoveResult {
    /// The flow waits for an event of this mask.
    Waits(u32),
    /// The flow has ended, with a reset if `reset` is set.
    Ended { reset: bool },
}

impl SocketState {
    /// Starts a connection to an address outside the runtime. Fails like [`Network::begin_flow`],
    /// and with `EACCES` if nothing outside can be reached.
    pub(super) fn connect_outside(&mut self, id: SocketId, peer: SocketAddr) -> Result<(), Errno> {
        let outside = self.outside.outside.clone().ok_or(Errno::EACCES)?;
        let flow = self.begin_flow(id, Address::Ip(peer.ip(), peer.port()))?;
        outside.connect(flow, peer);
        Ok(())
    }

    /// Opens a session of TLS. Returns the program's socket. Fails with `EACCES` without an
    /// implementation, and with `ENFILE` at the limit of sockets.
    pub(super) fn open_tls(&mut self) -> Result<SocketId, Errno> {
        self.open_session(|outside, session| outside.open_tls(session))
    }

    /// Opens a session of TLS over the connection of `socket`. Returns the program's socket of the
    /// session. Fails with `ENOTCONN` if the socket has no connection to the outside, or has ended
    /// its sending direction. Fails with `EALREADY` if the connection has a session, and like
    /// [`Self::open_tls`].
    pub(super) fn attach_tls(&mut self, socket: SocketId) -> Result<SocketId, Errno> {
        let end = match &self.network.get(socket)?.role {
            Role::Connected(Stream { peer: Some(peer), shut: false, broken: false, .. }) => *peer,
            _ => return Err(Errno::ENOTCONN),
        };
        let Some(Flow { id: Some(connection), kind, .. }) = self.outside.ends.get(&end) else { return Err(Errno::ENOTCONN) };
        let connection = *connection;
        match kind {
            FlowKind::Connection => {}
            FlowKind::ConnectionOfSession => return Err(Errno::EALREADY),
            FlowKind::Session => return Err(Errno::ENOTCONN),
        }
        let session = self.open_session(|outside, session| outside.attach_tls(session, connection))?;
        if let Some(flow) = self.outside.ends.get_mut(&end) {
            flow.kind = FlowKind::ConnectionOfSession;
        }
        Ok(session)
    }

    /// Opens a session with the method of [`Outside`] that `begin` calls.
    fn open_session(&mut self, begin: impl FnOnce(&dyn Outside, FlowId)) -> Result<SocketId, Errno> {
        let outside = self.outside.outside.clone().ok_or(Errno::EACCES)?;
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let socket = self.network.add(Socket::new(Domain::V4, Role::Fresh))?;
        let flow = self.begin_flow(socket, Address::Ip(nowhere.ip(), 0)).inspect_err(|_| {
            let _ = self.network.close(socket, false);
        })?;
        begin(&*outside, flow);
        if self.flow_opened(flow, nowhere).is_err() {
            self.reset_flow(flow);
        } else if let Some(FlowPlace::Open(end)) = self.outside.flows.get(&flow)
            && let Some(flow) = self.outside.ends.get_mut(end)
        {
            flow.kind = FlowKind::Session;
        }
        Ok(socket)
    }

    /// Begins a flow of a socket. Fails like [`Network::begin_flow`].
    fn begin_flow(&mut self, id: SocketId, remote: Address) -> Result<FlowId, Errno> {
        let mut flow = FlowId::new(self.outside.last_flow.checked_add(1).unwrap_or(1));
        while self.outside.flows.contains_key(&flow) {
            flow = FlowId::new(flow.get().checked_add(1).unwrap_or(1));
        }
        self.network.begin_flow(id, flow)?;
        self.outside.last_flow = flow.get();
        self.outside.flows.insert(flow, FlowPlace::Opening(id, remote));
        Ok(flow)
    }

    /// Handles an event. Has no effect if the flow has ended.
    pub(super) fn flow_event(&mut self, id: FlowId, event: OutsideEvent<'_>) {
        if self.take_event(id, event).is_err() {
            self.reset_flow(id);
        }
    }

    fn take_event(&mut self, id: FlowId, event: OutsideEvent<'_>) -> Result<(), Violation> {
        let Some(place) = self.outside.flows.get(&id) else { return Ok(()) };
        let end = match (place, event) {
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

    fn flow_opened(&mut self, id: FlowId, local: SocketAddr) -> Result<(), Violation> {
        let Some(place) = self.outside.flows.get_mut(&id) else { return Ok(()) };
        let FlowPlace::Opening(socket, remote) = place else { return Err(Violation) };
        let end = self.network.open_flow(*socket, remote.clone(), local).map_err(|_| Violation)?;
        *place = FlowPlace::Open(end);
        self.outside.ends.insert(end, Flow { id: Some(id), link: Link::default(), kind: FlowKind::Connection });
        self.pump_flow(end);
        Ok(())
    }

    /// Ends a flow that has ended outside. A flow with queued bytes stays until the program's
    /// socket has accepted the bytes.
    fn flow_closed(&mut self, id: FlowId, failure: Option<&OutsideFailure>) {
        match self.outside.flows.remove(&id) {
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
    fn reset_flow(&mut self, id: FlowId) {
        let Some(place) = self.outside.flows.remove(&id) else { return };
        if let Some(outside) = &self.outside.outside {
            outside.close(id, true);
        }
        match place {
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

    /// Resets all flows, in ascending order.
    pub(super) fn reset_flows(&mut self) {
        let mut ids: Vec<FlowId> = self.outside.flows.keys().copied().collect();
        ids.sort_unstable();
        ids.into_iter().for_each(|id| self.reset_flow(id));
        // The remaining flows have ended outside.
        let mut ends: Vec<SocketId> = self.outside.ends.keys().copied().collect();
        ends.sort_unstable();
        for end in ends {
            self.forget_end(end);
            let _ = self.network.close(end, true);
        }
    }

    /// Closes the flows whose sockets were closed before the connection was open.
    pub(in crate::net) fn close_abandoned(&mut self, flows: Vec<FlowId>) {
        for id in flows {
            if self.outside.flows.remove(&id).is_some()
                && let Some(outside) = &self.outside.outside
            {
                outside.close(id, true);
            }
        }
    }

    /// Moves bytes between [`Outside`] and the program's socket, and closes a flow that has ended.
    /// Has no effect if `end` is not the kernel's end of a flow.
    pub(in crate::net) fn pump_flow(&mut self, end: SocketId) {
        let Some(flow) = self.outside.ends.get_mut(&end) else { return };
        match flow.move_bytes(&mut self.network, end, self.outside.outside.as_deref()) {
            MoveResult::Waits(mask) => flow.link.wait(&mut self.network, end, mask),
            MoveResult::Ended { reset } => {
                let id = flow.id;
                self.forget_end(end);
                if let Some(id) = id {
                    self.outside.flows.remove(&id);
                    if let Some(outside) = &self.outside.outside {
                        outside.close(id, reset);
                    }
                }
                let _ = self.network.close(end, false);
            }
        }
    }

    /// Removes the flows from a copy of the table. The programs' sockets have a pending
    /// `ECONNRESET`.
    pub(in crate::net) fn remove_flows(&self, sockets: &mut BTreeMap<SocketId, Socket>) {
        for end in self.outside.ends.keys() {
            let peer = match sockets.remove(end).map(|socket| socket.role) {
                Some(Role::Connected(Stream { peer: Some(peer), .. })) => peer,
                _ => continue,
            };
            let Some(socket) = sockets.get_mut(&peer) else { continue };
            socket.error = Some(Errno::ECONNRESET);
            if let Role::Connected(stream) = &mut socket.role {
                (stream.peer, stream.ended, stream.broken) = (None, true, true);
            }
        }
        for place in self.outside.flows.values() {
            if let FlowPlace::Opening(id, _) = place
                && let Some(socket) = sockets.get_mut(id)
            {
                (socket.role, socket.error) = (Role::Fresh, Some(Errno::ECONNRESET));
            }
        }
    }
}

impl Flow {
    fn move_bytes(&mut self, network: &mut Network, end: SocketId, outside: Option<&dyn Outside>) -> MoveResult {
        let is_parted = network.is_parted(end);
        let (Some(flow), Some(outside)) = (self.id, outside) else {
            // The flow has ended outside. The program's socket receives the queued bytes.
            if !is_parted {
                self.link.push(network, end, None);
            }
            let is_done = is_parted || self.link.queued() == 0;
            return if is_done { MoveResult::Ended { reset: false } } else { MoveResult::Waits(OUT) };
        };
        let far = OutsideEnd { outside, flow };
        if is_parted {
            // The program has closed its end. As on Linux, unread bytes cause a reset.
            if self.link.queued() > 0 || network.has_error(end) || self.link.pull(network, end, &far).is_err() {
                return MoveResult::Ended { reset: true };
            }
            return if self.link.ended { MoveResult::Ended { reset: false } } else { MoveResult::Waits(0) };
        }
        self.link.push(network, end, Some(&far));
        if self.link.pull(network, end, &far).is_err() {
            return MoveResult::Ended { reset: true };
        }
        if self.link.ended && self.link.shut && self.kind != FlowKind::ConnectionOfSession {
            return MoveResult::Ended { reset: false };
        }
        MoveResult::Waits(self.link.awaited(network, end))
    }
}

impl Network {
    /// Marks a socket as a client that waits for the connection `flow`. Fails with `EINVAL` if the
    /// socket is bound to the loopback, because the loopback reaches nothing outside. Fails with
    /// `EALREADY` if the socket waits for another connection, and with `EISCONN` if the socket is
    /// connected or listens.
    fn begin_flow(&mut self, id: SocketId, flow: FlowId) -> Result<(), Errno> {
        let socket = self.get_mut(id)?;
        match (&socket.role, &socket.local) {
            (Role::Fresh, Some(Address::Ip(ip, _))) if !ip.is_unspecified() => return Err(Errno::EINVAL),
            (Role::Fresh, _) => {}
            (Role::Connecting(_) | Role::Opening(_), _) => return Err(Errno::EALREADY),
            _ => return Err(Errno::EISCONN),
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
