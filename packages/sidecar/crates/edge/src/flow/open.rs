//! The connection of a flow. Next: `../route.rs`.

use super::first_bytes::FirstBytes;
use super::peer::Peer;
use super::{Admitted, Ending, FLUSH_TIME, Flow, admit};
use crate::describe;
use crate::handled::Names;
use crate::http::{self, Binding};
use crate::route;
use coldframe_edge_link as link;
use coldframe_edge_link::{CloseReason, Event, Failure, ToSidecar};
use coldframe_egress::{Admission, Protocol};
use futures_util::future::{Either, select};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;
use tokio::time::timeout;

/// The port of the guest's end of a flow without a socket.
const LOCAL_PORT: u16 = 49_152;

/// A running HTTP filter.
pub(super) type FilterRun = Pin<Box<dyn Future<Output = Result<(), http::Fault>>>>;

impl Flow {
    /// Runs the flow.
    pub(super) async fn run(self: Rc<Self>) {
        // The memory of the look-up and of the connect is freed when the connection is established.
        Box::pin(self.connect()).await;
        let mut filter: Option<FilterRun> = None;
        poll_fn(|cx| {
            if let Some(Poll::Ready(result)) = filter.as_mut().map(|filter| filter.as_mut().poll(cx)) {
                filter = None;
                if result.is_err() {
                    self.cut(describe::errno(libc::ECONNRESET), CloseReason::Failed);
                }
            }
            let polled = self.poll(cx);
            let started = self.inner.borrow_mut().filter.take();
            if started.is_some() {
                filter = started;
                cx.waker().wake_by_ref();
            }
            polled
        })
        .await;
        // The guest may close its socket directly after a request. Every other end drops the filter
        // and its bytes at once.
        let lingers = self.inner.borrow().lingers;
        if let Some(filter) = filter.filter(|_| lingers) {
            let _ = Box::pin(timeout(FLUSH_TIME, filter)).await;
        }
    }

    /// Opens the connection, unless the flow ends before.
    async fn connect(&self) {
        let opened = async {
            let opened = self.open().await;
            self.runtime.pace(&opened).await;
            opened
        };
        match select(pin!(opened), pin!(self.until_done())).await {
            Either::Left((Ok(stream), _)) => self.establish(stream),
            Either::Left((Err(failure), _)) => self.cut(failure, CloseReason::Failed),
            Either::Right(((), _)) => {}
        }
    }

    pub(super) async fn until_done(&self) {
        poll_fn(|cx| {
            let mut inner = self.inner.borrow_mut();
            if inner.is_done {
                return Poll::Ready(());
            }
            inner.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    async fn open(&self) -> Result<Peer, Failure> {
        if self.admit_handled()? {
            return Ok(Peer::Handled(false));
        }
        let admission = self.admit().await?;
        let connected = route::connect(&self.runtime, admission.peer()).await.map(Peer::Socket);
        connected.inspect_err(|_| self.runtime.state.borrow_mut().failed.add(self.peer, Instant::now()))
    }

    /// Judges the address.
    async fn admit(&self) -> Result<Admission, Failure> {
        let Admitted { admission, host, holds_pins } = admit(&self.runtime, Protocol::Tcp, self.peer).await?;
        let mut inner = self.inner.borrow_mut();
        (inner.host, inner.holds_pins, inner.admission) = (host, holds_pins, Some(admission));
        Ok(admission)
    }

    /// Begins to move bytes.
    fn establish(&self, stream: Peer) {
        let mut inner = self.inner.borrow_mut();
        if inner.is_done {
            return;
        }
        let local = match &stream {
            Peer::Socket(socket) => socket.local_addr(),
            Peer::Filter(_) | Peer::Handled(_) => Ok(SocketAddr::new(Names::LOCAL.into(), LOCAL_PORT)),
        };
        let local = match local {
            Ok(local) => local,
            Err(error) => {
                self.finish(&mut inner, Some(describe::io_error(&error)), CloseReason::Failed, Ending::Reset);
                return;
            }
        };
        let current = self.runtime.cell.current();
        let checked = inner.admission.map_or(self.peer, |admission| admission.peer().address());
        inner.binding = Binding::of(&current, &self.runtime.state.borrow(), checked, false);
        (inner.stream, inner.first) = (Some(stream), Some(FirstBytes::default()));
        inner.established = Some(Instant::now());
        self.runtime.state.borrow_mut().connecting -= 1;
        self.runtime.shared.out.send(self.id, &ToSidecar::Connected { local, peer: checked });
        let rule = inner.rule();
        self.runtime.event(|| Event::Open {
            flow: self.id,
            protocol: link::Protocol::Tcp,
            host: inner.host.as_ref().map(|host| host.as_str().to_owned()),
            peer: self.peer,
            rule: rule.map(|rule| describe::rule(current.policy(), rule)),
        });
    }
}
