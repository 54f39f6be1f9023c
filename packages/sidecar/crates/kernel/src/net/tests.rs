//! Tests of the socket table call by call, and with random sequences of calls.

use super::address::Address;
use super::network::{EPHEMERAL, Network, Wake};
use super::socket::{Datagram, Domain, ERR, HUP, IN, OUT, Role, Socket, WaitOwner, Waiter};
use super::stream::Progress;
use crate::ids::SocketId;
use crate::testing::{operation, socket};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use proptest::prelude::*;

fn ip(text: &str, port: u16) -> Address {
    Address::parse(Domain::V6, text.as_bytes(), port)
        .or_else(|_| Address::parse(Domain::V4, text.as_bytes(), port))
        .expect("an address")
}

/// Returns the owner of a wait: the operation `number` of the process `pid`.
fn owner(pid: u32, number: u32) -> WaitOwner {
    WaitOwner::Operation(Pid::new(pid), operation(number))
}

fn waiter(pid: u32, number: u32, mask: u32) -> Waiter {
    Waiter { owner: owner(pid, number), mask }
}

/// The default limits: the bytes of a socket's buffer, the number of sockets, and the number of
/// pipes.
const BUFFER: usize = 64 << 10;
const MAX_SOCKETS: usize = 256;
const MAX_PIPES: usize = 768;

fn stream(network: &mut Network) -> SocketId {
    network.add(Socket::new(Domain::V4, Role::Fresh)).expect("room")
}

fn datagram(network: &mut Network) -> SocketId {
    network.add(Socket::new(Domain::V4, Role::Datagram(Datagram::default()))).expect("room")
}

fn listener(network: &mut Network, address: Address, backlog: usize) -> SocketId {
    let id = stream(network);
    network.bind(id, address, false, false).expect("free");
    network.listen(id, backlog, Pid::new(9)).expect("listens");
    id
}

fn connected(network: &mut Network) -> (SocketId, SocketId) {
    let server = listener(network, ip("127.0.0.1", 80), 8);
    let client = stream(network);
    assert_eq!(network.connect(client, ip("127.0.0.1", 80)), Ok(Progress::Connected));
    let accepted = network.accept(server).expect("a connection");
    network.close(server, false).expect("closes");
    (client, accepted)
}

fn read(network: &mut Network, id: SocketId) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; BUFFER * 2];
    network.read(id, &mut buffer).map(|count| buffer[..count].to_vec())
}

fn ready(network: &Network, id: SocketId) -> u32 {
    network.readiness(network.get(id).expect("the socket exists"))
}

#[test]
fn moves_bytes_in_both_directions_and_ends_each_alone() {
    let mut network = Network::default();
    let (client, server) = connected(&mut network);
    assert_eq!(read(&mut network, server), Err(Errno::EAGAIN));
    assert_eq!(network.write(client, b"question"), Ok(8));
    network.shutdown(client).expect("connected");
    assert_eq!(read(&mut network, server).as_deref(), Ok(&b"question"[..]));
    assert_eq!(read(&mut network, server), Ok(vec![]));
    assert_eq!(network.write(server, b"answer"), Ok(6));
    assert_eq!(read(&mut network, client).as_deref(), Ok(&b"answer"[..]));
    assert_eq!(network.write(client, b"more"), Err(Errno::EPIPE));
}

#[test]
fn a_full_buffer_blocks_the_writer_until_a_quarter_is_free() {
    let mut network = Network::default();
    let (client, server) = connected(&mut network);
    assert_eq!(network.write(client, &vec![7; BUFFER + 1]), Ok(BUFFER));
    assert_eq!(network.write(client, b"x"), Err(Errno::EAGAIN));
    network.arm(client, waiter(1, 5, OUT)).expect("armed");
    let mut little = [0; 100];
    network.read(server, &mut little).expect("bytes");
    assert_eq!(network.take_wakes(), []);
    network.read(server, &mut [0; BUFFER]).expect("bytes");
    assert_eq!(network.take_wakes(), [Wake { owner: owner(1, 5), socket: client, ready: OUT }]);
    network.read(server, &mut little).expect_err("empty");
    assert_eq!(network.take_wakes(), [], "once");
}

