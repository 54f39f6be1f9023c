//! The socket to the embedder. The socket is checked once, and is read and written without
//! blocking.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketType, sockopt};

/// The result of one attempt to read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// The number of bytes that were read or written. At least 1.
    Done(usize),
    /// The socket is not ready. The caller must poll the socket before the next attempt.
    Later,
    /// The other end is closed, or the socket is broken.
    Disconnected,
}

/// One end of a Unix stream socket pair.
pub struct Channel {
    socket: OwnedFd,
}

impl Channel {
    /// Makes the channel from the descriptor `fd`, which the process has inherited. Fails if `fd`
    /// is not an open Unix stream socket.
    pub fn inherited(fd: RawFd) -> Result<Self, String> {
        let wrong = |received: &str| {
            format!("--channel-fd: expected the descriptor of a connected Unix stream socket, received {fd}: {received}")
        };
        // rustix takes only descriptors that are open, and `fd` may be any number.
        // SAFETY: `fcntl` accepts any number, and `F_GETFD` changes nothing.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
            return Err(wrong(&io::Error::last_os_error().to_string()));
        }
        // SAFETY: the descriptor is open, the embedder passed it for this purpose, and no other
        // code of this process uses the descriptor.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        match (sockopt::socket_domain(&socket), sockopt::socket_type(&socket)) {
            (Ok(AddressFamily::UNIX), Ok(SocketType::STREAM)) => Ok(Self { socket }),
            (Ok(_), Ok(_)) => Err(wrong("another kind of socket")),
            (Err(error), _) | (_, Err(error)) => Err(wrong(&error.to_string())),
        }
    }

    /// Reads the available bytes into `buffer`.
    pub fn receive(&self, buffer: &mut [u8]) -> Attempt {
        loop {
            match rustix::net::recv(&self.socket, &mut *buffer, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Attempt::Disconnected,
                Ok((n, _)) => return Attempt::Done(n),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Attempt::Later,
                Err(_) => return Attempt::Disconnected,
            }
        }
    }

    /// Writes as much of `slices` as the socket accepts.
    pub fn send(&self, slices: &[IoSlice<'_>]) -> Attempt {
        loop {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match rustix::net::sendmsg(&self.socket, slices, &mut SendAncillaryBuffer::default(), flags) {
                Ok(n) => return Attempt::Done(n),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => return Attempt::Later,
                Err(_) => return Attempt::Disconnected,
            }
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
