//! Inbound connections: bytes between the embedder and a listener in the runtime.
//!
//! An inbound connection is a socket of the table, and this module reads and writes the socket
//! through a link (`link.rs`).
//!
//! Events are sent while the table is locked, so that the embedder receives them in order. A
//! snapshot contains no inbound connections: a restore resets the guest's sockets of inbound
//! connections. Next: `listeners.rs`.

use super::NetworkEvent;
use crate::embedder::Embedder;
use crate::ids::SocketId;
use crate::net::address::Address;
use crate::net::link::{FarEnd, Link};
use crate::net::network::Network;
use crate::net::socket::{Domain, OUT, Role, Socket};
use crate::net::sockets::SocketState;
use crate::net::stream::Progress;
use coldframe_error::{Errno, Error};
use coldframe_ids::ConnectionId;
use std::collections::HashMap;
use std::sync::Arc;

/// The inbound connections by socket, and the sockets by the embedder's ids.
#[derive(Default)]
pub(in crate::net) struct InboundConnections {
    by_socket: HashMap<SocketId, InboundConnection>,
    sockets: HashMap<ConnectionId, SocketId>,
}

impl InboundConnections {
    /// Returns whether the socket is the embedder's end of a connection.
    pub(in crate::net) fn has(&self, id: SocketId) -> bool {
        self.by_socket.contains_key(&id)
    }

    /// Returns the sockets of all inbound connections, in ascending order.
    pub(in crate::net) fn sockets(&self) -> Vec<SocketId> {
        let mut ids: Vec<SocketId> = self.by_socket.keys().copied().collect();
        ids.sort_unstable();
        ids
    }
}

struct InboundConnection {
    /// The listener's address, for error messages.
    target: String,
    far: EmbedderEnd,
    link: Link,
}

/// The embedder's end of a connection.
#[derive(Clone)]
struct EmbedderEnd {
    id: ConnectionId,
    embedder: Arc<dyn Embedder>,
}

impl FarEnd for EmbedderEnd {
    fn data(&self, bytes: Vec<u8>) {
        self.embedder.network(self.id, NetworkEvent::Data(bytes));
    }

    fn credit(&self, bytes: u64) {
        self.embedder.network(self.id, NetworkEvent::Credit(bytes));
    }

    fn ended(&self) {
        self.embedder.network(self.id, NetworkEvent::Ended);
    }
}

/// The state of a connection after bytes were moved.
enum MoveResult {
    /// The connection waits for an event of this mask.
    Waits(u32),
    /// The connection has ended.
    Ended(Option<Errno>),
}

impl SocketState {
    /// Connects the embedder to the first listener at one of `addresses`. Fails with `ECONNREFUSED`
    /// if no socket listens at any of the addresses, and with `EEXIST` if `id` is in use.
    pub(super) fn connect_inbound(&mut self, id: ConnectionId, addresses: &[Address], target: &str) -> Result<(), Errno> {
        let embedder = self.embedder()?.clone();
        if self.inbound.sockets.contains_key(&id) {
            return Err(Errno::EEXIST);
        }
        let mut result = Err(Errno::ECONNREFUSED);
        for address in addresses {
            result = connect(&mut self.network, address);
            if !matches!(result, Err(Errno::ECONNREFUSED)) {
                break;
            }
        }
        let socket = result?;
        let far = EmbedderEnd { id, embedder };
        let connection = InboundConnection { target: target.to_owned(), far, link: Link::default() };
        self.inbound.by_socket.insert(socket, connection);
        self.inbound.sockets.insert(id, socket);
        self.pump_inbound(socket);
        Ok(())
    }

    /// Queues bytes of the embedder. If `ends` is set, the embedder's sending direction ends after
    /// the bytes. Fails with `ENOBUFS` if the bytes exceed the window, and with `EPIPE` if the
    /// direction has ended. Has no effect on an ended connection.
    pub(super) fn inbound_write(&mut self, id: ConnectionId, bytes: &[u8], ends: bool) -> Result<(), Errno> {
        let Some(&socket) = self.inbound.sockets.get(&id) else { return Ok(()) };
        let Some(connection) = self.inbound.by_socket.get_mut(&socket) else { return Ok(()) };
        connection.link.accept(&mut self.network, socket, bytes, ends)?;
        self.pump_inbound(socket);
        Ok(())
    }