#[test]
fn a_close_ends_the_stream_and_resets_it_if_bytes_are_unread() {
    let mut network = Network::default();
    let (client, server) = connected(&mut network);
    network.write(server, b"last words").expect("written");
    network.close(server, false).expect("closes");
    assert_eq!(read(&mut network, client).as_deref(), Ok(&b"last words"[..]));
    assert_eq!(read(&mut network, client), Ok(vec![]));
    assert_eq!(network.write(client, b"to nobody"), Ok(9), "like TCP, which detects the close by the reply");
    assert_eq!(read(&mut network, client), Ok(vec![]), "the end precedes the reply");
    assert_eq!(network.write(client, b"to nobody"), Err(Errno::EPIPE));

    let (client, server) = connected(&mut network);
    network.write(client, b"unread").expect("written");
    network.arm(client, waiter(1, 9, IN)).expect("armed");
    network.close(server, false).expect("closes");
    assert_eq!(network.take_wakes(), [Wake { owner: owner(1, 9), socket: client, ready: IN | ERR | HUP }]);
    assert_eq!(read(&mut network, client), Err(Errno::ECONNRESET));
    assert_eq!(read(&mut network, client), Ok(vec![]));
}

#[test]
fn only_listeners_occupy_and_receive_an_address() {
    let mut network = Network::default();
    let client = stream(&mut network);
    assert_eq!(network.connect(client, ip("127.0.0.1", 80)), Err(Errno::ECONNREFUSED));
    assert_eq!(network.connect(client, ip("93.184.216.34", 80)), Err(Errno::EACCES));
    assert_eq!(network.connect(client, ip("169.254.169.254", 80)), Err(Errno::EACCES));
    assert_eq!(network.connect(client, ip("::ffff:10.0.0.1", 80)), Err(Errno::EACCES));
    let first = listener(&mut network, ip("::", 80), 1);
    let second = stream(&mut network);
    assert_eq!(network.bind(second, ip("127.0.0.1", 80), false, false), Err(Errno::EADDRINUSE));
    assert_eq!(network.bind(second, ip("8.8.8.8", 80), false, false), Err(Errno::EADDRNOTAVAIL));
    assert_eq!(network.bind(second, ip("127.0.0.1", 81), false, false), Ok(()));
    assert_eq!(network.connect(client, ip("0.0.0.0", 80)), Ok(Progress::Connected));
    network.close(first, false).expect("closes");
    assert_eq!(read(&mut network, client), Err(Errno::ECONNRESET), "the connection was never accepted");
    let third = stream(&mut network);
    assert_eq!(network.bind(third, ip("127.0.0.1", 80), false, false), Ok(()), "the address is free again");
}

#[test]
fn clients_wait_for_a_full_queue_and_are_refused_when_the_listener_closes() {
    let mut network = Network::default();
    let server = listener(&mut network, ip("127.0.0.1", 80), 0);
    let clients: Vec<SocketId> = (0..3).map(|_| stream(&mut network)).collect();
    let progress: Vec<_> = clients.iter().map(|client| network.connect(*client, ip("127.0.0.1", 80))).collect();
    assert_eq!(progress, [Ok(Progress::Connected), Ok(Progress::Waiting), Ok(Progress::Waiting)]);
    assert_eq!(ready(&network, clients[1]), 0);
    network.accept(server).expect("the first");
    assert_eq!(ready(&network, clients[1]), OUT);
    network.close(server, false).expect("closes");
    assert_eq!(read(&mut network, clients[2]), Err(Errno::ECONNREFUSED));
    assert_eq!(network.accept(server), Err(Errno::EBADF));
}

#[test]
fn closing_a_shared_socket_removes_only_the_waits_of_that_program() {
    let mut network = Network::default();
    let (one, other) = network.pair().expect("room");
    for pid in [1, 2] {
        for number in 1..=4 {
            network.arm(one, waiter(pid, number, IN)).expect("room for each program");
        }
        assert_eq!(network.arm(one, waiter(pid, 5, IN)), Err(Errno::ENOBUFS));
    }
    network.disarm(one, owner(2, 4)).expect("the socket exists");
    assert_eq!(network.forget(one, Pid::new(1)), [1, 2, 3, 4].map(operation));
    network.close(other, false).expect("closes");
    let woken: Vec<_> = network.take_wakes().iter().map(|wake| wake.owner).collect();
    assert_eq!(woken, [owner(2, 1), owner(2, 2), owner(2, 3)]);
    network.close(one, false).expect("closes");
    assert!(network.sockets.is_empty());
}

