//! The index of a runtime's local addresses: which socket receives for an address, and which ports
//! are in use.
//!
//! A search for a receiver takes a few lookups in a sorted map, for any number of sockets. The
//! index has an entry for each listening socket and each bound datagram socket, and counts every
//! local port. `reaches` and `collide` of `address.rs` define the results, and a test compares
//! the index with these functions. Next: `network.rs`, which keeps the index up to date.

use super::address::Address;
use super::socket::{Role, Socket};
use crate::fs::Ino;
use crate::ids::SocketId;
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A local IP address that receives. The fields are in the order of the searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct IpKey {
    is_datagram: bool,
    port: u16,
    shares_port: bool,
    ip: IpAddr,
    /// Whether the address is `::` of a socket that refuses IPv4.
    only_v6: bool,
}

/// A local name of a Unix socket that receives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum NameKey {
    File(Ino),
    Abstract(Vec<u8>),
}

type Ids = BTreeSet<SocketId>;

/// The index of a table's local addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AddressIndex {
    ips: BTreeMap<IpKey, Ids>,
    names: HashMap<NameKey, Ids>,
    /// The number of sockets at each local port, for streams and for datagrams.
    ports: [HashMap<u16, u32>; 2],
}

const V4_RANGE: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::BROADCAST)];
const V6_RANGE: [IpAddr; 2] = [IpAddr::V6(Ipv6Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::from_bits(u128::MAX))];

/// Returns whether the socket receives connections or messages at its address.
fn receives(socket: &Socket) -> bool {
    matches!(socket.role, Role::Listening(_) | Role::Datagram(_))
}

impl IpKey {
    /// Returns the key of a socket that is bound to `ip` and `port`.
    fn of(socket: &Socket, ip: IpAddr, port: u16) -> Self {
        let only_v6 = socket.only_v6 && ip == V6_RANGE[0];
        Self { is_datagram: socket.is_datagram(), port, shares_port: socket.shares_port, ip, only_v6 }
    }

    /// Returns the keys of the sockets that receive for `ip`: `ip` itself, and the unspecified
    /// addresses that cover `ip`.
    fn covering(is_datagram: bool, port: u16, shares_port: bool, ip: IpAddr) -> impl Iterator<Item = Self> {
        let key = move |ip, only_v6| Self { is_datagram, port, shares_port, ip, only_v6 };
        let [any_v4, any_v6] = [V4_RANGE[0], V6_RANGE[0]];
        let own = (ip != any_v6).then_some(key(ip, false));
        let of_v4 = (ip.is_ipv4() && ip != any_v4).then_some(key(any_v4, false));
        let of_v6 = ip.is_ipv6().then_some(key(any_v6, true));
        own.into_iter().chain(of_v4).chain([key(any_v6, false)]).chain(of_v6)
    }
}

impl AddressIndex {
    /// Makes the index of these sockets.
    pub(super) fn of<'a, S: Borrow<Socket> + 'a>(sockets: impl IntoIterator<Item = (&'a SocketId, &'a S)>) -> Self {
        let mut index = Self::default();
        sockets.into_iter().for_each(|(id, socket)| index.insert(*id, socket.borrow()));
        index
    }

    /// Adds the address of a socket. The caller must remove the address before the socket's address
    /// or role changes.
    pub(super) fn insert(&mut self, id: SocketId, socket: &Socket) {
        let Some(local) = &socket.local else { return };
        if let Address::Ip(ip, port) = local {
            *self.ports[usize::from(socket.is_datagram())].entry(*port).or_default() += 1;
            if receives(socket) {
                self.ips.entry(IpKey::of(socket, *ip, *port)).or_default().insert(id);
            }
        } else if let Some(name) = name_of(local).filter(|_| receives(socket)) {
            self.names.entry(name).or_default().insert(id);
        }
    }

