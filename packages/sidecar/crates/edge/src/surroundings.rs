//! The host machine's network: its DNS servers, addresses, subnets and authorities. The values are
//! read before the process gives up its rights. Next: `wall.rs`.

use coldframe_egress::{Cidr, HostFacts};
use if_addrs::{IfAddr, Interface};
use resolv_conf::{Config, ScopedIp};
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::time::Duration;

/// The port of DNS servers.
pub const DNS_PORT: u16 = 53;
/// The file that has the DNS servers.
const SERVERS: &str = "/etc/resolv.conf";
/// The files that have the authorities of the system, of which the first that exists is read. The
/// list is the list of OpenSSL's packages of the usual distributions.
const AUTHORITIES: [&str; 4] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"];
/// The largest number of DNS servers of the file, as in C libraries.
const MAX_SERVERS: usize = 3;

/// The host machine's network.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The DNS servers, in the order of the queries.
    pub servers: Vec<SocketAddr>,
    /// The addresses and the subnets.
    pub facts: HostFacts,
    /// Whether an interface has an IPv4 address other than the loopback.
    pub has_v4: bool,
    /// Whether an interface has an IPv6 address other than the loopback and link-local addresses.
    pub has_v6: bool,
    /// Whether the NAT64 prefixes of the network are learned from the DNS servers.
    pub discovers_nat64: bool,
    /// The authorities of the system in PEM, or an empty text.
    pub authorities: String,
    /// The time without a datagram after which a flow of datagrams ends. `None` means the default.
    pub datagrams_idle: Option<Duration>,
}

impl Surroundings {
    /// Reads the values. A missing or unreadable file of DNS servers means the servers `127.0.0.1`
    /// and `::1`, as in C libraries.
    ///
    /// # Errors
    /// Fails if the interfaces cannot be read. The policy could not refuse the host machine's own
    /// addresses.
    pub fn read() -> io::Result<Self> {
        let interfaces = if_addrs::get_if_addrs()?;
        let config = std::fs::read(SERVERS).unwrap_or_default();
        let authorities = AUTHORITIES.iter().find_map(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        Ok(Self { authorities, discovers_nat64: true, ..Self::of(&interfaces, &config) })
    }

    fn of(interfaces: &[Interface], config: &[u8]) -> Self {
        let index = |name: &str| interfaces.iter().find(|interface| interface.name == name)?.index;
        let mut this = Self { servers: servers(config, index), ..Self::default() };
        this.set_addresses(interfaces.iter().map(|interface| match &interface.addr {
            IfAddr::V4(short) => (IpAddr::V4(short.ip), short.prefixlen),
            IfAddr::V6(long) => (IpAddr::V6(long.ip), long.prefixlen),
        }));
        this
    }

    /// Replaces the addresses, each with the length of its subnet.
    pub(crate) fn set_addresses(&mut self, all: impl IntoIterator<Item = (IpAddr, u8)>) {
        (self.facts.addresses, self.facts.subnets, self.has_v4, self.has_v6) = Default::default();
        for (address, length) in all {
            self.facts.addresses.push(address);
            // The subnet of a point-to-point link has one address. A subnet of all addresses would
            // refuse everything.
            self.facts.subnets.extend(Cidr::covering(address, length.into()).filter(|subnet| subnet.length() > 0));
            match address {
                IpAddr::V4(short) => self.has_v4 |= !short.is_loopback(),
                IpAddr::V6(long) => self.has_v6 |= !long.is_loopback() && !long.is_unicast_link_local(),
            }
        }
    }
}

/// Returns the DNS servers of a file. Wrong lines are ignored.
fn servers(config: &[u8], index: impl Fn(&str) -> Option<u32>) -> Vec<SocketAddr> {
    let (config, _) = Config::parse_with_errors(config);
    let server = |server| match server {
        ScopedIp::V4(address) => Some(SocketAddr::new(address.into(), DNS_PORT)),
        ScopedIp::V6(address, None) => Some(SocketAddr::new(address.into(), DNS_PORT)),
        ScopedIp::V6(address, Some(zone)) => {
            let zone = zone.parse().ok().or_else(|| index(&zone))?;
            Some(SocketAddrV6::new(address, DNS_PORT, 0, zone).into())
        }
    };
    config.get_nameservers_or_local().into_iter().filter_map(server).take(MAX_SERVERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_servers_of_a_file_and_ignores_wrong_lines() {
        let read = |text: &str| {
            let found = servers(text.as_bytes(), |zone| (zone == "eth0").then_some(7));
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let text =
            "# servers\nnameserver 192.0.2.1\nnameserver x\nsearch example.com\nnameserver fe80::1%eth0\noptions ndots:5\n";
        assert_eq!(read(text), ["192.0.2.1:53", "[fe80::1%7]:53"]);
        assert_eq!(read("nameserver fe80::1%unknown\nnameserver 2001:db8::1\n"), ["[2001:db8::1]:53"]);
        assert_eq!(read(""), ["127.0.0.1:53", "[::1]:53"]);
        assert_eq!(read(&"nameserver 192.0.2.1\n".repeat(9)).len(), MAX_SERVERS);
    }

    #[test]
    fn reads_the_addresses_of_this_machine() {
        let surroundings = Surroundings::read().unwrap();
        assert!(surroundings.facts.addresses.iter().any(IpAddr::is_loopback), "no loopback");
        assert!(!surroundings.servers.is_empty());
        assert!(surroundings.facts.subnets.iter().all(|subnet| subnet.length() > 0));
    }
}
