//! The verification of paths with certificates that the tests make. Each case has one fault, and
//! the code that OpenSSL has for this fault.

use super::path::{Rules, verify};
use super::verify::{Roots, parse_roots};
use super::x509::{Certificate, Purpose};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, NameConstraints, RevokedCertParams, SerialNumber, date_time_ymd,
};
use rustls::pki_types::CertificateDer;

/// A time within the validity of all certificates, in seconds: 2030.
const NOW: i64 = 1_893_456_000;
const YEAR: i64 = 31_557_600;

/// A certificate with its key.
struct Made {
    params: CertificateParams,
    key: KeyPair,
    der: CertificateDer<'static>,
    pem: String,
}

type Change = fn(&mut CertificateParams);

fn params(name: &str, change: Change) -> CertificateParams {
    let mut params = CertificateParams::new(vec!["example.test".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2040, 1, 1));
    params.use_authority_key_identifier_extension = true;
    change(&mut params);
    params
}

fn authority(params: &mut CertificateParams) {
    params.subject_alt_names.clear();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
}

/// Makes a certificate that `issuer` has signed, or the certificate itself.
fn made(name: &str, issuer: Option<&Made>, change: Change) -> Made {
    let (params, key) = (params(name, change), KeyPair::generate().unwrap());
    let certificate = match issuer {
        Some(issuer) => params.signed_by(&key, &Issuer::from_params(&issuer.params, &issuer.key)),
        None => params.self_signed(&key),
    }
    .unwrap();
    Made { params, key, der: certificate.der().clone(), pem: certificate.pem() }
}

fn roots(all: &[&Made]) -> Roots {
    parse_roots(all.iter().map(|made| made.pem.as_str()))
}

fn checked(chain: &[&Made], roots: &Roots, rules: &Rules, now: i64) -> Result<(), &'static str> {
    let chain: Vec<_> = chain.iter().map(|made| made.der.clone()).collect();
    verify(&chain, roots, rules, now)
}

/// Verifies the chain of a server, with one trusted authority.
fn server(chain: &[&Made], root: &Made) -> Result<(), &'static str> {
    checked(chain, &roots(&[root]), &Rules::of_server(), NOW)
}

#[test]
fn a_chain_ends_at_a_trusted_authority() {
    let root = made("root", None, authority);
    let middle = made("middle", Some(&root), authority);
    let own = made("own", Some(&middle), |_| {});
    let other = made("other", None, authority);
    assert_eq!(server(&[&own, &middle], &root), Ok(()));
    // The end of the path may be in the chain. Certificates of no path have no effect.
    assert_eq!(server(&[&own, &other, &middle, &root], &root), Ok(()));
    assert_eq!(server(&[&own, &middle], &other), Err("UNABLE_TO_GET_ISSUER_CERT_LOCALLY"));
    assert_eq!(server(&[&own, &middle, &root], &other), Err("SELF_SIGNED_CERT_IN_CHAIN"));
    assert_eq!(server(&[&own], &root), Err("UNABLE_TO_VERIFY_LEAF_SIGNATURE"));
    assert_eq!(checked(&[&own, &middle], &Roots::default(), &Rules::of_server(), NOW), Err("UNABLE_TO_GET_ISSUER_CERT_LOCALLY"));
    assert_eq!(checked(&[], &roots(&[&root]), &Rules::of_server(), NOW), Err("UNABLE_TO_GET_ISSUER_CERT"));
    assert_eq!(verify(&[CertificateDer::from(vec![0x30, 0])], &roots(&[&root]), &Rules::of_server(), NOW), Err("UNSPECIFIED"));
}

#[test]
fn a_self_signed_certificate_is_trusted_only_as_an_authority() {
    let own = made("own", None, |_| {});
    let other = made("own", None, |_| {});
    assert_eq!(server(&[&own], &own), Ok(()));
    // The names are equal, and the keys are not.
    assert_eq!(server(&[&own], &other), Err("DEPTH_ZERO_SELF_SIGNED_CERT"));
}

