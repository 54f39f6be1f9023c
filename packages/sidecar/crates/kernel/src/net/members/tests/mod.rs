//! Tests of connections between runtimes without programs. Each end is a socket of a table.

mod load;
mod measurements;
mod random;

use super::super::address::{Address, unbound};
use super::super::index::AddressIndex;
use super::super::outside::Question;
use super::super::socket::{Datagram, Domain, Role, Socket, Stream};
use crate::Kernel;
use crate::ids::SocketId;
use crate::limits::Limits;
use crate::networks::{AddressPool, MemberScope, NetworkRule, PrivateNetwork};
use crate::outside::{LookUpAnswer, LookUpFamily, OutsideFailureKind};
use coldframe_error::{Errno, Error};
use coldframe_ids::Pid;
use std::net::IpAddr;
use std::sync::Arc;

struct Direct;

impl MemberScope for Direct {
    fn run(&self, work: &mut dyn FnMut()) {
        work();
    }
}

/// A runtime without programs.
struct Node {
    kernel: Arc<Kernel>,
}

impl Node {
    fn new() -> Self {
        Self { kernel: Arc::new(Kernel::new(&Limits::default())) }
    }

    fn join(&self, network: &Arc<PrivateNetwork>, name: &str) -> Result<u32, Error> {
        self.kernel.join(network, name, vec![format!("{name}-tag")], Box::new(Direct))
    }

    fn member(network: &Arc<PrivateNetwork>, name: &str) -> Self {
        let node = Self::new();
        node.join(network, name).expect("a free name");
        node
    }

    fn ips(&self) -> Vec<IpAddr> {
        self.kernel.sockets.lock().network.own.clone()
    }

    fn socket(&self, domain: Domain, role: Role) -> SocketId {
        self.kernel.sockets.with(|state| state.network.add(Socket::new(domain, role))).expect("room")
    }

    fn listen(&self, ip: &str, port: u16, backlog: usize) -> SocketId {
        let ip: IpAddr = ip.parse().expect("an address");
        let id = self.socket(if ip.is_ipv4() { Domain::V4 } else { Domain::V6 }, Role::Fresh);
        self.kernel
            .sockets
            .with(|state| {
                state.network.bind(id, Address::Ip(ip, port), false, false)?;
                state.network.listen(id, backlog, Pid::new(2))
            })
            .expect("a free port");
        id
    }

    /// Starts a connection. Returns its socket.
    fn connect(&self, to: IpAddr, port: u16) -> Result<SocketId, Errno> {
        let id = self.socket(if to.is_ipv4() { Domain::V4 } else { Domain::V6 }, Role::Fresh);
        let begun = self.kernel.sockets.with(|state| state.connect_member(id, (to, port).into()));
        begun.map(|()| id).inspect_err(|_| self.close(id, false))
    }

    /// Starts a connection, and returns its error.
    fn refusal(&self, to: IpAddr, port: u16) -> (Errno, String) {
        let id = self.connect(to, port).expect("the connection fails later");
        let failed = self.kernel.sockets.with(|state| {
            let socket = state.network.get_mut(id)?;
            Ok((socket.error.take(), socket.explanation.take()))
        });
        self.close(id, false);
        let (error, explanation) = failed.expect("the socket exists");
        (error.expect("an error"), explanation.map(String::from).unwrap_or_default())
    }

    fn accept(&self, listener: SocketId) -> Result<SocketId, Errno> {
        self.kernel.sockets.with(|state| state.network.accept(listener))
    }

    fn write(&self, id: SocketId, bytes: &[u8]) -> Result<usize, Errno> {
        self.kernel.sockets.write(id, bytes)
    }

    fn read(&self, id: SocketId) -> Result<Vec<u8>, Errno> {
        let mut buffer = vec![0; 100_000];
        self.kernel.sockets.read(id, &mut buffer).map(|count| buffer[..count].to_vec())
    }

