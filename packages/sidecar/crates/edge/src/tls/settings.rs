//! The settings of a session, which the guest sends as JSON, and their configurations of rustls.
//! Next: `verify.rs`.

use super::path::Rules;
use super::provider;
use super::tickets::{Store, Tickets};
use super::verify::{AcceptAny, Roots, parse_roots};
use super::x509::Purpose;
use rustls::client::{ClientConnection, ResolvesClientCert, Resumption};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, IpAddr, Ipv4Addr, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer,
};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{
    ClientConfig, ConfigBuilder, ConfigSide, KeyLog, ServerConfig, SignatureAlgorithm, SignatureScheme, SupportedCipherSuite,
    SupportedProtocolVersion, WantsVerifier,
};
use serde::Deserialize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The largest number of lines of the key log that wait.
const MAX_KEY_LINES: usize = 64;
/// The protocol of filtered sessions.
const HTTP: &str = "http/1.1";

/// A certificate with its chain, and its key.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Identity {
    /// The certificates in PEM, the own certificate first.
    chain: String,
    /// The key in PEM: PKCS 8, PKCS 1 or SEC 1, not encrypted.
    key: String,
}

/// The settings of a session.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// Whether the session is the server's side.
    pub is_server: bool,
    /// Whether a server waits for `Continue` after the client's first message.
    pub pauses: bool,
    /// The name of the server that a client sends.
    server_name: Option<String>,
    /// The protocols, in the order of preference.
    alpn: Vec<String>,
    min_version: Option<String>,
    max_version: Option<String>,
    /// OpenSSL's or the standard's names of suites.
    ciphers: Option<Vec<String>>,
    groups: Option<Vec<String>>,
    /// The trusted authorities in PEM. Absent: the authorities of the operator.
    ca: Option<Vec<String>>,
    /// Authorities in PEM besides the operator's.
    more_ca: Vec<String>,
    identities: Vec<Identity>,
    /// Whether a server requests the client's certificate.
    request_cert: bool,
    /// Whether a server refuses a client without a certificate.
    require_cert: bool,
    /// OpenSSL's or the standard's names of signature schemes. Absent: all schemes.
    sigalgs: Option<Vec<String>>,
    /// The number of the ticket that a client offers.
    session: Option<u64>,
    /// Whether secrets are reported for debugging.
    key_log: bool,
    /// The keys of a server's tickets. A character has a byte. Servers with equal keys resume each
    /// other's sessions.
    ticket_keys: String,
    /// Whether a trusted certificate need not be self-signed.
    partial_chain: bool,
    /// Lists of revoked certificates in PEM.
    crl: Vec<String>,
}

/// The choices of a server after the client's first message.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Choices {
    /// Replaces the certificates, if present.
    identities: Option<Vec<Identity>>,
    /// Replaces the authorities, if present.
    ca: Option<Vec<String>>,
    /// Replaces the protocols, if present.
    alpn: Option<Vec<String>>,
}

/// The lines of a session's key log.
#[derive(Debug, Default)]
pub struct KeyLines(Mutex<Vec<String>>);

impl KeyLines {
    /// Takes the waiting lines.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl KeyLog for KeyLines {
    fn will_log(&self, label: &str) -> bool {
        // OpenSSL logs this secret only for early data, which no session accepts.
        label != "CLIENT_EARLY_TRAFFIC_SECRET"
    }

    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        // No session has early data, so OpenSSL does not log this secret.
        if label == "CLIENT_EARLY_TRAFFIC_SECRET" {
            return;
        }
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() < MAX_KEY_LINES {
            lines.push(format!("{label} {} {}\n", hex(client_random), hex(secret)));
        }
    }
}

/// The parts of a session besides rustls.
pub struct Parts {
    /// The trusted authorities.
    pub roots: Arc<Roots>,
    /// The rules of the verification of the peer.
    pub rules: Rules,
    /// The new tickets of a client.
    pub store: Option<Arc<Store>>,
    /// The key log, if the guest wants the secrets.
    pub key_lines: Option<Arc<KeyLines>>,
    /// OpenSSL's names of the signature schemes that a server and its client have.
    pub shared_schemes: Vec<&'static str>,
}

/// A setting that rustls refuses, as OpenSSL's reason.
pub type Refused = &'static str;

impl Settings {
    /// Replaces settings by the choices of a server.
    pub fn choose(&mut self, choices: Choices) {
        if let Some(identities) = choices.identities {
            self.identities = identities;
        }
        if let Some(alpn) = choices.alpn {
            self.alpn = alpn;
        }
        if choices.ca.is_some() {
            self.ca = choices.ca;
        }
    }

