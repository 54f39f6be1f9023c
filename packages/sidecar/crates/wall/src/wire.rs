//! The packets between the sidecar and its broker: a socket pair that keeps the bounds of packets,
//! and descriptors beside the bytes. The broker reads requests as hostile input.
//!
//! | packet | bytes |
//! |---|---|
//! | request | an [`Operation`], then a path or a number |
//! | reply | an error number or 0 (4 bytes), a number (8 bytes), then a path |

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The longest packet: a path of Linux, and the bytes before the path.
pub const MAX_PACKET: usize = 4_096 + 16;
const HEAD: usize = 12;

/// The operation of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A folder for reading.
    ReadFolder,
    /// A folder for reading and writing.
    WriteFolder,
    /// A file for reading.
    ReadFile,
    /// A new file beside a path.
    Replace,
    /// Puts a new file in the place of its path.
    Commit,
    /// Removes a new file.
    Abort,
    /// The memory that is available.
    Memory,
    /// The process that opens connections out of runtimes.
    Edge,
}

impl Operation {
    const ALL: [(Self, u8); 8] = [
        (Self::ReadFolder, b'r'),
        (Self::WriteFolder, b'w'),
        (Self::ReadFile, b'i'),
        (Self::Replace, b'e'),
        (Self::Commit, b'c'),
        (Self::Abort, b'a'),
        (Self::Memory, b'm'),
        (Self::Edge, b'n'),
    ];

    pub fn byte(self) -> u8 {
        Self::ALL.iter().find(|(operation, _)| *operation == self).map_or(0, |(_, byte)| *byte)
    }

    pub fn of(byte: u8) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == byte).map(|(operation, _)| *operation)
    }
}

/// A reply of the broker.
#[derive(Debug, Default)]
pub struct Reply {
    pub number: u64,
    pub path: Vec<u8>,
    pub fd: Option<OwnedFd>,
}

/// Makes the two ends.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Sends one packet.
pub fn send(socket: BorrowedFd<'_>, bytes: &[&[u8]], fd: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let slices: Vec<IoSlice<'_>> = bytes.iter().map(|bytes| IoSlice::new(bytes)).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fds = fd.map(|fd| [fd]);
    if let Some(fds) = &fds {
        ancillary.push(SendAncillaryMessage::ScmRights(fds));
    }
    loop {
        match sendmsg(socket, &slices, &mut ancillary, SendFlags::NOSIGNAL) {
            Err(rustix::io::Errno::INTR) => {}
            sent => return Ok(sent.map(drop)?),
        }
    }
}

/// Receives one packet. Returns `None` if the other end is closed. Descriptors that a packet must
/// not have are closed.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Option<(usize, Option<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        match recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            received => break received?,
        }
    };
    let mut fds: Vec<OwnedFd> = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            fds.extend(received);
        }
    }
    if received.bytes == 0 && fds.is_empty() { Ok(None) } else { Ok(Some((received.bytes, fds.pop()))) }
}

/// Sends the reply to a request.
pub fn reply(socket: BorrowedFd<'_>, result: io::Result<Reply>) -> io::Result<()> {
    let (code, reply) = match result {
        Ok(reply) => (0, reply),
        Err(error) => (error.raw_os_error().unwrap_or(libc::EIO), Reply::default()),
    };
    send(socket, &[&code.to_ne_bytes(), &reply.number.to_ne_bytes(), &reply.path], reply.fd.as_ref().map(AsFd::as_fd))
}

/// Receives the reply to a request.
pub fn receive_reply(socket: BorrowedFd<'_>) -> io::Result<Reply> {
    let mut buffer = [0; MAX_PACKET];
    let (len, fd) = receive(socket, &mut buffer)?.ok_or(io::ErrorKind::BrokenPipe)?;
    let (code, rest) = buffer[..len].split_first_chunk::<4>().ok_or(io::ErrorKind::InvalidData)?;
    let (number, path) = rest.split_first_chunk::<8>().ok_or(io::ErrorKind::InvalidData)?;
    match i32::from_ne_bytes(*code) {
        0 => Ok(Reply { number: u64::from_ne_bytes(*number), path: path.to_vec(), fd }),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

const _: () = assert!(HEAD + 4_096 < MAX_PACKET, "a reply with the longest path fits into a packet");
