//! The stream to the peer: the socket itself, or the near end of the HTTP filter's pipe.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;

/// The stream to the peer.
pub enum Peer {
    /// The socket.
    Socket(TcpStream),
    /// The pipe to the filter, which has the socket.
    Filter(DuplexStream),
    /// No socket, because the app responds to the requests. The first byte starts the filter. True
    /// after the end of the guest's bytes.
    Handled(bool),
}

impl Peer {
    /// Writes bytes now.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Socket(socket) => socket.try_write(bytes),
            // The pipe needs the context of the flow's task.
            Self::Filter(_) | Self::Handled(_) => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Notices bytes, or the end, without reading them. A pipe has no such notice: its end arrives
    /// when the window has space.
    pub fn poll_peek(&self, cx: &mut Context<'_>, space: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        match self {
            Self::Socket(socket) => socket.poll_peek(cx, space),
            // The flow ends with the guest's bytes.
            Self::Handled(true) => Poll::Ready(Ok(0)),
            Self::Filter(_) | Self::Handled(false) => Poll::Pending,
        }
    }

    /// Makes the close of the socket an RST. The filter's socket is closed by the filter.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        match self {
            Self::Socket(socket) => socket.set_zero_linger(),
            Self::Filter(_) | Self::Handled(_) => Ok(()),
        }
    }
}

impl AsyncRead for Peer {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, space: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Socket(socket) => Pin::new(socket).poll_read(cx, space),
            Self::Filter(pipe) => Pin::new(pipe).poll_read(cx, space),
            Self::Handled(_) => Poll::Pending,
        }
    }
}

impl AsyncWrite for Peer {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Socket(socket) => Pin::new(socket).poll_write(cx, bytes),
            Self::Filter(pipe) => Pin::new(pipe).poll_write(cx, bytes),
            Self::Handled(_) => Poll::Pending,
        }
    }

    fn poll_write_vectored(self: Pin<&mut Self>, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Socket(socket) => Pin::new(socket).poll_write_vectored(cx, parts),
            Self::Filter(pipe) => Pin::new(pipe).poll_write_vectored(cx, parts),
            Self::Handled(_) => Poll::Pending,
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Socket(socket) => Pin::new(socket).poll_flush(cx),
            Self::Filter(pipe) => Pin::new(pipe).poll_flush(cx),
            Self::Handled(_) => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Socket(socket) => Pin::new(socket).poll_shutdown(cx),
            Self::Filter(pipe) => Pin::new(pipe).poll_shutdown(cx),
            Self::Handled(has_ended) => {
                *has_ended = true;
                Poll::Ready(Ok(()))
            }
        }
    }
}
