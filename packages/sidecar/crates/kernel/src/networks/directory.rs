//! A private network: its members, its rules and its connections. Next: `addresses.rs`.

use super::addresses::{AddressPool, addresses_of, number_of};
use super::events::{Cut, MemberEvent, MemberEventKind, closed};
use super::mailbox::{Mail, Mailbox, WireEvent, deliver_posted};
use super::rules::{Label, NetworkRule, allow};
use super::wire::{ENDS, Wire, WireSide};
use crate::event_queue::{EventQueue, QueueListener, TakenEvents};
use coldframe_error::{Errno, Error};
use coldframe_panics::process::Mutex;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The suffix of the full names of members.
const SUFFIX: &str = ".internal";

/// A private network of one embedder.
pub struct PrivateNetwork {
    name: String,
    pool: Arc<AddressPool>,
    state: Mutex<Directory>,
    events: EventQueue<MemberEvent>,
}

#[derive(Default)]
struct Directory {
    members: BTreeMap<u32, Member>,
    rules: Option<Vec<NetworkRule>>,
    /// The open connections by number.
    wires: BTreeMap<u64, Arc<Wire>>,
    last_wire: u64,
    is_disposed: bool,
}

struct Member {
    label: Label,
    mailbox: Arc<Mailbox>,
}

/// A member of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberInfo {
    /// The number of the membership.
    pub number: u32,
    /// The name in the network.
    pub name: String,
    /// The tags.
    pub tags: Vec<String>,
    /// The IPv4 address.
    pub v4: Ipv4Addr,
    /// The IPv6 address.
    pub v6: Ipv6Addr,
}

/// A connection of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireInfo {
    /// The name of the connecting member.
    pub from: String,
    /// The name of the listening member.
    pub to: String,
    /// The port of the listener.
    pub port: u16,
    /// The number of bytes that the connecting member has sent.
    pub sent: u64,
    /// The number of bytes that the listening member has sent.
    pub received: u64,
    /// The time of the connect, in microseconds since 1970.
    pub since_us: u64,
}

/// The reason why a member cannot be reached.
pub(crate) enum Refusal {
    /// No member has the address.
    NoMember,
    /// The rules do not allow the connection. The text is a sentence for users.
    Denied(String),
}

impl PrivateNetwork {
    /// Makes a network without members. Without rules, each member reaches each member.
    pub fn new(name: String, rules: Option<Vec<NetworkRule>>, pool: Arc<AddressPool>) -> Arc<Self> {
        let state = Mutex::new(Directory { rules, ..Directory::default() });
        Arc::new(Self { name, pool, state, events: EventQueue::default() })
    }

    /// Replaces or removes the listener for events. Waiting events are dropped.
    pub fn listen(&self, listener: Option<Arc<dyn QueueListener>>) {
        self.events.listen(listener);
    }

    /// Takes at most `most` waiting events, in order. After an empty result, the listener is
    /// notified of the next event.
    pub fn take(&self, most: usize) -> TakenEvents<MemberEvent> {
        self.events.take(most)
    }

    /// Adds an event of a connection.
    pub(super) fn report(&self, wire: &Wire, kind: MemberEventKind) {
        let [from, to] = wire.names.clone();
        self.events.push(MemberEvent { from, to, port: wire.ends[1].address.port(), kind }, 0);
    }

    /// Reports the end of connections that are no longer in the directory.
    fn report_ends(&self, wires: &[Arc<Wire>], reason: Option<Cut>) {
        for wire in wires.iter().filter(|wire| wire.is_open.load(Ordering::Relaxed)) {
            self.report(wire, closed(wire, reason));
        }
    }

    /// Returns the name of the network.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a member, and returns its number. Fails with `ERR_INVALID_REQUEST` if another member
    /// has the name, if the network was disposed, and if no address is free.
    pub(crate) fn add(&self, name: &str, tags: Vec<String>, mailbox: &Arc<Mailbox>) -> Result<u32, Error> {
        let mut state = self.state.lock();
        if state.is_disposed {
            return Err(invalid("network", "a network that was not disposed", &self.name));
        }
        if state.members.values().any(|member| member.label.name == name) {
            return Err(invalid("as", "a name that no other member has", name));
        }
        let number = self.pool.take().ok_or_else(|| invalid("network", "a free address", &self.name))?;
        let label = Label { name: name.to_owned(), tags };
        state.members.insert(number, Member { label, mailbox: mailbox.clone() });
        Ok(number)
    }