#[test]
fn a_partial_chain_ends_at_a_trusted_certificate() {
    let root = made("root", None, authority);
    let middle = made("middle", Some(&root), authority);
    let own = made("own", Some(&middle), |_| {});
    let partial = Rules { allows_partial: true, ..Rules::of_server() };
    let trusted = roots(&[&middle]);
    assert_eq!(checked(&[&own], &trusted, &partial, NOW), Ok(()));
    assert_eq!(checked(&[&own], &trusted, &Rules::of_server(), NOW), Err("UNABLE_TO_GET_ISSUER_CERT"));
    assert_eq!(checked(&[&own], &roots(&[&own]), &partial, NOW), Ok(()));
    assert_eq!(checked(&[&own, &middle], &Roots::default(), &partial, NOW), Err("UNABLE_TO_GET_ISSUER_CERT_LOCALLY"));
}

#[test]
fn each_certificate_is_valid_at_the_time() {
    let root = made("root", None, authority);
    let brief = |params: &mut CertificateParams| {
        authority(params);
        (params.not_before, params.not_after) = (date_time_ymd(2028, 1, 1), date_time_ymd(2032, 1, 1));
    };
    let middle = made("middle", Some(&root), brief);
    let own = made("own", Some(&middle), |_| {});
    let at = |now| checked(&[&own, &middle], &roots(&[&root]), &Rules::of_server(), now);
    assert_eq!(at(NOW), Ok(()));
    assert_eq!(at(NOW - 3 * YEAR), Err("CERT_NOT_YET_VALID"));
    assert_eq!(at(NOW + 3 * YEAR), Err("CERT_HAS_EXPIRED"));
    assert_eq!(at(NOW - 20 * YEAR), Err("CERT_NOT_YET_VALID"));
    assert_eq!(at(i64::MAX), Err("CERT_HAS_EXPIRED"));
    // The first and the last second are valid.
    let [from, to] = [1_830_297_600, 1_956_528_000];
    assert_eq!([from - 1, from, to, to + 1].map(at), [Err("CERT_NOT_YET_VALID"), Ok(()), Ok(()), Err("CERT_HAS_EXPIRED")]);
}

#[test]
fn a_signature_of_another_key_is_refused() {
    let root = made("root", None, authority);
    // An authority with the name of the root, whose certificates name no key.
    let unnamed = |params: &mut CertificateParams| params.use_authority_key_identifier_extension = false;
    let forged = made("root", None, authority);
    let own = made("own", Some(&forged), unnamed);
    assert_eq!(server(&[&own], &root), Err("CERT_SIGNATURE_FAILURE"));
    assert_eq!(server(&[&own, &forged], &root), Err("CERT_SIGNATURE_FAILURE"));
    // A certificate that names the key of another authority has no issuer.
    let named = made("own", Some(&forged), |_| {});
    assert_eq!(server(&[&named], &root), Err("UNABLE_TO_VERIFY_LEAF_SIGNATURE"));
    // Each changed byte of a certificate is refused.
    let own = made("own", Some(&root), |_| {});
    for at in 0..own.der.len() {
        let mut changed = own.der.to_vec();
        changed[at] ^= 1;
        assert!(verify(&[changed.into()], &roots(&[&root]), &Rules::of_server(), NOW).is_err(), "byte {at}");
    }
}

#[test]
fn only_authorities_issue_certificates() {
    let root = made("root", None, authority);
    let cases: [(Change, &str); 3] = [
        (|_| {}, "INVALID_PURPOSE"),
        (|params| params.is_ca = IsCa::ExplicitNoCa, "INVALID_PURPOSE"),
        (
            |params| {
                authority(params);
                params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            },
            "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
        ),
    ];
    for (change, code) in cases {
        let middle = made("middle", Some(&root), change);
        let own = made("own", Some(&middle), |_| {});
        assert_eq!(server(&[&own, &middle], &root), Err(code));
    }
    let middle = made("middle", Some(&root), |params| {
        authority(params);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    });
    let own = made("own", Some(&middle), |_| {});
    assert_eq!(server(&[&own, &middle], &root), Ok(()));
}

