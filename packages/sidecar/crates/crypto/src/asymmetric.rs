//! The commands over keys: reading, writing and generating keys, encryption with RSA, shared
//! secrets.

use crate::fields::{Fields, Reply};
use crate::key::curve::Curve;
use crate::key::read::{Encoding, Opener};
use crate::key::{Key, Okp, PssParameters, RsaKey, parts, pkcs12, read, write};
use crate::prime::entropy;
use crate::{Algorithm, Fault, Watch, padding, rsa};

/// Returns the reply for a key: its kind, 1 for a private key, and the DER that the guest stores.
fn described(key: &Key) -> Result<Vec<u8>, Fault> {
    Ok(Reply::default().number(key.kind())?.number(key.is_private().into())?.bytes(&write::held(key)?)?.done())
}

/// Reads a key from PEM or DER. Fields: the wanted key (0 public, 1 private, 2 either), 1 for PEM,
/// encoding or -1, data, and with `watch` a passphrase. Where a public key is wanted, a private key
/// is replaced with its public part.
pub(crate) fn import(fields: &mut Fields<'_>, watch: Option<&mut dyn Watch>) -> Result<Vec<u8>, Fault> {
    let (wanted, is_pem) = (fields.number::<u8>()?, fields.number::<u8>()? != 0);
    let encoding = fields.optional::<i64>()?.map(|number| Encoding::of(number).ok_or(Fault::Malformed)).transpose()?;
    let data = fields.bytes()?;
    let passphrase = if watch.is_some() { Some(fields.bytes()?) } else { None };
    let mut opener = Opener { passphrase, watch };
    let key = match (is_pem, wanted) {
        (true, 1) => read::private_pem(data, &mut opener)?,
        (true, _) => match read::public_pem(data) {
            Some(key) => key?,
            None => read::private_pem(data, &mut opener)?,
        },
        (false, 1) => read::private_der(data, encoding.ok_or(Fault::Malformed)?, &mut opener)?,
        (false, _) => either(data, encoding.ok_or(Fault::Malformed)?, &mut opener)?,
    };
    described(&if wanted == 0 { key.public() } else { key })
}

/// Reads a PKCS #12 file. Fields: data, passphrase. The reply has the fields of a described
/// key, and each certificate in DER. The kind is 0 if the file has no key.
pub(crate) fn open_store(fields: &mut Fields<'_>, watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let store = pkcs12::open(fields.bytes()?, fields.bytes()?, watch)?;
    let mut reply = match &store.key {
        Some(key) => Reply::default().number(key.kind())?.number(1)?.bytes(&write::held(key)?)?,
        None => Reply::default().number(0)?.number(1)?.bytes(&[])?,
    };
    for certificate in &store.certificates {
        reply = reply.bytes(certificate)?;
    }
    Ok(reply.done())
}

fn either(data: &[u8], encoding: Encoding, opener: &mut Opener<'_, '_>) -> Result<Key, Fault> {
    match encoding {
        Encoding::Pkcs8 | Encoding::Sec1 => read::private_der(data, encoding, opener),
        Encoding::Spki => read::public_der(data, encoding),
        Encoding::Pkcs1 => read::public_der(data, encoding).or_else(|_| read::private_der(data, encoding, opener)),
    }
}

/// Returns the public key of a private key. Fields: the private key.
pub(crate) fn public_of(fields: &mut Fields<'_>) -> Result<Vec<u8>, Fault> {
    described(&read::held(fields.bytes()?, true)?.public())
}

/// Returns the kind and the numbers of a key ([`parts::to_fields`]). Fields: the key, 1 for a
/// private key.
pub(crate) fn to_parts(fields: &mut Fields<'_>) -> Result<Vec<u8>, Fault> {
    parts::to_fields(&held(fields)?)
}

/// Builds a key from its numbers. [`parts::from_fields`] lists the fields.
pub(crate) fn from_parts(fields: &mut Fields<'_>) -> Result<Vec<u8>, Fault> {
    described(&parts::from_fields(fields)?)
}

fn held(fields: &mut Fields<'_>) -> Result<Key, Fault> {
    let der = fields.bytes()?;
    read::held(der, fields.number::<u8>()? != 0)
}

/// Writes a key. Fields: the key, 1 for a private key, encoding, 1 for PEM.
pub(crate) fn export(fields: &mut Fields<'_>) -> Result<Vec<u8>, Fault> {
    let key = held(fields)?;
    let encoding = Encoding::of(fields.number()?).ok_or(Fault::Malformed)?;
    let der = write::to_der(&key, encoding)?;
    if fields.number::<u8>()? != 0 { write::to_pem(&der, encoding, key.is_private()) } else { Ok(der) }
}

/// Writes a private key as PKCS#8 that is encrypted with a passphrase. Fields: the key, 1, the
/// length of AES's key in bytes, passphrase, 1 for PEM.
pub(crate) fn seal(fields: &mut Fields<'_>, watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let key = held(fields)?;
    let (key_len, passphrase, as_pem) = (fields.number()?, fields.bytes()?, fields.number::<u8>()? != 0);
    write::sealed(&key, key_len, passphrase, as_pem, watch)
}

