//! ASN.1 structures that no crate reads as OpenSSL does; `der` reads and writes their fields.
//!
//! Each structure names the difference to the crate that has a stricter one. Everything else about
//! keys comes from `spki`, `pkcs8`, `pkcs1`, `sec1` and `pkcs5`, in `read.rs` and `write.rs`.

use crate::Fault;
use crate::prime::strip;
use der::asn1::{BitStringRef, OctetStringRef, SequenceRef};
use der::{Decode, DecodeValue, ErrorKind, FixedTag, Header, Reader, Sequence, Tag, TagMode, TagNumber};
use pkcs8::Version;
use spki::{AlgorithmIdentifier, AlgorithmIdentifierRef};

impl From<der::Error> for Fault {
    fn from(error: der::Error) -> Self {
        match error.kind() {
            ErrorKind::TagUnexpected { .. } | ErrorKind::TagUnknown { .. } => Self::Asn1Tag,
            _ => Self::Asn1,
        }
    }
}

/// PKCS#8 `OneAsymmetricKey`. `pkcs8` refuses version 2 without a public key; OpenSSL takes it.
pub(super) struct PrivateKeyInfo<'a> {
    pub(super) algorithm: AlgorithmIdentifierRef<'a>,
    pub(super) private_key: &'a OctetStringRef,
}

impl Sequence<'_> for PrivateKeyInfo<'_> {}

impl<'a> DecodeValue<'a> for PrivateKeyInfo<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _header: Header) -> der::Result<Self> {
        Version::decode(reader)?;
        let info = Self { algorithm: reader.decode()?, private_key: reader.decode()? };
        let _attributes = reader.context_specific::<&SequenceRef>(TagNumber(0), TagMode::Implicit)?;
        let _public_key = reader.context_specific::<BitStringRef<'_>>(TagNumber(1), TagMode::Implicit)?;
        Ok(info)
    }
}

/// A number of an RSA key, without leading zeros: the integer type for the structures of `pkcs1`.
/// The integers of `der` refuse superfluous leading zeros; OpenSSL takes them in RSA keys.
pub(super) struct RsaNumber<'a>(pub(super) &'a [u8]);

impl FixedTag for RsaNumber<'_> {
    const TAG: Tag = Tag::Integer;
}

impl<'a> DecodeValue<'a> for RsaNumber<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, header: Header) -> der::Result<Self> {
        match reader.read_slice(header.length())? {
            [] => Err(reader.error(Tag::Integer.length_error())),
            [first, ..] if *first >= 0x80 => Err(reader.error(Tag::Integer.value_error())),
            bytes => Ok(Self(strip(bytes))),
        }
    }
}

/// `RSASSA-PSS-params`. `pkcs1` keeps the salt length in a byte; OpenSSL takes longer salts.
#[derive(Sequence)]
pub(super) struct PssParams<'a> {
    #[asn1(context_specific = "0", optional = "true")]
    pub(super) hash: Option<AlgorithmIdentifierRef<'a>>,
    #[asn1(context_specific = "1", optional = "true")]
    pub(super) mask: Option<AlgorithmIdentifier<AlgorithmIdentifierRef<'a>>>,
    #[asn1(context_specific = "2", optional = "true")]
    pub(super) salt_len: Option<u32>,
    #[asn1(context_specific = "3", optional = "true")]
    pub(super) trailer: Option<u32>,
}

/// `PBKDF2-params`. `pkcs5` takes salts of at most 32 bytes; OpenSSL takes any length.
#[derive(Sequence)]
pub(super) struct Pbkdf2Params<'a> {
    pub(super) salt: &'a OctetStringRef,
    pub(super) iterations: u32,
    #[asn1(optional = "true")]
    key_len: Option<u32>,
    #[asn1(optional = "true")]
    pub(super) prf: Option<AlgorithmIdentifierRef<'a>>,
}

/// `PBES2-params`, with both algorithms unread, because of [`Pbkdf2Params`].
#[derive(Sequence)]
pub(super) struct Pbes2Params<'a> {
    pub(super) derivation: AlgorithmIdentifierRef<'a>,
    pub(super) encryption: AlgorithmIdentifierRef<'a>,
}

/// `EncryptedPrivateKeyInfo`, with its algorithm unread, because of [`Pbkdf2Params`].
#[derive(Sequence)]
pub(super) struct EncryptedPrivateKeyInfo<'a> {
    pub(super) algorithm: AlgorithmIdentifierRef<'a>,
    pub(super) encrypted: &'a OctetStringRef,
}

/// The `DigestInfo` of PKCS#1 v1.5 signatures, which no crate has.
#[derive(Sequence)]
pub(crate) struct DigestInfo<'a> {
    pub(crate) algorithm: AlgorithmIdentifierRef<'a>,
    pub(crate) digest: &'a OctetStringRef,
}
