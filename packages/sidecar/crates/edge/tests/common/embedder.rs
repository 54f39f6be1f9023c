//! The embedder's side of secrets: declares a secret, and seals its value with an implementation of
//! RFC 9180 of its own.

use super::{Got, Sidecar};
use coldframe_edge_link::*;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;

pub const KEY: &str = "cfs_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
pub const VALUE: &str = "real-value-of-the-key";

/// The embedder of one runtime.
pub struct Embedder(u64);

impl Embedder {
    /// Waits until the edge asks for values.
    pub fn asked(sidecar: &mut Sidecar, runtime: u64) -> Self {
        sidecar.wait(|_, got| match got {
            Got::Other(ToSidecar::SecretsWanted { runtime: wanted }) if *wanted == runtime => Some(()),
            _ => None,
        });
        Self(runtime)
    }

    /// Requests a key for values of a runtime.
    pub fn key(sidecar: &mut Sidecar, runtime: u64) -> Result<[u8; 32], FailureKind> {
        sidecar.send(9_998, &ToEdge::SecretsKey { runtime });
        match sidecar.reply(9_998) {
            ToSidecar::SecretsKey { key } => Ok(key),
            ToSidecar::Failed { failure } => Err(failure.kind),
            other => panic!("{other:?}"),
        }
    }

    /// Sends sealed bytes.
    pub fn send(sidecar: &mut Sidecar, runtime: u64, key: [u8; 32], sealed: Vec<u8>) -> Result<(), FailureKind> {
        sidecar.send(9_999, &ToEdge::SecretsPut { runtime, key, sealed });
        match sidecar.reply(9_999) {
            ToSidecar::Done {} => Ok(()),
            ToSidecar::Failed { failure } => Err(failure.kind),
            other => panic!("{other:?}"),
        }
    }

    /// Sends one value. Returns the wrong part.
    pub fn put(&self, sidecar: &mut Sidecar, name: &str, state: ValueState, value: Option<&[u8]>) -> Result<(), String> {
        let parts = value.into_iter().map(SecretBytes).collect();
        let values = encode_values(&[SealedValue { name, state, parts }]).unwrap();
        let key = Self::key(sidecar, self.0).unwrap_or_else(|kind| panic!("{kind:?}"));
        match Self::send(sidecar, self.0, key, seal(key, SEAL_INFO, &values)) {
            Err(FailureKind::Invalid { what, .. }) => Err(what),
            other => other.map_err(|kind| format!("{kind:?}")),
        }
    }

    /// Sends the parts of a value of the secret `KEY`.
    pub fn parts(&self, sidecar: &mut Sidecar, state: ValueState, parts: &[&[u8]]) -> Result<(), FailureKind> {
        let parts = parts.iter().map(|part| SecretBytes(part)).collect();
        let values = encode_values(&[SealedValue { name: "KEY", state, parts }]).unwrap();
        let key = Self::key(sidecar, self.0)?;
        Self::send(sidecar, self.0, key, seal(key, SEAL_INFO, &values))
    }

    pub fn value(&self, sidecar: &mut Sidecar, value: &str) -> Result<(), String> {
        self.put(sidecar, "KEY", ValueState::Value, Some(value.as_bytes()))
    }

    pub fn missing(&self, sidecar: &mut Sidecar) -> Result<(), String> {
        self.put(sidecar, "KEY", ValueState::Missing, None)
    }
}

pub fn entry(hosts: &[&str], insecure: bool) -> SecretEntry {
    SecretEntry {
        name: "KEY".to_owned(),
        placeholder: Some(KEY.to_owned()),
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        places: None,
        insecure,
        sign: None,
    }
}

/// Replaces the declared secrets of a runtime.
pub fn declare(sidecar: &mut Sidecar, runtime: u64, secrets: Vec<SecretEntry>) {
    sidecar.update(runtime, OptionsChange { secrets: Change::Replace(secrets), ..OptionsChange::default() }, Existing::Recheck);
}

fn extract(salt: &[u8], input: &[&[u8]]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, salt), &input.concat()).as_ref().to_vec()
}

/// At most 32 bytes, so that the first block is enough.
fn expand(key: &[u8], suite: &[u8], label: &[u8], info: &[u8], length: usize) -> Vec<u8> {
    let size = u16::try_from(length).unwrap().to_be_bytes();
    let mut block = extract(key, &[&size, b"HPKE-v1", suite, label, info, &[1]]);
    block.truncate(length);
    block
}

/// Seals bytes to a key.
pub fn seal(key: [u8; 32], info: &[u8], plain: &[u8]) -> Vec<u8> {
    let (kem, suite) = (b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x02");
    let sender = x25519_dalek::StaticSecret::from([9; 32]);
    let mine = x25519_dalek::PublicKey::from(&sender).to_bytes();
    let secret = sender.diffie_hellman(&key.into()).to_bytes();
    let extracted = extract(&[], &[b"HPKE-v1", kem, b"eae_prk", &secret]);
    let shared = expand(&extracted, kem, b"shared_secret", &[mine, key].concat(), 32);
    let hash = |label: &[u8], input: &[u8]| extract(&[], &[b"HPKE-v1", suite, label, input]);
    let context = [vec![0], hash(b"psk_id_hash", b""), hash(b"info_hash", info)].concat();
    let secret = extract(&shared, &[b"HPKE-v1", suite, b"secret"]);
    let sealing = UnboundKey::new(&AES_256_GCM, &expand(&secret, suite, b"key", &context, 32)).unwrap();
    let nonce: [u8; 12] = expand(&secret, suite, b"base_nonce", &context, 12).try_into().unwrap();
    let mut bytes = plain.to_vec();
    let nonce = Nonce::assume_unique_for_key(nonce);
    LessSafeKey::new(sealing).seal_in_place_append_tag(nonce, Aad::empty(), &mut bytes).unwrap();
    [mine.to_vec(), bytes].concat()
}
