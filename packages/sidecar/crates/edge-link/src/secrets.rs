//! The messages of a secrets socket, on which the values of one runtime's secrets arrive.
//!
//! The embedder makes a pair of Unix stream sockets, and passes one end to the edge through the
//! sidecar ([`crate::ToEdge::SecretsOpen`]). The values move on the pair alone, so the memory of
//! the sidecar never has a value. A socket belongs to one runtime, so no embedder can name another
//! embedder's runtime.
//!
//! Frame: `u32 LE length of the rest | u8 kind | u32 LE id | MessagePack payload`. A payload is an
//! array of the fields in their order, or a map. Each request has one reply with its id. The end of
//! the socket leaves the secrets unchanged. They end with the runtime. Next: `window.rs`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest frame, without its length field.
pub const MAX_SECRET_FRAME_BYTES: usize = 64 << 10;
/// The bytes of a frame's kind and id.
pub const SECRET_HEAD_BYTES: usize = 5;

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

/// A secret, without its name in the runtime's table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretSet<'a> {
    /// The name.
    pub name: &'a str,
    /// The text that the guest has. `None` if only rules use the secret.
    pub placeholder: Option<&'a str>,
    /// The value. `None` if the value is missing.
    #[serde(borrow)]
    pub value: Option<SecretBytes<'a>>,
    /// The hosts, such as `api.example.com` and `*.example.com:8443`.
    pub hosts: Vec<&'a str>,
    /// The places, such as `header:authorization`. `None` means the default headers.
    pub places: Option<Vec<&'a str>>,
    /// Whether connections without TLS may carry the value.
    pub insecure: bool,
}

/// A request on a secrets socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretRequest<'a> {
    /// Sets a secret, or replaces the secret with the name. Kind 1.
    Set(SecretSet<'a>),
    /// Replaces the value of a secret. `None` makes the value missing. Kind 2.
    Value {
        /// The name.
        name: &'a str,
        /// The value.
        value: Option<SecretBytes<'a>>,
    },
    /// Removes a secret. Kind 3.
    Remove {
        /// The name.
        name: &'a str,
    },
}

/// The reply to a request. Kind 1 is success, kind 2 a failure with `what` and `expected`.
pub type SecretReply<'a> = Result<(), (&'a str, &'a str)>;

const SET: u8 = 1;
const VALUE: u8 = 2;
const REMOVE: u8 = 3;
const DONE: u8 = 1;
const FAILED: u8 = 2;

impl<'a> SecretRequest<'a> {
    /// Decodes the rest of a frame behind its length. Returns the id and the request.
    pub fn decode(frame: &'a [u8]) -> Option<(u32, Self)> {
        let (kind, rest) = frame.split_first()?;
        let (id, payload) = rest.split_first_chunk::<4>()?;
        let request = match *kind {
            SET => Self::Set(rmp_serde::from_slice(payload).ok()?),
            VALUE => {
                let (name, value) = rmp_serde::from_slice(payload).ok()?;
                Self::Value { name, value }
            }
            REMOVE => {
                let (name,) = rmp_serde::from_slice(payload).ok()?;
                Self::Remove { name }
            }
            _ => return None,
        };
        Some((u32::from_le_bytes(*id), request))
    }

    /// Encodes a whole frame. Returns `None` if the frame would be too long.
    pub fn encode(&self, id: u32) -> Option<Vec<u8>> {
        match self {
            Self::Set(secret) => frame(SET, id, secret),
            Self::Value { name, value } => frame(VALUE, id, &(name, value)),
            Self::Remove { name } => frame(REMOVE, id, &(name,)),
        }
    }
}

/// Encodes the frame of a reply.
pub fn encode_secret_reply(id: u32, reply: SecretReply<'_>) -> Option<Vec<u8>> {
    match reply {
        Ok(()) => frame(DONE, id, &()),
        Err(failure) => frame(FAILED, id, &failure),
    }
}

/// Decodes the rest of a reply's frame behind its length. Returns the id and the reply.
pub fn decode_secret_reply(frame: &[u8]) -> Option<(u32, SecretReply<'_>)> {
    let (kind, rest) = frame.split_first()?;
    let (id, payload) = rest.split_first_chunk::<4>()?;
    let reply = match *kind {
        DONE => Ok(()),
        FAILED => Err(rmp_serde::from_slice(payload).ok()?),
        _ => return None,
    };
    Some((u32::from_le_bytes(*id), reply))
}

fn frame(kind: u8, id: u32, payload: &impl Serialize) -> Option<Vec<u8>> {
    let payload = rmp_serde::to_vec(payload).ok()?;
    let length = SECRET_HEAD_BYTES + payload.len();
    let head = u32::try_from(length).ok().filter(|_| length <= MAX_SECRET_FRAME_BYTES)?;
    Some([&head.to_le_bytes()[..], &[kind], &id.to_le_bytes(), &payload].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_and_replies_survive_their_encoding() {
        let set = SecretSet {
            name: "KEY",
            placeholder: Some("cfs_AAAAAAAAAAAAAAAAAAAA"),
            value: Some(SecretBytes(b"value")),
            hosts: vec!["api.test"],
            places: Some(vec!["header:x-token"]),
            insecure: true,
        };
        for request in [
            SecretRequest::Set(set),
            SecretRequest::Value { name: "KEY", value: None },
            SecretRequest::Value { name: "KEY", value: Some(SecretBytes(b"\xff")) },
            SecretRequest::Remove { name: "KEY" },
        ] {
            let bytes = request.encode(7).unwrap();
            assert_eq!(usize::try_from(u32::from_le_bytes(bytes[..4].try_into().unwrap())).unwrap(), bytes.len() - 4);
            assert_eq!(SecretRequest::decode(&bytes[4..]), Some((7, request.clone())));
            assert!(!format!("{request:?}").contains("118, 97"), "a value is not printed");
        }
        for reply in [Ok(()), Err(("name", "a name"))] {
            let bytes = encode_secret_reply(9, reply).unwrap();
            assert_eq!(decode_secret_reply(&bytes[4..]), Some((9, reply)));
        }
        assert_eq!(SecretRequest::Value { name: "A", value: Some(SecretBytes(&[0; 65_536])) }.encode(1), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some((id, request)) = SecretRequest::decode(&bytes) {
                let again = request.encode(id).unwrap();
                prop_assert_eq!(SecretRequest::decode(&again[4..]), Some((id, request)));
            }
            let _ = decode_secret_reply(&bytes);
        }
    }
}
