//! The error of a wrong body: the field, the expectation and the received value.
//!
//! serde reports the expectation and the value of the innermost wrong value. [`crate::reader`] then
//! prefixes the path with the name of each enclosing value. The session sends the error as
//! `ERR_INVALID_REQUEST`.

use std::fmt;

use serde::de::{self, Unexpected};

/// A body or a field with a wrong value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The path of the field, beginning with the message's name.
    pub what: String,
    /// The expected value, in words.
    pub expected: String,
    /// The received value, shortened.
    pub received: String,
}

impl Invalid {
    pub(crate) fn new(expected: impl fmt::Display, received: impl Into<String>) -> Self {
        Self { what: String::new(), expected: expected.to_string(), received: received.into() }
    }

    /// Prefixes the path with the name of the enclosing value.
    pub fn within(mut self, outer: &str) -> Self {
        let joint = if self.what.is_empty() || self.what.starts_with('[') { "" } else { "." };
        self.what = format!("{outer}{joint}{}", self.what);
        self
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, received {}", self.what, self.expected, self.received)
    }
}

impl std::error::Error for Invalid {}

impl de::Error for Invalid {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new("a valid value", message.to_string())
    }
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(plain(expected), describe(unexpected))
    }
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(plain(expected), describe(unexpected))
    }
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format_args!("one of {}", expected.join(", ")), describe(Unexpected::Str(variant)))
    }
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let known = if expected.is_empty() { "no keys".to_owned() } else { format!("only the keys {}", expected.join(", ")) };
        Self::new(known, "an unknown key").within(&shortened(field))
    }
    fn missing_field(field: &'static str) -> Self {
        Self::new("a value", "nothing").within(field)
    }
    fn duplicate_field(field: &'static str) -> Self {
        Self::new("one value", "two").within(field)
    }
}

/// Translates serde's expectation into words without Rust's types.
fn plain(expected: &dyn de::Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "a borrowed string" => "a string".to_owned(),
        "a borrowed byte array" => "binary data".to_owned(),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "a nonzero u32" => format!("a whole number from 1 to {}", u32::MAX),
        "u64" => "a whole number from 0".to_owned(),
        _ => text,
    }
}

fn describe(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Str(text) => format!("string {:?}", shortened(text)),
        Unexpected::Signed(n) => format!("number {n}"),
        Unexpected::Unsigned(n) => format!("number {n}"),
        Unexpected::Float(n) => format!("number {n}"),
        Unexpected::Bytes(_) => "binary data".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Unit | Unexpected::Option => "nil".to_owned(),
        other => other.to_string(),
    }
}

/// Shortens a text of the peer to 60 characters, for an error's message.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
