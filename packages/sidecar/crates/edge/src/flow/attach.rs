//! A session of TLS over the flow's connection. The steps of the hand-over are in
//! `../tls/attached.rs`. Next: `first_bytes.rs`.

use super::peer::Peer;
use super::pump::Stop;
use super::{Ending, Flow, Inner};
use crate::describe;
use crate::http::{self, Binding};
use crate::limits::{DOWN, UP};
use crate::link_fault::LinkFault;
use crate::runtime::Runtime;
use crate::tls::{Socket, TlsFlow};
use coldframe_edge_link::{CloseReason, Denied, Failure, ToSidecar};
use coldframe_egress::{Name, judge_server_name};
use std::rc::Rc;
use tokio::net::TcpStream;

/// The reason of a refusal about the name of a server.
const NAME: &str = "sni";
/// The reason of a refusal of bytes that no HTTP filter can read.
const OPAQUE: &str = "opaque-tls";

impl Flow {
    /// Returns the runtime of the flow.
    pub fn runtime(&self) -> &Rc<Runtime> {
        &self.runtime
    }

    /// Attaches a session, which gets the socket after the guest's bytes.
    pub fn attach(&self, session: &Rc<TlsFlow>) -> Result<(), LinkFault> {
        let mut inner = self.inner.borrow_mut();
        if inner.established.is_none() || inner.session.is_some() || inner.guest_ended || inner.sidecar_closed {
            return Err(LinkFault::Rules("an open connection without a session"));
        }
        inner.session = Some(session.clone());
        if !std::mem::replace(&mut inner.peer_ended, true) {
            self.runtime.shared.out.send(self.id, &ToSidecar::End {});
        }
        inner.wake();
        Ok(())
    }

    /// Passes the socket to the session. Fails if an HTTP filter has the socket.
    pub(super) fn hand_over(&self, inner: &mut Inner) -> Result<(), Stop> {
        let Some(session) = inner.session.clone() else { return Ok(()) };
        match inner.stream.take() {
            Some(Peer::Socket(socket)) => {
                inner.first = None;
                session.set_socket(Socket::Tcp(socket));
                Ok(())
            }
            Some(Peer::Handled(_)) => {
                inner.first = None;
                let server = inner.local_server(self).ok_or_else(|| Stop::Failed(std::io::ErrorKind::Other.into()))?;
                session.set_socket(server);
                Ok(())
            }
            Some(filter @ Peer::Filter(_)) => {
                inner.stream = Some(filter);
                Err(Stop::Denied(inner.opaque()))
            }
            None => Ok(()),
        }
    }

    /// Judges the name of the server of a session. Returns the name if the HTTP filter judges the
    /// plain bytes.
    pub fn judge_session(&self, name: Option<&str>, is_server: bool) -> Result<Option<Name>, Denied> {
        let mut inner = self.inner.borrow_mut();
        let parsed = name.and_then(|name| Name::parse(name).ok());
        if is_server {
            return if inner.tls_binding(self).is_empty() { Ok(None) } else { Err(inner.opaque()) };
        }
        self.judge_name(&inner, name)?;
        inner.server_name = Some(name.map(str::to_owned));
        let binding = inner.tls_binding(self);
        if binding.is_empty() {
            return Ok(None);
        }
        let is_pinned = |name: &Name| http::names_of(&self.runtime.state.borrow(), inner.address(self).ip()).contains(name);
        let Some(parsed) = parsed.filter(is_pinned) else { return Err(inner.wrong_name(name)) };
        inner.binding = binding;
        Ok(Some(parsed))
    }

    /// Judges the name of the server that a client's first message of TLS has.
    pub(super) fn judge_name(&self, inner: &Inner, name: Option<&str>) -> Result<(), Denied> {
        let parsed = name.and_then(|name| Name::parse(name).ok());
        let current = self.runtime.cell.current();
        let peer = inner.address(self);
        let names = http::names_of(&self.runtime.state.borrow(), peer.ip());
        judge_server_name(&current, names.iter(), peer, parsed.as_ref()).map_err(|rule| {
            let rule = rule.map(|rule| describe::rule(current.policy(), rule));
            Denied { rule, ..inner.wrong_name(name) }
        })
    }

    /// Judges the name of the session's server again, after an update of the policy.
    pub(super) fn judge_name_again(&self, inner: &Inner) -> Result<(), Denied> {
        inner.server_name.as_ref().map_or(Ok(()), |name| self.judge_name(inner, name.as_deref()))
    }

