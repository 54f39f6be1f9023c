//! The computations that the guest requests by number. A request is a row of fields. The result is
//! bytes or a [`Fault`].

use crate::fields::{Fields, Reply};
use crate::prime::{Wanted, check_prime, random_prime};
use crate::scrypt::Cost;
use crate::{Algorithm, Cipher, Fault, Hmac, Setup, Watch, asymmetric, kdf, rsa, scrypt, sign};

/// The longest number that [`Command::Power`] accepts, in bytes.
const MAX_POWER: usize = 1_250;

/// A computation, with its number in the guest ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it; `run` lists each one's fields")]
#[repr(u8)]
pub enum Command {
    Pbkdf2 = 1,
    Hkdf = 2,
    Scrypt = 3,
    RandomPrime = 4,
    CheckPrime = 5,
    Digest = 6,
    Hmac = 7,
    Cipher = 8,
    KeyImport = 9,
    KeyOpen = 10,
    KeyPublic = 11,
    KeyParts = 12,
    KeyBuild = 13,
    KeyExport = 14,
    KeySeal = 15,
    PointConvert = 16,
    KeyGenerate = 17,
    RsaCipher = 18,
    Exchange = 19,
    Sign = 20,
    Verify = 21,
    Power = 22,
    Pkcs12 = 23,
}

impl Command {
    const ALL: [Self; 23] = [
        Self::Pbkdf2,
        Self::Hkdf,
        Self::Scrypt,
        Self::RandomPrime,
        Self::CheckPrime,
        Self::Digest,
        Self::Hmac,
        Self::Cipher,
        Self::KeyImport,
        Self::KeyOpen,
        Self::KeyPublic,
        Self::KeyParts,
        Self::KeyBuild,
        Self::KeyExport,
        Self::KeySeal,
        Self::PointConvert,
        Self::KeyGenerate,
        Self::RsaCipher,
        Self::Exchange,
        Self::Sign,
        Self::Verify,
        Self::Power,
        Self::Pkcs12,
    ];

    /// Returns the command with this number.
    #[must_use]
    pub fn of(number: i64) -> Option<Self> {
        usize::try_from(number).ok()?.checked_sub(1).and_then(|index| Self::ALL.get(index).copied())
    }

    /// Returns whether the command takes only microseconds for every request. Such a command may
    /// run inside the gate to the guest's memory.
    #[must_use]
    pub fn is_quick(self) -> bool {
        matches!(self, Self::KeyImport | Self::KeyPublic | Self::KeyParts | Self::KeyBuild | Self::KeyExport | Self::PointConvert)
    }
}

