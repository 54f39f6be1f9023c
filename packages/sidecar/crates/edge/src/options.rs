//! The sidecar's options of a runtime, validated. Next: `describe.rs`.

use crate::describe;
use crate::surroundings::DNS_PORT;
use coldframe_edge_link as link;
use coldframe_edge_link::{Failure, Options, OutsideMode};
use coldframe_egress::{Change, EgressOptions, Handler, HttpRule, Name, Outside, PolicyChange};
use coldframe_secrets::{Place, Template};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

/// The largest number of DNS servers.
const MAX_SERVERS: usize = 8;
/// The largest number of names with fixed addresses.
const MAX_HOSTS: usize = 1_024;
/// The largest number of addresses of a name.
const MAX_ADDRESSES: usize = 64;

/// The options of DNS, validated.
#[derive(Debug, Default)]
pub struct DnsOptions {
    /// The servers. Empty means the servers of the host machine.
    pub servers: Vec<SocketAddr>,
    /// The names with fixed addresses.
    pub hosts: HashMap<Name, Vec<IpAddr>>,
}

impl DnsOptions {
    /// Validates the options.
    ///
    /// # Errors
    /// Returns the first wrong entry.
    pub fn compile(options: &Options) -> Result<Self, Failure> {
        let mut this = Self::default();
        for (index, text) in options.dns_servers.iter().enumerate() {
            let wrong = |fault: &str| describe::invalid_entry("dns.servers", index, text, fault);
            if index == MAX_SERVERS {
                return Err(wrong("a list of at most 8 servers"));
            }
            this.servers.push(server(text).ok_or_else(|| wrong("an address with or without a port"))?);
        }
        for (index, host) in options.dns_hosts.iter().enumerate() {
            let wrong = |fault: &str| describe::invalid_entry("dns.hosts", index, &host.name, fault);
            if index == MAX_HOSTS {
                return Err(wrong("a list of at most 1024 names"));
            }
            let name = Name::parse(&host.name).map_err(|invalid| wrong(&invalid.to_string()))?;
            if name.is_at_or_below("localhost") {
                return Err(wrong("a name other than localhost, which is the runtime itself"));
            }
            let addresses: Option<Vec<IpAddr>> = host.addresses.iter().map(|text| text.parse().ok()).collect();
            let addresses = addresses.filter(|all| (1..=MAX_ADDRESSES).contains(&all.len()));
            let addresses = addresses.ok_or_else(|| wrong("a name with 1 to 64 IPv4 or IPv6 addresses"))?;
            let addresses = addresses.into_iter().map(|address| address.to_canonical()).collect();
            if this.hosts.insert(name, addresses).is_some() {
                return Err(wrong("a name that is in the list once"));
            }
        }
        Ok(this)
    }
}

fn server(text: &str) -> Option<SocketAddr> {
    let address = text.parse::<IpAddr>().map(|address| SocketAddr::new(address, DNS_PORT));
    address.or_else(|_| text.parse()).ok().filter(|server| server.port() > 0)
}

/// Returns the options of the policy.
pub fn egress(options: &Options) -> EgressOptions {
    EgressOptions {
        outside: outside(options),
        allow: options.allow.clone(),
        deny: options.deny.clone(),
        private: options.private.clone(),
        http: http(options),
    }
}

fn http(options: &Options) -> Vec<HttpRule> {
    let rule = |rule: &link::HttpRule| HttpRule {
        host: rule.host.clone(),
        methods: rule.methods.clone(),
        paths: rule.paths.clone(),
        inject: rule.inject.iter().map(|header| (header.name.to_ascii_lowercase(), header.value.clone())).collect(),
        handler: rule.handler.map(|handler| Handler { id: handler.id, timeout_ms: handler.timeout_ms }),
    };
    options.http.iter().map(rule).collect()
}

/// Validates the injected headers.
///
/// # Errors
/// Returns the first wrong header.
pub fn check_injected(options: &Options) -> Result<(), Failure> {
    for (index, rule) in options.http.iter().enumerate() {
        for header in &rule.inject {
            let wrong = |text: &str, fault: String| describe::invalid_entry("http", index, text, fault);
            Place::header(&header.name).map_err(|fault| wrong(&header.name, fault.to_string()))?;
            Template::parse(&header.value).map_err(|fault| wrong(&header.value, fault.to_string()))?;
        }
    }
    Ok(())
}

/// Returns the change that replaces all options of the policy.
pub fn replacement(options: &Options) -> PolicyChange {
    PolicyChange {
        outside: Change::Replace(outside(options)),
        allow: Change::Replace(options.allow.clone()),
        deny: Change::Replace(options.deny.clone()),
        private: Change::Replace(options.private.clone()),
        http: Change::Replace(http(options)),
    }
}

fn outside(options: &Options) -> Outside {
    match options.outside {
        OutsideMode::Deny => Outside::Deny,
        OutsideMode::Public => Outside::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coldframe_edge_link::{DnsHost, FailureKind};

    fn fault(servers: &[&str], hosts: &[(&str, &[&str])]) -> Option<(String, u32)> {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let host = |(name, addresses): &(&str, &[&str])| DnsHost { name: (*name).to_owned(), addresses: texts(addresses) };
        let dns_hosts = hosts.iter().map(host).collect();
        match DnsOptions::compile(&Options { dns_servers: texts(servers), dns_hosts, ..Options::default() }) {
            Err(Failure { kind: FailureKind::InvalidEntry { list, index, .. }, .. }) => Some((list, index)),
            Err(other) => panic!("{other:?}"),
            Ok(_) => None,
        }
    }

    #[test]
    fn refuses_wrong_servers_and_hosts_by_their_place() {
        assert_eq!(fault(&["192.0.2.1", "192.0.2.1:5353", "2001:db8::1", "[2001:db8::1]:5353"], &[]), None);
        for wrong in ["", "example.com", "192.0.2.1:0", "192.0.2.1:99999", "127.1", "[::1]", "::1%lo"] {
            assert_eq!(fault(&["192.0.2.1", wrong], &[]), Some(("dns.servers".to_owned(), 1)), "{wrong:?}");
        }
        assert_eq!(fault(&["192.0.2.1"; 9], &[]), Some(("dns.servers".to_owned(), 8)));
        assert_eq!(fault(&[], &[("db", &["10.1.2.5", "::1"]), ("db.internal", &["10.1.2.5"])]), None);
        for wrong in ["localhost", "a.localhost", "127.0.0.1", "a b", ""] {
            assert_eq!(fault(&[], &[(wrong, &["10.1.2.5"])]), Some(("dns.hosts".to_owned(), 0)), "{wrong:?}");
        }
        for wrong in [&[][..], &["10.1.2"], &["10.1.2.5", "x"]] {
            assert_eq!(fault(&[], &[("a.test", wrong)]), Some(("dns.hosts".to_owned(), 0)), "{wrong:?}");
        }
        assert_eq!(fault(&[], &[("a.test", &["10.1.2.5"]), ("A.test.", &["10.1.2.5"])]), Some(("dns.hosts".to_owned(), 1)));
    }
}
