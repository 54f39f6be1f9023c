//! The values of secrets, which the embedder seals for the edge.
//!
//! ```text
//! embedder ◄── SecretsKey ── sidecar ◄── SecretsKey ── edge   a public key, for one message
//!          ── SecretsPut ──►         ── SecretsPut ──►        values, sealed to the key
//! ```
//! The sidecar passes sealed bytes on, so the memory of the sidecar never has a value. The seal is
//! HPKE (RFC 9180) in the mode `base` with X25519, HKDF-SHA256 and AES-256-GCM, with [`SEAL_INFO`]
//! as `info` and without associated data. The sealed bytes are the public key of the sender and
//! the ciphertext. A key belongs to one runtime, and the names are sealed too. Therefore a value
//! can move neither to another runtime nor to another name, and an earlier value cannot return.
//!
//! The values are MessagePack: an array of entries, each an array of a name, a state and parts.
//! Next: `window.rs`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest number of sealed bytes of one message.
pub const MAX_SEALED_BYTES: usize = 256 << 10;
/// The parameter `info` of the seal.
pub const SEAL_INFO: &[u8] = b"coldframe secrets";

/// The bytes of a value. The type has no `Debug` that prints the bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SecretBytes<'a>(pub &'a [u8]);

impl std::fmt::Debug for SecretBytes<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SecretBytes")
    }
}

impl Serialize for SecretBytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for SecretBytes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'a [u8]>::deserialize(deserializer).map(Self)
    }
}

/// The state of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueState {
    /// The embedder has no value. State 0, without parts.
    Missing,
    /// The value is the only part. State 1.
    Value,
    /// The embedder cannot get the value at present. State 2, without parts.
    Unavailable,
    /// Credentials for signatures of AWS: access key id, secret access key, and perhaps a session
    /// token. State 3.
    Aws,
}

impl ValueState {
    const ALL: [Self; 4] = [Self::Missing, Self::Value, Self::Unavailable, Self::Aws];

    fn has_parts(self, count: usize) -> bool {
        match self {
            Self::Missing | Self::Unavailable => count == 0,
            Self::Value => count == 1,
            Self::Aws => count == 2 || count == 3,
        }
    }
}

/// The value of one secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedValue<'a> {
    /// The name of the secret.
    pub name: &'a str,
    /// The state.
    pub state: ValueState,
    /// The parts, as the state requires.
    pub parts: Vec<SecretBytes<'a>>,
}

/// Decodes opened values. Returns `None` if the bytes are no values.
pub fn decode_values(bytes: &[u8]) -> Option<Vec<SealedValue<'_>>> {
    let entries: Vec<(&str, usize, Vec<SecretBytes<'_>>)> = rmp_serde::from_slice(bytes).ok()?;
    let value = |(name, state, parts): (_, usize, Vec<_>)| {
        let state = *ValueState::ALL.get(state)?;
        state.has_parts(parts.len()).then_some(SealedValue { name, state, parts })
    };
    entries.into_iter().map(value).collect()
}

/// Encodes values. Returns `None` if the values cannot be encoded.
pub fn encode_values(values: &[SealedValue<'_>]) -> Option<Vec<u8>> {
    let number = |state| ValueState::ALL.iter().position(|one| *one == state);
    let entries: Vec<_> = values.iter().map(|value| (value.name, number(value.state), &value.parts)).collect();
    rmp_serde::to_vec(&entries).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_survive_their_encoding_and_are_not_printed() {
        let parts = |parts: &[&'static [u8]]| parts.iter().map(|part| SecretBytes(part)).collect();
        let values = [
            SealedValue { name: "A", state: ValueState::Value, parts: parts(&[b"value"]) },
            SealedValue { name: "B", state: ValueState::Missing, parts: parts(&[]) },
            SealedValue { name: "C", state: ValueState::Unavailable, parts: parts(&[]) },
            SealedValue { name: "D", state: ValueState::Aws, parts: parts(&[b"id", b"\xff"]) },
        ];
        let bytes = encode_values(&values).unwrap();
        assert_eq!(decode_values(&bytes), Some(values.to_vec()));
        assert!(!format!("{values:?}").contains("118, 97"));
        let wrong = SealedValue { name: "A", state: ValueState::Value, parts: parts(&[]) };
        assert_eq!(decode_values(&encode_values(&[wrong]).unwrap()), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_values_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(values) = decode_values(&bytes) {
                let again = encode_values(&values).unwrap();
                prop_assert_eq!(decode_values(&again), Some(values));
            }
        }
    }
}