    fn shutdown(&self, id: SocketId) {
        self.kernel.sockets.with(|state| state.network.shutdown(id)).expect("a connection");
    }

    fn close(&self, id: SocketId, reset: bool) {
        assert!(self.kernel.sockets.close(id, reset).is_empty());
    }

    /// Returns the local address of a socket, and the address of its peer.
    fn names(&self, id: SocketId) -> (String, String) {
        let state = self.kernel.sockets.lock();
        let socket = state.network.get(id).expect("the socket exists");
        let show = |address: &Address| address.socket_address().map(|address| address.to_string()).unwrap_or_default();
        let Role::Connected(Stream { remote, .. }) = &socket.role else { panic!("no connection: {:?}", socket.role) };
        (socket.local.as_ref().map(show).unwrap_or_default(), show(remote))
    }

    /// Asserts that no flow and no socket is left.
    fn assert_empty(&self) {
        let sockets = &self.kernel.sockets;
        assert_eq!((sockets.outside_counts(), sockets.count(), sockets.used_and_highest().1), ((0, 0), 0, 0));
        assert_eq!(sockets.used_and_highest().0[0].0, 0, "counted sockets");
    }

    /// Checks the counters and the index of the table.
    fn check(&self) {
        let state = self.kernel.sockets.lock();
        let scanned: u64 = state.network.sockets.values().map(|socket| socket.buffered() as u64).sum();
        assert_eq!(state.network.buffered(), scanned + state.outside.queued_bytes());
        assert_eq!(state.network.index(), &AddressIndex::of(&state.network.sockets));
        let ends = state.network.sockets.values().filter(|socket| socket.is_flow_end).count();
        assert_eq!(state.network.flow_ends, ends);
    }
}

fn network(rules: Option<Vec<NetworkRule>>) -> Arc<PrivateNetwork> {
    PrivateNetwork::new("shop".to_owned(), rules, Arc::new(AddressPool::default()))
}

fn rule(from: &str, to: &str, port: u16) -> NetworkRule {
    NetworkRule { from: Some(from.to_owned()), to: Some(to.to_owned()), ports: vec![port..=port] }
}

/// Makes two members and a connection of `web` to `db`. Returns the members and the two sockets.
fn connected(network: &Arc<PrivateNetwork>) -> (Node, SocketId, Node, SocketId) {
    let (web, db) = (Node::member(network, "web"), Node::member(network, "db"));
    let listener = db.listen("0.0.0.0", 5_432, 16);
    let client = web.connect(db.ips()[0], 5_432).expect("a member");
    let server = db.accept(listener).expect("a connection");
    db.close(listener, false);
    (web, client, db, server)
}

#[test]
fn passes_bytes_and_ends_in_both_directions() {
    let network = network(None);
    let (web, client, db, server) = connected(&network);
    assert_eq!(web.names(client), ("198.18.0.1:32768".to_owned(), "198.18.0.2:5432".to_owned()));
    assert_eq!(db.names(server), ("198.18.0.2:5432".to_owned(), "198.18.0.1:32768".to_owned()));
    assert_eq!((web.write(client, b"question"), db.read(server).as_deref()), (Ok(8), Ok(&b"question"[..])));
    web.shutdown(client);
    assert_eq!(db.read(server).as_deref(), Ok(&b""[..]));
    assert_eq!((db.write(server, b"answer"), web.read(client).as_deref()), (Ok(6), Ok(&b"answer"[..])));
    let flows = network.flows();
    assert_eq!((flows.len(), flows[0].sent, flows[0].received, flows[0].port), (1, 8, 6, 5_432));
    assert_eq!((flows[0].from.as_str(), flows[0].to.as_str()), ("web", "db"));
    db.close(server, false);
    assert_eq!(web.read(client).as_deref(), Ok(&b""[..]));
    web.close(client, false);
    assert_eq!(network.flows(), []);
    [&web, &db].into_iter().for_each(Node::assert_empty);
}

