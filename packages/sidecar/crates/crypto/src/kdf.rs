//! Derives keys from passwords and from other keys: PBKDF2 (RFC 8018) and HKDF (RFC 5869).
//!
//! A guest may request a PBKDF2 that takes minutes. A watch must therefore be able to stop the loop
//! between iterations. The loop of the `pbkdf2` crate cannot be stopped. This module's loop has the
//! digest as a type, so that an iteration costs two copies of a small state and no allocation. HKDF
//! does not use the `hkdf` crate, because that crate needs the digest as a type.

use crate::macros::with_digest;
use crate::{Algorithm, Fault, Hmac, Watch};
use digest::{Digest, FixedOutput, KeyInit, Update};
use hmac::SimpleHmac;

/// The number of iterations between two steps of the watch. These iterations take about a
/// millisecond.
const STEP: u32 = 1_024;

pub(crate) fn pbkdf2(
    algorithm: Algorithm,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    len: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<u8>, Fault> {
    if len > watch.memory() {
        return Err(Fault::Memory);
    }
    let mut out = vec![0; len];
    with_digest!(algorithm, D => {
        let keyed = <SimpleHmac<D> as KeyInit>::new_from_slice(password).map_err(|_| Fault::Internal)?;
        for (index, block) in out.chunks_mut(<D as Digest>::output_size()).enumerate() {
            let number = u32::try_from(index + 1).map_err(|_| Fault::TooLong)?;
            let mut first = keyed.clone();
            Update::update(&mut first, salt);
            Update::update(&mut first, &number.to_be_bytes());
            let mut last = first.finalize_fixed();
            let mut sum = last.clone();
            for round in 1..iterations {
                if round % STEP == 0 {
                    watch.step()?;
                }
                let mut next = keyed.clone();
                Update::update(&mut next, &last);
                last = next.finalize_fixed();
                sum.iter_mut().zip(&last).for_each(|(sum, byte)| *sum ^= byte);
            }
            watch.step()?;
            block.copy_from_slice(&sum[..block.len()]);
        }
    }, return Err(Fault::Unsupported));
    Ok(out)
}

pub(crate) fn hkdf(algorithm: Algorithm, key: &[u8], salt: &[u8], info: &[u8], len: usize) -> Result<Vec<u8>, Fault> {
    let size = algorithm.output_len();
    if len > 255 * size {
        return Err(Fault::TooLong);
    }
    // RFC 5869 replaces an absent salt with a block of zeros. HMAC pads an empty key to an equal
    // block.
    let keyed = Hmac::new(algorithm, &Hmac::of(algorithm, salt, key));
    let mut out = Vec::with_capacity(len + size);
    let mut last = Vec::new();
    let mut number = 0_u8;
    while out.len() < len {
        number += 1;
        let mut hmac = keyed.clone();
        hmac.update(&last);
        hmac.update(info);
        hmac.update(&[number]);
        last = hmac.finish();
        out.extend_from_slice(&last);
    }
    out.truncate(len);
    Ok(out)
}
