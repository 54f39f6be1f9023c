//! The guest's close of its socket, and the bytes that the peer has not accepted before the close.
//!
//! A program that closes its socket reads no further response. The peer must notice that, for
//! example to stop the work for a stream of events, but only after it has received all requests.
//! The end of one direction (`shutdown`) is another fact: the program still reads.
//! Next: `filter.rs`.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The close of the guest's socket. The owner of the filter polls the filter after the close.
#[derive(Debug, Clone, Default)]
pub struct GuestClose(Rc<Cell<Option<u64>>>);

impl GuestClose {
    /// Notes the close after `bytes` bytes in all.
    pub fn set(&self, bytes: u64) {
        self.0.set(Some(bytes));
    }

    /// Returns the number of the guest's bytes in all. Returns `None` before the close.
    pub(super) fn bytes(&self) -> Option<u64> {
        self.0.get()
    }
}

/// The stream to the peer, with a flag that is set while bytes are not written.
pub(super) struct Unwritten<P> {
    peer: P,
    flag: Arc<AtomicBool>,
}

impl<P> Unwritten<P> {
    pub(super) fn new(peer: P, flag: Arc<AtomicBool>) -> Self {
        Self { peer, flag }
    }
}

impl<P: AsyncRead + Unpin> AsyncRead for Unwritten<P> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, space: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().peer).poll_read(cx, space)
    }
}

impl<P: AsyncWrite + Unpin> AsyncWrite for Unwritten<P> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.flag.store(true, Ordering::Release);
        Pin::new(&mut self.get_mut().peer).poll_write(cx, bytes)
    }

    fn poll_write_vectored(self: Pin<&mut Self>, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.flag.store(true, Ordering::Release);
        Pin::new(&mut self.get_mut().peer).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.peer.is_write_vectored()
    }

    // The client flushes after its last byte.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.peer).poll_flush(cx);
        if flushed.is_ready() {
            this.flag.store(false, Ordering::Release);
        }
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().peer).poll_shutdown(cx)
    }
}
