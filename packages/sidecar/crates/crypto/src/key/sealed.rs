//! Private keys that are encrypted with a passphrase: PBES2 with PBKDF2 and AES-CBC (RFC 8018).
//! Triple DES and the schemes of PKCS #12 (`pbe.rs`) are decrypted only.
//!
//! OpenSSL 3 writes PBES2. `pkcs8` and `pkcs5` have the formats. This module makes the
//! computation itself, because PBKDF2 takes long, and a [`Watch`] can stop the PBKDF2 of `kdf.rs`.

use super::asn1::Pbkdf2Params;
use super::pbe;
use crate::cipher::des;
use crate::kdf::pbkdf2;
use crate::prime::entropy;
use crate::{Algorithm, Cipher, Fault, Setup, Watch};
use const_oid::ObjectIdentifier;
use der::asn1::{AnyRef, OctetStringRef};
use der::zeroize::Zeroizing;
use der::{Decode, Encode, Tag, Tagged};
use pkcs5::pbes2::{self, EncryptionScheme, Pbkdf2Prf};
use pkcs8::EncryptedPrivateKeyInfoRef;
use spki::AlgorithmIdentifierRef;

/// The number of iterations that OpenSSL writes.
const ITERATIONS: u32 = 2_048;
/// Triple DES in the mode CBC, with a key of 24 bytes.
const DES_EDE3_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.3.7");
/// The number of the mode CBC in a cipher's number (`cipher/mod.rs`).
const CBC: u32 = 2;

const HMACS: [(Pbkdf2Prf, Algorithm); 5] = [
    (Pbkdf2Prf::HmacWithSha1, Algorithm::Sha1),
    (Pbkdf2Prf::HmacWithSha224, Algorithm::Sha224),
    (Pbkdf2Prf::HmacWithSha256, Algorithm::Sha256),
    (Pbkdf2Prf::HmacWithSha384, Algorithm::Sha384),
    (Pbkdf2Prf::HmacWithSha512, Algorithm::Sha512),
];

/// Returns whether `der` starts as an `EncryptedPrivateKeyInfo` does: with a sequence instead of a
/// version.
pub(super) fn is_sealed(der: &[u8]) -> bool {
    let first = |outer: AnyRef<'_>| outer.value().first().copied();
    AnyRef::from_der_partial(der).is_ok_and(|(outer, _)| outer.tag() == Tag::Sequence && first(outer) == Some(0x30))
}

/// Decrypts an `EncryptedPrivateKeyInfo`.
pub(super) fn open(der: &[u8], passphrase: &[u8], watch: &mut dyn Watch) -> Result<Zeroizing<Vec<u8>>, Fault> {
    // `pkcs8` also has the structures that this function reads, but `pkcs8` accepts only the
    // parameters of `pkcs5`.
    let (info, _) = AnyRef::from_der_partial(der)?;
    let (algorithm, encrypted) = pair::<AlgorithmIdentifierRef<'_>, &OctetStringRef>(info)?;
    open_with(&algorithm, encrypted.as_bytes(), passphrase, &pbe::wide(passphrase), watch)
}

