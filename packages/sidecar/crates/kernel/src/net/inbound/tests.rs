//! Tests of inbound connections and waits without programs. The guest's end is a socket of the
//! table.

use super::listeners::Awaited;
use crate::embedder::{Embedder, HostCall};
use crate::ids::SocketId;
use crate::net::address::Address;
use crate::net::inbound::{ListenerEntry, NetworkEvent, STREAM_WINDOW};
use crate::net::socket::{Domain, Role, Socket};
use crate::net::sockets::Sockets;
use crate::net::{ListedKind, ListedState};
use coldframe_error::Errno;
use coldframe_error::Error;
use coldframe_ids::{ConnectionId, HostCallId, Pid};
use coldframe_panics::runtime::Mutex;
use std::sync::Arc;

const WINDOW: usize = STREAM_WINDOW as usize;

/// An embedder that records the events of connections.
#[derive(Default)]
struct RecordingEmbedder(Mutex<Vec<(ConnectionId, NetworkEvent)>>);

impl Embedder for RecordingEmbedder {
    fn call(&self, _call: HostCall) {}
    fn cancel(&self, _id: HostCallId) {}
    fn network(&self, id: ConnectionId, event: NetworkEvent) {
        self.0.lock().push((id, event));
    }
}

impl RecordingEmbedder {
    /// Returns the events since the last call. The bytes of all data events are in one vector.
    fn take(&self) -> (Vec<u8>, Vec<NetworkEvent>) {
        let (mut data, mut rest) = (Vec::new(), Vec::new());
        for (_, event) in std::mem::take(&mut *self.0.lock()) {
            match event {
                NetworkEvent::Data(piece) => data.extend(piece),
                other => rest.push(other),
            }
        }
        (data, rest)
    }
}

fn id(number: u32) -> ConnectionId {
    ConnectionId::new(number)
}

fn local_port() -> Address {
    Address::Ip([127, 0, 0, 1].into(), 80)
}

/// Makes a listener and the inbound connection 1. Returns the sockets, the embedder, the listener
/// and the guest's end.
fn connected() -> (Sockets, Arc<RecordingEmbedder>, SocketId, SocketId) {
    let (sockets, embedder) = (Sockets::default(), Arc::new(RecordingEmbedder::default()));
    sockets.attach(embedder.clone());
    let listener = listening(&sockets, 5);
    sockets.with(|state| state.connect_inbound(id(1), &[local_port()], "localhost:80")).expect("a listener");
    let end = sockets.with(|state| state.network.accept(listener)).expect("a connection");
    (sockets, embedder, listener, end)
}

fn listening(sockets: &Sockets, backlog: usize) -> SocketId {
    let made = sockets.with(|state| {
        let id = state.network.add(Socket::new(Domain::V4, Role::Fresh))?;
        state.network.bind(id, local_port(), false, false)?;
        state.network.listen(id, backlog, Pid::new(7)).map(|()| id)
    });
    made.expect("a listener")
}

fn drain(sockets: &Sockets, end: SocketId) -> usize {
    let (mut all, mut buffer) = (0, vec![0; 100_000]);
    while let Ok(count @ 1..) = sockets.read(end, &mut buffer) {
        all += count;
    }
    all
}

fn closed_by(errno: &'static str) -> impl Fn(&NetworkEvent) -> bool {
    move |event| matches!(event, NetworkEvent::Closed(Some(error)) if error.code() == errno)
}

#[test]
fn moves_bytes_in_both_directions_and_ends_each_alone() {
    let (sockets, embedder, _, end) = connected();
    sockets.inbound_write(id(1), b"in", false);
    let mut buffer = [0; 8];
    assert_eq!(sockets.read(end, &mut buffer), Ok(2));
    assert_eq!(sockets.write(end, b"out"), Ok(3));
    sockets.inbound_write(id(1), &[], true);
    assert_eq!(sockets.read(end, &mut buffer), Ok(0));
    assert_eq!(sockets.write(end, b" and more"), Ok(9));
    assert!(sockets.close(end, false).is_empty());
    let (data, events) = embedder.take();
    assert_eq!((data.as_slice(), events), (&b"out and more"[..], vec![NetworkEvent::Ended, NetworkEvent::Closed(None)]));
    let inbound = sockets.lock().inbound_counts();
    assert_eq!((inbound, sockets.count()), ((0, 0), 1), "the listener is left");
}

#[test]
fn stops_a_guest_that_writes_at_the_window_and_the_socket_buffer() {
    let (sockets, embedder, _, end) = connected();
    let block = vec![1; 50_000];
    let mut written = 0;
    while let Ok(count) = sockets.write(end, &block) {
        written += count;
    }
    assert_eq!(written, WINDOW + (64 << 10));
    assert_eq!(embedder.take().0.len(), WINDOW);
    sockets.inbound_credit(id(1), 10);
    assert_eq!(embedder.take().0.len(), 10);
    sockets.inbound_credit(id(1), u64::MAX);
    assert_eq!(embedder.take().0.len(), (64 << 10) - 10);
}

#[test]
fn stops_the_embedder_at_the_window_if_the_guest_does_not_read() {
    let (sockets, embedder, _, end) = connected();
    let window = vec![2; WINDOW];
    sockets.inbound_write(id(1), &window, false);
    let (_, events) = embedder.take();
    assert_eq!(events, [NetworkEvent::Credit(64 << 10)], "the bytes that the guest's socket holds");
    sockets.inbound_write(id(1), &window[..64 << 10], false);
    assert_eq!(drain(&sockets, end), WINDOW + (64 << 10));
    let credited: u64 = embedder.take().1.iter().map(|event| if let NetworkEvent::Credit(n) = event { *n } else { 0 }).sum();
    assert_eq!(credited, STREAM_WINDOW);
    sockets.inbound_write(id(1), &window, false);
    sockets.inbound_write(id(1), &window, false);
    assert!(closed_by("ERR_INVALID_REQUEST")(embedder.take().1.last().expect("the end")), "more bytes than the credit");
    assert_eq!(sockets.read(end, &mut [0; 1]), Ok(1), "buffered bytes precede the reset");
    assert_eq!(sockets.lock().inbound_counts(), (0, 0));
}

