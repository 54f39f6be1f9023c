//! A session over the connection of a flow: the edge itself moves the encrypted bytes.
//!
//! ```text
//! guest ◄─ records with plain bytes ─► flow.rs ─► engine.rs ◄─ encrypted bytes ─► socket
//! guest ◄─ records with plain bytes ─► HTTP filter ◄─ plain ─► engine.rs ◄─ encrypted ─► socket
//! ```
//! The second form is for the names with rules about HTTP or with secrets (`filtered.rs`).
//!
//! # Hand-over
//! Before the session, the guest moves bytes over the connection's own flow. Bytes of both
//! directions may be in flight at the sidecar's `TlsAttach`.
//!
//! | step | side | condition | effect |
//! |---|---|---|---|
//! | 1 | edge | `TlsAttach` | reads nothing from the socket, sends `End` on the connection's flow |
//! | 2 | guest | has attached, and its own writes are done | sends `End` on the connection's flow |
//! | 3 | edge | `End` of the guest, and all bytes before are written | the session gets the socket |
//! | 4 | guest | the connection's flow has ended | sends the record `EncryptedEnd` |
//! | 5 | edge | steps 3 and 4 | the session reads from the socket |
//!
//! Until step 4 the guest passes the bytes that arrived on the connection's flow to the session,
//! in records `Encrypted`. The session has no socket before step 3, so the first message of TLS
//! follows all plain bytes of the guest. The session reads after step 4, so the bytes of the peer
//! keep their order. Steps 2 and 4 need no order between them.
//!
//! Afterwards the connection's flow has no bytes in either direction. It keeps the admission, the
//! counts and the limits of the connection, and its end ends the session. A close of the session
//! writes the remaining bytes first. Then the session reads until the peer ends the connection, for
//! a bounded time. Linux drops unacknowledged bytes if a peer sends bytes to a closed socket, and a
//! server of TLS 1.3 sends tickets after the handshake. Next: `filtered.rs`.

use super::filtered::Filtered;
use super::flow::{Inner, OUT_WAITS, TlsFlow};
use super::output::{Output, Route};
use super::records::FromGuest;
use super::settings::Settings;
use crate::flow::{FLUSH_TIME, Flow, Stop, pace};
use crate::handled::LocalServer;
use crate::http;
use crate::limits::{DOWN, UP};
use coldframe_egress::Name;
use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// The most bytes of one turn from the socket.
const MAX_READ: usize = 64 << 10;
/// The seconds that a peer has to end the connection after the last bytes of a closed session.
const LINGER_SECONDS: u64 = 2;

/// The stream of encrypted bytes.
pub enum Socket {
    /// A connection.
    Tcp(TcpStream),
    /// The server in this process, for a name to whose requests the app responds.
    Local(Box<LocalServer>),
}

/// A stream of bytes in both directions.
trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Stream for T {}

impl Socket {
    fn stream(&mut self) -> &mut dyn Stream {
        match self {
            Self::Tcp(socket) => socket,
            Self::Local(server) => server,
        }
    }
}

/// The connection of a session.
pub struct Connection {
    /// The flow of the connection.
    pub flow: Rc<Flow>,
    socket: Option<Socket>,
    /// The guest has passed all bytes that arrived before the session.
    is_handed_over: bool,
    /// The guest does not read.
    is_paused: bool,
    /// The encrypted bytes that the socket has not accepted.
    pub(super) to_peer: VecDeque<u8>,
    /// No further bytes follow `to_peer`.
    pub(super) is_last: bool,
    fin_sent: bool,
    /// The peer sends no further bytes.
    pub(super) peer_ended: bool,
    closing: Option<Pin<Box<Sleep>>>,
    /// The end of the time of the peer, after the last bytes of a closed session.
    lingering: Option<Pin<Box<Sleep>>>,
    /// The number of bytes that were read after the last bytes of a closed session.
    discarded: usize,
    /// The end of the time of a client's handshake. `None` before and after the handshake.
    handshake: Option<Pin<Box<Sleep>>>,
    /// The session is a server.
    is_server: bool,
    paces: [Option<Pin<Box<Sleep>>>; 2],
    /// The name of the server, if the plain bytes pass the HTTP filter.
    filter_name: Option<Name>,
    /// The filter, from the end of the handshake on.
    pub(super) filter: Option<Box<Filtered>>,
}

