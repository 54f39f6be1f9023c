//! Opens flows to the outside: connections, and sessions of TLS. The far end of each flow is
//! [`Outside`]. Next: `flows.rs`.

use super::flows::{FarFlow, Flow, FlowKind, FlowPlace};
use crate::ids::SocketId;
use crate::net::address::Address;
use crate::net::link::FarEnd;
use crate::net::socket::{Domain, Role, Socket, Stream};
use crate::net::sockets::SocketState;
use crate::outside::{FlowId, Outside};
use coldframe_error::Errno;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// The far end of a flow to the outside.
struct OutsideEnd {
    outside: Arc<dyn Outside>,
    flow: FlowId,
}

impl FarFlow for OutsideEnd {
    fn close(&self, reset: bool) {
        self.outside.close(self.flow, reset);
    }
}

impl FarEnd for OutsideEnd {
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

impl SocketState {
    /// Starts a connection to an address outside the runtime. Fails like [`Network::begin_flow`],
    /// and with `EACCES` if nothing outside can be reached.
    pub(in crate::net) fn connect_outside(&mut self, id: SocketId, peer: SocketAddr) -> Result<(), Errno> {
        let outside = self.outside.outside.clone().ok_or(Errno::EACCES)?;
        let far = |flow| Arc::new(OutsideEnd { outside: outside.clone(), flow }) as Arc<dyn FarFlow>;
        let flow = self.begin_flow(id, Address::Ip(peer.ip(), peer.port()), far)?;
        outside.connect(flow, peer);
        Ok(())
    }

    /// Returns the address of the host machine's loopback that a connection to `address` reaches if
    /// no program listens at the address. Returns `None` for every other address.
    pub(in crate::net) fn host_loopback(&self, address: &Address) -> Option<SocketAddr> {
        let Ok(Address::Ip(ip, port)) = address.clone().destination(&self.network.own) else { return None };
        let peer = SocketAddr::new(ip.to_canonical(), port);
        self.outside.outside.as_ref().filter(|outside| outside.opens_loopback(peer)).map(|_| peer)
    }

    /// Returns the address of the host machine's loopback that a datagram to `address` reaches if
    /// no program has a socket at the address. Returns `None` for every other address.
    pub(in crate::net) fn host_loopback_datagrams(&self, address: &Address) -> Option<SocketAddr> {
        let outside = self.outside.outside.as_ref()?;
        let to = address.clone().destination(&self.network.own).ok()?;
        let Address::Ip(ip, port) = to else { return None };
        let peer = SocketAddr::new(ip.to_canonical(), port);
        let is_free = || self.network.index().datagrams_at(&to).is_empty();
        Some(peer).filter(|peer| outside.opens_loopback_datagrams(*peer) && is_free())
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
        let Some(Flow { id: Some(connection), kind, far, .. }) = self.outside.ends.get(&end).map(|flow| &**flow) else {
            return Err(Errno::ENOTCONN);
        };
        if far.membership().is_some() {
            return Err(Errno::ENOTCONN);
        }
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
        let far = |flow| Arc::new(OutsideEnd { outside: outside.clone(), flow }) as Arc<dyn FarFlow>;
        let flow = self.begin_flow(socket, Address::Ip(nowhere.ip(), 0), far).inspect_err(|_| {
            let _ = self.network.close(socket, false);
        })?;
        begin(&*outside, flow);
        if self.flow_opened(flow, nowhere).is_err() {
            self.reset_flow(flow);
        } else if let Some(FlowPlace::Open(end)) = self.outside.flows.get(&flow).map(|flow| &flow.place)
            && let Some(flow) = self.outside.ends.get_mut(end)
        {
            flow.kind = FlowKind::Session;
        }
        Ok(socket)
    }
}
