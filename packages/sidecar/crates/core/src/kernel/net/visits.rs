//! Connections that the caller outside opens to a listener of the sandbox.
//!
//! ```text
//! caller ── at most a window without credit ──► queue ──► our socket ═══ the guest's socket
//!        ◄── at most a window without credit ─────────────────┘
//! ```
//!
//! Such a connection is a socket of the table like any other, whose program is the caller: this module reads and writes it. What it reads goes
//! to the caller until a window's worth has no credit; then it lies in the socket until the guest's writes wait. What the caller writes waits
//! here until the guest's socket has room, and credit says when it went. So a side that does not read costs a window and a socket's buffer,
//! and stops nobody but the other side.
//!
//! The caller is told with the table locked, so that it hears of things in the order in which they happened. The table of a snapshot has no
//! visits: their sockets are closed like those of a program that is gone. Next: `listeners.rs`.

use super::address::Address;
use super::ends::{NOBODY, State};
use super::socket::{Domain, IN, Id, OUT, Role, Socket, Waiter};
use super::stream::Progress;
use super::table::Network;
use crate::host::Host;
use crate::network::{NetworkEvent, STREAM_WINDOW};
use coldframe_error::Errno;
use coldframe_error::Error;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Bytes that are read at once.
const PIECE: usize = 64 << 10;
/// Credit is given in pieces of this size: the other side still has most of its window when it comes.
const CREDIT: u64 = STREAM_WINDOW / 4;

/// Visits by their sockets, and what the caller calls them.
#[derive(Default)]
pub(super) struct Visits {
    by_socket: HashMap<Id, Visit>,
    sockets: HashMap<u32, Id>,
}

impl Visits {
    /// Their sockets, in order.
    pub(super) fn ids(&self) -> Vec<Id> {
        let mut ids: Vec<Id> = self.by_socket.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// Bytes that wait for the guests' sockets.
    pub(super) fn held(&self) -> u64 {
        self.by_socket.values().map(|visit| visit.queue.len() as u64).sum()
    }
}

struct Visit {
    number: u32,
    /// Who it was connected to, for people.
    name: String,
    host: Arc<dyn Host>,
    /// What the caller has written and the guest's socket has not taken.
    queue: VecDeque<u8>,
    /// The caller writes no more, and the guest's socket knows.
    ends: bool,
    shut: bool,
    /// Bytes that were taken and not yet credited.
    taken: u64,
    /// Bytes that the caller has been given and has not credited.
    unread: u64,
    /// The guest writes no more.
    ended: bool,
    /// Writing has failed: what the caller still writes is lost.
    refused: Option<Errno>,
    /// What is waited for at the socket.
    armed: u32,
}

/// How a visit stands after bytes were moved.
enum Standing {
    Waits(u32),
    Over(Option<Errno>),
}

impl State {
    /// Connects the caller to whoever listens at one of `addresses`, the first that does.
    pub(super) fn visit(&mut self, number: u32, addresses: &[Address], name: &str) -> Result<(), Errno> {
        let host = self.host()?.clone();
        if self.visits.sockets.contains_key(&number) {
            return Err(Errno::EEXIST);
        }
        let mut result = Err(Errno::ECONNREFUSED);
        for address in addresses {
            result = connect(&mut self.network, address);
            if !matches!(result, Err(Errno::ECONNREFUSED)) {
                break;
            }
        }
        let id = result?;
        let visit = Visit {
            number,
            name: name.to_owned(),
            host,
            queue: VecDeque::new(),
            ends: false,
            shut: false,
            taken: 0,
            unread: 0,
            ended: false,
            refused: None,
            armed: 0,
        };
        self.visits.by_socket.insert(id, visit);
        self.visits.sockets.insert(number, id);
        self.pump_visit(id);
        Ok(())
    }

    /// The caller writes, and ends its direction with `ends`. `ENOBUFS` when that is more than the window; the connection is lost then.
    pub(super) fn visitor_writes(&mut self, number: u32, bytes: &[u8], ends: bool) -> Result<(), Errno> {
        let Some(&id) = self.visits.sockets.get(&number) else { return Ok(()) };
        let Some(visit) = self.visits.by_socket.get_mut(&id) else { return Ok(()) };
        if visit.ends && !bytes.is_empty() {
            return Err(Errno::EPIPE);
        }
        // Bytes that were taken and not credited yet still count.
        let held = visit.queue.len() as u64 + visit.taken + bytes.len() as u64;
        if held > STREAM_WINDOW {
            return Err(Errno::ENOBUFS);
        }
        visit.queue.extend(bytes);
        visit.ends |= ends;
        self.pump_visit(id);
        Ok(())
    }

    /// The caller has read so many bytes.
    pub(super) fn visitor_has_read(&mut self, number: u32, bytes: u64) {
        let Some(&id) = self.visits.sockets.get(&number) else { return };
        if let Some(visit) = self.visits.by_socket.get_mut(&id) {
            visit.unread = visit.unread.saturating_sub(bytes);
        }
        self.pump_visit(id);
    }

