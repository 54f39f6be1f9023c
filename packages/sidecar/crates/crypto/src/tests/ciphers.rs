//! Tests of ciphers with the vectors of NIST SP 800-38A, the GCM specification, RFC 3394, 3610 and
//! 8439, and with messages that must be refused.

use super::hex;
use crate::{Cipher, Fault, Setup};

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
}

fn cipher(mode: u32, encrypt: bool, key: &[u8], iv: &[u8], tag_len: usize) -> Cipher {
    Cipher::new(&Setup { cipher: mode << 8 | key.len() as u32, encrypt, key, iv, tag_len }).expect("a cipher")
}

/// Converts a message in pieces of `piece` bytes.
fn converted(cipher: &mut Cipher, text: &[u8], piece: usize) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    for chunk in text.chunks(piece) {
        cipher.update(chunk, &mut out)?;
    }
    cipher.finish(&mut out)?;
    Ok(out)
}

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const TEXT: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";

#[test]
fn simple_modes_have_the_values_of_sp_800_38a_for_pieces_of_any_size() {
    let counting = "000102030405060708090a0b0c0d0e0f";
    for (mode, iv, expected) in [
        (1, "", "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"),
        (2, counting, "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"),
        (3, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"),
        (8, counting, "3b3fd92eb72dad20333449f8e83cfb4a7789508d16918f03f53c52dac54ed825"),
        (9, counting, "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b"),
    ] {
        for piece in [1, 5, 16, 17, 1_000] {
            let mut seal = cipher(mode, true, &bytes(KEY), &bytes(iv), 0);
            seal.set_padding(false);
            let sealed = converted(&mut seal, &bytes(TEXT), piece).expect("whole blocks");
            assert_eq!(hex(&sealed), expected, "mode {mode}, pieces of {piece}");
            let mut open = cipher(mode, false, &bytes(KEY), &bytes(iv), 0);
            open.set_padding(false);
            assert_eq!(converted(&mut open, &sealed, piece).map(|text| hex(&text)).as_deref(), Ok(TEXT));
        }
    }
}

#[test]
fn refuses_invalid_padding() {
    let iv = [0; 16];
    for len in [0, 1, 15, 16, 17, 100] {
        let text = vec![7; len];
        let sealed = converted(&mut cipher(2, true, &bytes(KEY), &iv, 0), &text, 9).expect("padded");
        assert_eq!(sealed.len(), (len / 16 + 1) * 16);
        assert_eq!(converted(&mut cipher(2, false, &bytes(KEY), &iv, 0), &sealed, 9), Ok(text));
        let cut = &sealed[..sealed.len() - 1];
        assert_eq!(converted(&mut cipher(2, false, &bytes(KEY), &iv, 0), cut, 9), Err(Fault::WrongFinalBlockLength));
    }
    assert_eq!(converted(&mut cipher(2, false, &bytes(KEY), &iv, 0), &[0; 32], 32), Err(Fault::BadDecrypt));
}

#[test]
fn authenticated_modes_have_the_known_text_and_tag() {
    let aad = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2");
    let text = bytes(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
    );
    let key = bytes("feffe9928665731c6d6a8f9467308308");
    for (iv, expected) in [
        ("cafebabefacedbaddecaf888", "5bc94fbc3221a5db94fae95ae7121a47"),
        ("cafebabefacedbad", "3612d2e79e3b0785561be14aaca2fccb"),
    ] {
        let mut seal = cipher(4, true, &key, &bytes(iv), 16);
        seal.set_aad(&aad[..7], None).and_then(|()| seal.set_aad(&aad[7..], None)).expect("first");
        let sealed = converted(&mut seal, &text, 11).expect("sealed");
        assert_eq!(seal.tag().map(hex).as_deref(), Ok(expected));
        refuses_changes(4, &key, &bytes(iv), &aad, &sealed, &bytes(expected));
    }

    let key: Vec<u8> = (0x80..0xa0).collect();
    let iv = bytes("070000004041424344454647");
    let aad = bytes("50515253c0c1c2c3c4c5c6c7");
    let text =
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
    let mut seal = cipher(6, true, &key, &iv, 16);
    seal.set_aad(&aad, None).expect("first");
    let sealed = converted(&mut seal, text, 13).expect("sealed");
    assert_eq!(hex(&sealed[..16]), "d31a8d34648e60db7b86afbc53ef7ec2");
    assert_eq!(seal.tag().map(hex).as_deref(), Ok("1ae10b594f09e26a7e902ecbd0600691"));
    refuses_changes(6, &key, &iv, &aad, &sealed, &bytes("1ae10b594f09e26a7e902ecbd0600691"));

    let key: Vec<u8> = (0xc0..0xd0).collect();
    let iv = bytes("00000003020100a0a1a2a3a4a5");
    let text: Vec<u8> = (8..0x1f).collect();
    let mut seal = cipher(5, true, &key, &iv, 8);
    seal.set_aad(&[0, 1, 2, 3, 4, 5, 6, 7], Some(text.len())).expect("first");
    let sealed = converted(&mut seal, &text, 100).expect("sealed");
    assert_eq!(hex(&sealed), "588c979a61c663d2f066d0c2c0f989806d5f6b61dac384");
    assert_eq!(seal.tag().map(hex).as_deref(), Ok("17e8d12cfdf926e0"));
}

/// Checks that the right tag authenticates the message. Checks that a change of the message, the
/// tag or the additional data is refused.
fn refuses_changes(mode: u32, key: &[u8], iv: &[u8], aad: &[u8], sealed: &[u8], tag: &[u8]) {
    let open = |sealed: &[u8], aad: &[u8], tag: &[u8]| {
        let mut open = cipher(mode, false, key, iv, 16);
        open.set_tag(tag)?;
        open.set_aad(aad, None)?;
        converted(&mut open, sealed, 50)
    };
    assert!(open(sealed, aad, tag).is_ok());
    for at in [0, sealed.len() / 2, sealed.len() - 1] {
        let mut changed = sealed.to_vec();
        changed[at] ^= 0x40;
        assert_eq!(open(&changed, aad, tag), Err(Fault::Unauthenticated));
    }
    assert_eq!(open(sealed, &aad[1..], tag), Err(Fault::Unauthenticated));
    assert_eq!(open(&sealed[1..], aad, tag), Err(Fault::Unauthenticated));
    let mut changed = tag.to_vec();
    changed[tag.len() - 1] ^= 1;
    assert_eq!(open(sealed, aad, &changed), Err(Fault::Unauthenticated));
    assert_eq!(open(sealed, aad, &[]), Err(Fault::Length));
}

#[test]
fn key_wrap_has_the_values_of_rfc_3394() {
    let key: Vec<u8> = (0..16).collect();
    let text = bytes("00112233445566778899aabbccddeeff");
    let wrapped = converted(&mut cipher(7, true, &key, &[0xa6; 8], 0), &text, 100).expect("whole halves");
    assert_eq!(hex(&wrapped), "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5");
    assert_eq!(converted(&mut cipher(7, false, &key, &[0xa6; 8], 0), &wrapped, 100), Ok(text));
    let mut changed = wrapped;
    changed[3] ^= 1;
    assert_eq!(converted(&mut cipher(7, false, &key, &[0xa6; 8], 0), &changed, 100), Err(Fault::Unauthenticated));
    assert_eq!(converted(&mut cipher(7, true, &key, &[0xa6; 8], 0), &[0; 15], 100), Err(Fault::Length));
}

#[test]
fn refuses_wrong_lengths_without_a_panic() {
    let new =
        |cipher, key: &[u8], iv: &[u8], tag_len| Cipher::new(&Setup { cipher, encrypt: true, key, iv, tag_len }).map(|_| ());
    for mode in 0..300_u32 {
        for (key, iv, tag_len) in [(0, 0, 0), (16, 0, 0), (15, 16, 16), (16, 300, 16), (32, 12, 17), (24, 13, 99)] {
            // The call may return any result, but must not panic.
            let _ = new(mode << 8 | key, &vec![0; key as usize], &vec![0; iv], tag_len);
        }
    }
    assert_eq!(new(0x0210, &[0; 15], &[0; 16], 0), Err(Fault::KeyLength));
    assert_eq!(new(0x0210, &[0; 16], &[0; 15], 0), Err(Fault::IvLength));
    assert_eq!(new(0x0410, &[0; 16], &[], 16), Err(Fault::IvLength));
    assert_eq!(new(0x0510, &[0; 16], &[0; 14], 16), Err(Fault::IvLength));
    assert_eq!(new(0x0510, &[0; 16], &[0; 12], 5), Err(Fault::Length));
    assert_eq!(new(0x0000, &[], &[], 0), Err(Fault::Unsupported));
}
