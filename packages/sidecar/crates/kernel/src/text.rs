//! [`Text`]: a piece of a shared text.
//!
//! A guest can pass tens of thousands of arguments and variables to a child. All pieces of one call
//! share one buffer, so that a piece costs neither an allocation nor a copy. The buffer lives as
//! long as its last piece. Next: `processes/spec.rs`, which divides the texts of a call.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A piece of a shared text. Cheap to clone.
#[derive(Clone)]
pub struct Text {
    buffer: Arc<str>,
    range: Range<usize>,
}

/// The variables of an environment: names and values.
pub type Variables = Vec<(Text, Text)>;

impl Text {
    /// Returns the part of this text in `range`, in bytes. Returns an empty text if the range does
    /// not begin and end at characters of the text.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        let is_part = self.get(range.clone()).is_some();
        let range = if is_part { self.range.start + range.start..self.range.start + range.end } else { 0..0 };
        Self { buffer: self.buffer.clone(), range }
    }

    /// Divides the text at the first `separator`, which is in no part.
    pub fn split_once(&self, separator: char) -> Option<(Self, Self)> {
        let at = self.find(separator)?;
        Some((self.part(0..at), self.part(at + separator.len_utf8()..self.len())))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        // A range is made by `part` or is the whole buffer, so the range is always in the buffer.
        self.buffer.get(self.range.clone()).unwrap_or_default()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self { buffer: text.into(), range: 0..text.len() }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        &**self == *other
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        str::hash(self, state);
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&**self, formatter)
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Copies variables into one shared buffer.
pub fn variables<S: AsRef<str>>(env: &[(S, S)]) -> Variables {
    let all: String = env.iter().flat_map(|(name, value)| [name.as_ref(), value.as_ref()]).collect();
    let (all, mut at) = (Text::from(all), 0);
    let mut next = |text: &S| {
        let range = at..at + text.as_ref().len();
        at = range.end;
        all.part(range)
    };
    env.iter().map(|(name, value)| (next(name), next(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_the_buffer_and_are_always_texts() {
        let text = Text::from("grün=a=b");
        assert_eq!(text.split_once('='), Some((Text::from("grün"), Text::from("a=b"))));
        assert_eq!(text.split_once('-'), None);
        let value = text.part(6..9);
        assert_eq!(value, "a=b");
        assert!(Arc::ptr_eq(&text.buffer, &value.part(2..3).buffer));
        assert_eq!(value.part(2..3), "b");
        for wrong in [0..3, 3..4, 8..99] {
            assert_eq!(text.part(wrong.clone()), "", "{wrong:?}");
        }
    }

    #[test]
    fn variables_keep_their_order_and_content() {
        let env = [("A", "1"), ("EMPTY", ""), ("B", "zwei")];
        let texts = variables(&env);
        assert_eq!(texts, env.map(|(name, value)| (Text::from(name), Text::from(value))));
    }
}
