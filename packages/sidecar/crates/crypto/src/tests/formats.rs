//! The key formats that Node 24 with OpenSSL 3.5 accepts and refuses.
//!
//! Each case was passed to `crypto.createPrivateKey` or `createPublicKey` of that version. A
//! comment states where the sandbox differs on purpose. The last test changes keys at random.

use super::keys::{KEYS, ask, fields, pair};
use super::{N, T, request};
use crate::kdf::pbkdf2;
use crate::{Algorithm, Cipher, Command, Fault, Setup, Unwatched, Watch, run};
use proptest::prelude::*;

const PKCS1: i64 = 0;
const PKCS8: i64 = 1;
const SPKI: i64 = 2;
const SEC1: i64 = 3;
const PEM: i64 = -1;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const NULL: &[u8] = &[5, 0];
const RSA: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const PSS: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 10];
const MGF1: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 8];
const DSA: &[u8] = &[6, 7, 0x2a, 0x86, 0x48, 0xce, 0x38, 4, 1];
const EC: &[u8] = &[6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const ED25519: &[u8] = &[6, 3, 0x2b, 0x65, 0x70];
const SHA256: &[u8] = &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1];
const MD5: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 5];
const PBES2: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 13];
const PBKDF2: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 12];
const HMAC_SHA256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 9];
const AES_128_CBC: &[u8] = &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 2];

/// Returns a DER value with these parts.
fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let value = parts.concat();
    let len = match u16::try_from(value.len()).expect("short").to_be_bytes() {
        [0, len @ 0..0x80] => vec![len],
        [0, len] => vec![0x81, len],
        [high, low] => vec![0x82, high, low],
    };
    [vec![tag], len, value].concat()
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tlv(SEQUENCE, parts)
}

fn bits(bytes: &[u8]) -> Vec<u8> {
    tlv(3, &[&[0], bytes])
}

/// Returns a DER integer with `zeros` zero bytes before `bytes`.
fn number(bytes: &[u8], zeros: usize) -> Vec<u8> {
    tlv(INTEGER, &[&[0; 4][..zeros], bytes])
}

/// Imports a key. Returns the DER that the guest stores.
fn import(wanted: i64, encoding: i64, data: &[u8]) -> Result<Vec<u8>, Fault> {
    let fields_of = [N(wanted), N(i64::from(encoding == PEM)), N(encoding), T(data)];
    Ok(fields(&ask(Command::KeyImport, &request(&fields_of))?)[2].clone())
}

fn private(encoding: i64, data: &[u8]) -> Result<Vec<u8>, Fault> {
    import(1, encoding, data)
}

fn public(encoding: i64, data: &[u8]) -> Result<Vec<u8>, Fault> {
    import(0, encoding, data)
}

/// Returns the numbers of a key, from the command for JWK.
fn parts(held: &[u8], is_private: i64) -> Vec<Vec<u8>> {
    fields(&ask(Command::KeyParts, &request(&[T(held), N(is_private)])).expect("a key"))
}

fn pkcs8(version: u8, algorithm: &[u8], key: &[u8], rest: &[u8]) -> Vec<u8> {
    sequence(&[&number(&[version], 0), algorithm, &tlv(OCTETS, &[key]), rest])
}

/// Returns an Ed25519 key: the DER that the guest stores, the secret in an octet string, and the
/// public bytes.
fn ed25519() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let (held, _) = pair(KEYS[6]);
    let parts = parts(&held, 1);
    (held, tlv(OCTETS, &[&parts[2]]), parts[1].clone())
}

