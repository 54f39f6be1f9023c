//! RSA (RFC 8017) over big integers whose arithmetic takes the same time for all secrets.
//!
//! The code uses `crypto-bigint` and not the `rsa` crate. That crate needs digests as types, and
//! ties the digest of a mask to the digest of the message. The crate also has no stable release of
//! this generation. Every private result is checked with the public exponent. Inconsistent numbers,
//! from an attacker or a hardware fault, cause an error instead of leaking a factor. `padding.rs`
//! has the paddings.

use crate::key::{RsaKey, RsaPrivate};
use crate::prime::{self, strip};
use crate::{Fault, Watch};
use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, NonZero, Odd, Resize};

/// The allowed lengths of a generated modulus in bits. Longer keys can be imported, but their
/// generation would take minutes.
const GENERATED: std::ops::RangeInclusive<u32> = 512..=8_192;

/// Converts big-endian bytes to a number with a precision of at least `bits` bits.
fn number(bytes: &[u8], bits: u32) -> Result<BoxedUint, Fault> {
    let bytes = strip(bytes);
    let needed = u32::try_from(bytes.len() * 8).map_err(|_| Fault::TooLong)?;
    BoxedUint::from_be_slice(bytes, bits.max(needed).next_multiple_of(64)).map_err(|_| Fault::Internal)
}

fn precision(modulus: &[u8]) -> u32 {
    u32::try_from(strip(modulus).len() * 8).unwrap_or(u32::MAX).next_multiple_of(64)
}

fn odd(modulus: &[u8]) -> Result<Odd<BoxedUint>, Fault> {
    Odd::new(number(modulus, precision(modulus))?).into_option().ok_or(Fault::KeyType)
}

/// Returns `base ^ exponent mod modulus`, in as many bytes as the modulus.
pub(crate) fn power(base: &[u8], exponent: &[u8], modulus: &[u8]) -> Result<Vec<u8>, Fault> {
    let odd = odd(modulus)?;
    let bits = odd.bits_precision();
    let base = number(base, bits)?;
    let divisor = NonZero::new(odd.as_ref().clone()).into_option().ok_or(Fault::KeyType)?;
    let base = base.rem(&divisor).resize(bits);
    let form = BoxedMontyForm::new(base, &BoxedMontyParams::new(odd));
    let exponent = number(exponent, 64)?;
    Ok(padded(&form.pow(&exponent).retrieve(), strip(modulus).len()))
}

/// Returns the number as `len` big-endian bytes.
fn padded(number: &BoxedUint, len: usize) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let mut out = vec![0; len];
    let count = len.min(bytes.len());
    out[len - count..].copy_from_slice(&bytes[bytes.len() - count..]);
    out
}

/// Returns whether `left` is less than `right`. Both arguments are big-endian numbers.
fn below(left: &[u8], right: &[u8]) -> bool {
    let (left, right) = (strip(left), strip(right));
    (left.len(), left) < (right.len(), right)
}

/// Raises a message to the public exponent. The message must be below the modulus.
pub(crate) fn public(key: &RsaKey, message: &[u8]) -> Result<Vec<u8>, Fault> {
    if !below(message, &key.n) {
        return Err(Fault::DataTooLarge);
    }
    power(message, &key.e, &key.n)
}

/// Raises a message to the private exponent, and checks the result with the public exponent. The
/// message must be below the modulus.
pub(crate) fn private(key: &RsaKey, message: &[u8]) -> Result<Vec<u8>, Fault> {
    let private = key.private.as_ref().ok_or(Fault::KeyType)?;
    if !below(message, &key.n) {
        return Err(Fault::DataTooLarge);
    }
    let result = by_remainders(key, private, message)?;
    let expected = padded(&number(message, 64)?, key.n.len());
    if public(key, &result)? != expected {
        return Err(Fault::Internal);
    }
    Ok(result)
}

/// Computes the private power by the Chinese remainder theorem, from two powers of half the length.
fn by_remainders(key: &RsaKey, private: &RsaPrivate, message: &[u8]) -> Result<Vec<u8>, Fault> {
    let RsaPrivate { p, q, dp, dq, qi, .. } = private;
    let (first, second) = (power(message, dp, p)?, power(message, dq, q)?);
    let bits = precision(p).max(precision(q));
    let modulus = NonZero::new(number(p, bits)?).into_option().ok_or(Fault::KeyType)?;
    let reduced = |bytes: &[u8]| number(bytes, bits).map(|number| number.rem(&modulus).resize(bits));
    let difference = reduced(&first)?.sub_mod(&reduced(&second)?, &modulus);
    let h = difference.mul_mod(&reduced(qi)?, &modulus);
    let wide = precision(&key.n) + 64;
    let product = number(q, wide)?.wrapping_mul(h.resize(wide));
    Ok(padded(&product.resize(wide).wrapping_add(&number(&second, wide)?), key.n.len()))
}

