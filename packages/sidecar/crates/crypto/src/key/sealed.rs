//! Private keys under a passphrase: PBES2 with PBKDF2 and AES-CBC (RFC 8018), which is what OpenSSL 3 writes.

use super::der::{OCTET_STRING, OID, Reader, encode, sequence, unsigned};
use super::oid;
use crate::kdf::pbkdf2;
use crate::prime::entropy;
use crate::{Algorithm, Cipher, Fault, Setup, Watch};

/// OpenSSL's number of iterations.
const ITERATIONS: u32 = 2_048;
/// Iterations that a key may ask for: some seconds.
const MAX_ITERATIONS: u32 = 10_000_000;
const CBC: u32 = 2;

/// Whether it begins as EncryptedPrivateKeyInfo does: not with a number, as the open one.
pub(super) fn is_sealed(der: &[u8]) -> bool {
    Reader::new(der).sequence().is_ok_and(|inner| inner.peek() == Some(super::der::SEQUENCE))
}

pub(super) fn open(der: &[u8], passphrase: &[u8], watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let mut info = Reader::new(der).sequence()?;
    let mut algorithm = info.sequence()?;
    let text = info.value(OCTET_STRING)?;
    if algorithm.value(OID)? != oid::PBES2 {
        return Err(Fault::Unsupported);
    }
    let mut parameters = algorithm.sequence()?;
    let (mut derivation, mut encryption) = (parameters.sequence()?, parameters.sequence()?);
    if derivation.value(OID)? != oid::PBKDF2 {
        return Err(Fault::Unsupported);
    }
    let mut derivation = derivation.sequence()?;
    let (salt, iterations) = (derivation.value(OCTET_STRING)?, derivation.small()?);
    if derivation.peek() == Some(super::der::INTEGER) {
        derivation.small()?;
    }
    let digest = match derivation.is_empty() {
        true => Algorithm::Sha1,
        false => oid::hmac_digest(derivation.sequence()?.value(OID)?).ok_or(Fault::Unsupported)?,
    };
    if !(1..=MAX_ITERATIONS).contains(&iterations) {
        return Err(Fault::Unsupported);
    }
    let scheme = encryption.value(OID)?.strip_prefix(oid::AES).ok_or(Fault::Unsupported)?;
    let (_, key_len) = *oid::AES_CBC.iter().find(|(last, _)| scheme == [*last]).ok_or(Fault::Unsupported)?;
    let iv = encryption.value(OCTET_STRING)?;
    let key = pbkdf2(digest, passphrase, salt, iterations, key_len, watch)?;
    convert(false, &key, iv, text).map_err(|_| Fault::PassphraseWrong)
}

pub(super) fn seal(der: &[u8], key_len: usize, passphrase: &[u8], watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let (last, _) = *oid::AES_CBC.iter().find(|(_, len)| *len == key_len).ok_or(Fault::Unsupported)?;
    let (mut salt, mut iv) = ([0; 16], [0; 16]);
    entropy(&mut salt)?;
    entropy(&mut iv)?;
    let key = pbkdf2(Algorithm::Sha256, passphrase, &salt, ITERATIONS, key_len, watch)?;
    let text = convert(true, &key, &iv, der)?;
    let hmac = sequence(&[encode(OID, &[oid::HMAC, &[9]].concat()), encode(super::der::NULL, &[])]);
    let derivation = sequence(&[encode(OCTET_STRING, &salt), unsigned(&ITERATIONS.to_be_bytes()), hmac]);
    let derivation = sequence(&[encode(OID, oid::PBKDF2), derivation]);
    let encryption = sequence(&[encode(OID, &[oid::AES, &[last]].concat()), encode(OCTET_STRING, &iv)]);
    let algorithm = sequence(&[encode(OID, oid::PBES2), sequence(&[derivation, encryption])]);
    Ok(sequence(&[algorithm, encode(OCTET_STRING, &text)]))
}

fn convert(encrypt: bool, key: &[u8], iv: &[u8], text: &[u8]) -> Result<Vec<u8>, Fault> {
    let number = CBC << 8 | u32::try_from(key.len()).map_err(|_| Fault::KeyLength)?;
    let mut cipher = Cipher::new(&Setup { cipher: number, encrypt, key, iv, tag_len: 0 })?;
    let mut out = Vec::with_capacity(text.len() + 16);
    cipher.update(text, &mut out)?;
    cipher.finish(&mut out)?;
    Ok(out)
}
