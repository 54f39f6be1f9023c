//! Flows of datagrams: the decision about a peer, the window, the queue, and the ends.

use super::super::testing::FlowRules;
use super::*;
use crate::net::OUT;
use crate::net::address::Address;
use crate::net::datagram::MAX_MESSAGE;
use crate::net::network::Network;
use crate::net::socket::{Datagram, WaitOwner, Waiter};
use crate::outside::{DATAGRAM_COST, MAX_DATAGRAM_FLOWS};
use proptest::prelude::*;

fn far(last: u8) -> SocketAddr {
    ([93, 184, 216, last], 123).into()
}

fn at(address: SocketAddr) -> Address {
    Address::Ip(address.ip(), address.port())
}

/// A table with an implementation, and a datagram socket of a program.
struct Sender {
    sockets: Sockets,
    outside: Arc<FakeOutside>,
    socket: SocketId,
}

impl Sender {
    fn new() -> Self {
        let (sockets, outside) = (Sockets::default(), Arc::new(FakeOutside::default()));
        sockets.set_outside(Some(outside.clone()));
        let socket = datagram(&sockets);
        Self { sockets, outside, socket }
    }

    /// Makes a table with an open flow to `far(1)`.
    fn open() -> Self {
        let sender = Self::new();
        assert_eq!(sender.send(1, b"first"), Err(Errno::EAGAIN));
        assert_eq!(sender.outside.take(), [Asked::OpenDatagrams(FLOW, far(1))]);
        sender.event(FLOW, OutsideEvent::Connected { local: local(), peer: far(1) });
        sender
    }

    fn send(&self, last: u8, bytes: &[u8]) -> Result<usize, Errno> {
        self.sockets.with(|state| state.send_outside(self.socket, far(last), bytes))
    }

    fn event(&self, flow: FlowId, event: OutsideEvent<'_>) {
        self.sockets.outside_event(flow, event);
    }

    fn receive(&self) -> Result<(Address, Vec<u8>), Errno> {
        self.sockets.with(|state| state.network.receive(self.socket))
    }

    fn network<R>(&self, call: impl FnOnce(&mut Network) -> Result<R, Errno>) -> Result<R, Errno> {
        self.sockets.with(|state| call(&mut state.network))
    }

    fn is_writable(&self) -> bool {
        self.network(|network| Ok(network.readiness(network.get(self.socket)?) & OUT != 0)).expect("the socket exists")
    }

    fn explanation(&self) -> Option<String> {
        let taken = self.network(|network| Ok(network.get_mut(self.socket)?.explanation.take()));
        taken.expect("the socket exists").map(String::from)
    }

    fn count(&self) -> usize {
        self.sockets.outside_counts().0
    }
}

fn datagram(sockets: &Sockets) -> SocketId {
    sockets.with(|state| state.network.add(Socket::new(Domain::V4, Role::Datagram(Datagram::default())))).expect("room")
}

fn denied() -> OutsideEvent<'static> {
    let kind = OutsideFailureKind::Denied { reason: "private-address".to_owned(), rule: None };
    OutsideEvent::Closed(Some(OutsideFailure { kind, message: "UDP to x is refused".to_owned() }))
}

#[test]
fn the_first_datagram_waits_for_the_decision_and_later_ones_do_not() {
    let sender = Sender::new();
    assert!(sender.is_writable());
    assert_eq!(sender.send(1, b"first"), Err(Errno::EAGAIN));
    assert_eq!(sender.outside.take(), [Asked::OpenDatagrams(FLOW, far(1))]);
    assert!(!sender.is_writable());
    let waits = Waiter { owner: WaitOwner::Embedder, mask: OUT };
    sender.network(|network| network.arm(sender.socket, waits)).expect("room");
    let is_waiting = || sender.network(|network| Ok(!network.get(sender.socket)?.waiters.is_empty())).expect("the socket");
    assert!(is_waiting());
    assert_eq!(sender.send(1, b"first"), Err(Errno::EAGAIN));
    assert_eq!(sender.outside.take(), []);
    sender.event(FLOW, OutsideEvent::Connected { local: local(), peer: far(1) });
    assert!(!is_waiting() && sender.is_writable());
    for bytes in [&b"first"[..], b"", b"third"] {
        assert_eq!(sender.send(1, bytes), Ok(bytes.len()));
    }
    let sent = |bytes: &[u8]| Asked::SendDatagram(FLOW, bytes.to_vec());
    assert_eq!(sender.outside.take(), [sent(b"first"), sent(b""), sent(b"third")]);
}

