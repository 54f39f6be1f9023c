//! The verification of a peer's certificates, after the handshake. The guest decides about the
//! connection. Therefore the verifiers of the handshake check only the peer's signature. Next:
//! `tickets.rs`.

use super::provider;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use std::sync::{Arc, OnceLock};

/// The largest number of authorities of one session.
const MAX_ROOTS: usize = 4_096;

/// The authorities that a session trusts.
#[derive(Debug)]
pub struct Roots {
    /// The anchors of chains.
    store: Arc<RootCertStore>,
    /// The certificates. A peer's own certificate may be one of them.
    certificates: Vec<CertificateDer<'static>>,
}

/// Reads certificates in PEM. Other parts of the text are ignored.
pub fn parse_roots<'a>(texts: impl IntoIterator<Item = &'a str>) -> Roots {
    let texts = texts.into_iter();
    let certificates: Vec<_> =
        texts.flat_map(|text| CertificateDer::pem_slice_iter(text.as_bytes()).filter_map(Result::ok)).take(MAX_ROOTS).collect();
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates.iter().cloned());
    Roots { store: Arc::new(store), certificates }
}

impl Default for Roots {
    fn default() -> Self {
        Self { store: Arc::new(RootCertStore::empty()), certificates: Vec::new() }
    }
}

impl Roots {
    /// Returns these and further authorities.
    pub fn with<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Self {
        let more = parse_roots(texts);
        let mut store = RootCertStore::clone(&self.store);
        store.roots.extend(more.store.roots.iter().cloned());
        let certificates = [self.certificates.as_slice(), more.certificates.as_slice()].concat();
        Self { store: Arc::new(store), certificates }
    }

    /// Returns the names of the authorities, which a server sends to a client.
    pub fn subjects(&self) -> Vec<DistinguishedName> {
        self.store.subjects()
    }

    /// Verifies a chain at the present time. Returns OpenSSL's code of the failure. The name of the
    /// peer is not checked.
    pub fn verify(&self, chain: &[CertificateDer<'_>]) -> Result<(), &'static str> {
        let Some((own, others)) = chain.split_first() else { return Err("UNABLE_TO_GET_ISSUER_CERT") };
        let parsed = ParsedCertificate::try_from(own).map_err(|error| code(&error, chain))?;
        let algorithms = provider::whole().signature_verification_algorithms.all;
        let now = UnixTime::now();
        match verify_server_cert_signed_by_trust_anchor(&parsed, &self.store, others, now, algorithms) {
            Ok(()) => Ok(()),
            // The certificate is itself trusted, and is the certificate of an authority. The
            // validity has been checked before this error.
            Err(Error::InvalidCertificate(CertificateError::Other(_))) if self.certificates.contains(own) => Ok(()),
            Err(error) => Err(code(&error, chain)),
        }
    }

    /// Verifies a chain like [`Self::verify`], and the name of the peer.
    pub fn verify_named(&self, chain: &[CertificateDer<'_>], name: &str) -> Result<(), &'static str> {
        self.verify(chain)?;
        let wrong_name = "ERR_TLS_CERT_ALTNAME_INVALID";
        let own = chain.first().ok_or(wrong_name)?;
        let parsed = ParsedCertificate::try_from(own).map_err(|_| wrong_name)?;
        let name = ServerName::try_from(name).map_err(|_| wrong_name)?;
        verify_server_name(&parsed, &name).map_err(|_| wrong_name)
    }
}

/// Returns OpenSSL's code of a failed verification.
fn code(error: &Error, chain: &[CertificateDer<'_>]) -> &'static str {
    match error {
        Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => "CERT_HAS_EXPIRED",
        Error::InvalidCertificate(CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }) => {
            "CERT_NOT_YET_VALID"
        }
        Error::InvalidCertificate(CertificateError::BadSignature) => "CERT_SIGNATURE_FAILURE",
        Error::InvalidCertificate(CertificateError::Revoked) => "CERT_REVOKED",
        Error::InvalidCertificate(CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. }) => {
            "INVALID_PURPOSE"
        }
        Error::InvalidCertificate(CertificateError::BadEncoding) => "CERT_CHAIN_TOO_LONG",
        _ => match chain {
            [own] if is_self_issued(own) => "DEPTH_ZERO_SELF_SIGNED_CERT",
            [_] => "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
            [.., last] if is_self_issued(last) => "SELF_SIGNED_CERT_IN_CHAIN",
            _ => "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
        },
    }
}

/// Returns whether issuer and subject of a certificate are equal.
fn is_self_issued(certificate: &CertificateDer<'_>) -> bool {
    names(certificate).is_some_and(|(issuer, subject)| issuer == subject)
}

/// Returns the encoded issuer and subject: `Certificate { tbs { [0] version, serial, algorithm,
/// issuer, validity, subject, … } … }`.
fn names(certificate: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut rest, _) = element(certificate)?;
    let (tag, _, after) = element(rest)?;
    if tag == 0xa0 {
        rest = after;
    }
    let (_, _, rest) = element(rest)?;
    let (_, _, rest) = element(rest)?;
    let (_, issuer, rest) = element(rest)?;
    let (_, _, rest) = element(rest)?;
    let (_, subject, _) = element(rest)?;
    Some((issuer, subject))
}

/// Splits bytes in DER into the tag and the content of the first element, and the rest.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x83 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Accepts each certificate in the handshake, and checks the signature of the peer.
#[derive(Debug, Default)]
pub struct AcceptAny {
    /// The authorities whose names a server sends to a client.
    subjects: Vec<DistinguishedName>,
}

impl AcceptAny {
    /// Returns the verifier of clients. Sessions are resumed only with one and the same verifier.
    pub fn for_clients() -> Arc<Self> {
        static ONE: OnceLock<Arc<AcceptAny>> = OnceLock::new();
        ONE.get_or_init(Arc::default).clone()
    }

    /// Returns the verifier of a server that requests a certificate.
    pub fn for_server(roots: &Roots) -> Arc<Self> {
        Arc::new(Self { subjects: roots.subjects() })
    }
}

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _own: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, own, signature, &provider::whole().signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, own, signature, &provider::whole().signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider::whole().signature_verification_algorithms.supported_schemes()
    }
}

impl ClientCertVerifier for AcceptAny {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.subjects
    }

    fn verify_client_cert(
        &self,
        _own: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        ServerCertVerifier::verify_tls12_signature(self, message, own, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        ServerCertVerifier::verify_tls13_signature(self, message, own, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ServerCertVerifier::supported_verify_schemes(self)
    }
}
