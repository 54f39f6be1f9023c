//! Digests whose state can be saved and restored. The crates of BLAKE2 and SHAKE do not expose
//! their states.

use digest::common::hazmat::{SerializableState, SerializedState};

/// A digest that may expose its state.
pub(crate) trait Resume: Sized {
    /// Returns the state, or `None` if the crate does not expose the state.
    fn state(&self) -> Option<Vec<u8>>;
    /// Restores a digest. Returns `None` if `state` is not a state of this digest.
    fn resume(state: &[u8]) -> Option<Self>;
}

macro_rules! open {
    ($($type:ty),+ $(,)?) => {
        $(impl Resume for $type {
            fn state(&self) -> Option<Vec<u8>> {
                Some(self.serialize().to_vec())
            }

            fn resume(state: &[u8]) -> Option<Self> {
                let state: &SerializedState<Self> = state.try_into().ok()?;
                Self::deserialize(state).ok()
            }
        })+
    };
}

macro_rules! closed {
    ($($type:ty),+ $(,)?) => {
        $(impl Resume for $type {
            fn state(&self) -> Option<Vec<u8>> {
                None
            }

            fn resume(_state: &[u8]) -> Option<Self> {
                None
            }
        })+
    };
}

open! {
    md5::Md5,
    sha1::Sha1,
    sha2::Sha224,
    sha2::Sha256,
    sha2::Sha384,
    sha2::Sha512,
    sha2::Sha512_224,
    sha2::Sha512_256,
    sha3::Sha3_224,
    sha3::Sha3_256,
    sha3::Sha3_384,
    sha3::Sha3_512,
    ripemd::Ripemd160,
    sm3::Sm3,
}
closed!(blake2::Blake2b512, blake2::Blake2s256);
