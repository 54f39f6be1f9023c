//! Makes and checks signatures: RSA with the paddings PKCS#1 v1.5 and PSS, ECDSA, and Ed25519.

use crate::fields::Fields;
use crate::key::curve::{Curve, with_curve};
use crate::key::{Key, Okp, RsaKey, parts, read};
use crate::padding::{Pss, digest_info, sign_v15};
use crate::{Algorithm, Fault, Watch, rsa};
use ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use ed25519_dalek::{Signer, Verifier};

/// OpenSSL's number for the padding PSS.
const PSS: i64 = 6;
const V15: i64 = 1;
/// The number that the guest sends for an absent option.
const ABSENT: i64 = -100;

/// The guest's request. Its fields are the key, 1 for a private key, the digest or -1, and 1 if the
/// data is already a digest. The data, the padding, the salt length, and 1 for IEEE P1363 instead
/// of DER follow.
struct Request<'a> {
    key: Key,
    digest: Option<Algorithm>,
    is_digest: bool,
    data: &'a [u8],
    padding: i64,
    salt_len: i64,
    as_p1363: bool,
}

impl<'a> Request<'a> {
    fn read(fields: &mut Fields<'a>) -> Result<Self, Fault> {
        let (der, private) = (fields.bytes()?, fields.number::<u8>()? != 0);
        let digest = parts::optional_digest(fields.optional()?)?;
        let (is_digest, data) = (fields.number::<u8>()? != 0, fields.bytes()?);
        let (padding, salt_len, as_p1363) = (fields.number()?, fields.number()?, fields.number::<u8>()? != 0);
        Ok(Self { key: read::held(der, private)?, digest, is_digest, data, padding, salt_len, as_p1363 })
    }

    /// Returns the digest algorithm. If the request names no algorithm, returns SHA-256, as OpenSSL
    /// does.
    fn algorithm(&self) -> Algorithm {
        self.digest.unwrap_or(Algorithm::Sha256)
    }

    fn digest(&self, watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
        if self.is_digest {
            return Ok(self.data.to_vec());
        }
        let mut hasher = self.algorithm().hasher();
        for chunk in self.data.chunks(1 << 20) {
            watch.step()?;
            hasher.update(chunk);
        }
        let mut out = vec![0; self.algorithm().output_len()];
        hasher.finish(&mut out);
        Ok(out)
    }

    /// Returns the parameters of PSS, or `None` for PKCS#1 v1.5.
    fn pss(&self, key: &RsaKey, signs: bool) -> Result<Option<Pss>, Fault> {
        let default = if key.pss.is_some() { PSS } else { V15 };
        match if self.padding == ABSENT { default } else { self.padding } {
            V15 if key.pss.is_none() => return Ok(None),
            PSS => {}
            _ => return Err(Fault::Padding),
        }
        let hash = self.algorithm();
        let mut pss = Pss { hash, mgf_hash: hash, salt_len: self.salt_len, modulus_bits: bits(&key.n) };
        let least = key.pss.flatten();
        if let Some(parameters) = least {
            if parameters.hash != hash {
                return Err(Fault::KeyType);
            }
            pss.mgf_hash = parameters.mgf_hash;
        }
        if self.salt_len == ABSENT {
            pss.salt_len = match least {
                Some(parameters) if signs => parameters.salt_len.into(),
                _ => -2,
            };
        }
        if signs && least.is_some_and(|parameters| (0..i64::from(parameters.salt_len)).contains(&pss.salt_len)) {
            return Err(Fault::SaltLength);
        }
        Ok(Some(pss))
    }
}

fn bits(modulus: &[u8]) -> usize {
    modulus.len() * 8 - modulus.first().map_or(0, |first| first.leading_zeros() as usize)
}

