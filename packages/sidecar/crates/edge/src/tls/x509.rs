//! Reads certificates and lists of revoked certificates in DER. Old certificates of version 1 are
//! accepted, as in OpenSSL. Next: `path.rs`.

use super::provider;

const BOOLEAN: u8 = 0x01;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;

/// Extensions that a certificate may mark as critical, besides the extensions in `Extensions`: the
/// alternative names of the subject, policies, and the places of lists.
const KNOWN: [&[u8]; 6] =
    [&[0x55, 0x1d, 17], &[0x55, 0x1d, 31], &[0x55, 0x1d, 32], &[0x55, 0x1d, 33], &[0x55, 0x1d, 36], &[0x55, 0x1d, 54]];

/// Bits of the extension key usage.
pub mod usage {
    /// The key makes signatures.
    pub const SIGNATURE: u16 = 0x80;
    /// The key encrypts keys.
    pub const ENCIPHERMENT: u16 = 0x20;
    /// The key is a part of a key agreement.
    pub const AGREEMENT: u16 = 0x08;
    /// The key signs certificates.
    pub const CERTIFICATES: u16 = 0x04;
    /// The key signs lists of revoked certificates.
    pub const LISTS: u16 = 0x02;
}

/// A use of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A server of TLS.
    Server,
    /// A client of TLS.
    Client,
}

/// A signed structure: a certificate or a list.
#[derive(Debug, Clone, Copy)]
struct Signed<'a> {
    /// The signed bytes.
    message: &'a [u8],
    fields: &'a [u8],
    algorithm: &'a [u8],
    signature: &'a [u8],
}

/// The public key of a certificate.
#[derive(Debug, Clone, Copy)]
pub struct Key<'a> {
    /// The whole encoded key with its algorithm.
    pub whole: &'a [u8],
    /// The contents of the algorithm.
    pub algorithm: &'a [u8],
    /// The bits of the key.
    pub bits: &'a [u8],
}

/// The extensions of a certificate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extensions<'a> {
    /// Whether the certificate is an authority's, if the extension is present.
    pub authority: Option<bool>,
    /// The largest number of further authorities below this one.
    pub path_length: Option<usize>,
    /// The uses of the key, if the extension is present.
    pub usage: Option<u16>,
    /// Whether the purposes contain server and client, if the extension is present.
    pub purposes: Option<(bool, bool)>,
    /// The identifier of the certificate's key.
    pub own_key: Option<&'a [u8]>,
    /// The identifier of the issuer's key.
    pub issuer_key: Option<&'a [u8]>,
    /// Whether the names below the authority are constrained.
    pub has_constraints: bool,
    /// Whether a critical extension is not known.
    pub has_unknown: bool,
}

/// A certificate.
#[derive(Debug, Clone, Copy)]
pub struct Certificate<'a> {
    /// The encoded certificate.
    pub whole: &'a [u8],
    signed: Signed<'a>,
    is_version_1: bool,
    /// The serial number.
    pub serial: &'a [u8],
    /// The encoded name of the issuer.
    pub issuer: &'a [u8],
    /// The encoded name of the subject.
    pub subject: &'a [u8],
    /// The first and the last second in which the certificate is valid.
    pub valid: (i64, i64),
    /// The key of the subject.
    pub key: Key<'a>,
    /// The extensions.
    pub extensions: Extensions<'a>,
}

impl<'a> Certificate<'a> {
    /// Reads a certificate.
    pub fn read(whole: &'a [u8]) -> Option<Self> {
        let signed = Signed::read(whole)?;
        let mut fields = signed.fields;
        let version = optional(&mut fields, 0xa0).map_or(Some(0), |mut inner| take(&mut inner, INTEGER)?.last().copied())?;
        let serial = take(&mut fields, INTEGER)?;
        // The outer algorithm is authenticated only if the signed bytes repeat it.
        if take(&mut fields, SEQUENCE)? != signed.algorithm {
            return None;
        }
        let issuer = take(&mut fields, SEQUENCE)?;
        let mut validity = take(&mut fields, SEQUENCE)?;
        let valid = (time(&mut validity)?, time(&mut validity)?);
        let subject = take(&mut fields, SEQUENCE)?;
        let key = Key::read(&mut fields)?;
        let _ = (optional(&mut fields, 0xa1), optional(&mut fields, 0xa2));
        let extensions = match optional(&mut fields, 0xa3) {
            Some(mut inner) => Extensions::read(take(&mut inner, SEQUENCE)?)?,
            None => Extensions::default(),
        };
        Some(Self { whole, signed, is_version_1: version == 0, serial, issuer, subject, valid, key, extensions })
    }

