//! The server for the guest and the client for the peer, on one connection each. Next: `gate.rs`.

use super::binding::names_of;
use super::body::{RequestBody, ResponseBody, mask_headers};
use super::gate::{Gate, GateState, Pending};
use super::guest_close::{GuestClose, Unwritten};
use super::judge::{Forwarded, asks_upgrade, is_websocket, judge, remove_hop_by_hop};
use super::reply::Refusal;
use crate::describe;
use crate::runtime::Runtime;
use coldframe_edge_link::{Denied, Event};
use coldframe_egress::{HeadFault, MAX_FIELDS, MAX_HEAD_BYTES, Name};
use coldframe_secrets::Target;
use displaydoc::Display;
use hyper::body::Incoming;
use hyper::client::conn::http1 as client;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING, UPGRADE};
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};

/// The buffer of hyper for the guest's bytes. The gate has bounded the head already, so hyper
/// refuses no head by its length.
const GUEST_BUFFER: usize = 2 * MAX_HEAD_BYTES;
/// The maximum number of characters of a path in an event.
const MAX_EVENT_PATH: usize = 1_024;

/// The reason why a filter has ended before its connection.
#[derive(Debug, Display, thiserror::Error)]
pub enum Fault {
    /// the guest's bytes are no HTTP, or the guest has closed the connection within a message
    Guest,
    /// the peer has closed the connection before the end of a response
    Peer,
}

/// The facts of a flow that its filter needs.
pub struct Context {
    runtime: Rc<Runtime>,
    flow: u32,
    peer: SocketAddr,
    is_tls: bool,
    /// The only name of the host, for a connection whose peer is verified by this name.
    server_name: Option<Name>,
    close: GuestClose,
}

impl Context {
    /// Makes the facts of a flow without TLS. The host of each request must be a name that is
    /// pinned to the peer.
    pub fn plain(runtime: Rc<Runtime>, flow: u32, peer: SocketAddr, close: GuestClose) -> Self {
        Self { runtime, flow, peer, is_tls: false, server_name: None, close }
    }

    /// Makes the facts of a flow with TLS. `server_name` is the name that the certificate of the
    /// peer has proved. The host of each request must be this name.
    pub fn tls(runtime: Rc<Runtime>, flow: u32, peer: SocketAddr, server_name: Name, close: GuestClose) -> Self {
        Self { runtime, flow, peer, is_tls: true, server_name: Some(server_name), close }
    }

    /// Returns the runtime.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the address of the peer.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Returns whether the connection to the peer is encrypted, and the peer is verified.
    pub fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Returns whether the value of a secret that the peer may receive has not arrived yet.
    fn has_pending_secrets(&self) -> bool {
        let state = self.runtime.state.borrow();
        let is_pending = |name: &Name| state.secrets.has_pending(Target { name, port: self.peer.port(), is_tls: self.is_tls });
        match &self.server_name {
            Some(name) => is_pending(name),
            None => names_of(&state, self.peer.ip()).iter().any(is_pending),
        }
    }

    /// Returns whether a name is a name of the peer.
    pub fn has_name(&self, name: &Name) -> bool {
        match &self.server_name {
            Some(server_name) => server_name == name,
            None => names_of(&self.runtime.state.borrow(), self.peer.ip()).contains(name),
        }
    }
}

/// The state of one filter.
struct Filter {
    context: Context,
    sender: RefCell<Option<client::SendRequest<RequestBody>>>,
    /// The two ends of an upgraded connection: the guest's and the peer's.
    upgraded: RefCell<Option<(OnUpgrade, OnUpgrade)>>,
    peer_has_failed: Cell<bool>,
    gate: Arc<GateState>,
    /// The number of requests that the server has received.
    requests: Cell<u64>,
}

