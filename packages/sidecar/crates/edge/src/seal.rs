//! The seal of values of secrets: HPKE (RFC 9180) in the mode `base`. The suite is DHKEM(X25519,
//! HKDF-SHA256), HKDF-SHA256 and AES-256-GCM. A seal is one message without associated data. The
//! embedder seals with `packages/sdk/src/secrets/seal.ts`. Next: `secrets.rs`.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use ring::hmac::{self, Tag};
use ring::rand::SystemRandom;
use zeroize::Zeroizing;

/// The length of a public key.
pub const KEY_BYTES: usize = 32;
/// The length of an AES-256 key.
const AEAD_KEY_BYTES: usize = 32;
const LABEL: &[u8] = b"HPKE-v1";
/// `KEM` and the number of DHKEM(X25519, HKDF-SHA256).
const KEM_SUITE: &[u8] = b"KEM\x00\x20";
/// `HPKE` and the numbers of the KEM, of HKDF-SHA256 and of AES-256-GCM.
const SUITE: &[u8] = b"HPKE\x00\x20\x00\x01\x00\x02";

/// A key pair, which opens one message. Dropping the pair destroys the private key.
pub struct OpeningKey {
    private: EphemeralPrivateKey,
    public: [u8; KEY_BYTES],
}

impl OpeningKey {
    /// Makes a key pair. Returns `None` if the system has no random numbers.
    pub fn new() -> Option<Self> {
        let private = EphemeralPrivateKey::generate(&X25519, &SystemRandom::new()).ok()?;
        let public = private.compute_public_key().ok()?.as_ref().try_into().ok()?;
        Some(Self { private, public })
    }

    /// Returns the public key.
    pub fn public(&self) -> [u8; KEY_BYTES] {
        self.public
    }

    /// Opens a message: the sender's public key and the ciphertext. Returns `None` if the message
    /// was not sealed to this key with `info`.
    pub fn open(self, info: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (sender, ciphertext) = sealed.split_first_chunk::<KEY_BYTES>()?;
        let context = [sender.as_slice(), &self.public].concat();
        let peer = UnparsedPublicKey::new(&X25519, sender);
        let shared = agree_ephemeral(self.private, &peer, |secret| shared_secret(secret, &context)).ok()??;
        let (key, nonce) = key_schedule::<AEAD_KEY_BYTES>(SUITE, &shared, info)?;
        let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.as_slice()).ok()?);
        let mut bytes = Zeroizing::new(ciphertext.to_vec());
        let length = key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut bytes).ok()?.len();
        bytes.truncate(length);
        Some(bytes)
    }
}

/// `ExtractAndExpand` of the KEM.
fn shared_secret(secret: &[u8], context: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    let extracted = extract(&[], KEM_SUITE, b"eae_prk", secret);
    let mut shared = Zeroizing::new([0; 32]);
    expand(&extracted, KEM_SUITE, b"shared_secret", context, shared.as_mut())?;
    Some(shared)
}

/// `KeySchedule` of the mode `base`. Returns the key and the nonce of the first message.
fn key_schedule<const KEY: usize>(
    suite: &[u8],
    shared: &[u8; 32],
    info: &[u8],
) -> Option<(Zeroizing<[u8; KEY]>, [u8; NONCE_LEN])> {
    // The mode `base` is 0 and has an empty identifier of a pre-shared key.
    let context = [&[0], hash(suite, b"psk_id_hash", b"").as_ref(), hash(suite, b"info_hash", info).as_ref()].concat();
    let secret = extract(shared, suite, b"secret", b"");
    let mut key = Zeroizing::new([0; KEY]);
    let mut nonce = [0; NONCE_LEN];
    expand(&secret, suite, b"key", &context, key.as_mut())?;
    expand(&secret, suite, b"base_nonce", &context, &mut nonce)?;
    Some((key, nonce))
}

/// `LabeledExtract` without a salt, whose result is bytes. HKDF-Extract is HMAC with the salt as
/// key.
fn hash(suite: &[u8], label: &[u8], input: &[u8]) -> Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &[]), &[LABEL, suite, label, input].concat())
}