#[test]
fn a_refusal_fails_one_call_with_its_explanation() {
    let sender = Sender::new();
    assert_eq!(sender.send(1, b"x"), Err(Errno::EAGAIN));
    sender.event(FLOW, denied());
    assert!(sender.is_writable());
    assert_eq!(sender.send(1, b"x"), Err(Errno::EACCES));
    let explanation = sender.explanation().expect("an explanation");
    assert!(explanation.starts_with("the permission network.udp is denied by the option network: UDP to x is refused"));
    assert!(explanation.ends_with("\0private-address"), "{explanation:?}");
    assert_eq!(sender.count(), 0);
    // A later call asks again, because the policy may have changed.
    assert_eq!(sender.send(1, b"x"), Err(Errno::EAGAIN));
    sender.event(FlowId::new(2), failed(Errno::ENETUNREACH));
    assert_eq!(sender.send(1, b"x"), Err(Errno::ENETUNREACH));
    let asked = [Asked::OpenDatagrams(FLOW, far(1)), Asked::OpenDatagrams(FlowId::new(2), far(1))];
    assert_eq!(sender.outside.take(), asked, "no call after the end of a flow");
}

#[test]
fn a_datagram_beyond_the_window_is_dropped_and_counted() {
    let sender = Sender::open();
    let datagram = vec![1; 10_000];
    let fits = crate::STREAM_WINDOW / (10_000 + DATAGRAM_COST);
    for _ in 0..fits + 7 {
        assert_eq!(sender.send(1, &datagram), Ok(10_000));
    }
    assert_eq!(sender.outside.take().len() as u64, fits);
    sender.event(FLOW, OutsideEvent::Credit(10_000 + DATAGRAM_COST));
    assert_eq!(sender.outside.take(), [Asked::Dropped(FLOW, 7)]);
    assert_eq!(sender.send(1, &datagram), Ok(10_000));
    assert_eq!(sender.send(1, &datagram), Ok(10_000));
    assert_eq!(sender.outside.take(), [Asked::SendDatagram(FLOW, datagram)]);
    assert!(sender.sockets.close(sender.socket, false).is_empty());
    assert_eq!(sender.outside.take(), [Asked::Dropped(FLOW, 1), Asked::Close(FLOW, true)]);
    assert_eq!((sender.count(), sender.sockets.used_and_highest().1), (0, 0));
}

#[test]
fn a_full_buffer_drops_and_counts_what_arrives() {
    let sender = Sender::open();
    let datagram = vec![1; 10_000];
    let fits = BUFFER / (10_000 + DATAGRAM_COST as usize);
    (0..fits + 64).for_each(|_| sender.event(FLOW, OutsideEvent::Data(&datagram)));
    assert_eq!(sender.outside.take(), [Asked::Dropped(FLOW, 64)]);
    assert_eq!(std::iter::from_fn(|| sender.receive().ok()).count(), fits);
    sender.event(FLOW, OutsideEvent::Data(b""));
    assert_eq!(sender.receive(), Ok((at(far(1)), vec![])), "an empty datagram");
    assert_eq!(sender.receive(), Err(Errno::EAGAIN));
}

#[test]
fn a_connected_socket_receives_only_its_peer_and_learns_of_an_unreachable_peer() {
    let sender = Sender::open();
    assert_eq!(sender.send(2, b"x"), Err(Errno::EAGAIN));
    let second = FlowId::new(2);
    sender.event(second, OutsideEvent::Connected { local: local(), peer: far(2) });
    sender.event(FLOW, OutsideEvent::Unreachable(Errno::ECONNREFUSED));
    assert_eq!(sender.receive(), Err(Errno::EAGAIN), "as on Linux, a socket without a peer gets no error");
    sender.network(|network| network.set_remote(sender.socket, Some(at(far(1))))).expect("a peer");
    sender.event(second, OutsideEvent::Data(b"of another"));
    sender.event(FLOW, OutsideEvent::Data(b"of the peer"));
    assert_eq!(sender.receive(), Ok((at(far(1)), b"of the peer".to_vec())));
    sender.event(second, OutsideEvent::Unreachable(Errno::ECONNREFUSED));
    assert_eq!(sender.receive(), Err(Errno::EAGAIN));
    sender.event(FLOW, OutsideEvent::Unreachable(Errno::EAGAIN));
    assert_eq!(sender.receive(), Err(Errno::ECONNREFUSED), "an errno with another meaning");
    sender.event(FLOW, OutsideEvent::Unreachable(Errno::EHOSTUNREACH));
    assert_eq!(sender.send(1, b"x"), Err(Errno::EHOSTUNREACH));
    assert_eq!(sender.send(1, b"x"), Ok(1));
    // An idle end is no error, and the next datagram opens another flow.
    sender.event(FLOW, OutsideEvent::Closed(None));
    sender.outside.take();
    assert_eq!((sender.receive(), sender.send(1, b"x")), (Err(Errno::EAGAIN), Err(Errno::EAGAIN)));
    assert_eq!(sender.outside.take(), [Asked::OpenDatagrams(FlowId::new(3), far(1))]);
}

