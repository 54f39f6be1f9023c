//! The paddings of RSA: PKCS#1 v1.5, OAEP and PSS (RFC 8017).
//!
//! The paddings are not from the `rsa` crate, because the `rsa` crate has no stable release for
//! this generation of the RustCrypto crates (see `rsa.rs`).

use crate::key::asn1::DigestInfo;
use crate::key::oid;
use crate::prime::entropy;
use crate::{Algorithm, Fault, Hmac};
use der::Encode;
use der::asn1::OctetStringRef;

/// Returns `len` bytes of the mask generation function MGF1.
fn mask(algorithm: Algorithm, seed: &[u8], len: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(len + algorithm.output_len());
    let mut count = 0_u32;
    while out.len() < len {
        out.extend(algorithm.digest(&[seed, &count.to_be_bytes()].concat()));
        count += 1;
    }
    out.truncate(len);
    out
}

fn xor(target: &mut [u8], mask: &[u8]) {
    target.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
}

/// Returns a block of type 1, for a signature over a `DigestInfo` or over raw data.
pub(crate) fn sign_v15(data: &[u8], len: usize) -> Result<Vec<u8>, Fault> {
    let fill = len.checked_sub(data.len() + 3).filter(|fill| *fill >= 8).ok_or(Fault::DigestTooBig)?;
    Ok([&[0, 1], vec![0xff; fill].as_slice(), &[0], data].concat())
}

/// Returns the data of a block of type 1.
pub(crate) fn verify_v15(block: &[u8]) -> Result<Vec<u8>, Fault> {
    let rest = block.strip_prefix(&[0, 1]).ok_or(Fault::Padding)?;
    let fill = rest.iter().take_while(|byte| **byte == 0xff).count();
    match rest.get(fill) {
        Some(0) if fill >= 8 => Ok(rest[fill + 1..].to_vec()),
        _ => Err(Fault::Padding),
    }
}

/// Returns the `DigestInfo` of a digest: the algorithm and the digest. Early TLS signs the pair of
/// MD5 and SHA-1 without an algorithm.
pub(crate) fn digest_info(algorithm: Algorithm, digest: &[u8]) -> Result<Vec<u8>, Fault> {
    if algorithm == Algorithm::Md5Sha1 {
        return Ok(digest.to_vec());
    }
    let algorithm = oid::digest(algorithm).ok_or(Fault::Unsupported)?;
    Ok(DigestInfo { algorithm, digest: OctetStringRef::new(digest)? }.to_der()?)
}

/// Returns a block of type 2, for encryption.
pub(crate) fn encrypt_v15(message: &[u8], len: usize) -> Result<Vec<u8>, Fault> {
    let fill = len.checked_sub(message.len() + 3).filter(|fill| *fill >= 8).ok_or(Fault::DataTooLarge)?;
    let mut noise = vec![0; fill];
    entropy(&mut noise)?;
    while let Some(zero) = noise.iter_mut().find(|byte| **byte == 0) {
        entropy(std::slice::from_mut(zero))?;
    }
    Ok([&[0, 2], noise.as_slice(), &[0], message].concat())
}

/// Returns the message of a block of type 2. For an invalid block, returns a message derived from
/// `secret`, as OpenSSL does, so that an attacker cannot determine whether a block is valid.
pub(crate) fn decrypt_v15(block: &[u8], secret: &[u8], sealed: &[u8]) -> Vec<u8> {
    let key = Hmac::of(Algorithm::Sha256, &Algorithm::Sha256.digest(secret), sealed);
    let mut made_up = mask(Algorithm::Sha256, &key, block.len());
    let spare = block.len().saturating_sub(11).max(1);
    let length = usize::from(u16::from_be_bytes([key[0], key[1]])) % spare;
    let end = block.iter().skip(2).position(|byte| *byte == 0).map(|at| at + 2);
    match end {
        Some(end) if block.starts_with(&[0, 2]) && end >= 10 => block[end + 1..].to_vec(),
        _ => made_up.split_off(block.len() - length),
    }
}