    /// Returns the name of the server that a client sends.
    pub fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }

    /// Removes the settings that would take the decision about the peer, or the plain bytes, from
    /// the operator. The only protocol is HTTP/1.1. Returns whether the guest has not offered this
    /// protocol.
    pub fn restrict(&mut self) -> bool {
        let hides_protocol = !self.alpn.iter().any(|name| name == HTTP);
        (self.alpn, self.ca, self.key_log) = (vec![HTTP.to_owned()], None, false);
        self.more_ca.clear();
        hides_protocol
    }

    fn roots(&self, default: &Arc<Roots>) -> Arc<Roots> {
        match &self.ca {
            Some(texts) => Arc::new(parse_roots(texts.iter().map(String::as_str))),
            None if self.more_ca.is_empty() => default.clone(),
            None => Arc::new(default.with(self.more_ca.iter().map(String::as_str))),
        }
    }

    fn rules(&self) -> Rules {
        let purpose = if self.is_server { Purpose::Client } else { Purpose::Server };
        let read = |text: &String| {
            CertificateRevocationListDer::pem_slice_iter(text.as_bytes()).filter_map(Result::ok).collect::<Vec<_>>()
        };
        let lists = self.crl.iter().flat_map(read).map(|list| list.to_vec()).collect();
        Rules { purpose, allows_partial: self.partial_chain, lists }
    }

    /// Returns the provider without suites of other versions. A suite of another version would
    /// count as a use of its kind of key.
    fn provider(&self) -> Arc<CryptoProvider> {
        let versions = self.versions();
        let provider = provider::with(self.ciphers.as_deref(), self.groups.as_deref());
        let is_used = |suite: &SupportedCipherSuite| versions.contains(&suite.version());
        if provider.cipher_suites.iter().all(is_used) {
            return provider;
        }
        let mut provider = (*provider).clone();
        provider.cipher_suites.retain(is_used);
        Arc::new(provider)
    }

    fn versions(&self) -> Vec<&'static SupportedProtocolVersion> {
        provider::versions(self.min_version.as_deref(), self.max_version.as_deref())
    }

    /// Returns whether the settings allow TLS 1.3.
    pub fn allows_13(&self) -> bool {
        self.versions().contains(&&rustls::version::TLS13)
    }

    fn schemes(&self) -> Option<Vec<SignatureScheme>> {
        self.sigalgs.as_deref().map(provider::schemes)
    }

    /// Returns OpenSSL's names of the signature schemes that a server and its client have. Returns
    /// `None` if the guest has chosen schemes, and the client has none of these schemes.
    pub fn shared_schemes(&self, offered: &[SignatureScheme]) -> Option<Vec<&'static str>> {
        let own = self.schemes();
        let shared = offered.iter().filter(|scheme| own.as_ref().is_none_or(|own| own.contains(scheme)));
        let names: Vec<_> = shared.filter_map(|scheme| provider::scheme_name(*scheme)).collect();
        if own.is_some() && names.is_empty() { None } else { Some(names) }
    }

    fn with_versions<S: ConfigSide>(
        &self,
        builder: ConfigBuilder<S, rustls::WantsVersions>,
    ) -> Result<ConfigBuilder<S, WantsVerifier>, Refused> {
        let versions = self.versions();
        if versions.is_empty() {
            return Err("no protocols available");
        }
        builder.with_protocol_versions(&versions).map_err(|_| "no ciphers available")
    }

    fn keys(&self, provider: &CryptoProvider) -> Result<Vec<Arc<CertifiedKey>>, Refused> {
        let schemes = self.schemes();
        self.identities.iter().map(|identity| identity.read(provider, schemes.as_deref()).map(Arc::new)).collect()
    }

    fn key_lines(&self) -> Option<Arc<KeyLines>> {
        self.key_log.then(Arc::default)
    }

    fn protocols(&self) -> Vec<Vec<u8>> {
        self.alpn.iter().map(|name| latin1(name)).collect()
    }

    /// Makes a client.
    pub fn client(&self, roots: &Arc<Roots>, tickets: &Tickets) -> Result<(ClientConnection, Parts), Refused> {
        let provider = self.provider();
        let keys = self.keys(&provider)?;
        let builder = self.with_versions(ClientConfig::builder_with_provider(provider))?;
        let builder = builder.dangerous().with_custom_certificate_verifier(AcceptAny::for_clients(self.schemes()));
        let mut config = match keys.into_iter().next() {
            Some(key) => builder.with_client_cert_resolver(Arc::new(rustls::sign::SingleCertAndKey::from(key))),
            None => builder.with_client_cert_resolver(NoIdentity::one()),
        };
        let store = tickets.store(self.session);
        config.resumption = Resumption::store(store.clone());
        config.alpn_protocols = self.protocols();
        let key_lines = self.key_lines();
        if let Some(lines) = &key_lines {
            config.key_log = lines.clone();
        }
        let name = self.server_name.as_deref().and_then(|name| ServerName::try_from(name.to_owned()).ok());
        config.enable_sni = matches!(name, Some(ServerName::DnsName(_)));
        let name = name.unwrap_or(ServerName::IpAddress(IpAddr::V4(Ipv4Addr::from([0; 4]))));
        let client = ClientConnection::new(Arc::new(config), name).map_err(|_| "internal error")?;
        Ok((
            client,
            Parts { roots: self.roots(roots), rules: self.rules(), store: Some(store), key_lines, shared_schemes: Vec::new() },
        ))
    }

    /// Makes the configuration of a server.
    pub fn server(&self, roots: &Arc<Roots>, tickets: &Tickets) -> Result<(Arc<ServerConfig>, Parts), Refused> {
        let provider = self.provider();
        let keys = self.keys(&provider)?;
        let builder = self.with_versions(ServerConfig::builder_with_provider(provider))?;
        let roots = self.roots(roots);
        let builder = if self.request_cert {
            builder.with_client_cert_verifier(AcceptAny::for_server(&roots, self.schemes(), self.require_cert))
        } else {
            builder.with_no_client_auth()
        };
        let mut config = builder.with_cert_resolver(Arc::new(Resolver(keys)));
        config.alpn_protocols = self.protocols();
        config.session_storage = Arc::new(NoServerSessionStorage {});
        if let Some(ticketer) = tickets.server(&latin1(&self.ticket_keys)) {
            config.ticketer = ticketer;
        }
        let key_lines = self.key_lines();
        if let Some(lines) = &key_lines {
            config.key_log = lines.clone();
        }
        Ok((Arc::new(config), Parts { roots, rules: self.rules(), store: None, key_lines, shared_schemes: Vec::new() }))
    }
}