/// Moves requests and responses until one side has ended. If the guest has closed its socket, the
/// filter ends when all requests are forwarded: nothing reads their responses.
///
/// # Errors
/// Fails if a side has ended within a message.
pub async fn run<G, P>(context: Context, guest: G, peer: P) -> Result<(), Fault>
where
    G: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    P: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let unwritten = Arc::new(AtomicBool::new(false));
    let mut builder = client::Builder::new();
    builder.max_buf_size(MAX_HEAD_BYTES).max_headers(MAX_FIELDS);
    let (sender, connection) =
        builder.handshake(TokioIo::new(Unwritten::new(peer, unwritten.clone()))).await.map_err(|_| Fault::Peer)?;
    let filter = Rc::new(Filter {
        context,
        sender: RefCell::new(Some(sender)),
        upgraded: RefCell::default(),
        peer_has_failed: Cell::new(false),
        gate: Arc::default(),
        requests: Cell::new(0),
    });
    let guest = Gate::new(guest, filter.gate.clone());
    let service = service_fn(|request| {
        let filter = filter.clone();
        async move { filter.serve(request).await }
    });
    let mut builder = server::Builder::new();
    builder.half_close(true).auto_date_header(false).max_buf_size(GUEST_BUFFER).max_headers(MAX_FIELDS);
    let mut connection = pin!(connection.with_upgrades());
    let mut peer_has_ended = false;
    let served = {
        let mut server = pin!(builder.serve_connection(TokioIo::new(guest), service).with_upgrades());
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(result) = server.as_mut().poll(cx) {
                    return Poll::Ready(result);
                }
                if peer_has_ended || connection.as_mut().poll(cx).is_pending() {
                    let is_forwarded = |bytes| filter.gate.has_forwarded(bytes) && !unwritten.load(Ordering::Acquire);
                    let is_over = filter.context.close.bytes().is_some_and(is_forwarded);
                    return if is_over { Poll::Ready(Ok(())) } else { Poll::Pending };
                }
                // An idle connection to the guest ends too. A request without a response fails.
                peer_has_ended = true;
                if filter.requests.get() == 0 {
                    return Poll::Ready(Ok(()));
                }
                server.as_mut().graceful_shutdown();
            }
        })
        .await
    };
    if filter.peer_has_failed.get() {
        return Err(Fault::Peer);
    }
    let upgraded = filter.upgraded.take();
    let Some((guest, peer)) = upgraded else {
        // The server has replied to a malformed request already.
        return match served {
            Err(error) if !error.is_parse() && !error.is_timeout() => Err(Fault::Guest),
            _ => Ok(()),
        };
    };
    let tunnel = async {
        let (guest, peer) = (guest.await.map_err(|_| Fault::Guest)?, peer.await.map_err(|_| Fault::Peer)?);
        // From here on the bytes are opaque. Each side ends on its own.
        let _ = copy_bidirectional(&mut TokioIo::new(guest), &mut TokioIo::new(peer)).await;
        Ok(())
    };
    let mut tunnel = pin!(tunnel);
    poll_fn(|cx| {
        if !peer_has_ended && connection.as_mut().poll(cx).is_ready() {
            peer_has_ended = true;
        }
        tunnel.as_mut().poll(cx)
    })
    .await
}

impl Filter {
    async fn serve(&self, request: Request<Incoming>) -> Result<Response<ResponseBody>, Fault> {
        let number = self.requests.replace(self.requests.get() + 1);
        let pending = Pending::new(&self.gate);
        if let Some(fault) = self.gate.fault_of(number) {
            return Ok(self.refuse_malformed(fault));
        }
        let waits = asks_upgrade(&request);
        let response = self.exchange(request, pending).await;
        if waits {
            let is_opaque = response.as_ref().is_ok_and(|response| response.status() == StatusCode::SWITCHING_PROTOCOLS);
            self.gate.go_on(is_opaque);
        }
        match self.gate.fault_of(number) {
            // The body has broken a rule before the peer has replied.
            Some(fault) if response.is_err() => {
                self.peer_has_failed.set(false);
                Ok(self.refuse_malformed(fault))
            }
            _ => response,
        }
    }

    /// Makes the response to a request that the gate has refused.
    fn refuse_malformed(&self, fault: HeadFault) -> Response<ResponseBody> {
        let refusal = Refusal::of_head(fault);
        self.context.runtime.event(|| Event::Request {
            flow: self.context.flow,
            method: String::new(),
            host: String::new(),
            path: String::new(),
            status: refusal.status.as_u16(),
            secrets: Vec::new(),
            placeholders: Vec::new(),
            denied: Some(refusal.denied.clone()),
        });
        refusal.response()
    }

