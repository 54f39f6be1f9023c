//! One flow of datagrams: the datagrams between a socket of the guest and one peer.
//!
//! ```text
//! DatagramsOpen ─► admit.rs: judged ─► route.rs: a socket for the peer ─► datagrams ─► Closed
//! ```
//! The system passes only datagrams of the peer to the socket. A datagram keeps its borders, and is
//! sent or dropped as a whole. The queue of the guest's datagrams is bounded by the window of the
//! link. The flow's future runs in its runtime's task, and moves a few datagrams in a turn. Next:
//! `outgoing.rs`.

use crate::describe;
use crate::flow::{Admitted, admit, pace};
use crate::limits::{DOWN, UP};
use crate::link::{MAX_FLOWS, Shared, Slot};
use crate::link_fault::LinkFault;
use crate::route;
use crate::runtime::Runtime;
use coldframe_edge_link as link;
use coldframe_edge_link::window::{DATAGRAM_COST, ReceiveWindow};
use coldframe_edge_link::{CloseReason, Event, Failure, FlowInfo, MAX_DATA_BYTES, Refused, ToSidecar};
use coldframe_egress::{Admission, Name, Protocol, judge_again};
use futures_util::future::{Either, select};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::io::{Interest, ReadBuf};
use tokio::net::UdpSocket;
use tokio::time::{Sleep, sleep};

/// The seconds without a datagram after which a flow ends.
const IDLE_SECONDS: u64 = 60;
/// The bytes that a datagram counts in the rates besides its content: the headers of IPv4 and UDP.
pub const HEAD_BYTES: u64 = 28;
/// The largest number of datagrams of one direction that a flow moves in a turn.
const TURN: usize = 16;

/// A flow of datagrams.
pub struct DatagramFlow {
    id: u32,
    runtime: Rc<Runtime>,
    peer: SocketAddr,
    began: Instant,
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The socket, after the flow was admitted.
    socket: Option<Rc<UdpSocket>>,
    established: Option<Instant>,
    admission: Option<Admission>,
    host: Option<Name>,
    /// Whether the pins of the address are held.
    holds_pins: bool,
    /// The future of the flow.
    waker: Option<Waker>,
    /// The guest's datagrams that wait for the rate or for the system.
    queue: VecDeque<Vec<u8>>,
    /// A datagram of the peer that waits for the rate.
    received_one: Option<Vec<u8>>,
    /// The window of the guest's datagrams.
    window: ReceiveWindow,
    /// The waits of both directions for their rate.
    paces: [Option<Pin<Box<Sleep>>>; 2],
    /// The next look at the idle time.
    timer: Option<Pin<Box<Sleep>>>,
    last_used: Option<Instant>,
    sidecar_closed: bool,
    sent: u64,
    received: u64,
    dropped: u64,
    is_done: bool,
}

impl Shared {
    /// Opens a flow of datagrams.
    ///
    /// # Errors
    /// Fails if the id is in use.
    pub fn open_datagrams(&self, id: u32, runtime: u64, peer: SocketAddr) -> Result<(), LinkFault> {
        let mut flows = self.flows.borrow_mut();
        if flows.contains_key(&id) || flows.len() >= MAX_FLOWS {
            return Err(LinkFault::Rules("a flow with a free id"));
        }
        let failure = match self.runtime(runtime) {
            Some(of) => match of.take_datagrams() {
                Ok(()) => {
                    flows.insert(id, Slot::Datagrams(DatagramFlow::start(id, &of, peer)));
                    return Ok(());
                }
                Err(failure) => failure,
            },
            None => describe::refusal(format_args!("UDP to {peer}"), describe::no_policy()),
        };
        flows.insert(id, Slot::Closed);
        self.out.send(id, &ToSidecar::Closed { failure: Some(failure) });
        Ok(())
    }

    /// Returns the flow of datagrams with an id.
    pub fn datagrams(&self, id: u32) -> Option<Rc<DatagramFlow>> {
        match self.flows.borrow().get(&id) {
            Some(Slot::Datagrams(flow)) => Some(flow.clone()),
            _ => None,
        }
    }

    /// Calls `call` with the flow of datagrams, unless the flow has ended.
    ///
    /// # Errors
    /// Fails if the id is of no flow of datagrams, and with the error of `call`.
    pub fn with_datagrams(&self, id: u32, call: impl FnOnce(&DatagramFlow) -> Result<(), LinkFault>) -> Result<(), LinkFault> {
        if let Some(flow) = self.datagrams(id) {
            return call(&flow);
        }
        match self.flows.borrow().get(&id) {
            Some(Slot::Closed) => Ok(()),
            _ => Err(LinkFault::Rules("a flow of datagrams")),
        }
    }
}