#[test]
fn a_certificate_serves_its_purposes() {
    let root = made("root", None, authority);
    let purposes: [(Change, bool, bool); 5] = [
        (|_| {}, true, true),
        (|params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth], true, false),
        (|params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth], false, true),
        (|params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::CodeSigning], false, false),
        (|params| params.key_usages = vec![KeyUsagePurpose::KeyEncipherment], true, false),
    ];
    for (change, is_server, is_client) in purposes {
        let own = made("own", Some(&root), change);
        for (purpose, is_served) in [(Purpose::Server, is_server), (Purpose::Client, is_client)] {
            let rules = Rules { purpose, ..Rules::of_server() };
            let expected = if is_served { Ok(()) } else { Err("INVALID_PURPOSE") };
            assert_eq!(checked(&[&own], &roots(&[&root]), &rules, NOW), expected, "{purpose:?}");
        }
    }
    // The purposes of an authority bound its certificates.
    let clients = made("clients", Some(&root), |params| {
        authority(params);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    let own = made("own", Some(&clients), |_| {});
    assert_eq!(server(&[&own, &clients], &root), Err("INVALID_PURPOSE"));
}

#[test]
fn an_authority_bounds_the_authorities_below_it() {
    let short = made("root", None, |params| params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0)));
    let direct = made("own", Some(&short), |_| {});
    assert_eq!(server(&[&direct], &short), Ok(()));
    let middle = made("middle", Some(&short), authority);
    let own = made("own", Some(&middle), |_| {});
    assert_eq!(server(&[&own, &middle], &short), Err("PATH_LENGTH_EXCEEDED"));
}

#[test]
fn unknown_critical_extensions_are_refused() {
    let root = made("root", None, authority);
    let unknown = |params: &mut CertificateParams| {
        let mut extension = rcgen::CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0]);
        extension.set_criticality(true);
        params.custom_extensions = vec![extension];
    };
    let own = made("own", Some(&root), unknown);
    assert_eq!(server(&[&own], &root), Err("UNHANDLED_CRITICAL_EXTENSION"));
    let ignored = |params: &mut CertificateParams| {
        params.custom_extensions = vec![rcgen::CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0])];
    };
    assert_eq!(server(&[&made("own", Some(&root), ignored)], &root), Ok(()));
}

#[test]
fn constraints_of_names_bound_the_names_of_certificates() {
    let limited = |params: &mut CertificateParams| {
        authority(params);
        let permitted_subtrees = vec![GeneralSubtree::DnsName("example.test".to_owned())];
        params.name_constraints = Some(NameConstraints { permitted_subtrees, excluded_subtrees: Vec::new() });
    };
    // The library webpki judges the constraints at the present time.
    let root = made("root", None, limited);
    let now = |own: &Made| checked(&[own], &roots(&[&root]), &Rules::of_server(), NOW);
    assert_eq!(now(&made("own", Some(&root), |_| {})), Ok(()));
    let outside = made("own", Some(&root), |params| {
        params.subject_alt_names = vec![rcgen::SanType::DnsName("example.org".try_into().unwrap())];
    });
    assert!(matches!(now(&outside), Err("PERMITTED_VIOLATION" | "UNSUPPORTED_CONSTRAINT_TYPE")), "{:?}", now(&outside));
}

#[test]
fn loops_of_issuers_end() {
    // Two authorities have issued each other, and no path ends at a trusted certificate.
    let (first, second) = (made("first", None, authority), made("second", None, authority));
    let crossed = |name: &str, subject: &Made, issuer: &Made| {
        let key = KeyPair::try_from(subject.key.serialize_der()).unwrap();
        let params = params(name, authority);
        let certificate = params.signed_by(&key, &Issuer::from_params(&issuer.params, &issuer.key)).unwrap();
        Made { params, key, der: certificate.der().clone(), pem: certificate.pem() }
    };
    let (one, two) = (crossed("first", &first, &second), crossed("second", &second, &first));
    let own = made("own", Some(&one), |_| {});
    let other = made("other", None, authority);
    assert_eq!(server(&[&own, &one, &two, &one], &other), Err("UNABLE_TO_GET_ISSUER_CERT_LOCALLY"));
    // One of the roots ends the loop.
    assert_eq!(server(&[&own, &one, &two], &second), Ok(()));
    // Both are trusted, and neither is self-signed.
    let looped = checked(&[&own], &roots(&[&one, &two]), &Rules::of_server(), NOW);
    assert_eq!(looped, Err("CERT_CHAIN_TOO_LONG"));
}