    async fn exchange(&self, mut request: Request<Incoming>, pending: Pending) -> Result<Response<ResponseBody>, Fault> {
        let method: String = request.method().as_str().chars().take(32).collect();
        let host = request.headers().get(hyper::header::HOST).and_then(|host| host.to_str().ok());
        let host = describe::shortened(host.unwrap_or_default());
        let path: String = request.uri().path().chars().take(MAX_EVENT_PATH).collect();
        let event = |status: StatusCode, secrets: Vec<String>, inert: Vec<String>, denied: Option<Denied>| {
            self.context.runtime.event(|| Event::Request {
                flow: self.context.flow,
                method,
                host,
                path,
                status: status.as_u16(),
                secrets,
                placeholders: inert,
                denied,
            });
        };
        let on_guest = hyper::upgrade::on(&mut request);
        self.context.runtime.arrival.wait(|| self.context.has_pending_secrets()).await;
        let forwarded = match judge(&self.context, request) {
            Ok(forwarded) => forwarded,
            Err(refusal) => {
                event(refusal.status, Vec::new(), Vec::new(), Some(refusal.denied.clone()));
                return Ok(refusal.response());
            }
        };
        let Forwarded { request, mut mask, secrets, inert, is_upgrade } = forwarded;
        let sent = self.send(request.map(|body| RequestBody::new(body, pending))).await;
        let mut response = match sent {
            Ok(response) => response,
            Err(Some(error)) if error.is_parse() => {
                let refusal = Refusal::bad_gateway("malformed-response", None);
                event(refusal.status, secrets, inert, Some(refusal.denied.clone()));
                return Ok(refusal.response());
            }
            Err(_) => {
                // The server ends without a response, and the guest's connection is reset.
                self.peer_has_failed.set(true);
                event(StatusCode::BAD_GATEWAY, secrets, inert, None);
                return Err(Fault::Peer);
            }
        };
        let status = response.status();
        if let Some(detail) = broken_framing(&response) {
            // The bytes behind the head have no certain meaning, so the connection ends.
            self.sender.take();
            let refusal = Refusal::bad_gateway("malformed-response", Some(detail));
            event(refusal.status, secrets, inert, Some(refusal.denied.clone()));
            return Ok(refusal.response());
        }
        if status == StatusCode::SWITCHING_PROTOCOLS {
            if !is_upgrade || !is_websocket(response.headers()) {
                self.sender.take();
                let refusal = Refusal::bad_gateway("upgrade", Some("the protocol websocket, if the request asks for it"));
                event(refusal.status, secrets, inert, Some(refusal.denied.clone()));
                return Ok(refusal.response());
            }
            *self.upgraded.borrow_mut() = Some((on_guest, hyper::upgrade::on(&mut response)));
        }
        event(status, secrets, inert, None);
        let (mut head, body) = response.into_parts();
        remove_hop_by_hop(&mut head.headers);
        if status == StatusCode::SWITCHING_PROTOCOLS {
            head.headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
            head.headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        }
        head.version = hyper::Version::HTTP_11;
        let body = if mask.is_empty() {
            ResponseBody::Peer(body)
        } else {
            head.headers = mask_headers(head.headers, &mut mask);
            ResponseBody::masked(body, mask)
        };
        Ok(Response::from_parts(head, body))
    }

    /// Sends a request. The error is `None` if the peer has ended before.
    async fn send(&self, request: Request<RequestBody>) -> Result<Response<Incoming>, Option<hyper::Error>> {
        // The server calls the service for one request at a time.
        let taken = self.sender.borrow_mut().take();
        let mut sender = taken.ok_or(None)?;
        sender.ready().await?;
        let response = sender.send_request(request).await?;
        *self.sender.borrow_mut() = Some(sender);
        Ok(response)
    }
}

/// Returns the rule that the framing of a response breaks. The parser has refused different
/// lengths, and codings in HTTP/1.0, already.
fn broken_framing(response: &Response<Incoming>) -> Option<&'static str> {
    let headers = response.headers();
    let lengths = headers.get_all(CONTENT_LENGTH).iter().count();
    let codings: Vec<_> = headers.get_all(TRANSFER_ENCODING).iter().collect();
    if lengths > 1 {
        return Some("one Content-Length");
    }
    match codings.as_slice() {
        [] => None,
        _ if lengths > 0 => Some("Content-Length or Transfer-Encoding, and not both"),
        [coding] if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => None,
        _ => Some("chunked as the only Transfer-Encoding"),
    }
}
