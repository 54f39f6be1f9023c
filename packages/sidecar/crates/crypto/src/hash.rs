//! Digests behind one interface: a number selects the algorithm, and an object hashes bytes.
//!
//! The objects are plain data, so that `hash.copy()` can copy a digest at any time.

use crate::macros::with_digest;
use crate::resume::Resume;
use digest::{ExtendableOutput, Update, XofReader};

/// The digests, with their numbers in the guest ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[repr(u8)]
pub enum Algorithm {
    Md5 = 1,
    Sha1 = 2,
    Sha224 = 3,
    Sha256 = 4,
    Sha384 = 5,
    Sha512 = 6,
    Sha512_224 = 7,
    Sha512_256 = 8,
    Sha3_224 = 9,
    Sha3_256 = 10,
    Sha3_384 = 11,
    Sha3_512 = 12,
    Blake2b512 = 13,
    Blake2s256 = 14,
    Ripemd160 = 15,
    Md5Sha1 = 16,
    Shake128 = 17,
    Shake256 = 18,
    Sm3 = 19,
}

impl Algorithm {
    const ALL: [Self; 19] = [
        Self::Md5,
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        Self::Sha512_224,
        Self::Sha512_256,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
        Self::Blake2b512,
        Self::Blake2s256,
        Self::Ripemd160,
        Self::Md5Sha1,
        Self::Shake128,
        Self::Shake256,
        Self::Sm3,
    ];

    /// Returns the algorithm with this number.
    #[must_use]
    pub fn of(number: i64) -> Option<Self> {
        usize::try_from(number).ok()?.checked_sub(1).and_then(|index| Self::ALL.get(index).copied())
    }

    /// Returns whether the output may have any length.
    #[must_use]
    pub fn is_extendable(self) -> bool {
        matches!(self, Self::Shake128 | Self::Shake256)
    }

    /// Returns the length of the output in bytes. For an extendable digest, returns the default
    /// length.
    #[must_use]
    pub fn output_len(self) -> usize {
        match self {
            Self::Md5Sha1 => 36,
            Self::Shake128 => 16,
            Self::Shake256 => 32,
            fixed => with_digest!(fixed, D => <D as digest::Digest>::output_size(), 0),
        }
    }

    /// Returns the length of a block in bytes. HMAC pads its key to this length.
    #[must_use]
    pub fn block_len(self) -> usize {
        match self {
            Self::Md5Sha1 => 64,
            Self::Shake128 => 168,
            Self::Shake256 => 136,
            fixed => with_digest!(fixed, D => <D as digest::common::BlockSizeUser>::block_size(), 64),
        }
    }

    /// Starts a digest of this algorithm.
    #[must_use]
    pub fn hasher(self) -> Box<dyn Hasher> {
        match self {
            Self::Md5Sha1 => Box::new(Pair(Fixed(md5::Md5::default()), Fixed(sha1::Sha1::default()))),
            Self::Shake128 => Box::new(Extendable(shake::Shake128::default())),
            Self::Shake256 => Box::new(Extendable(shake::Shake256::default())),
            fixed => with_digest!(fixed, D => Box::new(Fixed(D::default())), Box::new(Fixed(sha2::Sha256::default()))),
        }
    }

    /// Restores a digest from [`Hasher::state`]. Returns `None` if `state` is not a state of this
    /// algorithm.
    #[must_use]
    pub fn resume(self, state: &[u8]) -> Option<Box<dyn Hasher>> {
        match self {
            Self::Md5Sha1 => {
                let (len, rest) = state.split_first()?;
                let (first, second) = rest.split_at_checked(usize::from(*len))?;
                Some(Box::new(Pair(Fixed(md5::Md5::resume(first)?), Fixed(sha1::Sha1::resume(second)?))))
            }
            Self::Shake128 | Self::Shake256 => None,
            fixed => with_digest!(fixed, D => Some(Box::new(Fixed(D::resume(state)?))), None),
        }
    }

    /// Returns the digest of `data`.
    #[must_use]
    pub fn digest(self, data: &[u8]) -> Vec<u8> {
        let mut hasher = self.hasher();
        hasher.update(data);
        let mut out = vec![0; self.output_len()];
        hasher.finish(&mut out);
        out
    }
}

/// A digest in progress.
pub trait Hasher: Send + Sync {
    /// Hashes more bytes.
    fn update(&mut self, data: &[u8]);
    /// Writes the result and resets the digest. A shorter `out` cuts the result. If `out` is
    /// longer, an extendable digest fills `out`. Any other digest writes only its own length.
    fn finish(&mut self, out: &mut [u8]);
    /// Returns an independent copy.
    fn copy(&self) -> Box<dyn Hasher>;
    /// Returns the state for [`Algorithm::resume`]. Returns `None` for BLAKE2 and SHAKE, whose
    /// crates do not expose the state.
    fn state(&self) -> Option<Vec<u8>>;
}

struct Fixed<D>(D);

impl<D: digest::Digest + digest::FixedOutputReset + Resume + Clone + Send + Sync + 'static> Hasher for Fixed<D> {
    fn update(&mut self, data: &[u8]) {
        digest::Digest::update(&mut self.0, data);
    }

    fn finish(&mut self, out: &mut [u8]) {
        let result = digest::Digest::finalize_reset(&mut self.0);
        let len = out.len().min(result.len());
        out[..len].copy_from_slice(&result[..len]);
    }

    fn copy(&self) -> Box<dyn Hasher> {
        Box::new(Self(self.0.clone()))
    }

    fn state(&self) -> Option<Vec<u8>> {
        self.0.state()
    }
}

struct Extendable<X>(X);

impl<X: ExtendableOutput + Update + Default + Clone + Send + Sync + 'static> Hasher for Extendable<X> {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finish(&mut self, out: &mut [u8]) {
        std::mem::take(&mut self.0).finalize_xof().read(out);
    }

    fn copy(&self) -> Box<dyn Hasher> {
        Box::new(Self(self.0.clone()))
    }

    fn state(&self) -> Option<Vec<u8>> {
        None
    }
}

/// MD5 followed by SHA-1, the digest of signatures in early TLS.
struct Pair<A, B>(Fixed<A>, Fixed<B>);

impl<A, B> Hasher for Pair<A, B>
where
    A: digest::Digest + digest::FixedOutputReset + Resume + Clone + Send + Sync + 'static,
    B: digest::Digest + digest::FixedOutputReset + Resume + Clone + Send + Sync + 'static,
{
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
        self.1.update(data);
    }

    fn finish(&mut self, out: &mut [u8]) {
        let (first, second) = out.split_at_mut(<A as digest::Digest>::output_size().min(out.len()));
        self.0.finish(first);
        self.1.finish(second);
    }

    fn copy(&self) -> Box<dyn Hasher> {
        Box::new(Self(Fixed(self.0.0.clone()), Fixed(self.1.0.clone())))
    }

    fn state(&self) -> Option<Vec<u8>> {
        let (first, second) = (self.0.state()?, self.1.state()?);
        Some([&[u8::try_from(first.len()).ok()?], &first[..], &second].concat())
    }
}
