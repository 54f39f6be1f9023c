//! Older forms of encryption with a passphrase. The schemes of PKCS #12 are in RFC 7292, appendices
//! B and C. Encrypted PEM is RFC 1421 with OpenSSL's derivation of keys.
//!
//! OpenSSL 3 reads these forms, and no crate of this generation has them. RC2, RC4 and DES are
//! unsupported, as in OpenSSL without its legacy provider.

use super::sealed;
use crate::cipher::des;
use crate::{Algorithm, Fault, Watch};
use const_oid::ObjectIdentifier;
use der::asn1::{AnyRef, OctetStringRef};
use der::zeroize::Zeroizing;
use der::{DecodeValue, Header, Reader, Sequence};

/// SHA-1 with Triple DES of three keys.
pub(super) const SHA1_3DES: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.1.3");
/// SHA-1 with Triple DES of two keys.
pub(super) const SHA1_2DES: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.1.4");
/// The largest number of iterations. These iterations take some seconds.
pub(super) const MAX_ITERATIONS: u32 = 10_000_000;
/// The number of iterations between two steps of the watch.
const STEP: u32 = 1_024;

/// The use of derived bytes.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(super) enum Use {
    Key = 1,
    Vector = 2,
    Mac = 3,
}

/// `PBEParameter`.
struct Parameters<'a> {
    salt: &'a OctetStringRef,
    iterations: u32,
}

impl Sequence<'_> for Parameters<'_> {}

impl<'a> DecodeValue<'a> for Parameters<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _header: Header) -> der::Result<Self> {
        Ok(Self { salt: reader.decode()?, iterations: reader.decode()? })
    }
}

/// Returns the passphrase as PKCS #12 derives keys from it: UTF-16 with an end of two zero bytes.
/// Text that is not UTF-8 is read as Latin-1, as in OpenSSL.
pub(super) fn wide(passphrase: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut wide = Zeroizing::new(Vec::with_capacity(2 * passphrase.len() + 2));
    match std::str::from_utf8(passphrase) {
        Ok(text) => text.encode_utf16().for_each(|unit| wide.extend_from_slice(&unit.to_be_bytes())),
        Err(_) => passphrase.iter().for_each(|byte| wide.extend_from_slice(&[0, *byte])),
    }
    wide.extend_from_slice(&[0, 0]);
    wide
}

/// Derives bytes (RFC 7292, appendix B.2). `wide` is the passphrase in the form of [`wide`].
pub(super) fn derive(
    algorithm: Algorithm,
    wide: &[u8],
    salt: &[u8],
    iterations: u32,
    (usage, len): (Use, usize),
    watch: &mut dyn Watch,
) -> Result<Zeroizing<Vec<u8>>, Fault> {
    if !(1..=MAX_ITERATIONS).contains(&iterations) {
        return Err(Fault::Unsupported);
    }
    let size = algorithm.block_len();
    let filled = |from: &[u8]| from.iter().copied().cycle().take(from.len().div_ceil(size) * size).collect::<Vec<u8>>();
    let mut input = Zeroizing::new([filled(salt), filled(wide)].concat());
    let mut out = Zeroizing::new(Vec::with_capacity(len + algorithm.output_len()));
    loop {
        let mut last = Zeroizing::new(algorithm.digest(&[&vec![usage as u8; size], input.as_slice()].concat()));
        for round in 1..iterations {
            if round % STEP == 0 {
                watch.step()?;
            }
            last = Zeroizing::new(algorithm.digest(&last));
        }
        watch.step()?;
        out.extend_from_slice(&last);
        if out.len() >= len {
            out.truncate(len);
            return Ok(out);
        }
        // Each block of the input becomes its sum with the digest and 1.
        for block in input.chunks_mut(size) {
            let mut carry = 1;
            for (at, byte) in block.iter_mut().enumerate().rev() {
                let addend = last.get(at % last.len()).copied().unwrap_or_default();
                let sum = u16::from(*byte) + u16::from(addend) + carry;
                *byte = (sum & 0xff) as u8;
                carry = sum >> 8;
            }
        }
    }
}

/// Decrypts with a scheme of PKCS #12. `wide` is the passphrase in the form of [`wide`].
pub(super) fn open(
    scheme: ObjectIdentifier,
    parameters: AnyRef<'_>,
    text: &[u8],
    wide: &[u8],
    watch: &mut dyn Watch,
) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let len = if scheme == SHA1_2DES { 16 } else { 24 };
    let Parameters { salt, iterations } = parameters.decode_as()?;
    let key = derive(Algorithm::Sha1, wide, salt.as_bytes(), iterations, (Use::Key, len), watch)?;
    let iv = derive(Algorithm::Sha1, wide, salt.as_bytes(), iterations, (Use::Vector, 8), watch)?;
    des::decrypt(&key, &iv, text).map(Zeroizing::new).map_err(|_| Fault::PassphraseWrong)
}

/// Decrypts the body of PEM whose header `DEK-Info` has the value `info`.
pub(super) fn open_pem(info: &[u8], text: &[u8], passphrase: &[u8]) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let info = std::str::from_utf8(info).map_err(|_| Fault::NoPem)?;
    let (name, vector) = info.split_once(',').ok_or(Fault::NoPem)?;
    let (len, block) = match name.trim() {
        "AES-128-CBC" => (16, 16),
        "AES-192-CBC" => (24, 16),
        "AES-256-CBC" => (32, 16),
        "DES-EDE3-CBC" => (24, 8),
        _ => return Err(Fault::Unsupported),
    };
    let iv = bytes_of(vector.trim()).filter(|iv| iv.len() == block).ok_or(Fault::NoPem)?;
    let salt = iv.get(..8).ok_or(Fault::NoPem)?;
    let mut key = Zeroizing::new(Vec::with_capacity(len + 16));
    let mut last = Zeroizing::new(Vec::new());
    while key.len() < len {
        last = Zeroizing::new(Algorithm::Md5.digest(&Zeroizing::new([&last, passphrase, salt].concat())));
        key.extend_from_slice(&last);
    }
    key.truncate(len);
    let opened =
        if block == 8 { des::decrypt(&key, &iv, text).map(Zeroizing::new) } else { sealed::convert(false, &key, &iv, text) };
    opened.map_err(|_| Fault::PassphraseWrong)
}

/// Returns the bytes of hexadecimal digits.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}
