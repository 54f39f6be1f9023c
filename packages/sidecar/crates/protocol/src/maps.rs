//! Maps with arbitrary keys: environments, labels, files, limits and the facts of an error.
//!
//! A map is stored as a list of entries in the written order. No function of this module looks up a
//! key, and decoding a list is cheaper than building a hash map. [`crate::reader`] bounds the
//! number of entries.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value in an error's `details`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A whole number.
    Number(i64),
    /// Text.
    Text(String),
}

/// A map from names to texts, in the written order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pairs<'a>(pub Vec<(&'a str, &'a str)>);

/// A map from names to binary data, in the written order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blobs<'a>(pub Vec<(&'a str, &'a [u8])>);

/// A map from names to whole numbers, in the written order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Numbers<'a>(pub Vec<(&'a str, u64)>);

/// A map from names to facts, in the written order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Details(pub Vec<(Cow<'static, str>, Fact)>);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

impl Serialize for Blobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, bytes)| (name, serde_bytes::Bytes::new(bytes))))
    }
}

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

impl Serialize for Details {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, fact)| (name, fact)))
    }
}

impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(n) => serializer.serialize_i64(*n),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// Reads the entries of a map in their order.
fn entries<'de, K: Deserialize<'de>, V: Deserialize<'de>, A: MapAccess<'de>>(mut map: A) -> Result<Vec<(K, V)>, A::Error> {
    let mut all = Vec::with_capacity(map.size_hint().unwrap_or(0));
    while let Some(entry) = map.next_entry()? {
        all.push(entry);
    }
    Ok(all)
}

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Strings;
        impl<'de> Visitor<'de> for Strings {
            type Value = Pairs<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of strings")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                entries(map).map(Pairs)
            }
        }
        deserializer.deserialize_map(Strings)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Blobs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Binaries;
        impl<'de> Visitor<'de> for Binaries {
            type Value = Blobs<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of binary data")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let all: Vec<(&str, &serde_bytes::Bytes)> = entries(map)?;
                Ok(Blobs(all.into_iter().map(|(name, bytes)| (name, &**bytes)).collect()))
            }
        }
        deserializer.deserialize_map(Binaries)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Numbers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl<'de> Visitor<'de> for Whole {
            type Value = Numbers<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of whole numbers")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                entries(map).map(Numbers)
            }
        }
        deserializer.deserialize_map(Whole)
    }
}

impl<'de> Deserialize<'de> for Details {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Facts;
        impl<'de> Visitor<'de> for Facts {
            type Value = Details;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of facts")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let all: Vec<(String, Fact)> = entries(map)?;
                Ok(Details(all.into_iter().map(|(name, fact)| (Cow::Owned(name), fact)).collect()))
            }
        }
        deserializer.deserialize_map(Facts)
    }
}

impl<'de> Deserialize<'de> for Fact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrText;
        impl Visitor<'_> for NumberOrText {
            type Value = Fact;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number or a string")
            }
            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<Fact, E> {
                Ok(Fact::Number(n))
            }
            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Fact, E> {
                i64::try_from(n).map(Fact::Number).map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(n), &self))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Fact, E> {
                Ok(Fact::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(NumberOrText)
    }
}