#[test]
fn datagrams_arrive_whole_with_their_sender() {
    let mut network = Network::default();
    let (one, two) = (datagram(&mut network), datagram(&mut network));
    network.bind(one, ip("127.0.0.1", 5_000), false, false).expect("free");
    assert_eq!(network.bind(two, ip("0.0.0.0", 5_000), false, false), Err(Errno::EADDRINUSE));
    assert_eq!(network.send(two, b"hello", Some(ip("127.0.0.1", 5_000))), Ok(5));
    let (from, bytes) = network.receive(one).expect("a message");
    assert_eq!(bytes, b"hello");
    assert_eq!(network.send(one, b"back", Some(from)), Ok(4));
    assert_eq!(network.receive(two).expect("a message").1, b"back");
    assert_eq!(network.send(two, &vec![0; 65_508], Some(ip("127.0.0.1", 5_000))), Err(Errno::EMSGSIZE));
    assert_eq!(network.send(two, b"x", Some(ip("10.0.0.1", 53))), Err(Errno::EACCES));
    for _ in 0..10_000 {
        network.send(two, &[0; 100], Some(ip("127.0.0.1", 5_000))).expect("sent, if not received");
    }
    let held = std::iter::from_fn(|| network.receive(one).ok()).count();
    assert!((1..=BUFFER / 100).contains(&held), "{held}");
}

#[test]
fn limits_the_number_of_sockets_and_pipes() {
    let mut network = Network::default();
    let (one, other) = network.pair().expect("room");
    assert_eq!(network.write(one, b"through"), Ok(7));
    assert_eq!(read(&mut network, other).as_deref(), Ok(&b"through"[..]));
    let made: Vec<_> = (0..MAX_SOCKETS).map(|_| stream(&mut network)).collect();
    assert_eq!(network.add(Socket::new(Domain::V4, Role::Fresh)), Err(Errno::ENFILE));
    let pairs: Vec<_> = (1..MAX_PIPES).map(|_| network.pair().expect("pairs are counted apart")).collect();
    assert_eq!(network.pair(), Err(Errno::ENFILE));
    network.close(made[0], false).expect("closes");
    network.close(pairs[0].0, false).expect("closes");
    assert_eq!(network.pair(), Err(Errno::ENFILE), "one end is still open");
    network.close(pairs[0].1, false).expect("closes");
    assert!(network.pair().is_ok());
    stream(&mut network);
}