    /// The caller leaves, and hears nothing more. The guest sees the end of the stream; with `reset`, or when something is lost, a reset.
    pub(super) fn visitor_leaves(&mut self, number: u32, reset: bool) {
        let Some(id) = self.visits.sockets.remove(&number) else { return };
        let Some(visit) = self.visits.by_socket.remove(&id) else { return };
        let _ = self.network.close(id, reset || !visit.queue.is_empty());
    }

    /// Ends all visits.
    pub(super) fn end_visits(&mut self, error: &Error) {
        self.visits.sockets.clear();
        for (id, visit) in std::mem::take(&mut self.visits.by_socket) {
            let _ = self.network.close(id, true);
            visit.host.network(visit.number, NetworkEvent::Closed(Some(error.clone())));
        }
    }

    /// Moves what can be moved in both directions. Nothing happens when the socket is no visit's.
    pub(super) fn pump_visit(&mut self, id: Id) {
        let Some(visit) = self.visits.by_socket.get_mut(&id) else { return };
        match visit.move_bytes(&mut self.network, id) {
            Standing::Waits(mask) => visit.wait(&mut self.network, id, mask),
            Standing::Over(error) => {
                let (number, host) = (visit.number, visit.host.clone());
                let error = error.map(|errno| errno.at("read", &visit.name));
                self.visits.by_socket.remove(&id);
                self.visits.sockets.remove(&number);
                let _ = self.network.close(id, false);
                host.network(number, NetworkEvent::Closed(error));
            }
        }
    }

    #[cfg(test)]
    pub(super) fn visit_count(&self) -> (usize, usize) {
        (self.visits.by_socket.len(), self.visits.sockets.len())
    }
}

fn connect(network: &mut Network, address: &Address) -> Result<Id, Errno> {
    let domain = match address {
        Address::Ip(ip, _) if ip.is_ipv4() => Domain::V4,
        Address::Ip(..) => Domain::V6,
        _ => Domain::Unix,
    };
    let id = network.add(Socket::new(domain, Role::Fresh))?;
    match network.connect(id, address.clone()) {
        // Who waits for room in the queue becomes connected, or is refused, without another word from here.
        Ok(Progress::Connected | Progress::Waiting) => Ok(id),
        Err(error) => {
            let _ = network.close(id, false);
            Err(error)
        }
    }
}

impl Visit {
    fn move_bytes(&mut self, network: &mut Network, id: Id) -> Standing {
        let Ok(socket) = network.get_mut(id) else { return Standing::Over(Some(Errno::ECONNRESET)) };
        match socket.role {
            Role::Connecting(_) => return Standing::Waits(OUT),
            Role::Connected(_) => {}
            _ => return Standing::Over(Some(socket.error.take().unwrap_or(Errno::ECONNREFUSED))),
        }
        self.push(network, id);
        if let Err(error) = self.pull(network, id) {
            return Standing::Over(Some(error));
        }
        if self.ended && (self.shut || self.refused.is_some()) {
            // Who closes without reading what was sent resets the connection; the caller learns it after what it was sent.
            return Standing::Over(self.refused.map(|_| Errno::ECONNRESET));
        }
        let input = if !self.ended && self.unread < STREAM_WINDOW { IN } else { 0 };
        let output = if self.queue.is_empty() { 0 } else { OUT };
        Standing::Waits(input | output)
    }

    /// From the caller to the guest.
    fn push(&mut self, network: &mut Network, id: Id) {
        while !self.queue.is_empty() {
            match network.write(id, self.queue.as_slices().0) {
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
                let _ = network.shutdown(id);
            }
        }
        if self.taken >= CREDIT {
            self.host.network(self.number, NetworkEvent::Credit(self.taken));
            self.taken = 0;
        }
    }

    /// From the guest to the caller.
    fn pull(&mut self, network: &mut Network, id: Id) -> Result<(), Errno> {
        while !self.ended && self.unread < STREAM_WINDOW {
            let room = usize::try_from(STREAM_WINDOW - self.unread).unwrap_or(PIECE).min(PIECE);
            // One byte at least: that finds the end, and what went wrong.
            let mut piece = vec![0; network.waiting(id).clamp(1, room)];
            match network.read(id, &mut piece) {
                Ok(0) => {
                    self.ended = true;
                    self.host.network(self.number, NetworkEvent::Ended);
                }
                Ok(count) => {
                    piece.truncate(count);
                    self.unread += count as u64;
                    self.host.network(self.number, NetworkEvent::Data(piece));
                }
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Hears of readiness once more. A socket at which nothing is waited for is left alone: its end alone would wake us without rest.
    fn wait(&mut self, network: &mut Network, id: Id, mask: u32) {
        if self.armed != 0 {
            let _ = network.disarm(id, NOBODY, id);
        }
        self.armed = mask;
        if mask != 0 {
            let _ = network.arm(id, Waiter { owner: NOBODY, operation: id, mask });
        }
    }
}
