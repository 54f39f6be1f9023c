//! Tests of keys, signatures, encryption and shared secrets: each operation and its reverse, and
//! hostile input.

use super::{N, T, request};
use crate::fields::Fields;
use crate::{Command, Fault, Unwatched, run};

pub(super) fn fields(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut fields = Fields::new(bytes);
    std::iter::from_fn(|| fields.bytes().ok().map(<[u8]>::to_vec)).collect()
}

pub(super) fn ask(command: Command, request: &[u8]) -> Result<Vec<u8>, Fault> {
    run(command, request, &mut Unwatched)
}

/// Generates a key. Returns the private and the public key in the form in which the guest stores
/// keys.
pub(super) fn pair(parameters: &[i64]) -> (Vec<u8>, Vec<u8>) {
    let numbers: Vec<_> = parameters.iter().map(|number| N(*number)).collect();
    let private = fields(&ask(Command::KeyGenerate, &request(&numbers)).expect("a key"))[2].clone();
    let public = fields(&ask(Command::KeyPublic, &request(&[T(&private)])).expect("its public key"))[2].clone();
    (private, public)
}

pub(super) const KEYS: [&[i64]; 8] = [&[1, 512, 3], &[1, 1_024, 65_537], &[3, 1], &[3, 2], &[3, 3], &[3, 4], &[4], &[5]];

#[test]
fn a_key_that_is_written_and_read_is_equal_in_every_encoding() {
    for parameters in KEYS {
        let (private, public) = pair(parameters);
        for (der, is_private, encodings) in [(&private, 1, [0, 1, 3]), (&public, 0, [0, 2, 2])] {
            for (encoding, pem) in encodings.into_iter().flat_map(|encoding| [(encoding, 0), (encoding, 1)]) {
                let Ok(written) = ask(Command::KeyExport, &request(&[T(der), N(is_private), N(encoding), N(pem)])) else {
                    continue;
                };
                let read = ask(Command::KeyImport, &request(&[N(is_private), N(pem), N(encoding), T(&written)]));
                assert_eq!(read.map(|read| fields(&read)[2].clone()).as_ref(), Ok(der), "{parameters:?} {encoding} {pem}");
            }
        }
        let sealed = ask(Command::KeySeal, &request(&[T(&private), N(1), N(32), T(b"secret"), N(1)])).expect("sealed");
        let open = |passphrase: &[u8]| ask(Command::KeyOpen, &request(&[N(1), N(1), N(-1), T(&sealed), T(passphrase)]));
        assert_eq!(open(b"secret").map(|read| fields(&read)[2].clone()), Ok(private));
        assert!(matches!(open(b"wrong"), Err(Fault::PassphraseWrong | Fault::Asn1 | Fault::Asn1Tag)));
        let closed = ask(Command::KeyImport, &request(&[N(1), N(1), N(-1), T(&sealed)]));
        assert_eq!(closed, Err(Fault::PassphraseMissing));
    }
}

#[test]
fn a_signature_is_valid_for_its_data_and_key_only() {
    for (parameters, digest, padding) in [
        (KEYS[1], 4, 1),
        (KEYS[1], 4, 6),
        (KEYS[2], 4, 1),
        (KEYS[3], 2, 1),
        (KEYS[4], 2, 1),
        (KEYS[4], 6, 1),
        (KEYS[5], 6, 1),
        (KEYS[6], -1, 1),
    ] {
        let (private, public) = pair(parameters);
        let (_, stranger) = pair(parameters);
        let sign = request(&[T(&private), N(1), N(digest), N(0), T(b"data"), N(padding), N(-100), N(0)]);
        let signature = ask(Command::Sign, &sign).expect("signed");
        let verify = |key: &[u8], data: &[u8], signature: &[u8]| {
            let fields = [T(key), N(0), N(digest), N(0), T(data), N(padding), N(-100), N(0), T(signature)];
            ask(Command::Verify, &request(&fields)) == Ok(vec![1])
        };
        assert!(verify(&public, b"data", &signature), "{parameters:?} {digest}");
        assert!(!verify(&public, b"date", &signature));
        assert!(!verify(&stranger, b"data", &signature));
        assert!(!verify(&public, b"data", &signature[1..]));
        assert!(!verify(&public, b"data", &[]));
        for at in (0..signature.len()).step_by(7) {
            let mut changed = signature.clone();
            changed[at] ^= 1;
            assert!(!verify(&public, b"data", &changed), "{parameters:?}: byte {at}");
        }
    }
}

