//! The errors of a policy that cannot be compiled: the entry, the expected form, the received text.
//!
//! A policy is validated whole before it replaces another policy. Next: `policy.rs`.

use crate::cidr::Cidr;
use crate::entry::List;
use crate::name::InvalidName;
use coldframe_error::Error;
use displaydoc::Display;
use std::net::IpAddr;

/// The defect of an entry. The doc comment of a variant states the expected form.
#[derive(Debug, Clone, PartialEq, Eq, Display, thiserror::Error)]
pub enum Fault {
    /// an entry that is not empty
    Empty,
    /// an entry of at most 1024 bytes
    TooLong,
    /// a list of at most {most} entries
    TooMany {
        /// The maximum.
        most: usize,
    },
    /// an entry without a scheme, or with the scheme tcp or udp
    Scheme,
    /// a port, because an entry about UDP has no default port
    UdpPort,
    /// an address for the port 443 of UDP, because QUIC hides the name of the host
    QuicPort,
    /// an IPv6 address in brackets, such as [2606:4700::1111]:443
    Brackets,
    /// a port from 1 to 65535, a range such as 8000-8010, or *
    Port,
    /// a host; outside: 'public' allows every public host
    Everything,
    /// a * only as the whole first label, such as *.example.com
    Wildcard,
    /// {0}
    Name(InvalidName),
    /// an IPv4 or IPv6 address without a zone
    Address,
    /// a prefix of addresses, such as 203.0.113.0/24
    Prefix,
    /// a prefix without host bits, such as {prefix}
    HostBits {
        /// The prefix without host bits.
        prefix: Cidr,
    },
    /// a public address; the list private opens addresses that are not public
    NotPublic,
    /// addresses; the list private has no names
    NameInPrivate,
    /// an exact address with an exact port, such as 127.0.0.1:5432, because an address of the
    /// loopback is the runtime itself
    Loopback,
    /// a name that can be looked up outside the runtime
    SpecialName,
    /// an address for the port of a DNS server, because a resolver would look up any name
    DnsPort,
    /// a name; rules about HTTP have no addresses
    AddressInHttp,
    /// a method in capitals, such as GET
    Method,
    /// a method other than CONNECT and TRACE
    RefusedMethod,
    /// a path without a query and without dot segments, such as /repos/acme/**
    Path,
    /// a path with ** only as a whole segment
    PathStars,
    /// a list of at least one entry
    EmptyList,
    /// either inject or handle, because the app receives no values of secrets
    InjectAndHandle,
    /// either handle in all rules about the host, or in none
    SomeHandled,
    /// {address} as an own entry with its port, because a wider entry does not open a metadata
    /// service
    CoversMetadata {
        /// The address of the metadata service.
        address: IpAddr,
    },
    /// {address} with exactly one port, because the address is a metadata service
    MetadataPort {
        /// The address of the metadata service.
        address: IpAddr,
    },
}

/// An entry that cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: expected {fault}, received {received:?}", self.what())]
pub struct InvalidEntry {
    /// The list that has the entry.
    pub list: List,
    /// The index of the entry in the list.
    pub index: usize,
    /// The defect.
    pub fault: Fault,
    /// The entry, at most 100 characters.
    pub received: String,
}

impl InvalidEntry {
    pub(crate) fn new(list: List, index: usize, fault: Fault, received: &str) -> Self {
        Self { list, index, fault, received: received.chars().take(100).collect() }
    }

    /// Returns the place of the entry, such as `network.allow[2]`.
    pub fn what(&self) -> String {
        format!("network.{}[{}]", self.list.name(), self.index)
    }
}

impl From<InvalidEntry> for Error {
    fn from(invalid: InvalidEntry) -> Self {
        Self::InvalidRequest {
            what: invalid.what(),
            expected: invalid.fault.to_string(),
            received: format!("{:?}", invalid.received),
        }
    }
}
