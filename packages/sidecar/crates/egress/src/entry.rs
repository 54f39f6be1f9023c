//! The entries of a policy: `host`, `host:port`, `*.host:port`, `tcp://host:port`,
//! `udp://host:port`, an address or a prefix of addresses with or without a port.
//!
//! An IPv6 address with a port is written in brackets. A port is a number, a range such as
//! `8000-8010`, or `*`. An entry that could never take effect is an error. Next: `ports.rs`.

use crate::cidr::Cidr;
use crate::invalid_entry::Fault;
use crate::name::Name;
use crate::ports::{DEFAULT_PORT, DNS_PORTS, Ports};
use crate::registry;
use crate::special_names::SpecialName;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The list that has an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum List {
    /// Hosts that are allowed.
    Allow,
    /// Hosts that are denied.
    Deny,
    /// Addresses that are allowed although they are not public.
    Private,
    /// Rules about HTTP requests ([`crate::HttpRule`]).
    Http,
}

impl List {
    /// The lists whose entries are texts.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Deny, Self::Private];

    /// Returns the name of the list in the policy.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Private => "private",
            Self::Http => "http",
        }
    }
}

/// The protocol of a flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Connections.
    #[default]
    Tcp,
    /// Datagrams. Only an entry with the scheme `udp` allows datagrams.
    Udp,
}

/// The hosts of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// One name.
    Name(Name),
    /// All names below a name, and not the name itself.
    Below(Name),
    /// All addresses of a prefix.
    Addresses(Cidr),
}

/// A parsed entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) hosts: Hosts,
    pub(crate) ports: Ports,
    /// The scheme of the entry.
    pub(crate) protocol: Option<Protocol>,
}

/// The maximum length of an entry, in bytes.
const MAX_ENTRY_BYTES: usize = 1_024;

impl Entry {
    /// Parses an entry of a list.
    pub(crate) fn parse(list: List, text: &str) -> Result<Self, Fault> {
        if text.is_empty() {
            return Err(Fault::Empty);
        }
        if text.len() > MAX_ENTRY_BYTES {
            return Err(Fault::TooLong);
        }
        let (protocol, rest) = match text.split_once("://") {
            None => (None, text),
            Some(("tcp", rest)) => (Some(Protocol::Tcp), rest),
            Some(("udp", rest)) if list != List::Http => (Some(Protocol::Udp), rest),
            Some(_) => return Err(Fault::Scheme),
        };
        let (host, port) = split(rest)?;
        let ports = port.map_or(Ok(Ports::Omitted), ports)?;
        let entry = Self { hosts: hosts(host)?, ports, protocol };
        entry.takes_effect(list)?;
        Ok(entry)
    }

    /// Returns whether the entry is about flows of a protocol. An entry of `deny` without a scheme
    /// is about all protocols, and every other entry without a scheme is about TCP.
    pub(crate) fn is_about(&self, list: List, protocol: Protocol) -> bool {
        self.protocol.map_or(list == List::Deny || protocol == Protocol::Tcp, |own| own == protocol)
    }

    /// Refuses an entry that could never take effect.
    fn takes_effect(&self, list: List) -> Result<(), Fault> {
        if self.protocol == Some(Protocol::Udp) && list != List::Deny && self.ports == Ports::Omitted {
            return Err(Fault::UdpPort);
        }
        match &self.hosts {
            Hosts::Name(_) | Hosts::Below(_) if list == List::Private => Err(Fault::NameInPrivate),
            Hosts::Name(_) | Hosts::Below(_) if list == List::Deny => Ok(()),
            Hosts::Name(name) => self.opens_name(SpecialName::of(name)),
            Hosts::Below(parent) => self.opens_name(SpecialName::of_all_below(parent)),
            Hosts::Addresses(prefix) if list == List::Private => self.opens_private(*prefix),
            Hosts::Addresses(prefix) if list == List::Allow && registry::is_within_special(*prefix) => Err(Fault::NotPublic),
            Hosts::Addresses(_) => Ok(()),
        }
    }

    fn opens_name(&self, special: Option<SpecialName>) -> Result<(), Fault> {
        if special.is_some() {
            return Err(Fault::SpecialName);
        }
        match self.exact_port() {
            Some(port) if DNS_PORTS.contains(&port) => Err(Fault::DnsPort),
            Some(DEFAULT_PORT) if self.protocol == Some(Protocol::Udp) => Err(Fault::QuicPort),
            _ => Ok(()),
        }
    }

    fn opens_private(&self, prefix: Cidr) -> Result<(), Fault> {
        match registry::metadata_in(prefix) {
            Some(address) if !prefix.is_single() => Err(Fault::CoversMetadata { address }),
            Some(address) if self.exact_port().is_none() => Err(Fault::MetadataPort { address }),
            _ => Ok(()),
        }
    }

    /// Returns the port of an entry with exactly one port.
    pub(crate) fn exact_port(&self) -> Option<u16> {
        match self.ports {
            Ports::Range(first, last) if first == last => Some(first),
            _ => None,
        }
    }
}

/// Splits an entry into its host and its port. Brackets around an IPv6 address are removed.
fn split(text: &str) -> Result<(&str, Option<&str>), Fault> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(Fault::Brackets)?;
        if !host.contains(':') {
            return Err(Fault::Brackets);
        }
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(Fault::Brackets),
        };
    }
    match text.split_once(':') {
        // The text is an IPv6 address without a port.
        Some((_, rest)) if rest.contains(':') => Ok((text, None)),
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((text, None)),
    }
}

fn ports(text: &str) -> Result<Ports, Fault> {
    let number = |text: &str| {
        let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let port = text.parse::<u16>().ok().filter(|port| is_decimal && *port > 0);
        port.ok_or(Fault::Port)
    };
    if text == "*" {
        return Ok(Ports::Range(1, u16::MAX));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (number(first)?, number(last)?);
    if first <= last { Ok(Ports::Range(first, last)) } else { Err(Fault::Port) }
}

fn hosts(text: &str) -> Result<Hosts, Fault> {
    if text == "*" {
        return Err(Fault::Everything);
    }
    if let Some(parent) = text.strip_prefix("*.") {
        return name(parent).map(Hosts::Below);
    }
    if let Some((base, length)) = text.split_once('/') {
        return prefix(base, length).map(Hosts::Addresses);
    }
    match address(text) {
        Some(address) => Ok(Hosts::Addresses(Cidr::of(address))),
        // The text can only be an IPv6 address with a mistake, or with a zone.
        None if text.contains(':') => Err(Fault::Address),
        None => name(text).map(Hosts::Name),
    }
}

fn name(text: &str) -> Result<Name, Fault> {
    if text.contains('*') {
        return Err(Fault::Wildcard);
    }
    Name::parse(text).map_err(Fault::Name)
}

fn prefix(base: &str, length: &str) -> Result<Cidr, Fault> {
    let base = address(base).ok_or(Fault::Prefix)?;
    let is_decimal = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let length = length.parse::<usize>().ok().filter(|_| is_decimal).ok_or(Fault::Prefix)?;
    let prefix = Cidr::covering(base, length).ok_or(Fault::Prefix)?;
    if prefix.base() == base.to_canonical() { Ok(prefix) } else { Err(Fault::HostBits { prefix }) }
}

/// Parses an address in its usual form: no zone, no octal and no shortened IPv4 address.
fn address(text: &str) -> Option<IpAddr> {
    let short = text.parse::<Ipv4Addr>().map(IpAddr::V4);
    short.or_else(|_| text.parse::<Ipv6Addr>().map(IpAddr::V6)).ok()
}
