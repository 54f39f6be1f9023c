//! The elliptic curves behind one interface: points, scalars, shared secrets. `sign.rs` makes and
//! checks ECDSA signatures.

use crate::Fault;
use const_oid::ObjectIdentifier;
use elliptic_curve::sec1::ToSec1Point;

/// The curves, with their numbers in the guest ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Curve {
    P256 = 1,
    P384 = 2,
    P521 = 3,
    K256 = 4,
}

/// Runs `$body` with `$C` as the curve's type.
macro_rules! with_curve {
    ($curve:expr, $C:ident => $body:expr) => {{
        macro_rules! with {
            ($type:ty) => {{
                type $C = $type;
                $body
            }};
        }
        match $curve {
            $crate::key::curve::Curve::P256 => with!(p256::NistP256),
            $crate::key::curve::Curve::P384 => with!(p384::NistP384),
            $crate::key::curve::Curve::P521 => with!(p521::NistP521),
            $crate::key::curve::Curve::K256 => with!(k256::Secp256k1),
        }
    }};
}
pub(crate) use with_curve;

const ALL: [Curve; 4] = [Curve::P256, Curve::P384, Curve::P521, Curve::K256];

impl Curve {
    pub(crate) fn of(number: i64) -> Option<Self> {
        ALL.into_iter().find(|curve| *curve as i64 == number)
    }

    pub(super) const fn oid(self) -> ObjectIdentifier {
        match self {
            Self::P256 => ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7"),
            Self::P384 => ObjectIdentifier::new_unwrap("1.3.132.0.34"),
            Self::P521 => ObjectIdentifier::new_unwrap("1.3.132.0.35"),
            Self::K256 => ObjectIdentifier::new_unwrap("1.3.132.0.10"),
        }
    }

    pub(super) fn with_oid(oid: ObjectIdentifier) -> Option<Self> {
        ALL.into_iter().find(|curve| curve.oid() == oid)
    }

    /// Returns the length in bytes of a coordinate and of a scalar.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::P256 | Self::K256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    /// Returns the uncompressed form of a point in any form. Fails if the point is not on the
    /// curve.
    pub(crate) fn point(self, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut bytes = bytes.to_vec();
        // The hybrid form is the uncompressed form with the parity of y in its first byte.
        if bytes.len() == 1 + 2 * self.len() && (bytes[0] == 6 || bytes[0] == 7) {
            let parity = bytes[bytes.len() - 1] & 1;
            if bytes[0] & 1 != parity {
                return Err(Fault::InvalidPoint);
            }
            bytes[0] = 4;
        }
        with_curve!(self, C => {
            let key = elliptic_curve::PublicKey::<C>::from_sec1_bytes(known_form(&bytes)?).map_err(|_| Fault::InvalidPoint)?;
            Ok(key.to_sec1_point(false).as_bytes().to_vec())
        })
    }

    /// Returns the compressed form of a point.
    pub(crate) fn compressed(self, point: &[u8]) -> Result<Vec<u8>, Fault> {
        with_curve!(self, C => {
            let key = elliptic_curve::PublicKey::<C>::from_sec1_bytes(known_form(point)?).map_err(|_| Fault::InvalidPoint)?;
            Ok(key.to_sec1_point(true).as_bytes().to_vec())
        })
    }

    /// Returns a scalar of any length, padded to the length of the field, and its point.
    pub(crate) fn scalar(self, bytes: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Fault> {
        let short = crate::prime::strip(bytes);
        let mut scalar = vec![0; self.len()];
        let start = scalar.len().checked_sub(short.len()).ok_or(Fault::InvalidPrivateKey)?;
        scalar[start..].copy_from_slice(short);
        let point = with_curve!(self, C => {
            let key = elliptic_curve::SecretKey::<C>::from_slice(&scalar).map_err(|_| Fault::InvalidPrivateKey)?;
            key.public_key().to_sec1_point(false).as_bytes().to_vec()
        });
        Ok((scalar, point))
    }

    /// Returns a random scalar and its point.
    pub(crate) fn generate(self) -> Result<(Vec<u8>, Vec<u8>), Fault> {
        for _ in 0..64 {
            let mut bytes = vec![0; self.len()];
            crate::prime::entropy(&mut bytes)?;
            if self == Self::P521 {
                bytes[0] &= 1;
            }
            if let Ok(pair) = self.scalar(&bytes) {
                return Ok(pair);
            }
        }
        Err(Fault::Entropy)
    }

    /// Returns the x coordinate of `scalar * point`.
    pub(crate) fn shared(self, scalar: &[u8], point: &[u8]) -> Result<Vec<u8>, Fault> {
        with_curve!(self, C => {
            let key = elliptic_curve::SecretKey::<C>::from_slice(scalar).map_err(|_| Fault::InvalidPrivateKey)?;
            let other = elliptic_curve::PublicKey::<C>::from_sec1_bytes(known_form(point)?).map_err(|_| Fault::InvalidPoint)?;
            let secret = elliptic_curve::ecdh::diffie_hellman(key.to_nonzero_scalar(), other.as_affine());
            Ok(secret.raw_secret_bytes().to_vec())
        })
    }
}

/// Checks that a point is compressed or uncompressed. OpenSSL accepts no other form. The crate
/// `elliptic-curve` would also accept the compact form (tag 5), which has no sign.
fn known_form(point: &[u8]) -> Result<&[u8], Fault> {
    match point.first() {
        Some(2..=4) => Ok(point),
        _ => Err(Fault::InvalidPoint),
    }
}
