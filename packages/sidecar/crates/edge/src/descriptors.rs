//! Reads the link, with the descriptors that the sidecar passes. Next: `serve.rs`.

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::net::UnixStream;

/// The largest number of descriptors without their message. A message has one descriptor, which
/// arrives with the first byte of the message.
const MAX_WAITING: usize = 64;

/// The descriptors whose messages have not been handled, in the order of the messages.
#[derive(Default)]
pub struct Descriptors(VecDeque<OwnedFd>);

impl Descriptors {
    /// Reads bytes now. Descriptors are kept.
    ///
    /// # Errors
    /// Fails as `read` does, and if too many descriptors wait for their messages.
    pub fn try_read(&mut self, link: &UnixStream, buffer: &mut [u8]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_WAITING))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = link.try_io(Interest::READABLE, || {
            Ok(recvmsg(link, &mut [IoSliceMut::new(buffer)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?)
        })?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.0.extend(descriptors);
            }
        }
        if self.0.len() > MAX_WAITING { Err(io::ErrorKind::InvalidData.into()) } else { Ok(received.bytes) }
    }

    /// Takes the descriptor of a message. Returns `None` if the message has none, or the descriptor
    /// is no Unix stream socket.
    pub fn take_socket(&mut self) -> Option<OwnedFd> {
        use rustix::net::{AddressFamily, SocketType, sockopt};
        let descriptor = self.0.pop_front()?;
        let is_unix = sockopt::socket_domain(&descriptor) == Ok(AddressFamily::UNIX);
        let is_stream = sockopt::socket_type(&descriptor) == Ok(SocketType::STREAM);
        (is_unix && is_stream).then_some(descriptor)
    }
}
