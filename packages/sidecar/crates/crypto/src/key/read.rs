//! Keys from DER and PEM: PKCS#1, PKCS#8 (sealed with a passphrase too), SEC1 and SubjectPublicKeyInfo.

use super::curve::Curve;
use super::der::{NULL, OCTET_STRING, OID, Reader, whole_bytes};
use super::{Key, Okp, PssParameters, RsaKey, RsaPrivate, oid, pem, sealed};
use crate::{Algorithm, Fault, Watch};

/// Longest modulus in bits.
pub(crate) const MAX_MODULUS: usize = 16_384;

/// How DER is to be understood (Node's `kKeyEncoding…`).
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

/// What opens sealed keys, if anything: without a watch none is opened, because that takes long.
pub(crate) struct Opener<'a, 'b> {
    pub(crate) passphrase: Option<&'a [u8]>,
    pub(crate) watch: Option<&'b mut dyn Watch>,
}

impl Opener<'_, '_> {
    fn open(&mut self, der: &[u8]) -> Result<Vec<u8>, Fault> {
        let (Some(passphrase), Some(watch)) = (self.passphrase, self.watch.as_deref_mut()) else {
            return Err(Fault::PassphraseMissing);
        };
        sealed::open(der, passphrase, watch)
    }
}

/// A private key in PEM, whatever kind its label says.
pub(crate) fn private_pem(text: &[u8], opener: &mut Opener<'_, '_>) -> Result<Key, Fault> {
    let (label, der) = pem::decode(text, |label| label.ends_with("PRIVATE KEY")).ok_or(Fault::NoPem)??;
    match label.as_str() {
        "PRIVATE KEY" => pkcs8(&der),
        "ENCRYPTED PRIVATE KEY" => pkcs8(&opener.open(&der)?),
        "RSA PRIVATE KEY" => pkcs1_private(&der),
        "EC PRIVATE KEY" => sec1(&der, None),
        _ => Err(Fault::UnexpectedKey),
    }
}

/// A public key in PEM.
pub(crate) fn public_pem(text: &[u8]) -> Option<Result<Key, Fault>> {
    let found = pem::decode(text, |label| label == "PUBLIC KEY" || label == "RSA PUBLIC KEY")?;
    Some(found.and_then(|(label, der)| if label == "PUBLIC KEY" { spki(&der) } else { pkcs1_public(&der) }))
}

pub(crate) fn private_der(der: &[u8], encoding: Encoding, opener: &mut Opener<'_, '_>) -> Result<Key, Fault> {
    match encoding {
        Encoding::Pkcs1 => pkcs1_private(der),
        Encoding::Sec1 => sec1(der, None),
        Encoding::Pkcs8 if sealed::is_sealed(der) => pkcs8(&opener.open(der)?),
        Encoding::Pkcs8 => pkcs8(der),
        Encoding::Spki => Err(Fault::UnexpectedKey),
    }
}

pub(crate) fn public_der(der: &[u8], encoding: Encoding) -> Result<Key, Fault> {
    match encoding {
        Encoding::Pkcs1 => pkcs1_public(der),
        Encoding::Spki => spki(der),
        Encoding::Pkcs8 | Encoding::Sec1 => Err(Fault::UnexpectedKey),
    }
}

/// A key as the guest holds it.
pub(crate) fn held(der: &[u8], private: bool) -> Result<Key, Fault> {
    if private { pkcs8(der) } else { spki(der) }
}

fn spki(der: &[u8]) -> Result<Key, Fault> {
    let mut outer = Reader::new(der);
    let mut info = outer.sequence()?;
    outer.end()?;
    let mut algorithm = info.sequence()?;
    let bits = info.bits()?;
    info.end()?;
    let oid = algorithm.value(OID)?;
    if oid == oid::RSA || oid == oid::RSA_PSS {
        let Key::Rsa(mut key) = pkcs1_public(bits)? else { return Err(Fault::Internal) };
        key.pss = pss(oid, algorithm)?;
        return Ok(Key::Rsa(key));
    }
    if oid == oid::EC {
        let curve = Curve::with_oid(algorithm.value(OID)?).ok_or(Fault::Unsupported)?;
        return Ok(Key::Ec { curve, point: curve.point(bits)?, scalar: None });
    }
    let kind = okp(oid)?;
    if bits.len() != 32 {
        return Err(Fault::Asn1);
    }
    Ok(Key::Okp { kind, public: bits.to_vec(), secret: None })
}

fn okp(oid: &[u8]) -> Result<Okp, Fault> {
    match oid {
        oid::ED25519 => Ok(Okp::Ed25519),
        oid::X25519 => Ok(Okp::X25519),
        _ => Err(Fault::Unsupported),
    }
}

