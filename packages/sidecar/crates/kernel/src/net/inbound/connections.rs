//! Inbound connections: bytes between the embedder and a listener in the runtime.
//!
//! ```text
//! embedder ── at most a window without credit ──► queue ──► our socket ═══ the guest's socket
//!          ◄── at most a window without credit ─────────────────┘
//! ```
//!
//! An inbound connection is a socket of the table, and this module reads and writes the socket.
//! Bytes from the guest are sent to the embedder until a window is without credit. Further bytes
//! stay in the socket. When the socket's buffer is full, the guest's writes block. Bytes from the
//! embedder are queued until the guest's socket has space. Credit is sent for the bytes that the
//! socket has accepted. A slow reader therefore uses at most the memory of a window and a socket's
//! buffer, and delays only its own connection.
//!
//! Events are sent while the table is locked, so that the embedder receives them in order. A
//! snapshot contains no inbound connections: a restore resets the guest's sockets of inbound
//! connections. Next: `listeners.rs`.

use super::{NetworkEvent, STREAM_WINDOW};
use crate::embedder::Embedder;
use crate::ids::SocketId;
use crate::net::address::Address;
use crate::net::network::Network;
use crate::net::socket::{Domain, IN, OUT, Role, Socket, WaitOwner, Waiter};
use crate::net::sockets::SocketState;
use crate::net::stream::Progress;
use crate::usage::reserve;
use coldframe_error::{Errno, Error};
use coldframe_ids::ConnectionId;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The maximum number of bytes of one read.
const PIECE: usize = 64 << 10;
/// The number of bytes after which credit is sent. The number is a quarter of the window, so that
/// the writer has most of its window left when the credit arrives.
const CREDIT: u64 = STREAM_WINDOW / 4;

/// The inbound connections by socket, and the sockets by the embedder's ids.
#[derive(Default)]
pub(in crate::net) struct InboundConnections {
    by_socket: HashMap<SocketId, InboundConnection>,
    sockets: HashMap<ConnectionId, SocketId>,
}

impl InboundConnections {
    /// Returns the sockets of all inbound connections, in ascending order.
    pub(in crate::net) fn sockets(&self) -> Vec<SocketId> {
        let mut ids: Vec<SocketId> = self.by_socket.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// Returns the number of queued bytes, which wait for space in the guests' sockets.
    pub(in crate::net) fn queued_bytes(&self) -> u64 {
        self.by_socket.values().map(|connection| connection.queue.len() as u64).sum()
    }
}

struct InboundConnection {
    id: ConnectionId,
    /// The listener's address, for error messages.
    target: String,
    embedder: Arc<dyn Embedder>,
    /// The embedder's bytes that the guest's socket has not accepted.
    queue: VecDeque<u8>,
    /// Whether the embedder has ended its sending direction.
    ends: bool,
    /// Whether the embedder's sending direction was ended at the socket too.
    shut: bool,
    /// The number of bytes that the socket has accepted and that have no credit yet.
    taken: u64,
    /// The number of bytes that were sent to the embedder and have no credit yet.
    unread: u64,
    /// Whether the guest has ended its sending direction.
    ended: bool,
    /// The error of a failed write. Later bytes of the embedder are discarded.
    refused: Option<Errno>,
    /// The mask that the socket is armed for.
    armed: u32,
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
        let connection = InboundConnection {
            id,
            target: target.to_owned(),
            embedder,
            queue: VecDeque::new(),
            ends: false,
            shut: false,
            taken: 0,
            unread: 0,
            ended: false,
            refused: None,
            armed: 0,
        };
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
        if connection.ends && !bytes.is_empty() {
            return Err(Errno::EPIPE);
        }
        // Accepted bytes without credit count too.
        let held = connection.queue.len() as u64 + connection.taken + bytes.len() as u64;
        if held > STREAM_WINDOW {
            return Err(Errno::ENOBUFS);
        }
        reserve(&mut connection.queue, bytes.len(), STREAM_WINDOW as usize);
        connection.queue.extend(bytes);
        connection.ends |= ends;
        self.pump_inbound(socket);
        Ok(())
    }

    /// Adds credit for the number of bytes that the embedder has read.
    pub(super) fn inbound_credit(&mut self, id: ConnectionId, bytes: u64) {
        let Some(&socket) = self.inbound.sockets.get(&id) else { return };
        if let Some(connection) = self.inbound.by_socket.get_mut(&socket) {
            connection.unread = connection.unread.saturating_sub(bytes);
        }
        self.pump_inbound(socket);
    }

