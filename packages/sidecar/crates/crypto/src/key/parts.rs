//! Converts keys to numbers and back: for JWK, for raw keys and for the details that Node shows.

use super::curve::Curve;
use super::read::rsa;
use super::{Key, Okp, PssParameters, RsaKey, RsaPrivate};
use crate::fields::{Fields, Reply};
use crate::{Algorithm, Fault};

/// Returns the private key with this secret.
pub(crate) fn okp_pair(kind: Okp, secret: &[u8]) -> Result<Key, Fault> {
    let bytes: [u8; 32] = secret.try_into().map_err(|_| Fault::Length)?;
    let public = match kind {
        Okp::Ed25519 => ed25519_dalek::SigningKey::from_bytes(&bytes).verifying_key().to_bytes(),
        Okp::X25519 => x25519_dalek::PublicKey::from(&x25519_dalek::StaticSecret::from(bytes)).to_bytes(),
    };
    Ok(Key::Okp { kind, public: public.to_vec(), secret: Some(secret.to_vec()) })
}

/// Writes a key's kind, its public numbers and its private numbers. A public key has empty fields
/// for the private numbers. RSA: modulus, exponent, d, p, q, dp, dq, qi, digest, MGF digest, salt
/// length. The last three are -1 unless the key is restricted to PSS parameters. EC: curve, x, y,
/// scalar. Ed25519 and X25519: public key, secret.
pub(crate) fn to_fields(key: &Key) -> Result<Vec<u8>, Fault> {
    let reply = Reply::default().number(key.kind())?;
    match key {
        Key::Rsa(RsaKey { n, e, private, pss }) => {
            let mut reply = reply.bytes(n)?.bytes(e)?;
            let none = RsaPrivate { d: vec![], p: vec![], q: vec![], dp: vec![], dq: vec![], qi: vec![] };
            let RsaPrivate { d, p, q, dp, dq, qi } = private.as_ref().unwrap_or(&none);
            for number in [d, p, q, dp, dq, qi] {
                reply = reply.bytes(number)?;
            }
            let numbers = match pss.flatten() {
                Some(PssParameters { hash, mgf_hash, salt_len }) => [hash as i64, mgf_hash as i64, i64::from(salt_len)],
                None => [-1, -1, -1],
            };
            numbers.into_iter().try_fold(reply, Reply::number).map(Reply::done)
        }
        Key::Ec { curve, point, scalar } => {
            let (x, y) = point.get(1..).ok_or(Fault::InvalidPoint)?.split_at(curve.len());
            Ok(reply.number(*curve as i64)?.bytes(x)?.bytes(y)?.bytes(scalar.as_deref().unwrap_or_default())?.done())
        }
        Key::Okp { public, secret, .. } => Ok(reply.bytes(public)?.bytes(secret.as_deref().unwrap_or_default())?.done()),
    }
}

/// Reads a key from its kind and its numbers. A private RSA key needs d to qi. An EC key needs its
/// curve, a point in any form and a scalar. Either the point or the scalar may be empty. An Ed25519
/// or X25519 key needs the public key or the secret.
pub(crate) fn from_fields(fields: &mut Fields<'_>) -> Result<Key, Fault> {
    match fields.number::<i64>()? {
        1 => {
            let mut next = || fields.bytes().map(|number| crate::prime::strip(number).to_vec());
            let (n, e, d) = (next()?, next()?, next()?);
            if d.is_empty() {
                return rsa(RsaKey { n, e, private: None, pss: None });
            }
            let private = RsaPrivate { d, p: next()?, q: next()?, dp: next()?, dq: next()?, qi: next()? };
            rsa(RsaKey { n, e, private: Some(private), pss: None })
        }
        3 => {
            let curve = Curve::of(fields.number()?).ok_or(Fault::Unsupported)?;
            let (point, scalar) = (fields.bytes()?, fields.bytes()?);
            if scalar.is_empty() {
                return Ok(Key::Ec { curve, point: curve.point(point)?, scalar: None });
            }
            let (scalar, own) = curve.scalar(scalar)?;
            if !point.is_empty() && curve.point(point)? != own {
                return Err(Fault::InvalidPoint);
            }
            Ok(Key::Ec { curve, point: own, scalar: Some(scalar) })
        }
        kind @ (4 | 5) => {
            let kind = if kind == 4 { Okp::Ed25519 } else { Okp::X25519 };
            let (public, secret) = (fields.bytes()?, fields.bytes()?);
            if !secret.is_empty() {
                return okp_pair(kind, secret);
            }
            if public.len() != 32 {
                return Err(Fault::Length);
            }
            Ok(Key::Okp { kind, public: public.to_vec(), secret: None })
        }
        _ => Err(Fault::Unsupported),
    }
}

pub(crate) fn optional_digest(number: Option<i64>) -> Result<Option<Algorithm>, Fault> {
    number.map(|number| Algorithm::of(number).ok_or(Fault::Unsupported)).transpose()
}