#[test]
fn rsa_numbers_may_have_superfluous_zeros() {
    let (held, held_public) = pair(KEYS[1]);
    let numbers = &parts(&held, 1)[1..9];
    for zeros in [1, 2, 4] {
        let padded: Vec<_> = numbers.iter().map(|bytes| number(bytes, zeros)).collect();
        let pkcs1 = sequence(&[&number(&[0], 0), &padded.concat()]);
        let pkcs1_public = sequence(&[&padded[..2].concat()]);
        let algorithm = sequence(&[RSA, NULL]);
        assert_eq!(private(PKCS1, &pkcs1).as_ref(), Ok(&held), "{zeros}");
        assert_eq!(private(PKCS8, &pkcs8(0, &algorithm, &pkcs1, &[])).as_ref(), Ok(&held));
        assert_eq!(public(PKCS1, &pkcs1_public).as_ref(), Ok(&held_public));
        assert_eq!(public(SPKI, &sequence(&[&algorithm, &bits(&pkcs1_public)])).as_ref(), Ok(&held_public));
    }
    // The sandbox differs from OpenSSL, which reads a negative number as a positive number.
    let negative: Vec<_> = numbers.iter().map(|bytes| number(bytes, 0)).collect();
    assert_eq!(private(PKCS1, &sequence(&[&number(&[0], 0), &negative.concat()])), Err(Fault::Unsupported));
    assert_eq!(public(PKCS1, &sequence(&[&number(&[], 0), &number(&[3], 0)])), Err(Fault::Unsupported));
}

#[test]
fn an_rsa_key_has_two_primes_and_nothing_after_them() {
    let (held, _) = pair(KEYS[0]);
    let numbers: Vec<_> = parts(&held, 1)[1..9].iter().map(|bytes| number(bytes, 1)).collect();
    let key = |version: &[u8], rest: &[u8]| sequence(&[version, &numbers.concat(), rest]);
    let (zero, one, junk) = (number(&[0], 0), number(&[5], 0), sequence(&[&number(&[5], 0)]));
    assert_eq!(private(PKCS1, &key(&zero, &[])).as_ref(), Ok(&held));
    for refused in [key(&number(&[0], 1), &[]), key(&number(&[1], 0), &[]), key(&zero, &one), key(&zero, &junk)] {
        assert_eq!(private(PKCS1, &refused), Err(Fault::Unsupported));
    }
    let third = sequence(&[&sequence(&[&one, &one, &one])]);
    assert_eq!(private(PKCS1, &key(&number(&[1], 0), &third)), Err(Fault::Unsupported));
}

#[test]
fn rsa_parameters_are_null_or_absent() {
    let (held, _) = pair(KEYS[0]);
    let numbers: Vec<_> = parts(&held, 1)[1..9].iter().map(|bytes| number(bytes, 1)).collect();
    let key = sequence(&[&number(&[0], 0), &numbers.concat()]);
    let read = |parameters: &[u8]| private(PKCS8, &pkcs8(0, &sequence(&[RSA, parameters]), &key, &[]));
    assert_eq!(read(NULL).as_ref(), Ok(&held));
    assert_eq!(read(&[]).as_ref(), Ok(&held));
    assert_eq!(read(&[5, 1, 0]), Err(Fault::Asn1));
    assert_eq!(read(&[5, 0, 5, 0]), Err(Fault::Asn1));
    // The sandbox differs from OpenSSL, which ignores these parameters.
    assert_eq!(read(&[2, 1, 5]), Err(Fault::Asn1));
}

#[test]
fn pkcs8_of_both_versions_may_have_attributes_and_a_public_key() {
    let (held, secret, point) = ed25519();
    let algorithm = sequence(&[ED25519]);
    let attributes = tlv(0xa0, &[&sequence(&[MD5, &tlv(0x31, &[NULL])])]);
    let public_key = tlv(0x81, &[&[0], &point]);
    let read = |version, rest: &[&[u8]]| private(PKCS8, &pkcs8(version, &algorithm, &secret, &rest.concat()));
    for version in [0, 1] {
        assert_eq!(read(version, &[]).as_ref(), Ok(&held), "{version}");
        assert_eq!(read(version, &[&attributes]).as_ref(), Ok(&held));
        assert_eq!(read(version, &[&tlv(0xa0, &[])]).as_ref(), Ok(&held));
        // The sandbox differs from OpenSSL, which refuses the public key in version 1 (the number
        // 0).
        assert_eq!(read(version, &[&public_key]).as_ref(), Ok(&held));
        assert_eq!(read(version, &[&attributes, &public_key]).as_ref(), Ok(&held));
        assert!(read(version, &[&public_key, &attributes]).is_err());
        assert!(read(version, &[&number(&[5], 0)]).is_err());
        assert!(read(version, &[&[0xff]]).is_err());
    }
    assert_eq!(read(2, &[]), Err(Fault::Asn1));
    assert_eq!(private(PKCS8, &sequence(&[&number(&[0], 1), &algorithm, &tlv(OCTETS, &[&secret])])), Err(Fault::Asn1));
}

