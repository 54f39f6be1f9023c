//! The object identifiers of key types and digests that no crate in use defines as a constant.

use crate::Algorithm;
use const_oid::ObjectIdentifier;
use der::asn1::AnyRef;
use spki::AlgorithmIdentifierRef;

pub(super) const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
pub(super) const MGF1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");
pub(super) const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
pub(super) const X25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.110");

const SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.14.3.2.26");
const MD5: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.2.5");
const RIPEMD160: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.36.3.2.1");
const DIGESTS: [(Algorithm, ObjectIdentifier); 13] = [
    (Algorithm::Md5, MD5),
    (Algorithm::Ripemd160, RIPEMD160),
    (Algorithm::Sha1, SHA1),
    (Algorithm::Sha256, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1")),
    (Algorithm::Sha384, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.2")),
    (Algorithm::Sha512, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.3")),
    (Algorithm::Sha224, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.4")),
    (Algorithm::Sha512_224, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.5")),
    (Algorithm::Sha512_256, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.6")),
    (Algorithm::Sha3_224, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.7")),
    (Algorithm::Sha3_256, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.8")),
    (Algorithm::Sha3_384, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.9")),
    (Algorithm::Sha3_512, ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.10")),
];

/// Returns the identifier of a digest, with the NULL parameters that OpenSSL writes.
pub(crate) fn digest(algorithm: Algorithm) -> Option<AlgorithmIdentifierRef<'static>> {
    let (_, oid) = DIGESTS.iter().find(|(known, _)| *known == algorithm)?;
    Some(AlgorithmIdentifierRef { oid: *oid, parameters: Some(AnyRef::NULL) })
}

/// Returns the digest of an identifier.
pub(super) fn known_digest(identifier: &AlgorithmIdentifierRef<'_>) -> Option<Algorithm> {
    DIGESTS.iter().find(|(_, oid)| *oid == identifier.oid).map(|(algorithm, _)| *algorithm)
}

/// Returns the digest that a key for PSS names, if PSS supports the digest.
pub(super) fn pss_digest(identifier: &AlgorithmIdentifierRef<'_>) -> Option<Algorithm> {
    known_digest(identifier).filter(|algorithm| !matches!(algorithm, Algorithm::Md5 | Algorithm::Ripemd160))
}
