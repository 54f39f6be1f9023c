//! The places of a request in which a placeholder becomes the value. Only headers are places:
//! servers repeat bodies and queries in their responses and logs. Next: `swap.rs`.

use displaydoc::Display;

/// The headers that are places of a secret without a list of places.
pub const DEFAULT_HEADERS: [&str; 4] = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];
/// The header that is never a place: a proxy receives the header, and not the host of the secret.
pub const NEVER_HEADER: &str = "proxy-authorization";
/// Headers that frame or route a request, or that describe the connection.
const STRUCTURAL: [&str; 10] = [
    NEVER_HEADER,
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// The maximum length of a header's name, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// A header in which a placeholder becomes the value. The name is in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place(Box<str>);

/// The reason why a text is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, thiserror::Error)]
pub enum UnknownPlace {
    /// a place such as header:authorization
    Kind,
    /// the name of a header
    Name,
    /// a header other than the headers that frame or route a request
    Structural,
}

impl Place {
    /// Parses a place, such as `header:authorization`.
    ///
    /// # Errors
    /// Fails if the text is no place.
    pub fn parse(text: &str) -> Result<Self, UnknownPlace> {
        Self::header(text.strip_prefix("header:").ok_or(UnknownPlace::Kind)?)
    }

    /// Returns the place of a header.
    ///
    /// # Errors
    /// Fails if the text is no name of a header, or the header is never a place.
    pub fn header(name: &str) -> Result<Self, UnknownPlace> {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if !(1..=MAX_NAME_BYTES).contains(&name.len()) || !name.bytes().all(is_token) {
            return Err(UnknownPlace::Name);
        }
        let name = name.to_ascii_lowercase();
        if STRUCTURAL.contains(&name.as_str()) { Err(UnknownPlace::Structural) } else { Ok(Self(name.into())) }
    }

    /// Returns the places of a secret without a list of places.
    pub fn defaults() -> Vec<Self> {
        DEFAULT_HEADERS.iter().map(|name| Self((*name).into())).collect()
    }

    /// Returns the name of the header, in lower case.
    pub fn name(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_headers_that_do_not_frame_a_request_are_places() {
        assert_eq!(Place::parse("header:X-Token").unwrap().name(), "x-token");
        assert_eq!(Place::parse("x-token"), Err(UnknownPlace::Kind));
        assert_eq!(Place::parse("body:/a"), Err(UnknownPlace::Kind));
        for name in ["", "a b", "a:", "é", "a\r\n", &"a".repeat(129)] {
            assert_eq!(Place::header(name), Err(UnknownPlace::Name), "{name:?}");
        }
        for name in ["Proxy-Authorization", "host", "Content-Length", "transfer-encoding", "Connection"] {
            assert_eq!(Place::header(name), Err(UnknownPlace::Structural), "{name:?}");
        }
        assert!(Place::defaults().iter().all(|place| Place::header(place.name()).as_ref() == Ok(place)));
    }
}