impl Connection {
    /// Makes the connection of a session, without its socket.
    pub fn new(flow: Rc<Flow>) -> Self {
        Self {
            flow,
            socket: None,
            is_handed_over: false,
            is_paused: false,
            to_peer: VecDeque::new(),
            is_last: false,
            fin_sent: false,
            peer_ended: false,
            closing: None,
            lingering: None,
            discarded: 0,
            handshake: None,
            is_server: false,
            paces: [None, None],
            filter_name: None,
            filter: None,
        }
    }

    /// Sets the socket of the session.
    pub fn set_socket(&mut self, socket: Socket) {
        self.socket = Some(socket);
    }

    /// Closes the socket with an RST.
    pub fn reset(&mut self) {
        if let Some(Socket::Tcp(socket)) = self.socket.take() {
            // If the call fails, the socket is closed with a FIN.
            let _ = socket.set_zero_linger();
        }
    }

    /// Returns whether the plain bytes pass the HTTP filter.
    pub(super) fn is_filtered(&self) -> bool {
        self.filter_name.is_some()
    }

    /// Makes the facts for the filter.
    pub(super) fn filter_context(&self, close: http::GuestClose) -> Option<http::Context> {
        self.filter_name.clone().map(|name| self.flow.filter_context(name, close))
    }

    /// Makes the receiver of a step's results.
    pub(super) fn output(&self) -> Output {
        let plain_to = if self.filter_name.is_some() { Route::Edge } else { Route::Guest };
        Output::new(Route::Edge, plain_to)
    }

    fn write(&mut self, cx: &mut Context<'_>) -> Result<(), Stop> {
        let Some(socket) = self.socket.as_mut() else { return Ok(()) };
        let runtime = self.flow.runtime();
        while !self.to_peer.is_empty() {
            let up = |wanted, now| runtime.available(UP, wanted, now);
            let [pacing, _] = &mut self.paces;
            let Some(granted) = pace(pacing, self.to_peer.len(), cx, up) else { return Ok(()) };
            let (first, second) = self.to_peer.as_slices();
            let first = first.get(..granted.min(first.len())).unwrap_or_default();
            let second = second.get(..(granted - first.len()).min(second.len())).unwrap_or_default();
            match Pin::new(socket.stream()).poll_write_vectored(cx, &[IoSlice::new(first), IoSlice::new(second)]) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Err(error)) => return Err(Stop::Failed(error)),
                Poll::Ready(Ok(count)) => {
                    self.to_peer.drain(..count);
                    self.flow.count_sent(count)?;
                }
            }
        }
        if self.to_peer.capacity() > MAX_READ {
            self.to_peer = VecDeque::new();
        }
        if self.is_last && !self.fin_sent {
            match Pin::new(socket.stream()).poll_shutdown(cx) {
                Poll::Pending => {}
                Poll::Ready(Err(error)) => return Err(Stop::Failed(error)),
                Poll::Ready(Ok(())) => self.fin_sent = true,
            }
        }
        Ok(())
    }

    /// Sends the end of a closed session's bytes, and waits for the end of the peer.
    fn linger(&mut self, cx: &mut Context<'_>) -> Result<(), Stop> {
        self.is_last = true;
        self.write(cx)?;
        let timer = self.lingering.get_or_insert_with(|| Box::pin(sleep(Duration::from_secs(LINGER_SECONDS))));
        let is_over = timer.as_mut().poll(cx).is_ready();
        let has_ended = self.socket.is_none() || (self.peer_ended && self.fin_sent);
        if has_ended || is_over || self.discarded > MAX_READ { Err(Stop::Closed) } else { Ok(()) }
    }

    /// Returns how many of `most` bytes the rate of the runtime allows to read now.
    fn granted(&mut self, most: usize, cx: &mut Context<'_>) -> Option<usize> {
        let runtime = self.flow.runtime();
        let [_, pacing] = &mut self.paces;
        pace(pacing, most, cx, |wanted, now| runtime.available(DOWN, wanted, now))
    }

    /// Reads bytes into an empty buffer. Returns `None` if no bytes wait.
    fn read<'a>(&mut self, space: &'a mut ReadBuf<'_>, cx: &mut Context<'_>) -> Result<Option<&'a [u8]>, Stop> {
        let Some(socket) = self.socket.as_mut() else { return Ok(None) };
        match Pin::new(socket.stream()).poll_read(cx, space) {
            Poll::Pending => return Ok(None),
            Poll::Ready(Err(error)) => return Err(Stop::Failed(error)),
            Poll::Ready(Ok(())) => {}
        }
        self.flow.count_received(space.filled().len())?;
        Ok(Some(space.filled()))
    }
}