/// Converts a point to the compressed or the uncompressed form. Fields: curve, point, 1 to
/// compress.
pub(crate) fn convert_point(fields: &mut Fields<'_>) -> Result<Vec<u8>, Fault> {
    let curve = Curve::of(fields.number()?).ok_or(Fault::Unsupported)?;
    let point = curve.point(fields.bytes()?)?;
    if fields.number::<u8>()? != 0 { curve.compressed(&point) } else { Ok(point) }
}

/// Generates a key. Fields: kind; for RSA bits and exponent; for PSS also digest, MGF digest and
/// salt length; for EC the curve. The digests and the salt length may be -1 for absent values.
pub(crate) fn generate(fields: &mut Fields<'_>, watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let kind = fields.number::<u8>()?;
    let key = match kind {
        1 | 2 => {
            let mut key: RsaKey = rsa::generate(fields.number()?, fields.number()?, watch)?;
            if kind == 2 {
                let hash = parts::optional_digest(fields.optional()?)?;
                let mgf_hash = parts::optional_digest(fields.optional()?)?;
                key.pss = Some(pss(hash, mgf_hash, fields.optional()?));
            }
            Key::Rsa(key)
        }
        3 => {
            let curve = Curve::of(fields.number()?).ok_or(Fault::Unsupported)?;
            let (scalar, point) = curve.generate()?;
            Key::Ec { curve, point, scalar: Some(scalar) }
        }
        4 | 5 => {
            let mut secret = [0; 32];
            entropy(&mut secret)?;
            parts::okp_pair(if kind == 4 { Okp::Ed25519 } else { Okp::X25519 }, &secret)?
        }
        _ => return Err(Fault::Unsupported),
    };
    described(&key)
}

/// Replaces absent parameters by OpenSSL's defaults. Returns `None` for an unrestricted key if no
/// parameter is given.
fn pss(hash: Option<Algorithm>, mgf_hash: Option<Algorithm>, salt_len: Option<u32>) -> Option<PssParameters> {
    if hash.is_none() && mgf_hash.is_none() && salt_len.is_none() {
        return None;
    }
    let hash = hash.unwrap_or(Algorithm::Sha1);
    let salt_len = salt_len.unwrap_or(hash.output_len() as u32);
    Some(PssParameters { hash, mgf_hash: mgf_hash.unwrap_or(hash), salt_len })
}

/// Encrypts or decrypts with RSA. Fields: the key, 1 for a private key, 1 to use the key's private
/// part, 1 to encrypt, padding, OAEP's digest, label, data.
pub(crate) fn rsa_cipher(fields: &mut Fields<'_>) -> Result<Vec<u8>, Fault> {
    let Key::Rsa(key) = held(fields)? else { return Err(Fault::KeyType) };
    let (use_private, encrypt, kind) = (fields.number::<u8>()? != 0, fields.number::<u8>()? != 0, fields.number::<i64>()?);
    let hash = Algorithm::of(fields.number()?).ok_or(Fault::Unsupported)?;
    let (label, data) = (fields.bytes()?, fields.bytes()?);
    let len = key.n.len();
    let raise = |block: &[u8]| if use_private { rsa::private(&key, block) } else { rsa::public(&key, block) };
    if encrypt {
        let block = match (kind, use_private) {
            (1, true) => padding::sign_v15(data, len).map_err(|_| Fault::DataTooLarge)?,
            (1, false) => padding::encrypt_v15(data, len)?,
            (4, false) => padding::encrypt_oaep(data, len, hash, label)?,
            (3, _) if data.len() == len => data.to_vec(),
            (3, _) => return Err(if data.len() < len { Fault::DataLength } else { Fault::DataTooLarge }),
            _ => return Err(Fault::KeyType),
        };
        return raise(&block);
    }
    if data.len() > len {
        return Err(Fault::DataLength);
    }
    let block = raise(data)?;
    match (kind, use_private) {
        (1, true) => Ok(padding::decrypt_v15(&block, key.private.as_ref().map_or(&[], |private| &private.d), data)),
        (1, false) => padding::verify_v15(&block),
        (4, true) => padding::decrypt_oaep(&block, hash, label),
        (3, _) => Ok(block),
        _ => Err(Fault::KeyType),
    }
}

/// Computes the shared secret of two keys. Fields: the private key, the other key, 1 if the other
/// key is private.
pub(crate) fn exchange(fields: &mut Fields<'_>) -> Result<Vec<u8>, Fault> {
    let own = read::held(fields.bytes()?, true)?;
    match (own, held(fields)?) {
        (Key::Ec { curve, scalar: Some(scalar), .. }, Key::Ec { curve: other, point, .. }) if curve == other => {
            curve.shared(&scalar, &point)
        }
        (Key::Okp { kind: Okp::X25519, secret: Some(secret), .. }, Key::Okp { kind: Okp::X25519, public, .. }) => {
            let secret: [u8; 32] = secret.try_into().map_err(|_| Fault::Internal)?;
            let public: [u8; 32] = public.try_into().map_err(|_| Fault::Internal)?;
            let shared = x25519_dalek::StaticSecret::from(secret).diffie_hellman(&x25519_dalek::PublicKey::from(public));
            if shared.was_contributory() { Ok(shared.to_bytes().to_vec()) } else { Err(Fault::NeutralElement) }
        }
        _ => Err(Fault::KeyType),
    }
}
