//! The text that a guest has in place of a secret: a prefix and random characters.
//!
//! The default is `cfs_` and 32 characters. A library that tests the form of a key needs another
//! prefix or length. The random part has at least 16 characters, so that no text of a program is a
//! placeholder by chance. Next: `place.rs`.

use displaydoc::Display;

/// The letters and digits of the random part. 62 of 256 values are equally likely after the values
/// from 248 on are skipped.
const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// The first random byte that is skipped.
const SKIPPED: u8 = 248;
/// The minimum number of random characters.
const LEAST_RANDOM: usize = 16;
/// The maximum length, in bytes.
const MAX_BYTES: usize = 256;

/// The form of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceholderShape {
    /// The text before the random characters.
    pub prefix: String,
    /// The number of random characters.
    pub length: usize,
}

impl Default for PlaceholderShape {
    fn default() -> Self {
        Self { prefix: "cfs_".to_owned(), length: 32 }
    }
}

/// A placeholder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placeholder(Box<str>);

/// The reason why a text or a form is no placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, thiserror::Error)]
pub enum InvalidPlaceholder {
    /// a placeholder of letters, digits and the characters - . _ ~
    Character,
    /// a placeholder of at least 16 random characters, and of at most 256 characters
    Length,
    /// {needed} random bytes at least
    Random {
        /// The number of bytes that a form can need.
        needed: usize,
    },
}

impl PlaceholderShape {
    /// Returns the number of random bytes that a placeholder needs. A byte is skipped with a
    /// probability of 1/32, so that these bytes do not suffice with a probability below 2⁻⁶⁴.
    pub fn random_bytes(&self) -> usize {
        self.length.saturating_mul(2).saturating_add(32)
    }
}

impl Placeholder {
    /// Makes a placeholder from random bytes.
    ///
    /// # Errors
    /// Fails if the form is wrong, or too few of the bytes can be used.
    pub fn new(shape: &PlaceholderShape, random: &[u8]) -> Result<Self, InvalidPlaceholder> {
        if shape.length < LEAST_RANDOM {
            return Err(InvalidPlaceholder::Length);
        }
        let usable = random.iter().filter(|byte| **byte < SKIPPED).take(shape.length);
        let mut text = shape.prefix.clone();
        text.extend(usable.filter_map(|byte| ALPHABET.get(usize::from(*byte) % ALPHABET.len())).map(|byte| char::from(*byte)));
        if text.len() < shape.prefix.len() + shape.length {
            return Err(InvalidPlaceholder::Random { needed: shape.random_bytes() });
        }
        Self::parse(&text)
    }

    /// Checks a placeholder that was made before.
    ///
    /// # Errors
    /// Fails if the text is no placeholder.
    pub fn parse(text: &str) -> Result<Self, InvalidPlaceholder> {
        if !(LEAST_RANDOM..=MAX_BYTES).contains(&text.len()) {
            return Err(InvalidPlaceholder::Length);
        }
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if text.bytes().all(is_known) { Ok(Self(text.into())) } else { Err(InvalidPlaceholder::Character) }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn has_a_prefix_and_random_characters() {
        let made = Placeholder::new(&PlaceholderShape::default(), &[0; 96]).unwrap();
        assert_eq!(made.as_str(), format!("cfs_{}", "A".repeat(32)));
        let shape = |prefix: &str, length| PlaceholderShape { prefix: prefix.to_owned(), length };
        assert_eq!(Placeholder::new(&shape("sk-", 15), &[0; 96]), Err(InvalidPlaceholder::Length));
        assert_eq!(Placeholder::new(&shape("sk ", 20), &[0; 96]), Err(InvalidPlaceholder::Character));
        assert_eq!(Placeholder::new(&shape("sk-", 300), &[0; 900]), Err(InvalidPlaceholder::Length));
        assert_eq!(Placeholder::new(&shape("", 20), &[255; 96]), Err(InvalidPlaceholder::Random { needed: 72 }));
    }

    proptest! {
        #[test]
        fn different_random_bytes_make_different_placeholders(one in any::<[u8; 96]>(), two in any::<[u8; 96]>()) {
            let make = |bytes: &[u8]| Placeholder::new(&PlaceholderShape::default(), bytes);
            let usable = |bytes: &[u8; 96]| -> Vec<u8> {
                bytes.iter().filter(|byte| **byte < 248).take(32).map(|byte| byte % 62).collect()
            };
            if let (Ok(first), Ok(second)) = (make(&one), make(&two)) {
                prop_assert_eq!(first == second, usable(&one) == usable(&two));
                prop_assert_eq!(first.as_str().len(), 36);
            }
        }
    }
}
