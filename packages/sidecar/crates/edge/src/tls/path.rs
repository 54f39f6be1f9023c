//! The path from a peer's certificate to an authority, and its verification by the rules and with
//! the codes of OpenSSL. The library webpki is stricter than OpenSSL: it refuses certificates of
//! version 1 and authorities as servers, and it has other codes. Programs for Node depend on both.
//! The secrets of the operator do not depend on this verification
//! ([`Roots::verify_for_operator`]). Next: `tickets.rs`.
//!
//! As in OpenSSL with Node's callback, each check runs, and the last failure is the result.

use super::verify::Roots;
use super::x509::{Certificate, List, Purpose, usage};
use rustls::pki_types::CertificateDer;

/// The largest number of authorities between a peer and the end of the path.
const MAX_AUTHORITIES: usize = 32;
/// The largest number of certificates of a path: the peer, the authorities and the end.
const MAX_PATH: usize = MAX_AUTHORITIES + 2;

/// The rules of a verification.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The use of the peer's certificate.
    pub purpose: Purpose,
    /// Whether a path may end at a trusted certificate that is not self-signed.
    pub allows_partial: bool,
    /// Lists of revoked certificates in DER. If there are any, each issuer needs one.
    pub lists: Vec<Vec<u8>>,
}

impl Rules {
    /// The rules for a server without options of the guest.
    pub fn of_server() -> Self {
        Self { purpose: Purpose::Server, allows_partial: false, lists: Vec::new() }
    }
}

struct Path<'a> {
    /// From the peer's certificate to the last issuer.
    certificates: Vec<Certificate<'a>>,
    /// The number of certificates from the peer. The others are from the store.
    untrusted: usize,
    is_trusted: bool,
}

/// Verifies a peer's certificates at the time `now` in seconds since 1970. Returns OpenSSL's code
/// of the failure.
pub fn verify(chain: &[CertificateDer<'_>], roots: &Roots, rules: &Rules, now: i64) -> Result<(), &'static str> {
    let Some((own, others)) = chain.split_first() else { return Err("UNABLE_TO_GET_ISSUER_CERT") };
    let own = Certificate::read(own).ok_or("UNSPECIFIED")?;
    let others: Vec<_> = others.iter().filter_map(|one| Certificate::read(one)).collect();
    let path = Path::build(own, &others, roots, rules, now);
    let mut fault = path.end();
    let mut note = |found: Option<&'static str>| fault = found.or(fault);
    note(path.extensions(rules));
    note(path.revocation(rules, now));
    note(path.signatures(rules, now));
    if fault.is_none() && path.certificates.iter().any(|one| one.extensions.has_constraints) {
        fault = roots.constraints(chain).err();
    }
    fault.map_or(Ok(()), Err)
}

impl<'a> Path<'a> {
    fn build(own: Certificate<'a>, others: &[Certificate<'a>], roots: &'a Roots, rules: &Rules, now: i64) -> Self {
        let mut path = Self { certificates: vec![own], untrusted: 1, is_trusted: false };
        let mut last = own;
        while path.certificates.len() <= MAX_PATH {
            if last.is_self_signed() {
                path.is_trusted = path.untrusted < path.certificates.len() || roots.contains(last.whole);
                break;
            }
            let is_own_part = path.untrusted == path.certificates.len();
            if let Some(issuer) = roots.issuer(&last, now) {
                last = issuer;
                path.certificates.push(issuer);
                if rules.allows_partial {
                    path.is_trusted = true;
                    break;
                }
            } else if let Some(next) = others
                .iter()
                .find(|one| is_own_part && last.names(one) && !path.certificates.iter().any(|seen| seen.whole == one.whole))
            {
                last = *next;
                path.certificates.push(last);
                path.untrusted += 1;
            } else {
                break;
            }
        }
        path.is_trusted |= rules.allows_partial && path.certificates.iter().any(|one| roots.contains(one.whole));
        path
    }

    /// Returns the failure of a path without a trusted end.
    fn end(&self) -> Option<&'static str> {
        let count = self.certificates.len();
        if self.is_trusted {
            return None;
        }
        Some(match self.certificates.last() {
            _ if count > MAX_PATH => "CERT_CHAIN_TOO_LONG",
            Some(last) if last.is_self_signed() && count == 1 => "DEPTH_ZERO_SELF_SIGNED_CERT",
            Some(last) if last.is_self_signed() => "SELF_SIGNED_CERT_IN_CHAIN",
            _ if self.untrusted < count => "UNABLE_TO_GET_ISSUER_CERT",
            _ => "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
        })
    }

    fn extensions(&self, rules: &Rules) -> Option<&'static str> {
        let mut fault = None;
        let mut below = 0;
        for (i, one) in self.certificates.iter().enumerate() {
            if one.extensions.has_unknown {
                fault = Some("UNHANDLED_CRITICAL_EXTENSION");
            }
            if i > 0 && !one.is_authority() {
                fault = Some("INVALID_CA");
            }
            if !one.serves(rules.purpose, i > 0) {
                fault = Some("INVALID_PURPOSE");
            }
            if i > 0 && one.extensions.path_length.is_some_and(|most| below > most) {
                fault = Some("PATH_LENGTH_EXCEEDED");
            }
            if i > 0 && !one.is_self_issued() {
                below += 1;
            }
        }
        fault
    }

    fn revocation(&self, rules: &Rules, now: i64) -> Option<&'static str> {
        if rules.lists.is_empty() {
            return None;
        }
        let lists: Vec<_> = rules.lists.iter().filter_map(|list| List::read(list)).collect();
        let mut fault = None;
        for (i, one) in self.certificates.iter().enumerate() {
            let issuer = self.certificates.get(i + 1).unwrap_or(one);
            let Some(list) = lists.iter().filter(|list| list.issuer == one.issuer).max_by_key(|list| list.valid.0) else {
                fault = Some("UNABLE_TO_GET_CRL");
                continue;
            };
            let found = match () {
                () if !issuer.may(usage::LISTS) => Some("KEYUSAGE_NO_CRL_SIGN"),
                () if list.has_unknown => Some("UNHANDLED_CRITICAL_CRL_EXTENSION"),
                () if !list.is_signed_by(issuer) => Some("CRL_SIGNATURE_FAILURE"),
                () if now < list.valid.0 => Some("CRL_NOT_YET_VALID"),
                () if now > list.valid.1 => Some("CRL_HAS_EXPIRED"),
                () => None,
            };
            fault = if list.has(one.serial) { Some("CERT_REVOKED") } else { found.or(fault) };
        }
        fault
    }

    /// Checks signatures and times, from the end to the peer.
    fn signatures(&self, rules: &Rules, now: i64) -> Option<&'static str> {
        let mut fault = None;
        for (i, one) in self.certificates.iter().enumerate().rev() {
            match self.certificates.get(i + 1) {
                Some(issuer) if !one.is_signed_by(issuer) => fault = Some("CERT_SIGNATURE_FAILURE"),
                Some(_) => {}
                None if one.is_self_signed() || rules.allows_partial => {}
                // The validity of a certificate without an issuer does not matter.
                None if i > 0 => continue,
                None => fault = Some("UNABLE_TO_VERIFY_LEAF_SIGNATURE"),
            }
            if now < one.valid.0 {
                fault = Some("CERT_NOT_YET_VALID");
            } else if now > one.valid.1 {
                fault = Some("CERT_HAS_EXPIRED");
            }
        }
        fault
    }
}