    /// Removes a member, and resets its connections. Returns false if the member has left already.
    /// The caller must call [`deliver_posted`] afterwards.
    pub(crate) fn remove(&self, number: u32) -> bool {
        let mut state = self.state.lock();
        let Some(member) = state.members.remove(&number) else { return false };
        let cut = state.cut(|wire| wire.ends.iter().any(|end| end.member == number));
        drop(state);
        self.report_ends(&cut, Some(Cut::Left));
        member.mailbox.post(Mail::Leave(number));
        self.pool.free(number);
        true
    }

    /// Replaces the rules, and resets the connections that the new rules do not allow. After the
    /// call, no byte moves that the rules do not allow.
    pub fn set_rules(&self, rules: Option<Vec<NetworkRule>>) {
        let mut state = self.state.lock();
        state.rules = rules;
        let Directory { members, rules, .. } = &*state;
        let is_allowed = |wire: &Wire| {
            let [from, to] = ENDS.map(|side| members.get(&wire.ends[side].member));
            let port = wire.ends[1].address.port();
            from.zip(to).is_some_and(|(from, to)| allow(rules.as_deref(), &from.label, &to.label, port))
        };
        let denied: Vec<u64> = state.wires.values().filter(|wire| !is_allowed(wire)).map(|wire| wire.id).collect();
        let cut = state.cut(|wire| denied.contains(&wire.id));
        drop(state);
        self.report_ends(&cut, Some(Cut::Denied));
        deliver_posted();
        // A table may have been locked. The call returns after both tables have reset their ends.
        cut.iter().flat_map(|wire| &wire.ends).for_each(|end| end.mailbox.settle());
    }

    /// Removes all members, and refuses further members.
    pub fn dispose(&self) {
        let numbers: Vec<u32> = {
            let mut state = self.state.lock();
            state.is_disposed = true;
            state.members.keys().copied().collect()
        };
        for number in numbers {
            self.expel(number);
        }
    }

    /// Removes one member. Returns false if the member has left already.
    pub fn expel(&self, number: u32) -> bool {
        let mailbox = self.state.lock().members.get(&number).map(|member| member.mailbox.clone());
        let was_member = self.remove(number);
        deliver_posted();
        // The table of the member may have been locked.
        mailbox.iter().for_each(|mailbox| mailbox.settle());
        was_member
    }

    /// Returns the members in the order of their numbers.
    pub fn members(&self) -> Vec<MemberInfo> {
        let state = self.state.lock();
        let info = |(number, member): (&u32, &Member)| {
            let (v4, v6) = addresses_of(*number);
            MemberInfo { number: *number, name: member.label.name.clone(), tags: member.label.tags.clone(), v4, v6 }
        };
        state.members.iter().map(info).collect()
    }

    /// Returns the connections, the oldest first. A connection in progress is included.
    pub fn flows(&self) -> Vec<WireInfo> {
        let state = self.state.lock();
        let sent = |end: &WireSide| end.sent.load(Ordering::Relaxed);
        let info = |wire: &Arc<Wire>| {
            let ([from, to], [connecting, listening]) = (&wire.ends, wire.names.clone());
            let since = wire.since.duration_since(UNIX_EPOCH).unwrap_or_default();
            WireInfo {
                from: connecting,
                to: listening,
                port: to.address.port(),
                sent: sent(from),
                received: sent(to),
                since_us: u64::try_from(since.as_micros()).unwrap_or(u64::MAX),
            }
        };
        state.wires.values().map(info).collect()
    }

