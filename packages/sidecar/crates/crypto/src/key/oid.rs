//! The object identifiers that keys are labelled with, as DER has them.

use crate::Algorithm;

pub(crate) const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
pub(crate) const RSA_PSS: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a];
pub(crate) const MGF1: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x08];
pub(crate) const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
pub(crate) const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
pub(crate) const X25519: &[u8] = &[0x2b, 0x65, 0x6e];
pub(crate) const PBES2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d];
pub(crate) const PBKDF2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0c];
/// 2.16.840.1.101.3.4.1.n: CBC with 128, 192 and 256 bits.
pub(crate) const AES: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01];
pub(crate) const AES_CBC: [(u8, usize); 3] = [(2, 16), (22, 24), (42, 32)];

/// 1.2.840.113549.2.n: HMAC with a digest.
pub(crate) const HMAC: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02];
const HMACS: [(u8, Algorithm); 5] =
    [(7, Algorithm::Sha1), (8, Algorithm::Sha224), (9, Algorithm::Sha256), (10, Algorithm::Sha384), (11, Algorithm::Sha512)];

pub(crate) fn hmac_digest(oid: &[u8]) -> Option<Algorithm> {
    let number = oid.strip_prefix(HMAC)?;
    HMACS.iter().find(|(last, _)| number == [*last]).map(|(_, algorithm)| *algorithm)
}

const SHA1: &[u8] = &[0x2b, 0x0e, 0x03, 0x02, 0x1a];
const MD5: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x05];
const RIPEMD160: &[u8] = &[0x2b, 0x24, 0x03, 0x02, 0x01];
/// 2.16.840.1.101.3.4.2.n.
const NIST: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];
const NIST_HASHES: [(u8, Algorithm); 10] = [
    (1, Algorithm::Sha256),
    (2, Algorithm::Sha384),
    (3, Algorithm::Sha512),
    (4, Algorithm::Sha224),
    (5, Algorithm::Sha512_224),
    (6, Algorithm::Sha512_256),
    (7, Algorithm::Sha3_224),
    (8, Algorithm::Sha3_256),
    (9, Algorithm::Sha3_384),
    (10, Algorithm::Sha3_512),
];

pub(crate) fn digest(algorithm: Algorithm) -> Option<Vec<u8>> {
    match algorithm {
        Algorithm::Sha1 => Some(SHA1.to_vec()),
        Algorithm::Md5 => Some(MD5.to_vec()),
        Algorithm::Ripemd160 => Some(RIPEMD160.to_vec()),
        other => NIST_HASHES.iter().find(|(_, known)| *known == other).map(|(last, _)| [NIST, &[*last]].concat()),
    }
}

pub(crate) fn digest_of(oid: &[u8]) -> Option<Algorithm> {
    if oid == SHA1 {
        return Some(Algorithm::Sha1);
    }
    let number = oid.strip_prefix(NIST)?;
    NIST_HASHES.iter().find(|(last, _)| number == [*last]).map(|(_, algorithm)| *algorithm)
}
