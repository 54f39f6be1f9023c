//! The HTTP filter between the plain bytes of the guest and an attached session. Next:
//! `../http/mod.rs`.

use super::attached::{Connection, reset_error};
use super::flow::{Inner, OUT_WAITS, TlsFlow};
use super::records::ToGuest;
use crate::flow::Stop;
use crate::http::{self, FILTER_PIPE, GuestClose};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

/// The size of one read from the filter.
const PIECE: usize = 16 << 10;

type Run = Pin<Box<dyn Future<Output = Result<(), http::Fault>>>>;

/// The filter of a session.
#[derive(Default)]
pub struct Filtered {
    /// The filter and its two pipes. `None` before the end of the handshake.
    running: Option<Running>,
    /// The plain bytes of the guest.
    pub(super) to_filter: VecDeque<u8>,
    /// The plain bytes of the peer.
    pub(super) from_peer: VecDeque<u8>,
    /// No further bytes of the guest follow.
    pub(super) guest_ended: bool,
    ends: Ends,
    close: GuestClose,
    /// The number of the guest's bytes that the filter's pipe has accepted.
    written: u64,
}

/// The directions that have ended.
#[derive(Default)]
struct Ends {
    guest_shut: bool,
    guest_read: bool,
    peer_shut: bool,
    peer_read: bool,
}

struct Running {
    /// `None` after the end of the filter.
    run: Option<Run>,
    near: DuplexStream,
    far: DuplexStream,
}

impl Filtered {
    /// Returns whether the filter may still forward bytes.
    pub(super) fn is_running(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.run.is_some())
    }
}

impl Connection {
    /// Returns the filter of a connection that has one.
    pub(super) fn filter_mut(&mut self) -> &mut Filtered {
        self.filter.get_or_insert_default()
    }

    /// Returns whether the filter must accept bytes before it gets more.
    pub(super) fn is_filter_full(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.to_filter.len().max(filter.from_peer.len()) >= OUT_WAITS)
    }
}

impl TlsFlow {
    /// Moves bytes between the guest, the filter and the session.
    pub(super) fn poll_filter(&self, inner: &mut Inner, cx: &mut Context<'_>) -> Result<(), Stop> {
        let Some(connection) = inner.connection.as_mut() else { return Ok(()) };
        if !connection.is_filtered() || !inner.engine.is_secure() {
            return Ok(());
        }
        let mut out = connection.output();
        let (peer_ended, full_to_peer) = (connection.peer_ended, connection.to_peer.len() >= OUT_WAITS);
        // The guest reads no further bytes, and all its records are handled.
        let is_closed = inner.sidecar_closed && inner.input.is_empty();
        let close = connection.filter_mut().close.clone();
        let context = connection.filter_context(close);
        let filter = connection.filter_mut();
        filter.guest_ended |= is_closed;
        if filter.running.is_none()
            && let Some(context) = context
        {
            let (near, guest) = tokio::io::duplex(FILTER_PIPE);
            let (far, peer) = tokio::io::duplex(FILTER_PIPE);
            filter.running = Some(Running { run: Some(Box::pin(http::run(context, guest, peer))), near, far });
        }
        let Some(running) = &mut filter.running else { return Ok(()) };
        let waiting = filter.to_filter.len();
        write(&mut running.near, &mut filter.to_filter, filter.guest_ended, &mut filter.ends.guest_shut, cx);
        filter.written += (waiting - filter.to_filter.len()) as u64;
        if is_closed && filter.to_filter.is_empty() {
            filter.close.set(filter.written);
        }
        write(&mut running.far, &mut filter.from_peer, peer_ended, &mut filter.ends.peer_shut, cx);
        if let Some(run) = &mut running.run
            && let Poll::Ready(result) = run.as_mut().poll(cx)
        {
            running.run = None;
            result.map_err(|_| Stop::Failed(reset_error()))?;
        }
        let mut piece = [0; PIECE];
        while !filter.ends.guest_read && inner.out.len() + out.records.len() < OUT_WAITS {
            match read(&mut running.near, &mut piece, cx) {
                None => break,
                Some([]) => {
                    filter.ends.guest_read = true;
                    out.record(ToGuest::PlainEnd, &[]);
                }
                Some(bytes) => out.record(ToGuest::Plain, bytes),
            }
        }
        while !filter.ends.peer_read && !full_to_peer && out.to_peer.len() < OUT_WAITS {
            match read(&mut running.far, &mut piece, cx) {
                None => break,
                Some([]) => {
                    filter.ends.peer_read = true;
                    inner.engine.plain_end(&mut out);
                }
                Some(bytes) => inner.engine.plain(bytes, &mut out),
            }
        }
        let has_ended = filter.ends.peer_read;
        connection.is_last |= has_ended;
        Self::keep(inner, out);
        Ok(())
    }
}

/// Writes bytes to a pipe, and ends the pipe after the last byte. A pipe that the filter has
/// dropped discards the bytes.
fn write(pipe: &mut DuplexStream, bytes: &mut VecDeque<u8>, is_last: bool, is_shut: &mut bool, cx: &mut Context<'_>) {
    while !bytes.is_empty() {
        match Pin::new(&mut *pipe).poll_write(cx, bytes.as_slices().0) {
            Poll::Pending => return,
            Poll::Ready(Ok(count @ 1..)) => drop(bytes.drain(..count)),
            Poll::Ready(_) => bytes.clear(),
        }
    }
    if is_last && !*is_shut {
        *is_shut = Pin::new(pipe).poll_shutdown(cx).is_ready();
    }
}

/// Reads from a pipe. Returns `None` if no bytes wait.
fn read<'a>(pipe: &mut DuplexStream, piece: &'a mut [u8], cx: &mut Context<'_>) -> Option<&'a [u8]> {
    let mut space = ReadBuf::new(piece);
    match Pin::new(pipe).poll_read(cx, &mut space) {
        Poll::Pending => None,
        Poll::Ready(_) => {
            let count = space.filled().len();
            piece.get(..count)
        }
    }
}
