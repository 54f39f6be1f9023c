//! Reads keys from DER and PEM: PKCS#1, PKCS#8 (plain or encrypted with a passphrase), SEC1 and
//! `SubjectPublicKeyInfo`.
//!
//! `spki`, `pkcs1` and `sec1` have most structures. `asn1.rs` has the structures that OpenSSL reads
//! less strictly than the crates do. A program receives OpenSSL's error for a refused key. A
//! [`Fault`] therefore names the wrong part: the ASN.1, the kind of key or the numbers.

use super::asn1::{PrivateKeyInfo, PssParams, RsaNumber};
use super::curve::Curve;
use super::{Key, Okp, PssParameters, RsaKey, RsaPrivate, oid, pbe, pem, sealed};
use crate::{Algorithm, Fault, Watch};
use const_oid::ObjectIdentifier;
use der::Decode;
use der::asn1::{AnyRef, OctetStringRef};
use der::zeroize::Zeroizing;
use pkcs1::{RsaPrivateKey, RsaPublicKey};
use sec1::{EcParameters, EcPrivateKey};
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

/// The longest modulus in bits.
pub(crate) const MAX_MODULUS: usize = 16_384;
/// The salt length of a PSS key without a salt length (RFC 8017).
pub(super) const DEFAULT_SALT_LEN: u32 = 20;

/// The structure that DER contains, by the numbers of Node's `kKeyEncoding…`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Pkcs1,
    Pkcs8,
    Spki,
    Sec1,
}

impl Encoding {
    pub(crate) fn of(number: i64) -> Option<Self> {
        [Self::Pkcs1, Self::Pkcs8, Self::Spki, Self::Sec1].get(usize::try_from(number).ok()?).copied()
    }
}

/// Decrypts encrypted keys. Without a watch, an encrypted key is refused, because decryption takes
/// long.
pub(crate) struct Opener<'a, 'b> {
    pub(crate) passphrase: Option<&'a [u8]>,
    pub(crate) watch: Option<&'b mut dyn Watch>,
}

impl Opener<'_, '_> {
    fn open(&mut self, der: &[u8]) -> Result<Zeroizing<Vec<u8>>, Fault> {
        let (Some(passphrase), Some(watch)) = (self.passphrase, self.watch.as_deref_mut()) else {
            return Err(Fault::PassphraseMissing);
        };
        sealed::open(der, passphrase, watch)
    }
}

/// Reads a private key from PEM. The label determines the encoding.
pub(crate) fn private_pem(text: &[u8], opener: &mut Opener<'_, '_>) -> Result<Key, Fault> {
    let pem::Block { label, der, encryption } =
        pem::decode(text, |label| label.ends_with("PRIVATE KEY")).ok_or(Fault::NoPem)??;
    let der = match encryption {
        Some(info) => pbe::open_pem(&info, &der, opener.passphrase.ok_or(Fault::PassphraseMissing)?)?,
        None => der,
    };
    match label.as_str() {
        "PRIVATE KEY" => pkcs8(&der),
        "ENCRYPTED PRIVATE KEY" => pkcs8(&opener.open(&der)?),
        "RSA PRIVATE KEY" => pkcs1_private(&der, None),
        "EC PRIVATE KEY" => sec1(&der, None),
        _ => Err(Fault::UnexpectedKey),
    }
}

/// Reads a public key from PEM. Returns `None` if the text contains no public key.
pub(crate) fn public_pem(text: &[u8]) -> Option<Result<Key, Fault>> {
    let found = pem::decode(text, |label| label == "PUBLIC KEY" || label == "RSA PUBLIC KEY")?;
    Some(
        found.and_then(|pem::Block { label, der, .. }| if label == "PUBLIC KEY" { spki(&der) } else { pkcs1_public(&der, None) }),
    )
}

pub(crate) fn private_der(der: &[u8], encoding: Encoding, opener: &mut Opener<'_, '_>) -> Result<Key, Fault> {
    match encoding {
        Encoding::Pkcs1 => pkcs1_private(der, None),
        Encoding::Sec1 => sec1(der, None),
        Encoding::Pkcs8 if sealed::is_sealed(der) => pkcs8(&opener.open(der)?),
        Encoding::Pkcs8 => pkcs8(der),
        Encoding::Spki => Err(Fault::UnexpectedKey),
    }
}

pub(crate) fn public_der(der: &[u8], encoding: Encoding) -> Result<Key, Fault> {
    match encoding {
        Encoding::Pkcs1 => pkcs1_public(der, None),
        Encoding::Spki => spki(der),
        Encoding::Pkcs8 | Encoding::Sec1 => Err(Fault::UnexpectedKey),
    }
}

/// Reads a key in the form in which the guest stores keys.
pub(crate) fn held(der: &[u8], private: bool) -> Result<Key, Fault> {
    if private { pkcs8(der) } else { spki(der) }
}

fn spki(der: &[u8]) -> Result<Key, Fault> {
    let info = SubjectPublicKeyInfoRef::from_der(der)?;
    let bits = info.subject_public_key.as_bytes().ok_or(Fault::Asn1)?;
    match info.algorithm.oid {
        pkcs1::ALGORITHM_OID | oid::RSA_PSS => pkcs1_public(bits, pss(&info.algorithm)?),
        sec1::ALGORITHM_OID => {
            let curve = named_curve(&info.algorithm)?;
            Ok(Key::Ec { curve, point: curve.point(bits)?, scalar: None })
        }
        oid => {
            let kind = okp(oid)?;
            if bits.len() != 32 {
                return Err(Fault::Asn1);
            }
            Ok(Key::Okp { kind, public: bits.to_vec(), secret: None })
        }
    }
}

pub(super) fn pkcs8(der: &[u8]) -> Result<Key, Fault> {
    private_key(&PrivateKeyInfo::from_der(der)?)
}