    /// Returns the member with this name: its name in the network, or its full name
    /// `NAME.NETWORK.internal`.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        let name = self.own_part(name).unwrap_or(name);
        let state = self.state.lock();
        let is_it = |(_, member): &(&u32, &Member)| member.label.name.eq_ignore_ascii_case(name);
        state.members.iter().find(is_it).map(|(number, _)| *number)
    }

    /// Returns the part of a full name that names a member of this network.
    pub(crate) fn own_part<'a>(&self, name: &'a str) -> Option<&'a str> {
        let without_suffix = strip_suffix(name.strip_suffix('.').unwrap_or(name), SUFFIX)?;
        strip_suffix(without_suffix, &self.name)?.strip_suffix('.')
    }

    /// Returns the full name of a member.
    pub(crate) fn full_name(&self, number: u32) -> Option<String> {
        let state = self.state.lock();
        state.members.get(&number).map(|member| format!("{}.{}{SUFFIX}", member.label.name, self.name))
    }

    /// Makes the wire of a connection, if the rules allow the connection. `from` is the connecting
    /// member, with its mailbox and its address.
    pub(crate) fn open(
        self: &Arc<Self>,
        (from, mailbox, local): (u32, Arc<Mailbox>, SocketAddr),
        to: SocketAddr,
    ) -> Result<Arc<Wire>, Refusal> {
        let side = |member, mailbox, address: SocketAddr| {
            let (flow, sent) = (AtomicU32::new(0), AtomicU64::new(0));
            WireSide { member, mailbox, address, flow, sent }
        };
        let mut state = self.state.lock();
        let (member, other) = self.reach(&state, from, to)?;
        state.last_wire += 1;
        let wire = Arc::new(Wire {
            id: state.last_wire,
            network: Arc::downgrade(self),
            ends: [side(from, mailbox, local), side(member, other, to)],
            since: SystemTime::now(),
            names: [from, member].map(|number| state.name_of(number)),
            is_open: AtomicBool::new(false),
        });
        state.wires.insert(wire.id, wire.clone());
        Ok(wire)
    }

    /// Posts a datagram, if the rules allow the datagram.
    pub(crate) fn send(&self, from: u32, local: SocketAddr, to: SocketAddr, bytes: &[u8]) -> Result<(), Refusal> {
        let state = self.state.lock();
        let (_, mailbox) = self.reach(&state, from, to)?;
        mailbox.post(Mail::Datagram { from: local, to, bytes: bytes.to_vec() });
        Ok(())
    }

    /// Returns the member with the address of `to`, if the rules allow `from` to reach it.
    fn reach(&self, state: &Directory, from: u32, to: SocketAddr) -> Result<(u32, Arc<Mailbox>), Refusal> {
        let member = number_of(to.ip()).ok_or(Refusal::NoMember)?;
        let (Some(own), Some(other)) = (state.members.get(&from), state.members.get(&member)) else {
            return Err(Refusal::NoMember);
        };
        if allow(state.rules.as_deref(), &own.label, &other.label, to.port()) {
            return Ok((member, other.mailbox.clone()));
        }
        let (from, name, port) = (&own.label.name, &other.label.name, to.port());
        self.events.push(MemberEvent { from: from.clone(), to: name.clone(), port, kind: MemberEventKind::Denied }, 0);
        Err(Refusal::Denied(format!("no rule of the network {} allows {from} to reach {name} on port {port}", self.name)))
    }

    /// Returns whether the address belongs to a member.
    pub(crate) fn has(&self, ip: IpAddr) -> bool {
        number_of(ip).is_some_and(|number| self.state.lock().members.contains_key(&number))
    }

    /// Removes a connection that has ended.
    pub(super) fn forget(&self, wire: u64, is_reset: bool) {
        let removed = self.state.lock().wires.remove(&wire);
        self.report_ends(removed.as_slice(), is_reset.then_some(Cut::Reset));
    }
}

impl Directory {
    fn name_of(&self, number: u32) -> String {
        self.members.get(&number).map(|member| member.label.name.clone()).unwrap_or_default()
    }

    /// Resets both ends of the connections that `is_cut` selects. Each end receives the reset as an
    /// event of the other end.
    fn cut(&mut self, is_cut: impl Fn(&Wire) -> bool) -> Vec<Arc<Wire>> {
        let cut: Vec<Arc<Wire>> = self.wires.values().filter(|wire| is_cut(wire)).cloned().collect();
        for wire in &cut {
            self.wires.remove(&wire.id);
            ENDS.into_iter().for_each(|side| wire.send(side, WireEvent::failed(Errno::ECONNRESET)));
        }
        cut
    }
}

/// Removes a suffix, for which the case of letters has no effect.
fn strip_suffix<'a>(text: &'a str, suffix: &str) -> Option<&'a str> {
    let at = text.len().checked_sub(suffix.len())?;
    (text.is_char_boundary(at) && text[at..].eq_ignore_ascii_case(suffix)).then(|| &text[..at])
}

fn invalid(what: &str, expected: &str, received: &str) -> Error {
    Error::InvalidRequest { what: what.to_owned(), expected: expected.to_owned(), received: received.to_owned() }
}
