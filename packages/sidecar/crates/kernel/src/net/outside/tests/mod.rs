//! Tests of flows and lookups without programs. The program's end is a socket of the table.

mod calls;
mod datagrams;
mod ends;
mod flows;
mod hostile;
mod listing;
mod random;

use super::testing::{Asked, FakeOutside};
use crate::ids::SocketId;
use crate::net::socket::{Domain, Role, Socket};
use crate::net::sockets::Sockets;
use crate::outside::{FlowId, OutsideEvent, OutsideFailure, OutsideFailureKind};
use coldframe_error::Errno;
use std::net::SocketAddr;
use std::sync::Arc;

const WINDOW: usize = crate::STREAM_WINDOW as usize;
/// The default size of a socket's buffer.
const BUFFER: usize = 64 << 10;

fn peer() -> SocketAddr {
    ([93, 184, 216, 34], 443).into()
}

fn local() -> SocketAddr {
    ([10, 0, 0, 7], 40_001).into()
}

/// A table with an implementation, and the program's socket of the flow 1.
struct Table {
    sockets: Sockets,
    outside: Arc<FakeOutside>,
    socket: SocketId,
}

const FLOW: FlowId = FlowId::new(1);

impl Table {
    /// Makes a table with a flow that is not open yet.
    fn opening() -> Self {
        let (sockets, outside) = (Sockets::default(), Arc::new(FakeOutside::default()));
        sockets.set_outside(Some(outside.clone()));
        let socket = stream(&sockets, Domain::V4);
        sockets.with(|state| state.connect_outside(socket, peer())).expect("a new socket");
        assert_eq!(outside.take(), [Asked::Connect(FLOW, peer())]);
        Self { sockets, outside, socket }
    }

    /// Makes a table with an open flow.
    fn open() -> Self {
        let table = Self::opening();
        table.event(OutsideEvent::Connected { local: local(), peer: peer() });
        assert_eq!(table.error(), None);
        table
    }

    fn event(&self, event: OutsideEvent<'_>) {
        self.sockets.outside_event(FLOW, event);
    }

    fn close(&self, reset: bool) {
        assert!(self.sockets.close(self.socket, reset).is_empty());
    }

    fn shutdown(&self) -> Result<(), Errno> {
        self.sockets.with(|state| state.network.shutdown(self.socket))
    }

    fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        self.sockets.write(self.socket, bytes)
    }

    fn read(&self) -> Result<Vec<u8>, Errno> {
        let mut buffer = vec![0; 100_000];
        self.sockets.read(self.socket, &mut buffer).map(|count| buffer[..count].to_vec())
    }

    /// Reads until the socket has no bytes. Returns the number of bytes.
    fn drain(&self) -> usize {
        std::iter::from_fn(|| self.read().ok().filter(|bytes| !bytes.is_empty())).map(|bytes| bytes.len()).sum()
    }

    /// Takes the pending error of the socket.
    fn error(&self) -> Option<Errno> {
        self.sockets.with(|state| Ok(state.network.get_mut(self.socket)?.error.take())).expect("the socket exists")
    }

    /// Asserts that no flow, no lookup and no socket is left.
    fn assert_empty(&self) {
        assert_eq!((self.sockets.outside_counts(), self.sockets.count(), self.sockets.used_and_highest().1), ((0, 0), 0, 0));
    }
}

fn stream(sockets: &Sockets, domain: Domain) -> SocketId {
    sockets.with(|state| state.network.add(Socket::new(domain, Role::Fresh))).expect("room")
}

fn failed(errno: Errno) -> OutsideEvent<'static> {
    OutsideEvent::Closed(Some(OutsideFailure { kind: OutsideFailureKind::Errno(errno), message: String::new() }))
}

/// Returns the written bytes, and the other calls.
fn split(asked: Vec<Asked>) -> (Vec<u8>, Vec<Asked>) {
    let (mut written, mut rest) = (Vec::new(), Vec::new());
    for asked in asked {
        match asked {
            Asked::Write(_, bytes) => written.extend(bytes),
            other => rest.push(other),
        }
    }
    (written, rest)
}