#[test]
fn a_fault_says_where_a_private_key_is_wrong() {
    let (held, secret, _) = ed25519();
    assert_eq!(private(PKCS8, &[]), Err(Fault::Asn1));
    assert_eq!(private(PKCS8, &[0; 10]), Err(Fault::Asn1Tag));
    assert_eq!(private(PKCS8, &held[..20]), Err(Fault::Asn1));
    assert_eq!(private(PKCS8, &sequence(&[])), Err(Fault::Asn1));
    assert_eq!(private(PKCS8, &sequence(&[&tlv(OCTETS, &[])])), Err(Fault::Asn1Tag));
    assert_eq!(private(PKCS8, &pkcs8(0, &sequence(&[DSA]), &secret, &[])), Err(Fault::Unsupported));
    assert_eq!(private(PKCS8, &pkcs8(0, &sequence(&[ED25519]), &tlv(OCTETS, &[&[7; 31]]), &[])), Err(Fault::Length));
    assert_eq!(private(SPKI, &held), Err(Fault::UnexpectedKey));
    assert_eq!(public(SPKI, &sequence(&[&sequence(&[DSA]), &bits(&[7])])), Err(Fault::Unsupported));
    assert_eq!(public(SPKI, &sequence(&[&sequence(&[ED25519]), &bits(&[7; 31])])), Err(Fault::Asn1));
    assert_eq!(public(SPKI, &sequence(&[&sequence(&[ED25519]), &tlv(3, &[&[1], &[8; 32]])])), Err(Fault::Asn1));
}

#[test]
fn ec_scalars_may_have_any_length_and_public_keys_must_fit() {
    let (held, _) = pair(KEYS[2]);
    let parts = parts(&held, 1);
    let (scalar, point) = (&parts[4], [&[4], parts[2].as_slice(), &parts[3]].concat());
    let (version, point) = (number(&[1], 0), tlv(0xa1, &[&bits(&point)]));
    let key = |scalar: &[u8], rest: &[&[u8]]| sequence(&[&version, &tlv(OCTETS, &[scalar]), &rest.concat()]);
    let algorithm = sequence(&[EC, P256]);
    let read = |key: &[u8]| private(PKCS8, &pkcs8(0, &algorithm, key, &[]));
    let curve = tlv(0xa0, &[P256]);
    assert_eq!(read(&key(scalar, &[&point])).as_ref(), Ok(&held));
    assert_eq!(read(&key(scalar, &[&curve, &point])).as_ref(), Ok(&held));
    assert_eq!(read(&key(scalar, &[])).as_ref(), Ok(&held));
    assert_eq!(read(&key(&[&[0, 0, 0], scalar.as_slice()].concat(), &[])).as_ref(), Ok(&held));
    assert_eq!(private(SEC1, &key(scalar, &[&curve])).as_ref(), Ok(&held));
    assert_eq!(private(SEC1, &key(scalar, &[&point])), Err(Fault::Unsupported));
    assert_eq!(read(&key(scalar, &[&tlv(0xa0, &[DSA])])), Err(Fault::Unsupported));
    assert_eq!(read(&key(scalar, &[&number(&[5], 0)])), Err(Fault::Unsupported));
    assert_eq!(read(&key(scalar, &[])[1..]), Err(Fault::Unsupported));
    assert!(private(PKCS8, &pkcs8(0, &sequence(&[EC]), &key(scalar, &[&curve]), &[])).is_err());
    // The sandbox differs from OpenSSL, which compares the scalar and the point when the key is
    // used.
    let other = [&[4], [7; 64].as_slice()].concat();
    assert_eq!(read(&key(scalar, &[&tlv(0xa1, &[&bits(&other)])])), Err(Fault::InvalidPoint));
}