impl Inner {
    /// Returns whether bytes must leave before the session handles more bytes.
    fn is_full(&self) -> bool {
        let is_full = |connection: &Connection| connection.to_peer.len() >= OUT_WAITS || connection.is_filter_full();
        self.out.len() >= OUT_WAITS || self.connection.as_ref().is_some_and(is_full)
    }
}

impl TlsFlow {
    /// Runs a turn of a session over a connection.
    pub(super) fn poll_attached(&self, inner: &mut Inner, cx: &mut Context<'_>) -> Poll<()> {
        let Err(stop) = self.turn(inner, cx) else { return Poll::Pending };
        let Some(mut connection) = inner.connection.take() else { return Poll::Ready(()) };
        let is_secure = inner.engine.is_secure();
        let failure = connection.flow.end_session(stop, is_secure, &mut || match connection.socket.take() {
            Some(Socket::Tcp(socket)) => Some(socket),
            Some(Socket::Local(_)) | None => None,
        });
        self.finish(inner, failure);
        Poll::Ready(())
    }

    fn turn(&self, inner: &mut Inner, cx: &mut Context<'_>) -> Result<(), Stop> {
        let was_full = inner.is_full();
        let mut moved = !was_full && self.step(inner)?;
        moved |= self.receive(inner, cx)?;
        Self::poll_handshake(inner, cx)?;
        self.poll_filter(inner, cx)?;
        // The engine may reply to bytes of the peer, so the write is after the read.
        if let Some(connection) = inner.connection.as_mut() {
            connection.write(cx)?;
        }
        if inner.sidecar_closed {
            inner.out = VecDeque::new();
            self.poll_closing(inner, cx)?;
        } else {
            // The link wakes the session when it has space.
            let _ = self.send(inner, cx);
        }
        if moved || (was_full && !inner.is_full()) {
            // The other sessions have their turns first.
            cx.waker().wake_by_ref();
        }
        Ok(())
    }

