//! Asymmetric keys: their numbers, and the formats in which keys are stored.
//!
//! The guest stores a key as DER (`SubjectPublicKeyInfo` or PKCS#8) and sends the DER with each
//! request, so that the sidecar stores no key. `read.rs` and `write.rs` convert keys from and to
//! DER with the crates of RustCrypto's `formats`. `asn1.rs` has the structures that these crates
//! lack. `pem.rs` encodes DER as text, and `sealed.rs` encrypts private keys. `pbe.rs` decrypts
//! older forms. `pkcs12.rs` reads files with keys and certificates. `parts.rs` converts the numbers
//! for JWK.

pub(crate) mod asn1;
pub(crate) mod curve;
pub(crate) mod oid;
pub(crate) mod parts;
mod pbe;
mod pem;
pub(crate) mod pkcs12;
pub(crate) mod read;
mod sealed;
pub(crate) mod write;

use crate::Algorithm;
use curve::Curve;

/// A key, with or without its private part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Rsa(RsaKey),
    Ec {
        curve: Curve,
        /// The point in its uncompressed form.
        point: Vec<u8>,
        /// The private number, with as many bytes as the field has.
        scalar: Option<Vec<u8>>,
    },
    Okp {
        kind: Okp,
        public: Vec<u8>,
        secret: Option<Vec<u8>>,
    },
}

/// The supported kinds of keys of RFC 8410.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Okp {
    Ed25519,
    X25519,
}

/// The numbers of an RSA key, big-endian and without leading zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RsaKey {
    pub(crate) n: Vec<u8>,
    pub(crate) e: Vec<u8>,
    pub(crate) private: Option<RsaPrivate>,
    /// The restriction to PSS. `None` means no restriction, and `Some(None)` means PSS with any
    /// parameters.
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

    /// Returns the key without its private part.
    pub(crate) fn public(mut self) -> Self {
        match &mut self {
            Self::Rsa(key) => key.private = None,
            Self::Ec { scalar, .. } => *scalar = None,
            Self::Okp { secret, .. } => *secret = None,
        }
        self
    }

    /// Returns the number of the key's type in the guest ABI.
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