    /// Returns the bytes that the issuer has signed.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn signed_bytes(&self) -> &'a [u8] {
        self.signed.message
    }

    /// Returns whether the subject is the issuer.
    pub fn is_self_issued(&self) -> bool {
        self.issuer == self.subject
    }

    /// Returns whether the certificate names its own key as the key of the signature.
    pub fn is_self_signed(&self) -> bool {
        self.is_self_issued() && self.names_key_of(self)
    }

    fn names_key_of(&self, issuer: &Certificate<'_>) -> bool {
        match (self.extensions.issuer_key, issuer.extensions.own_key) {
            (Some(named), Some(own)) => named == own,
            _ => true,
        }
    }

    /// Returns whether `issuer` may have issued this certificate. The signature is not checked.
    pub fn names(&self, issuer: &Certificate<'_>) -> bool {
        self.issuer == issuer.subject && self.names_key_of(issuer) && issuer.may(usage::CERTIFICATES)
    }

    /// Returns whether the key may be used for one of `uses`.
    pub fn may(&self, uses: u16) -> bool {
        self.extensions.usage.is_none_or(|own| own & uses != 0)
    }

    /// Returns whether the certificate is an authority's.
    pub fn is_authority(&self) -> bool {
        let extensions = &self.extensions;
        let old_root = self.is_version_1 && self.is_self_signed();
        self.may(usage::CERTIFICATES) && extensions.authority.unwrap_or(old_root || extensions.usage.is_some())
    }

    /// Returns whether the certificate, or the authority, serves the purpose.
    pub fn serves(&self, purpose: Purpose, as_authority: bool) -> bool {
        let (is_named, uses) = match purpose {
            Purpose::Server => (
                self.extensions.purposes.is_none_or(|(server, _)| server),
                usage::SIGNATURE | usage::ENCIPHERMENT | usage::AGREEMENT,
            ),
            Purpose::Client => (self.extensions.purposes.is_none_or(|(_, client)| client), usage::SIGNATURE | usage::AGREEMENT),
        };
        is_named && if as_authority { self.is_authority() } else { self.may(uses) }
    }

    /// Returns whether the key of `issuer` has signed the certificate.
    pub fn is_signed_by(&self, issuer: &Certificate<'_>) -> bool {
        self.signed.is_signed_by(issuer)
    }
}

/// A list of revoked certificates.
#[derive(Debug, Clone, Copy)]
pub struct List<'a> {
    signed: Signed<'a>,
    /// The encoded name of the issuer.
    pub issuer: &'a [u8],
    /// The first and the last second in which the list is valid.
    pub valid: (i64, i64),
    revoked: &'a [u8],
    /// Whether a critical extension is present. Such lists have only a part of the certificates.
    pub has_unknown: bool,
}

impl<'a> List<'a> {
    /// Reads a list.
    pub fn read(whole: &'a [u8]) -> Option<Self> {
        let signed = Signed::read(whole)?;
        let mut fields = signed.fields;
        let _version = optional(&mut fields, INTEGER);
        if take(&mut fields, SEQUENCE)? != signed.algorithm {
            return None;
        }
        let issuer = take(&mut fields, SEQUENCE)?;
        let from = time(&mut fields)?;
        let has_end = matches!(fields.first(), Some(&(UTC_TIME | GENERALIZED_TIME)));
        let to = if has_end { time(&mut fields)? } else { i64::MAX };
        let revoked = optional(&mut fields, SEQUENCE).unwrap_or_default();
        let mut has_unknown = false;
        if let Some(mut inner) = optional(&mut fields, 0xa0) {
            let mut rest = take(&mut inner, SEQUENCE)?;
            while !rest.is_empty() {
                has_unknown |= extension(&mut rest)?.1;
            }
        }
        Some(Self { signed, issuer, valid: (from, to), revoked, has_unknown })
    }

    /// Returns whether the list has a certificate. A malformed list has each certificate.
    pub fn has(&self, serial: &[u8]) -> bool {
        let mut rest = self.revoked;
        while !rest.is_empty() {
            let found = take(&mut rest, SEQUENCE).and_then(|mut entry| take(&mut entry, INTEGER));
            if found.is_none_or(|found| found == serial) {
                return true;
            }
        }
        false
    }

    /// Returns whether the key of `issuer` has signed the list.
    pub fn is_signed_by(&self, issuer: &Certificate<'_>) -> bool {
        self.signed.is_signed_by(issuer)
    }
}

impl<'a> Signed<'a> {
    fn read(whole: &'a [u8]) -> Option<Self> {
        let mut rest = whole;
        let mut outer = take(&mut rest, SEQUENCE)?;
        if !rest.is_empty() {
            return None;
        }
        let before = outer;
        let fields = take(&mut outer, SEQUENCE)?;
        let message = before.get(..before.len() - outer.len())?;
        let algorithm = take(&mut outer, SEQUENCE)?;
        let signature = whole_bytes(&mut outer)?;
        Some(Self { message, fields, algorithm, signature })
    }

