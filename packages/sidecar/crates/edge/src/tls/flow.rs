//! A session's flow in the link: the windows of both directions, and the turns of the session.
//!
//! A session handles one record in a turn of its runtime's task. While records for the guest wait,
//! no record of the guest is handled, and the guest gets no credit.

use super::attached::{Connection, Socket};
use super::engine::Engine;
use super::records::Reader;
use crate::describe;
use crate::flow::{Flow, Stop, seen_by_session};
use crate::link::Slot;
use crate::link_fault::LinkFault;
use crate::runtime::Runtime;
use crate::window;
use coldframe_edge_link::window::{ReceiveWindow, SendWindow};
use coldframe_edge_link::{Failure, ToSidecar};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The number of bytes for the guest from which on no record of the guest is handled.
pub(super) const OUT_WAITS: usize = 128 << 10;

/// A session's flow.
pub struct TlsFlow {
    id: u32,
    runtime: Rc<Runtime>,
    inner: RefCell<Inner>,
}

pub(super) struct Inner {
    waker: Option<Waker>,
    pub(super) engine: Engine,
    /// The connection of an attached session.
    pub(super) connection: Option<Connection>,
    reader: Reader,
    /// The bytes of the guest that are not in `reader`.
    pub(super) input: VecDeque<u8>,
    /// The bytes for the guest.
    pub(super) out: VecDeque<u8>,
    incoming: ReceiveWindow,
    outgoing: SendWindow,
    guest_ended: bool,
    pub(super) sidecar_closed: bool,
    is_done: bool,
}

impl TlsFlow {
    /// Begins a session of a runtime, over the connection of a flow if `flow` is present.
    pub fn start(id: u32, runtime: &Rc<Runtime>, flow: Option<&Rc<Flow>>) -> Rc<Self> {
        let roots = runtime.roots();
        let mut state = runtime.state.borrow_mut();
        let inner = Inner {
            waker: None,
            engine: Engine::new(roots, state.tickets.clone()),
            connection: flow.cloned().map(Connection::new),
            reader: Reader::default(),
            input: VecDeque::new(),
            out: VecDeque::new(),
            incoming: ReceiveWindow::default(),
            outgoing: SendWindow::default(),
            guest_ended: false,
            sidecar_closed: false,
            is_done: false,
        };
        let this = Rc::new(Self { id, runtime: runtime.clone(), inner: RefCell::new(inner) });
        state.sessions.insert(id, this.clone());
        drop(state);
        let flow = this.clone();
        runtime.spawn(async move { poll_fn(|cx| flow.poll(cx)).await });
        this
    }

