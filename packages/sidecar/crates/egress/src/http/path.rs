//! The one form of a request's path. Rules compare paths, and the upstream receives this form.
//!
//! Percent-encoded letters, digits, `-`, `.`, `_` and `~` are decoded, other encodings have
//! capitals. Empty segments and dot segments are removed. Texts that servers read in different ways
//! are refused: an encoded slash, backslash or control byte, a backslash, and parameters of a dot
//! segment (`/..;x/`). Next: `pattern.rs`.

use std::fmt;

/// The maximum length of a path that rules judge, in bytes.
pub const MAX_PATH_BYTES: usize = 8_192;

/// A normalised path, which begins with `/` and has no query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestPath(String);

impl RequestPath {
    /// Returns the normalised form. Returns `None` if servers could read the path in different
    /// ways, or the path is longer than [`MAX_PATH_BYTES`].
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_PATH_BYTES || !text.starts_with('/') {
            return None;
        }
        let decoded = decode(text)?;
        let mut segments: Vec<&str> = Vec::new();
        let mut ends_with_slash = false;
        for segment in decoded.split('/') {
            ends_with_slash = matches!(segment, "" | "." | "..");
            match segment {
                "" | "." => {}
                ".." => drop(segments.pop()),
                other if has_dot_parameters(other) => return None,
                other => segments.push(other),
            }
        }
        let mut path = String::with_capacity(decoded.len());
        for segment in &segments {
            path.push('/');
            path.push_str(segment);
        }
        if ends_with_slash || segments.is_empty() {
            path.push('/');
        }
        Some(Self(path))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the segments. The last segment is empty if the path ends with a slash.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').skip(1)
    }
}

impl fmt::Display for RequestPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn decode(text: &str) -> Option<String> {
    let mut decoded = String::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let value = u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()?;
                match value {
                    b'/' | b'\\' | 0..=0x1f | 0x7f => return None,
                    value if is_unreserved(value) => decoded.push(char::from(value)),
                    _ => {
                        decoded.push('%');
                        digits.iter().for_each(|digit| decoded.push(char::from(digit.to_ascii_uppercase())));
                    }
                }
            }
            b'?' | b'#' | b'\\' => return None,
            0x21..=0x7e => decoded.push(char::from(byte)),
            _ => return None,
        }
    }
    Some(decoded)
}

/// Returns whether a segment is a dot segment with parameters, which some servers remove before
/// they read dot segments.
fn has_dot_parameters(segment: &str) -> bool {
    let name = segment.find(';').into_iter().chain(segment.find("%3B")).min().and_then(|end| segment.get(..end));
    matches!(name, Some("." | ".."))
}
