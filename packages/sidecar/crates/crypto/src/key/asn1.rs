//! ASN.1 structures that no crate reads as OpenSSL does. The crate `der` reads and writes the
//! fields of these structures.
//!
//! Each comment names the crate with the stricter structure and the difference. `read.rs` and
//! `write.rs` use `spki`, `pkcs8`, `pkcs1`, `sec1` and `pkcs5` for all other structures.

use crate::Fault;
use crate::prime::strip;
use der::asn1::{BitStringRef, ContextSpecificRef, OctetStringRef, SequenceRef};
use der::{
    Decode, DecodeValue, Encode, EncodeValue, ErrorKind, FixedTag, Header, Length, Reader, Sequence, Tag, TagMode, TagNumber,
    Writer,
};
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

/// PKCS#8 `OneAsymmetricKey`. `pkcs8` refuses version 2 without a public key, which OpenSSL
/// accepts.
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
/// The integers of `der` refuse superfluous leading zeros, which OpenSSL accepts in RSA keys.
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

/// `RSASSA-PSS-params`. `pkcs1` stores the salt length in a byte, but OpenSSL accepts longer salts.
pub(super) struct PssParams<'a> {
    pub(super) hash: Option<AlgorithmIdentifierRef<'a>>,
    pub(super) mask: Option<AlgorithmIdentifier<AlgorithmIdentifierRef<'a>>>,
    pub(super) salt_len: Option<u32>,
}

const HASH: TagNumber = TagNumber(0);
const MASK: TagNumber = TagNumber(1);
const SALT_LEN: TagNumber = TagNumber(2);
const TRAILER: TagNumber = TagNumber(3);

impl Sequence<'_> for PssParams<'_> {}

impl<'a> DecodeValue<'a> for PssParams<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _header: Header) -> der::Result<Self> {
        let hash = reader.context_specific(HASH, TagMode::Explicit)?;
        let mask = reader.context_specific(MASK, TagMode::Explicit)?;
        let salt_len = reader.context_specific(SALT_LEN, TagMode::Explicit)?;
        let _trailer: Option<u32> = reader.context_specific(TRAILER, TagMode::Explicit)?;
        Ok(Self { hash, mask, salt_len })
    }
}

impl EncodeValue for PssParams<'_> {
    fn value_len(&self) -> der::Result<Length> {
        explicit(HASH, &self.hash).encoded_len()?
            + explicit(MASK, &self.mask).encoded_len()?
            + explicit(SALT_LEN, &self.salt_len).encoded_len()?
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        explicit(HASH, &self.hash).encode(writer)?;
        explicit(MASK, &self.mask).encode(writer)?;
        explicit(SALT_LEN, &self.salt_len).encode(writer)
    }
}

fn explicit<T>(tag_number: TagNumber, value: &Option<T>) -> Option<ContextSpecificRef<'_, T>> {
    value.as_ref().map(|value| ContextSpecificRef { tag_number, tag_mode: TagMode::Explicit, value })
}

/// `PBKDF2-params`. `pkcs5` accepts salts of at most 32 bytes, but OpenSSL accepts salts of any
/// length.
pub(super) struct Pbkdf2Params<'a> {
    pub(super) salt: &'a OctetStringRef,
    pub(super) iterations: u32,
    pub(super) prf: Option<AlgorithmIdentifierRef<'a>>,
}

impl Sequence<'_> for Pbkdf2Params<'_> {}

impl<'a> DecodeValue<'a> for Pbkdf2Params<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _header: Header) -> der::Result<Self> {
        let (salt, iterations) = (reader.decode()?, reader.decode()?);
        let _key_len: Option<u32> = reader.decode()?;
        Ok(Self { salt, iterations, prf: reader.decode()? })
    }
}

/// The `DigestInfo` of PKCS#1 v1.5 signatures, which no crate has.
pub(crate) struct DigestInfo<'a> {
    pub(crate) algorithm: AlgorithmIdentifierRef<'a>,
    pub(crate) digest: &'a OctetStringRef,
}

impl Sequence<'_> for DigestInfo<'_> {}

impl EncodeValue for DigestInfo<'_> {
    fn value_len(&self) -> der::Result<Length> {
        self.algorithm.encoded_len()? + self.digest.encoded_len()?
    }

    fn encode_value(&self, writer: &mut impl Writer) -> der::Result<()> {
        self.algorithm.encode(writer)?;
        self.digest.encode(writer)
    }
}