#[test]
fn parameters_for_pss_may_name_any_salt_length() {
    let (held, _) = pair(KEYS[1]);
    let numbers: Vec<_> = parts(&held, 1)[1..3].iter().map(|bytes| number(bytes, 1)).collect();
    let key = bits(&sequence(&[&numbers.concat()]));
    let read = |parameters: &[u8]| {
        let held = public(SPKI, &sequence(&[&sequence(&[PSS, parameters]), &key]))?;
        let numbers = parts(&held, 0)[9..].to_vec();
        let [hash, mgf_hash, salt] = numbers.try_into().expect("three numbers");
        Ok([hash, mgf_hash, salt].map(|number| i64::from_le_bytes(number.try_into().expect("a number"))))
    };
    let params = |parts: &[&[u8]]| read(&sequence(parts));
    let (sha1, sha256) = (Algorithm::Sha1 as i64, Algorithm::Sha256 as i64);
    let digest = sequence(&[SHA256, NULL]);
    let (hash, mask) = (tlv(0xa0, &[&digest]), tlv(0xa1, &[&sequence(&[MGF1, &digest])]));
    let salt = |bytes: &[u8]| tlv(0xa2, &[&tlv(INTEGER, &[bytes])]);
    assert_eq!(read(&[]), Ok([-1, -1, -1]));
    assert_eq!(params(&[]), Ok([sha1, sha1, 20]));
    assert_eq!(params(&[&hash, &mask]), Ok([sha256, sha256, 20]));
    assert_eq!(params(&[&hash, &mask, &salt(&[1, 44])]), Ok([sha256, sha256, 300]));
    assert_eq!(params(&[&tlv(0xa0, &[&sequence(&[SHA256])])]), Ok([sha256, sha1, 20]));
    assert_eq!(params(&[&tlv(0xa3, &[&number(&[1], 0)])]), Ok([sha1, sha1, 20]));
    assert_eq!(params(&[&tlv(0xa0, &[&sequence(&[MD5])])]), Err(Fault::Unsupported));
    assert_eq!(params(&[&tlv(0xa1, &[&sequence(&[RSA, &digest])])]), Err(Fault::Unsupported));
    for wrong in [&[&salt(&[0, 32])[..]][..], &[&salt(&[0xff])], &[&salt(&[32]), &hash], &[&number(&[5], 0)]] {
        assert_eq!(params(wrong), Err(Fault::Asn1), "{wrong:?}");
    }
    assert_eq!(read(NULL), Err(Fault::Asn1Tag));
}

#[test]
fn generated_keys_for_pss_keep_their_parameters() {
    for (hash, mgf_hash, salt) in [(4, 6, 300), (2, 2, 20), (-1, 12, -1)] {
        let parameters = [N(2), N(1_024), N(65_537), N(hash), N(mgf_hash), N(salt)];
        let held = fields(&ask(Command::KeyGenerate, &request(&parameters)).expect("a key"))[2].clone();
        let numbers: Vec<_> = parts(&held, 1)[9..].iter().map(|number| number[0]).collect();
        let known = |number: i64, default: i64| if number == -1 { default as u8 } else { number as u8 };
        assert_eq!(numbers, [known(hash, 2), known(mgf_hash, 2), known(salt, 20)]);
        assert_eq!(private(PKCS8, &held), Ok(held));
    }
    let blake2 = [N(2), N(512), N(3), N(13), N(-1), N(-1)];
    assert_eq!(ask(Command::KeyGenerate, &request(&blake2)), Err(Fault::Unsupported));
}

/// An Ed25519 key that is encrypted with the passphrase `x`.
struct Sealed<'a> {
    salt: &'a [u8],
    iterations: &'a [u8],
    key_len: &'a [u8],
    prf: &'a [u8],
    digest: Algorithm,
}

