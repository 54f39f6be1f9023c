//! The secrets of one runtime: name, placeholder, value, hosts and places. Next: `template.rs`.

use crate::aws_request::Claim;
use crate::place::{Place, UnknownPlace};
use crate::placeholder::Placeholder;
use crate::sigv4::AwsKey;
use crate::swap::{Swapped, TooLong, swap_header};
use crate::value::SecretValue;
use coldframe_egress::{InvalidName, Name};
use displaydoc::Display;
use std::collections::BTreeMap;

/// The maximum number of secrets of a runtime.
pub const MAX_SECRETS: usize = 256;
/// The maximum number of hosts of a secret.
pub const MAX_HOSTS: usize = 64;
/// The maximum number of places of a secret.
pub const MAX_PLACES: usize = 16;
/// The maximum length of a secret's name, in bytes.
const MAX_NAME_BYTES: usize = 128;
const TLS_PORT: u16 = 443;
const PLAIN_PORT: u16 = 80;

/// The reason why a secret cannot be used. The reason contains no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, thiserror::Error)]
pub enum InvalidSecret {
    /// a name of letters, digits and underscores, which does not begin with a digit
    Name,
    /// a host: {0}
    Host(InvalidName),
    /// a port from 1 to 65535
    Port,
    /// at least one host, and at most 64 hosts
    Hosts,
    /// {0}
    Place(UnknownPlace),
    /// at most 16 places
    Places,
    /// a placeholder that no other secret has, and that is no part of another placeholder
    Placeholder,
    /// at most 256 secrets
    TooMany,
}

/// The hosts of a secret: one name, or all names below a name, with one port or the usual ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    name: Name,
    is_below: bool,
    port: Option<u16>,
}

/// The destination of a request.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The checked name of the host.
    pub name: &'a Name,
    /// The port.
    pub port: u16,
    /// Whether the connection is encrypted, and its peer is verified.
    pub is_tls: bool,
}

/// The reason why a secret has no value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Absence {
    /// The embedder has not sent the value yet.
    #[default]
    Pending,
    /// The embedder has no value, for example after a restore.
    Missing,
    /// The embedder cannot get the value at present.
    Unavailable,
}

/// The value of a secret.
#[derive(Clone)]
pub enum Credential {
    /// A text, which replaces the placeholder.
    Text(SecretValue),
    /// A key that signs requests.
    Aws(AwsKey),
}

/// The scope of signatures. `None` means the scope that the guest has signed for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signing {
    /// The region.
    pub region: Option<String>,
    /// The service.
    pub service: Option<String>,
}

/// A secret.
#[derive(Clone)]
pub struct Secret {
    /// The text that the guest has. `None` if only rules use the secret.
    pub placeholder: Option<Placeholder>,
    /// The value. `None` if the value is absent, for the reason of `absence`.
    pub value: Option<Credential>,
    /// The reason why the value is absent.
    pub absence: Absence,
    /// The hosts that may receive the value.
    pub hosts: Vec<Host>,
    /// The places in a request.
    pub places: Vec<Place>,
    /// Whether connections without TLS may carry the value.
    pub insecure: bool,
    /// The scope of signatures, for a key that signs requests.
    pub signs: Option<Signing>,
}

/// The secrets of a runtime, by name.
#[derive(Default)]
pub struct SecretTable(BTreeMap<String, Secret>);

/// Returns whether a text is the name of a secret.
pub(crate) fn is_secret_name(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=MAX_NAME_BYTES).contains(&text.len()) && text.bytes().all(is_known) && !text.as_bytes()[0].is_ascii_digit()
}

impl Host {
    /// Parses a host: `name` or `*.name`, with or without a port. Without a port, the ports are 443
    /// with TLS, and 80 without TLS.
    ///
    /// # Errors
    /// Fails if the text is no host.
    pub fn parse(text: &str) -> Result<Self, InvalidSecret> {
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        };
        let is_decimal = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let port = match port {
            Some(port) => {
                let number = port.parse().ok().filter(|number| is_decimal(port) && *number > 0);
                Some(number.ok_or(InvalidSecret::Port)?)
            }
            None => None,
        };
        let (name, is_below) = name.strip_prefix("*.").map_or((name, false), |parent| (parent, true));
        Ok(Self { name: Name::parse(name).map_err(InvalidSecret::Host)?, is_below, port })
    }

    fn covers(&self, target: Target<'_>) -> bool {
        let has_name = if self.is_below {
            target.name.is_at_or_below(self.name.as_str()) && *target.name != self.name
        } else {
            *target.name == self.name
        };
        has_name && target.port == self.port.unwrap_or(if target.is_tls { TLS_PORT } else { PLAIN_PORT })
    }
}

