//! One flow: the admission of its connection, and the bytes between the link and the socket.
//!
//! ```text
//! Connect ─► admit.rs, open.rs: judged, connected ─► pump.rs: bytes both ways ─► finish: Closed
//!                                         └► attach.rs: a session of TLS has the socket
//! ```
//! The flow's future runs in its runtime's task. Messages of the sidecar and updates of the policy
//! act on the flow directly, and wake the future. The end of a direction, and the end of the flow,
//! are separate facts: each direction ends on its own. Next: `open.rs`, `pump.rs`.

mod admit;
mod attach;
mod first_bytes;
mod handled;
mod open;
mod peer;
mod pump;
mod refused;

use crate::describe;
use crate::http::{Binding, GuestClose};
use crate::link::Slot;
use crate::link_fault::LinkFault;
use crate::runtime::Runtime;
use crate::tls::TlsFlow;
use crate::window;
pub use admit::{Admitted, admit};
pub use attach::seen_by_session;
use coldframe_edge_link::window::{ReceiveWindow, SendWindow};
use coldframe_edge_link::{CloseReason, Denied, Event, Failure, FlowInfo, Protocol, Refused, ToSidecar};
use coldframe_egress::{Admission, Name, RuleId, judge_again};
use first_bytes::FirstBytes;
use handled::Handled;
use open::FilterRun;
use peer::Peer;
pub use pump::{FLUSH_TIME, Stop, pace};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Waker;
use std::time::Instant;
use tokio::time::Sleep;

/// A flow.
pub struct Flow {
    id: u32,
    runtime: Rc<Runtime>,
    peer: SocketAddr,
    began: Instant,
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The stream to the peer, while the connection is established.
    stream: Option<Peer>,
    /// The guest's first bytes are not judged.
    first: Option<FirstBytes>,
    /// A filter that has been started and that the future does not run yet.
    filter: Option<FilterRun>,
    /// The session of TLS over the connection. The session has the socket from the end of the
    /// guest's bytes on.
    session: Option<Rc<TlsFlow>>,
    /// The name of the server that the session's client has sent.
    server_name: Option<Option<String>>,
    /// The rules about HTTP and the secrets that apply to the flow.
    binding: Binding,
    /// The flow ended as by `close`, so that the filter may forward the last request.
    lingers: bool,
    /// The close of the guest, for the filter.
    guest_close: GuestClose,
    established: Option<Instant>,
    admission: Option<Admission>,
    /// The name to whose requests the app responds. Such a flow has no socket and no admission.
    handled: Option<Handled>,
    host: Option<Name>,
    /// Whether the pins of the address are held.
    holds_pins: bool,
    /// The future of the flow.
    waker: Option<Waker>,
    /// The bytes that the socket has not accepted.
    to_peer: VecDeque<u8>,
    /// An error of the socket that the future has not seen.
    fault: Option<io::Error>,
    /// The window of the bytes from the sidecar.
    incoming: ReceiveWindow,
    /// The window of the bytes to the sidecar.
    outgoing: SendWindow,
    /// The sidecar has sent `End`.
    guest_ended: bool,
    /// The FIN has been sent.
    fin_sent: bool,
    /// The peer's FIN has been received, and `End` has been sent.
    peer_ended: bool,
    /// The peer has sent bytes for which the window has no space.
    peer_waits: bool,
    /// The sidecar has sent `Close`. The time at which the rest of the bytes is discarded.
    closing: Option<Pin<Box<Sleep>>>,
    /// A limit refused the flow, which therefore counts in no limit.
    is_refused: bool,
    sidecar_closed: bool,
    /// The waits of both directions for their rate.
    paces: [Option<Pin<Box<Sleep>>>; 2],
    sent: u64,
    received: u64,
    is_done: bool,
}

/// How the socket of a flow is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// As by `close`.
    Fin,
    /// By an RST. Unsent bytes are discarded.
    Reset,
}

impl Flow {
    /// Begins a flow of a runtime. The caller has counted the connection.
    pub fn start(id: u32, runtime: &Rc<Runtime>, peer: SocketAddr) -> Rc<Self> {
        let inner = RefCell::new(Inner::default());
        let this = Rc::new(Self { id, runtime: runtime.clone(), peer, began: Instant::now(), inner });
        let mut state = runtime.state.borrow_mut();
        state.connecting += 1;
        state.flows.insert(id, this.clone());
        drop(state);
        runtime.spawn(this.clone().run());
        this
    }

