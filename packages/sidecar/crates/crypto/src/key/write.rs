//! Writes keys to DER and PEM. Next: `sealed.rs`, which encrypts keys.

use super::asn1::PssParams;
use super::curve::Curve;
use super::read::{DEFAULT_SALT_LEN, Encoding};
use super::{Key, Okp, PssParameters, RsaKey, RsaPrivate, oid, pem, sealed};
use crate::{Algorithm, Fault, Watch};
use der::Encode;
use der::asn1::{Any, BitStringRef, OctetStringRef, UintRef};
use der::zeroize::Zeroizing;
use pkcs1::{RsaPrivateKeyRef, RsaPublicKeyRef};
use pkcs8::PrivateKeyInfo;
use sec1::{EcParameters, EcPrivateKey};
use spki::{AlgorithmIdentifier, AlgorithmIdentifierOwned, SubjectPublicKeyInfo};

/// Returns the key in the form in which the guest stores keys: `SubjectPublicKeyInfo` for a public
/// key, PKCS#8 for a private key.
pub(crate) fn held(key: &Key) -> Result<Vec<u8>, Fault> {
    to_der(key, if key.is_private() { Encoding::Pkcs8 } else { Encoding::Spki })
}

pub(crate) fn to_der(key: &Key, encoding: Encoding) -> Result<Vec<u8>, Fault> {
    match (encoding, key) {
        (Encoding::Pkcs1, Key::Rsa(key)) => match &key.private {
            Some(private) => pkcs1_private(key, private),
            None => pkcs1_public(key),
        },
        (Encoding::Sec1, Key::Ec { curve, point, scalar: Some(scalar) }) => sec1(scalar, point, Some(*curve)),
        (Encoding::Spki, key) => spki(key),
        (Encoding::Pkcs8, key) => pkcs8(key),
        _ => Err(Fault::KeyType),
    }
}

fn spki(key: &Key) -> Result<Vec<u8>, Fault> {
    let encoded;
    let bits = match key {
        Key::Rsa(key) => {
            encoded = pkcs1_public(key)?;
            &encoded
        }
        Key::Ec { point, .. } => point,
        Key::Okp { public, .. } => public,
    };
    let subject_public_key = BitStringRef::from_bytes(bits)?;
    Ok(SubjectPublicKeyInfo { algorithm: algorithm(key)?, subject_public_key }.to_der()?)
}

fn pkcs8(key: &Key) -> Result<Vec<u8>, Fault> {
    let private_key = Zeroizing::new(match key {
        Key::Rsa(rsa @ RsaKey { private: Some(private), .. }) => pkcs1_private(rsa, private)?,
        Key::Ec { point, scalar: Some(scalar), .. } => sec1(scalar, point, None)?,
        Key::Okp { secret: Some(secret), .. } => OctetStringRef::new(secret)?.to_der()?,
        _ => return Err(Fault::KeyType),
    });
    let private_key = OctetStringRef::new(&private_key)?;
    Ok(PrivateKeyInfo { algorithm: algorithm(key)?, private_key, public_key: None::<BitStringRef<'_>> }.to_der()?)
}

fn algorithm(key: &Key) -> Result<AlgorithmIdentifierOwned, Fault> {
    let (oid, parameters) = match key {
        Key::Rsa(RsaKey { pss: None, .. }) => (pkcs1::ALGORITHM_OID, Some(Any::null())),
        Key::Rsa(RsaKey { pss: Some(None), .. }) => (oid::RSA_PSS, None),
        Key::Rsa(RsaKey { pss: Some(Some(parameters)), .. }) => (oid::RSA_PSS, Some(pss(*parameters)?)),
        Key::Ec { curve, .. } => (sec1::ALGORITHM_OID, Some(Any::encode_from(&curve.oid())?)),
        Key::Okp { kind: Okp::Ed25519, .. } => (oid::ED25519, None),
        Key::Okp { kind: Okp::X25519, .. } => (oid::X25519, None),
    };
    Ok(AlgorithmIdentifier { oid, parameters })
}

/// Encodes the parameters of PSS. DER omits values that equal the default.
fn pss(parameters: PssParameters) -> Result<Any, Fault> {
    let PssParameters { hash, mgf_hash, salt_len } = parameters;
    let digest = |algorithm| oid::digest(algorithm).ok_or(Fault::Unsupported);
    let hash = if hash == Algorithm::Sha1 { None } else { Some(digest(hash)?) };
    let mask = match mgf_hash {
        Algorithm::Sha1 => None,
        other => Some(AlgorithmIdentifier { oid: oid::MGF1, parameters: Some(digest(other)?) }),
    };
    let salt_len = Some(salt_len).filter(|len| *len != DEFAULT_SALT_LEN);
    Ok(Any::encode_from(&PssParams { hash, mask, salt_len })?)
}

fn pkcs1_public(key: &RsaKey) -> Result<Vec<u8>, Fault> {
    Ok(RsaPublicKeyRef { modulus: UintRef::new(&key.n)?, public_exponent: UintRef::new(&key.e)? }.to_der()?)
}

fn pkcs1_private(key: &RsaKey, private: &RsaPrivate) -> Result<Vec<u8>, Fault> {
    let numbers = RsaPrivateKeyRef {
        modulus: UintRef::new(&key.n)?,
        public_exponent: UintRef::new(&key.e)?,
        private_exponent: UintRef::new(&private.d)?,
        prime1: UintRef::new(&private.p)?,
        prime2: UintRef::new(&private.q)?,
        exponent1: UintRef::new(&private.dp)?,
        exponent2: UintRef::new(&private.dq)?,
        coefficient: UintRef::new(&private.qi)?,
        other_prime_infos: None,
    };
    Ok(numbers.to_der()?)
}

fn sec1(scalar: &[u8], point: &[u8], curve: Option<Curve>) -> Result<Vec<u8>, Fault> {
    let parameters = curve.map(|curve| EcParameters::NamedCurve(curve.oid()));
    Ok(EcPrivateKey { private_key: scalar, parameters, public_key: Some(point) }.to_der()?)
}

/// Returns the key as PEM, with the label of the encoding.
pub(crate) fn to_pem(der: &[u8], encoding: Encoding, private: bool) -> Result<Vec<u8>, Fault> {
    let label = match (encoding, private) {
        (Encoding::Pkcs1, true) => "RSA PRIVATE KEY",
        (Encoding::Pkcs1, false) => "RSA PUBLIC KEY",
        (Encoding::Sec1, _) => "EC PRIVATE KEY",
        (Encoding::Pkcs8, _) => "PRIVATE KEY",
        (Encoding::Spki, _) => "PUBLIC KEY",
    };
    pem::encode(label, der)
}

/// Returns the key as PKCS#8 that is encrypted with a passphrase, in DER or PEM.
pub(crate) fn sealed(
    key: &Key,
    key_len: usize,
    passphrase: &[u8],
    as_pem: bool,
    watch: &mut dyn Watch,
) -> Result<Vec<u8>, Fault> {
    let der = sealed::seal(&Zeroizing::new(to_der(key, Encoding::Pkcs8)?), key_len, passphrase, watch)?;
    if as_pem { pem::encode("ENCRYPTED PRIVATE KEY", &der) } else { Ok(der) }
}