    /// Adds credit for the number of bytes that the embedder has read.
    pub(super) fn inbound_credit(&mut self, id: ConnectionId, bytes: u64) {
        let Some(&socket) = self.inbound.sockets.get(&id) else { return };
        if let Some(connection) = self.inbound.by_socket.get_mut(&socket) {
            connection.link.add_credit(bytes);
        }
        self.pump_inbound(socket);
    }

    /// Closes the embedder's end. The embedder receives no further events. The guest receives the
    /// end of the stream, or a reset if `reset` is set or queued bytes are lost.
    pub(super) fn inbound_close(&mut self, id: ConnectionId, reset: bool) {
        let Some(socket) = self.inbound.sockets.remove(&id) else { return };
        let Some(mut connection) = self.inbound.by_socket.remove(&socket) else { return };
        let is_cut = connection.link.queued() > 0;
        connection.link.discard(&mut self.network);
        let _ = self.network.close(socket, reset || is_cut);
    }

    /// Resets all inbound connections and reports `error` to the embedder for each connection.
    pub(super) fn end_inbound(&mut self, error: &Error) {
        self.inbound.sockets.clear();
        for (socket, mut connection) in std::mem::take(&mut self.inbound.by_socket) {
            connection.link.discard(&mut self.network);
            let _ = self.network.close(socket, true);
            connection.far.embedder.network(connection.far.id, NetworkEvent::Closed(Some(error.clone())));
        }
    }

    /// Moves bytes between the embedder and the guest's socket, and closes a connection that has
    /// ended. Has no effect if `socket` is not an inbound connection.
    pub(in crate::net) fn pump_inbound(&mut self, socket: SocketId) {
        let Some(connection) = self.inbound.by_socket.get_mut(&socket) else { return };
        match connection.move_bytes(&mut self.network, socket) {
            MoveResult::Waits(mask) => connection.link.wait(&mut self.network, socket, mask),
            MoveResult::Ended(error) => {
                connection.link.discard(&mut self.network);
                let EmbedderEnd { id, embedder } = connection.far.clone();
                let error = error.map(|errno| errno.at("read", &connection.target));
                self.inbound.by_socket.remove(&socket);
                self.inbound.sockets.remove(&id);
                let _ = self.network.close(socket, false);
                embedder.network(id, NetworkEvent::Closed(error));
            }
        }
    }

    #[cfg(test)]
    pub(super) fn inbound_counts(&self) -> (usize, usize) {
        (self.inbound.by_socket.len(), self.inbound.sockets.len())
    }
}

fn connect(network: &mut Network, address: &Address) -> Result<SocketId, Errno> {
    let domain = match address {
        Address::Ip(ip, _) if ip.is_ipv4() => Domain::V4,
        Address::Ip(..) => Domain::V6,
        _ => Domain::Unix,
    };
    let id = network.add(Socket::new(domain, Role::Fresh))?;
    match network.connect(id, address.clone()) {
        // If the listener's queue is full, the socket is connected or refused later, without
        // another call.
        Ok(Progress::Connected | Progress::Waiting) => Ok(id),
        Err(error) => {
            let _ = network.close(id, false);
            Err(error)
        }
    }
}

impl InboundConnection {
    fn move_bytes(&mut self, network: &mut Network, socket: SocketId) -> MoveResult {
        let Ok(state) = network.get_mut(socket) else { return MoveResult::Ended(Some(Errno::ECONNRESET)) };
        match state.role {
            Role::Connecting(_) => return MoveResult::Waits(OUT),
            Role::Connected(_) => {}
            _ => return MoveResult::Ended(Some(state.error.take().unwrap_or(Errno::ECONNREFUSED))),
        }
        self.link.push(network, socket, Some(&self.far));
        if let Err(error) = self.link.pull(network, socket, &self.far) {
            return MoveResult::Ended(Some(error));
        }
        if self.link.ended && (self.link.shut || self.link.refused.is_some()) {
            // A guest that closes its end with unread bytes resets the connection. The embedder
            // receives the reset after all bytes of the guest.
            return MoveResult::Ended(self.link.refused.map(|_| Errno::ECONNRESET));
        }
        MoveResult::Waits(self.link.awaited(network, socket))
    }
}