    /// Receives bytes of the guest.
    pub fn data(&self, bytes: &[u8]) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        let has_ended = inner.guest_ended || inner.sidecar_closed;
        window::receive(&mut inner.incoming, has_ended, bytes)?;
        let written = self.write_now(&mut inner, bytes);
        let rest = bytes.get(written..).unwrap_or_default();
        if !rest.is_empty() {
            inner.to_peer.extend(rest);
        }
        // The future writes the rest, and notices the limit of bytes.
        if !rest.is_empty() || self.runtime.is_exhausted() {
            inner.wake();
        }
        Ok(())
    }

    /// Receives credit for the bytes to the guest.
    pub fn credit(&self, bytes: u64) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        window::credit(&mut inner.outgoing, bytes)?;
        inner.peer_waits = false;
        inner.wake();
        Ok(())
    }

    /// Receives the end of the guest's bytes.
    pub fn end(&self) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        if inner.guest_ended || inner.sidecar_closed {
            return Err(LinkFault::Rules("one End"));
        }
        inner.guest_ended = true;
        inner.wake();
        Ok(())
    }

    /// Receives the sidecar's last message of the flow.
    pub fn close(&self, reset: bool) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        if inner.sidecar_closed {
            return Err(LinkFault::Rules("one Close"));
        }
        inner.sidecar_closed = true;
        if reset {
            self.finish(&mut inner, None, CloseReason::Reset, Ending::Reset);
        } else if inner.waits_for_session() {
            // The session ends the flow after its last bytes.
            inner.wake();
        } else if inner.stream.is_none() || inner.to_peer.is_empty() {
            self.finish(&mut inner, None, CloseReason::Closed, Ending::Fin);
        } else {
            inner.closing = Some(Box::pin(tokio::time::sleep(pump::FLUSH_TIME)));
            inner.wake();
        }
        Ok(())
    }

    /// Ends the flow with a failure.
    pub fn cut(&self, failure: Failure, reason: CloseReason) {
        self.finish(&mut self.inner.borrow_mut(), Some(failure), reason, Ending::Reset);
    }

    /// Judges the flow again after an update of the policy, if the update asks for that.
    pub fn judge_again(&self, now: Instant) {
        let mut inner = self.inner.borrow_mut();
        if inner.handled.is_some() {
            return self.judge_handled_again(&mut inner);
        }
        // A flow without an admission is judged by the new policy later.
        let Some(admission) = inner.admission.filter(|admission| self.runtime.cell.needs_recheck(admission)) else { return };
        let current = self.runtime.cell.current();
        let judged = judge_again(&current, &self.runtime.state.borrow().pins, &admission, now);
        match judged {
            Ok(admission) => {
                inner.admission = Some(admission);
                self.judge_rules_again(&mut inner, admission.peer().address());
            }
            Err(refused) => {
                let denied = describe::denied(current.policy(), &refused, inner.host.as_ref());
                self.refuse(&mut inner, denied);
            }
        }
    }

    /// Judges the name of the server and the rules about HTTP again.
    fn judge_rules_again(&self, inner: &mut Inner, peer: SocketAddr) {
        if let Err(denied) = self.judge_name_again(inner) {
            return self.refuse(inner, denied);
        }
        let is_tls = inner.server_name.is_some();
        let binding = Binding::of(&self.runtime.cell.current(), &self.runtime.state.borrow(), peer, is_tls);
        if inner.established.is_some() && !inner.binding.may_become(&binding) {
            // Half of a stream would have passed the former rules, or had a removed secret.
            let host = inner.host.as_ref().map(|host| host.as_str().to_owned());
            let denied = Denied { reason: "rules-changed".to_owned(), rule: None, host, detail: None };
            self.refuse(inner, denied);
        }
    }

    /// Ends an open flow that the policy refuses.
    fn refuse(&self, inner: &mut Inner, denied: Denied) {
        let failure = self.refusal(denied);
        self.finish(inner, Some(failure), CloseReason::Denied, Ending::Reset);
    }

    /// Reports a refusal. Returns the failure.
    fn refusal(&self, denied: Denied) -> Failure {
        let what = Refused::Flow { flow: self.id, peer: self.peer };
        self.runtime.event(|| Event::Denied { refused: what, denied: denied.clone() });
        describe::refusal(format_args!("the connection to {}", self.peer), denied)
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
        let rule = inner.rule();
        FlowInfo {
            flow: self.id,
            protocol: Protocol::Tcp,
            host: inner.host.as_ref().map(|host| host.as_str().to_owned()),
            peer: self.peer,
            connected: inner.stream.is_some() || inner.session.is_some(),
            sent: inner.sent,
            received: inner.received,
            dropped: 0,
            age_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            rule: rule.map(|rule| describe::rule(current.policy(), rule)),
        }
    }

    /// Ends the flow: closes the socket, releases all counts, and sends `Closed`. Later calls do
    /// nothing.
    fn finish(&self, inner: &mut Inner, failure: Option<Failure>, reason: CloseReason, ending: Ending) {
        if std::mem::replace(&mut inner.is_done, true) {
            return;
        }
        // The guest receives no response, so the app may abort its work.
        inner.lingers = ending == Ending::Fin && inner.handled.is_none();
        if inner.lingers {
            // The bytes that were sent are in the pipe of the filter.
            inner.guest_close.set(inner.sent);
        }
        if let Some(stream) = inner.stream.take()
            && ending == Ending::Reset
        {
            // If the call fails, the socket is closed with a FIN.
            let _ = stream.set_zero_linger();
        }
        // The program sees the failure of the session.
        let failure = if Self::cut_session(inner, failure.as_ref(), ending) { None } else { failure };
        (inner.to_peer, inner.first) = (VecDeque::new(), None);
        let mut state = self.runtime.state.borrow_mut();
        if inner.is_refused {
            state.refused.remove(&self.id);
        } else {
            state.flows.remove(&self.id);
            state.connecting -= u32::from(inner.established.is_none());
        }
        if let (true, Some(admission)) = (inner.holds_pins, inner.admission) {
            state.pins.release(admission.peer().address().ip());
        }
        drop(state);
        let shared = &self.runtime.shared;
        shared.out.send(self.id, &ToSidecar::Closed { failure });
        if let Some(established) = inner.established {
            self.runtime.event(|| Event::Close {
                flow: self.id,
                protocol: Protocol::Tcp,
                host: inner.host.as_ref().map(|host| host.as_str().to_owned()),
                peer: self.peer,
                sent: inner.sent,
                received: inner.received,
                dropped: 0,
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
        inner.closing = None;
        inner.paces = [None, None];
        inner.wake();
    }
}

impl Inner {
    /// Returns the rule that admits the flow.
    fn rule(&self) -> Option<RuleId> {
        let of_handled = || self.handled.as_ref().and_then(|handled| handled.rule);
        self.admission.map_or_else(of_handled, |admission| admission.rule())
    }

    fn wake(&mut self) {
        self.waker.take().into_iter().for_each(Waker::wake);
    }
}
