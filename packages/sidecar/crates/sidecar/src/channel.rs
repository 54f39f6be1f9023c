//! The socket to the parent: checked once, then read and written without ever blocking.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketType, sockopt};

/// What came of one attempt to read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// So many bytes, at least one.
    Done(usize),
    /// Nothing now; poll.
    Later,
    /// The other end is closed, or the socket is broken, which comes to the same.
    Gone,
}

/// One end of a Unix stream socket pair.
pub struct Channel {
    socket: OwnedFd,
}

impl Channel {
    /// Takes the descriptor with which the process was started.
    pub fn inherited(fd: RawFd) -> Result<Self, String> {
        let wrong = |received: &str| {
            format!("--channel-fd: expected the descriptor of a connected Unix stream socket, received {fd}: {received}")
        };
        // SAFETY: `fcntl` takes any number; it only tells whether it is an open descriptor.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
            return Err(wrong(&io::Error::last_os_error().to_string()));
        }
        // SAFETY: it is open, was handed to this process for this purpose, and nothing else here knows it.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        match (sockopt::socket_domain(&socket), sockopt::socket_type(&socket)) {
            (Ok(AddressFamily::UNIX), Ok(SocketType::STREAM)) => Ok(Self { socket }),
            (Ok(_), Ok(_)) => Err(wrong("another kind of socket")),
            (Err(error), _) | (_, Err(error)) => Err(wrong(&error.to_string())),
        }
    }

    /// Reads what is there into `buffer`.
    pub fn receive(&self, buffer: &mut [u8]) -> Attempt {
        loop {
            match rustix::net::recv(&self.socket, &mut *buffer, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Attempt::Gone,
                Ok((n, _)) => return Attempt::Done(n),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Attempt::Later,
                Err(_) => return Attempt::Gone,
            }
        }
    }

    /// Writes as much of `slices` as the socket takes.
    pub fn send(&self, slices: &[IoSlice<'_>]) -> Attempt {
        loop {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match rustix::net::sendmsg(&self.socket, slices, &mut SendAncillaryBuffer::default(), flags) {
                Ok(n) => return Attempt::Done(n),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => return Attempt::Later,
                Err(_) => return Attempt::Gone,
            }
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
