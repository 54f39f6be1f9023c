//! The table of a runtime's sockets. This module adds, finds, binds, arms and closes sockets. Next:
//! `stream.rs` and `datagram.rs`, the two kinds of sockets.

use super::address::Address;
use super::index::AddressIndex;
use super::socket::{Domain, ERR, HUP, IN, OUT, Role, Socket, WaitOwner, Waiter};
use super::terminals::Terminals;
use crate::ids::{MAX_ID, OperationId, SocketId};
use crate::outside::FlowId;
use crate::usage::{Mark, Usage};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// The maximum number of a program's operations that wait for one socket. A program needs one
/// operation to read and one operation to write. The bound is twice that number.
pub(super) const MAX_WAITERS: usize = 4;
/// The range of ports that the table chooses from: Linux's default range.
pub(super) const EPHEMERAL: std::ops::RangeInclusive<u16> = 32_768..=60_999;

/// A wait that has completed: its owner, the socket and the readiness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wake {
    pub(super) owner: WaitOwner,
    pub(super) socket: SocketId,
    pub(super) ready: u32,
}

/// The table of a runtime's sockets.
#[derive(Clone, Debug, Default)]
pub(super) struct Network {
    // Ids are added in ascending order, which leaves the nodes of the map half full.
    pub(super) sockets: BTreeMap<SocketId, Box<Socket>>,
    pub(super) last: Option<SocketId>,
    pub(super) last_port: u16,
    /// The number of sockets that are ends of pipes.
    pub(super) pipe_ends: usize,
    /// The number of sockets that are the kernel's ends of flows, and whose other end a program
    /// has.
    pub(super) flow_ends: usize,
    /// The terminals.
    pub(super) terminals: Terminals,
    /// The highest numbers of sockets and of pipes.
    pub(super) marks: [Mark; 2],
    /// The highest number of terminals.
    pub(super) terminal_mark: Mark,
    /// The runtime's counters and limits.
    pub(super) usage: Arc<Usage>,
    /// The addresses of the runtime in private networks. A snapshot has no memberships.
    pub(super) own: Vec<IpAddr>,
    /// The local addresses of the sockets.
    index: AddressIndex,
    /// The bytes in the buffers of all sockets and in the queues of all links.
    buffered: u64,
    /// The flows whose sockets were closed before the connection was open, and the flows of closed
    /// datagram sockets. `SocketState` takes and
    /// closes the flows like the completed waits.
    abandoned: Vec<FlowId>,
    /// The completed waits. `SocketState` takes the waits after each use of the network and
    /// notifies the owners.
    wakes: Vec<Wake>,
}

impl Network {
    pub(super) fn new(usage: Arc<Usage>) -> Self {
        Self { usage, ..Self::default() }
    }

    pub(super) fn add(&mut self, socket: Socket) -> Result<SocketId, Errno> {
        let (is_pipe, limits) = (socket.is_pipe, &self.usage.limits);
        if socket.is_terminal_end() {
            self.terminals.ends += 1;
            return Ok(self.insert(socket));
        }
        let (count, name, max) = if is_pipe {
            (self.pipe_ends as u64 / 2 + 1, "pipes", limits.pipes)
        } else {
            (self.counted_sockets() + u64::from(!socket.is_flow_end), "sockets", limits.sockets)
        };
        if count > max {
            return Err(Errno::ENFILE);
        }
        if self.marks[usize::from(is_pipe)].raise(count, max) {
            self.usage.warnings.add(name, count, max, None);
        }
        self.pipe_ends += usize::from(is_pipe);
        self.flow_ends += usize::from(socket.is_flow_end);
        Ok(self.insert(socket))
    }

    /// Adds a socket under a free number.
    fn insert(&mut self, socket: Socket) -> SocketId {
        let mut id = SocketId::following(self.last, MAX_ID);
        while self.sockets.contains_key(&id) {
            id = SocketId::following(Some(id), MAX_ID);
        }
        self.last = Some(id);
        self.index.insert(id, &socket);
        self.sockets.insert(id, Box::new(socket));
        id
    }

    /// Returns whether the address is an address of the runtime in a private network.
    pub(super) fn is_own(&self, address: &Address) -> bool {
        matches!(address, Address::Ip(ip, _) if self.own.contains(ip))
    }