/// Decrypts with a scheme. `wide` is the passphrase for the schemes of PKCS #12.
pub(super) fn open_with(
    algorithm: &AlgorithmIdentifierRef<'_>,
    encrypted: &[u8],
    passphrase: &[u8],
    wide: &[u8],
    watch: &mut dyn Watch,
) -> Result<Zeroizing<Vec<u8>>, Fault> {
    if matches!(algorithm.oid, pbe::SHA1_3DES | pbe::SHA1_2DES) {
        return pbe::open(algorithm.oid, algorithm.parameters.ok_or(Fault::Asn1)?, encrypted, wide, watch);
    }
    let scheme = parameters(algorithm, pbes2::PBES2_OID)?;
    let (derivation, encryption) = pair::<AlgorithmIdentifierRef<'_>, AlgorithmIdentifierRef<'_>>(scheme)?;
    let derivation: Pbkdf2Params<'_> = parameters(&derivation, pbes2::PBKDF2_OID)?.decode_as()?;
    let digest = hmac_digest(derivation.prf)?;
    if !(1..=pbe::MAX_ITERATIONS).contains(&derivation.iterations) {
        return Err(Fault::Unsupported);
    }
    let salt = derivation.salt.as_bytes();
    if encryption.oid == DES_EDE3_CBC {
        let iv: &OctetStringRef = encryption.parameters.ok_or(Fault::Asn1)?.decode_as()?;
        let key = Zeroizing::new(pbkdf2(digest, passphrase, salt, derivation.iterations, 24, watch)?);
        return des::decrypt(&key, iv.as_bytes(), encrypted).map(Zeroizing::new).map_err(|_| Fault::PassphraseWrong);
    }
    let encryption = EncryptionScheme::try_from(encryption).map_err(|_| Fault::Unsupported)?;
    let iv = match &encryption {
        EncryptionScheme::Aes128Cbc { iv } | EncryptionScheme::Aes192Cbc { iv } | EncryptionScheme::Aes256Cbc { iv } => iv,
        _ => return Err(Fault::Unsupported),
    };
    let key = Zeroizing::new(pbkdf2(digest, passphrase, salt, derivation.iterations, encryption.key_size(), watch)?);
    convert(false, &key, iv, encrypted).map_err(|_| Fault::PassphraseWrong)
}

/// Reads a sequence of two values.
pub(super) fn pair<'a, A: Decode<'a, Error = der::Error>, B: Decode<'a, Error = der::Error>>(
    value: AnyRef<'a>,
) -> Result<(A, B), Fault> {
    value.sequence(|reader| Ok((A::decode(reader)?, B::decode(reader)?)))
}

/// Returns the parameters of an algorithm that must be `oid`.
fn parameters<'a>(algorithm: &AlgorithmIdentifierRef<'a>, oid: ObjectIdentifier) -> Result<AnyRef<'a>, Fault> {
    if algorithm.oid == oid { algorithm.parameters.ok_or(Fault::Asn1) } else { Err(Fault::Unsupported) }
}

fn hmac_digest(prf: Option<AlgorithmIdentifierRef<'_>>) -> Result<Algorithm, Fault> {
    let oid = prf.map_or(Pbkdf2Prf::default().oid(), |prf| prf.oid);
    let known = HMACS.iter().find(|(prf, _)| prf.oid() == oid);
    known.map(|(_, algorithm)| *algorithm).ok_or(Fault::Unsupported)
}

pub(super) fn seal(der: &[u8], key_len: usize, passphrase: &[u8], watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let (mut salt, mut iv) = ([0; 16], [0; 16]);
    entropy(&mut salt)?;
    entropy(&mut iv)?;
    let encryption = match key_len {
        16 => EncryptionScheme::Aes128Cbc { iv },
        24 => EncryptionScheme::Aes192Cbc { iv },
        32 => EncryptionScheme::Aes256Cbc { iv },
        _ => return Err(Fault::Unsupported),
    };
    let key = Zeroizing::new(pbkdf2(Algorithm::Sha256, passphrase, &salt, ITERATIONS, key_len, watch)?);
    let text = convert(true, &key, &iv, der)?;
    let derivation = pbes2::Pbkdf2Params::hmac_sha256(ITERATIONS, &salt).map_err(|_| Fault::Internal)?;
    let parameters = pbes2::Parameters { kdf: derivation.into(), encryption };
    let encrypted_data = OctetStringRef::new(&text)?;
    Ok(EncryptedPrivateKeyInfoRef { encryption_algorithm: parameters.into(), encrypted_data }.to_der()?)
}

pub(super) fn convert(encrypt: bool, key: &[u8], iv: &[u8], text: &[u8]) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let number = CBC << 8 | u32::try_from(key.len()).map_err(|_| Fault::KeyLength)?;
    let mut cipher = Cipher::new(&Setup { cipher: number, encrypt, key, iv, tag_len: 0 })?;
    let mut out = Zeroizing::new(Vec::with_capacity(text.len() + 16));
    cipher.update(text, &mut out)?;
    cipher.finish(&mut out)?;
    Ok(out)
}