impl Secret {
    /// Returns whether a destination may receive the value.
    pub fn covers(&self, target: Target<'_>) -> bool {
        (target.is_tls || self.insecure) && self.hosts.iter().any(|host| host.covers(target))
    }
}

impl Secret {
    /// Returns the text of the value.
    fn text(&self) -> Option<&SecretValue> {
        match &self.value {
            Some(Credential::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn accepts(&self, value: &Credential) -> bool {
        self.signs.is_some() == matches!(value, Credential::Aws(_))
    }
}

impl SecretTable {
    /// Returns the secret that signs a request. A secret with a placeholder signs requests that are
    /// signed with the placeholder as the id of the key. A secret without a placeholder signs every
    /// request to its hosts.
    pub fn signer<'a>(&'a self, target: Target<'a>, claim: Option<&Claim>) -> Option<(&'a str, &'a Secret, &'a Signing)> {
        let signs = |secret: &Secret| match &secret.placeholder {
            Some(placeholder) => claim.is_some_and(|claim| claim.key_id == placeholder.as_str()),
            None => true,
        };
        self.of(target).find_map(|(name, secret)| Some((name, secret, secret.signs.as_ref().filter(|_| signs(secret))?)))
    }

    /// Returns the names of the secrets whose placeholder is in a text.
    pub fn named_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let has = |secret: &Secret| secret.placeholder.as_ref().is_some_and(|placeholder| text.contains(placeholder.as_str()));
        self.0.iter().filter(move |(_, secret)| has(secret)).map(|(name, _)| name.as_str())
    }

    /// Sets a secret. A secret with an equal name is replaced.
    ///
    /// # Errors
    /// Fails if the secret is wrong. The table stays unchanged.
    pub fn set(&mut self, name: &str, secret: Secret) -> Result<(), InvalidSecret> {
        if !is_secret_name(name) {
            return Err(InvalidSecret::Name);
        }
        if secret.hosts.is_empty() || secret.hosts.len() > MAX_HOSTS {
            return Err(InvalidSecret::Hosts);
        }
        if secret.places.len() > MAX_PLACES {
            return Err(InvalidSecret::Places);
        }
        if !self.0.contains_key(name) && self.0.len() >= MAX_SECRETS {
            return Err(InvalidSecret::TooMany);
        }
        let others = self.0.iter().filter(|(other, _)| *other != name).filter_map(|(_, other)| other.placeholder.as_ref());
        for other in others {
            let overlaps = |new: &Placeholder| new.as_str().contains(other.as_str()) || other.as_str().contains(new.as_str());
            if secret.placeholder.as_ref().is_some_and(overlaps) {
                return Err(InvalidSecret::Placeholder);
            }
        }
        self.0.insert(name.to_owned(), secret);
        Ok(())
    }

    /// Replaces the value of a secret. Returns false if there is no such secret.
    ///
    /// A value of another kind than the secret's makes the value missing.
    pub fn set_value(&mut self, name: &str, value: Result<Credential, Absence>) -> bool {
        let Some(secret) = self.0.get_mut(name) else { return false };
        let value = value.and_then(|value| if secret.accepts(&value) { Ok(value) } else { Err(Absence::Missing) });
        secret.absence = value.as_ref().err().copied().unwrap_or_default();
        secret.value = value.ok();
        true
    }

    /// Replaces all secrets. A secret whose name was known keeps its value.
    ///
    /// # Errors
    /// Returns the name of the first wrong secret. The table stays unchanged.
    pub fn replace(&mut self, secrets: Vec<(String, Secret)>) -> Result<(), (String, InvalidSecret)> {
        let mut next = Self::default();
        for (name, mut secret) in secrets {
            if let Some(known) = self.0.get(&name) {
                secret.value = known.value.clone().filter(|value| secret.accepts(value));
                secret.absence = known.absence;
            }
            next.set(&name, secret).map_err(|fault| (name, fault))?;
        }
        *self = next;
        Ok(())
    }

    /// Returns whether a secret has this name.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns whether there is no secret.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the value of a secret that a destination may receive is pending.
    pub fn has_pending(&self, target: Target<'_>) -> bool {
        let is_pending = |secret: &Secret| secret.value.is_none() && secret.absence == Absence::Pending;
        self.0.values().any(|secret| is_pending(secret) && secret.covers(target))
    }

    /// Returns the reason why the value of a secret is absent. Returns `Missing` for an unknown
    /// name.
    pub fn absence(&self, name: &str) -> Absence {
        self.0.get(name).map_or(Absence::Missing, |secret| secret.absence)
    }

    /// Returns the secrets that a destination may receive.
    pub fn of<'a>(&'a self, target: Target<'a>) -> impl Iterator<Item = (&'a str, &'a Secret)> {
        self.0.iter().filter(move |(_, secret)| secret.covers(target)).map(|(name, secret)| (name.as_str(), secret))
    }

