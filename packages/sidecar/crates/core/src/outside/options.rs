//! Validates the options of a runtime with the code of the edge process. Next: `edge.rs`.

use super::link::unencodable;
use coldframe_edge_link::{DnsHost, Limits, Message, Options, OutsideMode, ToEdge};
use coldframe_egress::{EgressOptions, Handler, HttpRule, Name, Outside, Policy, Protocol, Proxy, loopback_entries};
use coldframe_error::Error;
use coldframe_secrets::{Absence, Host, Place, Placeholder, Secret, SecretTable, Signing, Template};
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};

/// The largest number of DNS servers.
const MAX_SERVERS: usize = 8;
/// The largest number of names with fixed addresses.
const MAX_HOSTS: usize = 1_024;
/// The largest number of texts with further authorities.
const MAX_AUTHORITIES: usize = 64;
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
    let http = options.http.iter().map(|rule| HttpRule {
        host: rule.host.clone(),
        methods: rule.methods.clone(),
        paths: rule.paths.clone(),
        inject: rule.inject.iter().map(|header| (header.name.clone(), header.value.clone())).collect(),
        handler: rule.handler.map(|handler| Handler { id: handler.id, timeout_ms: handler.timeout_ms }),
    });
    let http = http.collect();
    Policy::compile(EgressOptions { outside, allow, deny, private, http })?;
    loopback_entries(Protocol::Tcp, &options.private)?;
    check_injected(options)?;
    check_secrets(options)?;
    check_authorities(options)?;
    check_count("network.dns.servers", options.dns_servers.len(), MAX_SERVERS)?;
    for (index, server) in options.dns_servers.iter().enumerate() {
        let is_valid = server.parse::<IpAddr>().is_ok() || server.parse::<SocketAddr>().is_ok_and(|server| server.port() != 0);
        if !is_valid {
            return Err(invalid(format!("network.dns.servers[{index}]"), "an address with or without a port", server));
        }
    }
    check_count("network.dns.hosts", options.dns_hosts.len(), MAX_HOSTS)?;
    let mut names = HashSet::new();
    for host in &options.dns_hosts {
        if !names.insert(check_host(host)?) {
            return Err(invalid("network.dns.hosts".to_owned(), "each name once", &host.name));
        }
    }
    check_limits(&options.limits)?;
    if let Some(text) = &options.local_address {
        let is_usable = |address: &IpAddr| !(address.is_unspecified() || address.is_loopback() || address.is_multicast());
        if !text.parse().as_ref().is_ok_and(is_usable) {
            return Err(invalid("network.localAddress".to_owned(), "an address of this machine", text));
        }
    }
    if options.proxy.as_ref().is_some_and(|text| Proxy::parse(text).is_none()) {
        return Err(invalid("network.proxy".to_owned(), Proxy::EXPECTED, "another text"));
    }
    // The options are one message to the edge process. Most options need less than 256 bytes.
    let message = ToEdge::PolicySet { runtime: u64::MAX, options: options.clone() };
    message.encode(0, &mut Vec::with_capacity(256)).map_err(|fault| unencodable(&fault))
}

/// Checks the headers that rules inject.
fn check_injected(options: &Options) -> Result<(), Error> {
    for (index, rule) in options.http.iter().enumerate() {
        for header in &rule.inject {
            let what = || format!("network.http[{index}].inject");
            Place::header(&header.name).map_err(|fault| invalid(what(), &fault.to_string(), &header.name))?;
            // A template has no value of a secret, but its author may have written one.
            Template::parse(&header.value).map_err(|fault| invalid(what(), &fault.to_string(), "another text"))?;
        }
    }
    Ok(())
}

fn check_secrets(options: &Options) -> Result<(), Error> {
    let mut table = SecretTable::default();
    for entry in &options.secrets {
        let what = |field: &str| format!("secrets.{}{field}", short(&entry.name));
        let hosts =
            entry.hosts.iter().map(|host| Host::parse(host).map_err(|fault| invalid(what(".hosts"), &fault.to_string(), host)));
        let places = entry
            .places
            .iter()
            .flatten()
            .map(|place| Place::parse(place).map_err(|fault| invalid(what(".in"), &fault.to_string(), place)));
        let placeholder = entry
            .placeholder
            .as_deref()
            .map(|text| Placeholder::parse(text).map_err(|fault| invalid(what(".placeholder"), &fault.to_string(), text)));
        let secret = Secret {
            placeholder: placeholder.transpose()?,
            value: None,
            absence: Absence::Pending,
            hosts: hosts.collect::<Result<_, _>>()?,
            places: places.collect::<Result<_, _>>()?,
            insecure: entry.insecure,
            signs: entry.sign.as_ref().map(|sign| Signing { region: sign.region.clone(), service: sign.service.clone() }),
        };
        if table.contains(&entry.name) {
            return Err(invalid(what(""), "each name once", &entry.name));
        }
        table.set(&entry.name, secret).map_err(|fault| invalid(what(""), &fault.to_string(), &entry.name))?;
    }
    Ok(())
}

fn check_authorities(options: &Options) -> Result<(), Error> {
    check_count("network.ca.extra", options.authorities.len(), MAX_AUTHORITIES)?;
    match options.authorities.iter().position(|text| !is_pem(text)) {
        Some(index) => Err(invalid(format!("network.ca.extra[{index}]"), "certificates in PEM", "another text")),
        None => Ok(()),
    }
}

