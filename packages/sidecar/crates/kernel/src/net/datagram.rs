//! Datagram sockets. A message arrives as a whole, or is lost if the receiver's buffer is full or
//! no socket has the address. Next: `calls.rs`.

use super::address::Address;
use super::network::Network;
use super::socket::Role;
use crate::ids::SocketId;
use crate::networks::is_member_address;
use coldframe_error::Errno;

/// The length of the longest message in bytes (UDP over IPv4).
pub(super) const MAX_MESSAGE: usize = 65_507;
/// The bytes that a queued message counts besides its content.
pub(super) const ENTRY: usize = 64;

impl Network {
    /// Connects the socket to `address`. The socket then receives only messages from `address`, and
    /// sends messages to `address` unless a call names another address. `None` disconnects the
    /// socket, and fails with `ENOTCONN` if the socket is not connected.
    pub(super) fn set_remote(&mut self, id: SocketId, address: Option<Address>) -> Result<(), Errno> {
        let address = address.map(|address| self.message_destination(address)).transpose()?;
        if address.is_some() {
            self.bind_if_unbound(id)?;
        }
        self.change(id, |socket| {
            let Role::Datagram(datagram) = &mut socket.role else { return Err(Errno::EOPNOTSUPP) };
            if address.is_none() && datagram.remote.is_none() {
                return Err(Errno::ENOTCONN);
            }
            if let (Some(address), Some(local)) = (&address, &socket.local) {
                socket.local = Some(local.towards(address));
            }
            datagram.remote = address;
            Ok(())
        })?
    }

    pub(super) fn send(&mut self, id: SocketId, bytes: &[u8], to: Option<Address>) -> Result<usize, Errno> {
        let socket = self.get_mut(id)?;
        let Role::Datagram(datagram) = &socket.role else { return Err(Errno::EOPNOTSUPP) };
        let connected = datagram.remote.clone();
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        if bytes.len() > MAX_MESSAGE {
            return Err(Errno::EMSGSIZE);
        }
        let is_connected = to.is_none();
        let to = to.or(connected).ok_or(Errno::EDESTADDRREQ)?.destination(&self.own)?;
        self.bind_if_unbound(id)?;
        let from = self.get(id)?.local.as_ref().map_or(Address::Unnamed, |local| local.towards(&to));
        match self.message_target(&to, &from) {
            Some(target) => self.deliver(target, from, bytes),
            None if is_connected => {
                self.get_mut(id)?.error = Some(Errno::ECONNREFUSED);
                self.notify(id);
            }
            None => {}
        }
        Ok(bytes.len())
    }

    /// Returns the address that a datagram socket is connected to.
    pub(super) fn connected_to(&self, id: SocketId) -> Option<Address> {
        match &self.sockets.get(&id)?.role {
            Role::Datagram(datagram) => datagram.remote.clone(),
            _ => None,
        }
    }

    /// Returns the destination of messages, which may be another member of a private network.
    fn message_destination(&self, address: Address) -> Result<Address, Errno> {
        match address {
            Address::Ip(ip, _) if !self.own.is_empty() && is_member_address(ip) => Ok(address),
            address => address.destination(&self.own),
        }
    }

    /// Returns the socket that receives a message to `to`.
    pub(super) fn message_target(&self, to: &Address, from: &Address) -> Option<SocketId> {
        let accepts = |id: &SocketId| match self.sockets.get(id).map(|socket| &socket.role) {
            Some(Role::Datagram(other)) => other.remote.as_ref().is_none_or(|remote| remote == from),
            _ => false,
        };
        self.index().datagrams_at(to).into_iter().find(accepts)
    }

    pub(super) fn deliver(&mut self, target: SocketId, from: Address, bytes: &[u8]) {
        let [capacity, _] = self.capacities();
        let Ok(socket) = self.get_mut(target) else { return };
        let Role::Datagram(datagram) = &mut socket.role else { return };
        let cost = bytes.len() + ENTRY;
        if datagram.held > 0 && datagram.held + cost > capacity {
            return;
        }
        datagram.held += cost;
        datagram.incoming.push_back((from, bytes.to_vec()));
        self.count_buffered(cost, 0);
        self.notify(target);
    }

    /// Removes the next message from the queue and returns the message with its sender's address.
    /// Fails with the socket's pending error, with `EAGAIN` if the queue is empty, and with
    /// `EOPNOTSUPP` if the socket is not a datagram socket.
    pub(super) fn receive(&mut self, id: SocketId) -> Result<(Address, Vec<u8>), Errno> {
        let socket = self.get_mut(id)?;
        let Role::Datagram(datagram) = &mut socket.role else { return Err(Errno::EOPNOTSUPP) };
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        let (from, bytes) = datagram.incoming.pop_front().ok_or(Errno::EAGAIN)?;
        let cost = bytes.len() + ENTRY;
        datagram.held -= cost;
        self.count_buffered(0, cost);
        Ok((from, bytes))
    }
}