    /// Returns the value of a secret if a destination may receive the value.
    pub fn value<'a>(&'a self, name: &str, target: Target<'a>) -> Option<&'a SecretValue> {
        self.0.get(name).filter(|secret| secret.covers(target))?.text()
    }

    /// Replaces the placeholders in a header of a request. Returns the new value and the names of
    /// the used secrets.
    ///
    /// # Errors
    /// Fails if the header has the placeholder of a secret without a value, or would be too long.
    pub fn swap<'a>(&'a self, target: Target<'a>, header: &str, value: &[u8]) -> Result<(Swapped, Vec<&'a str>), SwapFault<'a>> {
        self.swap_in(target, |place| matches!(place, Place::Header(name) if **name == *header), value, SecretValue::clone)
    }

    /// Replaces the placeholders in the value of a field of the query, as [`Self::swap`] does. A
    /// placeholder has no character that a client encodes.
    ///
    /// # Errors
    /// Fails as [`Self::swap`] does.
    pub fn swap_field<'a>(
        &'a self,
        target: Target<'a>,
        field: &str,
        value: &[u8],
    ) -> Result<(Swapped, Vec<&'a str>), SwapFault<'a>> {
        let encoded = |value: &SecretValue| value.percent_encoded();
        self.swap_in(target, |place| matches!(place, Place::Query(name) if **name == *field), value, encoded)
    }

    fn swap_in<'a>(
        &'a self,
        target: Target<'a>,
        is_place: impl Fn(&Place) -> bool,
        value: &[u8],
        written: impl Fn(&SecretValue) -> SecretValue,
    ) -> Result<(Swapped, Vec<&'a str>), SwapFault<'a>> {
        let mut names = Vec::new();
        let mut swaps = Vec::new();
        let mut missing = Vec::new();
        let has_place = |secret: &Secret| secret.signs.is_none() && secret.places.iter().any(&is_place);
        for (name, secret) in self.of(target).filter(|(_, secret)| has_place(secret)) {
            match (&secret.placeholder, secret.text()) {
                (Some(placeholder), Some(value)) => {
                    names.push(name);
                    swaps.push((placeholder, written(value)));
                }
                (Some(placeholder), None) => missing.push((name, placeholder)),
                (None, _) => {}
            }
        }
        // A value that no response contains stands for the missing value.
        if let (false, Ok(none)) = (missing.is_empty(), SecretValue::new(vec![b'-'])) {
            let tried: Vec<_> = missing.iter().map(|(_, placeholder)| (*placeholder, &none)).collect();
            let found = swap_header(value, &tried).map_err(|TooLong| SwapFault::TooLong)?;
            if let Some((name, _)) = found.used.first().and_then(|index| missing.get(*index)) {
                return Err(SwapFault::Missing(name));
            }
        }
        let swaps: Vec<_> = swaps.iter().map(|(placeholder, value)| (*placeholder, value)).collect();
        let swapped = swap_header(value, &swaps).map_err(|TooLong| SwapFault::TooLong)?;
        let used = swapped.used.iter().filter_map(|index| names.get(*index).copied()).collect();
        Ok((swapped, used))
    }
}

