//! The trusted authorities, and the verifiers of the handshake. The verifiers check only the peer's
//! signature, because the guest decides about the connection. The peer's certificates are verified
//! after the handshake (`path.rs`). Next: `path.rs`.

use super::path::{self, Rules};
use super::provider;
use super::x509::{Certificate, Key};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::verify_tls13_signature_with_raw_key;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The largest number of authorities of one session.
const MAX_ROOTS: usize = 4_096;

/// The authorities that a session trusts.
#[derive(Debug)]
pub struct Roots {
    /// The anchors of webpki.
    store: Arc<RootCertStore>,
    certificates: Vec<CertificateDer<'static>>,
    /// The positions of the certificates with a subject.
    by_subject: HashMap<Vec<u8>, Vec<usize>>,
}

/// Reads certificates in PEM. Other parts of the text are ignored.
pub fn parse_roots<'a>(texts: impl IntoIterator<Item = &'a str>) -> Roots {
    Roots::of(certificates_in(texts))
}

/// Returns the certificates of texts in PEM. Other parts of the texts are ignored.
fn certificates_in<'a>(texts: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = CertificateDer<'static>> {
    texts.into_iter().flat_map(|text| CertificateDer::pem_slice_iter(text.as_bytes()).filter_map(Result::ok))
}

impl Default for Roots {
    fn default() -> Self {
        parse_roots([])
    }
}

impl Roots {
    /// Makes a store of certificates.
    pub(super) fn of(certificates: impl Iterator<Item = CertificateDer<'static>>) -> Self {
        let certificates: Vec<_> = certificates.take(MAX_ROOTS).collect();
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(certificates.iter().cloned());
        let mut by_subject: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for (i, certificate) in certificates.iter().enumerate() {
            if let Some(read) = Certificate::read(certificate) {
                by_subject.entry(read.subject.to_vec()).or_default().push(i);
            }
        }
        Self { store: Arc::new(store), certificates, by_subject }
    }

