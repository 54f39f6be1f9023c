//! Socket addresses: which addresses the loopback reaches, and which addresses conflict.
//!
//! An IPv4 address in IPv6 notation (`::ffff:127.0.0.1`) is treated as an IPv4 address. An IPv6
//! socket shows such an address in IPv6 notation. Next: `network.rs`.

use super::socket::{Domain, Socket};
use crate::fs::Ino;
use crate::networks::is_member_address;
use crate::permissions::Peer;
use coldframe_error::Errno;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Address {
    Ip(IpAddr, u16),
    /// A socket in the filesystem: the inode, and the path of the bind call.
    File(Ino, Vec<u8>),
    /// A name that begins with NUL, outside the filesystem.
    Abstract(Vec<u8>),
    Unnamed,
}

impl Address {
    /// Parses an address for a socket of `domain`. A zone (`::1%lo`) is ignored. Fails with
    /// `EINVAL` if the text is no address.
    pub(super) fn parse(domain: Domain, text: &[u8], port: u16) -> Result<Self, Errno> {
        let text = std::str::from_utf8(text).map_err(|_| Errno::EINVAL)?;
        let ip = match domain {
            Domain::V4 => IpAddr::V4(text.parse().map_err(|_| Errno::EINVAL)?),
            Domain::V6 => {
                let bare = text.split('%').next().unwrap_or(text);
                IpAddr::V6(bare.parse().map_err(|_| Errno::EINVAL)?).to_canonical()
            }
            Domain::Unix => return Err(Errno::EINVAL),
        };
        Ok(Self::Ip(ip, port))
    }

    /// Returns the destination of a send or connect. The unspecified address becomes the loopback
    /// address. `own` are the addresses of the runtime in private networks. Fails with `EACCES` for
    /// an address outside the runtime.
    pub(super) fn destination(self, own: &[IpAddr]) -> Result<Self, Errno> {
        match self {
            Self::Ip(ip, port) if ip.is_unspecified() => Ok(Self::Ip(loopback(ip), port)),
            outside if outside.is_outside(own) => Err(Errno::EACCES),
            other => Ok(other),
        }
    }

    /// Returns whether the address is outside the runtime, which has the addresses `own`.
    pub(super) fn is_outside(&self, own: &[IpAddr]) -> bool {
        matches!(self, Self::Ip(ip, _) if !ip.is_loopback() && !ip.is_unspecified() && !own.contains(ip))
    }

    /// Returns the IP address and the port.
    pub(super) fn socket_address(&self) -> Option<SocketAddr> {
        if let Self::Ip(ip, port) = self { Some(SocketAddr::new(*ip, *port)) } else { None }
    }

    /// Returns the local address of a socket that is bound to this address and communicates with
    /// `other`.
    pub(super) fn towards(&self, other: &Self) -> Self {
        match (self, other) {
            // A connection to an own address in a private network comes from this address.
            (Self::Ip(ip, port), Self::Ip(to, _)) if ip.is_unspecified() && is_member_address(*to) => Self::Ip(*to, *port),
            (Self::Ip(ip, port), Self::Ip(to, _)) if ip.is_unspecified() => Self::Ip(loopback(*to), *port),
            _ => self.clone(),
        }
    }

    /// Returns the address in the form that permission checks use. Returns `None` for a socket with
    /// a file or without a name.
    pub(super) fn peer(&self) -> Option<Peer<'_>> {
        match self {
            Self::Ip(ip, port) => Some(Peer::Address(ip.to_canonical(), *port)),
            Self::Abstract(name) => Some(Peer::Unix(name.strip_prefix(b"\0").unwrap_or(name))),
            Self::File(..) | Self::Unnamed => None,
        }
    }

    pub(super) fn port(&self) -> u16 {
        if let Self::Ip(_, port) = self { *port } else { 0 }
    }

    pub(super) fn with_port(&self, port: u16) -> Self {
        if let Self::Ip(ip, _) = self { Self::Ip(*ip, port) } else { self.clone() }
    }

    /// Returns whether the two addresses are equal. Sockets in the filesystem are compared by
    /// inode.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(node, _), Self::File(other, _)) => node == other,
            _ => self == other,
        }
    }

    /// Returns the address as system calls on a socket of `domain` return it: family (Linux's
    /// number), port, and text.
    pub(super) fn show(&self, domain: Domain) -> (u16, u16, Vec<u8>) {
        match (self, domain) {
            (Self::Ip(IpAddr::V4(ip), port), Domain::V6) => {
                let ip = if ip.is_unspecified() { Ipv6Addr::UNSPECIFIED } else { ip.to_ipv6_mapped() };
                (10, *port, ip.to_string().into_bytes())
            }
            (Self::Ip(ip @ IpAddr::V4(_), port), _) => (2, *port, ip.to_string().into_bytes()),
            (Self::Ip(ip @ IpAddr::V6(_), port), _) => (10, *port, ip.to_string().into_bytes()),
            (Self::File(_, text) | Self::Abstract(text), _) => (1, 0, text.clone()),
            (Self::Unnamed, _) => (1, 0, Vec::new()),
        }
    }
}

fn loopback(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { IpAddr::V6(Ipv6Addr::LOCALHOST) }
}

/// Returns the unspecified address of the domain, with port 0.
pub(super) fn unbound(domain: Domain) -> Address {
    match domain {
        Domain::Unix => Address::Unnamed,
        Domain::V4 => Address::Ip(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
        Domain::V6 => Address::Ip(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0),
    }
}

/// Returns whether a message or connection to `destination` reaches a socket with this local
/// address.
pub(super) fn reaches(socket: &Socket, destination: &Address) -> bool {
    match (&socket.local, destination) {
        (Some(Address::Ip(ip, port)), Address::Ip(to, to_port)) => {
            port == to_port && (ip == to || covers(*ip, *to, socket.only_v6))
        }
        (Some(Address::File(node, _)), Address::File(to, _)) => node == to,
        (Some(local @ Address::Abstract(_)), to) => local == to,
        _ => false,
    }
}

/// Returns whether two sockets would receive messages or connections for one address. Returns false
/// if both sockets share their port. The index finds conflicts without a comparison.
#[cfg(test)]
pub(super) fn collide(a: &Socket, b: &Socket) -> bool {
    match (&a.local, &b.local) {
        (Some(Address::Ip(one, port)), Some(Address::Ip(other, other_port))) => {
            let overlap = one == other || covers(*one, *other, a.only_v6) || covers(*other, *one, b.only_v6);
            port == other_port && overlap && !(a.shares_port && b.shares_port)
        }
        (Some(one @ Address::Abstract(_)), Some(other)) => one == other,
        _ => false,
    }
}

fn covers(any: IpAddr, ip: IpAddr, only_v6: bool) -> bool {
    any.is_unspecified() && (any.is_ipv4() == ip.is_ipv4() || any.is_ipv6() && !only_v6)
}