    /// Closes the embedder's end. The embedder receives no further events. The guest receives the
    /// end of the stream, or a reset if `reset` is set or queued bytes are lost.
    pub(super) fn inbound_close(&mut self, id: ConnectionId, reset: bool) {
        let Some(socket) = self.inbound.sockets.remove(&id) else { return };
        let Some(connection) = self.inbound.by_socket.remove(&socket) else { return };
        let _ = self.network.close(socket, reset || !connection.queue.is_empty());
    }

    /// Resets all inbound connections and reports `error` to the embedder for each connection.
    pub(super) fn end_inbound(&mut self, error: &Error) {
        self.inbound.sockets.clear();
        for (socket, connection) in std::mem::take(&mut self.inbound.by_socket) {
            let _ = self.network.close(socket, true);
            connection.embedder.network(connection.id, NetworkEvent::Closed(Some(error.clone())));
        }
    }

    /// Moves bytes between the embedder and the guest's socket, and closes a connection that has
    /// ended. Has no effect if `socket` is not an inbound connection.
    pub(in crate::net) fn pump_inbound(&mut self, socket: SocketId) {
        let Some(connection) = self.inbound.by_socket.get_mut(&socket) else { return };
        match connection.move_bytes(&mut self.network, socket) {
            MoveResult::Waits(mask) => connection.wait(&mut self.network, socket, mask),
            MoveResult::Ended(error) => {
                let (id, embedder) = (connection.id, connection.embedder.clone());
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
        self.push(network, socket);
        if let Err(error) = self.pull(network, socket) {
            return MoveResult::Ended(Some(error));
        }
        if self.ended && (self.shut || self.refused.is_some()) {
            // A guest that closes its end with unread bytes resets the connection. The embedder
            // receives the reset after all bytes of the guest.
            return MoveResult::Ended(self.refused.map(|_| Errno::ECONNRESET));
        }
        let input = if !self.ended && self.unread < STREAM_WINDOW { IN } else { 0 };
        let output = if self.queue.is_empty() { 0 } else { OUT };
        MoveResult::Waits(input | output)
    }

    /// Moves bytes from the embedder to the guest.
    fn push(&mut self, network: &mut Network, socket: SocketId) {
        while !self.queue.is_empty() {
            match network.write(socket, self.queue.as_slices().0) {
                Ok(count) => {
                    self.queue.drain(..count);
                    self.taken += count as u64;
                }
                Err(Errno::EAGAIN) => break,
                Err(error) => {
                    self.refused = Some(error);
                    self.taken += self.queue.len() as u64;
                    self.queue.clear();
                }
            }
        }
        if self.queue.is_empty() {
            self.queue.shrink_to(0);
            if self.ends && !self.shut {
                self.shut = true;
                let _ = network.shutdown(socket);
            }
        }
        if self.taken >= CREDIT {
            self.embedder.network(self.id, NetworkEvent::Credit(self.taken));
            self.taken = 0;
        }
    }

    /// Moves bytes from the guest to the embedder.
    fn pull(&mut self, network: &mut Network, socket: SocketId) -> Result<(), Errno> {
        while !self.ended && self.unread < STREAM_WINDOW {
            let room = usize::try_from(STREAM_WINDOW - self.unread).unwrap_or(PIECE).min(PIECE);
            // The buffer has at least one byte, because the end of the stream and errors are found
            // by a read.
            let mut piece = vec![0; network.waiting(socket).clamp(1, room)];
            match network.read(socket, &mut piece) {
                Ok(0) => {
                    self.ended = true;
                    self.embedder.network(self.id, NetworkEvent::Ended);
                }
                Ok(count) => {
                    piece.truncate(count);
                    self.unread += count as u64;
                    self.embedder.network(self.id, NetworkEvent::Data(piece));
                }
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Arms the socket for `mask`. A mask of 0 disarms the socket, because an armed socket at the
    /// end of its stream is always ready.
    fn wait(&mut self, network: &mut Network, socket: SocketId, mask: u32) {
        if self.armed != 0 {
            let _ = network.disarm(socket, WaitOwner::Embedder);
        }
        self.armed = mask;
        if mask != 0 {
            let _ = network.arm(socket, Waiter { owner: WaitOwner::Embedder, mask });
        }
    }
}
