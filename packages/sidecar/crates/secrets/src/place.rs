//! The places of a request in which a placeholder becomes the value: headers, and fields of the
//! query that a secret names. Servers repeat bodies and queries in their responses and logs.
//! Therefore no body is a place, and no field of a query without its name. Next: `swap.rs`.

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

/// A place in which a placeholder becomes the value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// The header of this name, in lower case.
    Header(Box<str>),
    /// The field of the query with this name.
    Query(Box<str>),
}

/// The reason why a text is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, thiserror::Error)]
pub enum UnknownPlace {
    /// a place such as header:authorization or query:key
    Kind,
    /// the name of a header or of a field of the query
    Name,
    /// a header other than the headers that frame or route a request
    Structural,
}

impl Place {
    /// Parses a place, such as `header:authorization` or `query:key`.
    ///
    /// # Errors
    /// Fails if the text is no place.
    pub fn parse(text: &str) -> Result<Self, UnknownPlace> {
        match text.strip_prefix("query:") {
            Some(name) if is_name(name) => Ok(Self::Query(name.into())),
            Some(_) => Err(UnknownPlace::Name),
            None => Self::header(text.strip_prefix("header:").ok_or(UnknownPlace::Kind)?),
        }
    }

    /// Returns the place of a header.
    ///
    /// # Errors
    /// Fails if the text is no name of a header, or the header is never a place.
    pub fn header(name: &str) -> Result<Self, UnknownPlace> {
        if !is_name(name) {
            return Err(UnknownPlace::Name);
        }
        let name = name.to_ascii_lowercase();
        if STRUCTURAL.contains(&name.as_str()) { Err(UnknownPlace::Structural) } else { Ok(Self::Header(name.into())) }
    }

    /// Returns the places of a secret without a list of places.
    pub fn defaults() -> Vec<Self> {
        DEFAULT_HEADERS.iter().map(|name| Self::Header((*name).into())).collect()
    }

    /// Returns the name, in lower case for a header.
    pub fn name(&self) -> &str {
        let (Self::Header(name) | Self::Query(name)) = self;
        name
    }
}

fn is_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_headers_that_do_not_frame_a_request_are_places() {
        assert_eq!(Place::parse("header:X-Token").unwrap().name(), "x-token");
        assert_eq!(Place::parse("query:Key"), Ok(Place::Query("Key".into())));
        assert_eq!((Place::parse("query:"), Place::parse("query:a b")), (Err(UnknownPlace::Name), Err(UnknownPlace::Name)));
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
