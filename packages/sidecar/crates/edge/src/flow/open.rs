//! The admission and the connection of a flow. Next: `../route.rs`.

use super::first_bytes::FirstBytes;
use super::peer::Peer;
use super::{Ending, FLUSH_TIME, Flow};
use crate::describe;
use crate::dns::{Unresolved, resolve};
use crate::http::{self, Binding};
use crate::route;
use coldframe_edge_link::{CloseReason, Event, Failure, Refused, ToSidecar};
use coldframe_egress::{Admission, Connect, Family, Name, PIN_TIMES, PinState, judge_connect};
use futures_util::future::{Either, select};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The largest number of expired pins that are renewed for one connection.
const MAX_RENEWALS: u32 = 4;

/// A running HTTP filter.
pub(super) type FilterRun = Pin<Box<dyn Future<Output = Result<(), http::Fault>>>>;

impl Flow {
    /// Runs the flow.
    pub(super) async fn run(self: Rc<Self>) {
        // The memory of the look-up is freed when the connection is established.
        let opened = match select(Box::pin(self.open()), pin!(self.until_done())).await {
            Either::Left((opened, _)) => opened,
            Either::Right(((), _)) => return,
        };
        match opened {
            Ok(stream) => self.establish(stream),
            Err(failure) => self.cut(failure, CloseReason::Failed),
        }
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

    async fn until_done(&self) {
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

    async fn open(&self) -> Result<TcpStream, Failure> {
        let admission = self.admit().await?;
        let connected = route::connect(&self.runtime, admission.peer()).await;
        connected.inspect_err(|_| self.runtime.state.borrow_mut().failed.add(self.peer, Instant::now()))
    }

    /// Judges the address. An expired pin is renewed by a look-up.
    async fn admit(&self) -> Result<Admission, Failure> {
        for _ in 0..=MAX_RENEWALS {
            let current = self.runtime.cell.current();
            let now = Instant::now();
            let judged = judge_connect(&current, &self.runtime.state.borrow().pins, self.peer, now);
            match judged {
                Connect::Admitted(admission) => {
                    let address = admission.peer().address();
                    let mut inner = self.inner.borrow_mut();
                    let mut state = self.runtime.state.borrow_mut();
                    let is_allowed = |name: &Name| current.policy().judge_name(name, address.port()).is_allowed();
                    let mut names = state.pins.names_of(address.ip(), now);
                    inner.host =
                        names.find(|(name, pin)| *pin == PinState::Fresh && is_allowed(name)).map(|(name, _)| name.clone());
                    drop(names);
                    inner.holds_pins = state.pins.hold(address.ip());
                    inner.admission = Some(admission);
                    return Ok(admission);
                }
                Connect::Refused(decision) => {
                    // A developer knows the name, and not the address.
                    let host =
                        self.runtime.state.borrow().pins.names_of(self.peer.ip(), now).next().map(|(name, _)| name.clone());
                    let denied = describe::denied(current.policy(), &decision, host.as_ref());
                    let refused = Refused::Connect { peer: self.peer };
                    self.runtime.event(|| Event::Denied { refused, denied: denied.clone() });
                    return Err(describe::refusal(format_args!("the connection to {}", self.peer), denied));
                }
                Connect::Renew(name) => self.renew(&name).await?,
            }
        }
        Err(describe::errno(libc::EHOSTUNREACH))
    }

    async fn renew(&self, name: &Name) -> Result<(), Failure> {
        let family = Family::of(self.peer.ip().to_canonical());
        let resolved = match resolve(&self.runtime, name, family).await {
            Ok((resolved, _)) => Some(resolved),
            Err(Unresolved::Limit(limit)) => return Err(self.runtime.limit(limit.as_str())),
            // No server has replied, so the name may have the address or not.
            Err(Unresolved::Query(fault)) if fault.is_of_server() => return Err(describe::errno(libc::EHOSTUNREACH)),
            Err(Unresolved::Query(_)) => None,
        };
        let (addresses, ttl) = resolved.map_or((Vec::new(), PIN_TIMES.0), |resolved| (resolved.addresses, resolved.ttl));
        let recorded = self.runtime.state.borrow_mut().pins.record(name, family, &addresses, ttl, Instant::now());
        recorded.map_err(|_| self.runtime.limit("pins"))
    }

    /// Begins to move bytes.
    fn establish(&self, stream: TcpStream) {
        let mut inner = self.inner.borrow_mut();
        if inner.is_done {
            return;
        }
        let local = match stream.local_addr() {
            Ok(local) => local,
            Err(error) => {
                self.finish(&mut inner, Some(describe::io_error(&error)), CloseReason::Failed, Ending::Reset);
                return;
            }
        };
        let current = self.runtime.cell.current();
        let checked = inner.admission.map_or(self.peer, |admission| admission.peer().address());
        inner.binding = Binding::of(&current, &self.runtime.state.borrow(), checked, false);
        (inner.stream, inner.first) = (Some(Peer::Socket(stream)), Some(FirstBytes::default()));
        inner.established = Some(Instant::now());
        self.runtime.state.borrow_mut().connecting -= 1;
        self.runtime.shared.out.send(self.id, &ToSidecar::Connected { local, peer: checked });
        let rule = inner.admission.and_then(|admission| admission.rule());
        self.runtime.event(|| Event::Open {
            flow: self.id,
            host: inner.host.as_ref().map(|host| host.as_str().to_owned()),
            peer: self.peer,
            rule: rule.map(|rule| describe::rule(current.policy(), rule)),
        });
    }
}
