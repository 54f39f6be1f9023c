//! PKCS #12 files (RFC 7292): a key and certificates, encrypted with a passphrase.
//!
//! No crate of this generation reads such files. A file is DER, and its integrity is protected by
//! the passphrase. As in OpenSSL, the first key is the key of the file.

use super::pbe::{self, Use};
use super::{Key, oid, read, sealed};
use crate::{Fault, Hmac, Watch};
use const_oid::ObjectIdentifier;
use der::asn1::{AnyRef, ContextSpecific, OctetStringRef};
use der::zeroize::Zeroizing;
use der::{Decode, DecodeValue, ErrorKind, Header, Reader, Sequence, TagMode, TagNumber};
use spki::AlgorithmIdentifierRef;

const DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.1");
const ENCRYPTED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.6");
const KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.1");
const SEALED_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.2");
const CERTIFICATE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.3");
const X509: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.22.1");
const CONTENT: TagNumber = TagNumber(0);
/// The largest number of bags of one file.
const MAX_BAGS: usize = 256;

/// The contents of a file.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) key: Option<Key>,
    /// The certificates in DER.
    pub(crate) certificates: Vec<Vec<u8>>,
    bags: usize,
}

/// A passphrase in its two forms.
struct Passphrase<'a> {
    text: &'a [u8],
    wide: Zeroizing<Vec<u8>>,
}

/// A type and a value with the tag `[0]`: `ContentInfo`, `SafeBag` or `CertBag`.
struct Tagged<'a> {
    kind: ObjectIdentifier,
    value: AnyRef<'a>,
}

impl Sequence<'_> for Tagged<'_> {}

impl<'a> DecodeValue<'a> for Tagged<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _header: Header) -> der::Result<Self> {
        let kind = reader.decode()?;
        let value = ContextSpecific::decode_explicit(reader, CONTENT)?.ok_or_else(|| reader.error(ErrorKind::Failed))?.value;
        // The attributes of a bag.
        let _attributes: Option<AnyRef<'a>> = reader.decode()?;
        Ok(Self { kind, value })
    }
}

/// `PFX`.
struct File<'a> {
    content: Tagged<'a>,
    mac: Option<Mac<'a>>,
}

impl Sequence<'_> for File<'_> {}

impl<'a> DecodeValue<'a> for File<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _header: Header) -> der::Result<Self> {
        let _version: u32 = reader.decode()?;
        Ok(Self { content: reader.decode()?, mac: reader.decode()? })
    }
}

/// `MacData`.
struct Mac<'a> {
    algorithm: AlgorithmIdentifierRef<'a>,
    digest: &'a OctetStringRef,
    salt: &'a OctetStringRef,
    iterations: u32,
}

impl Sequence<'_> for Mac<'_> {}

impl<'a> DecodeValue<'a> for Mac<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _header: Header) -> der::Result<Self> {
        let (algorithm, digest) = reader.sequence(|inner| Ok::<_, der::Error>((inner.decode()?, inner.decode()?)))?;
        let (salt, iterations): (_, Option<u32>) = (reader.decode()?, reader.decode()?);
        Ok(Self { algorithm, digest, salt, iterations: iterations.unwrap_or(1) })
    }
}

/// `EncryptedData`.
struct EncryptedData<'a> {
    algorithm: AlgorithmIdentifierRef<'a>,
    text: Option<&'a OctetStringRef>,
}

impl Sequence<'_> for EncryptedData<'_> {}

impl<'a> DecodeValue<'a> for EncryptedData<'a> {
    type Error = der::Error;

    fn decode_value<R: Reader<'a>>(reader: &mut R, _header: Header) -> der::Result<Self> {
        let _version: u32 = reader.decode()?;
        let read = reader.sequence(|inner| {
            let _kind: ObjectIdentifier = inner.decode()?;
            let algorithm = inner.decode()?;
            Ok::<_, der::Error>(Self { algorithm, text: inner.context_specific(CONTENT, TagMode::Implicit)? })
        })?;
        // The attributes are not used.
        let _attributes: Option<AnyRef<'a>> = reader.decode()?;
        Ok(read)
    }
}