#[test]
fn bounds_the_bytes_of_a_reader_that_does_not_read() {
    let (web, client, db, server) = connected(&network(None));
    let piece = vec![7; 50_000];
    let mut written = 0;
    while let Ok(count) = web.write(client, &piece) {
        written += count;
    }
    // A window, and the buffers of the two ends.
    assert!((256 << 10..=(256 << 10) + 2 * (64 << 10) + 64).contains(&written), "{written} bytes");
    let held = [&web, &db].map(|node| node.kernel.sockets.used_and_highest().1);
    assert_eq!(held[0] + held[1], written as u64, "each byte is charged once");
    let mut read = 0;
    while let Ok(bytes) = db.read(server) {
        read += bytes.len();
    }
    assert_eq!(read, written);
    assert!(web.write(client, &piece).is_ok(), "the writer continues");
    [&web, &db].into_iter().for_each(Node::check);
}

#[test]
fn resets_the_other_end() {
    for reset_by_client in [false, true] {
        let (web, client, db, server) = connected(&network(None));
        let ((one, first), (other, second)) =
            if reset_by_client { ((&web, client), (&db, server)) } else { ((&db, server), (&web, client)) };
        one.close(first, true);
        assert_eq!((other.read(second), other.read(second).as_deref()), (Err(Errno::ECONNRESET), Ok(&b""[..])));
        assert_eq!(other.write(second, b"x"), Err(Errno::EPIPE));
        other.close(second, false);
        [&web, &db].into_iter().for_each(Node::assert_empty);
    }
}

#[test]
fn reaches_only_listeners_at_reachable_addresses() {
    let network = network(None);
    let (web, db) = (Node::member(&network, "web"), Node::member(&network, "db"));
    let [v4, v6] = [db.ips()[0], db.ips()[1]];
    db.listen("127.0.0.1", 1, 16);
    db.listen("::1", 2, 16);
    db.listen(&v4.to_string(), 3, 16);
    db.listen(&v6.to_string(), 4, 16);
    db.listen("::", 5, 16);
    let errors: Vec<_> = [(v4, 1), (v6, 2), (v6, 3), (v4, 4), (v4, 6)].map(|(ip, port)| web.refusal(ip, port).0).into();
    assert_eq!(errors, [Errno::ECONNREFUSED; 5]);
    for (ip, port) in [(v4, 3), (v6, 4), (v4, 5), (v6, 5)] {
        let client = web.connect(ip, port).expect("a member");
        assert_eq!(web.names(client).1, std::net::SocketAddr::new(ip, port).to_string());
        web.close(client, true);
    }
    assert_eq!(web.connect("198.18.9.9".parse().expect("an address"), 5), Err(Errno::EHOSTUNREACH));
    let other = Node::new();
    assert_eq!(other.connect(v4, 5), Err(Errno::EHOSTUNREACH));
    // Another network has no route to the members of this network.
    let stranger = Node::member(&PrivateNetwork::new("other".to_owned(), None, Arc::new(AddressPool::default())), "x");
    assert_eq!(stranger.connect(v4, 5), Err(Errno::EHOSTUNREACH));
    assert_eq!(network.flows(), []);
}

#[test]
fn binds_only_own_addresses() {
    let network = network(None);
    let (web, db) = (Node::member(&network, "web"), Node::member(&network, "db"));
    let bind = |ip: IpAddr| {
        let id = web.socket(Domain::V4, Role::Fresh);
        web.kernel.sockets.with(|state| state.network.bind(id, Address::Ip(ip, 0), false, false))
    };
    assert_eq!((bind(web.ips()[0]), bind(db.ips()[0])), (Ok(()), Err(Errno::EADDRNOTAVAIL)));
    web.kernel.leave(&network);
    assert_eq!(web.ips(), [] as [IpAddr; 0]);
}

