//! Stream sockets: listening, connecting, accepting, and moving bytes. A write stores bytes in the
//! bounded buffer of the other end. Next: `datagram.rs`.

use super::address::{Address, unbound};
use super::network::Network;
use super::socket::{Domain, Listener, Role, Socket, Stream};
use crate::ids::SocketId;
use crate::usage::{reserve, trim};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use std::collections::VecDeque;

/// The maximum length of a queue of connections that no program has accepted (Linux's `somaxconn`).
pub(super) const MAX_BACKLOG: usize = 4_096;

/// The result of a connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Connected,
    /// The listener's queue is full. The socket becomes writable when the queue has space, and
    /// fails when the listener is closed.
    Waiting,
}

impl Network {
    pub(super) fn listen(&mut self, id: SocketId, backlog: usize, pid: Pid) -> Result<(), Errno> {
        let backlog = backlog.min(MAX_BACKLOG);
        match &mut self.get_mut(id)?.role {
            Role::Listening(listener) => {
                listener.backlog = backlog;
                return Ok(());
            }
            Role::Fresh => {}
            Role::Datagram(_) => return Err(Errno::EOPNOTSUPP),
            _ => return Err(Errno::EINVAL),
        }
        self.bind_if_unbound(id)?;
        if self.is_taken(id) {
            return Err(Errno::EADDRINUSE);
        }
        let role = Role::Listening(Listener { pid, backlog, ready: VecDeque::new(), waiting: VecDeque::new() });
        self.change(id, |socket| socket.role = role)
    }

    pub(super) fn bind_if_unbound(&mut self, id: SocketId) -> Result<(), Errno> {
        let socket = self.get(id)?;
        match (socket.local.is_some(), socket.domain) {
            (true, _) => Ok(()),
            (false, Domain::Unix) => Err(Errno::EINVAL),
            (false, domain) => self.bind(id, unbound(domain), false, false),
        }
    }

    /// Connects to the socket that listens at `address`. Fails with `ECONNREFUSED` if no socket
    /// listens at the address, and with `EAGAIN` if the queue of a Unix socket is full. Fails with
    /// `EALREADY` if the socket waits for another connection, and with `EISCONN` if the socket is
    /// connected or listens.
    pub(super) fn connect(&mut self, id: SocketId, address: Address) -> Result<Progress, Errno> {
        let socket = self.get(id)?;
        match socket.role {
            Role::Fresh => {}
            Role::Connecting(_) | Role::Opening(_) => return Err(Errno::EALREADY),
            _ => return Err(Errno::EISCONN),
        }
        let is_unix = socket.domain == Domain::Unix;
        let address = address.destination(&self.own)?;
        let listener = self.index().listener_at(&address).ok_or(Errno::ECONNREFUSED)?;
        let Role::Listening(queue) = &self.get(listener)?.role else { return Err(Errno::ECONNREFUSED) };
        let full = queue.ready.len() > queue.backlog;
        if full && is_unix {
            return Err(Errno::EAGAIN);
        }
        if !is_unix {
            self.bind_if_unbound(id)?;
            self.change(id, |socket| socket.local = socket.local.as_ref().map(|local| local.towards(&address)))?;
        }
        if !full {
            self.establish(listener, id, address)?;
            return Ok(Progress::Connected);
        }
        if let Role::Listening(queue) = &mut self.get_mut(listener)?.role {
            queue.waiting.push_back(id);
        }
        self.get_mut(id)?.role = Role::Connecting(listener);
        Ok(Progress::Waiting)
    }

    /// Makes the server's end of a connection and connects the two ends.
    fn establish(&mut self, listener: SocketId, client: SocketId, address: Address) -> Result<(), Errno> {
        let domain = self.get(listener)?.domain;
        let from = self.get(client)?.local.clone().unwrap_or(Address::Unnamed);
        let mut end = Socket::new(domain, Role::Connected(Stream::new(client, from)));
        end.local = Some(address.clone());
        let end = self.add(end)?;
        self.get_mut(client)?.role = Role::Connected(Stream::new(end, address));
        if let Role::Listening(queue) = &mut self.get_mut(listener)?.role {
            queue.ready.push_back(end);
        }
        self.notify(listener);
        Ok(())
    }

    /// Removes the next connection from the queue and returns the server's end. A client that
    /// waited for space enters the queue. Fails with `EAGAIN` if the queue is empty.
    pub(super) fn accept(&mut self, id: SocketId) -> Result<SocketId, Errno> {
        let listener = self.get_mut(id)?;
        let Role::Listening(queue) = &mut listener.role else { return Err(Errno::EINVAL) };
        let accepted = queue.ready.pop_front().ok_or(Errno::EAGAIN)?;
        let next = if queue.ready.len() <= queue.backlog { queue.waiting.pop_front() } else { None };
        let local = listener.local.clone().unwrap_or(Address::Unnamed);
        if let Some(next) = next {
            let address = match self.get(next) {
                Ok(client) => local.towards(client.local.as_ref().unwrap_or(&Address::Unnamed)),
                Err(_) => local,
            };
            match self.establish(id, next, address) {
                Ok(()) => self.notify(next),
                Err(_) => self.fail_connecting(next, Errno::ECONNREFUSED),
            }
        }
        Ok(accepted)
    }

    /// Makes two Unix sockets that are connected with each other and count as one pipe.
    pub(super) fn pair(&mut self) -> Result<(SocketId, SocketId), Errno> {
        let end = |role| Socket { is_pipe: true, ..Socket::new(Domain::Unix, role) };
        let one = self.add(end(Role::Fresh))?;
        match self.add(end(Role::Connected(Stream::new(one, Address::Unnamed)))) {
            Ok(other) => {
                self.get_mut(one)?.role = Role::Connected(Stream::new(other, Address::Unnamed));
                Ok((one, other))
            }
            Err(error) => {
                self.close(one, false)?;
                Err(error)
            }
        }
    }

