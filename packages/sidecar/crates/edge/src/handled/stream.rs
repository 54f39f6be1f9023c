//! A flow of the link between a request and the app. Next: `exchange.rs`.
//!
//! The link has one flow for each request. The windows bound the bytes of each direction, so a slow
//! reader on either side suspends the writer on the other side.

use crate::describe;
use crate::link::Slot;
use crate::link_fault::LinkFault;
use crate::runtime::Runtime;
use bytes::{Buf, Bytes};
use coldframe_edge_link::window::{ReceiveWindow, SendWindow};
use coldframe_edge_link::{MAX_DATA_BYTES, ToSidecar};
use hyper::body::Frame;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

/// A flow of a request.
pub struct Stream {
    id: u32,
    runtime: Rc<Runtime>,
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The bytes of the app that are not read.
    received: VecDeque<u8>,
    incoming: ReceiveWindow,
    outgoing: SendWindow,
    /// The app sends no further byte.
    app_ended: bool,
    /// The edge sends no further byte.
    edge_ended: bool,
    /// The edge has sent `Closed`.
    is_over: bool,
    sidecar_closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Stream {
    /// Makes the stream of a flow that the sidecar has opened.
    pub fn new(id: u32, runtime: &Rc<Runtime>) -> Rc<Self> {
        Rc::new(Self { id, runtime: runtime.clone(), inner: RefCell::default() })
    }

    /// Receives bytes of the app.
    pub fn data(&self, bytes: &[u8]) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        if inner.app_ended || inner.sidecar_closed {
            return Err(LinkFault::Rules("no data after the end"));
        }
        if !inner.incoming.receive(bytes.len() as u64) {
            return Err(LinkFault::Rules("data within the window"));
        }
        inner.received.extend(bytes);
        inner.wake();
        Ok(())
    }

    /// Receives credit for the bytes to the app.
    pub fn credit(&self, bytes: u64) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        if !inner.outgoing.credit(bytes) {
            return Err(LinkFault::Rules("credit for sent bytes"));
        }
        inner.wake();
        Ok(())
    }

    /// Receives the end of the app's bytes.
    pub fn end(&self) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        if std::mem::replace(&mut inner.app_ended, true) || inner.sidecar_closed {
            return Err(LinkFault::Rules("one End"));
        }
        inner.wake();
        Ok(())
    }

    /// Receives the sidecar's last message of the flow: the app has aborted the response.
    pub fn close(&self) -> Result<(), LinkFault> {
        if std::mem::replace(&mut self.inner.borrow_mut().sidecar_closed, true) {
            return Err(LinkFault::Rules("one Close"));
        }
        self.finish(true);
        Ok(())
    }

    /// Waits for bytes of the app. Returns `None` at the end of the bytes.
    pub fn poll_read(&self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        let mut inner = self.inner.borrow_mut();
        if inner.received.is_empty() {
            if inner.app_ended {
                return Poll::Ready(Ok(None));
            }
            if inner.is_over {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            inner.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let bytes = Bytes::from(Vec::from(std::mem::take(&mut inner.received)));
        let credit = inner.incoming.consume(bytes.len() as u64).filter(|_| !inner.is_over);
        drop(inner);
        if let Some(bytes) = credit {
            self.runtime.shared.out.send(self.id, &ToSidecar::Credit { bytes });
        }
        Poll::Ready(Ok(Some(bytes)))
    }

    /// Sends all bytes to the app.
    pub fn poll_write(&self, bytes: &mut Bytes, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while bytes.has_remaining() {
            let mut inner = self.inner.borrow_mut();
            if inner.is_over {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            inner.writer = Some(cx.waker().clone());
            let left = usize::try_from(inner.outgoing.left()).unwrap_or(usize::MAX).min(bytes.len()).min(MAX_DATA_BYTES);
            if left == 0 {
                return Poll::Pending;
            }
            let sent = self.runtime.shared.out.read(self.id, left, cx, |_, space| {
                space.put_slice(bytes.get(..left).unwrap_or_default());
                Poll::Ready(Ok(()))
            });
            let count = ready!(sent)?;
            inner.outgoing.send(count as u64);
            bytes.advance(count);
        }
        Poll::Ready(Ok(()))
    }

    /// Waits until the flow is closed.
    pub fn poll_over(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.inner.borrow_mut();
        if inner.is_over {
            return Poll::Ready(());
        }
        inner.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Sends the end of the edge's bytes.
    pub fn send_end(&self) {
        let mut inner = self.inner.borrow_mut();
        if !inner.is_over && !std::mem::replace(&mut inner.edge_ended, true) {
            self.runtime.shared.out.send(self.id, &ToSidecar::End {});
        }
    }

    /// Closes the flow. The app notices an abort unless both directions have ended.
    pub fn finish(&self, was_aborted: bool) {
        let mut inner = self.inner.borrow_mut();
        if std::mem::replace(&mut inner.is_over, true) {
            return;
        }
        let has_ended = inner.app_ended && inner.edge_ended && !was_aborted;
        let failure = (!has_ended).then(|| describe::errno(libc::ECONNRESET));
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
        self.reader.take().into_iter().chain(self.writer.take()).for_each(Waker::wake);
    }
}

/// The use of a stream by a request. Dropping it closes the flow.
pub struct Use(pub Rc<Stream>);

impl Drop for Use {
    fn drop(&mut self) {
        self.0.finish(false);
    }
}

/// The body of a response of the app. Each piece is forwarded as it arrives.
pub struct Body {
    stream: Use,
    /// The bytes that arrived with the head.
    first: Bytes,
    has_ended: bool,
    _ticket: super::Ticket,
}

impl Body {
    /// Makes the body of a stream whose head has been read.
    pub fn new(stream: Use, first: Bytes, ticket: super::Ticket) -> Self {
        Self { stream, first, has_ended: false, _ticket: ticket }
    }

    /// Waits for the next piece.
    pub fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let first = std::mem::take(&mut self.first);
        if !first.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if self.has_ended {
            return Poll::Ready(None);
        }
        let read = ready!(self.stream.0.poll_read(cx));
        self.has_ended = !matches!(read, Ok(Some(_)));
        Poll::Ready(read.transpose().map(|read| read.map(Frame::data)))
    }
}