/// Reads PKCS #8 that has been read as a value.
pub(super) fn pkcs8_of(value: AnyRef<'_>) -> Result<Key, Fault> {
    private_key(&value.decode_as()?)
}

fn private_key(info: &PrivateKeyInfo<'_>) -> Result<Key, Fault> {
    let key = info.private_key.as_bytes();
    match info.algorithm.oid {
        pkcs1::ALGORITHM_OID | oid::RSA_PSS => pkcs1_private(key, pss(&info.algorithm)?),
        sec1::ALGORITHM_OID => sec1(key, Some(named_curve(&info.algorithm)?)),
        oid => super::parts::okp_pair(okp(oid)?, structure::<&OctetStringRef>(key)?.as_bytes()),
    }
}

/// Reads the structure of a private key, inside PKCS#8 or alone. OpenSSL tries one format after the
/// other, so OpenSSL reports a damaged structure as an unsupported key. Only the outer structure of
/// PKCS#8 has errors of ASN.1.
fn structure<'a, T: Decode<'a, Error = der::Error>>(der: &'a [u8]) -> Result<T, Fault> {
    T::from_der(der).map_err(|_| Fault::Unsupported)
}

fn okp(oid: ObjectIdentifier) -> Result<Okp, Fault> {
    match oid {
        oid::ED25519 => Ok(Okp::Ed25519),
        oid::X25519 => Ok(Okp::X25519),
        _ => Err(Fault::Unsupported),
    }
}

fn named_curve(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Curve, Fault> {
    let oid = algorithm.parameters.ok_or(Fault::Asn1)?.decode_as()?;
    Curve::with_oid(oid).ok_or(Fault::Unsupported)
}

/// Reads the restrictions of an RSA key. Returns `None` for a key without restrictions, and
/// `Some(None)` for PSS with any parameters.
fn pss(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Option<Option<PssParameters>>, Fault> {
    if algorithm.oid != oid::RSA_PSS {
        return if algorithm.parameters.is_none_or(AnyRef::is_null) { Ok(None) } else { Err(Fault::Asn1) };
    }
    let Some(parameters) = algorithm.parameters else { return Ok(Some(None)) };
    let PssParams { hash, mask, salt_len, .. } = parameters.decode_as()?;
    let digest = |identifier: Option<AlgorithmIdentifierRef<'_>>| match identifier {
        Some(identifier) => oid::pss_digest(&identifier).ok_or(Fault::Unsupported),
        None => Ok(Algorithm::Sha1),
    };
    let mgf_hash = match mask {
        Some(mask) if mask.oid != oid::MGF1 => return Err(Fault::Unsupported),
        Some(mask) => digest(Some(mask.parameters.ok_or(Fault::Asn1)?))?,
        None => Algorithm::Sha1,
    };
    Ok(Some(Some(PssParameters { hash: digest(hash)?, mgf_hash, salt_len: salt_len.unwrap_or(DEFAULT_SALT_LEN) })))
}

fn pkcs1_public(der: &[u8], pss: Option<Option<PssParameters>>) -> Result<Key, Fault> {
    let key = RsaPublicKey::<RsaNumber<'_>>::from_der(der)?;
    rsa(RsaKey { n: key.modulus.0.to_vec(), e: key.public_exponent.0.to_vec(), private: None, pss })
}

fn pkcs1_private(der: &[u8], pss: Option<Option<PssParameters>>) -> Result<Key, Fault> {
    let key: RsaPrivateKey<RsaNumber<'_>> = structure(der)?;
    if key.other_prime_infos.is_some() {
        return Err(Fault::Unsupported);
    }
    let bytes = |number: RsaNumber<'_>| number.0.to_vec();
    let private = RsaPrivate {
        d: bytes(key.private_exponent),
        p: bytes(key.prime1),
        q: bytes(key.prime2),
        dp: bytes(key.exponent1),
        dq: bytes(key.exponent2),
        qi: bytes(key.coefficient),
    };
    rsa(RsaKey { n: bytes(key.modulus), e: bytes(key.public_exponent), private: Some(private), pss })
}

/// Checks the numbers of an RSA key: the modulus is odd and not too long, and the primes are odd.
/// No other number is empty or longer than the modulus.
pub(crate) fn rsa(key: RsaKey) -> Result<Key, Fault> {
    let len = key.n.len();
    let odd = |number: &[u8]| number.last().is_some_and(|last| last & 1 == 1);
    let fine = len > 0 && len <= MAX_MODULUS / 8 && odd(&key.n) && !key.e.is_empty() && key.e.len() <= len;
    let private = key.private.as_ref().is_none_or(|private| {
        let RsaPrivate { d, p, q, dp, dq, qi } = private;
        [d, p, q, dp, dq, qi].iter().all(|number| !number.is_empty() && number.len() <= len) && odd(p) && odd(q)
    });
    if fine && private { Ok(Key::Rsa(key)) } else { Err(Fault::Asn1) }
}

/// Reads an EC key. The curve is `known`, or the curve that the key names.
fn sec1(der: &[u8], known: Option<Curve>) -> Result<Key, Fault> {
    let key: EcPrivateKey<'_> = structure(der)?;
    let named = match key.parameters.and_then(EcParameters::named_curve) {
        Some(oid) => Some(Curve::with_oid(oid).ok_or(Fault::Unsupported)?),
        None => None,
    };
    let curve = known.or(named).ok_or(Fault::Unsupported)?;
    let (scalar, point) = curve.scalar(key.private_key)?;
    match key.public_key {
        Some(given) if curve.point(given)? != point => Err(Fault::InvalidPoint),
        _ => Ok(Key::Ec { curve, point, scalar: Some(scalar) }),
    }
}
