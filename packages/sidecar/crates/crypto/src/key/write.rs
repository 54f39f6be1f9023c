//! Keys to DER and PEM.

use super::der::{self, NULL, OCTET_STRING, OID, bit_string, encode, sequence, unsigned};
use super::read::Encoding;
use super::{Key, Okp, PssParameters, RsaKey, oid, pem, sealed};
use crate::{Algorithm, Fault, Watch};

/// SubjectPublicKeyInfo for a public key, PKCS#8 for a private one: as the guest holds it.
pub(crate) fn held(key: &Key) -> Result<Vec<u8>, Fault> {
    to_der(key, if key.is_private() { Encoding::Pkcs8 } else { Encoding::Spki })
}

pub(crate) fn to_der(key: &Key, encoding: Encoding) -> Result<Vec<u8>, Fault> {
    match (encoding, key) {
        (Encoding::Pkcs1, Key::Rsa(key)) => pkcs1(key),
        (Encoding::Sec1, Key::Ec { curve, point, scalar: Some(scalar) }) => Ok(sec1(scalar, point, Some(curve.oid()))),
        (Encoding::Spki, key) => {
            let bits = match key {
                Key::Rsa(key) => sequence(&[unsigned(&key.n), unsigned(&key.e)]),
                Key::Ec { point, .. } => point.clone(),
                Key::Okp { public, .. } => public.clone(),
            };
            Ok(sequence(&[algorithm(key), bit_string(&bits)]))
        }
        (Encoding::Pkcs8, key) if key.is_private() => {
            let inner = match key {
                Key::Rsa(key) => pkcs1(key)?,
                Key::Ec { point, scalar, .. } => sec1(scalar.as_deref().unwrap_or_default(), point, None),
                Key::Okp { secret, .. } => encode(OCTET_STRING, secret.as_deref().unwrap_or_default()),
            };
            Ok(sequence(&[unsigned(&[]), algorithm(key), encode(OCTET_STRING, &inner)]))
        }
        _ => Err(Fault::KeyType),
    }
}

fn algorithm(key: &Key) -> Vec<u8> {
    match key {
        Key::Rsa(RsaKey { pss: None, .. }) => sequence(&[encode(OID, oid::RSA), encode(NULL, &[])]),
        Key::Rsa(RsaKey { pss: Some(None), .. }) => sequence(&[encode(OID, oid::RSA_PSS)]),
        Key::Rsa(RsaKey { pss: Some(Some(parameters)), .. }) => sequence(&[encode(OID, oid::RSA_PSS), pss(*parameters)]),
        Key::Ec { curve, .. } => sequence(&[encode(OID, oid::EC), encode(OID, curve.oid())]),
        Key::Okp { kind: Okp::Ed25519, .. } => sequence(&[encode(OID, oid::ED25519)]),
        Key::Okp { kind: Okp::X25519, .. } => sequence(&[encode(OID, oid::X25519)]),
    }
}

/// What has its default value is left out, as DER wants.
fn pss(parameters: PssParameters) -> Vec<u8> {
    let digest = |algorithm| sequence(&[encode(OID, &oid::digest(algorithm).unwrap_or_default()), encode(NULL, &[])]);
    let mut values = Vec::new();
    if parameters.hash != Algorithm::Sha1 {
        values.push(encode(0xa0, &digest(parameters.hash)));
    }
    if parameters.mgf_hash != Algorithm::Sha1 {
        values.push(encode(0xa1, &sequence(&[encode(OID, oid::MGF1), digest(parameters.mgf_hash)])));
    }
    if parameters.salt_len != 20 {
        values.push(encode(0xa2, &unsigned(&parameters.salt_len.to_be_bytes())));
    }
    sequence(&values)
}

fn pkcs1(key: &RsaKey) -> Result<Vec<u8>, Fault> {
    let RsaKey { n, e, private, .. } = key;
    let Some(private) = private else { return Ok(sequence(&[unsigned(n), unsigned(e)])) };
    let numbers = [&[], n.as_slice(), e, &private.d, &private.p, &private.q, &private.dp, &private.dq, &private.qi];
    Ok(sequence(&numbers.map(unsigned)))
}

fn sec1(scalar: &[u8], point: &[u8], oid: Option<&[u8]>) -> Vec<u8> {
    let mut values = vec![unsigned(&[1]), encode(OCTET_STRING, scalar)];
    values.extend(oid.map(|oid| encode(0xa0, &encode(OID, oid))));
    values.push(encode(0xa1, &bit_string(point)));
    der::sequence(&values)
}

/// In PEM. The label says the encoding.
pub(crate) fn to_pem(der: &[u8], encoding: Encoding, private: bool) -> Vec<u8> {
    let label = match (encoding, private) {
        (Encoding::Pkcs1, true) => "RSA PRIVATE KEY",
        (Encoding::Pkcs1, false) => "RSA PUBLIC KEY",
        (Encoding::Sec1, _) => "EC PRIVATE KEY",
        (Encoding::Pkcs8, _) => "PRIVATE KEY",
        (Encoding::Spki, _) => "PUBLIC KEY",
    };
    pem::encode(label, der)
}

/// PKCS#8 sealed with a passphrase, as DER or PEM.
pub(crate) fn sealed(
    key: &Key,
    key_len: usize,
    passphrase: &[u8],
    as_pem: bool,
    watch: &mut dyn Watch,
) -> Result<Vec<u8>, Fault> {
    let der = sealed::seal(&to_der(key, Encoding::Pkcs8)?, key_len, passphrase, watch)?;
    Ok(if as_pem { pem::encode("ENCRYPTED PRIVATE KEY", &der) } else { der })
}
