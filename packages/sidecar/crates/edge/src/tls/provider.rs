//! The provider of cryptography, and the names of its parts. No other module names the provider.
//! Next: `settings.rs`.

use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::{CipherSuite, NamedGroup, ProtocolVersion, SignatureScheme, SupportedCipherSuite, SupportedProtocolVersion};
use std::sync::{Arc, OnceLock};

/// The names of a cipher suite: OpenSSL's name, and the name in the standard.
const SUITES: [(CipherSuite, &str, &str); 9] = [
    (CipherSuite::TLS13_AES_256_GCM_SHA384, "TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
    (CipherSuite::TLS13_CHACHA20_POLY1305_SHA256, "TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"),
    (CipherSuite::TLS13_AES_128_GCM_SHA256, "TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        "ECDHE-ECDSA-AES256-GCM-SHA384",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    ),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    ),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    ),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        "ECDHE-RSA-CHACHA20-POLY1305",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    ),
];

/// The names of a key exchange group, OpenSSL's first, and its size in bits.
const GROUPS: [(NamedGroup, &[&str], u32); 3] = [
    (NamedGroup::X25519, &["X25519"], 253),
    (NamedGroup::secp256r1, &["prime256v1", "P-256", "secp256r1"], 256),
    (NamedGroup::secp384r1, &["secp384r1", "P-384"], 384),
];

/// The names of a signature scheme: the name in OpenSSL's lists, and the name in the standard.
const SCHEMES: [(SignatureScheme, &str, &str); 9] = [
    (SignatureScheme::ECDSA_NISTP256_SHA256, "ECDSA+SHA256", "ecdsa_secp256r1_sha256"),
    (SignatureScheme::ECDSA_NISTP384_SHA384, "ECDSA+SHA384", "ecdsa_secp384r1_sha384"),
    (SignatureScheme::ED25519, "Ed25519+UNDEF", "ed25519"),
    (SignatureScheme::RSA_PSS_SHA256, "RSA-PSS+SHA256", "rsa_pss_rsae_sha256"),
    (SignatureScheme::RSA_PSS_SHA384, "RSA-PSS+SHA384", "rsa_pss_rsae_sha384"),
    (SignatureScheme::RSA_PSS_SHA512, "RSA-PSS+SHA512", "rsa_pss_rsae_sha512"),
    (SignatureScheme::RSA_PKCS1_SHA256, "RSA+SHA256", "rsa_pkcs1_sha256"),
    (SignatureScheme::RSA_PKCS1_SHA384, "RSA+SHA384", "rsa_pkcs1_sha384"),
    (SignatureScheme::RSA_PKCS1_SHA512, "RSA+SHA512", "rsa_pkcs1_sha512"),
];

/// Returns the provider with all its suites and groups.
pub fn whole() -> Arc<CryptoProvider> {
    static WHOLE: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    WHOLE.get_or_init(|| Arc::new(rustls::crypto::ring::default_provider())).clone()
}

/// Returns the provider with the named suites and groups in their order. Unknown names are ignored.
pub fn with(suites: Option<&[String]>, groups: Option<&[String]>) -> Arc<CryptoProvider> {
    let whole = whole();
    if suites.is_none() && groups.is_none() {
        return whole;
    }
    let mut provider = (*whole).clone();
    if let Some(names) = suites {
        let find = |name: &String| {
            let (id, ..) = SUITES.iter().find(|(_, openssl, standard)| openssl == name || standard == name)?;
            whole.cipher_suites.iter().find(|suite| suite.suite() == *id).copied()
        };
        provider.cipher_suites = names.iter().filter_map(find).collect();
    }
    if let Some(names) = groups {
        let find = |name: &String| {
            let (id, ..) = GROUPS.iter().find(|(_, all, _)| all.iter().any(|one| one.eq_ignore_ascii_case(name)))?;
            whole.kx_groups.iter().find(|group| group.name() == *id).copied()
        };
        let found: Vec<&'static dyn SupportedKxGroup> = names.iter().filter_map(find).collect();
        if !found.is_empty() {
            provider.kx_groups = found;
        }
    }
    Arc::new(provider)
}

/// Returns the named signature schemes in their order. Unknown names are ignored.
pub fn schemes(names: &[String]) -> Vec<SignatureScheme> {
    let find = |name: &String| {
        let is_named = |own: &str| own.eq_ignore_ascii_case(name);
        SCHEMES.iter().find(|(_, openssl, standard)| is_named(openssl) || is_named(standard)).map(|(scheme, ..)| *scheme)
    };
    names.iter().filter_map(find).collect()
}

/// Returns OpenSSL's name of a signature scheme of this provider.
pub fn scheme_name(scheme: SignatureScheme) -> Option<&'static str> {
    SCHEMES.iter().find(|(id, ..)| *id == scheme).map(|(_, openssl, _)| *openssl)
}

/// Returns the versions from `least` to `most`, which have Node's names.
pub fn versions(least: Option<&str>, most: Option<&str>) -> Vec<&'static SupportedProtocolVersion> {
    let least_is_13 = least == Some("TLSv1.3");
    let most_is_13 = !matches!(most, Some("TLSv1" | "TLSv1.1" | "TLSv1.2"));
    let most_is_12 = !matches!(most, Some("TLSv1" | "TLSv1.1"));
    let mut all = Vec::new();
    if most_is_13 {
        all.push(&rustls::version::TLS13);
    }
    if !least_is_13 && most_is_12 {
        all.push(&rustls::version::TLS12);
    }
    all
}

/// Returns whether a suite of TLS 1.3 is in a list.
pub fn has_suite_13(suites: &[CipherSuite]) -> bool {
    let is_13 = |id: &CipherSuite| whole().cipher_suites.iter().any(|one| one.suite() == *id && one.tls13().is_some());
    suites.iter().any(is_13)
}

/// Returns OpenSSL's name and the standard's name of a suite.
pub fn suite_names(suite: SupportedCipherSuite) -> (&'static str, &'static str) {
    let found = SUITES.iter().find(|(id, ..)| *id == suite.suite());
    found.map_or(("", ""), |(_, openssl, standard)| (openssl, standard))
}

/// Returns OpenSSL's name of a group and its size in bits.
pub fn group_name(group: &dyn SupportedKxGroup) -> (&'static str, u32) {
    let found = GROUPS.iter().find(|(id, ..)| *id == group.name());
    found.and_then(|(_, names, bits)| names.first().map(|name| (*name, *bits))).unwrap_or_default()
}

/// Returns Node's name of a version.
pub fn version_name(version: Option<ProtocolVersion>) -> &'static str {
    match version {
        Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
        Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
        _ => "unknown",
    }
}