#[test]
fn rules_are_directed_and_select_names_and_tags() {
    let network = network(Some(vec![rule("web", "db-tag", 5_432)]));
    let (web, db) = (Node::member(&network, "web"), Node::member(&network, "db"));
    db.listen("0.0.0.0", 5_432, 16);
    db.listen("0.0.0.0", 80, 16);
    web.listen("0.0.0.0", 5_432, 16);
    assert!(web.connect(db.ips()[0], 5_432).is_ok());
    let (errno, explanation) = web.refusal(db.ips()[0], 80);
    assert_eq!(errno, Errno::EACCES);
    assert!(explanation.contains("no rule of the network shop allows web to reach db on port 80\0not-allowed"), "{explanation}");
    assert_eq!(db.refusal(web.ips()[0], 5_432).0, Errno::EACCES);
}

#[test]
fn new_rules_reset_the_connections_that_they_do_not_allow() {
    let network = network(None);
    let (web, client, db, server) = connected(&network);
    network.set_rules(Some(vec![rule("web", "db", 5_432)]));
    assert_eq!((web.write(client, b"x"), db.read(server).as_deref()), (Ok(1), Ok(&b"x"[..])));
    network.set_rules(Some(Vec::new()));
    assert_eq!((web.read(client), db.read(server)), (Err(Errno::ECONNRESET), Err(Errno::ECONNRESET)));
    assert_eq!(network.flows(), []);
    web.close(client, false);
    db.close(server, false);
    [&web, &db].into_iter().for_each(Node::assert_empty);
}

#[test]
fn the_end_of_a_membership_resets_its_connections() {
    for end in 0..4 {
        let network = network(None);
        let (web, client, db, server) = connected(&network);
        match end {
            0 => assert!(db.kernel.leave(&network)),
            1 => network.dispose(),
            2 => db.kernel.sockets.detach(&Error::RuntimeDisposed),
            _ => {
                assert!(network.expel(2));
                assert!(!network.expel(2), "a second call finds no member");
            }
        }
        assert_eq!(web.read(client), Err(Errno::ECONNRESET));
        assert_eq!(db.read(server), Err(Errno::ECONNRESET));
        assert_eq!((network.flows().len(), db.ips().len()), (0, 0));
        let rejoined = db.join(&network, "db").map_err(|error| error.code());
        let expected = [Ok(()), Err("ERR_INVALID_REQUEST"), Err("ERR_RUNTIME_DISPOSED"), Ok(())];
        assert_eq!(rejoined.map(|_| ()), expected[end]);
    }
}

#[test]
fn a_dropped_kernel_leaves_its_network() {
    let network = network(None);
    let (web, client, db, _) = connected(&network);
    drop(db);
    assert_eq!(web.read(client), Err(Errno::ECONNRESET));
    assert_eq!((network.members().len(), network.flows().len()), (1, 0));
}

#[test]
fn a_connection_waits_for_space_in_the_queue() {
    let network = network(None);
    let (web, db) = (Node::member(&network, "web"), Node::member(&network, "db"));
    let listener = db.listen("0.0.0.0", 80, 0);
    let clients: Vec<SocketId> = (0..3).map(|_| web.connect(db.ips()[0], 80).expect("a member")).collect();
    assert_eq!(web.write(clients[1], b"x"), Err(Errno::EAGAIN), "the connection is not open");
    web.close(clients[2], false);
    for client in clients.iter().take(2).copied() {
        let server = db.accept(listener).expect("a connection");
        assert_eq!(db.names(server).0, "198.18.0.2:80");
        assert_eq!(web.write(client, b"hi"), Ok(2));
        assert_eq!(db.read(server).as_deref(), Ok(&b"hi"[..]));
        [&web, &db].into_iter().for_each(Node::check);
        db.close(server, false);
        web.close(client, false);
    }
    assert_eq!(db.accept(listener), Err(Errno::EAGAIN), "the third client has left");
    let waiting: Vec<SocketId> = (0..2).map(|_| web.connect(db.ips()[0], 80).expect("a member")).collect();
    db.close(listener, false);
    for client in waiting {
        let error = web.kernel.sockets.with(|state| Ok(state.network.get_mut(client)?.error.take()));
        assert!(matches!(error, Ok(Some(Errno::ECONNREFUSED | Errno::ECONNRESET))), "{error:?}");
        web.close(client, false);
    }
    [&web, &db].into_iter().for_each(Node::assert_empty);
}

