//! The computations that the guest asks for by number: a request of fields in, bytes or a [`Fault`] out.

use crate::fields::Fields;
use crate::prime::{Wanted, check_prime, random_prime};
use crate::scrypt::Cost;
use crate::{Algorithm, Fault, Hmac, Watch, kdf, scrypt};

/// See the module. The numbers are part of the guest ABI.
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
}

impl Command {
    const ALL: [Self; 7] =
        [Self::Pbkdf2, Self::Hkdf, Self::Scrypt, Self::RandomPrime, Self::CheckPrime, Self::Digest, Self::Hmac];

    /// The command with this number.
    #[must_use]
    pub fn of(number: i64) -> Option<Self> {
        usize::try_from(number).ok()?.checked_sub(1).and_then(|index| Self::ALL.get(index).copied())
    }

    /// Whether it takes microseconds whatever the request says, so that it may run while the guest's memory is open.
    #[must_use]
    pub fn is_quick(self) -> bool {
        false
    }
}

/// Carries out a command.
///
/// # Errors
/// The [`Fault`] that the guest turns into Node's error.
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
    }
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