pub(crate) fn sign(fields: &mut Fields<'_>, watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let request = Request::read(fields)?;
    match &request.key {
        Key::Rsa(key) => {
            let digest = request.digest(watch)?;
            let block = match request.pss(key, true)? {
                Some(pss) => pss.sign(&digest)?,
                None => sign_v15(&digest_info(request.algorithm(), &digest)?, key.n.len())?,
            };
            rsa::private(key, &block)
        }
        Key::Ec { curve, scalar: Some(scalar), .. } => sign_ecdsa(*curve, scalar, &request.digest(watch)?, request.as_p1363),
        Key::Okp { kind: Okp::Ed25519, secret: Some(secret), .. } if request.digest.is_none() && !request.is_digest => {
            let secret = secret.as_slice().try_into().map_err(|_| Fault::Internal)?;
            Ok(ed25519_dalek::SigningKey::from_bytes(&secret).sign(request.data).to_bytes().to_vec())
        }
        _ => Err(Fault::KeyType),
    }
}

/// Checks a signature. The fields are the fields of [`Request`] and the signature.
pub(crate) fn verify(fields: &mut Fields<'_>, watch: &mut dyn Watch) -> Result<bool, Fault> {
    let request = Request::read(fields)?;
    let signature = fields.bytes()?;
    match &request.key {
        Key::Rsa(key) => {
            let digest = request.digest(watch)?;
            let pss = request.pss(key, false)?;
            if signature.len() != key.n.len() {
                return Ok(false);
            }
            let Ok(block) = rsa::public(key, signature) else { return Ok(false) };
            Ok(match pss {
                Some(pss) => pss.verify(&digest, &block),
                None => sign_v15(&digest_info(request.algorithm(), &digest)?, key.n.len())? == block,
            })
        }
        Key::Ec { curve, point, .. } => {
            let digest = request.digest(watch)?;
            Ok(verify_ecdsa(*curve, point, &digest, signature, request.as_p1363))
        }
        Key::Okp { kind: Okp::Ed25519, public, .. } if request.digest.is_none() && !request.is_digest => {
            let public = public.as_slice().try_into().map_err(|_| Fault::Internal)?;
            let Ok(key) = ed25519_dalek::VerifyingKey::from_bytes(&public) else { return Ok(false) };
            let Ok(signature) = ed25519_dalek::Signature::from_slice(signature) else { return Ok(false) };
            Ok(key.verify(request.data, &signature).is_ok())
        }
        _ => Err(Fault::KeyType),
    }
}

/// Pads a short digest with leading zeros, which do not change its number. The crates refuse a
/// digest that is shorter than half a scalar.
fn prehash(curve: Curve, digest: &[u8]) -> Vec<u8> {
    let mut out = vec![0; curve.len().div_ceil(2).saturating_sub(digest.len())];
    out.extend_from_slice(digest);
    out
}

fn sign_ecdsa(curve: Curve, scalar: &[u8], digest: &[u8], as_p1363: bool) -> Result<Vec<u8>, Fault> {
    let digest = prehash(curve, digest);
    with_curve!(curve, C => {
        let key = ecdsa::SigningKey::<C>::from_slice(scalar).map_err(|_| Fault::InvalidPrivateKey)?;
        let signature: ecdsa::Signature<C> = key.sign_prehash(&digest).map_err(|_| Fault::Internal)?;
        Ok(if as_p1363 { signature.to_bytes().to_vec() } else { signature.to_der().as_bytes().to_vec() })
    })
}

fn verify_ecdsa(curve: Curve, point: &[u8], digest: &[u8], signature: &[u8], as_p1363: bool) -> bool {
    let digest = prehash(curve, digest);
    with_curve!(curve, C => {
        let Ok(key) = ecdsa::VerifyingKey::<C>::from_sec1_bytes(point) else { return false };
        let read = if as_p1363 { ecdsa::Signature::<C>::from_slice } else { ecdsa::Signature::<C>::from_der };
        let Ok(signature) = read(signature) else { return false };
        // A signature with s and a signature with -s are valid, but the crates of some curves
        // accept only one of the two signatures.
        key.verify_prehash(&digest, &signature.normalize_s()).is_ok()
    })
}