#[test]
fn looks_up_names_of_members() {
    let network = network(None);
    let (web, _db) = (Node::member(&network, "web"), Node::member(&network, "db"));
    let ask = |name: &str, question| match web.kernel.sockets.ask_networks(name, question) {
        None => "outside".to_owned(),
        Some(Ok(LookUpAnswer::Addresses(addresses))) => format!("{addresses:?}"),
        Some(Ok(LookUpAnswer::Records(records))) => records,
        Some(Err(failure)) => match failure.kind {
            OutsideFailureKind::Dns(code) => code,
            kind => format!("{kind:?}"),
        },
    };
    let any = Question::Addresses(LookUpFamily::Any);
    for name in ["db", "DB", "db.shop.internal", "db.shop.internal."] {
        assert_eq!(ask(name, any), "[198.18.0.2]", "{name}");
    }
    assert_eq!(ask("db", Question::Addresses(LookUpFamily::V6)), "[fd5c:93e1:7a04::2]");
    assert_eq!([ask("nobody", any), ask("db.other.internal", any)], ["outside", "outside"]);
    assert_eq!(ask("nobody.shop.internal", any), "ENOTFOUND");
    assert_eq!(ask("db", Question::Records(1)), r#"[{"address":"198.18.0.2","ttl":0}]"#);
    assert_eq!(ask("db", Question::Records(28)), r#"[{"address":"fd5c:93e1:7a04::2","ttl":0}]"#);
    assert_eq!(ask("db", Question::Records(15)), "ENODATA");
    assert_eq!(ask("2.0.18.198.in-addr.arpa", Question::Records(12)), r#"["db.shop.internal"]"#);
    assert_eq!(ask("9.9.18.198.in-addr.arpa", Question::Records(12)), "ENOTFOUND");
    assert_eq!(ask("1.1.1.1.in-addr.arpa", Question::Records(12)), "outside");
    let v6 = format!("2.{}4.0.a.7.1.e.3.9.c.5.d.f.ip6.arpa", "0.".repeat(19));
    assert_eq!(ask(&v6, Question::Records(12)), r#"["db.shop.internal"]"#);
}

#[test]
fn refuses_a_second_member_with_the_name() {
    let network = network(None);
    let web = Node::member(&network, "web");
    let code = |joined: Result<u32, Error>| joined.map_err(|error| error.code());
    assert_eq!(code(Node::new().join(&network, "web")), Err("ERR_INVALID_REQUEST"));
    assert_eq!(code(web.join(&network, "other")), Err("ERR_INVALID_REQUEST"));
    web.kernel.leave(&network);
    assert_eq!(code(Node::new().join(&network, "web")), Ok(2), "the address of the first member is used later");
}

#[test]
fn passes_messages_that_the_rules_allow() {
    let network = network(Some(vec![rule("web", "db", 53)]));
    let (web, db) = (Node::member(&network, "web"), Node::member(&network, "db"));
    let [client, server] = [&web, &db].map(|node| node.socket(Domain::V4, Role::Datagram(Datagram::default())));
    let bind = |address| db.kernel.sockets.with(|state| state.network.bind(server, address, false, false));
    assert_eq!(bind(unbound(Domain::V4).with_port(53)), Ok(()));
    let send = |port| {
        let to = (db.ips()[0], port).into();
        web.kernel.sockets.with(|state| state.send_member(client, b"question", to))
    };
    assert_eq!((send(53), send(54)), (Ok(8), Err(Errno::EACCES)));
    let received = db.kernel.sockets.with(|state| state.network.receive(server));
    let from = Address::Ip(web.ips()[0], 32_768);
    assert_eq!(received, Ok((from, b"question".to_vec())));
    db.check();
}