#[test]
fn long_chains_have_a_bound() {
    let names: Vec<String> = (0..40).map(|number| format!("authority {number}")).collect();
    let mut all = vec![made("root", None, authority)];
    for name in &names {
        let next = made(name, all.last(), authority);
        all.push(next);
    }
    let with = |count: usize| {
        let own = made("own", all.get(count), |_| {});
        let mut chain = vec![&own];
        chain.extend(all[1..=count].iter().rev());
        server(&chain, &all[0])
    };
    assert_eq!(with(32), Ok(()));
    assert_eq!(with(33), Err("CERT_CHAIN_TOO_LONG"));
    assert_eq!(with(40), Err("CERT_CHAIN_TOO_LONG"));
}

fn list(issuer: &Made, revoked: &[&Made], (from, to): (i32, i32)) -> Vec<u8> {
    let revoked_certs = revoked.iter().map(|made| RevokedCertParams {
        serial_number: SerialNumber::from_slice(Certificate::read(&made.der).unwrap().serial),
        revocation_time: date_time_ymd(2021, 1, 1),
        reason_code: None,
        invalidity_date: None,
    });
    let params = CertificateRevocationListParams {
        this_update: date_time_ymd(from, 1, 1),
        next_update: date_time_ymd(to, 1, 1),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: revoked_certs.collect(),
        key_identifier_method: KeyIdMethod::Sha256,
    };
    params.signed_by(&Issuer::from_params(&issuer.params, &issuer.key)).unwrap().der().to_vec()
}

#[test]
fn lists_of_revoked_certificates_are_applied() {
    let signer = |params: &mut CertificateParams| {
        authority(params);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    };
    let (root, other) = (made("root", None, signer), made("other", None, signer));
    let (own, good) = (made("own", Some(&root), |_| {}), made("good", Some(&root), |_| {}));
    let with = |made: &Made, lists: Vec<Vec<u8>>| {
        checked(&[made], &roots(&[&root, &other]), &Rules { lists, ..Rules::of_server() }, NOW)
    };
    let current = (2025, 2035);
    let right = list(&root, &[&own], current);
    assert_eq!(with(&good, vec![right.clone()]), Ok(()));
    assert_eq!(with(&own, vec![right.clone()]), Err("CERT_REVOKED"));
    assert_eq!(with(&own, Vec::new()), Ok(()));
    assert_eq!(with(&good, vec![list(&other, &[], current)]), Err("UNABLE_TO_GET_CRL"));
    assert_eq!(with(&good, vec![list(&root, &[], (2020, 2025))]), Err("CRL_HAS_EXPIRED"));
    assert_eq!(with(&good, vec![list(&root, &[], (2031, 2035))]), Err("CRL_NOT_YET_VALID"));
    // A list that another key has signed in the name of the root.
    let forger = made("root", None, signer);
    assert_eq!(with(&good, vec![list(&forger, &[], current)]), Err("CRL_SIGNATURE_FAILURE"));
    // Bytes that are no list are no list.
    assert_eq!(with(&good, vec![right[1..].to_vec()]), Err("UNABLE_TO_GET_CRL"));
    let weak = made("root", None, |params| {
        authority(params);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    });
    let own = made("own", Some(&weak), |_| {});
    let rules = Rules { lists: vec![list(&forger, &[], current)], ..Rules::of_server() };
    assert_eq!(checked(&[&own], &roots(&[&weak]), &rules, NOW), Err("KEYUSAGE_NO_CRL_SIGN"));
}
