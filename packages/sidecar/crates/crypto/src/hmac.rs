//! HMAC over any digest that has blocks (RFC 2104).
//!
//! The code uses [`Hasher`] and not the `hmac` crate. That crate needs the digest as a type, but
//! the guest selects the digest by a number.

use crate::{Algorithm, Hasher};

/// An HMAC in progress.
pub struct Hmac {
    inner: Box<dyn Hasher>,
    outer: Box<dyn Hasher>,
    algorithm: Algorithm,
}

impl Hmac {
    /// Starts an HMAC with a key of any length.
    #[must_use]
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Self {
        let mut block = vec![0; algorithm.block_len()];
        if key.len() > block.len() {
            let digest = algorithm.digest(key);
            block[..digest.len()].copy_from_slice(&digest);
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let padded = |pad: u8| {
            let mut hasher = algorithm.hasher();
            hasher.update(&block.iter().map(|byte| byte ^ pad).collect::<Vec<_>>());
            hasher
        };
        Self { inner: padded(0x36), outer: padded(0x5c), algorithm }
    }

    /// Authenticates more bytes.
    pub fn update(&mut self, data: &[u8]) {
        self.inner.update(data);
    }

    /// Returns the authentication code.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let mut out = vec![0; self.algorithm.output_len()];
        self.inner.finish(&mut out);
        self.outer.update(&out);
        self.outer.finish(&mut out);
        out
    }

    /// Returns the algorithm and the state for [`Hmac::resume`]. The state consists of two states
    /// of the digest with equal lengths.
    #[must_use]
    pub fn state(&self) -> Option<(Algorithm, Vec<u8>)> {
        Some((self.algorithm, [self.inner.state()?, self.outer.state()?].concat()))
    }

    /// Restores an HMAC. Returns `None` if `state` is not a state of this algorithm.
    #[must_use]
    pub fn resume(algorithm: Algorithm, state: &[u8]) -> Option<Self> {
        let (inner, outer) = state.split_at(state.len() / 2);
        Some(Self { inner: algorithm.resume(inner)?, outer: algorithm.resume(outer)?, algorithm })
    }

    /// Returns the authentication code of `data`.
    #[must_use]
    pub fn of(algorithm: Algorithm, key: &[u8], data: &[u8]) -> Vec<u8> {
        let mut hmac = Self::new(algorithm, key);
        hmac.update(data);
        hmac.finish()
    }
}

impl Clone for Hmac {
    fn clone(&self) -> Self {
        Self { inner: self.inner.copy(), outer: self.outer.copy(), algorithm: self.algorithm }
    }
}
