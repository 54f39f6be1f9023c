//! Files that OpenSSL 3.0 has written (`stores/`): PKCS #12 files, and private keys in encrypted
//! PEM. All files have one key for P-256.

use super::keys::{ask, fields};
use super::{N, T, request};
use crate::{Command, Fault, Unwatched, Watch, run};

const KEY: &[u8] = include_bytes!("stores/key.der");
const OWN: &[u8] = include_bytes!("stores/own.der");
const AUTHORITY: &[u8] = include_bytes!("stores/authority.der");
const MODERN: &[u8] = include_bytes!("stores/modern.pfx");
const TRIPLE_DES: &[u8] = include_bytes!("stores/triple-des.pfx");
const EMPTY: &[u8] = include_bytes!("stores/empty.pfx");
const WITHOUT_MAC: &[u8] = include_bytes!("stores/without-mac.pfx");
const WITHOUT_KEY: &[u8] = include_bytes!("stores/without-key.pfx");
const RC2: &[u8] = include_bytes!("stores/rc2.pfx");

fn open(file: &[u8], passphrase: &str) -> Result<Vec<Vec<u8>>, Fault> {
    ask(Command::Pkcs12, &request(&[T(file), T(passphrase.as_bytes())])).map(|reply| fields(&reply))
}

fn number(value: i64) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

fn private_pem(text: &[u8], passphrase: &str) -> Result<Vec<u8>, Fault> {
    let reply = ask(Command::KeyOpen, &request(&[N(1), N(1), N(-1), T(text), T(passphrase.as_bytes())]))?;
    Ok(fields(&reply)[2].clone())
}

#[test]
fn pkcs12_files_have_their_key_and_certificates() {
    let held = ask(Command::KeyImport, &request(&[N(1), N(0), N(1), T(KEY)])).map(|reply| fields(&reply)[2].clone());
    let whole = [number(3), number(1), held.expect("a key"), OWN.to_vec(), AUTHORITY.to_vec()];
    for (file, passphrase) in [(MODERN, "sample"), (TRIPLE_DES, "pässwört"), (EMPTY, ""), (WITHOUT_MAC, "")] {
        assert_eq!(open(file, passphrase).as_deref(), Ok(&whole[..]), "{passphrase}");
    }
    assert_eq!(open(WITHOUT_KEY, "sample"), Ok(vec![number(0), number(1), Vec::new(), OWN.to_vec()]));
}

#[test]
fn pkcs12_files_need_their_passphrase() {
    for (file, passphrase) in [(MODERN, "Sample"), (MODERN, ""), (TRIPLE_DES, "passwort"), (EMPTY, "sample")] {
        assert_eq!(open(file, passphrase), Err(Fault::PassphraseWrong), "{passphrase}");
    }
}

#[test]
fn pkcs12_files_with_rc2_are_unsupported() {
    assert_eq!(open(RC2, "sample"), Err(Fault::Unsupported));
}

#[test]
fn changed_pkcs12_files_are_refused() {
    for cut in 0..MODERN.len() {
        assert!(open(&MODERN[..cut], "sample").is_err(), "{cut}");
    }
    let whole = open(MODERN, "sample");
    for at in 0..MODERN.len() {
        let mut changed = MODERN.to_vec();
        changed[at] ^= 1;
        // Some bytes have no meaning, such as the version.
        let read = open(&changed, "sample");
        assert!(read.is_err() || read == whole, "{at}");
    }
}

#[test]
fn the_watch_stops_the_reading_of_pkcs12_files() {
    struct Stopped;
    impl Watch for Stopped {
        fn step(&mut self) -> Result<(), Fault> {
            Err(Fault::Stopped)
        }
        fn memory(&self) -> usize {
            1 << 20
        }
    }
    let read = |watch: &mut dyn Watch| run(Command::Pkcs12, &request(&[T(MODERN), T(b"sample")]), watch);
    assert_eq!(read(&mut Stopped), Err(Fault::Stopped));
    assert!(read(&mut Unwatched).is_ok());
}

#[test]
fn encrypted_pem_has_its_key() {
    let plain = ask(Command::KeyImport, &request(&[N(1), N(0), N(1), T(KEY)])).map(|reply| fields(&reply)[2].clone());
    for text in [
        &include_bytes!("stores/aes.pem")[..],
        include_bytes!("stores/triple-des.pem"),
        include_bytes!("stores/pkcs8-triple-des.pem"),
        include_bytes!("stores/pkcs8-old.pem"),
    ] {
        assert_eq!(private_pem(text, "sample"), plain);
        assert_eq!(private_pem(text, "another"), Err(Fault::PassphraseWrong));
        let closed = ask(Command::KeyImport, &request(&[N(1), N(1), N(-1), T(text)]));
        assert_eq!(closed, Err(Fault::PassphraseMissing));
    }
}

#[test]
fn encrypted_pem_with_other_headers_is_refused() {
    let text = String::from_utf8(include_bytes!("stores/aes.pem").to_vec()).expect("PEM");
    let changed = |from: &str, to: &str| private_pem(text.replace(from, to).as_bytes(), "sample");
    assert_eq!(changed("AES-192-CBC", "DES-CBC"), Err(Fault::Unsupported));
    assert_eq!(changed("Proc-Type", "Other-Type"), Err(Fault::Unsupported));
    assert_eq!(changed("AES-192-CBC,", "AES-192-CBC,00"), Err(Fault::NoPem));
    assert_eq!(changed("AES-192-CBC,", "AES-192-CBC,é"), Err(Fault::NoPem));
    assert_eq!(changed("AES-192-CBC,", "AES-192-CBC"), Err(Fault::NoPem));
}