    pub(super) fn read(&mut self, id: SocketId, buffer: &mut [u8]) -> Result<usize, Errno> {
        let capacities = self.capacities();
        let socket = self.get_mut(id)?;
        let capacity = capacities[usize::from(socket.is_pipe)];
        let stream = match &mut socket.role {
            Role::Connected(stream) => stream,
            Role::Master(number) => {
                let number = *number;
                return self.read_master(number, buffer);
            }
            Role::Slave(number) => {
                let number = *number;
                return self.read_slave(number, buffer, false);
            }
            _ => return Err(socket.error.take().unwrap_or(Errno::ENOTCONN)),
        };
        if buffer.is_empty() {
            return Ok(0);
        }
        if stream.incoming.is_empty() {
            return match socket.error.take() {
                // The socket received a reset for a write to a closed end. Reads still return the
                // end of the stream, and `broken` makes later writes fail.
                Some(Errno::EPIPE) if stream.ended => Ok(0),
                Some(error) => Err(error),
                None if stream.ended => Ok(0),
                None => Err(Errno::EAGAIN),
            };
        }
        let had_room = stream.has_room(capacity);
        let count = buffer.len().min(stream.incoming.len());
        let (front, back) = stream.incoming.as_slices();
        let split = count.min(front.len());
        buffer[..split].copy_from_slice(&front[..split]);
        buffer[split..count].copy_from_slice(&back[..count - split]);
        stream.incoming.drain(..count);
        // The buffer of an idle connection keeps no memory.
        trim(&mut stream.incoming);
        let peer = stream.peer.filter(|_| !had_room && stream.has_room(capacity));
        self.count_buffered(0, count);
        if let Some(peer) = peer {
            self.notify(peer);
        }
        Ok(count)
    }

    /// Removes and returns at most `most` bytes, like `read`. The result is empty at the end of the
    /// stream. A buffer of at most `most` bytes is moved and not copied.
    pub(super) fn take(&mut self, id: SocketId, most: usize) -> Result<Vec<u8>, Errno> {
        let waiting = self.waiting(id);
        if waiting == 0 || waiting > most {
            let mut bytes = vec![0; waiting.clamp(1, most)];
            let count = self.read(id, &mut bytes)?;
            bytes.truncate(count);
            return Ok(bytes);
        }
        let capacities = self.capacities();
        let socket = self.get_mut(id)?;
        let capacity = capacities[usize::from(socket.is_pipe)];
        let Role::Connected(stream) = &mut socket.role else { return Err(Errno::ENOTCONN) };
        let had_room = stream.has_room(capacity);
        let bytes = Vec::from(std::mem::take(&mut stream.incoming));
        let peer = stream.peer.filter(|_| !had_room);
        self.count_buffered(0, bytes.len());
        if let Some(peer) = peer {
            self.notify(peer);
        }
        Ok(bytes)
    }

    pub(super) fn write(&mut self, id: SocketId, bytes: &[u8]) -> Result<usize, Errno> {
        let capacities = self.capacities();
        let socket = self.get_mut(id)?;
        let capacity = capacities[usize::from(socket.is_pipe)];
        let stream = match &mut socket.role {
            Role::Connected(stream) => stream,
            Role::Connecting(_) | Role::Opening(_) => return Err(Errno::EAGAIN),
            Role::Master(number) => {
                let number = *number;
                return self.write_master(number, bytes);
            }
            Role::Slave(number) => {
                let number = *number;
                return self.write_slave(number, bytes);
            }
            _ => return Err(socket.error.take().unwrap_or(Errno::EPIPE)),
        };
        // A write to a Unix socket does not return a pending reset. A write to a TCP socket returns
        // the reset first.
        if socket.domain == Domain::Unix && (stream.shut || stream.broken) {
            return Err(Errno::EPIPE);
        }
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        if stream.shut || stream.broken {
            return Err(Errno::EPIPE);
        }
        let Some(peer) = stream.peer else {
            // TCP detects the closed end by the reply to this write. The reply arrives at the
            // latest when TCP's own buffer is full.
            stream.broken = true;
            socket.error = Some(Errno::EPIPE);
            self.notify(id);
            return Ok(bytes.len().min(capacity));
        };
        let Role::Connected(other) = &mut self.get_mut(peer)?.role else { return Err(Errno::EPIPE) };
        let count = bytes.len().min(capacity.saturating_sub(other.incoming.len()));
        if count == 0 && !bytes.is_empty() {
            return Err(Errno::EAGAIN);
        }
        reserve(&mut other.incoming, count, capacity);
        other.incoming.extend(&bytes[..count]);
        self.count_buffered(count, 0);
        self.notify(peer);
        Ok(count)
    }

    /// Ends the sending direction of a connection. Fails with `ENOTCONN` if the socket is not
    /// connected.
    pub(super) fn shutdown(&mut self, id: SocketId) -> Result<(), Errno> {
        let Role::Connected(stream) = &mut self.get_mut(id)?.role else { return Err(Errno::ENOTCONN) };
        if stream.broken && stream.peer.is_none() {
            return Err(Errno::ENOTCONN);
        }
        stream.shut = true;
        let peer = stream.peer;
        if let Some(peer) = peer {
            if let Role::Connected(other) = &mut self.get_mut(peer)?.role {
                other.ended = true;
            }
            self.notify(peer);
        }
        self.notify(id);
        Ok(())
    }
}