/// Returns whether a text has the beginning of a certificate in PEM.
pub(super) fn is_pem(text: &str) -> bool {
    text.contains("-----BEGIN CERTIFICATE-----")
}

/// Returns the canonical name.
fn check_host(DnsHost { name, addresses }: &DnsHost) -> Result<Name, Error> {
    let parsed = Name::parse(name).map_err(|fault| invalid("network.dns.hosts".to_owned(), &fault.to_string(), name))?;
    if parsed.is_at_or_below("localhost") {
        let expected = "a name other than localhost, which is the runtime itself";
        return Err(invalid("network.dns.hosts".to_owned(), expected, name));
    }
    let what = || format!("network.dns.hosts.{name}");
    if addresses.is_empty() {
        return Err(invalid(what(), "at least one address", "an empty list"));
    }
    check_count(&what(), addresses.len(), MAX_ADDRESSES)?;
    match addresses.iter().find(|address| address.parse::<IpAddr>().is_err()) {
        Some(address) => Err(invalid(what(), "an IPv4 or IPv6 address", address)),
        None => Ok(parsed),
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

pub(super) fn invalid(what: String, expected: &str, received: &str) -> Error {
    Error::InvalidRequest { what, expected: expected.to_owned(), received: format!("{:?}", short(received)) }
}

fn short(text: &str) -> String {
    text.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options {
            allow: vec!["*.example.com".to_owned()],
            dns_servers: ["192.0.2.1", "192.0.2.1:53", "2001:db8::1", "[2001:db8::1]:53"].map(str::to_owned).to_vec(),
            dns_hosts: vec![host("db.test", &["10.0.0.1", "::1"])],
            ..Options::default()
        }
    }

    fn host(name: &str, addresses: &[&str]) -> DnsHost {
        DnsHost { name: name.to_owned(), addresses: addresses.iter().map(|address| (*address).to_owned()).collect() }
    }

    /// Returns the place of the fault in changed options.
    fn fault(change: impl FnOnce(&mut Options)) -> Option<String> {
        let mut options = options();
        change(&mut options);
        match validate(&options) {
            Ok(()) => None,
            Err(Error::InvalidRequest { what, .. }) => Some(what),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn names_the_first_wrong_value() {
        assert_eq!(fault(|_| {}), None);
        let expect = |what: &str| Some(what.to_owned());
        assert_eq!(fault(|options| options.allow.push("*".to_owned())), expect("network.allow[1]"));
        assert_eq!(fault(|options| options.private.push("a.example".to_owned())), expect("network.private[0]"));
        for wrong in ["127.0.0.1", "127.0.0.0/8:5432", "[::1]:*"] {
            assert_eq!(fault(|options| options.private.push(wrong.to_owned())), expect("network.private[0]"), "{wrong}");
        }
        assert_eq!(fault(|options| options.private.push("127.0.0.1:5432".to_owned())), None);
        for wrong in ["dns.example", "192.0.2.1:0", "127.1", ""] {
            assert_eq!(fault(|options| options.dns_servers.push(wrong.to_owned())), expect("network.dns.servers[4]"), "{wrong}");
        }
        assert_eq!(fault(|options| options.dns_servers = vec!["192.0.2.1".to_owned(); 9]), expect("network.dns.servers"));
        for wrong in ["a b", "", "localhost", "a.localhost", "DB.test."] {
            let wrong_host = host(wrong, &["10.0.0.1"]);
            assert_eq!(fault(|options| options.dns_hosts.push(wrong_host)), expect("network.dns.hosts"), "{wrong}");
        }
        for wrong in [&[][..], &["db.test"], &["10.0.0"]] {
            assert_eq!(fault(|options| options.dns_hosts.push(host("a.test", wrong))), expect("network.dns.hosts.a.test"));
        }
        for wrong in ["", "0.0.0.0", "127.0.0.1", "::", "a.example", "10.0.0.1:80", "224.0.0.1"] {
            assert_eq!(fault(|options| options.local_address = Some(wrong.to_owned())), expect("network.localAddress"));
        }
        assert_eq!(fault(|options| options.local_address = Some("10.0.0.9".to_owned())), None);
        assert_eq!(fault(|options| options.proxy = Some("https://a.example:80".to_owned())), expect("network.proxy"));
        assert_eq!(fault(|options| options.proxy = Some("http://u:p@proxy:3128".to_owned())), None);
        type Change = fn(&mut Limits);
        let limits: [(&str, Change); 5] = [
            ("connections", |limits| limits.connections = 0),
            ("connections", |limits| limits.connections = u32::MAX),
            ("connecting", |limits| limits.connecting = MAX_CONNECTING + 1),
            ("connectsPerSecond", |limits| limits.connects_per_second = 0),
            ("bytesPerSecond", |limits| limits.bytes_per_second = 0),
        ];
        for (name, change) in limits {
            assert_eq!(fault(|options| change(&mut options.limits)), Some(format!("network.limits.{name}")));
        }
    }

    #[test]
    fn refuses_options_that_are_longer_than_a_message() {
        let long = |label: usize| format!("{}.example.com", vec!["a".repeat(60); label].join("."));
        let names = |count: usize| (0..count).map(|number| format!("n{number}.{}", long(3))).collect::<Vec<_>>();
        assert_eq!(fault(|options| options.allow = names(4_096)), None);
        assert_eq!(fault(|options| (options.allow, options.deny) = (names(4_096), names(4_096))), Some("network".to_owned()));
    }
}
