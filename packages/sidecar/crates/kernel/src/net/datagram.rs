//! Datagram sockets. A message arrives as a whole, or is lost if the receiver's buffer is full or
//! no socket has the address. Next: `calls.rs`.

use super::address::Address;
use super::network::Network;
use super::socket::{Role, Socket};
use crate::ids::SocketId;
use crate::networks::is_member_address;
use crate::outside::DATAGRAM_COST;
use coldframe_error::Errno;

/// The length of the longest message in bytes (UDP over IPv4).
pub(super) const MAX_MESSAGE: usize = 65_507;
/// The bytes that a queued message counts besides its content.
pub(super) const ENTRY: usize = DATAGRAM_COST as usize;

impl Network {
    /// Connects the socket to `address`. The socket then receives only messages from `address`, and
    /// sends messages to `address` unless a call names another address. `None` disconnects the
    /// socket, and fails with `ENOTCONN` if the socket is not connected.
    pub(super) fn set_remote(&mut self, id: SocketId, address: Option<Address>) -> Result<(), Errno> {
        let address = address.map(|address| self.message_destination(address)).transpose()?;
        let own = self.own.clone();
        let is_outside =
            |address: &Address| address.is_outside(&own) && !matches!(address, Address::Ip(ip, _) if is_member_address(*ip));
        if address.is_some() {
            self.bind_if_unbound(id)?;
        }
        self.change(id, |socket| {
            let Role::Datagram(datagram) = &mut socket.role else { return Err(Errno::EOPNOTSUPP) };
            if address.is_none() && datagram.remote.is_none() {
                return Err(Errno::ENOTCONN);
            }
            if let (Some(address), Some(local)) = (address.as_ref().filter(|to| !is_outside(to)), &socket.local) {
                socket.local = Some(local.towards(address));
            }
            datagram.remote = address;
            Ok(())
        })?
    }

    pub(super) fn send(&mut self, id: SocketId, bytes: &[u8], to: Option<Address>) -> Result<usize, Errno> {
        self.check_message(id, bytes)?;
        let connected = self.connected_to(id);
        let is_connected = to.is_none();
        let to = to.or(connected).ok_or(Errno::EDESTADDRREQ)?.destination(&self.own)?;
        self.bind_if_unbound(id)?;
        let from = self.get(id)?.local.as_ref().map_or(Address::Unnamed, |local| local.towards(&to));
        match self.message_target(&to, &from) {
            Some(target) => drop(self.deliver(target, from, bytes)),
            None if is_connected => {
                self.get_mut(id)?.error = Some(Errno::ECONNREFUSED);
                self.notify(id);
            }
            None => {}
        }
        Ok(bytes.len())
    }

    /// Checks that a datagram socket can send a message. Fails with the socket's pending error,
    /// with `EMSGSIZE` if the message is too long, and with `EOPNOTSUPP` for another socket.
    pub(super) fn check_message(&mut self, id: SocketId, bytes: &[u8]) -> Result<(), Errno> {
        let socket = self.get_mut(id)?;
        if !socket.is_datagram() {
            return Err(Errno::EOPNOTSUPP);
        }
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        if bytes.len() > MAX_MESSAGE { Err(Errno::EMSGSIZE) } else { Ok(()) }
    }

    /// Returns the address that a datagram socket is connected to.
    pub(super) fn connected_to(&self, id: SocketId) -> Option<Address> {
        match &self.sockets.get(&id)?.role {
            Role::Datagram(datagram) => datagram.remote.clone(),
            _ => None,
        }
    }

    /// Returns the destination of messages, which may be another member of a private network, or
    /// outside the runtime. The caller has checked the permission.
    fn message_destination(&self, address: Address) -> Result<Address, Errno> {
        if address.is_outside(&self.own) { Ok(address) } else { address.destination(&self.own) }
    }

    /// Returns the socket that receives a message to `to`.
    pub(super) fn message_target(&self, to: &Address, from: &Address) -> Option<SocketId> {
        let accepts = |id: &SocketId| match self.sockets.get(id).map(|socket| &socket.role) {
            Some(Role::Datagram(other)) => other.remote.as_ref().is_none_or(|remote| remote == from),
            _ => false,
        };
        self.index().datagrams_at(to).into_iter().find(accepts)
    }

    /// Queues a message. Returns false if the receiver's buffer is full, or the socket is closed.
    pub(super) fn deliver(&mut self, target: SocketId, from: Address, bytes: &[u8]) -> bool {
        let [capacity, _] = self.capacities();
        let Ok(Socket { role: Role::Datagram(datagram), .. }) = self.get_mut(target) else { return false };
        let cost = bytes.len() + ENTRY;
        if datagram.held > 0 && datagram.held + cost > capacity {
            return false;
        }
        datagram.held += cost;
        datagram.incoming.push_back((from, bytes.to_vec()));
        self.count_buffered(cost, 0);
        self.notify(target);
        true
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