const SEALED: Sealed<'_> =
    Sealed { salt: &[1; 16], iterations: &[INTEGER, 1, 16], key_len: &[], prf: &[], digest: Algorithm::Sha1 };

impl Sealed<'_> {
    fn der(&self, secret: &[u8]) -> Vec<u8> {
        let key = pbkdf2(self.digest, b"x", self.salt, 16, 16, &mut Unwatched).expect("a key");
        let setup = Setup { cipher: 2 << 8 | 16, encrypt: true, key: &key, iv: &[2; 16], tag_len: 0 };
        let (mut cipher, mut text) = (Cipher::new(&setup).expect("CBC"), Vec::new());
        cipher.update(&pkcs8(0, &sequence(&[ED25519]), secret, &[]), &mut text).expect("text");
        cipher.finish(&mut text).expect("padded");
        let derivation = sequence(&[&tlv(OCTETS, &[self.salt]), self.iterations, self.key_len, self.prf]);
        let encryption = sequence(&[AES_128_CBC, &tlv(OCTETS, &[&[2; 16]])]);
        let parameters = sequence(&[&sequence(&[PBKDF2, &derivation]), &encryption]);
        sequence(&[&sequence(&[PBES2, &parameters]), &tlv(OCTETS, &[&text])])
    }
}

fn open(sealed: &[u8], watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let fields_of = request(&[N(1), N(0), N(PKCS8), T(sealed), T(b"x")]);
    Ok(fields(&run(Command::KeyOpen, &fields_of, watch)?)[2].clone())
}

#[test]
fn encrypted_keys_may_have_salts_of_any_length() {
    let (held, secret, _) = ed25519();
    let read = |sealed: &Sealed<'_>| open(&sealed.der(&secret), &mut Unwatched);
    for salt in [&[][..], &[1; 8], &[1; 33], &[1; 64]] {
        assert_eq!(read(&Sealed { salt, ..SEALED }).as_ref(), Ok(&held), "{}", salt.len());
    }
    assert_eq!(read(&Sealed { key_len: &[INTEGER, 1, 16], ..SEALED }).as_ref(), Ok(&held));
    for prf in [sequence(&[HMAC_SHA256, NULL]), sequence(&[HMAC_SHA256]), sequence(&[HMAC_SHA256, &[2, 1, 5]])] {
        assert_eq!(read(&Sealed { prf: &prf, digest: Algorithm::Sha256, ..SEALED }).as_ref(), Ok(&held), "{prf:?}");
    }
    assert_eq!(read(&Sealed { prf: &sequence(&[MD5]), ..SEALED }), Err(Fault::Unsupported));
    assert_eq!(read(&Sealed { iterations: &[INTEGER, 2, 0, 16], ..SEALED }), Err(Fault::Asn1));
    assert_eq!(read(&Sealed { iterations: &[INTEGER, 1, 0], ..SEALED }), Err(Fault::Unsupported));
    assert_eq!(read(&Sealed { iterations: &[INTEGER, 4, 0x7f, 0, 0, 0], ..SEALED }), Err(Fault::Unsupported));
    assert_eq!(read(&Sealed { digest: Algorithm::Sha256, ..SEALED }), Err(Fault::PassphraseWrong));
    let trailing = [SEALED.der(&secret), vec![0]].concat();
    assert_eq!(open(&trailing, &mut Unwatched).as_ref(), Ok(&held));
}

#[test]
fn encrypted_keys_of_other_schemes_are_unsupported() {
    let (_, secret, _) = ed25519();
    let sealed = SEALED.der(&secret);
    for oid in [PBES2, PBKDF2, AES_128_CBC] {
        let at = sealed.windows(oid.len()).position(|window| window == oid).expect("the identifier");
        let mut changed = sealed.clone();
        changed[at + oid.len() - 1] = 100;
        assert_eq!(open(&changed, &mut Unwatched), Err(Fault::Unsupported));
    }
}