    /// Removes the address of a socket.
    pub(super) fn remove(&mut self, id: SocketId, socket: &Socket) {
        let Some(local) = &socket.local else { return };
        if let Address::Ip(ip, port) = local {
            let ports = &mut self.ports[usize::from(socket.is_datagram())];
            if let Some(count) = ports.get_mut(port) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    ports.remove(port);
                }
            }
            let key = IpKey::of(socket, *ip, *port);
            if self.ips.get_mut(&key).is_some_and(|ids| ids.remove(&id) && ids.is_empty()) {
                self.ips.remove(&key);
            }
        } else if let Some(name) = name_of(local)
            && self.names.get_mut(&name).is_some_and(|ids| ids.remove(&id) && ids.is_empty())
        {
            self.names.remove(&name);
        }
    }

    /// Returns the first socket that listens for connections to `destination`.
    pub(super) fn listener_at(&self, destination: &Address) -> Option<SocketId> {
        self.receivers(false, destination).filter_map(BTreeSet::first).min().copied()
    }

    /// Returns the datagram sockets that receive messages to `destination`, in ascending order.
    pub(super) fn datagrams_at(&self, destination: &Address) -> Vec<SocketId> {
        let mut ids: Vec<SocketId> = self.receivers(true, destination).flatten().copied().collect();
        ids.sort_unstable();
        ids
    }

    fn receivers(&self, is_datagram: bool, destination: &Address) -> impl Iterator<Item = &Ids> {
        let ip = if let Address::Ip(ip, port) = destination { Some((*ip, *port)) } else { None };
        let keys = ip.into_iter().flat_map(move |(ip, port)| {
            [false, true].into_iter().flat_map(move |shares| IpKey::covering(is_datagram, port, shares, ip))
        });
        let named = name_of(destination).filter(|_| !is_datagram).and_then(|name| self.names.get(&name));
        keys.filter_map(|key| self.ips.get(&key)).chain(named)
    }

    /// Returns whether another socket receives for an address of this socket. Sockets that share
    /// their port do not conflict with each other.
    pub(super) fn has_conflict(&self, id: SocketId, socket: &Socket) -> bool {
        let has_other = |ids: &Ids| ids.iter().any(|other| *other != id);
        match &socket.local {
            Some(Address::Ip(ip, port)) => {
                let groups: &[bool] = if socket.shares_port { &[false] } else { &[false, true] };
                groups.iter().any(|shares| {
                    let is_datagram = socket.is_datagram();
                    let mut covering = IpKey::covering(is_datagram, *port, *shares, *ip);
                    let key = |ip, only_v6| IpKey { is_datagram, port: *port, shares_port: *shares, ip, only_v6 };
                    let mut covered = covered_ranges(*ip, socket.only_v6).into_iter().flatten();
                    covering.any(|key| self.ips.get(&key).is_some_and(has_other))
                        || covered.any(|[first, last]| {
                            self.ips.range(key(first, false)..=key(last, true)).any(|(_, ids)| has_other(ids))
                        })
                })
            }
            Some(local @ Address::Abstract(_)) if !socket.is_datagram() => {
                name_of(local).and_then(|name| self.names.get(&name)).is_some_and(has_other)
            }
            _ => false,
        }
    }

    /// Returns whether a socket has the local port.
    pub(super) fn is_port_used(&self, is_datagram: bool, port: u16) -> bool {
        self.ports[usize::from(is_datagram)].contains_key(&port)
    }
}

/// Returns the ranges of addresses that a socket with the local address `ip` covers besides `ip`.
fn covered_ranges(ip: IpAddr, only_v6: bool) -> [Option<[IpAddr; 2]>; 2] {
    match ip {
        _ if !ip.is_unspecified() => [None, None],
        IpAddr::V4(_) => [Some(V4_RANGE), None],
        IpAddr::V6(_) => [Some(V6_RANGE), (!only_v6).then_some(V4_RANGE)],
    }
}

