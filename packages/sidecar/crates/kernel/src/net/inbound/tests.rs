//! Connections and waits of the caller outside, without programs: a guest's end is a socket of the table.

use crate::net::address::Address;
use crate::net::sockets::Sockets;
use super::listeners::Awaited;
use crate::net::socket::{Domain, Role, Socket};
use crate::embedder::{Embedder, HostCall};
use crate::net::inbound::{ListenerEntry, NetworkEvent, STREAM_WINDOW};
use coldframe_error::Errno;
use coldframe_error::Error;
use parking_lot::Mutex;
use std::sync::Arc;

const WINDOW: usize = STREAM_WINDOW as usize;

/// Remembers what it was told.
#[derive(Default)]
struct Ears(Mutex<Vec<(u32, NetworkEvent)>>);

impl Embedder for Ears {
    fn call(&self, _call: HostCall) {}
    fn cancel(&self, _number: ConnectionId) {}
    fn network(&self, number: ConnectionId, event: NetworkEvent) {
        self.0.lock().push((number, event));
    }
}

impl Ears {
    /// What was told of 1 since the last time; data as one piece.
    fn heard(&self) -> (Vec<u8>, Vec<NetworkEvent>) {
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

fn place() -> Address {
    Address::Ip([127, 0, 0, 1].into(), 80)
}

/// A listener, and a connection from outside with the number 1: the listener and the guest's end.
fn connected() -> (Sockets, Arc<Ears>, SocketId, SocketId) {
    let (sockets, ears) = (Sockets::default(), Arc::new(Ears::default()));
    sockets.attach(ears.clone());
    let listener = listening(&sockets, 5);
    sockets.with(|state| state.visit(1, &[place()], "localhost:80")).expect("somebody listens");
    let end = sockets.with(|state| state.network.accept(listener)).expect("a connection");
    (sockets, ears, listener, end)
}

fn listening(sockets: &Sockets, backlog: usize) -> SocketId {
    let made = sockets.with(|state| {
        let id = state.network.add(Socket::new(Domain::V4, Role::Fresh))?;
        state.network.bind(id, place(), false, false)?;
        state.network.listen(id, backlog, 7).map(|()| id)
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
fn bytes_go_both_ways_and_each_side_ends_its_own() {
    let (sockets, ears, _, end) = connected();
    sockets.visitor_writes(1, b"in", false);
    let mut buffer = [0; 8];
    assert_eq!(sockets.read(end, &mut buffer), Ok(2));
    assert_eq!(sockets.write(end, b"out"), Ok(3));
    sockets.visitor_writes(1, &[], true);
    assert_eq!(sockets.read(end, &mut buffer), Ok(0));
    assert_eq!(sockets.write(end, b" and more"), Ok(9));
    assert!(sockets.close(end, false).is_empty());
    let (data, events) = ears.heard();
    assert_eq!((data.as_slice(), events), (&b"out and more"[..], vec![NetworkEvent::Ended, NetworkEvent::Closed(None)]));
    let visits = sockets.lock().visit_count();
    assert_eq!((visits, sockets.count()), ((0, 0), 1), "the listener is left");
}

#[test]
fn a_guest_that_writes_gets_no_further_than_the_window_and_its_socket() {
    let (sockets, ears, _, end) = connected();
    let block = vec![1; 50_000];
    let mut written = 0;
    while let Ok(count) = sockets.write(end, &block) {
        written += count;
    }
    assert_eq!(written, WINDOW + (64 << 10));
    assert_eq!(ears.heard().0.len(), WINDOW);
    sockets.visitor_has_read(1, 10);
    assert_eq!(ears.heard().0.len(), 10);
    sockets.visitor_has_read(1, u64::MAX);
    assert_eq!(ears.heard().0.len(), (64 << 10) - 10);
}

#[test]
fn a_guest_that_does_not_read_gets_no_more_than_the_window_and_its_socket() {
    let (sockets, ears, _, end) = connected();
    let window = vec![2; WINDOW];
    sockets.visitor_writes(1, &window, false);
    let (_, events) = ears.heard();
    assert_eq!(events, [NetworkEvent::Credit(64 << 10)], "what the guest's socket holds");
    sockets.visitor_writes(1, &window[..64 << 10], false);
    assert_eq!(drain(&sockets, end), WINDOW + (64 << 10));
    let credited: u64 = ears.heard().1.iter().map(|event| if let NetworkEvent::Credit(n) = event { *n } else { 0 }).sum();
    assert_eq!(credited, STREAM_WINDOW);
    sockets.visitor_writes(1, &window, false);
    sockets.visitor_writes(1, &window, false);
    assert!(closed_by("ERR_INVALID_REQUEST")(ears.heard().1.last().expect("the end")), "more than was credited");
    assert_eq!(sockets.read(end, &mut [0; 1]), Ok(1), "what was there comes before the reset");
    assert_eq!(sockets.lock().visit_count(), (0, 0));
}

#[test]
fn resets_reach_the_other_side() {
    let (sockets, ears, listener, end) = connected();
    sockets.visitor_leaves(1, true);
    assert_eq!(sockets.read(end, &mut [0; 1]), Err(Errno::ECONNRESET));
    assert_eq!(ears.heard(), (vec![], vec![]), "who leaves hears nothing more");
    sockets.with(|state| state.visit(2, &[place()], "localhost:80")).expect("again");
    let other = sockets.with(|state| state.network.accept(listener)).expect("a connection");
    sockets.write(other, b"half").expect("room");
    assert!(sockets.close(other, true).is_empty());
    let (data, events) = ears.heard();
    assert_eq!(data, b"half");
    assert!(matches!(events.as_slice(), [event] if closed_by("ECONNRESET")(event)), "{events:?}");
}

#[test]
fn what_a_guest_sent_comes_before_the_reset_for_what_it_did_not_read() {
    let (sockets, ears, _, end) = connected();
    sockets.visitor_writes(1, b"never read", false);
    sockets.write(end, b"answer").expect("room");
    assert!(sockets.close(end, false).is_empty());
    let (data, events) = ears.heard();
    assert_eq!(data, b"answer");
    assert!(matches!(events.as_slice(), [event] if closed_by("ECONNRESET")(event)), "{events:?}");
}

#[test]
fn a_full_queue_is_waited_for_and_a_listener_that_goes_refuses_who_waits() {
    let (sockets, ears) = (Sockets::default(), Arc::new(Ears::default()));
    assert_eq!(sockets.with(|state| state.visit(1, &[place()], "a")), Err(Errno::ENETDOWN), "nobody would hear of it");
    sockets.attach(ears.clone());
    assert_eq!(sockets.with(|state| state.visit(1, &[place()], "a")), Err(Errno::ECONNREFUSED));
    let listener = listening(&sockets, 0);
    for number in 1..=3 {
        sockets.with(|state| state.visit(number, &[place()], "a")).expect("a place in the queue or before it");
        sockets.visitor_writes(number, &[number as u8], false);
    }
    assert_eq!(sockets.with(|state| state.visit(3, &[place()], "a")), Err(Errno::EEXIST));
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
    sockets.with(|state| state.visit(4, &[place()], "a")).expect("a place");
    assert!(sockets.close(listener, false).is_empty());
    let told: Vec<_> =
        ears.0.lock().iter().filter(|(_, event)| matches!(event, NetworkEvent::Closed(Some(_)))).map(|(n, _)| *n).collect();
    assert_eq!(told, [3, 4]);
}

#[test]
fn waits_are_answered_once_and_end_with_the_runtime() {
    let (sockets, ears, _, end) = connected();
    let await_port = |number, port| {
        let awaited = Awaited::Addresses(vec![Address::Ip([127, 0, 0, 1].into(), port)]);
        sockets.with(|state| state.await_listener(number, awaited))
    };
    await_port(10, 80).expect("room");
    await_port(11, 81).expect("room");
    assert_eq!(await_port(11, 82), Err(Errno::EEXIST));
    let listener = sockets.lock().listener_at(&[place()]).expect("it listens");
    assert_eq!(sockets.lock().waits_for(listener), [10]);
    let entry = ListenerEntry { pid: 7, address: None, path: None };
    for _ in 0..2 {
        sockets.lock().answer_wait(10, Ok(entry.clone()));
    }
    assert_eq!(ears.heard().1, [NetworkEvent::Listener(Ok(entry))]);
    for number in 100..1_123 {
        await_port(number, 81).expect("room");
    }
    assert_eq!(await_port(9_999, 81), Err(Errno::ENOBUFS));
    sockets.dismiss(&Error::RuntimeDisposed);
    let (_, events) = ears.heard();
    let disposed = |event: &NetworkEvent| match event {
        NetworkEvent::Listener(Err(error)) | NetworkEvent::Closed(Some(error)) => *error == Error::RuntimeDisposed,
        _ => false,
    };
    assert_eq!(events.len(), 1 + 1_024);
    assert!(events.iter().all(disposed));
    assert_eq!(sockets.read(end, &mut [0; 1]), Err(Errno::ECONNRESET));
    assert_eq!(await_port(1, 80), Err(Errno::ENETDOWN));
}