#[derive(Debug, Clone)]
enum Step {
    Make,
    Listen(usize, u16, usize),
    Connect(usize, u16),
    Accept(usize),
    Write(usize, usize),
    Read(usize, usize),
    Shutdown(usize),
    Close(usize, bool),
    Arm(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let socket = || 0_usize..12;
    let size = || prop_oneof![0_usize..200, Just(BUFFER), Just(BUFFER / 2 + 1)];
    let step = prop_oneof![
        2 => Just(Step::Make),
        1 => (socket(), 1_u16..4, 0_usize..3).prop_map(|(at, port, backlog)| Step::Listen(at, port, backlog)),
        3 => (socket(), 1_u16..4).prop_map(|(at, port)| Step::Connect(at, port)),
        2 => socket().prop_map(Step::Accept),
        4 => (socket(), size()).prop_map(|(at, size)| Step::Write(at, size)),
        4 => (socket(), size()).prop_map(|(at, size)| Step::Read(at, size)),
        1 => socket().prop_map(Step::Shutdown),
        2 => (socket(), any::<bool>()).prop_map(|(at, abort)| Step::Close(at, abort)),
        3 => socket().prop_map(Step::Arm),
    ];
    prop::collection::vec(step, 1..200)
}

/// Asserts the invariants of the table, after every step.
fn check(network: &Network) {
    for (id, socket) in &network.sockets {
        match &socket.role {
            Role::Connected(stream) => {
                assert!(stream.incoming.len() <= BUFFER);
                if let Some(peer) = stream.peer {
                    let Role::Connected(peer) = &network.get(peer).expect("a peer that exists").role else { panic!("a peer") };
                    assert_eq!(peer.peer, Some(*id), "each end names the other");
                    assert_eq!(peer.ended, stream.shut, "the other end sees the end of the direction");
                } else {
                    assert!(stream.ended);
                }
            }
            Role::Listening(listener) => {
                // The longest backlog of a step is 2, and a queue has at most one connection more.
                // A shorter backlog drops no queued connections.
                assert!(listener.ready.len() <= 3);
                for end in listener.ready.iter().chain(&listener.waiting) {
                    assert!(network.sockets.contains_key(end));
                }
            }
            Role::Connecting(listener) => {
                let Role::Listening(listener) = &network.get(*listener).expect("a listener").role else { panic!("a listener") };
                assert!(listener.waiting.contains(id));
            }
            Role::Fresh | Role::Datagram(_) | Role::Opening(_) | Role::Master(_) | Role::Slave(_) => {}
        }
        for waiter in &socket.waiters {
            assert_eq!(network.readiness(socket) & (waiter.mask | ERR | HUP), 0, "no operation waits for a met readiness");
        }
    }
}

proptest! {
    /// After any sequence of calls, connections are consistent, buffers are bounded, and no
    /// operation waits for an event that has happened.
    #[test]
    fn random_calls_keep_connections_consistent_and_buffers_bounded(steps in steps()) {
        let mut network = Network::default();
        let mut ids: Vec<SocketId> = Vec::new();
        let mut number = 0;
        for step in steps {
            let at = |index: usize| ids.get(index).copied().unwrap_or(socket(u32::MAX));
            match step {
                Step::Make if ids.len() < 12 => ids.push(stream(&mut network)),
                Step::Make => {}
                Step::Listen(index, port, backlog) => {
                    let _ = network.bind(at(index), ip("127.0.0.1", port), false, false);
                    let _ = network.listen(at(index), backlog, Pid::new(9));
                }
                Step::Connect(index, port) => { let _ = network.connect(at(index), ip("127.0.0.1", port)); }
                Step::Accept(index) => if let Ok(id) = network.accept(at(index)) { ids.push(id) },
                Step::Write(index, size) => {
                    if let Ok(count) = network.write(at(index), &vec![1; size]) { prop_assert!(count <= size) }
                }
                Step::Read(index, size) => {
                    if let Ok(count) = network.read(at(index), &mut vec![0; size]) { prop_assert!(count <= size) }
                }
                Step::Shutdown(index) => { let _ = network.shutdown(at(index)); }
                Step::Close(index, abort) => {
                    let _ = network.close(at(index), abort);
                    ids.retain(|id| network.sockets.contains_key(id));
                }
                Step::Arm(index) => {
                    number += 1;
                    let _ = network.arm(at(index), waiter(1, number, IN | OUT));
                }
            }
            network.take_wakes();
            check(&network);
        }
        for id in network.sockets.keys().copied().collect::<Vec<_>>() {
            // Closing a listener may already have closed the sockets in its queue.
            let _ = network.close(id, false);
        }
        prop_assert!(network.sockets.is_empty());
    }

    /// A stream delivers the written bytes in order, for any lengths of the reads and writes.
    #[test]
    fn bytes_stay_in_order(cuts in prop::collection::vec((0_usize..40_000, 0_usize..40_000), 1..30)) {
        let mut network = Network::default();
        let (client, server) = connected(&mut network);
        let (mut sent, mut got) = (0_u64, 0_u64);
        for (write, read) in cuts {
            let bytes: Vec<u8> = (sent..sent + write as u64).map(|n| (n % 251) as u8).collect();
            sent += network.write(client, &bytes).unwrap_or(0) as u64;
            let mut buffer = vec![0; read];
            let count = network.read(server, &mut buffer).unwrap_or(0);
            for byte in &buffer[..count] {
                prop_assert_eq!(u64::from(*byte), got % 251);
                got += 1;
            }
        }
        prop_assert!(sent - got <= BUFFER as u64);
    }
}

#[test]
fn every_port_of_the_ephemeral_range_is_chosen_once() {
    let mut network = Network::default();
    let first = *EPHEMERAL.start();
    for expected in EPHEMERAL.chain([first]) {
        assert_eq!(network.free_port(false), Ok(expected));
    }
}