/// The reason why a header cannot be forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwapFault<'a> {
    /// The secret of this name has no value.
    Missing(&'a str),
    /// The header would be too long.
    TooLong,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(placeholder: &str, hosts: &[&str], insecure: bool) -> Secret {
        Secret {
            placeholder: Some(Placeholder::parse(placeholder).unwrap()),
            value: SecretValue::new(b"real-value-one".to_vec()).ok().map(Credential::Text),
            hosts: hosts.iter().map(|host| Host::parse(host).unwrap()).collect(),
            absence: Absence::default(),
            places: Place::defaults(),
            insecure,
            signs: None,
        }
    }

    const ONE: &str = "cfs_AAAAAAAAAAAAAAAAAAAA";
    const TWO: &str = "cfs_BBBBBBBBBBBBBBBBBBBB";

    fn swap(table: &SecretTable, host: &str, port: u16, is_tls: bool, header: &str) -> Option<Vec<u8>> {
        let name = Name::parse(host).unwrap();
        let swapped = table.swap(Target { name: &name, port, is_tls }, header, ONE.as_bytes());
        swapped.unwrap_or_else(|fault| panic!("{fault:?}")).0.value.map(|value| value.to_vec())
    }

    #[test]
    fn only_the_hosts_of_a_secret_receive_the_value() {
        let mut table = SecretTable::default();
        table.set("KEY", secret(ONE, &["api.test", "*.wide.test:8443"], false)).unwrap();
        let value = Some(b"real-value-one".to_vec());
        assert_eq!(swap(&table, "api.test", 443, true, "authorization"), value);
        assert_eq!(swap(&table, "a.wide.test", 8443, true, "x-api-key"), value);
        for (host, port, is_tls, header) in [
            ("api.test", 443, false, "authorization"),
            ("api.test", 80, false, "authorization"),
            ("api.test", 8443, true, "authorization"),
            ("x.api.test", 443, true, "authorization"),
            ("wide.test", 8443, true, "authorization"),
            ("a.wide.test", 443, true, "authorization"),
            ("api.test", 443, true, "user-agent"),
            ("api.test", 443, true, "proxy-authorization"),
        ] {
            assert_eq!(swap(&table, host, port, is_tls, header), None, "{host}:{port} {is_tls} {header}");
        }
        table.set("KEY", secret(ONE, &["api.test"], true)).unwrap();
        assert_eq!(swap(&table, "api.test", 80, false, "authorization"), value);
    }

    #[test]
    fn a_placeholder_without_a_value_is_reported() {
        let mut table = SecretTable::default();
        table.set("A", secret(ONE, &["api.test"], false)).unwrap();
        table.set("B", secret(TWO, &["api.test"], false)).unwrap();
        assert!(table.set_value("A", Err(Absence::Missing)) && !table.set_value("C", Err(Absence::Missing)));
        assert_eq!((table.absence("A"), table.absence("C")), (Absence::Missing, Absence::Missing));
        let name = Name::parse("api.test").unwrap();
        let target = Target { name: &name, port: 443, is_tls: true };
        assert_eq!(table.swap(target, "authorization", ONE.as_bytes()).err(), Some(SwapFault::Missing("A")));
        let (swapped, used) = table.swap(target, "authorization", TWO.as_bytes()).unwrap_or_else(|fault| panic!("{fault:?}"));
        assert_eq!((swapped.value.unwrap().as_slice(), used), (b"real-value-one".as_slice(), vec!["B"]));
        assert!(!table.has_pending(target));
        let other = Secret { value: None, ..secret(TWO, &["api.test"], false) };
        assert!(table.replace(vec![("B".to_owned(), other.clone()), ("C".to_owned(), secret(ONE, &[], false))]).is_err());
        table.replace(vec![("B".to_owned(), other.clone())]).unwrap();
        assert!(!table.has_pending(target) && table.value("B", target).is_some(), "a known name keeps its value");
        table.replace(vec![("D".to_owned(), other)]).unwrap();
        assert!(table.has_pending(target) && !table.has_pending(Target { port: 444, ..target }));
        assert!(table.swap(target, "authorization", ONE.as_bytes()).is_ok_and(|(swapped, _)| swapped.value.is_none()));
    }

    #[test]
    fn refuses_wrong_secrets() {
        let mut table = SecretTable::default();
        table.set("A", secret(ONE, &["api.test"], false)).unwrap();
        assert_eq!(table.set("B", secret(ONE, &["api.test"], false)), Err(InvalidSecret::Placeholder));
        assert_eq!(table.set("B", secret(&format!("x{ONE}"), &["api.test"], false)), Err(InvalidSecret::Placeholder));
        assert_eq!(table.set("A", secret(ONE, &["b.test"], false)), Ok(()));
        assert_eq!(table.set("1A", secret(TWO, &["api.test"], false)), Err(InvalidSecret::Name));
        assert_eq!(table.set("B", secret(TWO, &[], false)), Err(InvalidSecret::Hosts));
        for host in ["", "a.test:0", "a.test:", "a.test:+1", "10.0.0.1", "*", "a b", "*.*.a.test", "[::1]"] {
            assert!(Host::parse(host).is_err(), "{host}");
        }
    }
}