/// Returns a block with the padding OAEP.
pub(crate) fn encrypt_oaep(message: &[u8], len: usize, hash: Algorithm, label: &[u8]) -> Result<Vec<u8>, Fault> {
    let size = hash.output_len();
    let zeros = len.checked_sub(message.len() + 2 * size + 2).ok_or(Fault::DataTooLarge)?;
    let mut data = [hash.digest(label), vec![0; zeros], vec![1], message.to_vec()].concat();
    let mut seed = vec![0; size];
    entropy(&mut seed)?;
    xor(&mut data, &mask(hash, &seed, len - size - 1));
    xor(&mut seed, &mask(hash, &data, size));
    Ok([&[0], seed.as_slice(), &data].concat())
}

pub(crate) fn decrypt_oaep(block: &[u8], hash: Algorithm, label: &[u8]) -> Result<Vec<u8>, Fault> {
    let size = hash.output_len();
    if block.len() < 2 * size + 2 {
        return Err(Fault::Padding);
    }
    let (mut seed, mut data) = (block[1..=size].to_vec(), block[1 + size..].to_vec());
    xor(&mut seed, &mask(hash, &data, size));
    let pad = mask(hash, &seed, data.len());
    xor(&mut data, &pad);
    // All parts are checked together, so that the time does not depend on the wrong part.
    let wrong = hash.digest(label).iter().zip(&data).fold(block[0], |wrong, (left, right)| wrong | (left ^ right));
    let one = data[size..].iter().position(|byte| *byte != 0);
    match one.map(|at| at + size) {
        Some(at) if wrong == 0 && data[at] == 1 => Ok(data[at + 1..].to_vec()),
        _ => Err(Fault::Padding),
    }
}

/// The parameters of a PSS signature.
#[derive(Clone, Copy)]
pub(crate) struct Pss {
    pub(crate) hash: Algorithm,
    pub(crate) mgf_hash: Algorithm,
    /// The salt length with OpenSSL's special values: -1 for the digest's length, -2 for the
    /// longest salt when signing and for any salt when verifying.
    pub(crate) salt_len: i64,
    pub(crate) modulus_bits: usize,
}

impl Pss {
    fn len(self) -> usize {
        (self.modulus_bits - 1).div_ceil(8)
    }

    /// Returns the number of bits of the first byte that must be zero.
    fn spare(self) -> u32 {
        (8 * self.len() - (self.modulus_bits - 1)) as u32
    }

    pub(crate) fn sign(self, digest: &[u8]) -> Result<Vec<u8>, Fault> {
        let (len, size) = (self.len(), self.hash.output_len());
        let room = len.checked_sub(size + 2).ok_or(Fault::DigestTooBig)?;
        let salt_len = match self.salt_len {
            -1 => size,
            -2 => room,
            given => usize::try_from(given).map_err(|_| Fault::SaltLength)?,
        };
        if salt_len > room {
            return Err(Fault::DataTooLarge);
        }
        let mut salt = vec![0; salt_len];
        entropy(&mut salt)?;
        let sum = self.hash.digest(&[&[0; 8], digest, &salt].concat());
        let mut data = [vec![0; room - salt_len], vec![1], salt].concat();
        xor(&mut data, &mask(self.mgf_hash, &sum, len - size - 1));
        data[0] &= 0xff >> self.spare();
        Ok([data, sum, vec![0xbc]].concat())
    }

    pub(crate) fn verify(self, digest: &[u8], block: &[u8]) -> bool {
        let (len, size) = (self.len(), self.hash.output_len());
        // The block of a modulus of 8n + 1 bits is a byte shorter than the modulus.
        let block = if block.len() == len + 1 && block[0] == 0 { &block[1..] } else { block };
        if block.len() != len || len < size + 2 || block[len - 1] != 0xbc || block[0].leading_zeros() < self.spare() {
            return false;
        }
        let (data, sum) = block[..len - 1].split_at(len - size - 1);
        let mut data = data.to_vec();
        xor(&mut data, &mask(self.mgf_hash, sum, len - size - 1));
        data[0] &= 0xff >> self.spare();
        let Some(one) = data.iter().position(|byte| *byte != 0) else { return false };
        let salt = &data[one + 1..];
        let fits = match self.salt_len {
            -2 => true,
            -1 => salt.len() == size,
            given => i64::try_from(salt.len()) == Ok(given),
        };
        data[one] == 1 && fits && self.hash.digest(&[&[0; 8], digest, salt].concat()) == sum
    }
}
