//! The stream of the guest in front of the server, which refuses malformed requests.
//!
//! ```text
//! guest ── Gate: head.rs and chunks.rs of crate `egress` ── server of hyper
//! ```
//! The gate follows the requests in the guest's bytes, and passes on only bytes that the strict
//! checks accept. In place of a malformed head, the server receives a request of the gate, whose
//! number the filter refuses. The refusal so has its place behind the responses of
//! earlier requests. After a request with `Upgrade`, the gate waits for the response, because the
//! bytes behind it are either opaque or the next request. Next: `judge.rs`.

use coldframe_egress::{Chunks, Framing, HeadEnd, HeadFault, check_head};
use futures_util::task::AtomicWaker;
use hyper::Uri;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The time between the first and the last byte of a head.
const HEAD_TIME: Duration = Duration::from_secs(60);
/// The bytes that one read takes from the guest.
const READ_BYTES: usize = 16 << 10;
/// The request that the server receives in place of a malformed head.
const SUBSTITUTE: &[u8] = b"GET / HTTP/1.1\r\nhost: malformed.invalid\r\nconnection: close\r\n\r\n";

const UNKNOWN: u8 = 0;
const REQUESTS: u8 = 1;
const OPAQUE: u8 = 2;

/// The part of the gate that the filter shares.
#[derive(Default)]
pub struct GateState {
    /// The number of the malformed request, and the broken rule. The first request has the
    /// number 0.
    fault: OnceLock<(u64, HeadFault)>,
    /// The meaning of the bytes behind a request with `Upgrade`.
    behind: AtomicU8,
    waker: AtomicWaker,
    /// The number of the guest's bytes that the server has received.
    received: AtomicU64,
    /// The number of heads that the server has received.
    heads: AtomicU64,
    /// The number of requests that are forwarded whole, or refused.
    forwarded: AtomicU64,
}

/// A request that is not forwarded whole. The drop counts the request as forwarded.
pub struct Pending(Arc<GateState>);

impl Pending {
    /// Begins a request.
    pub fn new(gate: &Arc<GateState>) -> Self {
        Self(gate.clone())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.forwarded.fetch_add(1, Ordering::AcqRel);
    }
}

impl GateState {
    /// Returns the rule that a request breaks.
    pub fn fault_of(&self, request: u64) -> Option<HeadFault> {
        self.fault.get().filter(|(number, _)| *number == request).map(|(_, fault)| *fault)
    }

    /// Returns whether the requests in the first `bytes` bytes of the guest are forwarded whole.
    pub fn has_forwarded(&self, bytes: u64) -> bool {
        let all = self.received.load(Ordering::Acquire) == bytes;
        all && self.forwarded.load(Ordering::Acquire) >= self.heads.load(Ordering::Acquire)
    }

    /// Passes the gate the meaning of the bytes behind the present request.
    pub fn go_on(&self, is_opaque: bool) {
        self.behind.store(if is_opaque { OPAQUE } else { REQUESTS }, Ordering::Release);
        self.waker.wake();
    }
}

enum State {
    /// Bytes of a head.
    Head,
    /// Bytes of a body with a length.
    Length(u64),
    /// Bytes of a body with chunks.
    Chunked(Box<Chunks>),
    /// The end of a request with `Upgrade`.
    Waiting,
    /// Bytes of another protocol.
    Opaque,
    /// No further byte.
    Ended,
}

/// The stream.
pub struct Gate<G> {
    guest: G,
    shared: Arc<GateState>,
    state: State,
    /// Bytes of the guest that no state has read: `start..end` of the buffer.
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// The number of bytes that were read from the guest.
    taken: u64,
    /// The present head, of which `sent` bytes have been passed on. A head is passed on when it is
    /// whole.
    head: Vec<u8>,
    sent: usize,
    is_checked: bool,
    search: HeadEnd,
    deadline: Option<Pin<Box<Sleep>>>,
    asks_upgrade: bool,
    /// The number of heads that have been passed on.
    passed: u64,
}

impl<G: AsyncRead + Unpin> Gate<G> {
    /// Makes the gate of a guest's stream.
    pub fn new(guest: G, shared: Arc<GateState>) -> Self {
        Self {
            guest,
            shared,
            state: State::Head,
            buffer: vec![0; READ_BYTES].into(),
            start: 0,
            end: 0,
            taken: 0,
            head: Vec::new(),
            sent: 0,
            is_checked: false,
            search: HeadEnd::default(),
            deadline: None,
            asks_upgrade: false,
            passed: 0,
        }
    }