/// Runs a command with the fields of `request`. `watch` can stop a long command.
///
/// # Errors
/// Returns the [`Fault`] that the guest turns into Node's error.
pub fn run(command: Command, request: &[u8], watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let fields = &mut Fields::new(request);
    match command {
        Command::Pbkdf2 => {
            let (algorithm, password, salt) = (algorithm(fields)?, fields.bytes()?, fields.bytes()?);
            kdf::pbkdf2(algorithm, password, salt, fields.number()?, fields.number()?, watch)
        }
        Command::Hkdf => {
            let (algorithm, key, salt) = (algorithm(fields)?, fields.bytes()?, fields.bytes()?);
            kdf::hkdf(algorithm, key, salt, fields.bytes()?, fields.number()?)
        }
        Command::Scrypt => {
            let (password, salt) = (fields.bytes()?, fields.bytes()?);
            let (n, r, p, max_memory) = (fields.number()?, fields.number()?, fields.number()?, fields.number()?);
            scrypt::scrypt(password, salt, Cost { n, r, p, max_memory }, fields.number()?, watch)
        }
        Command::RandomPrime => {
            let (bits, safe) = (fields.number()?, fields.number::<u8>()? != 0);
            let (modulus, remainder) = (fields.bytes()?, fields.bytes()?);
            random_prime(&Wanted { bits, safe, modulus, remainder }, watch)
        }
        Command::CheckPrime => Ok(vec![u8::from(check_prime(fields.bytes()?)?)]),
        Command::Digest => {
            let (algorithm, data) = (algorithm(fields)?, fields.bytes()?);
            let mut out = vec![0; output_len(algorithm, fields.optional()?, watch)?];
            let mut hasher = algorithm.hasher();
            for chunk in data.chunks(1 << 20) {
                watch.step()?;
                hasher.update(chunk);
            }
            hasher.finish(&mut out);
            Ok(out)
        }
        Command::Hmac => {
            let (algorithm, key) = (algorithm(fields)?, fields.bytes()?);
            let mut hmac = Hmac::new(algorithm, key);
            for chunk in fields.bytes()?.chunks(1 << 20) {
                watch.step()?;
                hmac.update(chunk);
            }
            Ok(hmac.finish())
        }
        Command::Cipher => cipher(fields, watch),
        Command::KeyImport => asymmetric::import(fields, None),
        Command::KeyOpen => asymmetric::import(fields, Some(watch)),
        Command::KeyPublic => asymmetric::public_of(fields),
        Command::KeyParts => asymmetric::to_parts(fields),
        Command::KeyBuild => asymmetric::from_parts(fields),
        Command::KeyExport => asymmetric::export(fields),
        Command::KeySeal => asymmetric::seal(fields, watch),
        Command::PointConvert => asymmetric::convert_point(fields),
        Command::KeyGenerate => asymmetric::generate(fields, watch),
        Command::RsaCipher => asymmetric::rsa_cipher(fields),
        Command::Exchange => asymmetric::exchange(fields),
        Command::Sign => sign::sign(fields, watch),
        Command::Verify => sign::verify(fields, watch).map(|right| vec![u8::from(right)]),
        Command::Power => power(fields),
        Command::Pkcs12 => asymmetric::open_store(fields, watch),
    }
}

/// Encrypts or decrypts a whole message. Fields: the cipher, 1 to encrypt, key, initialization
/// vector, tag length, additional data, message, and the tag or an empty field. The reply is the
/// converted text, and the tag of an encrypted text.
fn cipher(fields: &mut Fields<'_>, watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let (cipher, encrypt) = (fields.number()?, fields.number::<u8>()? != 0);
    let (key, iv, tag_len) = (fields.bytes()?, fields.bytes()?, fields.number()?);
    let (aad, text, tag) = (fields.bytes()?, fields.bytes()?, fields.bytes()?);
    let mut cipher = Cipher::new(&Setup { cipher, encrypt, key, iv, tag_len })?;
    if !tag.is_empty() {
        cipher.set_tag(tag)?;
    }
    if !aad.is_empty() {
        cipher.set_aad(aad, Some(text.len()))?;
    }
    let mut out = Vec::with_capacity(text.len() + 16);
    let piece = if cipher.wants_whole() { text.len().max(1) } else { 1 << 20 };
    for chunk in text.chunks(piece) {
        watch.step()?;
        cipher.update(chunk, &mut out)?;
    }
    cipher.finish(&mut out)?;
    Ok(Reply::default().bytes(&out)?.bytes(cipher.tag().unwrap_or_default())?.done())
}

/// Computes `base ^ exponent mod modulus`. Fields: base, exponent, modulus (odd).
fn power(fields: &mut Fields<'_>) -> Result<Vec<u8>, Fault> {
    let (base, exponent, modulus) = (fields.bytes()?, fields.bytes()?, fields.bytes()?);
    if [base, exponent, modulus].iter().any(|number| number.len() > MAX_POWER) {
        return Err(Fault::TooLong);
    }
    rsa::power(base, exponent, modulus)
}

fn algorithm(fields: &mut Fields<'_>) -> Result<Algorithm, Fault> {
    Algorithm::of(fields.number()?).ok_or(Fault::Unsupported)
}

fn output_len(algorithm: Algorithm, asked: Option<usize>, watch: &dyn Watch) -> Result<usize, Fault> {
    match asked {
        None => Ok(algorithm.output_len()),
        Some(len) if len > watch.memory() => Err(Fault::Memory),
        Some(len) if len == algorithm.output_len() || algorithm.is_extendable() => Ok(len),
        Some(_) => Err(Fault::Unsupported),
    }
}