    /// Receives bytes of the guest.
    pub fn data(&self, bytes: &[u8]) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        let has_ended = inner.guest_ended || inner.sidecar_closed;
        window::receive(&mut inner.incoming, has_ended, bytes)?;
        inner.input.extend(bytes);
        inner.wake();
        Ok(())
    }

    /// Receives credit for the bytes to the guest.
    pub fn credit(&self, bytes: u64) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        window::credit(&mut inner.outgoing, bytes)?;
        inner.wake();
        Ok(())
    }

    /// Receives the end of the guest's bytes.
    pub fn end(&self) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        if std::mem::replace(&mut inner.guest_ended, true) || inner.sidecar_closed {
            return Err(LinkFault::Rules("one End"));
        }
        Ok(())
    }

    /// Receives the sidecar's last message of the flow.
    pub fn close(&self) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        if std::mem::replace(&mut inner.sidecar_closed, true) {
            return Err(LinkFault::Rules("one Close"));
        }
        if inner.connection.is_some() {
            // The bytes for the peer are written first.
            inner.wake();
        } else {
            self.finish(&mut inner, None);
        }
        Ok(())
    }

    /// Sets the socket of an attached session's connection.
    pub fn set_socket(&self, socket: Socket) {
        let mut inner = self.inner.borrow_mut();
        if let Some(connection) = &mut inner.connection {
            connection.set_socket(socket);
        }
        inner.wake();
    }

    /// Ends an attached session, because the flow of its connection ends.
    pub fn cut_with_connection(&self, failure: Option<Failure>, reset: bool) {
        let mut inner = self.inner.borrow_mut();
        let connection = inner.connection.take();
        if let Some(mut connection) = connection.filter(|_| reset) {
            connection.reset();
        }
        let failure = failure.unwrap_or_else(|| describe::errno(libc::ECONNRESET));
        let failure = seen_by_session(failure, inner.engine.is_secure());
        self.finish(&mut inner, Some(failure));
    }

    /// Ends the flow with a failure.
    pub fn cut(&self, failure: Failure) {
        self.finish(&mut self.inner.borrow_mut(), Some(failure));
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.inner.borrow_mut();
        if inner.is_done {
            return Poll::Ready(());
        }
        if !inner.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            inner.waker = Some(cx.waker().clone());
        }
        if inner.connection.is_some() {
            return self.poll_attached(&mut inner, cx);
        }
        if self.send(&mut inner, cx).is_pending() || inner.out.len() >= OUT_WAITS {
            return Poll::Pending;
        }
        match self.step(&mut inner) {
            Ok(true) => {
                // The other sessions have their turns first.
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Ok(false) => Poll::Pending,
            Err(_) => {
                self.finish(&mut inner, Some(describe::errno(libc::EPROTO)));
                Poll::Ready(())
            }
        }
    }

    /// Handles the guest's next record. Returns false if no bytes wait, and an error for a record
    /// that breaks the rules.
    pub(super) fn step(&self, inner: &mut Inner) -> Result<bool, Stop> {
        if inner.input.is_empty() {
            return Ok(false);
        }
        let missing = inner.reader.missing().map_err(|_| Stop::Protocol)?;
        let count = missing.min(inner.input.len());
        let bytes: Vec<u8> = inner.input.drain(..count).collect();
        inner.reader.add(&bytes);
        if let Some(credit) = inner.incoming.consume(count as u64) {
            self.runtime.shared.out.send(self.id, &ToSidecar::Credit { bytes: credit });
        }
        inner.reader.missing().map_err(|_| Stop::Protocol)?;
        if let Some((kind, payload)) = inner.reader.take() {
            let mut out = inner.connection.as_ref().map(Connection::output).unwrap_or_default();
            if let Some((kind, payload)) = Self::take_record(inner, kind, &payload, &mut out)? {
                inner.engine.handle(kind, payload, &mut out).map_err(|_| Stop::Protocol)?;
            }
            Self::keep(inner, out);
        }
        Ok(true)
    }

    /// Sends bytes to the guest. Returns `Pending` if the link has no space.
    pub(super) fn send(&self, inner: &mut Inner, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let left = usize::try_from(inner.outgoing.left()).unwrap_or(usize::MAX).min(inner.out.len());
            if left == 0 {
                return Poll::Ready(());
            }
            let from = &inner.out;
            let sent = self.runtime.shared.out.read(self.id, left, cx, |_, space| {
                let piece = from.as_slices().0;
                space.put_slice(piece.get(..piece.len().min(space.remaining())).unwrap_or_default());
                Poll::Ready(Ok(()))
            });
            match sent {
                Poll::Ready(Ok(count @ 1..)) => {
                    inner.out.drain(..count);
                    inner.outgoing.send(count as u64);
                }
                _ => return Poll::Pending,
            }
        }
    }

    pub(super) fn finish(&self, inner: &mut Inner, failure: Option<Failure>) {
        if std::mem::replace(&mut inner.is_done, true) {
            return;
        }
        self.runtime.state.borrow_mut().sessions.remove(&self.id);
        (inner.input, inner.out, inner.reader) = (VecDeque::new(), VecDeque::new(), Reader::default());
        let shared = &self.runtime.shared;
        shared.out.send(self.id, &ToSidecar::Closed { failure });
        let mut flows = shared.flows.borrow_mut();
        if inner.sidecar_closed {
            flows.remove(&self.id);
        } else {
            flows.insert(self.id, Slot::Closed);
        }
        inner.wake();
    }
}

impl Inner {
    fn wake(&mut self) {
        self.waker.take().into_iter().for_each(Waker::wake);
    }
}
