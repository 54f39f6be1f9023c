//! Validates the options of a runtime with the code of the edge process. Next: `edge.rs`.

use coldframe_edge_link::{DnsHost, Limits, Options, OutsideMode};
use coldframe_egress::{EgressOptions, Name, Outside, Policy};
use coldframe_error::Error;
use std::net::{IpAddr, SocketAddr};

/// The largest number of DNS servers.
const MAX_SERVERS: usize = 8;
/// The largest number of names with fixed addresses.
const MAX_HOSTS: usize = 1_024;
/// The largest number of addresses of one name.
const MAX_ADDRESSES: usize = 64;
/// The largest value of `connections`: the windows of this number of connections are 4 GiB.
const MAX_CONNECTIONS: u32 = 16_384;
/// The largest value of `connecting`.
const MAX_CONNECTING: u32 = 4_096;
/// The largest rate of new connections.
const MAX_RATE: u32 = 1_000_000;

/// Fails with the first value that the edge process would refuse.
pub(crate) fn validate(options: &Options) -> Result<(), Error> {
    let outside = match options.outside {
        OutsideMode::Deny => Outside::Deny,
        OutsideMode::Public => Outside::Public,
    };
    let (allow, deny, private) = (options.allow.clone(), options.deny.clone(), options.private.clone());
    Policy::compile(EgressOptions { outside, allow, deny, private })?;
    check_count("network.dns.servers", options.dns_servers.len(), MAX_SERVERS)?;
    for (index, server) in options.dns_servers.iter().enumerate() {
        let is_valid = server.parse::<IpAddr>().is_ok() || server.parse::<SocketAddr>().is_ok_and(|server| server.port() != 0);
        if !is_valid {
            return Err(invalid(format!("network.dns.servers[{index}]"), "an address with or without a port", server));
        }
    }
    check_count("network.dns.hosts", options.dns_hosts.len(), MAX_HOSTS)?;
    options.dns_hosts.iter().try_for_each(check_host)?;
    check_limits(&options.limits)
}

fn check_host(DnsHost { name, addresses }: &DnsHost) -> Result<(), Error> {
    Name::parse(name).map_err(|fault| invalid("network.dns.hosts".to_owned(), &fault.to_string(), name))?;
    let what = || format!("network.dns.hosts.{name}");
    if addresses.is_empty() {
        return Err(invalid(what(), "at least one address", "an empty list"));
    }
    check_count(&what(), addresses.len(), MAX_ADDRESSES)?;
    match addresses.iter().find(|address| address.parse::<IpAddr>().is_err()) {
        Some(address) => Err(invalid(what(), "an IPv4 or IPv6 address", address)),
        None => Ok(()),
    }
}

fn check_limits(limits: &Limits) -> Result<(), Error> {
    let Limits { connections, connecting, connects_per_second, connects_burst, bytes_per_second, bytes: _ } = *limits;
    let ranges = [
        ("connections", u64::from(connections), u64::from(MAX_CONNECTIONS)),
        ("connecting", u64::from(connecting), u64::from(MAX_CONNECTING)),
        ("connectsPerSecond", u64::from(connects_per_second), u64::from(MAX_RATE)),
        ("connectsPerSecond", u64::from(connects_burst), u64::from(u32::MAX)),
        ("bytesPerSecond", bytes_per_second, u64::MAX),
    ];
    match ranges.into_iter().find(|(_, value, most)| !(1..=*most).contains(value)) {
        Some((name, value, most)) => {
            Err(invalid(format!("network.limits.{name}"), &format!("a whole number from 1 to {most}"), &value.to_string()))
        }
        None => Ok(()),
    }
}

fn check_count(what: &str, count: usize, most: usize) -> Result<(), Error> {
    if count <= most {
        return Ok(());
    }
    Err(invalid(what.to_owned(), &format!("at most {most} entries"), &format!("{count} entries")))
}

fn invalid(what: String, expected: &str, received: &str) -> Error {
    Error::InvalidRequest { what, expected: expected.to_owned(), received: format!("{:?}", short(received)) }
}

fn short(text: &str) -> String {
    text.chars().take(100).collect()
}