#[test]
fn a_socket_with_a_wrong_source_or_message_opens_no_flow() {
    let sender = Sender::new();
    assert_eq!(sender.send(1, &vec![0; MAX_MESSAGE + 1]), Err(Errno::EMSGSIZE));
    let port_0 = SocketAddr::new(far(1).ip(), 0);
    assert_eq!(sender.sockets.with(|state| state.send_outside(sender.socket, port_0, b"x")), Err(Errno::EINVAL));
    sender.network(|network| network.bind(sender.socket, at(([127, 0, 0, 1], 0).into()), false, false)).expect("a free port");
    assert_eq!(sender.send(1, b"x"), Err(Errno::EINVAL));
    let stream = stream(&sender.sockets, Domain::V4);
    assert_eq!(sender.sockets.with(|state| state.send_outside(stream, far(1), b"x")), Err(Errno::EOPNOTSUPP));
    assert_eq!((sender.outside.take(), sender.count()), (vec![], 0));
    sender.sockets.set_outside(None);
    assert_eq!(sender.send(1, b"x"), Err(Errno::EACCES));
}

#[test]
fn a_runtime_has_a_bounded_number_of_flows() {
    let sender = Sender::new();
    let other = datagram(&sender.sockets);
    for last in 0..MAX_DATAGRAM_FLOWS as u8 {
        let socket = if last % 2 == 0 { sender.socket } else { other };
        assert_eq!(sender.sockets.with(|state| state.send_outside(socket, far(last), b"x")), Err(Errno::EAGAIN));
    }
    assert_eq!(sender.send(200, b"x"), Err(Errno::ENOBUFS));
    assert!(sender.explanation().expect("an explanation").starts_with("the limit network.limits.udpFlows is reached"));
    // A refusal that no call has collected leaves its place to another flow.
    sender.event(FlowId::new(5), denied());
    assert_eq!(sender.send(200, b"x"), Err(Errno::EAGAIN));
    assert_eq!(sender.send(201, b"x"), Err(Errno::ENOBUFS));
    assert!(sender.sockets.close(other, false).is_empty());
    assert_eq!(sender.count(), MAX_DATAGRAM_FLOWS / 2, "the flows of the other socket");
    sender.sockets.set_outside(None);
    assert_eq!(sender.count(), 0);
    assert!(sender.is_writable());
}

#[test]
fn an_event_that_breaks_the_rules_ends_the_flow() {
    let connected = || OutsideEvent::Connected { local: local(), peer: far(1) };
    for opened in [false, true] {
        let wrong = [OutsideEvent::End, OutsideEvent::Credit(1), if opened { connected() } else { OutsideEvent::Data(b"x") }];
        for event in wrong {
            let sender = if opened { Sender::open() } else { Sender::new() };
            if !opened {
                assert_eq!(sender.send(1, b"x"), Err(Errno::EAGAIN));
            }
            sender.outside.take();
            sender.event(FLOW, event);
            assert_eq!((sender.outside.take(), sender.count()), (vec![Asked::Close(FLOW, true)], 0));
            assert!(sender.is_writable());
            assert_eq!(sender.receive(), Err(Errno::EAGAIN));
        }
    }
}

#[test]
fn a_datagram_reaches_the_loopback_of_the_host_machine_if_no_program_has_the_address() {
    let sender = Sender::new();
    let host: SocketAddr = ([127, 0, 0, 1], super::super::testing::HOST_PORT).into();
    let outside = |to: SocketAddr| sender.sockets.outside_destination(sender.socket, Some(&at(to)));
    assert_eq!(outside(host), Some(host));
    assert_eq!(outside(([0, 0, 0, 0], host.port()).into()), Some(host));
    assert_eq!(outside(([127, 0, 0, 1], 9).into()), None);
    let own = datagram(&sender.sockets);
    sender.network(|network| network.bind(own, at(host), false, false)).expect("a free port");
    assert_eq!(outside(host), None);
    assert_eq!(outside(far(1)), Some(far(1)));
}