    /// Sets whether a socket is the kernel's end of a flow, which counts for no limit. Fails with
    /// `ENFILE` at the limit of sockets.
    pub(super) fn set_flow_end(&mut self, id: SocketId, is_flow_end: bool) -> Result<(), Errno> {
        let has_room = self.counted_sockets() < self.usage.limits.sockets;
        let socket = self.sockets.get_mut(&id).ok_or(Errno::EBADF)?;
        match (socket.is_flow_end, is_flow_end) {
            (true, false) if !has_room => return Err(Errno::ENFILE),
            (true, false) => self.flow_ends -= 1,
            (false, true) => self.flow_ends += 1,
            _ => {}
        }
        socket.is_flow_end = is_flow_end;
        Ok(())
    }

    /// Returns the number of sockets that count for the limit `sockets`. A connection to the
    /// outside counts as one socket.
    fn counted_sockets(&self) -> u64 {
        (self.sockets.len() - self.pipe_ends - self.flow_ends - self.terminals.ends) as u64
    }

    /// Replaces all sockets.
    pub(super) fn set_sockets(&mut self, sockets: BTreeMap<SocketId, Box<Socket>>) {
        self.index = AddressIndex::of(&sockets);
        let in_terminals: usize = self.terminals.all.values().map(|terminal| terminal.discipline.buffered()).sum();
        self.buffered = in_terminals as u64 + sockets.values().map(|socket| socket.buffered() as u64).sum::<u64>();
        self.sockets = sockets;
    }

    /// Changes the local address or the role of a socket. Fails with `EBADF` if the socket does not
    /// exist.
    pub(super) fn change<R>(&mut self, id: SocketId, change: impl FnOnce(&mut Socket) -> R) -> Result<R, Errno> {
        let socket = self.sockets.get_mut(&id).ok_or(Errno::EBADF)?;
        self.index.remove(id, socket);
        let result = change(socket);
        self.index.insert(id, socket);
        Ok(result)
    }

    /// Returns the index of the local addresses.
    pub(super) fn index(&self) -> &AddressIndex {
        &self.index
    }

    /// Records that `added` bytes were added to buffers, and `removed` bytes were removed.
    pub(super) fn count_buffered(&mut self, added: usize, removed: usize) {
        self.buffered = (self.buffered + added as u64).saturating_sub(removed as u64);
    }

    /// Returns the present and the highest number of sockets, then of pipes.
    pub(super) fn used_and_highest(&self) -> [(u64, u64); 2] {
        let [sockets, pipes] = &self.marks;
        [(self.counted_sockets(), sockets.high()), (self.pipe_ends.div_ceil(2) as u64, pipes.high())]
    }

    /// Returns the number of bytes in the buffers of all sockets and in the queues of all links.
    pub(super) fn buffered(&self) -> u64 {
        self.buffered
    }

