//! The entries of `private` that open the loopback of the host machine. Next: `ports.rs`.
//!
//! A loopback address means the runtime itself, so an entry opens exactly one address and one port.
//! A wider entry would hide programs of the host machine that listen for the machine only.

use crate::entry::{Entry, Hosts, List, Protocol};
use crate::invalid_entry::{Fault, InvalidEntry};
use std::net::SocketAddr;

/// Returns the loopback addresses that the entries of `private` open for a protocol. Entries that
/// are not valid open nothing.
///
/// # Errors
/// Returns the first entry that is about the loopback, and not about one address and one port.
pub fn loopback_entries(protocol: Protocol, private: &[String]) -> Result<Vec<SocketAddr>, InvalidEntry> {
    let mut opened = Vec::new();
    for (index, text) in private.iter().enumerate() {
        let Ok(entry) = Entry::parse(List::Private, text) else { continue };
        let Hosts::Addresses(prefix) = entry.hosts else { continue };
        if !prefix.base().is_loopback() {
            continue;
        }
        match entry.exact_port().filter(|_| prefix.is_single()) {
            Some(port) if entry.is_about(List::Private, protocol) => opened.push(SocketAddr::new(prefix.base(), port)),
            Some(_) => {}
            None => return Err(InvalidEntry::new(List::Private, index, Fault::Loopback, text)),
        }
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(entries: &[&str]) -> Result<Vec<String>, usize> {
        let entries: Vec<String> = entries.iter().map(|text| (*text).to_owned()).collect();
        let opened = loopback_entries(Protocol::Tcp, &entries).map_err(|invalid| invalid.index)?;
        Ok(opened.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn only_one_address_with_one_port_opens_the_loopback() {
        let exact = ["127.0.0.1:5432", "10.0.0.0/8:*", "[::1]:8080", "tcp://127.0.0.2:80", "127.0.0.1/32:25", "example.com"];
        let expected = ["127.0.0.1:5432", "[::1]:8080", "127.0.0.2:80", "127.0.0.1:25"];
        assert_eq!(opened(&exact), Ok(expected.map(str::to_owned).to_vec()));
        assert_eq!(opened(&["[::ffff:127.0.0.1]:80"]), Ok(vec!["127.0.0.1:80".to_owned()]));
        for wide in ["127.0.0.1", "127.0.0.1:*", "127.0.0.1:80-81", "127.0.0.0/8:80", "::1", "127.0.0.0/31:80"] {
            assert_eq!(opened(&["10.0.0.1:1", wide]), Err(1), "{wide}");
        }
    }
}