impl DatagramFlow {
    /// Begins a flow of a runtime. The caller has counted the flow.
    fn start(id: u32, runtime: &Rc<Runtime>, peer: SocketAddr) -> Rc<Self> {
        let this = Rc::new(Self { id, runtime: runtime.clone(), peer, began: Instant::now(), inner: RefCell::default() });
        runtime.state.borrow_mut().datagrams.insert(id, this.clone());
        runtime.spawn(this.clone().run());
        this
    }

    /// Receives a datagram of the guest.
    ///
    /// # Errors
    /// Fails if the sidecar has exceeded the window, or the flow is not open.
    pub fn data(&self, bytes: &[u8]) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        if inner.socket.is_none() || inner.sidecar_closed {
            return Err(LinkFault::Rules("datagrams of an open flow"));
        }
        if !inner.window.receive(bytes.len() as u64 + DATAGRAM_COST) {
            return Err(LinkFault::Rules("datagrams within the window"));
        }
        let cost = bytes.len() as u64 + HEAD_BYTES;
        let may_send = inner.queue.is_empty() && !self.runtime.is_exhausted();
        if may_send && self.runtime.take_datagram(UP, cost, Instant::now()).is_ok() && self.send(&mut inner, bytes) {
            return Ok(());
        }
        inner.queue.push_back(bytes.to_vec());
        inner.wake();
        Ok(())
    }

    /// Counts datagrams that the sidecar has dropped.
    ///
    /// # Errors
    /// Never fails.
    pub fn dropped(&self, count: u64) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        inner.dropped = inner.dropped.saturating_add(count);
        Ok(())
    }

    /// Receives the sidecar's last message of the flow.
    ///
    /// # Errors
    /// Fails if the sidecar has sent the message twice.
    pub fn close(&self) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        if std::mem::replace(&mut inner.sidecar_closed, true) {
            return Err(LinkFault::Rules("one Close"));
        }
        self.finish(&mut inner, None, CloseReason::Closed);
        Ok(())
    }

    /// Ends the flow with a failure.
    pub fn cut(&self, failure: Failure, reason: CloseReason) {
        self.finish(&mut self.inner.borrow_mut(), Some(failure), reason);
    }

    /// Judges the flow again after an update of the policy, if the update asks for that.
    pub fn judge_again(&self, now: Instant) {
        let mut inner = self.inner.borrow_mut();
        // A flow without an admission is judged by the new policy later.
        let Some(admission) = inner.admission.filter(|admission| self.runtime.cell.needs_recheck(admission)) else { return };
        let current = self.runtime.cell.current();
        let judged = judge_again(&current, &self.runtime.state.borrow().pins, &admission, now);
        match judged {
            Ok(admission) => inner.admission = Some(admission),
            Err(refused) => {
                let denied = describe::denied(current.policy(), &refused, inner.host.as_ref());
                self.runtime.event(|| Event::Denied { refused: Refused::Datagrams { peer: self.peer }, denied: denied.clone() });
                let failure = describe::refusal(format_args!("UDP to {}", self.peer), denied);
                self.finish(&mut inner, Some(failure), CloseReason::Denied);
            }
        }
    }

    /// Wakes the flow's future.
    pub fn wake(&self) {
        // A borrow is held only while the future itself runs.
        if let Ok(mut inner) = self.inner.try_borrow_mut() {
            inner.wake();
        }
    }

    /// Describes the flow for a list.
    pub fn info(&self) -> FlowInfo {
        let inner = self.inner.borrow();
        let current = self.runtime.cell.current();
        let rule = inner.admission.and_then(|admission| admission.rule());
        FlowInfo {
            flow: self.id,
            protocol: link::Protocol::Udp,
            host: inner.host.as_ref().map(|host| host.as_str().to_owned()),
            peer: self.peer,
            connected: inner.socket.is_some(),
            sent: inner.sent,
            received: inner.received,
            dropped: inner.dropped,
            age_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            rule: rule.map(|rule| describe::rule(current.policy(), rule)),
        }
    }

    /// Runs the flow.
    async fn run(self: Rc<Self>) {
        let opened = Box::pin(async {
            let opened = self.open().await;
            self.runtime.pace(&opened).await;
            opened
        });
        let opened = match select(opened, pin!(self.until_done())).await {
            Either::Left((opened, _)) => opened,
            Either::Right(((), _)) => return,
        };
        match opened {
            Ok(socket) => {
                let socket = Rc::new(socket);
                self.establish(socket.clone());
                select(pin!(self.watch_errors(&socket)), poll_fn(|cx| self.poll(cx))).await;
            }
            Err(failure) => self.cut(failure, CloseReason::Failed),
        }
    }

    /// Reports the errors of the socket, such as a message of ICMP, which arrive without a
    /// datagram.
    async fn watch_errors(&self, socket: &UdpSocket) {
        while socket.ready(Interest::ERROR).await.is_ok() {
            let taken = socket.try_io(Interest::ERROR, || socket.take_error()?.ok_or_else(|| io::ErrorKind::WouldBlock.into()));
            let inner = self.inner.borrow();
            if inner.is_done {
                break;
            }
            if let Ok(error) = taken {
                self.unreachable(&inner, &error);
            }
        }
        std::future::pending().await
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

    async fn open(&self) -> Result<UdpSocket, Failure> {
        let Admitted { admission, host, holds_pins } = admit(&self.runtime, Protocol::Udp, self.peer).await?;
        {
            let mut inner = self.inner.borrow_mut();
            (inner.host, inner.holds_pins, inner.admission) = (host, holds_pins, Some(admission));
        }
        route::datagrams(&self.runtime, admission.peer()).await
    }

    fn establish(&self, socket: Rc<UdpSocket>) {
        let mut inner = self.inner.borrow_mut();
        if inner.is_done {
            return;
        }
        let (local, peer) = match socket.local_addr().and_then(|local| Ok((local, socket.peer_addr()?))) {
            Ok(addresses) => addresses,
            Err(error) => return self.finish(&mut inner, Some(describe::io_error(&error)), CloseReason::Failed),
        };
        let now = Instant::now();
        (inner.socket, inner.established, inner.last_used) = (Some(socket), Some(now), Some(now));
        self.runtime.shared.out.send(self.id, &ToSidecar::Connected { local, peer });
        let rule = inner.admission.and_then(|admission| admission.rule());
        let current = self.runtime.cell.current();
        self.runtime.event(|| Event::Open {
            flow: self.id,
            protocol: link::Protocol::Udp,
            host: inner.host.as_ref().map(|host| host.as_str().to_owned()),
            peer: self.peer,
            rule: rule.map(|rule| describe::rule(current.policy(), rule)),
        });
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.inner.borrow_mut();
        if inner.is_done {
            return Poll::Ready(());
        }
        if !inner.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            inner.waker = Some(cx.waker().clone());
        }
        let has_more = self.poll_send(&mut inner, cx) | self.poll_receive(&mut inner, cx);
        if self.runtime.is_exhausted() {
            let failure = self.runtime.limit("bytes");
            self.finish(&mut inner, Some(failure), CloseReason::Limit);
        } else if self.is_idle(&mut inner, cx) {
            self.finish(&mut inner, None, CloseReason::Idle);
        }
        if inner.is_done {
            return Poll::Ready(());
        }
        if has_more {
            // The other runtimes have their turns first.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Sends waiting datagrams. Returns whether more can be sent now.
    fn poll_send(&self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        for _ in 0..TURN {
            let Some(first) = inner.queue.front() else { return false };
            let cost = first.len() + HEAD_BYTES as usize;
            match inner.socket.as_ref().map(|socket| socket.poll_send_ready(cx)) {
                Some(Poll::Ready(_)) => {}
                _ => return false,
            }
            if self.runtime.is_exhausted() {
                return false;
            }
            let take = |cost, now| self.runtime.take_datagram(UP, cost, now).map(|()| cost);
            if pace(&mut inner.paces[UP], cost, cx, take).is_none() {
                return false;
            }
            let Some(first) = inner.queue.pop_front() else { return false };
            if !self.send(inner, &first) {
                inner.queue.push_front(first);
            }
        }
        true
    }

    /// Sends a datagram now, or drops a datagram that the system refuses. Returns false if the
    /// system has no space.
    fn send(&self, inner: &mut Inner, bytes: &[u8]) -> bool {
        // The first call after an ICMP message returns its error, and sends nothing.
        for _ in 0..2 {
            let Some(socket) = &inner.socket else { return true };
            match socket.try_send(bytes) {
                Ok(_) => {
                    inner.sent += bytes.len() as u64;
                    inner.last_used = Some(Instant::now());
                    self.runtime.count(bytes.len() as u64 + HEAD_BYTES);
                    return self.consumed(inner, bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) if error.raw_os_error().is_some_and(|number| [libc::EMSGSIZE, libc::ENOBUFS].contains(&number)) => {
                    break;
                }
                Err(error) => self.unreachable(inner, &error),
            }
        }
        inner.dropped += 1;
        self.consumed(inner, bytes)
    }

    fn consumed(&self, inner: &mut Inner, bytes: &[u8]) -> bool {
        if let Some(bytes) = inner.window.consume(bytes.len() as u64 + DATAGRAM_COST) {
            self.runtime.shared.out.send(self.id, &ToSidecar::Credit { bytes });
        }
        true
    }

    fn unreachable(&self, inner: &Inner, error: &io::Error) {
        if inner.received == 0 {
            self.runtime.state.borrow_mut().failed.add(self.peer, Instant::now());
        }
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        self.runtime.shared.out.send(self.id, &ToSidecar::Unreachable { errno });
    }

    /// Passes datagrams of the peer to the sidecar. Returns whether more may be there.
    fn poll_receive(&self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        let shared = &self.runtime.shared;
        for _ in 0..TURN {
            if self.runtime.is_exhausted() || shared.out.poll_space_of(self.id, cx).is_pending() {
                return false;
            }
            if inner.received_one.is_none() {
                let Some(socket) = &inner.socket else { return false };
                let mut space = shared.datagram.borrow_mut();
                space.resize(MAX_DATA_BYTES, 0);
                let mut space = ReadBuf::new(&mut space);
                match socket.poll_recv(cx, &mut space) {
                    Poll::Pending => return false,
                    Poll::Ready(Err(error)) => {
                        self.unreachable(inner, &error);
                        continue;
                    }
                    Poll::Ready(Ok(())) => inner.received_one = Some(space.filled().to_vec()),
                }
            }
            let cost = inner.received_one.as_ref().map_or(0, Vec::len) + HEAD_BYTES as usize;
            let take = |cost, now| self.runtime.take_datagram(DOWN, cost, now).map(|()| cost);
            if pace(&mut inner.paces[DOWN], cost, cx, take).is_none() {
                return false;
            }
            let Some(bytes) = inner.received_one.take() else { return false };
            let message = if bytes.is_empty() { ToSidecar::EmptyDatagram {} } else { ToSidecar::Data(&bytes) };
            shared.out.send(self.id, &message);
            inner.received += bytes.len() as u64;
            inner.last_used = Some(Instant::now());
            self.runtime.count(cost as u64);
        }
        true
    }

    /// Returns whether no datagram has passed for the idle time.
    fn is_idle(&self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        let idle = self.runtime.shared.surroundings.borrow().datagrams_idle.unwrap_or(Duration::from_secs(IDLE_SECONDS));
        loop {
            let passed = inner.last_used.map_or(Duration::ZERO, |last| last.elapsed());
            let timer = inner.timer.get_or_insert_with(|| Box::pin(sleep(idle.saturating_sub(passed))));
            if timer.as_mut().poll(cx).is_pending() {
                return false;
            }
            inner.timer = None;
            if passed >= idle {
                return true;
            }
        }
    }

    /// Ends the flow: closes the socket, releases all counts, and sends `Closed`. Later calls do
    /// nothing.
    fn finish(&self, inner: &mut Inner, failure: Option<Failure>, reason: CloseReason) {
        if std::mem::replace(&mut inner.is_done, true) {
            return;
        }
        inner.dropped += inner.queue.len() as u64;
        (inner.socket, inner.queue, inner.received_one) = (None, VecDeque::new(), None);
        (inner.timer, inner.paces) = (None, [None, None]);
        let mut state = self.runtime.state.borrow_mut();
        state.datagrams.remove(&self.id);
        if let (true, Some(admission)) = (inner.holds_pins, inner.admission) {
            state.pins.release(admission.peer().address().ip());
        }
        drop(state);
        let shared = &self.runtime.shared;
        shared.out.send(self.id, &ToSidecar::Closed { failure });
        if let Some(established) = inner.established {
            self.runtime.event(|| Event::Close {
                flow: self.id,
                protocol: link::Protocol::Udp,
                host: inner.host.as_ref().map(|host| host.as_str().to_owned()),
                peer: self.peer,
                sent: inner.sent,
                received: inner.received,
                dropped: inner.dropped,
                duration_ms: u64::try_from(established.elapsed().as_millis()).unwrap_or(u64::MAX),
                reason,
            });
        }
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
