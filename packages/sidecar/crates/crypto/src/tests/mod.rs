//! Test vectors of the standards: FIPS 180 and 202, RFC 1321, 2202, 4231, 5869, 6070, 7914.
//!
//! `ciphers.rs` has the vectors of ciphers, `keys.rs` the operations of keys, `formats.rs` the
//! formats of keys.

mod ciphers;
mod formats;
mod keys;
mod stores;

use crate::fields::Reply;
use crate::{Algorithm, Command, Fault, Hmac, Unwatched, Watch, run};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn digests_have_the_known_values() {
    for (algorithm, expected) in [
        (Algorithm::Md5, "900150983cd24fb0d6963f7d28e17f72"),
        (Algorithm::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (Algorithm::Sha224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        (Algorithm::Sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (Algorithm::Sha512_256, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        (Algorithm::Sha3_256, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        (Algorithm::Blake2s256, "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"),
        (Algorithm::Ripemd160, "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
        (Algorithm::Md5Sha1, "900150983cd24fb0d6963f7d28e17f72a9993e364706816aba3e25717850c26c9cd0d89d"),
        (Algorithm::Shake128, "5881092dd818bf5cf8a3ddb793fbcba7"),
        (Algorithm::Shake256, "483366601360a8771c6863080cc4114d8db44530f8f1e1ee4f94ea37e78b5739"),
    ] {
        assert_eq!(hex(&algorithm.digest(b"abc")), expected, "{algorithm:?}");
        let mut hasher = algorithm.hasher();
        hasher.update(b"a");
        let mut copy = hasher.copy();
        copy.update(b"bc");
        let mut out = vec![0; algorithm.output_len()];
        copy.finish(&mut out);
        assert_eq!(hex(&out), expected, "a copy of {algorithm:?}");
    }
}

#[test]
fn hmac_has_the_known_values_for_short_and_long_keys() {
    let code = |algorithm, key: &[u8], data: &[u8]| hex(&Hmac::of(algorithm, key, data));
    assert_eq!(
        code(Algorithm::Sha256, b"Jefe", b"what do ya want for nothing?"),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    let long = b"Test Using Larger Than Block-Size Key - Hash Key First";
    assert_eq!(code(Algorithm::Sha256, &[0xaa; 131], long), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    assert_eq!(code(Algorithm::Sha1, &[0xaa; 80], long), "aa4ae5e15272d00e95705637ce8a3b55ed402112");
}

/// A field of a request.
enum Field<'a> {
    Text(&'a [u8]),
    Number(i64),
}
use Field::{Number as N, Text as T};

fn request(fields: &[Field<'_>]) -> Vec<u8> {
    let reply = fields.iter().try_fold(Reply::default(), |reply, field| match field {
        T(text) => reply.bytes(text),
        N(number) => reply.number(*number),
    });
    reply.expect("short").done()
}

fn answer(command: Command, fields: &[Field<'_>]) -> Result<String, Fault> {
    run(command, &request(fields), &mut Unwatched).map(|bytes| hex(&bytes))
}

#[test]
fn pbkdf2_has_the_values_of_rfc_6070() {
    for (iterations, expected) in [
        (1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
        (2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
        (4_096, "4b007901b765489abead49d926f721d065a429c1"),
    ] {
        let len = expected.len() as i64 / 2;
        let got = answer(Command::Pbkdf2, &[N(2), T(b"password"), T(b"salt"), N(iterations), N(len)]);
        assert_eq!(got.as_deref(), Ok(expected));
    }
}

#[test]
fn hkdf_has_the_values_of_rfc_5869() {
    let salt: Vec<u8> = (0..13).collect();
    let info: Vec<u8> = (0xf0..0xfa).collect();
    let got = answer(Command::Hkdf, &[N(4), T(&[0x0b; 22]), T(&salt), T(&info), N(42)]);
    let expected = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865";
    assert_eq!(got.as_deref(), Ok(expected));
    assert_eq!(answer(Command::Hkdf, &[N(4), T(b""), T(b""), T(b""), N(255 * 32 + 1)]), Err(Fault::TooLong));
}

#[test]
fn scrypt_has_the_values_of_rfc_7914() {
    let got = answer(Command::Scrypt, &[T(b"password"), T(b"NaCl"), N(1_024), N(8), N(16), N(32 << 20), N(64)]);
    let expected = "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640";
    assert_eq!(got.as_deref(), Ok(expected));
    let got = answer(Command::Scrypt, &[T(b""), T(b""), N(16), N(1), N(1), N(32 << 20), N(16)]);
    assert_eq!(got.as_deref(), Ok("77d6576238657b203b19ca42c18a0497"));
}

#[test]
fn scrypt_refuses_invalid_and_excessive_costs() {
    let cost = |n, r, p, max| answer(Command::Scrypt, &[T(b""), T(b""), N(n), N(r), N(p), N(max), N(8)]);
    for (n, r, p) in [(0, 8, 1), (1, 8, 1), (15, 8, 1), (16, 0, 1), (16, 8, 0)] {
        assert_eq!(cost(n, r, p, i64::MAX), Err(Fault::Length), "{n} {r} {p}");
    }
    assert_eq!(cost(1 << 20, 8, 1, 32 << 20), Err(Fault::Memory));
    assert_eq!(cost(1 << 62, 1 << 29, 1, i64::MAX), Err(Fault::Memory));
    assert_eq!(cost(1 << 16, 1, 1, i64::MAX), Err(Fault::Memory));
    assert_eq!(cost(16, u32::MAX.into(), u32::MAX.into(), i64::MAX), Err(Fault::Memory));
}

/// A watch that stops a computation at the first step.
struct Stopped;

impl Watch for Stopped {
    fn step(&mut self) -> Result<(), Fault> {
        Err(Fault::Stopped)
    }

    fn memory(&self) -> usize {
        1 << 20
    }
}

#[test]
fn a_computation_ends_when_its_watch_stops_it() {
    let stopped = |command, fields: &[Field<'_>]| run(command, &request(fields), &mut Stopped);
    let endless = [N(6), T(b"p"), T(b"s"), N(0x7fff_ffff), N(64)];
    assert_eq!(stopped(Command::Pbkdf2, &endless), Err(Fault::Stopped));
    assert_eq!(stopped(Command::RandomPrime, &[N(4_096), N(1), T(b""), T(b"")]), Err(Fault::Stopped));
    assert_eq!(stopped(Command::Scrypt, &[T(b""), T(b""), N(512), N(8), N(1), N(1 << 40), N(8)]), Err(Fault::Stopped));
    let much = [T(b"".as_slice()), T(b""), N(1 << 20), N(8), N(1), N(1 << 40), N(8)];
    assert_eq!(stopped(Command::Scrypt, &much), Err(Fault::Memory));
    assert_eq!(stopped(Command::Pbkdf2, &[N(6), T(b"p"), T(b"s"), N(1), N(0x7fff_ffff)]), Err(Fault::Memory));
}

#[test]
fn every_command_refuses_a_request_without_its_fields() {
    for number in 1..200 {
        let Some(command) = Command::of(number) else { continue };
        assert!(run(command, &[], &mut Unwatched).is_err(), "{command:?}");
        assert!(run(command, &[0xff; 64], &mut Unwatched).is_err(), "{command:?}");
        let _ = run(command, &request(&[N(-1), N(-1), N(-1), N(-1), N(-1), N(-1), N(-1), N(-1)]), &mut Unwatched);
    }
}