/// Makes the configuration of a server of HTTP/1.1 in this process, without tickets. `key` is a
/// private key in PKCS #8.
pub fn server_config(own: CertificateDer<'static>, key: &[u8]) -> Option<Arc<ServerConfig>> {
    let provider = provider::whole();
    let key = PrivateKeyDer::try_from(key).ok()?.clone_key();
    let key = provider.key_provider.load_private_key(key).ok()?;
    let versions = provider::versions(None, None);
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(&versions).ok()?;
    let keys = vec![Arc::new(CertifiedKey::new(vec![own], key))];
    let mut config = builder.with_no_client_auth().with_cert_resolver(Arc::new(Resolver(keys)));
    config.alpn_protocols = vec![HTTP.as_bytes().to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Some(Arc::new(config))
}

impl Identity {
    fn read(&self, provider: &CryptoProvider, schemes: Option<&[SignatureScheme]>) -> Result<CertifiedKey, Refused> {
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(self.chain.as_bytes()).filter_map(Result::ok).collect();
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(|_| "no start line")?;
        // The guest has compared the key with the certificate.
        let key = provider.key_provider.load_private_key(key).map_err(|_| "unsupported key")?;
        let key = match schemes {
            Some(schemes) => Arc::new(Restricted { key, schemes: schemes.to_vec() }),
            None => key,
        };
        Ok(CertifiedKey::new(chain, key))
    }
}

/// A key that makes only signatures of the guest's schemes.
#[derive(Debug)]
struct Restricted {
    key: Arc<dyn SigningKey>,
    schemes: Vec<SignatureScheme>,
}

impl SigningKey for Restricted {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let both: Vec<_> = offered.iter().filter(|scheme| self.schemes.contains(scheme)).copied().collect();
        self.key.choose_scheme(&both)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.key.public_key()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.key.algorithm()
    }
}

/// A client without a certificate. Sessions are resumed only with one and the same resolver.
#[derive(Debug)]
struct NoIdentity;

impl NoIdentity {
    fn one() -> Arc<Self> {
        static ONE: OnceLock<Arc<NoIdentity>> = OnceLock::new();
        ONE.get_or_init(|| Arc::new(Self)).clone()
    }
}

impl ResolvesClientCert for NoIdentity {
    fn resolve(&self, _subjects: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

/// Chooses the first certificate whose key makes a signature that the client accepts.
#[derive(Debug)]
struct Resolver(Vec<Arc<CertifiedKey>>);

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.iter().find(|key| key.key.choose_scheme(hello.signature_schemes()).is_some()).cloned()
    }
}

/// Returns the bytes of a text with a byte in each character.
pub fn latin1(text: &str) -> Vec<u8> {
    text.chars().filter_map(|char| u8::try_from(char).ok()).collect()
}
