//! The memberships of a runtime in private networks, and the connections between members.
//!
//! ```text
//! program ── connect ──► SocketState::connect_member ──► Wire::arrive ──► the other table
//! other table ── Mail ──► Sockets::take_mail ──► flow_arrived, flow_event
//! ```
//!
//! A member has an address of each of its networks. Listeners at the address and at the unspecified
//! address are reachable, listeners at the loopback are not. The kernel sets the source address of
//! each connection, so a program cannot forge an address. A snapshot has no memberships. Next:
//! `names.rs`.

mod names;
mod requests;
#[cfg(test)]
mod tests;

pub(super) use names::interfaces;

use super::address::Address;
use super::link::FarEnd;
use super::outside::{FarFlow, of_connection};
use super::sockets::{SocketState, Sockets};
use crate::ids::SocketId;
use crate::networks::mailbox::{Mail, Mailbox, WireEvent};
use crate::networks::wire::Wire;
use crate::networks::{PrivateNetwork, Refusal, addresses_of, is_member_address};
use crate::outside::{OutsideEvent, OutsideFailure, OutsideFailureKind};
use coldframe_error::Errno;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// A membership of the runtime.
pub(super) struct Membership {
    pub(super) network: Arc<PrivateNetwork>,
    pub(super) number: u32,
    mailbox: Arc<Mailbox>,
}

impl Membership {
    /// Returns the own address of the family of `other`.
    fn address_towards(&self, other: IpAddr) -> IpAddr {
        let (v4, v6) = addresses_of(self.number);
        if other.to_canonical().is_ipv4() { v4.into() } else { v6.into() }
    }
}

/// One end of a wire, as the far end of a flow.
struct WireEnd {
    wire: Arc<Wire>,
    side: usize,
}

impl FarEnd for WireEnd {
    fn data(&self, bytes: Vec<u8>) {
        self.wire.send(self.side, WireEvent::Data(bytes));
    }

    fn credit(&self, bytes: u64) {
        self.wire.send(self.side, WireEvent::Credit(bytes));
    }

    fn ended(&self) {
        self.wire.send(self.side, WireEvent::End);
    }
}

impl FarFlow for WireEnd {
    fn close(&self, reset: bool) {
        let event = if reset { WireEvent::failed(Errno::ECONNRESET) } else { WireEvent::Closed(None) };
        self.wire.send(self.side, event);
        self.wire.forget(reset);
    }

    fn membership(&self) -> Option<u32> {
        Some(self.wire.member(self.side))
    }

    fn opened(&self) {
        self.wire.opened();
        self.wire.send(self.side, WireEvent::Connected);
    }
}

/// The place of an address, as seen by a runtime.
pub(super) enum Place {
    /// In the runtime, or not an IP address.
    Here,
    /// In the range of members.
    Member(SocketAddr),
    /// Outside the runtime.
    Outside,
}

impl Sockets {
    /// Returns the place of an address. An address of members is outside for a runtime that is in
    /// no network.
    pub(super) fn place_of(&self, address: &Address) -> Place {
        if !address.is_outside(&[]) {
            return Place::Here;
        }
        let (Some(to), Some(_)) = (address.socket_address().filter(|to| is_member_address(to.ip())), self.mailbox.get()) else {
            return Place::Outside;
        };
        let state = self.lock();
        match state.network.is_own(address) {
            true => Place::Here,
            false if state.memberships.is_empty() => Place::Outside,
            false => Place::Member(to),
        }
    }
}

impl Sockets {
    /// Returns the destination of a message to `to`, or to the address that the socket is connected
    /// to. Returns `None` if the destination is no other member.
    pub(super) fn member_destination(&self, id: SocketId, to: Option<&Address>) -> Option<SocketAddr> {
        self.mailbox.get()?;
        let connected = if to.is_none() { self.lock().network.connected_to(id) } else { None };
        match self.place_of(to.or(connected.as_ref())?) {
            Place::Member(to) => Some(to),
            Place::Here | Place::Outside => None,
        }
    }
}

impl SocketState {
    /// Returns the membership through which an address is reached.
    fn membership_to(&self, ip: IpAddr) -> Option<&Membership> {
        self.memberships.iter().find(|membership| membership.network.has(ip))
    }