#[test]
fn pem_may_have_lines_of_any_length_and_text_around_it() {
    let (held, secret, _) = ed25519();
    let text = String::from_utf8(ask(Command::KeyExport, &request(&[T(&held), N(1), N(PKCS8), N(1)])).expect("PEM"));
    let text = text.expect("ASCII");
    let body = text.lines().nth(1).expect("one line").to_owned();
    assert_eq!(text, format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"));
    let block = |body: &str| format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
    let (start, end) = body.split_at(17);
    for taken in [
        text.clone(),
        text.trim_end().to_owned(),
        text.replace('\n', "\r\n"),
        block(&format!("{start}\n{end}")),
        block(&format!("\n{body}")),
        block(&format!("  {body} \t")),
        text.replace("KEY-----\n", "KEY-----  \n"),
        format!("a: b\n\n{text}bye"),
        format!("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n{text}"),
    ] {
        assert_eq!(private(PEM, taken.as_bytes()).as_ref(), Ok(&held), "{taken}");
    }
    for refused in [
        block(""),
        block(&body[1..]),
        block(&format!("{start}-{end}")),
        block(&format!("{body}\n=AAA")),
        text.replace("END PRIVATE", "END PUBLIC"),
        text.replace("-----END", "----END"),
        text.replace('\n', "\r"),
        text.to_lowercase(),
    ] {
        assert_eq!(private(PEM, refused.as_bytes()), Err(Fault::NoPem), "{refused}");
    }
    // The sandbox differs from OpenSSL, which skips headers and white space within a line.
    assert_eq!(private(PEM, block(&format!("Name: value\n\n{body}")).as_bytes()), Err(Fault::Unsupported));
    assert_eq!(private(PEM, block(&format!("{start} {end}")).as_bytes()), Err(Fault::NoPem));

    // The length of `der` is two bytes more than a multiple of three. The last character of the
    // body therefore has two bits that belong to no byte.
    let der = pkcs8(0, &sequence(&[ED25519]), &secret, &tlv(0xa0, &[]));
    assert_eq!(der.len() % 3, 2);
    let body = format!("{}oAA=", &block_of(&der)[..64]);
    assert_eq!(private(PEM, block(&body).as_bytes()).as_ref(), Ok(&held));
    assert_eq!(private(PEM, block(&body.replace("oAA=", "oAB=")).as_bytes()).as_ref(), Ok(&held));
    assert_eq!(private(PEM, block(&body.replace("oAA=", "oAA")).as_bytes()), Err(Fault::NoPem));
    assert_eq!(private(PEM, block(&format!("{body}\nAAAA")).as_bytes()), Err(Fault::NoPem));
}

/// Returns the base64 text of `der` without line breaks.
fn block_of(der: &[u8]) -> String {
    let text = pem_rfc7468::encode_string("X", pem_rfc7468::LineEnding::LF, der).expect("short");
    text.lines().filter(|line| !line.starts_with('-')).collect()
}

#[test]
fn pem_has_lines_of_64_characters() {
    let (held, _) = pair(KEYS[1]);
    let text = ask(Command::KeyExport, &request(&[T(&held), N(1), N(PKCS8), N(1)])).expect("PEM");
    let text = String::from_utf8(text).expect("ASCII");
    let lines: Vec<_> = text.lines().collect();
    let [first, body @ .., rest, last] = lines.as_slice() else { panic!("four lines: {text}") };
    assert_eq!((*first, *last), ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"));
    assert!(body.iter().all(|line| line.len() == 64) && (1..=64).contains(&rest.len()));
}

#[test]
fn ecdsa_signatures_are_strict_der() {
    let (private, public) = pair(KEYS[2]);
    let sign = |as_p1363| request(&[T(&private), N(1), N(4), N(0), T(b"data"), N(1), N(-100), N(as_p1363)]);
    let raw = ask(Command::Sign, &sign(1)).expect("signed");
    let verify = |signature: &[u8]| {
        let fields_of = [T(&public), N(0), N(4), N(0), T(b"data"), N(1), N(-100), N(0), T(signature)];
        ask(Command::Verify, &request(&fields_of)) == Ok(vec![1])
    };
    assert!(verify(&ask(Command::Sign, &sign(0)).expect("signed")));
    let (r, s) = raw.split_at(32);
    let zeros = |bytes: &[u8]| usize::from(bytes[0] >= 0x80);
    let signature = |r: &[u8], s: &[u8], rest: &[u8]| sequence(&[r, s, rest]);
    let (r, s, long_r) = (number(r, zeros(r)), number(s, zeros(s)), number(r, zeros(r) + 1));
    assert!(verify(&signature(&r, &s, &[])));
    assert!(!verify(&signature(&long_r, &s, &[])));
    assert!(!verify(&signature(&r, &s, &[0])));
    assert!(!verify(&signature(&r, &tlv(INTEGER, &[&[1; 200]]), &[])));
    assert!(!verify(&[signature(&r, &s, &[]), vec![0]].concat()));
}

/// Stops a computation after the given number of steps.
struct Steps(u32);

impl Watch for Steps {
    fn step(&mut self) -> Result<(), Fault> {
        self.0 = self.0.checked_sub(1).ok_or(Fault::Stopped)?;
        Ok(())
    }

    fn memory(&self) -> usize {
        1 << 20
    }
}

/// A change of some bytes at a place that is a fraction of the key's length.
#[derive(Debug, Clone)]
struct Change {
    at: prop::sample::Index,
    removed: usize,
    inserted: Vec<u8>,
}

fn change() -> impl Strategy<Value = Change> {
    let byte = prop_oneof![any::<u8>(), Just(0), Just(0x80), Just(0xff), Just(SEQUENCE), Just(0x84), Just(b'\n'), Just(b'=')];
    let parts = (any::<prop::sample::Index>(), 0..4_usize, prop::collection::vec(byte, 0..4));
    parts.prop_map(|(at, removed, inserted)| Change { at, removed, inserted })
}

fn changed(key: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut key = key.to_vec();
    for Change { at, removed, inserted } in changes {
        let start = at.index(key.len() + 1);
        let end = key.len().min(start + removed);
        key.splice(start..end, inserted.iter().copied());
    }
    key
}

/// Returns keys of all kinds in all formats: the wanted key, the encoding, the bytes.
fn samples() -> Vec<(i64, i64, Vec<u8>)> {
    let mut samples = Vec::new();
    for parameters in KEYS.into_iter().chain([&[2, 512, 3, 4, 6, 64][..]]) {
        let (private, public) = pair(parameters);
        for (held, wanted, encodings) in [(&private, 1, [PKCS1, PKCS8, SEC1]), (&public, 0, [PKCS1, SPKI, SPKI])] {
            for (encoding, pem) in encodings.into_iter().flat_map(|encoding| [(encoding, 0), (encoding, 1)]) {
                let written = ask(Command::KeyExport, &request(&[T(held), N(wanted), N(encoding), N(pem)]));
                let encoding = if pem == 1 { PEM } else { encoding };
                samples.extend(written.ok().map(|written| (wanted, encoding, written)));
            }
        }
    }
    let (_, secret, _) = ed25519();
    samples.push((1, PKCS8, SEALED.der(&secret)));
    samples
}

#[test]
fn changed_keys_are_refused_or_are_keys_that_can_be_written_and_read_again() {
    let samples = samples();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) };
    let strategy = (any::<prop::sample::Index>(), prop::collection::vec(change(), 1..4));
    proptest!(config, |((which, changes) in strategy)| {
        let (wanted, encoding, key) = which.get(&samples);
        let key = changed(key, &changes);
        let fields_of = [N(*wanted), N(i64::from(*encoding == PEM)), N(*encoding), T(&key), T(b"x")];
        let Ok(read) = run(Command::KeyOpen, &request(&fields_of), &mut Steps(8)) else { return Ok(()) };
        let held = &fields(&read)[2];
        prop_assert!(held.len() <= key.len() + 200, "{} bytes became {}", key.len(), held.len());
        let again = if *wanted == 1 { private(PKCS8, held) } else { public(SPKI, held) };
        prop_assert_eq!(again.as_ref(), Ok(held));
    });
}
