//! The value of a secret. The type has no `Debug`, and overwrites the bytes when it is dropped.
//! Next: `placeholder.rs`.

use displaydoc::Display;
use zeroize::Zeroizing;

/// The maximum length of a value, in bytes: a header has at most 64 KiB, and a rule can use several
/// secrets.
pub const MAX_VALUE_BYTES: usize = 16 << 10;

/// The value of a secret.
#[derive(Clone)]
pub struct SecretValue(Zeroizing<Vec<u8>>);

/// The reason why bytes are no value of a secret. The reason contains no part of the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, thiserror::Error)]
pub enum InvalidValue {
    /// a value of at least one byte
    Empty,
    /// a value of at most 16384 bytes
    TooLong,
    /// a value without control bytes, because a line break would begin another header
    Control,
    /// a value that does not begin or end with a space
    Space,
}

impl SecretValue {
    /// Checks a value, and takes its bytes. Bytes that are refused are overwritten.
    ///
    /// # Errors
    /// Fails if the value cannot be a part of a header.
    pub fn new(bytes: Vec<u8>) -> Result<Self, InvalidValue> {
        let bytes = Zeroizing::new(bytes);
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return Err(InvalidValue::Empty) };
        if bytes.len() > MAX_VALUE_BYTES {
            return Err(InvalidValue::TooLong);
        }
        if bytes.iter().any(|byte| *byte < 0x20 || *byte == 0x7f) {
            return Err(InvalidValue::Control);
        }
        if *first == b' ' || *last == b' ' {
            return Err(InvalidValue::Space);
        }
        Ok(Self(bytes))
    }

    /// Returns the value as a part of a query.
    pub(crate) fn percent_encoded(&self) -> Self {
        let mut out = Zeroizing::new(Vec::with_capacity(self.0.len() * 3));
        for byte in self.0.iter() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
                out.push(*byte);
            } else {
                let digit = |value: u8| b"0123456789ABCDEF".get(usize::from(value)).copied().unwrap_or_default();
                out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
        Self(out)
    }

    /// Returns the bytes.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_a_query_has_no_separator() {
        let value = SecretValue::new("a&b=c d+é/".as_bytes().to_vec()).unwrap();
        assert_eq!(value.percent_encoded().expose(), b"a%26b%3Dc%20d%2B%C3%A9%2F");
    }

    #[test]
    fn refuses_values_that_could_not_be_part_of_a_header() {
        let refused = |bytes: &[u8]| SecretValue::new(bytes.to_vec()).err();
        assert_eq!(refused(b"sk-1 2"), None);
        assert_eq!(refused("pässword".as_bytes()), None);
        assert_eq!(refused(b""), Some(InvalidValue::Empty));
        assert_eq!(refused(&[b'a'; MAX_VALUE_BYTES + 1]), Some(InvalidValue::TooLong));
        for bytes in [b"a\r\nb".as_slice(), b"a\0", b"\ta", b"a\x7f", b"a\n"] {
            assert_eq!(refused(bytes), Some(InvalidValue::Control), "{bytes:?}");
        }
        assert_eq!((refused(b" a"), refused(b"a ")), (Some(InvalidValue::Space), Some(InvalidValue::Space)));
    }
}