/// Reads a file. The `Fault` is `PassphraseWrong` if the passphrase or the file is wrong.
pub(crate) fn open(data: &[u8], passphrase: &[u8], watch: &mut dyn Watch) -> Result<Store, Fault> {
    let (file, _) = File::from_der_partial(data)?;
    if file.content.kind != DATA {
        return Err(Fault::Unsupported);
    }
    let content: &OctetStringRef = file.content.value.decode_as()?;
    let content = content.as_bytes();
    let mut passphrase = Passphrase { text: passphrase, wide: pbe::wide(passphrase) };
    if let Some(mac) = &file.mac {
        let mut is_right = false;
        // An absent passphrase has two forms: no bytes, and the end alone.
        if passphrase.text.is_empty() {
            is_right = mac.fits(content, &[], watch)?;
        }
        if is_right {
            passphrase.wide.clear();
        } else if !mac.fits(content, &passphrase.wide, watch)? {
            return Err(Fault::PassphraseWrong);
        }
    }
    let mut store = Store::default();
    for part in Vec::<Tagged<'_>>::from_der(content)? {
        match part.kind {
            DATA => store.read(part.value.decode_as::<&OctetStringRef>()?.as_bytes(), &passphrase, watch)?,
            ENCRYPTED_DATA => {
                let EncryptedData { algorithm, text } = part.value.decode_as()?;
                let text = text.ok_or(Fault::Asn1)?.as_bytes();
                let opened = sealed::open_with(&algorithm, text, passphrase.text, &passphrase.wide, watch)?;
                store.read(&opened, &passphrase, watch)?;
            }
            // Parts for the owner of a key are left out, as in OpenSSL.
            _ => {}
        }
    }
    Ok(store)
}

impl Mac<'_> {
    fn fits(&self, content: &[u8], wide: &[u8], watch: &mut dyn Watch) -> Result<bool, Fault> {
        let algorithm = oid::known_digest(&self.algorithm).ok_or(Fault::Unsupported)?;
        let usage = (Use::Mac, algorithm.output_len());
        let key = pbe::derive(algorithm, wide, self.salt.as_bytes(), self.iterations, usage, watch)?;
        let found = Hmac::of(algorithm, &key, content);
        let expected = self.digest.as_bytes();
        let difference = found.iter().zip(expected).fold(0, |difference, (left, right)| difference | (left ^ right));
        Ok(found.len() == expected.len() && difference == 0)
    }
}

impl Store {
    /// Reads a row of bags. Bags with lists, secrets or further bags are left out.
    fn read(&mut self, contents: &[u8], passphrase: &Passphrase<'_>, watch: &mut dyn Watch) -> Result<(), Fault> {
        for bag in Vec::<Tagged<'_>>::from_der(contents)? {
            self.bags += 1;
            if self.bags > MAX_BAGS {
                return Err(Fault::TooLong);
            }
            match bag.kind {
                KEY if self.key.is_none() => self.key = Some(read::pkcs8_of(bag.value)?),
                SEALED_KEY if self.key.is_none() => {
                    let (algorithm, text) = sealed::pair::<AlgorithmIdentifierRef<'_>, &OctetStringRef>(bag.value)?;
                    let text = text.as_bytes();
                    let opened = sealed::open_with(&algorithm, text, passphrase.text, &passphrase.wide, watch)?;
                    self.key = Some(read::pkcs8(&opened)?);
                }
                CERTIFICATE => {
                    let found: Tagged<'_> = bag.value.decode_as()?;
                    if found.kind == X509 {
                        self.certificates.push(found.value.decode_as::<&OctetStringRef>()?.as_bytes().to_vec());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}