    fn is_signed_by(&self, issuer: &Certificate<'_>) -> bool {
        provider::whole().signature_verification_algorithms.all.iter().any(|algorithm| {
            algorithm.signature_alg_id().as_ref() == self.algorithm
                && algorithm.public_key_alg_id().as_ref() == issuer.key.algorithm
                && algorithm.verify_signature(issuer.key.bits, self.message, self.signature).is_ok()
        })
    }
}

impl<'a> Key<'a> {
    fn read(from: &mut &'a [u8]) -> Option<Self> {
        let before = *from;
        let mut content = take(from, SEQUENCE)?;
        let whole = before.get(..before.len() - from.len())?;
        let algorithm = take(&mut content, SEQUENCE)?;
        let bits = whole_bytes(&mut content)?;
        Some(Self { whole, algorithm, bits })
    }
}

impl<'a> Extensions<'a> {
    fn read(mut rest: &'a [u8]) -> Option<Self> {
        let mut all = Self::default();
        while !rest.is_empty() {
            let (name, is_critical, mut value) = extension(&mut rest)?;
            match name {
                [0x55, 0x1d, 14] => all.own_key = Some(take(&mut value, OCTET_STRING)?),
                [0x55, 0x1d, 15] => {
                    let bits = take(&mut value, BIT_STRING)?;
                    all.usage = Some(u16::from(*bits.get(1)?));
                }
                [0x55, 0x1d, 19] => {
                    let mut inner = take(&mut value, SEQUENCE)?;
                    all.authority = Some(optional(&mut inner, BOOLEAN).is_some_and(|value| value != [0]));
                    if let Some(length) = optional(&mut inner, INTEGER) {
                        all.path_length = Some(length.iter().fold(0, |sum: usize, byte| sum << 8 | usize::from(*byte)));
                    }
                }
                [0x55, 0x1d, 30] => all.has_constraints = true,
                [0x55, 0x1d, 35] => {
                    let mut inner = take(&mut value, SEQUENCE)?;
                    all.issuer_key = optional(&mut inner, 0x80);
                }
                [0x55, 0x1d, 37] => {
                    let mut inner = take(&mut value, SEQUENCE)?;
                    let (mut server, mut client) = (false, false);
                    while !inner.is_empty() {
                        let purpose = take(&mut inner, OBJECT)?;
                        server |= purpose == [0x2b, 6, 1, 5, 5, 7, 3, 1];
                        client |= purpose == [0x2b, 6, 1, 5, 5, 7, 3, 2];
                    }
                    all.purposes = Some((server, client));
                }
                _ => all.has_unknown |= is_critical && !KNOWN.contains(&name),
            }
        }
        Some(all)
    }
}

/// Takes an extension: its name, whether it is critical, and its value.
fn extension<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], bool, &'a [u8])> {
    let mut inner = take(rest, SEQUENCE)?;
    let name = take(&mut inner, OBJECT)?;
    let is_critical = optional(&mut inner, BOOLEAN).is_some_and(|value| value != [0]);
    Some((name, is_critical, take(&mut inner, OCTET_STRING)?))
}

/// Takes the content of the next element, which has the tag.
fn take<'a>(rest: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (&[found, first], after) = rest.split_first_chunk::<2>()?;
    if found != tag {
        return None;
    }
    let (length, after) = match first {
        0..=0x7f => (usize::from(first), after),
        0x81..=0x83 => {
            let (length, after) = after.split_at_checked(usize::from(first & 0x7f))?;
            (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), after)
        }
        _ => return None,
    };
    let (content, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(content)
}

/// Takes the content of the next element if it has the tag.
fn optional<'a>(rest: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    if rest.first() == Some(&tag) { take(rest, tag) } else { None }
}

/// Takes a bit string of whole bytes.
fn whole_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (&unused, bytes) = take(rest, BIT_STRING)?.split_first()?;
    (unused == 0).then_some(bytes)
}

/// Takes a time, as seconds since 1970.
fn time(rest: &mut &[u8]) -> Option<i64> {
    let tag = *rest.first()?;
    let text = take(rest, tag)?;
    let (mut year, text) = match tag {
        UTC_TIME => (digits(text.get(..2)?)?, text.get(2..)?),
        GENERALIZED_TIME => (digits(text.get(..4)?)?, text.get(4..)?),
        _ => return None,
    };
    if tag == UTC_TIME {
        year += if year < 50 { 2000 } else { 1900 };
    }
    let part = |at: usize| digits(text.get(at..at + 2)?);
    let (month, day, hour, minute, second) = (part(0)?, part(2)?, part(4)?, part(6)?, part(8)?);
    if text.get(10..) != Some(b"Z") || !(1..=12).contains(&month) {
        return None;
    }
    // The year begins in March, so that the day of a leap year is its last day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

fn digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
}
