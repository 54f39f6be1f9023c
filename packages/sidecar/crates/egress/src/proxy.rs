//! The proxy of the operator: the text of the option as a value. Next: `registry.rs`.

use crate::name::Name;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The largest length of the text of a proxy, in bytes.
const MAX_PROXY_BYTES: usize = 1_024;

/// The host of a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyHost {
    /// An address.
    Address(IpAddr),
    /// A name, which is looked up without a check: the operator has named the host.
    Name(Name),
}

/// A proxy for TCP, which accepts the HTTP method `CONNECT`.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// The host.
    pub host: ProxyHost,
    /// The port.
    pub port: u16,
    credentials: Option<Box<[u8]>>,
}

impl Proxy {
    /// The form of the text, for errors. An error must not repeat the text, which may have a
    /// password.
    pub const EXPECTED: &'static str = "a URL such as http://proxy.example:3128 or http://user:password@10.0.0.2:3128";

    /// Parses `http://host:port`, with or without `user:password@` before the host. The user and
    /// the password may have percent-encoded bytes. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("http://").filter(|_| text.len() <= MAX_PROXY_BYTES)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (credentials, authority) = match rest.rsplit_once('@') {
            Some((credentials, authority)) => (Some(decoded(credentials)?), authority),
            None => (None, rest),
        };
        let (host, port) = authority.rsplit_once(':')?;
        let is_decimal = port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|port| is_decimal && *port > 0)?;
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match (bracketed, host.parse::<Ipv4Addr>()) {
            (Some(long), _) => ProxyHost::Address(long.parse::<Ipv6Addr>().ok()?.into()),
            (None, Ok(short)) => ProxyHost::Address(short.into()),
            (None, Err(_)) => ProxyHost::Name(Name::parse(host).ok()?),
        };
        Some(Self { host, port, credentials })
    }

    /// Returns the user and the password, with a colon between them.
    pub fn credentials(&self) -> Option<&[u8]> {
        self.credentials.as_deref()
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}

/// Decodes percent-encoded bytes. Returns `None` for a text without a colon, with a control
/// character, and with a wrong encoding.
fn decoded(text: &str) -> Option<Box<[u8]>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>()?;
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        bytes.push(digit(digits[0])? << 4 | digit(digits[1])?);
        rest = after;
    }
    let is_valid = text.contains(':') && !bytes.iter().any(u8::is_ascii_control);
    is_valid.then(|| bytes.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_has_a_host_a_port_and_credentials() {
        let parsed = |text| Proxy::parse(text).unwrap_or_else(|| panic!("{text}"));
        let address = |text: &str| ProxyHost::Address(text.parse().unwrap());
        assert_eq!(parsed("http://10.0.0.2:3128").host, address("10.0.0.2"));
        assert_eq!(parsed("http://[fd00::1]:3128/").host, address("fd00::1"));
        let named = parsed("http://us%65r:p%40ss:word@Proxy.example:80");
        assert_eq!((named.host.clone(), named.port), (ProxyHost::Name(Name::parse("proxy.example").unwrap()), 80));
        assert_eq!(named.credentials(), Some(&b"user:p@ss:word"[..]));
        assert!(!format!("{named:?}").contains("p@ss"));
        for wrong in [
            "",
            "http://",
            "proxy:3128",
            "https://a:1",
            "http://a",
            "http://a:0",
            "http://a:+1",
            "http://a:99999",
            "http://a:1/x",
            "http://[::1:80",
            "http://a b:80",
            "http://user@a:80",
            "http://u:%0d@a:80",
            "http://u:%g0@a:80",
            "http://u:%4@a:80",
            "socks5://a:1",
            "http://127.1:80/?",
            &format!("http://{}:80", "a.".repeat(600)),
        ] {
            assert_eq!(Proxy::parse(wrong), None, "{wrong}");
        }
    }
}