    /// Counts bytes that the peer's system was sent.
    pub fn count_sent(&self, count: usize) -> Result<(), Stop> {
        self.inner.borrow_mut().sent += count as u64;
        self.runtime.state.borrow_mut().rates[UP].take(count as u64);
        if self.runtime.count(count as u64) { Err(Stop::Exhausted) } else { Ok(()) }
    }

    /// Counts bytes that were received from the peer.
    pub fn count_received(&self, count: usize) -> Result<(), Stop> {
        self.inner.borrow_mut().received += count as u64;
        self.runtime.state.borrow_mut().rates[DOWN].take(count as u64);
        if self.runtime.count(count as u64) { Err(Stop::Exhausted) } else { Ok(()) }
    }

    /// Ends the flow because its session ends. Returns the failure of the session.
    pub fn end_session(&self, stop: Stop, is_secure: bool, socket: &mut dyn FnMut() -> Option<TcpStream>) -> Option<Failure> {
        let mut inner = self.inner.borrow_mut();
        inner.session = None;
        if let Some(socket) = socket() {
            inner.stream = Some(Peer::Socket(socket));
        }
        let (failure, reason, ending) = self.describe(stop);
        let seen = failure.clone().map(|failure| seen_by_session(failure, is_secure));
        self.finish(&mut inner, None, reason, ending);
        seen
    }

    /// Makes the facts of a session over the connection, for the HTTP filter.
    pub fn filter_context(&self, name: Name, close: http::GuestClose) -> http::Context {
        let inner = self.inner.borrow();
        http::Context::tls(self.runtime.clone(), self.id, inner.address(self), name, inner.handled.is_some(), close)
    }

    /// Ends the session of a flow that ends. Returns whether the flow had a session.
    pub(super) fn cut_session(inner: &mut Inner, failure: Option<&Failure>, ending: Ending) -> bool {
        let Some(session) = inner.session.take() else { return false };
        session.cut_with_connection(failure.cloned(), ending == Ending::Reset);
        true
    }
}

/// Returns the failure that the program receives. A refusal of a new session is a denial. An update
/// of the policy resets an established session.
pub fn seen_by_session(failure: Failure, is_secure: bool) -> Failure {
    match failure.kind {
        coldframe_edge_link::FailureKind::Denied(_) if is_secure => describe::errno(libc::ECONNRESET),
        _ => failure,
    }
}

impl Inner {
    /// Returns the address that the policy has checked.
    fn address(&self, flow: &Flow) -> std::net::SocketAddr {
        self.admission.map_or(flow.peer, |admission| admission.peer().address())
    }

    fn tls_binding(&self, flow: &Flow) -> Binding {
        Binding::of(&flow.runtime.cell.current(), &flow.runtime.state.borrow(), self.address(flow), true)
    }

    fn wrong_name(&self, name: Option<&str>) -> Denied {
        let detail = name.map_or_else(|| "no server name".to_owned(), describe::shortened);
        Denied { reason: NAME.to_owned(), rule: None, host: self.host_text(), detail: Some(detail) }
    }

    /// Makes the refusal of TLS that the edge cannot read, to a host with rules about HTTP.
    pub(super) fn opaque(&self) -> Denied {
        Denied { reason: OPAQUE.to_owned(), rule: None, host: self.host_text(), detail: None }
    }

    /// Makes the refusal of a first message that no client of TLS sends.
    pub(super) fn malformed_hello(&self) -> Denied {
        let detail = Some("a malformed first message of TLS".to_owned());
        Denied { reason: NAME.to_owned(), rule: None, host: self.host_text(), detail }
    }

    fn host_text(&self) -> Option<String> {
        self.host.as_ref().map(|host| host.as_str().to_owned())
    }

    /// Returns the reason if the close of the sidecar must wait for the session.
    pub(super) fn waits_for_session(&self) -> bool {
        self.session.is_some()
    }
}

impl Stop {
    /// Returns the reason of the end of a connection.
    pub(super) fn reason(&self) -> CloseReason {
        match self {
            Self::Ended => CloseReason::Ended,
            Self::Closed => CloseReason::Closed,
            Self::Failed(_) | Self::Protocol => CloseReason::Failed,
            Self::Idle => CloseReason::Idle,
            Self::Exhausted => CloseReason::Limit,
            Self::Denied(_) => CloseReason::Denied,
        }
    }
}
