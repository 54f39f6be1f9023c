//! Asymmetric keys: what they consist of, read from and written to the formats in which people keep them.
//!
//! The guest holds a key as DER (SubjectPublicKeyInfo or PKCS#8) and hands it in with each request, so that nothing of it is kept here.
//! `read.rs` and `write.rs` are the two directions, `pem.rs` and `sealed.rs` what may lie around them, `parts.rs` the numbers for JWK.

pub(crate) mod curve;
pub(crate) mod der;
pub(crate) mod oid;
pub(crate) mod parts;
mod pem;
pub(crate) mod read;
mod sealed;
pub(crate) mod write;

use crate::Algorithm;
use curve::Curve;

/// A key; with its private part, or without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Rsa(RsaKey),
    Ec {
        curve: Curve,
        /// The point in its uncompressed form.
        point: Vec<u8>,
        /// As long as the field.
        scalar: Option<Vec<u8>>,
    },
    Okp {
        kind: Okp,
        public: Vec<u8>,
        secret: Option<Vec<u8>>,
    },
}

/// The keys of RFC 8410 that are known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Okp {
    Ed25519,
    X25519,
}

/// Big-endian numbers without leading zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RsaKey {
    pub(crate) n: Vec<u8>,
    pub(crate) e: Vec<u8>,
    pub(crate) private: Option<RsaPrivate>,
    /// For keys that are for PSS alone: with these parameters, or with any.
    pub(crate) pss: Option<Option<PssParameters>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RsaPrivate {
    pub(crate) d: Vec<u8>,
    pub(crate) p: Vec<u8>,
    pub(crate) q: Vec<u8>,
    pub(crate) dp: Vec<u8>,
    pub(crate) dq: Vec<u8>,
    pub(crate) qi: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PssParameters {
    pub(crate) hash: Algorithm,
    pub(crate) mgf_hash: Algorithm,
    pub(crate) salt_len: u32,
}

impl Key {
    pub(crate) fn is_private(&self) -> bool {
        match self {
            Self::Rsa(key) => key.private.is_some(),
            Self::Ec { scalar, .. } => scalar.is_some(),
            Self::Okp { secret, .. } => secret.is_some(),
        }
    }

    /// Without its private part.
    pub(crate) fn public(mut self) -> Self {
        match &mut self {
            Self::Rsa(key) => key.private = None,
            Self::Ec { scalar, .. } => *scalar = None,
            Self::Okp { secret, .. } => *secret = None,
        }
        self
    }

    /// The number of its type in the guest ABI.
    pub(crate) fn kind(&self) -> i64 {
        match self {
            Self::Rsa(RsaKey { pss: None, .. }) => 1,
            Self::Rsa(_) => 2,
            Self::Ec { .. } => 3,
            Self::Okp { kind: Okp::Ed25519, .. } => 4,
            Self::Okp { kind: Okp::X25519, .. } => 5,
        }
    }
}