#[derive(Debug, Clone)]
enum Step {
    Send(usize, u8, usize),
    Receive(usize),
    Connect(usize, u8),
    Close(usize),
    Event(u32, Kind),
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Connected,
    Data(usize),
    Credit(u64),
    Unreachable,
    Closed(bool),
    End,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = || prop_oneof![0_usize..300, Just(MAX_MESSAGE), Just(30_000)];
    let kind = prop_oneof![
        6 => Just(Kind::Connected),
        5 => size().prop_map(Kind::Data),
        3 => prop_oneof![0_u64..300, Just(30_064), Just(u64::MAX)].prop_map(Kind::Credit),
        1 => Just(Kind::Unreachable),
        1 => any::<bool>().prop_map(Kind::Closed),
        1 => Just(Kind::End),
    ];
    let step = prop_oneof![
        8 => (0_usize..3, 0_u8..5, size()).prop_map(|(at, to, size)| Step::Send(at, to, size)),
        3 => (0_usize..3).prop_map(Step::Receive),
        1 => (0_usize..3, 0_u8..5).prop_map(|(at, to)| Step::Connect(at, to)),
        1 => (0_usize..3).prop_map(Step::Close),
        8 => (1_u32..20, kind).prop_map(|(flow, kind)| Step::Event(flow, kind)),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    /// After any sequence, the kernel has followed the rules of each flow, and all memory is
    /// bounded. The end of all sockets leaves nothing.
    #[test]
    fn the_kernel_follows_the_rules_of_datagrams_after_any_events(steps in steps()) {
        let sender = Sender::new();
        let (sockets, outside) = (&sender.sockets, &sender.outside);
        let mut own = [sender.socket, datagram(sockets), datagram(sockets)];
        let mut rules = FlowRules::default();
        for step in steps {
            match step {
                Step::Send(at, to, size) => drop(sockets.with(|state| state.send_outside(own[at], far(to), &vec![1; size]))),
                Step::Receive(at) => drop(sockets.with(|state| state.network.receive(own[at]))),
                Step::Connect(index, to) => drop(sockets.with(|state| state.network.set_remote(own[index], Some(at(far(to)))))),
                Step::Close(at) => {
                    prop_assert!(sockets.close(own[at], false).is_empty());
                    own[at] = datagram(sockets);
                }
                Step::Event(flow, kind) => {
                    let flow = FlowId::new(flow);
                    rules.check(outside.take());
                    let event = match kind {
                        Kind::Connected => OutsideEvent::Connected { local: local(), peer: far(1) },
                        Kind::Data(size) => OutsideEvent::Data(&vec![2; size]),
                        Kind::Credit(bytes) => {
                            rules.credit(flow, bytes);
                            OutsideEvent::Credit(bytes)
                        }
                        Kind::Unreachable => OutsideEvent::Unreachable(Errno::ECONNREFUSED),
                        Kind::Closed(fails) => {
                            rules.close(flow);
                            if fails { failed(Errno::EHOSTUNREACH) } else { OutsideEvent::Closed(None) }
                        }
                        Kind::End => OutsideEvent::End,
                    };
                    sockets.outside_event(flow, event);
                }
            }
            rules.check(outside.take());
            let state = sockets.lock();
            let scanned: u64 = state.network.sockets.values().map(|socket| socket.buffered() as u64).sum();
            prop_assert_eq!(state.network.buffered(), scanned);
            // Each flow that a socket waits for is open or opening.
            for socket in state.network.sockets.values() {
                if let Role::Datagram(Datagram { awaited: Some(flow), flows, .. }) = &socket.role {
                    prop_assert!(flows.values().any(|known| known == flow), "{:?} is lost", flow);
                }
            }
        }
        for id in own {
            prop_assert!(sockets.close(id, false).is_empty());
        }
        rules.check(outside.take());
        prop_assert_eq!((sender.count(), sockets.count(), sockets.used_and_highest().1), (0, 0, 0));
        prop_assert!(rules.open_flows().is_empty(), "a flow without a last call");
    }
}
