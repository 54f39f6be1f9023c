//! Network patterns: `host:port`, `host`, `*:port`, `tcp://host:port`.
//!
//! A host is a name with wildcards, an address, `localhost`, or `unix:NAME`. `localhost` covers the
//! loopback addresses and the names that mean the guest's machine. `unix:NAME` covers a Unix socket
//! that has no file. Next: `compiled.rs`.

use super::glob::Glob;
use super::operations::{Operations, network};
use super::ranked::rank_of;
use std::net::IpAddr;
use std::ops::RangeInclusive;

/// A pattern for network peers.
#[derive(Debug)]
pub(super) struct Pattern {
    host: Host,
    /// The ports. `None` means all ports.
    ports: Option<RangeInclusive<u16>>,
    /// The operations that the pattern's scheme covers.
    pub(super) operations: Operations,
}

#[derive(Debug)]
enum Host {
    Any,
    Local,
    Address(IpAddr),
    Name(Glob),
    Unix(Glob),
}

/// The peer of a network operation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Peer<'a> {
    /// An address and a port. The unspecified address means all addresses of the machine.
    Address(IpAddr, u16),
    /// A host name to look up.
    Name(&'a str),
    /// The name of a Unix socket that has no file.
    Unix(&'a [u8]),
}

const EXPECTED: &str = "a pattern such as localhost:8080, *:443, [::1]:80 or tcp://example.com:443";

impl Pattern {
    /// Parses a pattern. Returns the pattern and its rank. A pattern with a more specific host
    /// ranks higher. If the hosts are equal, a pattern with a port ranks higher.
    pub(super) fn parse(text: &str) -> Result<(Self, u64), &'static str> {
        const STREAMS: Operations = network::LISTEN | network::CONNECT;
        let (operations, rest) = match text.split_once("://") {
            None => (Operations::MAX, text),
            Some(("tcp", rest)) => (STREAMS, rest),
            Some(("udp", rest)) => (network::UDP, rest),
            Some(("dns", rest)) => (network::DNS, rest),
            Some(_) => return Err("a pattern whose scheme is tcp, udp or dns"),
        };
        if let Some(name) = rest.strip_prefix("unix:") {
            let pattern = Self { host: Host::Unix(Glob::new(name)), ports: None, operations };
            return Ok((pattern, u64::from(rank_of(name)) << 1));
        }
        let (host, port) = split(rest)?;
        let ports = port.map(range).transpose()?.flatten();
        let host = host.to_ascii_lowercase();
        let (rank, host) = match host.as_str() {
            "" => return Err(EXPECTED),
            "*" => (0, Host::Any),
            "localhost" => (rank_of(&host) - 1, Host::Local),
            text => match text.parse::<IpAddr>() {
                Ok(address) => (rank_of(text), Host::Address(address.to_canonical())),
                Err(_) if text.contains(['/', ' ', '\0']) => return Err(EXPECTED),
                Err(_) => (rank_of(text), Host::Name(Glob::new(text))),
            },
        };
        Ok((Self { host, ports: ports.clone(), operations }, u64::from(rank) << 1 | u64::from(ports.is_some())))
    }

    pub(super) fn matches(&self, peer: Peer<'_>) -> bool {
        match peer {
            Peer::Unix(name) => match &self.host {
                Host::Any => self.ports.is_none(),
                Host::Unix(glob) => glob.matches(name),
                _ => false,
            },
            Peer::Name(name) => match &self.host {
                Host::Any => true,
                Host::Local => is_local_name(name),
                Host::Name(glob) => glob.matches(name.to_ascii_lowercase().trim_end_matches('.').as_bytes()),
                Host::Address(_) | Host::Unix(_) => false,
            },
            Peer::Address(address, port) => self.ports.as_ref().is_none_or(|ports| ports.contains(&port)) && self.names(address),
        }
    }

    fn names(&self, address: IpAddr) -> bool {
        match &self.host {
            Host::Any => true,
            Host::Local => address.is_loopback() || address.is_unspecified(),
            // The unspecified address includes the loopback.
            Host::Address(own) => *own == address || (address.is_unspecified() && own.is_loopback()),
            Host::Name(glob) => glob.matches(address.to_string().as_bytes()),
            Host::Unix(_) => false,
        }
    }
}

/// Returns whether a name means the machine of the guest.
pub(crate) fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

fn split(text: &str) -> Result<(&str, Option<&str>), &'static str> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(EXPECTED)?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(EXPECTED),
        };
    }
    match text.split_once(':') {
        // The text is an IPv6 address without a port.
        Some((_, rest)) if rest.contains(':') => Ok((text, None)),
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((text, None)),
    }
}

fn range(text: &str) -> Result<Option<RangeInclusive<u16>>, &'static str> {
    const PORT: &str = "a pattern whose port is *, a number from 0 to 65535, or two with a dash between them";
    let number = |text: &str| text.parse::<u16>().map_err(|_| PORT);
    if text == "*" {
        return Ok(None);
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = number(first)?..=number(last)?;
    if range.is_empty() { Err(PORT) } else { Ok(Some(range)) }
}

impl std::fmt::Display for Peer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address(IpAddr::V4(address), port) => write!(f, "{address}:{port}"),
            Self::Address(IpAddr::V6(address), port) => write!(f, "[{address}]:{port}"),
            Self::Name(name) => f.write_str(name),
            Self::Unix(name) => write!(f, "unix:{}", String::from_utf8_lossy(name)),
        }
    }
}
