//! The list of a runtime's sockets, which `/proc/net` shows. The list has the sockets that programs
//! have: no pipes, no terminals, and no ends of the kernel. As on Linux, the list has a stream
//! socket of IP while the socket listens, connects or is connected. It has a datagram socket while
//! the socket is bound.
//!
//! The rows are copies, so that the table is not locked while the texts are written. Next:
//! `../fs/proc/net.rs`, which writes the texts.

use super::address::Address;
use super::network::Network;
use super::socket::{Domain, Role, Socket, Stream};
use super::sockets::{SocketState, Sockets};
use crate::ids::SocketId;
use std::collections::HashSet;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The state of a socket, with Linux's number for a socket of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListedState {
    Connected = 1,
    /// The connection is not open yet.
    Opening = 2,
    /// This end has ended its sending direction.
    Shut = 5,
    /// The socket is not connected, or is a datagram socket that receives from every address.
    Unconnected = 7,
    /// The other end has ended its sending direction.
    Ended = 8,
    Listening = 10,
}

/// A socket of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedSocket {
    /// The number of the socket. `None` for a connection that no program has accepted.
    pub(crate) id: Option<SocketId>,
    pub(crate) state: ListedState,
    /// The bytes that the other end has not received.
    pub(crate) sending: usize,
    /// The bytes that no program has read, or the connections that no program has accepted.
    pub(crate) receiving: usize,
    pub(crate) place: ListedPlace,
}

/// The addresses of a socket, in the notation of the socket's own family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListedPlace {
    Ip {
        local: SocketAddr,
        remote: SocketAddr,
    },
    /// The path or the name of a Unix socket. Empty for a socket without a name.
    Unix(Vec<u8>),
}

/// The sockets of one file of `/proc/net`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListedKind {
    Unix,
    /// Sockets of IP. `is_v6` selects the family, `is_datagram` the protocol.
    Ip {
        is_v6: bool,
        is_datagram: bool,
    },
}

impl ListedKind {
    fn has(self, socket: &Socket) -> bool {
        match self {
            Self::Unix => socket.domain == Domain::Unix && !socket.is_pipe && !socket.is_terminal_end(),
            Self::Ip { is_v6, is_datagram } => {
                let domain = if is_v6 { Domain::V6 } else { Domain::V4 };
                socket.domain == domain && socket.is_datagram() == is_datagram
            }
        }
    }
}

impl Sockets {
    /// Returns the sockets of a kind: the listeners, then the other sockets, each in ascending
    /// order.
    pub(crate) fn list(&self, kind: ListedKind) -> Vec<ListedSocket> {
        let state = self.lock();
        let sockets = || state.network.sockets.iter().map(|(id, socket)| (*id, &**socket)).filter(|(_, at)| kind.has(at));
        let queued: HashSet<SocketId> = sockets().filter_map(|(_, at)| queue_of(at)).flatten().copied().collect();
        let row = |(id, socket): (SocketId, &Socket)| {
            let row = state.listed(id, socket)?;
            Some(ListedSocket { id: (!queued.contains(&id)).then_some(id), ..row })
        };
        let mut rows: Vec<ListedSocket> = sockets().filter_map(row).collect();
        // The sort keeps the order of equal rows.
        rows.sort_by_key(|row| row.state != ListedState::Listening);
        rows
    }
}

fn queue_of(socket: &Socket) -> Option<impl Iterator<Item = &SocketId>> {
    if let Role::Listening(listener) = &socket.role { Some(listener.ready.iter()) } else { None }
}

impl SocketState {
    /// Returns the row of a socket. Returns `None` for a socket that is not in the list.
    fn listed(&self, id: SocketId, socket: &Socket) -> Option<ListedSocket> {
        if socket.is_flow_end || self.outside.is_end(id) || self.inbound.has(id) {
            return None;
        }
        let (state, remote) = self.state_and_remote(socket)?;
        let place = match socket.domain {
            Domain::Unix => ListedPlace::Unix(socket.local.as_ref().map_or_else(Vec::new, |local| local.show(Domain::Unix).2)),
            domain => {
                let address = |known: Option<&Address>| known.map_or_else(|| Some(nowhere(domain)), |known| shown(known, domain));
                // The address of a connection to the outside is known when the connection is open.
                if socket.local.is_none() && state != ListedState::Opening {
                    return None;
                }
                ListedPlace::Ip { local: address(socket.local.as_ref())?, remote: address(remote.as_ref())? }
            }
        };
        let receiving = if let Role::Listening(listener) = &socket.role { listener.ready.len() } else { socket.buffered() };
        Some(ListedSocket { id: Some(id), state, sending: self.network.unsent(socket), receiving, place })
    }

    /// Returns the state and the other end's address of a socket. Returns `None` for a stream
    /// socket of IP that is not connected, and for a session of TLS, which has no address.
    fn state_and_remote(&self, socket: &Socket) -> Option<(ListedState, Option<Address>)> {
        let is_unix = socket.domain == Domain::Unix;
        match &socket.role {
            Role::Listening(_) => Some((ListedState::Listening, None)),
            Role::Opening(flow) => Some((ListedState::Opening, self.outside.destination_of(*flow).cloned())),
            Role::Connecting(listener) => {
                let (listener, local) = (self.network.get(*listener).ok(), socket.local.as_ref());
                let remote = listener.and_then(|listener| listener.local.as_ref()).zip(local);
                Some((ListedState::Opening, remote.map(|(remote, local)| remote.towards(local))))
            }
            Role::Connected(Stream { remote: Address::Ip(_, 0), .. }) => None,
            Role::Connected(stream) => {
                let state = match (stream.broken || stream.ended && stream.shut, stream.ended, stream.shut) {
                    (true, ..) if is_unix => ListedState::Unconnected,
                    (true, ..) => return None,
                    (_, true, _) if !is_unix => ListedState::Ended,
                    (_, _, true) if !is_unix => ListedState::Shut,
                    _ => ListedState::Connected,
                };
                Some((state, Some(stream.remote.clone())))
            }
            Role::Datagram(datagram) => match &datagram.remote {
                Some(remote) => Some((ListedState::Connected, Some(remote.clone()))),
                None => Some((ListedState::Unconnected, None)),
            },
            Role::Fresh if is_unix => Some((ListedState::Unconnected, None)),
            Role::Fresh | Role::Master(_) | Role::Slave(_) => None,
        }
    }
}

impl Network {
    /// Returns the number of bytes that a socket has written and that were not sent to the outside.
    /// The bytes for another socket of the runtime are received at once.
    fn unsent(&self, socket: &Socket) -> usize {
        let Role::Connected(Stream { peer: Some(peer), .. }) = &socket.role else { return 0 };
        self.get(*peer).map_or(0, |peer| if peer.is_flow_end { peer.buffered() } else { 0 })
    }
}

/// Converts an address to the notation of `domain`, as `getsockname` does.
fn shown(address: &Address, domain: Domain) -> Option<SocketAddr> {
    let address = address.socket_address()?;
    let ip = match (address.ip(), domain) {
        (IpAddr::V4(ip), Domain::V6) if ip.is_unspecified() => Ipv6Addr::UNSPECIFIED.into(),
        (IpAddr::V4(ip), Domain::V6) => ip.to_ipv6_mapped().into(),
        (ip, _) => ip,
    };
    Some(SocketAddr::new(ip, address.port()))
}

fn nowhere(domain: Domain) -> SocketAddr {
    let ip = if domain == Domain::V6 { IpAddr::V6(Ipv6Addr::UNSPECIFIED) } else { IpAddr::V4([0; 4].into()) };
    SocketAddr::new(ip, 0)
}