    /// Reads bytes if the buffer is empty. Returns false at the end of the guest's bytes.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if self.start == self.end {
            let mut space = ReadBuf::new(&mut self.buffer);
            ready!(Pin::new(&mut self.guest).poll_read(cx, &mut space))?;
            (self.start, self.end) = (0, space.filled().len());
            self.taken += self.end as u64;
        }
        Poll::Ready(Ok(self.start < self.end))
    }

    /// Returns at most `most` bytes of the buffer.
    fn unread(&self, most: usize) -> &[u8] {
        self.buffer.get(self.start..self.end.min(self.start.saturating_add(most))).unwrap_or_default()
    }

    /// Reads a head whole, and checks it.
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let is_late = self.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(cx).is_ready());
        let found = if is_late {
            Err(HeadFault::TooSlow)
        } else if !ready!(self.poll_fill(cx))? {
            if self.head.is_empty() {
                self.state = State::Ended;
                return Poll::Ready(Ok(()));
            }
            Err(HeadFault::Truncated)
        } else {
            let unread = self.buffer.get(self.start..self.end).unwrap_or_default();
            self.head.extend_from_slice(unread);
            self.start = self.end;
            self.search.find(&self.head)
        };
        let checked = match found {
            Ok(None) => {
                self.deadline.get_or_insert_with(|| Box::pin(sleep(HEAD_TIME)));
                return Poll::Ready(Ok(()));
            }
            Ok(Some(length)) => {
                // The bytes behind the head are the last bytes of the buffer.
                self.start -= self.head.len() - length;
                self.head.truncate(length);
                check(&self.head)
            }
            Err(fault) => Err(fault),
        };
        self.deadline = None;
        self.search = HeadEnd::default();
        self.is_checked = true;
        match checked {
            Ok((framing, asks_upgrade)) => {
                self.passed += 1;
                self.shared.heads.store(self.passed, Ordering::Release);
                self.asks_upgrade = asks_upgrade;
                self.state = match framing {
                    Framing::Length(length) => State::Length(length),
                    Framing::Chunked => State::Chunked(Box::default()),
                };
            }
            Err(fault) => {
                // The state is set once, because no byte follows.
                let _ = self.shared.fault.set((self.passed, fault));
                self.state = State::Ended;
                self.head.clear();
                self.head.extend_from_slice(SUBSTITUTE);
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Publishes the number of bytes that the server has received.
    fn publish(&self) {
        let kept = (self.end - self.start) + self.head.len().saturating_sub(self.sent);
        self.shared.received.store(self.taken.saturating_sub(kept as u64), Ordering::Release);
    }

    fn end_request(&mut self) {
        self.state = if self.asks_upgrade { State::Waiting } else { State::Head };
    }

    /// Passes on bytes of a body with chunks.
    fn pass_chunks(&mut self, space: &mut ReadBuf<'_>) -> io::Result<()> {
        let unread = self.buffer.get(self.start..self.end.min(self.start.saturating_add(space.remaining())));
        let State::Chunked(chunks) = &mut self.state else { return Ok(()) };
        let unread = unread.unwrap_or_default();
        match chunks.read(unread) {
            Ok(count) => {
                space.put_slice(unread.get(..count).unwrap_or_default());
                self.start += count;
                if chunks.has_ended() {
                    self.end_request();
                }
                Ok(())
            }
            Err(fault) => {
                let _ = self.shared.fault.set((self.passed.saturating_sub(1), fault));
                self.state = State::Ended;
                Err(io::ErrorKind::InvalidData.into())
            }
        }
    }
}

/// Checks a head, and also the target as hyper reads it, so that hyper refuses no head.
fn check(head: &[u8]) -> Result<(Framing, bool), HeadFault> {
    let head = check_head(head)?;
    Uri::try_from(head.target).map_err(|_| HeadFault::Target)?;
    Ok((head.framing, head.asks_upgrade))
}

impl<G: AsyncRead + Unpin> AsyncRead for Gate<G> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, space: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = this.poll_bytes(cx, space);
        this.publish();
        result
    }
}

impl<G: AsyncRead + Unpin> Gate<G> {
    /// Passes on bytes that are checked.
    fn poll_bytes(&mut self, cx: &mut Context<'_>, space: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self;
        loop {
            if this.is_checked {
                let rest = this.head.get(this.sent..).unwrap_or_default();
                let here = rest.len().min(space.remaining());
                space.put_slice(rest.get(..here).unwrap_or_default());
                this.sent += here;
                if this.sent == this.head.len() {
                    (this.is_checked, this.sent) = (false, 0);
                    this.head.clear();
                    this.head.shrink_to(READ_BYTES);
                }
                return Poll::Ready(Ok(()));
            }
            match &mut this.state {
                State::Head => ready!(this.poll_head(cx))?,
                State::Ended => return Poll::Ready(Ok(())),
                State::Length(0) => this.end_request(),
                State::Length(left) => {
                    let most = usize::try_from(*left).unwrap_or(usize::MAX).min(space.remaining());
                    // The end of the guest within a body is the end of the stream. The server
                    // notices the missing bytes.
                    if !ready!(this.poll_fill(cx))? {
                        this.state = State::Ended;
                        continue;
                    }
                    let bytes = this.unread(most);
                    let count = bytes.len();
                    space.put_slice(bytes);
                    this.start += count;
                    if let State::Length(left) = &mut this.state {
                        *left -= count as u64;
                    }
                    return Poll::Ready(Ok(()));
                }
                State::Chunked(_) => {
                    if !ready!(this.poll_fill(cx))? {
                        this.state = State::Ended;
                        continue;
                    }
                    return Poll::Ready(this.pass_chunks(space));
                }
                State::Waiting => {
                    this.shared.waker.register(cx.waker());
                    match this.shared.behind.swap(UNKNOWN, Ordering::AcqRel) {
                        UNKNOWN => return Poll::Pending,
                        OPAQUE => this.state = State::Opaque,
                        _ => this.state = State::Head,
                    }
                }
                State::Opaque if this.start == this.end => return Pin::new(&mut this.guest).poll_read(cx, space),
                State::Opaque => {
                    let bytes = this.unread(space.remaining());
                    let count = bytes.len();
                    space.put_slice(bytes);
                    this.start += count;
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl<G: AsyncWrite + Unpin> AsyncWrite for Gate<G> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().guest).poll_write(cx, bytes)
    }

    fn poll_write_vectored(self: Pin<&mut Self>, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().guest).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.guest.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().guest).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().guest).poll_shutdown(cx)
    }
}
