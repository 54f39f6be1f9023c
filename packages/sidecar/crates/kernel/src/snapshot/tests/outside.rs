//! Tests of connections to the outside, which are not part of a snapshot: the programs' sockets in
//! the copy are reset.

use super::*;
use crate::net::FakeOutside;
use crate::outside::{FlowId, OutsideEvent};
use crate::permissions::policy::{PermissionPolicy, ScopePolicy, Verdict};
use coldframe_error::Error;
use std::net::SocketAddr;

const CONNECTED: i64 = 4;

/// Makes a kernel with a program that may connect to the outside.
fn attached() -> (TestKernel, Arc<FakeOutside>) {
    let (world, outside) = (TestKernel::new(1), Arc::new(FakeOutside::default()));
    world.kernel.set_outside(Some(outside.clone()));
    let network = Some(ScopePolicy::always(Verdict::Allow));
    world.kernel.permissions.set(&PermissionPolicy { network, ..PermissionPolicy::default() }).expect("a good policy");
    (world, outside)
}

fn connect(guest: &Guest) -> i64 {
    let socket = guest.ok(SocketCall::Socket, &[2.into(), 1.into()]);
    let connected = guest.sys(SocketCall::Connect, &[socket.into(), "93.184.216.34".into(), 443.into()]).0;
    assert_eq!(connected, Err(Errno::EINPROGRESS));
    socket
}

fn open(world: &TestKernel, flow: u32) {
    let address: SocketAddr = ([10, 0, 0, 7], 40_000).into();
    world.kernel.sockets.outside_event(FlowId::new(flow), OutsideEvent::Connected { local: address, peer: address });
}

fn results(guest: &Guest) -> Vec<(i64, i32)> {
    guest.events().iter().map(|event| (i64::from(event.operation.get()), event.result)).collect()
}

#[test]
fn a_copy_resets_open_and_opening_connections_at_once() {
    let (world, outside) = attached();
    let guest = &world.guests[0];
    let (one, other, idle) = (connect(guest), connect(guest), connect(guest));
    open(&world, 1);
    open(&world, 3);
    world.kernel.sockets.outside_event(FlowId::new(1), OutsideEvent::Data(b"received"));
    let reads = guest.ok(SocketCall::Arm, &[idle.into(), READ.into()]);
    let opens = guest.ok(SocketCall::Arm, &[other.into(), CONNECTED.into()]);
    assert_eq!(guest.events(), []);
    outside.take();

    let copy = world.copy();
    let copied = &copy.guests[0];
    // The operations are complete before the program runs, so before its timers.
    assert_eq!(results(copied), [(opens, 4 | 8 | 16), (reads, 1 | 8 | 16)]);
    assert_eq!(copied.sys(SocketCall::Error, &[other.into()]).0, Err(Errno::ECONNRESET));
    assert_eq!(copied.read(one).as_deref(), Ok(&b"received"[..]));
    assert_eq!((copied.read(one), copied.read(one)), (Err(Errno::ECONNRESET), Ok(vec![])));
    assert_eq!((copied.write(idle, b"x"), copied.write(idle, b"x")), (Err(Errno::ECONNRESET), Err(Errno::EPIPE)));
    assert_eq!(copy.kernel.sockets.outside_counts(), (0, 0));
    assert_eq!(copied.sys(SocketCall::Connect, &[other.into(), "93.184.216.34".into(), 443.into()]).0, Err(Errno::EACCES));

    // The original is unchanged.
    assert_eq!((outside.take(), world.kernel.sockets.outside_counts()), (vec![], (3, 0)));
    assert_eq!(guest.write(idle, b"x"), Ok(1));
}

#[test]
fn a_datagram_socket_of_a_copy_opens_another_flow() {
    let (world, outside) = attached();
    let guest = &world.guests[0];
    let made = || guest.ok(SocketCall::Socket, &[2.into(), 2.into()]);
    let (open_one, waits) = (made(), made());
    let send = |guest: &Guest, socket: i64| {
        guest.sys(SocketCall::Send, &[socket.into(), "x".into(), "93.184.216.34".into(), 443.into()]).0
    };
    assert_eq!((send(guest, open_one), send(guest, waits)), (Err(Errno::EAGAIN), Err(Errno::EAGAIN)));
    open(&world, 1);
    assert_eq!(send(guest, open_one), Ok(1));
    let writes = guest.ok(SocketCall::Arm, &[waits.into(), CONNECTED.into()]);
    outside.take();

    let copy = world.copy();
    let copied = &copy.guests[0];
    assert_eq!(results(copied), [(writes, 4)], "the waiting send is repeated");
    assert_eq!(copy.kernel.sockets.outside_counts(), (0, 0));
    let other = Arc::new(FakeOutside::default());
    copy.kernel.set_outside(Some(other.clone()));
    assert_eq!((send(copied, open_one), send(copied, waits)), (Err(Errno::EAGAIN), Err(Errno::EAGAIN)));
    assert_eq!(other.take().len(), 2);
    // The original is unchanged.
    assert_eq!((outside.take(), send(guest, open_one)), (vec![], Ok(1)));
}

#[test]
fn a_copy_cancels_lookups() {
    let (world, _outside) = attached();
    let guest = &world.guests[0];
    let operation = guest.ok(SocketCall::LookUp, &["example.com".into(), 0.into()]);
    assert_eq!(results(&world.copy().guests[0]), [(operation, -125)]);
    assert_eq!(world.kernel.sockets.outside_counts(), (0, 1));
}

#[test]
fn a_kernel_that_replaces_another_reaches_the_outside() {
    let (world, outside) = attached();
    let socket = connect(&world.guests[0]);
    open(&world, 1);
    let copy = world.copy();
    outside.take();
    copy.kernel.take_over(&world.kernel, &Error::RolledBack);
    assert_eq!(outside.take(), [crate::net::Asked::Close(FlowId::new(1), true)]);
    assert_eq!(copy.guests[0].read(socket), Err(Errno::ECONNRESET));
    connect(&copy.guests[0]);
    assert_eq!(copy.kernel.sockets.outside_counts(), (1, 0));
    assert_eq!(outside.take(), [crate::net::Asked::Connect(FlowId::new(2), "93.184.216.34:443".parse().expect("an address"))]);
}