    /// Returns the buffer capacity of a socket and of a pipe, in bytes.
    pub(super) fn capacities(&self) -> [usize; 2] {
        let limits = &self.usage.limits;
        [limits.socket_bytes, limits.pipe_bytes].map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    pub(super) fn get(&self, id: SocketId) -> Result<&Socket, Errno> {
        self.sockets.get(&id).map(|socket| &**socket).ok_or(Errno::EBADF)
    }

    pub(super) fn get_mut(&mut self, id: SocketId) -> Result<&mut Socket, Errno> {
        self.sockets.get_mut(&id).map(|socket| &mut **socket).ok_or(Errno::EBADF)
    }

    /// Fails with `EALREADY` if the socket waits for another connection, and with `EISCONN` if the
    /// socket is connected or listens.
    pub(super) fn check_fresh(&self, id: SocketId) -> Result<(), Errno> {
        match self.get(id)?.role {
            Role::Fresh => Ok(()),
            Role::Connecting(_) | Role::Opening(_) => Err(Errno::EALREADY),
            _ => Err(Errno::EISCONN),
        }
    }

    /// Returns the number of bytes that a read returns without waiting: 0 for a socket that is not
    /// a connection.
    pub(super) fn waiting(&self, id: SocketId) -> usize {
        match self.sockets.get(&id).map(|socket| &socket.role) {
            Some(Role::Connected(stream)) => stream.incoming.len(),
            _ => 0,
        }
    }

    /// Removes and returns the flows whose sockets were closed before the connection was open, and
    /// the flows of closed datagram sockets.
    pub(super) fn take_abandoned(&mut self) -> Vec<FlowId> {
        std::mem::take(&mut self.abandoned)
    }

    /// Adds a completed wait.
    pub(super) fn wake(&mut self, wake: Wake) {
        self.wakes.push(wake);
    }

    pub(super) fn take_wakes(&mut self) -> Vec<Wake> {
        std::mem::take(&mut self.wakes)
    }

    /// Returns the socket's readiness, as a mask of events.
    pub(super) fn readiness(&self, socket: &Socket) -> u32 {
        let failed = if socket.error.is_some() { IN | OUT | ERR } else { 0 };
        failed
            | match &socket.role {
                Role::Fresh => OUT | HUP,
                Role::Listening(listener) if listener.ready.is_empty() => 0,
                Role::Listening(_) => IN,
                Role::Connecting(_) | Role::Opening(_) => 0,
                Role::Master(number) => self.terminal(*number).map_or(HUP, |terminal| {
                    let has_output = !terminal.discipline.output().is_empty();
                    let over = if terminal.is_over() { IN | OUT | HUP } else { 0 };
                    let room = if terminal.discipline.accepts_input() { OUT } else { 0 };
                    over | room | if has_output { IN } else { 0 }
                }),
                Role::Slave(number) => self.terminal(*number).map_or(HUP, |terminal| {
                    let over = if terminal.is_hung_up { IN | OUT | HUP } else { 0 };
                    let input = if terminal.discipline.is_readable() { IN } else { 0 };
                    over | input | if terminal.discipline.accepts_output() { OUT } else { 0 }
                }),
                Role::Datagram(datagram) => {
                    let input = if datagram.incoming.is_empty() { 0 } else { IN };
                    input | if datagram.awaited.is_none() { OUT } else { 0 }
                }
                Role::Connected(stream) => {
                    let room = match stream.peer.and_then(|peer| self.get(peer).ok()) {
                        Some(Socket { role: Role::Connected(peer), is_pipe, .. }) => {
                            peer.has_room(self.capacities()[usize::from(*is_pipe)])
                        }
                        _ => true,
                    };
                    let input = if !stream.incoming.is_empty() || stream.ended { IN } else { 0 };
                    let output = if room || stream.shut { OUT } else { 0 };
                    let over = if stream.ended && (stream.shut || stream.peer.is_none()) { HUP } else { 0 };
                    input | output | over
                }
            }
    }

    /// Completes the waits of a socket that is ready for an event of the wait's mask. An error and
    /// the end of the stream complete every wait.
    pub(super) fn notify(&mut self, id: SocketId) {
        let Some(socket) = self.sockets.get(&id).filter(|socket| !socket.waiters.is_empty()) else { return };
        let ready = self.readiness(socket);
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let wakes = &mut self.wakes;
        socket.waiters.retain(|waiter| {
            let met = ready & (waiter.mask | ERR | HUP);
            if met != 0 {
                wakes.push(Wake { owner: waiter.owner, socket: id, ready: met });
            }
            met == 0
        });
    }

    /// Registers a wait, which completes when the socket is ready for an event in the wait's mask.
    /// An error and the end of the stream complete every wait. Fails with `ENOBUFS` if the program
    /// has [`MAX_WAITERS`] waits for the socket.
    pub(super) fn arm(&mut self, id: SocketId, waiter: Waiter) -> Result<(), Errno> {
        let socket = self.get_mut(id)?;
        if socket.waiters.iter().filter(|other| other.owner.pid() == waiter.owner.pid()).count() >= MAX_WAITERS {
            return Err(Errno::ENOBUFS);
        }
        // Most sockets have one wait, and the usual growth reserves space for four.
        socket.waiters.reserve_exact(1);
        socket.waiters.push(waiter);
        self.notify(id);
        Ok(())
    }

    pub(super) fn disarm(&mut self, id: SocketId, owner: WaitOwner) -> Result<(), Errno> {
        self.get_mut(id)?.waiters.retain(|waiter| waiter.owner != owner);
        Ok(())
    }

    /// Removes a program's waits for a socket, because the program closes the socket's descriptor.
    /// Returns the operations of the waits, which no event of the socket completes.
    pub(super) fn forget(&mut self, id: SocketId, pid: Pid) -> Vec<OperationId> {
        let Some(socket) = self.sockets.get_mut(&id) else { return Vec::new() };
        let own = |waiter: &Waiter| match waiter.owner {
            WaitOwner::Operation(owner, operation) if owner == pid => Some(operation),
            _ => None,
        };
        let operations = socket.waiters.iter().filter_map(own).collect();
        socket.waiters.retain(|waiter| own(waiter).is_none());
        operations
    }

    /// Binds the socket to an address, and to a free port if the port is 0. Fails with `EINVAL` if
    /// the socket is already bound, and with `EADDRNOTAVAIL` for an address outside the loopback.
    /// Fails with `EADDRINUSE` if another socket receives for the address.
    pub(super) fn bind(&mut self, id: SocketId, address: Address, only_v6: bool, shares_port: bool) -> Result<(), Errno> {
        let socket = self.get(id)?;
        if socket.local.is_some() || !matches!(socket.role, Role::Fresh | Role::Datagram(_)) {
            return Err(Errno::EINVAL);
        }
        if address.is_outside(&self.own) {
            return Err(Errno::EADDRNOTAVAIL);
        }
        let chosen = match &address {
            Address::Ip(_, 0) => address.with_port(self.free_port(socket.is_datagram())?),
            _ => address,
        };
        self.change(id, |socket| {
            socket.only_v6 = only_v6;
            socket.shares_port = shares_port;
            socket.local = Some(chosen);
        })?;
        if self.is_taken(id) {
            self.change(id, |socket| socket.local = None)?;
            return Err(Errno::EADDRINUSE);
        }
        Ok(())
    }

    /// Returns whether another socket already receives the messages or connections for this
    /// socket's address. Another stream socket conflicts only if that socket listens.
    pub(super) fn is_taken(&self, id: SocketId) -> bool {
        self.sockets.get(&id).is_some_and(|socket| self.index.has_conflict(id, socket))
    }

    pub(super) fn free_port(&mut self, datagram: bool) -> Result<u16, Errno> {
        for _ in EPHEMERAL {
            let next = self.last_port.wrapping_add(1);
            self.last_port = if EPHEMERAL.contains(&next) { next } else { *EPHEMERAL.start() };
            if !self.index.is_port_used(datagram, self.last_port) {
                return Ok(self.last_port);
            }
        }
        Err(Errno::EADDRINUSE)
    }

    /// Closes a socket. The other end receives the end of the stream. If `abort` is set or the
    /// socket has unread bytes, the other end receives a reset.
    pub(super) fn close(&mut self, id: SocketId, abort: bool) -> Result<(), Errno> {
        let socket = self.sockets.remove(&id).ok_or(Errno::EBADF)?;
        self.index.remove(id, &socket);
        self.count_buffered(0, socket.buffered());
        self.pipe_ends -= usize::from(socket.is_pipe);
        self.flow_ends -= usize::from(socket.is_flow_end);
        if let Role::Master(number) | Role::Slave(number) = socket.role {
            self.close_end(number, id);
            return Ok(());
        }
        let count = self.counted_sockets();
        let [sockets, pipes] = &mut self.marks;
        sockets.lower(count, self.usage.limits.sockets);
        pipes.lower(self.pipe_ends as u64 / 2, self.usage.limits.pipes);
        match socket.role {
            Role::Listening(listener) => {
                for ready in listener.ready {
                    let _ = self.close(ready, true);
                }
                for client in listener.waiting {
                    self.fail_connecting(client, Errno::ECONNREFUSED);
                }
            }
            Role::Connecting(listener) => {
                if let Ok(Socket { role: Role::Listening(listener), .. }) = self.get_mut(listener) {
                    listener.waiting.retain(|client| *client != id);
                }
            }
            Role::Connected(stream) => {
                let Some(peer) = stream.peer else { return Ok(()) };
                self.part(peer, abort || !stream.incoming.is_empty());
            }
            Role::Opening(flow) => self.abandoned.push(flow),
            Role::Datagram(datagram) => self.abandoned.extend(datagram.flows.into_values()),
            Role::Fresh | Role::Master(_) | Role::Slave(_) => {}
        }
        Ok(())
    }

    /// Marks the connection `id` as closed by its other end, with a reset if `reset` is set.
    fn part(&mut self, id: SocketId, reset: bool) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        if std::mem::take(&mut socket.is_flow_end) {
            // The end of a flow counts as a socket after the program has closed its own end. The
            // flow is moved also if its end waits for no event.
            self.flow_ends -= 1;
            self.wakes.push(Wake { owner: WaitOwner::Embedder, socket: id, ready: HUP });
        }
        let Role::Connected(stream) = &mut socket.role else { return };
        stream.peer = None;
        stream.ended = true;
        if reset {
            stream.broken = true;
            socket.error = Some(Errno::ECONNRESET);
        } else if socket.domain == Domain::Unix {
            stream.broken = true;
        }
        self.notify(id);
    }

    pub(super) fn fail_connecting(&mut self, id: SocketId, error: Errno) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        socket.role = Role::Fresh;
        socket.error = Some(error);
        self.notify(id);
    }
}