/// Generates a key of two primes whose modulus has exactly `bits` bits.
pub(crate) fn generate(bits: u32, exponent: u32, watch: &mut dyn Watch) -> Result<RsaKey, Fault> {
    if !GENERATED.contains(&bits) {
        return Err(if bits < *GENERATED.start() { Fault::Length } else { Fault::TooLong });
    }
    if exponent < 3 || exponent.is_multiple_of(2) {
        return Err(Fault::InvalidPrivateKey);
    }
    loop {
        let p = prime::any(bits.div_ceil(2), false, watch)?;
        let q = prime::any(bits / 2, false, watch)?;
        if let Some(key) = from_primes(&p, &q, exponent, bits)? {
            return Ok(key);
        }
    }
}

/// Makes the key of two primes. Returns `None` for unsuitable primes: equal primes, primes with too
/// short a product, or primes whose totient shares a factor with the exponent.
fn from_primes(p: &BoxedUint, q: &BoxedUint, exponent: u32, bits: u32) -> Result<Option<RsaKey>, Fault> {
    let wide = (bits + 64).next_multiple_of(64);
    let (p, q) = (p.resize(wide), q.resize(wide));
    let n = p.wrapping_mul(&q);
    if p == q || n.bits_vartime() != bits {
        return Ok(None);
    }
    let one = BoxedUint::one_with_precision(wide);
    let (p1, q1) = (p.wrapping_sub(&one), q.wrapping_sub(&one));
    let phi = NonZero::new(p1.wrapping_mul(&q1)).into_option().ok_or(Fault::Internal)?;
    let e = number(&exponent.to_be_bytes(), wide)?;
    let Some(d) = e.invert_mod(&phi).into_option() else { return Ok(None) };
    let mut remainders = Vec::new();
    for less in [p1, q1] {
        let less = NonZero::new(less).into_option().ok_or(Fault::Internal)?;
        remainders.push(d.rem(&less).to_be_bytes());
    }
    let odd_p = Odd::new(p.clone()).into_option().ok_or(Fault::Internal)?;
    let Some(qi) = q.invert_odd_mod(&odd_p).into_option() else { return Ok(None) };
    let bytes = |number: &BoxedUint| strip(&number.to_be_bytes()).to_vec();
    let [dp, dq] = [0, 1].map(|index| strip(&remainders[index]).to_vec());
    let private = RsaPrivate { d: bytes(&d), p: bytes(&p), q: bytes(&q), dp, dq, qi: bytes(&qi) };
    Ok(Some(RsaKey { n: bytes(&n), e: strip(&exponent.to_be_bytes()).to_vec(), private: Some(private), pss: None }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;

    #[test]
    fn the_private_power_reverses_the_public_power() {
        for (bits, exponent) in [(512, 3), (520, 65_537), (1_024, 65_537)] {
            let key = generate(bits, exponent, &mut Unwatched).expect("a key");
            let message = [vec![0; key.n.len() - 3], vec![1, 2, 3]].concat();
            let sealed = public(&key, &message).expect("below the modulus");
            assert_eq!(private(&key, &sealed), Ok(message), "{bits} {exponent}");
            assert_eq!(private(&key, &key.n), Err(Fault::DataTooLarge));
        }
    }

    #[test]
    fn refuses_numbers_that_do_not_fit_together() {
        let mut key = generate(512, 65_537, &mut Unwatched).expect("a key");
        if let Some(private) = &mut key.private {
            private.dp[0] ^= 1;
        }
        assert_eq!(private(&key, &[7; 60]), Err(Fault::Internal));
        assert_eq!(power(&[2], &[3], &[4]), Err(Fault::KeyType));
        assert_eq!(power(&[2], &[3], &[]), Err(Fault::KeyType));
        assert_eq!(power(&[2], &[10], &[0xfd]), Ok(vec![(1_024_u32 % 253) as u8]));
    }
}