    /// Returns the own address, for a socket that is bound to `bound` and reaches `to`. Fails with
    /// `EHOSTUNREACH` if no member has the address. Fails with `EINVAL` if the socket is bound to
    /// an address of another network or to the loopback.
    fn source(&self, bound: Option<&Address>, to: IpAddr) -> Result<(&Membership, SocketAddr), Errno> {
        let membership = self.membership_to(to).ok_or(Errno::EHOSTUNREACH)?;
        let own = membership.address_towards(to);
        match bound {
            Some(Address::Ip(ip, _)) if !ip.is_unspecified() && *ip != own => Err(Errno::EINVAL),
            Some(Address::Ip(_, port)) => Ok((membership, SocketAddr::new(own, *port))),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Starts a connection to another member. Fails with `EHOSTUNREACH` if no member has the
    /// address. Fails with `EALREADY` if the socket waits for another connection, and with
    /// `EISCONN` if the socket is connected or listens.
    pub(super) fn connect_member(&mut self, id: SocketId, to: SocketAddr) -> Result<(), Errno> {
        self.network.check_fresh(id)?;
        self.network.bind_if_unbound(id)?;
        let bound = self.network.get(id)?.local.clone();
        let (membership, local) = self.source(bound.as_ref(), to.ip())?;
        let remote = Address::Ip(to.ip(), to.port());
        let opened = membership.network.open((membership.number, membership.mailbox.clone(), local), to);
        let wire = match opened {
            Ok(wire) => wire,
            Err(Refusal::NoMember) => return Err(Errno::EHOSTUNREACH),
            Err(Refusal::Denied(message)) => {
                let flow = self.begin_flow(id, remote, |_| Arc::new(Nowhere))?;
                let kind = OutsideFailureKind::Denied { reason: "not-allowed".to_owned(), rule: None };
                let (errno, explanation) = of_connection(&OutsideFailure { kind, message });
                self.refuse_flow(flow, errno, explanation);
                return Ok(());
            }
        };
        let far = Arc::new(WireEnd { wire: wire.clone(), side: 0 });
        let flow = self.begin_flow(id, remote, |_| far).inspect_err(|_| wire.forget(false))?;
        wire.set_flow(0, flow);
        wire.arrive();
        Ok(())
    }

    /// Sends a message to another member. A message without a receiver is lost. Fails with
    /// `EACCES` if the rules do not allow the message.
    pub(super) fn send_member(&mut self, id: SocketId, bytes: &[u8], to: SocketAddr) -> Result<usize, Errno> {
        if let Some(error) = self.network.get_mut(id)?.error.take() {
            return Err(error);
        }
        if bytes.len() > super::datagram::MAX_MESSAGE {
            return Err(Errno::EMSGSIZE);
        }
        self.network.bind_if_unbound(id)?;
        let bound = self.network.get(id)?.local.clone();
        let (membership, local) = self.source(bound.as_ref(), to.ip())?;
        match membership.network.send(membership.number, local, to, bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(Refusal::NoMember) => Err(Errno::EHOSTUNREACH),
            Err(Refusal::Denied(_)) => Err(Errno::EACCES),
        }
    }

    /// Handles mail of other runtimes.
    fn open_mail(&mut self, mail: Mail) {
        match mail {
            Mail::Arrival(wire) => self.arrival(&wire),
            Mail::Event { wire, side, event } => {
                let Some(flow) = wire.flow(side) else { return };
                let (local, peer) = (wire.address(side), wire.address(1 - side));
                match event {
                    WireEvent::Connected => self.flow_event(flow, OutsideEvent::Connected { local, peer }),
                    WireEvent::Data(bytes) => self.flow_event(flow, OutsideEvent::Data(&bytes)),
                    WireEvent::Credit(bytes) => self.flow_event(flow, OutsideEvent::Credit(bytes)),
                    WireEvent::End => self.flow_event(flow, OutsideEvent::End),
                    WireEvent::Closed(failure) => self.flow_event(flow, OutsideEvent::Closed(failure)),
                }
            }
            Mail::Datagram { from, to, bytes } => {
                let [from, to] = [from, to].map(|address| Address::Ip(address.ip(), address.port()));
                let is_own = self.network.is_own(&to);
                if let Some(target) = self.network.message_target(&to, &from).filter(|_| is_own) {
                    self.network.deliver(target, from, &bytes);
                }
            }
            Mail::Leave(number) => self.leave(number),
        }
    }

    fn arrival(&mut self, wire: &Arc<Wire>) {
        let [from, to] = [0, 1].map(|side| wire.address(side)).map(|address| Address::Ip(address.ip(), address.port()));
        let is_own = self.network.is_own(&to);
        let far = Arc::new(WireEnd { wire: wire.clone(), side: 1 });
        let arrived = if is_own { self.flow_arrived((to, from), far) } else { Err(Errno::ECONNREFUSED) };
        match arrived {
            Ok(flow) => {
                wire.set_flow(1, flow);
                self.begin_arrived(flow);
            }
            Err(errno) => {
                wire.send(1, WireEvent::failed(errno));
                wire.forget(false);
            }
        }
    }

    /// Ends a membership, and resets its connections.
    fn leave(&mut self, number: u32) {
        let Some(at) = self.memberships.iter().position(|membership| membership.number == number) else { return };
        self.memberships.remove(at);
        let own: [IpAddr; 2] = both(number).into();
        self.network.own.retain(|ip| !own.contains(ip));
        self.reset_flows(Some(number));
    }
}

/// Returns both addresses of a membership.
fn both(number: u32) -> (IpAddr, IpAddr) {
    let (v4, v6) = addresses_of(number);
    (v4.into(), v6.into())
}

/// The far end of a connection that the rules do not allow.
struct Nowhere;

impl FarEnd for Nowhere {
    fn data(&self, _bytes: Vec<u8>) {}

    fn credit(&self, _bytes: u64) {}

    fn ended(&self) {}
}

impl FarFlow for Nowhere {
    fn close(&self, _reset: bool) {}
}
