//! Checks a socket snapshot that may have been read from a file. The checks refuse values that no
//! program can produce, so that the table's invariants hold after a restore. Next: `../stream.rs`.

use super::SocketsSnapshot;
use crate::ids::MAX_ID;
use crate::ids::SocketId;
use crate::net::address::Address;
use crate::net::datagram::ENTRY;
use crate::net::descriptor_passing::MOST;
use crate::net::network::MAX_WAITERS;
use crate::net::socket::{Domain, Listener, Role, Socket, WaitOwner};
use crate::net::stream::MAX_BACKLOG;
use std::collections::{HashMap, HashSet};

/// A description of the damage.
type Damage = &'static str;

impl SocketsSnapshot {
    /// Checks the snapshot. A passed descriptor is an index below `descriptions`.
    pub(crate) fn check(&self, descriptions: usize) -> Result<(), Damage> {
        if self.last.iter().chain(self.sockets.keys()).any(|id| id.get() > MAX_ID) {
            return Err("a socket's number");
        }
        let waiting = self.check_queues()?;
        for (id, socket) in &self.sockets {
            self.check_one(*id, socket, &waiting)?;
        }
        for (id, feed) in &self.feeds {
            let is_pipe = self.sockets.get(id).is_some_and(|socket| socket.is_pipe || matches!(socket.role, Role::Master(_)));
            // A broken feed must have no bytes, because no program could read the bytes.
            if !is_pipe || (feed.broken && !feed.bytes.is_empty()) {
                return Err("a feed without its pipe");
            }
        }
        for (id, waiting) in &self.passed {
            let of_unix = self.sockets.get(id).is_some_and(|socket| socket.domain == Domain::Unix);
            let are_there = waiting.iter().all(|at| (*at as usize) < descriptions);
            if !of_unix || !are_there || waiting.is_empty() || waiting.len() > MOST {
                return Err("a passed descriptor");
            }
        }
        self.check_terminals()?;
        if self.inbound.iter().any(|id| !self.sockets.contains_key(id)) {
            return Err("an inbound connection without its socket");
        }
        Ok(())
    }

    pub(crate) fn has(&self, id: SocketId) -> bool {
        self.sockets.contains_key(&id)
    }

    /// Returns whether the socket is the embedder's end of a standard input.
    pub(crate) fn has_feed(&self, id: SocketId) -> bool {
        self.feeds.contains_key(&id)
    }

    fn check_one(&self, id: SocketId, socket: &Socket, waiting: &HashSet<SocketId>) -> Result<(), Damage> {
        if socket.is_pipe && !(socket.domain == Domain::Unix && matches!(socket.role, Role::Connected(_))) {
            return Err("a pipe without its connection");
        }
        let fits = |address: &Address| match (address, socket.domain) {
            (Address::Ip(ip, _), Domain::V4) => ip.is_ipv4(),
            (Address::Ip(..), Domain::V6) => true,
            (Address::Ip(..), Domain::Unix) => false,
            (_, domain) => domain == Domain::Unix,
        };
        if !socket.local.iter().all(fits) {
            return Err("a socket's address");
        }
        let mut owners = HashMap::new();
        for waiter in &socket.waiters {
            let own: &mut usize = owners.entry(waiter.owner.pid()).or_default();
            *own += 1;
            let is_sound = match waiter.owner {
                WaitOwner::Operation(_, operation) => operation.get() <= MAX_ID,
                WaitOwner::Embedder => true,
            };
            if !is_sound || *own > MAX_WAITERS {
                return Err("a socket's waiter");
            }
        }
        match &socket.role {
            Role::Fresh => Ok(()),
            Role::Datagram(datagram) => {
                let held: usize = datagram.incoming.iter().map(|(_, bytes)| bytes.len() + ENTRY).sum();
                let is_sound = held == datagram.held && socket.domain != Domain::Unix;
                if is_sound { Ok(()) } else { Err("a datagram socket") }
            }
            Role::Connected(stream) => {
                let Some(peer) = stream.peer else {
                    return if stream.ended { Ok(()) } else { Err("a connection without an end") };
                };
                let back = match self.sockets.get(&peer).map(|socket| (&socket.role, socket.is_pipe)) {
                    Some((Role::Connected(other), is_pipe)) if is_pipe == socket.is_pipe => other.peer,
                    _ => None,
                };
                if back == Some(id) && peer != id { Ok(()) } else { Err("a connection with one end") }
            }
            Role::Connecting(_) if waiting.contains(&id) => Ok(()),
            Role::Connecting(_) => Err("a connecting socket without its listener"),
            Role::Opening(_) => Err("a connection to the outside"),
            Role::Master(number) => match self.terminals.get(number) {
                Some(terminal) if terminal.master == Some(id) && socket.domain == Domain::Unix => Ok(()),
                _ => Err("a master without its terminal"),
            },
            Role::Slave(number) => match self.terminals.get(number) {
                Some(terminal) if terminal.slaves.contains(&id) && socket.domain == Domain::Unix => Ok(()),
                _ => Err("a slave without its terminal"),
            },
            Role::Listening(listener) => {
                let is_sound = listener.backlog <= MAX_BACKLOG && socket.local.is_some();
                if is_sound { Ok(()) } else { Err("a listener") }
            }
        }
    }

    /// Checks that each terminal has its ends, and that no two terminals control one session.
    fn check_terminals(&self) -> Result<(), Damage> {
        let mut sessions = HashSet::new();
        for (number, terminal) in &self.terminals {
            let role = |id: &SocketId| self.sockets.get(id).map(|socket| &socket.role);
            let has_master = terminal.master.iter().all(|id| matches!(role(id), Some(Role::Master(of)) if of == number));
            let has_slaves = terminal.slaves.iter().all(|id| matches!(role(id), Some(Role::Slave(of)) if of == number));
            let is_open = terminal.master.is_some() || !terminal.slaves.is_empty();
            // A terminal without a master was hung up, and controls no session.
            let is_over = terminal.is_hung_up || terminal.master.is_some();
            let is_free = !terminal.is_hung_up || terminal.control.is_none();
            let was_open = terminal.was_open || terminal.slaves.is_empty();
            if !(has_master && has_slaves && is_open && is_over && is_free && was_open && terminal.discipline.is_sound()) {
                return Err("a terminal");
            }
            if terminal.control.is_some_and(|control| !sessions.insert(control.session)) {
                return Err("two terminals of one session");
            }
        }
        Ok(())
    }

    /// Checks the queues of listeners: each socket is in one queue only and has the role of that
    /// queue. Returns the sockets that wait for space in a queue.
    fn check_queues(&self) -> Result<HashSet<SocketId>, Damage> {
        let (mut queued, mut all_waiting) = (HashSet::new(), HashSet::new());
        for (id, socket) in &self.sockets {
            let Role::Listening(Listener { ready, waiting, .. }) = &socket.role else { continue };
            let role = |at: &SocketId| self.sockets.get(at).filter(|socket| !socket.is_pipe).map(|socket| &socket.role);
            let are_ready = ready.iter().all(|at| matches!(role(at), Some(Role::Connected(_))));
            let are_waiting = waiting.iter().all(|at| matches!(role(at), Some(Role::Connecting(listener)) if listener == id));
            if !are_ready || !are_waiting || !ready.iter().chain(waiting).all(|at| queued.insert(*at)) {
                return Err("a listener's queue");
            }
            all_waiting.extend(waiting);
        }
        Ok(all_waiting)
    }
}
