//! The bytes of a flow, both ways, while its connection is established.
//!
//! A flow moves at most one frame of data from the peer in a turn. The end of a direction waits for
//! the bytes before it, and for nothing else: neither for credit nor for the rate. Therefore a flow
//! without credit peeks for the peer's FIN.

use super::{Ending, Flow, Inner};
use crate::describe;
use crate::limits::{DOWN, UP};
use coldframe_edge_link::{CloseReason, Denied, Failure, MAX_DATA_BYTES, ToSidecar};
use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The time that a peer has for the last bytes after the sidecar has closed the flow. Linux waits
/// as long for the FIN of a peer.
pub const FLUSH_TIME: Duration = Duration::from_secs(60);

/// The end of a flow.
pub enum Stop {
    /// Both directions have ended.
    Ended,
    /// The sidecar has closed the flow, and all bytes are sent.
    Closed,
    /// The socket has failed.
    Failed(io::Error),
    /// The peer has not received the last bytes in time.
    Idle,
    /// The limit of bytes is reached.
    Exhausted,
    /// The policy refuses the connection.
    Denied(Denied),
    /// The guest has sent a record that breaks the rules of a session.
    Protocol,
}

impl Flow {
    /// Moves bytes until the flow has ended.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.inner.borrow_mut();
        if inner.is_done {
            return Poll::Ready(());
        }
        if !inner.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            inner.waker = Some(cx.waker().clone());
        }
        let Err(stop) = self.pump(&mut inner, cx) else { return Poll::Pending };
        let (failure, reason, ending) = self.describe(stop);
        self.finish(&mut inner, failure, reason, ending);
        Poll::Ready(())
    }

    /// Describes the end of the flow, and reports a refusal.
    pub(super) fn describe(&self, stop: Stop) -> (Option<Failure>, CloseReason, Ending) {
        let reason = stop.reason();
        let ending = if matches!(stop, Stop::Ended | Stop::Closed) { Ending::Fin } else { Ending::Reset };
        let failure = match stop {
            Stop::Ended | Stop::Closed | Stop::Idle => None,
            Stop::Failed(error) => Some(describe::io_error(&error)),
            Stop::Exhausted => Some(self.runtime.limit("bytes")),
            Stop::Denied(denied) => Some(self.refusal(denied)),
            Stop::Protocol => Some(describe::errno(libc::EPROTO)),
        };
        (failure, reason, ending)
    }

    fn pump(&self, inner: &mut Inner, cx: &mut Context<'_>) -> Result<(), Stop> {
        if self.runtime.is_exhausted() {
            return Err(Stop::Exhausted);
        }
        if let Some(error) = inner.fault.take() {
            return Err(Stop::Failed(error));
        }
        self.write(inner, cx)?;
        if inner.closing.is_none() {
            self.read(inner, cx)?;
        } else if inner.to_peer.is_empty() {
            return Err(Stop::Closed);
        }
        if inner.closing.as_mut().is_some_and(|deadline| deadline.as_mut().poll(cx).is_ready()) {
            return Err(Stop::Idle);
        }
        if inner.fin_sent && inner.peer_ended { Err(Stop::Ended) } else { Ok(()) }
    }

    /// Writes bytes that have just arrived, if no other bytes wait. Returns the number of bytes.
    pub(super) fn write_now(&self, inner: &mut Inner, bytes: &[u8]) -> usize {
        let may_write = inner.to_peer.is_empty() && inner.first.is_none();
        let Some(stream) = inner.stream.as_ref().filter(|_| may_write) else { return 0 };
        let now = Instant::now();
        let granted = self.runtime.available(UP, bytes.len() as u64, now).unwrap_or_default();
        let granted = bytes.get(..usize::try_from(granted).unwrap_or(usize::MAX)).unwrap_or(bytes);
        let written = if granted.is_empty() { Ok(0) } else { stream.try_write(granted) };
        let written = written.unwrap_or_else(|error| {
            // The system reports the error of a socket once, so the future must receive it.
            inner.fault = Some(error).filter(|error| error.kind() != io::ErrorKind::WouldBlock);
            0
        });
        self.sent(inner, written);
        written
    }

    /// Counts bytes that the socket has accepted, and sends credit.
    fn sent(&self, inner: &mut Inner, count: usize) {
        let count = count as u64;
        inner.sent += count;
        self.runtime.state.borrow_mut().rates[UP].take(count);
        self.runtime.count(count);
        if let Some(bytes) = inner.incoming.consume(count) {
            self.runtime.shared.out.send(self.id, &ToSidecar::Credit { bytes });
        }
    }

    fn write(&self, inner: &mut Inner, cx: &mut Context<'_>) -> Result<(), Stop> {
        if !self.judge_first(inner)? {
            return Ok(());
        }
        while !inner.to_peer.is_empty() {
            let wanted = inner.to_peer.len();
            let available = |wanted, now| self.runtime.available(UP, wanted, now);
            let Some(granted) = pace(&mut inner.paces[UP], wanted, cx, available) else { return Ok(()) };
            let (first, second) = inner.to_peer.as_slices();
            let first = first.get(..granted.min(first.len())).unwrap_or_default();
            let second = second.get(..(granted - first.len()).min(second.len())).unwrap_or_default();
            let Some(stream) = inner.stream.as_mut() else { return Ok(()) };
            let written = Pin::new(stream).poll_write_vectored(cx, &[IoSlice::new(first), IoSlice::new(second)]);
            match written {
                Poll::Pending => return Ok(()),
                Poll::Ready(Err(error)) => return Err(Stop::Failed(error)),
                Poll::Ready(Ok(count)) => {
                    inner.to_peer.drain(..count);
                    self.sent(inner, count);
                    if self.runtime.is_exhausted() {
                        return Err(Stop::Exhausted);
                    }
                }
            }
        }
        if inner.to_peer.capacity() > MAX_DATA_BYTES {
            inner.to_peer = VecDeque::new();
        }
        if inner.guest_ended && inner.session.is_some() {
            return self.hand_over(inner);
        }
        if inner.guest_ended && !inner.fin_sent {
            let Some(stream) = inner.stream.as_mut() else { return Ok(()) };
            match Pin::new(stream).poll_shutdown(cx) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Err(error)) => return Err(Stop::Failed(error)),
                Poll::Ready(Ok(())) => inner.fin_sent = true,
            }
        }
        Ok(())
    }

    fn read(&self, inner: &mut Inner, cx: &mut Context<'_>) -> Result<(), Stop> {
        while !inner.peer_ended {
            if inner.first.is_some() && !inner.binding.is_empty() {
                // The filter, or a session, reads the bytes of the peer.
                return self.peek(inner, cx);
            }
            let left = usize::try_from(inner.outgoing.left()).unwrap_or(usize::MAX).min(MAX_DATA_BYTES);
            let granted = if left == 0 {
                None
            } else {
                pace(&mut inner.paces[DOWN], left, cx, |wanted, now| self.runtime.available(DOWN, wanted, now))
            };
            let Some(granted) = granted else { return self.peek(inner, cx) };
            let Some(stream) = inner.stream.as_mut() else { return Ok(()) };
            let read = |cx: &mut Context<'_>, space: &mut ReadBuf<'_>| Pin::new(stream).poll_read(cx, space);
            match self.runtime.shared.out.read(self.id, granted, cx, read) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Err(error)) => return Err(Stop::Failed(error)),
                Poll::Ready(Ok(0)) => self.peer_ended(inner),
                Poll::Ready(Ok(count)) => {
                    inner.outgoing.send(count as u64);
                    inner.received += count as u64;
                    inner.peer_waits = false;
                    self.runtime.state.borrow_mut().rates[DOWN].take(count as u64);
                    if self.runtime.count(count as u64) {
                        return Err(Stop::Exhausted);
                    }
                    if count == granted {
                        // The peer has more bytes. The other runtimes have their turns first.
                        cx.waker().wake_by_ref();
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Notices the peer's FIN, or its RST, while no byte may be read.
    fn peek(&self, inner: &mut Inner, cx: &mut Context<'_>) -> Result<(), Stop> {
        if inner.peer_waits {
            return Ok(());
        }
        let mut byte = [0; 1];
        let Some(stream) = inner.stream.as_ref() else { return Ok(()) };
        match stream.poll_peek(cx, &mut ReadBuf::new(&mut byte)) {
            Poll::Pending => {}
            Poll::Ready(Ok(0)) => self.peer_ended(inner),
            Poll::Ready(Ok(_)) => inner.peer_waits = true,
            Poll::Ready(Err(error)) => return Err(Stop::Failed(error)),
        }
        Ok(())
    }

    fn peer_ended(&self, inner: &mut Inner) {
        inner.peer_ended = true;
        self.runtime.shared.out.send(self.id, &ToSidecar::End {});
    }
}

/// Returns how many of `wanted` bytes may be moved now. Returns `None`, and wakes the caller later,
/// if none may.
pub fn pace(
    sleeping: &mut Option<Pin<Box<Sleep>>>,
    wanted: usize,
    cx: &mut Context<'_>,
    available: impl Fn(u64, Instant) -> Result<u64, Duration>,
) -> Option<usize> {
    loop {
        if let Some(timer) = sleeping {
            if timer.as_mut().poll(cx).is_pending() {
                return None;
            }
            *sleeping = None;
        }
        match available(wanted as u64, Instant::now()) {
            Ok(granted) => return usize::try_from(granted).ok(),
            Err(wait) => *sleeping = Some(Box::pin(sleep(wait))),
        }
    }
}