/// `LabeledExtract`.
fn extract(salt: &[u8], suite: &[u8], label: &[u8], input: &[u8]) -> Prk {
    Salt::new(HKDF_SHA256, salt).extract(&Zeroizing::new([LABEL, suite, label, input].concat()))
}

/// The length of an output of HKDF.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// `LabeledExpand`, which fills `out`.
fn expand(key: &Prk, suite: &[u8], label: &[u8], info: &[u8], out: &mut [u8]) -> Option<()> {
    let length = u16::try_from(out.len()).ok()?.to_be_bytes();
    let info = [&length[..], LABEL, suite, label, info];
    key.expand(&info, Length(out.len())).ok()?.fill(out).ok()
}

#[cfg(test)]
pub mod testing {
    //! The embedder's side of the seal.
    use super::*;

    /// Seals a message to a public key.
    pub fn seal(public: [u8; KEY_BYTES], info: &[u8], plain: &[u8]) -> Vec<u8> {
        let sender = x25519_dalek::StaticSecret::from([9; 32]);
        let mine = x25519_dalek::PublicKey::from(&sender).to_bytes();
        let secret = sender.diffie_hellman(&public.into());
        let shared = shared_secret(secret.as_bytes(), &[mine, public].concat()).unwrap();
        let (key, nonce) = key_schedule::<AEAD_KEY_BYTES>(SUITE, &shared, info).unwrap();
        let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.as_slice()).unwrap());
        let mut bytes = plain.to_vec();
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut bytes).unwrap();
        [mine.to_vec(), bytes].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::seal;
    use super::*;

    #[test]
    fn opens_one_message_that_was_sealed_to_the_key() {
        let key = OpeningKey::new().unwrap();
        let sealed = seal(key.public(), b"info", b"plain text");
        assert_eq!(key.open(b"info", &sealed).unwrap().as_slice(), b"plain text");
        let another = || OpeningKey::new().unwrap();
        assert!(another().open(b"info", &sealed).is_none(), "another key");
        let key = another();
        let sealed = seal(key.public(), b"info", b"plain text");
        assert!(key.open(b"other", &sealed).is_none(), "another info");
        for at in [0, 31, 32, 45] {
            let key = another();
            let mut sealed = seal(key.public(), b"info", b"plain text");
            sealed[at] ^= 1;
            assert!(key.open(b"info", &sealed).is_none(), "{at}");
        }
        for length in [0, 31, 32, 47] {
            let key = another();
            let sealed = seal(key.public(), b"info", b"plain text");
            assert!(key.open(b"info", &sealed[..length]).is_none(), "{length}");
        }
        assert!(another().open(b"info", &[0; 64]).is_none(), "a point of small order");
    }

    /// RFC 9180, A.1.1. The suite of the vector has AES-128-GCM.
    #[test]
    fn derives_the_key_of_the_published_vector() {
        let bytes = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
        };
        let array = |text: &str| -> [u8; 32] { bytes(text).try_into().unwrap() };
        let sender = array("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431");
        let receiver = array("3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d");
        let private = array("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8");
        let secret = x25519_dalek::StaticSecret::from(private).diffie_hellman(&sender.into());
        let shared = shared_secret(secret.as_bytes(), &[sender, receiver].concat()).unwrap();
        assert_eq!(*shared, array("fe0e18c9f024ce43799ae393c7e8fe8fce9d218875e8227b0187c04e7d2ea1fc"));
        let info = bytes("4f6465206f6e2061204772656369616e2055726e");
        let (key, nonce) = key_schedule::<16>(b"HPKE\x00\x20\x00\x01\x00\x01", &shared, &info).unwrap();
        assert_eq!(key.to_vec(), bytes("4531685d41d65f03dc48f6b8302c05b0"));
        assert_eq!(nonce.to_vec(), bytes("56d890e5accaaf011cff4b7d"));
    }
}
