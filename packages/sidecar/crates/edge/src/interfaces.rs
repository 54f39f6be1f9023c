//! The addresses of the host machine's interfaces, and their changes, over netlink.
//!
//! The wall refuses new netlink sockets, so both sockets are opened before. One socket receives a
//! message for each change of an address. The other socket reads all addresses again. The messages
//! are Linux's `rtnetlink(7)`. Next: `surroundings.rs`.

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The groups of messages about IPv4 and IPv6 addresses.
const GROUPS: u32 = (libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR) as u32;
/// The bytes of a message's head.
const HEAD: usize = 16;
/// The bytes between the head and the attributes of a message about an address.
const ADDRESS_HEAD: usize = 8;
/// The buffer of a message. Linux sends parts of a list in messages of at most 32 KiB.
const BUFFER: usize = 32 << 10;
/// The largest number of messages that are read at a time.
const MAX_MESSAGES: usize = 4_096;

/// The sockets.
#[derive(Debug)]
pub struct Interfaces {
    changes: OwnedFd,
    list: OwnedFd,
}

impl Interfaces {
    /// Opens the sockets.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub fn open() -> io::Result<Self> {
        let socket = |groups| -> io::Result<OwnedFd> {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            // The first protocol of netlink is `NETLINK_ROUTE`.
            let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
            bind(&socket, &SocketAddrNetlink::new(0, groups))?;
            Ok(socket)
        };
        Ok(Self { changes: socket(GROUPS)?, list: socket(0)? })
    }

    /// Returns the socket that is readable after a change.
    pub fn changes(&self) -> BorrowedFd<'_> {
        self.changes.as_fd()
    }

    /// Reads the messages about changes, and drops them.
    ///
    /// # Errors
    /// Fails if the socket fails. Lost messages are no failure.
    pub fn drop_changes(&self) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER];
        for _ in 0..MAX_MESSAGES {
            match recv(&self.changes, &mut *buffer, RecvFlags::empty()) {
                Ok(_) | Err(Errno::INTR | Errno::NOBUFS) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads all addresses, each with the length of its subnet.
    ///
    /// # Errors
    /// Fails if the system refuses, or returns what is no list of addresses.
    pub fn addresses(&self) -> io::Result<Vec<(IpAddr, u8)>> {
        send(&self.list, &request(), SendFlags::empty())?;
        let mut buffer = vec![0; BUFFER];
        let mut found = Vec::new();
        // Linux makes the next part of the list while the present part is read, so no read waits.
        for _ in 0..MAX_MESSAGES {
            let (_, length) = recv(&self.list, &mut *buffer, RecvFlags::empty())?;
            if add(buffer.get(..length).unwrap_or_default(), &mut found)? {
                return Ok(found);
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }
}

/// Returns the request for all addresses of all families.
fn request() -> [u8; HEAD + ADDRESS_HEAD] {
    let mut bytes = [0; HEAD + ADDRESS_HEAD];
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let head: [&[u8]; 3] = [&(bytes.len() as u32).to_ne_bytes(), &libc::RTM_GETADDR.to_ne_bytes(), &flags.to_ne_bytes()];
    for (to, from) in bytes.iter_mut().zip(head.concat()) {
        *to = from;
    }
    bytes
}

/// Adds the addresses of received messages. Returns whether the list is complete.
fn add(mut bytes: &[u8], found: &mut Vec<(IpAddr, u8)>) -> io::Result<bool> {
    let malformed = || io::Error::from(io::ErrorKind::InvalidData);
    while !bytes.is_empty() {
        let length = number(bytes, 0).ok_or_else(malformed)?;
        let message = bytes.get(..length).filter(|_| length >= HEAD).ok_or_else(malformed)?;
        let kind = message.get(4..6).and_then(|kind| kind.try_into().ok()).map(u16::from_ne_bytes).ok_or_else(malformed)?;
        match (i32::from(kind), kind) {
            (libc::NLMSG_DONE, _) => return Ok(true),
            (libc::NLMSG_ERROR, _) => return Err(malformed()),
            (_, libc::RTM_NEWADDR) => found.extend(address(message.get(HEAD..).unwrap_or_default())),
            _ => {}
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// Returns the address of a message. The local address of a link between two machines precedes the
/// address of the other machine.
fn address(message: &[u8]) -> Option<(IpAddr, u8)> {
    let length = *message.get(1)?;
    let mut attributes = message.get(ADDRESS_HEAD..)?;
    let (mut local, mut other) = (None, None);
    while let Some(&[a, b, c, d]) = attributes.first_chunk::<4>() {
        let size = usize::from(u16::from_ne_bytes([a, b]));
        let value = attributes.get(4..size)?;
        match u16::from_ne_bytes([c, d]) {
            libc::IFA_LOCAL => local = ip(value),
            libc::IFA_ADDRESS => other = ip(value),
            _ => {}
        }
        attributes = attributes.get(size.next_multiple_of(4)..).unwrap_or_default();
    }
    Some((local.or(other)?, length))
}

fn ip(value: &[u8]) -> Option<IpAddr> {
    let short = <[u8; 4]>::try_from(value).map(IpAddr::from);
    short.or_else(|_| <[u8; 16]>::try_from(value).map(IpAddr::from)).ok()
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_ne_bytes(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_list_has_the_addresses_of_the_c_library() {
        let interfaces = Interfaces::open().unwrap();
        // A second list shows that the socket is left empty.
        for _ in 0..2 {
            let mut listed: Vec<IpAddr> = interfaces.addresses().unwrap().into_iter().map(|(address, _)| address).collect();
            let mut expected: Vec<IpAddr> = if_addrs::get_if_addrs().unwrap().iter().map(|each| each.ip()).collect();
            // The crate `if-addrs` omits link-local addresses, which no policy opens.
            listed.retain(|address| !matches!(address, IpAddr::V6(long) if long.is_unicast_link_local()));
            listed.sort();
            expected.sort();
            assert_eq!(listed, expected);
        }
        interfaces.drop_changes().unwrap();
    }

    proptest! {
        #[test]
        fn any_bytes_end_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), length in 0_u32..200) {
            let mut bytes = bytes;
            // A right length and kind lead to the attributes.
            for (to, from) in bytes.iter_mut().zip([length.to_ne_bytes(), u32::from(libc::RTM_NEWADDR).to_ne_bytes()].concat()) {
                *to = from;
            }
            let _ = add(&bytes, &mut Vec::new());
        }
    }
}