#[test]
fn refuses_keys_that_are_cut_and_survives_keys_that_are_changed() {
    for parameters in [KEYS[0], KEYS[2], KEYS[6]] {
        let (private, public) = pair(parameters);
        for (der, wanted, encoding) in [(&private, 1, 1), (&public, 0, 2)] {
            let import = |der: &[u8]| ask(Command::KeyImport, &request(&[N(wanted), N(0), N(encoding), T(der)]));
            for len in 0..der.len() {
                assert!(import(&der[..len]).is_err(), "{parameters:?} cut to {len}");
            }
            for at in 0..der.len() {
                for bit in [1, 0x80] {
                    let mut changed = der.clone();
                    changed[at] ^= bit;
                    let Ok(read) = import(&changed) else { continue };
                    let held = &fields(&read)[2];
                    let _ = ask(Command::KeyParts, &request(&[T(held), N(wanted)]));
                    let _ = ask(Command::Sign, &request(&[T(held), N(wanted), N(2), N(0), T(b"x"), N(1), N(-100), N(0)]));
                }
            }
            assert!(import(&[der.as_slice(), &[0]].concat()).is_err(), "{parameters:?} with something behind");
        }
    }
}

#[test]
fn two_sides_compute_one_secret_and_refuse_invalid_points() {
    for parameters in [KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[7]] {
        let ((a, open_a), (b, open_b)) = (pair(parameters), pair(parameters));
        let shared = |own: &[u8], other: &[u8]| ask(Command::Exchange, &request(&[T(own), T(other), N(0)]));
        assert_eq!(shared(&a, &open_b), shared(&b, &open_a));
        assert!(shared(&a, &open_b).is_ok());
    }
    let (x25519, _) = pair(KEYS[7]);
    let zero = fields(&ask(Command::KeyBuild, &request(&[N(5), T(&[0; 32]), T(b"")])).expect("32 bytes"))[2].clone();
    let got = ask(Command::Exchange, &request(&[T(&x25519), T(&zero), N(0)]));
    assert_eq!(got, Err(Fault::NeutralElement));
    for point in [&[4; 65][..], &[0], &[5; 33], &[]] {
        let got = ask(Command::KeyBuild, &request(&[N(3), N(1), T(point), T(b"")]));
        assert_eq!(got, Err(Fault::InvalidPoint), "{point:?}");
    }
    for scalar in [&[0; 32][..], &[0xff; 32], &[1; 33]] {
        let got = ask(Command::KeyBuild, &request(&[N(3), N(1), T(b""), T(scalar)]));
        assert!(got == Err(Fault::InvalidPrivateKey) || scalar.iter().all(|byte| *byte == 0), "{scalar:?}");
    }
}

#[test]
fn rsa_decrypts_its_messages_and_hides_invalid_padding() {
    let (private, public) = pair(KEYS[1]);
    let cipher = |key: &[u8], is_private, encrypt, padding, data: &[u8]| {
        ask(
            Command::RsaCipher,
            &request(&[T(key), N(is_private), N(is_private), N(encrypt), N(padding), N(2), T(b"label"), T(data)]),
        )
    };
    for padding in [1, 4] {
        let sealed = cipher(&public, 0, 1, padding, b"secret").expect("short enough");
        assert_eq!(cipher(&private, 1, 0, padding, &sealed).as_deref(), Ok(&b"secret"[..]));
        assert_eq!(cipher(&public, 0, 1, padding, &[1; 128]), Err(Fault::DataTooLarge));
    }
    // The message that is made up for an invalid block does not change between calls.
    let garbage = [&[0], [7; 127].as_slice()].concat();
    let made_up = cipher(&private, 1, 0, 1, &garbage).expect("no error");
    assert_eq!(cipher(&private, 1, 0, 1, &garbage), Ok(made_up));
    assert_eq!(cipher(&private, 1, 0, 4, &garbage), Err(Fault::Padding));
}