    /// Returns these authorities and the authorities of texts in PEM.
    pub fn with<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self::of(self.certificates.iter().cloned().chain(certificates_in(texts)))
    }

    /// Returns the names of the authorities, which a server sends to a client.
    pub fn subjects(&self) -> Vec<DistinguishedName> {
        self.certificates
            .iter()
            .filter_map(|one| Certificate::read(one))
            .map(|one| DistinguishedName::in_sequence(one.subject))
            .collect()
    }

    /// Returns the first certificates, as many as have `most` bytes.
    pub fn listed(&self, most: usize) -> impl Iterator<Item = &[u8]> {
        let mut left = most;
        self.certificates.iter().map(AsRef::as_ref).take_while(move |one: &&[u8]| {
            let is_listed = one.len() <= left;
            left = left.saturating_sub(one.len());
            is_listed
        })
    }

    /// Verifies a chain at the present time. Returns OpenSSL's code of the failure. The name of the
    /// peer is not checked.
    pub fn verify(&self, chain: &[CertificateDer<'_>], rules: &Rules) -> Result<(), &'static str> {
        path::verify(chain, self, rules, present_second())
    }

    /// Returns the trusted issuer of the last certificate of a chain, as DER. Nothing is verified.
    /// Returns `None` if the chain ends at a self-issued certificate or at an unknown issuer.
    pub fn authority_of(&self, chain: &[CertificateDer<'_>]) -> Option<&[u8]> {
        let (own, others) = chain.split_first()?;
        let mut last = Certificate::read(own)?;
        let mut others: Vec<_> = others.iter().filter_map(|one| Certificate::read(one)).collect();
        while !last.is_self_issued() {
            let Some(next) = others.iter().position(|one| last.issuer == one.subject) else {
                return Some(self.issuer(&last, present_second())?.whole);
            };
            last = others.swap_remove(next);
        }
        None
    }

    /// Returns the certificates with a subject.
    fn with_subject(&self, subject: &[u8]) -> impl Iterator<Item = Certificate<'_>> {
        let found = self.by_subject.get(subject).into_iter().flatten();
        found.filter_map(|i| Certificate::read(self.certificates.get(*i)?))
    }

    /// Returns whether the certificate is trusted.
    pub fn contains(&self, certificate: &[u8]) -> bool {
        let read = Certificate::read(certificate);
        read.is_some_and(|read| self.with_subject(read.subject).any(|one| one.whole == certificate))
    }

    /// Returns the trusted certificate of an issuer, one that is valid now if there are several.
    pub fn issuer(&self, certificate: &Certificate<'_>, now: i64) -> Option<Certificate<'_>> {
        let is_valid = |one: &Certificate<'_>| (one.valid.0..=one.valid.1).contains(&now);
        let found = self.with_subject(certificate.issuer).filter(|one| certificate.names(one));
        found.max_by_key(|one| (is_valid(one), one.valid.1))
    }

    /// Checks the constraints of names in a chain, which webpki knows.
    pub fn constraints(&self, chain: &[CertificateDer<'_>]) -> Result<(), &'static str> {
        // The code if webpki cannot judge the constraints.
        const UNKNOWN: &str = "UNSUPPORTED_CONSTRAINT_TYPE";
        let (own, others) = chain.split_first().ok_or(UNKNOWN)?;
        let own = ParsedCertificate::try_from(own).map_err(|_| UNKNOWN)?;
        let algorithms = provider::whole().signature_verification_algorithms.all;
        verify_server_cert_signed_by_trust_anchor(&own, &self.store, others, UnixTime::now(), algorithms).map_err(|error| {
            match error {
                Error::InvalidCertificate(CertificateError::Other(_)) => "PERMITTED_VIOLATION",
                _ => UNKNOWN,
            }
        })
    }

    /// Verifies the chain of a server for the operator, and the name of the server. Returns
    /// OpenSSL's code of the failure. The secrets of the operator depend on this decision, so the
    /// library webpki makes the decision, which is stricter than OpenSSL.
    pub fn verify_for_operator(&self, chain: &[CertificateDer<'_>], name: &str) -> Result<(), &'static str> {
        let wrong_name = "ERR_TLS_CERT_ALTNAME_INVALID";
        let (own, others) = chain.split_first().ok_or("UNABLE_TO_GET_ISSUER_CERT")?;
        let parsed = ParsedCertificate::try_from(own).map_err(|_| "INVALID_PURPOSE")?;
        let algorithms = provider::whole().signature_verification_algorithms.all;
        verify_server_cert_signed_by_trust_anchor(&parsed, &self.store, others, UnixTime::now(), algorithms)
            .map_err(|_| self.verify(chain, &Rules::of_server()).err().unwrap_or("INVALID_PURPOSE"))?;
        let name = ServerName::try_from(name).map_err(|_| wrong_name)?;
        verify_server_name(&parsed, &name).map_err(|_| wrong_name)
    }
}

/// Returns the seconds since 1970.
fn present_second() -> i64 {
    i64::try_from(UnixTime::now().as_secs()).unwrap_or(i64::MAX)
}

/// Checks the peer's signature of TLS 1.2, which all algorithms of the scheme may have made.
fn verify_tls12(message: &[u8], own: &[u8], signature: &DigitallySignedStruct) -> Result<HandshakeSignatureValid, Error> {
    let key = key_of(own)?;
    let algorithms = provider::whole().signature_verification_algorithms.mapping;
    let found = algorithms.iter().find(|(scheme, _)| *scheme == signature.scheme).map_or(&[][..], |(_, found)| found);
    let is_valid = found.iter().any(|algorithm| {
        algorithm.public_key_alg_id().as_ref() == key.algorithm
            && algorithm.verify_signature(key.bits, message, signature.signature()).is_ok()
    });
    if is_valid { Ok(HandshakeSignatureValid::assertion()) } else { Err(CertificateError::BadSignature.into()) }
}

fn verify_tls13(message: &[u8], own: &[u8], signature: &DigitallySignedStruct) -> Result<HandshakeSignatureValid, Error> {
    let key = SubjectPublicKeyInfoDer::from(key_of(own)?.whole);
    verify_tls13_signature_with_raw_key(message, &key, signature, &provider::whole().signature_verification_algorithms)
}

fn key_of(certificate: &[u8]) -> Result<Key<'_>, Error> {
    Ok(Certificate::read(certificate).ok_or(CertificateError::BadEncoding)?.key)
}

/// Accepts each certificate in the handshake, and checks the signature of the peer.
#[derive(Debug, Default)]
pub struct AcceptAny {
    /// The authorities whose names a server sends to a client.
    subjects: Vec<DistinguishedName>,
    /// The accepted signatures. Absent: all signatures of the provider.
    schemes: Option<Vec<SignatureScheme>>,
    /// Whether a client without a certificate is refused.
    is_mandatory: bool,
}

impl AcceptAny {
    /// Returns the verifier of clients. Sessions are resumed only with one and the same verifier,
    /// so a session with its own `schemes` is not resumed.
    pub fn for_clients(schemes: Option<Vec<SignatureScheme>>) -> Arc<Self> {
        static ONE: OnceLock<Arc<AcceptAny>> = OnceLock::new();
        match schemes {
            None => ONE.get_or_init(Arc::default).clone(),
            Some(_) => Arc::new(Self { schemes, ..Self::default() }),
        }
    }

    /// Returns the verifier of a server that requests a certificate.
    pub fn for_server(roots: &Roots, schemes: Option<Vec<SignatureScheme>>, is_mandatory: bool) -> Arc<Self> {
        Arc::new(Self { subjects: roots.subjects(), schemes, is_mandatory })
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
        verify_tls12(message, own, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13(message, own, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let all = || provider::whole().signature_verification_algorithms.supported_schemes();
        self.schemes.clone().unwrap_or_else(all)
    }
}

impl ClientCertVerifier for AcceptAny {
    fn client_auth_mandatory(&self) -> bool {
        self.is_mandatory
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
