//! Prime numbers: search and check, for `crypto.generatePrime`, `crypto.checkPrime` and RSA keys.
//!
//! `crypto-primes` has the primality tests. The loop over candidates is in this module, because a
//! watch must be able to stop a search between candidates. A single test cannot be stopped, so the
//! length of numbers is bounded.

use crate::{Fault, Watch};
use crypto_bigint::{BitOps, BoxedUint, NonZero, Odd, Resize};
use crypto_primes::hazmat::SmallFactorsSieve;
use crypto_primes::{Flavor, is_prime};
use std::num::NonZeroU32;

/// The longest number in bits. A test of that length takes a third of a second.
pub(crate) const MAX_BITS: u32 = 8_192;

/// The properties of a wanted prime.
pub(crate) struct Wanted<'a> {
    pub(crate) bits: u32,
    pub(crate) safe: bool,
    /// The modulus for which the prime has `remainder`. Empty for any prime.
    pub(crate) modulus: &'a [u8],
    /// The remainder. Empty for OpenSSL's default: 1, or 3 for a safe prime.
    pub(crate) remainder: &'a [u8],
}

/// Returns a random prime, big-endian. Its two highest bits are set unless `wanted` has a modulus.
pub(crate) fn random_prime(wanted: &Wanted<'_>, watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let bits = wanted.bits;
    if bits > MAX_BITS {
        return Err(Fault::TooLong);
    }
    // Below 2^5, OpenSSL finds only the safe primes of three bits.
    if bits < 2 || (wanted.safe && bits < 6 && bits != 3 && wanted.modulus.is_empty()) {
        return Err(Fault::Length);
    }
    let prime = if wanted.modulus.is_empty() { any(bits, wanted.safe, watch)? } else { congruent(wanted, watch)? };
    let bytes = prime.to_be_bytes();
    let len = bits.div_ceil(8) as usize;
    Ok(bytes[bytes.len().saturating_sub(len)..].to_vec())
}

pub(crate) fn any(bits: u32, safe: bool, watch: &mut dyn Watch) -> Result<BoxedUint, Fault> {
    let length = NonZeroU32::new(bits).ok_or(Fault::Length)?;
    let flavor = if safe { Flavor::Safe } else { Flavor::Any };
    loop {
        let mut start = random(bits)?;
        for bit in [0, bits - 1, bits.saturating_sub(2)] {
            start.set_bit_vartime(bit, true);
        }
        let sieve = SmallFactorsSieve::new(start, length, safe).map_err(|_| Fault::Internal)?;
        for candidate in sieve {
            watch.step()?;
            if is_prime(flavor, &candidate) {
                return Ok(candidate);
            }
        }
    }
}

fn congruent(wanted: &Wanted<'_>, watch: &mut dyn Watch) -> Result<BoxedUint, Fault> {
    let bits = wanted.bits;
    let number =
        |bytes: &[u8]| BoxedUint::from_be_slice(strip(bytes), (bits + 8).next_multiple_of(64)).map_err(|_| Fault::Length);
    let modulus = number(wanted.modulus)?;
    let remainder = match wanted.remainder {
        [] => number(if wanted.safe { &[3] } else { &[1] })?,
        given => number(given)?,
    };
    let divisor = NonZero::new(modulus.clone()).into_option().ok_or(Fault::Length)?;
    let flavor = if wanted.safe { Flavor::Safe } else { Flavor::Any };
    loop {
        let mut start = random(bits)?.resize(modulus.bits_precision());
        start.set_bit_vartime(bits - 1, true);
        let below = start.rem_vartime(&divisor);
        let mut candidate = start.wrapping_sub(&below).wrapping_add(&remainder);
        // Search upwards from the random start: at most 4096 steps, while the candidate has the
        // wanted length.
        for _ in 0..4_096 {
            watch.step()?;
            if candidate.bits_vartime() > bits {
                break;
            }
            if candidate.bits_vartime() == bits && is_prime(flavor, &candidate) {
                return Ok(candidate);
            }
            candidate = candidate.wrapping_add(&modulus);
        }
    }
}

/// Returns whether a big-endian number passes the Baillie-PSW test for primes. No composite number
/// is known to pass.
pub(crate) fn check_prime(bytes: &[u8]) -> Result<bool, Fault> {
    let bytes = strip(bytes);
    if bytes.len() > MAX_BITS as usize / 8 {
        return Err(Fault::TooLong);
    }
    let number = BoxedUint::from_be_slice_vartime(bytes);
    if number.bits_vartime() <= 1 {
        return Ok(false);
    }
    if Odd::new(number.clone()).into_option().is_none() {
        return Ok(number.bits_vartime() == 2 && number.trailing_zeros_vartime() == 1);
    }
    Ok(is_prime(Flavor::Any, &number))
}

/// Returns a random number of at most `bits` bits.
pub(crate) fn random(bits: u32) -> Result<BoxedUint, Fault> {
    let mut bytes = vec![0; bits.div_ceil(8) as usize];
    entropy(&mut bytes)?;
    if let (Some(first), spare) = (bytes.first_mut(), bits.next_multiple_of(8) - bits) {
        *first &= 0xff >> spare;
    }
    BoxedUint::from_be_slice(&bytes, bits.next_multiple_of(64)).map_err(|_| Fault::Internal)
}

/// Fills `bytes` with entropy of the operating system.
pub(crate) fn entropy(bytes: &mut [u8]) -> Result<(), Fault> {
    getrandom::fill(bytes).map_err(|_| Fault::Entropy)
}

/// Returns the number without leading zeros.
pub(crate) fn strip(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;

    #[test]
    fn finds_all_primes_below_300() {
        let primes: Vec<u16> = (0..300).filter(|n: &u16| check_prime(&n.to_be_bytes()) == Ok(true)).collect();
        let known: Vec<u16> = (2..300).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
        assert_eq!(primes, known);
    }

    #[test]
    fn finds_primes_of_the_wanted_length_and_remainder() {
        for bits in [2, 3, 8, 64, 65, 512] {
            let wanted = Wanted { bits, safe: false, modulus: &[], remainder: &[] };
            let prime = random_prime(&wanted, &mut Unwatched).expect("a prime");
            assert_eq!(check_prime(&prime), Ok(true));
            assert_eq!(BoxedUint::from_be_slice_vartime(&prime).bits_vartime(), bits);
        }
        let wanted = Wanted { bits: 64, safe: false, modulus: &[12], remainder: &[11] };
        let prime = random_prime(&wanted, &mut Unwatched).expect("a prime");
        assert_eq!(u64::from_be_bytes(prime.try_into().expect("64 bits")) % 12, 11);
    }
}
