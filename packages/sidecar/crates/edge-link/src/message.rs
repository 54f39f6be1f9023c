//! The encoding of messages. Next: `to_edge.rs`.
//!
//! A message is a variant of an enum, and each variant has one kind. The payload of a variant is
//! its fields in their order, in the format of postcard, whose code is smaller than MessagePack's.
//! The macro [`messages`] declares an enum with its kinds, so that encoder and decoder cannot
//! differ.

use crate::frames::{self, Frame, Invalid, MAX_DATA_BYTES, MAX_FRAME_BYTES};
use displaydoc::Display;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message that does not become a frame.
#[derive(Debug, Clone, PartialEq, Eq, Display, thiserror::Error)]
pub enum Unencodable {
    /// a message of {bytes} bytes is larger than the limit of {most} bytes
    TooLong {
        /// The bytes that the message needs.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// a message cannot be encoded: {0}
    Value(String),
}

/// A message of one direction.
pub trait Message<'a>: Sized {
    /// Appends the message's frame to `out`.
    ///
    /// # Errors
    /// Fails if the message is longer than a frame, or data is longer than [`MAX_DATA_BYTES`].
    /// `out` then has its former length.
    fn encode(&self, id: u32, out: &mut Vec<u8>) -> Result<(), Unencodable>;

    /// Decodes the message of a frame. Data refers to the frame's payload.
    ///
    /// # Errors
    /// Fails if the kind is unknown or the payload is wrong.
    fn decode(frame: Frame<'a>) -> Result<Self, Invalid>;
}

pub(crate) fn encode_fields(kind: u8, id: u32, fields: &impl Serialize, out: &mut Vec<u8>) -> Result<(), Unencodable> {
    let unencodable = |error: postcard::Error| Unencodable::Value(error.to_string());
    let payload = |out: &mut Vec<u8>| postcard::to_extend(fields, Append(out)).map(drop).map_err(unencodable);
    frames::write(out, kind, id, payload, |bytes| Unencodable::TooLong { bytes, most: MAX_FRAME_BYTES })
}

/// Appends to a vector that the caller keeps after an error.
struct Append<'a>(&'a mut Vec<u8>);

impl Extend<u8> for Append<'_> {
    fn extend<I: IntoIterator<Item = u8>>(&mut self, bytes: I) {
        self.0.extend(bytes);
    }
}

pub(crate) fn encode_bytes(kind: u8, id: u32, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Unencodable> {
    let too_long = |bytes| Unencodable::TooLong { bytes, most: MAX_DATA_BYTES };
    let payload = |out: &mut Vec<u8>| {
        if bytes.len() > MAX_DATA_BYTES {
            return Err(too_long(bytes.len()));
        }
        out.extend_from_slice(bytes);
        Ok(())
    };
    frames::write(out, kind, id, payload, too_long)
}

pub(crate) fn decode_fields<T: DeserializeOwned>(message: &'static str, payload: &[u8]) -> Result<T, Invalid> {
    let decoded = postcard::take_from_bytes(payload);
    let (value, rest) = decoded.map_err(|error| Invalid::Payload { message, fault: error.to_string() })?;
    if rest.is_empty() { Ok(value) } else { Err(Invalid::Payload { message, fault: format!("{} bytes too many", rest.len()) }) }
}

pub(crate) fn decode_bytes<'a>(message: &'static str, payload: &'a [u8]) -> Result<&'a [u8], Invalid> {
    match payload.len() {
        1..=MAX_DATA_BYTES => Ok(payload),
        bytes => Err(Invalid::Payload { message, fault: format!("{bytes} bytes, expected 1 to {MAX_DATA_BYTES}") }),
    }
}

/// Declares the messages of one direction: the kind, the variant, and its fields.
macro_rules! messages {
    (
        $(#[$doc:meta])* $name:ident;
        $(#[$data_doc:meta])* $data_kind:literal Data;
        $($(#[$variant_doc:meta])* $kind:literal $variant:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? };)*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $name<'a> {
            $(#[$data_doc])*
            Data(&'a [u8]),
            $($(#[$variant_doc])* $variant { $($(#[$field_doc])* $field: $type),* },)*
        }

        impl $name<'_> {
            /// The kind of a frame with data.
            pub const DATA_KIND: u8 = $data_kind;
        }

        impl<'a> $crate::message::Message<'a> for $name<'a> {
            fn encode(&self, id: u32, out: &mut Vec<u8>) -> Result<(), $crate::message::Unencodable> {
                match self {
                    Self::Data(bytes) => $crate::message::encode_bytes($data_kind, id, bytes, out),
                    $(Self::$variant { $($field),* } => $crate::message::encode_fields($kind, id, &($($field,)*), out),)*
                }
            }

            fn decode(frame: $crate::frames::Frame<'a>) -> Result<Self, $crate::frames::Invalid> {
                match frame.kind {
                    $data_kind => Ok(Self::Data($crate::message::decode_bytes("Data", frame.payload)?)),
                    $($kind => {
                        #[allow(clippy::unused_unit, clippy::let_unit_value, reason = "a message may have no fields")]
                        let ($($field,)*): ($($type,)*) = $crate::message::decode_fields(stringify!($variant), frame.payload)?;
                        Ok(Self::$variant { $($field),* })
                    })*
                    kind => Err($crate::frames::Invalid::Kind(kind)),
                }
            }
        }
    };
}

pub(crate) use messages;