#[test]
fn a_reset_reaches_the_other_side() {
    let (sockets, embedder, listener, end) = connected();
    sockets.inbound_close(id(1), true);
    assert_eq!(sockets.read(end, &mut [0; 1]), Err(Errno::ECONNRESET));
    assert_eq!(embedder.take(), (vec![], vec![]), "an embedder that closes gets no further events");
    sockets.with(|state| state.connect_inbound(id(2), &[local_port()], "localhost:80")).expect("again");
    let other = sockets.with(|state| state.network.accept(listener)).expect("a connection");
    sockets.write(other, b"half").expect("room");
    assert!(sockets.close(other, true).is_empty());
    let (data, events) = embedder.take();
    assert_eq!(data, b"half");
    assert!(matches!(events.as_slice(), [event] if closed_by("ECONNRESET")(event)), "{events:?}");
}

#[test]
fn delivers_the_guests_bytes_before_the_reset_for_its_unread_bytes() {
    let (sockets, embedder, _, end) = connected();
    sockets.inbound_write(id(1), b"never read", false);
    sockets.write(end, b"reply").expect("room");
    assert!(sockets.close(end, false).is_empty());
    let (data, events) = embedder.take();
    assert_eq!(data, b"reply");
    assert!(matches!(events.as_slice(), [event] if closed_by("ECONNRESET")(event)), "{events:?}");
}

#[test]
fn waits_for_space_in_a_full_queue_and_is_refused_when_the_listener_closes() {
    let (sockets, embedder) = (Sockets::default(), Arc::new(RecordingEmbedder::default()));
    assert_eq!(
        sockets.with(|state| state.connect_inbound(id(1), &[local_port()], "a")),
        Err(Errno::ENETDOWN),
        "no embedder receives events"
    );
    sockets.attach(embedder.clone());
    assert_eq!(sockets.with(|state| state.connect_inbound(id(1), &[local_port()], "a")), Err(Errno::ECONNREFUSED));
    let listener = listening(&sockets, 0);
    for number in 1..=3 {
        sockets.with(|state| state.connect_inbound(id(number), &[local_port()], "a")).expect("a place in the queue or before it");
        sockets.inbound_write(id(number), &[number as u8], false);
    }
    assert_eq!(sockets.with(|state| state.connect_inbound(id(3), &[local_port()], "a")), Err(Errno::EEXIST));
    let mut seen = vec![];
    while let Ok(end) = sockets.with(|state| state.network.accept(listener)) {
        let mut byte = [0];
        sockets.read(end, &mut byte).expect("a byte");
        seen.push(byte[0]);
        if seen.len() == 2 {
            break;
        }
    }
    assert_eq!(seen, [1, 2]);
    sockets.with(|state| state.connect_inbound(id(4), &[local_port()], "a")).expect("a place");
    assert!(sockets.close(listener, false).is_empty());
    let closed: Vec<_> = embedder
        .0
        .lock()
        .iter()
        .filter(|(_, event)| matches!(event, NetworkEvent::Closed(Some(_))))
        .map(|(n, _)| n.get())
        .collect();
    assert_eq!(closed, [3, 4]);
}

#[test]
fn ends_each_wait_once_and_all_waits_with_the_runtime() {
    let (sockets, embedder, _, end) = connected();
    let await_port = |number, port| {
        let awaited = Awaited::Addresses(vec![Address::Ip([127, 0, 0, 1].into(), port)]);
        sockets.with(|state| state.await_listener(id(number), awaited))
    };
    await_port(10, 80).expect("room");
    await_port(11, 81).expect("room");
    assert_eq!(await_port(11, 82), Err(Errno::EEXIST));
    let listener = sockets.lock().listener_at(&[local_port()]).expect("a listener");
    assert_eq!(sockets.lock().waits_for(listener), [id(10)]);
    let entry = ListenerEntry { pid: Pid::new(7), address: None, path: None };
    for _ in 0..2 {
        sockets.lock().end_wait(id(10), Ok(entry.clone()));
    }
    assert_eq!(embedder.take().1, [NetworkEvent::Listener(Ok(entry))]);
    for number in 100..1_123 {
        await_port(number, 81).expect("room");
    }
    assert_eq!(await_port(9_999, 81), Err(Errno::ENOBUFS));
    sockets.detach(&Error::RuntimeDisposed);
    let (_, events) = embedder.take();
    let disposed = |event: &NetworkEvent| match event {
        NetworkEvent::Listener(Err(error)) | NetworkEvent::Closed(Some(error)) => *error == Error::RuntimeDisposed,
        _ => false,
    };
    assert_eq!(events.len(), 1 + 1_024);
    assert!(events.iter().all(disposed));
    assert_eq!(sockets.read(end, &mut [0; 1]), Err(Errno::ECONNRESET));
    assert_eq!(await_port(1, 80), Err(Errno::ENETDOWN));
}

#[test]
fn an_inbound_connection_is_listed_only_with_the_guests_end() {
    let (sockets, _, listener, end) = connected();
    let rows = sockets.list(ListedKind::Ip { is_v6: false, is_datagram: false });
    let ids: Vec<_> = rows.iter().map(|row| (row.id, row.state)).collect();
    assert_eq!(ids, [(Some(listener), ListedState::Listening), (Some(end), ListedState::Connected)]);
}