    /// Ends a client's session whose peer does not complete the handshake in time. A program bounds
    /// the handshakes of its servers itself (`handshakeTimeout`).
    fn poll_handshake(inner: &mut Inner, cx: &mut Context<'_>) -> Result<(), Stop> {
        let Some(connection) = inner.connection.as_mut() else { return Ok(()) };
        let is_running = connection.socket.is_some() && inner.engine.receives() && !inner.engine.is_secure();
        if !is_running || connection.is_server || inner.sidecar_closed {
            connection.handshake = None;
            return Ok(());
        }
        let longest = connection.flow.runtime().shared.times.handshake;
        let timer = connection.handshake.get_or_insert_with(|| Box::pin(sleep(longest)));
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => Err(Stop::Failed(io::Error::from_raw_os_error(libc::ETIMEDOUT))),
            Poll::Pending => Ok(()),
        }
    }

    /// Handles a record of the guest that concerns the connection. Returns the record if the engine
    /// handles it.
    pub(super) fn take_record<'a>(
        inner: &mut Inner,
        kind: FromGuest,
        payload: &'a [u8],
        out: &mut Output,
    ) -> Result<Option<(FromGuest, &'a [u8])>, Stop> {
        let Some(connection) = inner.connection.as_mut() else { return Ok(Some((kind, payload))) };
        match kind {
            FromGuest::Start if inner.engine.is_new() => {
                let settings: Settings = serde_json::from_slice(payload).map_err(|_| Stop::Protocol)?;
                let is_server = settings.is_server;
                let name = connection.flow.judge_session(settings.server_name(), is_server).map_err(Stop::Denied)?;
                let roots = connection.flow.handled_roots();
                match &name {
                    Some(name) => inner.engine.start_filtered(settings, name.as_str(), roots.as_ref(), out),
                    None => inner.engine.start(settings, out),
                }
                connection.filter_name = name;
                connection.is_server = is_server;
                out.handled();
            }
            FromGuest::Encrypted if connection.is_handed_over => return Err(Stop::Protocol),
            FromGuest::EncryptedEnd => connection.is_handed_over = true,
            FromGuest::Pause => connection.is_paused = true,
            FromGuest::Resume => connection.is_paused = false,
            FromGuest::Plain if connection.filter_name.is_some() => {
                if !inner.engine.is_secure() {
                    return Err(Stop::Protocol);
                }
                connection.filter_mut().to_filter.extend(payload);
                out.written(payload.len());
            }
            FromGuest::PlainEnd if connection.filter_name.is_some() => {
                connection.filter_mut().guest_ended = true;
                out.written(0);
            }
            FromGuest::PlainEnd => {
                connection.is_last = true;
                return Ok(Some((kind, payload)));
            }
            _ => return Ok(Some((kind, payload))),
        }
        Ok(None)
    }

    /// Keeps the results of a step.
    pub(super) fn keep(inner: &mut Inner, out: Output) {
        inner.out.extend(out.records);
        if let Some(connection) = inner.connection.as_mut() {
            connection.to_peer.extend(out.to_peer);
            if !out.to_filter.is_empty() {
                connection.filter_mut().from_peer.extend(out.to_filter);
            }
        }
    }

    /// Reads from the socket. Returns whether more bytes may wait.
    fn receive(&self, inner: &mut Inner, cx: &mut Context<'_>) -> Result<bool, Stop> {
        let mut piece = [MaybeUninit::uninit(); MAX_READ];
        let mut total = 0;
        while total < MAX_READ {
            if inner.is_full() && !inner.sidecar_closed {
                return Ok(false);
            }
            let Some(connection) = inner.connection.as_mut() else { return Ok(false) };
            let discards = inner.sidecar_closed && connection.filter.is_none();
            let waits = !connection.is_handed_over || connection.is_paused || !inner.engine.receives();
            if connection.peer_ended || (waits && !discards) {
                return Ok(false);
            }
            let Some(granted) = connection.granted(MAX_READ - total, cx) else { return Ok(false) };
            let mut space = ReadBuf::uninit(piece.get_mut(..granted).unwrap_or_default());
            let Some(bytes) = connection.read(&mut space, cx)? else { return Ok(false) };
            total += bytes.len();
            connection.peer_ended = bytes.is_empty();
            if discards {
                // A close with unread bytes would be a reset, and lose bytes for the peer.
                if connection.lingering.is_some() {
                    connection.discarded += bytes.len();
                }
                continue;
            }
            let mut out = connection.output();
            if !bytes.is_empty() {
                inner.engine.encrypted(bytes, &mut out);
                connection.peer_ended |= inner.engine.peer_ended();
            } else if connection.filter.is_none() {
                out.event(&serde_json::json!({ "type": "ended" }));
            }
            Self::keep(inner, out);
        }
        Ok(true)
    }

    /// Ends a session that the guest has closed, after its last bytes.
    fn poll_closing(&self, inner: &mut Inner, cx: &mut Context<'_>) -> Result<(), Stop> {
        let Some(connection) = inner.connection.as_mut() else { return Ok(()) };
        let has_filter = connection.filter.as_ref().is_some_and(|filter| filter.is_running());
        if connection.flow.is_handled() {
            // The guest receives no response, so the app may abort its work.
            return Err(Stop::Closed);
        }
        let is_idle = inner.input.is_empty() || inner.engine.has_failed();
        if is_idle && connection.to_peer.is_empty() && !has_filter {
            return connection.linger(cx);
        }
        let timer = connection.closing.get_or_insert_with(|| Box::pin(sleep(FLUSH_TIME)));
        if timer.as_mut().poll(cx).is_ready() { Err(Stop::Idle) } else { Ok(()) }
    }
}

/// Makes the error of a connection that the filter has ended.
pub(super) fn reset_error() -> io::Error {
    io::Error::from_raw_os_error(libc::ECONNRESET)
}