fn pkcs8(der: &[u8]) -> Result<Key, Fault> {
    let mut outer = Reader::new(der);
    let mut info = outer.sequence()?;
    outer.end()?;
    if info.small()? > 1 {
        return Err(Fault::Asn1);
    }
    let mut algorithm = info.sequence()?;
    let key = info.value(OCTET_STRING)?;
    let oid = algorithm.value(OID)?;
    if oid == oid::RSA || oid == oid::RSA_PSS {
        let Key::Rsa(mut key) = pkcs1_private(key)? else { return Err(Fault::Internal) };
        key.pss = pss(oid, algorithm)?;
        return Ok(Key::Rsa(key));
    }
    if oid == oid::EC {
        return sec1(key, Some(Curve::with_oid(algorithm.value(OID)?).ok_or(Fault::Unsupported)?));
    }
    let kind = okp(oid)?;
    let mut inner = Reader::new(key);
    let secret = inner.value(OCTET_STRING)?;
    inner.end()?;
    super::parts::okp_pair(kind, secret)
}

/// The parameters of a key for PSS; nothing for a plain one.
fn pss(oid: &[u8], mut algorithm: Reader<'_>) -> Result<Option<Option<PssParameters>>, Fault> {
    if oid == oid::RSA {
        algorithm.optional(NULL)?;
        algorithm.end()?;
        return Ok(None);
    }
    if algorithm.is_empty() {
        return Ok(Some(None));
    }
    let mut values = algorithm.sequence()?;
    let digest = |value: &[u8]| {
        let mut identifier = Reader::new(value).sequence()?;
        oid::digest_of(identifier.value(OID)?).ok_or(Fault::Unsupported)
    };
    let mut parameters = PssParameters { hash: Algorithm::Sha1, mgf_hash: Algorithm::Sha1, salt_len: 20 };
    if let Some(hash) = values.optional(0xa0)? {
        parameters.hash = digest(hash)?;
    }
    if let Some(mgf) = values.optional(0xa1)? {
        let mut identifier = Reader::new(mgf).sequence()?;
        if identifier.value(OID)? != oid::MGF1 {
            return Err(Fault::Unsupported);
        }
        let mut inner = identifier.sequence()?;
        parameters.mgf_hash = oid::digest_of(inner.value(OID)?).ok_or(Fault::Unsupported)?;
    }
    if let Some(salt) = values.optional(0xa2)? {
        parameters.salt_len = Reader::new(salt).small()?;
    }
    Ok(Some(Some(parameters)))
}

fn pkcs1_public(der: &[u8]) -> Result<Key, Fault> {
    let mut outer = Reader::new(der);
    let mut values = outer.sequence()?;
    outer.end()?;
    let (n, e) = (values.unsigned()?.to_vec(), values.unsigned()?.to_vec());
    values.end()?;
    rsa(RsaKey { n, e, private: None, pss: None })
}

fn pkcs1_private(der: &[u8]) -> Result<Key, Fault> {
    let mut outer = Reader::new(der);
    let mut values = outer.sequence()?;
    outer.end()?;
    if values.small()? != 0 {
        return Err(Fault::Unsupported);
    }
    let mut next = || values.unsigned().map(<[u8]>::to_vec);
    let (n, e) = (next()?, next()?);
    let private = RsaPrivate { d: next()?, p: next()?, q: next()?, dp: next()?, dq: next()?, qi: next()? };
    rsa(RsaKey { n, e, private: Some(private), pss: None })
}

/// Numbers that can be computed with: the modulus odd and not too long, nothing longer than it.
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

fn sec1(der: &[u8], known: Option<Curve>) -> Result<Key, Fault> {
    let mut outer = Reader::new(der);
    let mut values = outer.sequence()?;
    outer.end()?;
    if values.small()? != 1 {
        return Err(Fault::Asn1);
    }
    let scalar = values.value(OCTET_STRING)?;
    let named = match values.optional(0xa0)? {
        Some(parameters) => Some(Curve::with_oid(Reader::new(parameters).value(OID)?).ok_or(Fault::Unsupported)?),
        None => None,
    };
    let curve = known.or(named).ok_or(Fault::Unsupported)?;
    let (scalar, point) = curve.scalar(scalar)?;
    if let Some(bits) = values.optional(0xa1)? {
        let mut inner = Reader::new(bits);
        let given = whole_bytes(inner.value(super::der::BIT_STRING)?)?;
        if curve.point(given)? != point {
            return Err(Fault::InvalidPoint);
        }
    }
    Ok(Key::Ec { curve, point, scalar: Some(scalar) })
}