fn name_of(address: &Address) -> Option<NameKey> {
    match address {
        Address::File(ino, _) => Some(NameKey::File(*ino)),
        Address::Abstract(name) => Some(NameKey::Abstract(name.clone())),
        Address::Ip(..) | Address::Unnamed => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SocketId;
    use crate::net::address::{collide, reaches};
    use crate::net::network::Network;
    use crate::net::socket::{Datagram, Domain, Listener, Stream};
    use crate::usage::Usage;
    use coldframe_ids::Pid;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const ADDRESSES: [&str; 7] = ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::", "::1", "10.0.0.1", "2001:db8::1"];

    fn ip(index: usize, port: u16) -> Address {
        Address::Ip(ADDRESSES[index].parse().expect("an address"), port)
    }

    fn addresses() -> impl Strategy<Value = Address> {
        prop_oneof![
            6 => (0..ADDRESSES.len(), 1_u16..4).prop_map(|(index, port)| ip(index, port)),
            1 => (1_u64..3).prop_map(|ino| Address::File(Ino::new(ino), vec![1])),
            1 => (0_u8..2).prop_map(|name| Address::Abstract(vec![0, name])),
            1 => Just(Address::Unnamed),
        ]
    }

    fn sockets() -> impl Strategy<Value = Socket> {
        let role = prop_oneof![
            Just(Role::Fresh),
            Just(Role::Listening(Listener { pid: Pid::new(2), backlog: 1, ready: VecDeque::new(), waiting: VecDeque::new() })),
            Just(Role::Datagram(Datagram::default())),
            Just(Role::Connected(Stream::new(crate::testing::socket(1), Address::Unnamed))),
        ];
        (role, proptest::option::of(addresses()), any::<bool>(), any::<bool>()).prop_map(|(role, local, only_v6, shares_port)| {
            let is_named = matches!(local, Some(Address::File(..) | Address::Abstract(_)));
            // A datagram socket has an IP address.
            let local = local.filter(|_| !(is_named && matches!(role, Role::Datagram(_))));
            Socket { local, only_v6, shares_port, ..Socket::new(Domain::V6, role) }
        })
    }

    proptest! {
        /// The index answers as a comparison with every socket answers.
        #[test]
        fn the_index_answers_like_a_scan(
            sockets in prop::collection::vec(sockets(), 1..12),
            destination in addresses(),
            removed in 0_usize..12,
        ) {
            let mut table: BTreeMap<SocketId, Socket> = (1..).map(crate::testing::socket).zip(sockets).collect();
            let mut index = AddressIndex::of(&table);
            let id = crate::testing::socket(removed as u32 + 1);
            if let Some(socket) = table.remove(&id) {
                index.remove(id, &socket);
            }
            prop_assert_eq!(&index, &AddressIndex::of(&table));
            let reached = |is_datagram: bool| {
                let table = &table;
                let destination = &destination;
                let is_kind = move |socket: &Socket| receives(socket) && socket.is_datagram() == is_datagram;
                table.iter().filter(move |(_, socket)| is_kind(socket) && reaches(socket, destination))
            };
            prop_assert_eq!(index.listener_at(&destination), reached(false).map(|(id, _)| *id).next());
            prop_assert_eq!(index.datagrams_at(&destination), reached(true).map(|(id, _)| *id).collect::<Vec<_>>());
            for (id, socket) in &table {
                let conflicts = table.iter().any(|(other_id, other)| {
                    other_id != id && receives(other) && other.is_datagram() == socket.is_datagram() && collide(socket, other)
                });
                prop_assert_eq!(index.has_conflict(*id, socket), conflicts, "{:?}", socket);
                if let Some(Address::Ip(_, port)) = &socket.local {
                    prop_assert!(index.is_port_used(socket.is_datagram(), *port));
                }
            }
        }
    }

    /// Prints the processor time of the last 1,000 of 10,000 connects, compared with the first
    /// 1,000. Each figure is the lowest of 20 rounds.
    #[test]
    #[ignore = "a measurement"]
    fn the_cost_of_many_connections() {
        use crate::limits::Limits;
        use coldframe_sys::ThreadClock;
        let usage = Usage::new(&Limits { sockets: 65_536, ..Limits::default() });
        let now = || ThreadClock::of_this_thread().and_then(ThreadClock::now_ns).expect("a clock");
        let mut lowest = [u64::MAX; 10];
        for _ in 0..20 {
            let mut network = Network::new(usage.clone());
            let add = |network: &mut Network| network.add(Socket::new(Domain::V4, Role::Fresh)).expect("room");
            let server = add(&mut network);
            network.bind(server, ip(0, 80), false, false).expect("a free port");
            network.listen(server, 16, Pid::new(2)).expect("a free address");
            for cost in &mut lowest {
                let start = now();
                for _ in 0..1_000 {
                    let client = add(&mut network);
                    network.connect(client, ip(0, 80)).expect("a listener");
                    network.accept(server).expect("a connection");
                    std::hint::black_box(network.buffered());
                }
                *cost = (*cost).min((now() - start) / 1_000);
            }
        }
        let ratio = lowest[9] as f64 / lowest[0] as f64;
        println!("{lowest:?} ns for each connection; last / first = {ratio:.2}");
    }
}
