//! Canonical host names.
//!
//! A policy compares names, so each name has exactly one form: ASCII in lower case, Unicode labels
//! as A-labels, no dot at the end. Texts that some resolver reads as an address are no names. The
//! crate `idna` converts Unicode as browsers and Node do. Next: `special_names.rs`, the names that
//! are never looked up.

use displaydoc::Display;
use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The maximum length of a name, in bytes.
pub const MAX_NAME_BYTES: usize = 253;
/// The maximum length of a label, in bytes.
pub const MAX_LABEL_BYTES: usize = 63;
/// The maximum length of a text that is converted. A label of Unicode can be longer than its
/// A-label.
const MAX_TEXT_BYTES: usize = 1_024;

/// A canonical host name, such as `api.example.com`. Clones share the text.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

/// The reason why a text is no host name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, thiserror::Error)]
pub enum InvalidName {
    /// a name of at least one character
    Empty,
    /// a name of at most 253 bytes
    TooLong,
    /// a name without an empty label
    EmptyLabel,
    /// a name whose labels have at most 63 bytes
    LongLabel,
    /// a name whose labels do not begin or end with a hyphen
    Hyphen,
    /// a name of letters, digits, hyphens, underscores and dots
    Character,
    /// a name that IDNA accepts
    Idna,
    /// a name, and not an address in any form
    Address,
}

impl Name {
    /// Returns the canonical form of a name.
    ///
    /// # Errors
    /// Fails if the text is no host name, or is an address in any of the forms that the functions
    /// of a C library accept.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        if text.is_empty() {
            return Err(InvalidName::Empty);
        }
        if text.len() > MAX_TEXT_BYTES {
            return Err(InvalidName::TooLong);
        }
        if is_canonical_alphabet(text) { Self::checked(text) } else { Self::convert(text) }
    }

    /// Returns the name of a DNS message. The labels are bytes without an encoding, so Unicode is
    /// refused.
    pub(crate) fn from_labels<'a>(labels: impl Iterator<Item = &'a [u8]>) -> Result<Self, InvalidName> {
        let mut text = String::new();
        for label in labels {
            // A dot in a label would make two labels of the text.
            if label.contains(&b'.') {
                return Err(InvalidName::Character);
            }
            let label = str::from_utf8(label).map_err(|_| InvalidName::Character)?;
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(label);
        }
        text.make_ascii_lowercase();
        if text.is_empty() { Err(InvalidName::Empty) } else { Self::checked(&text) }
    }

    /// Converts a text with capitals, Unicode or A-labels.
    fn convert(text: &str) -> Result<Self, InvalidName> {
        if text.chars().any(is_refused_character) {
            return Err(InvalidName::Character);
        }
        // The lengths are checked below, with a reason for each.
        let ascii = Uts46::new()
            .to_ascii(text.as_bytes(), AsciiDenyList::URL, Hyphens::Allow, DnsLength::Ignore)
            .map_err(|_| InvalidName::Idna)?;
        Self::checked(&ascii)
    }

    /// Checks a converted text.
    fn checked(text: &str) -> Result<Self, InvalidName> {
        let text = text.strip_suffix('.').unwrap_or(text);
        if text.is_empty() {
            return Err(InvalidName::Empty);
        }
        if text.len() > MAX_NAME_BYTES {
            return Err(InvalidName::TooLong);
        }
        let mut last = "";
        for label in text.split('.') {
            check_label(label)?;
            last = label;
        }
        if is_number(last) {
            return Err(InvalidName::Address);
        }
        Ok(Self(Arc::from(text)))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the labels, from the left.
    pub fn labels(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('.')
    }

    /// Returns whether this name is `parent`, or has `parent` as its last labels.
    pub fn is_at_or_below(&self, parent: &str) -> bool {
        self.0.strip_suffix(parent).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }

    /// Returns the number of bytes of the name in a DNS message without compression.
    pub fn wire_bytes(&self) -> usize {
        self.0.len() + 2
    }
}

/// Returns whether a text consists of canonical characters, so that conversion would not change the
/// text. An A-label needs the checks of IDNA.
fn is_canonical_alphabet(text: &str) -> bool {
    text.bytes().all(|byte| is_canonical(byte) || byte == b'.') && !text.contains("xn--")
}

fn is_canonical(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_'
}

/// Returns whether an ASCII character of a text can be in no name. Conversion can make ASCII of
/// other characters, so the converted text is checked too.
fn is_refused_character(character: char) -> bool {
    character.is_ascii() && !(character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.'))
}

fn check_label(label: &str) -> Result<(), InvalidName> {
    if label.is_empty() {
        return Err(InvalidName::EmptyLabel);
    }
    if label.len() > MAX_LABEL_BYTES {
        return Err(InvalidName::LongLabel);
    }
    if !label.bytes().all(is_canonical) {
        return Err(InvalidName::Character);
    }
    if label.starts_with('-') || label.ends_with('-') {
        return Err(InvalidName::Hyphen);
    }
    Ok(())
}

/// Returns whether the last label of a text makes the text an address for a C library and for URLs.
/// Such a label has decimal or octal digits, or hexadecimal digits after `0x`.
fn is_number(label: &str) -> bool {
    let hexadecimal = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    label.bytes().all(|byte| byte.is_ascii_digit()) || label.strip_prefix("0x").is_some_and(hexadecimal)
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canonical(text: &str) -> Result<String, InvalidName> {
        Name::parse(text).map(|name| name.as_str().to_owned())
    }

    #[test]
    fn a_name_has_one_form() {
        let cases = [
            ("api.example.com", "api.example.com"),
            ("API.Example.COM", "api.example.com"),
            ("api.example.com.", "api.example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
            ("faß.example", "xn--fa-hia.example"),
            ("api。example．com｡", "api.example.com"),
            ("ａｐｉ.example.com", "api.example.com"),
            ("ex\u{ad}ample.com", "example.com"),
            ("_mongodb._tcp.db.example.net", "_mongodb._tcp.db.example.net"),
            ("r3---sn-1.example.com", "r3---sn-1.example.com"),
            ("localhost", "localhost"),
            ("127.0.0.1.nip.io", "127.0.0.1.nip.io"),
            ("1.0x7g", "1.0x7g"),
            ("4.3.2.1.in-addr.arpa", "4.3.2.1.in-addr.arpa"),
        ];
        for (text, expected) in cases {
            assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_address_in_any_form_is_no_name() {
        let forms = [
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f.1",
            "0x7f000001",
            "0X7F000001",
            "0x7F.0x0.0x0.0x1",
            "017700000001",
            "0177.0.0.01",
            "0x",
            "1.0x",
            "256.256.256.256",
            "example.com.1",
            "4294967296",
            "1.2.3.4.5",
            "１２７.0.0.1",
            "①②⑦.0.0.1",
            "127。0。0。1",
            "169.254.169.254",
            "٠x7f.1",
        ];
        for text in forms {
            let refused = canonical(text);
            assert!(matches!(refused, Err(InvalidName::Address | InvalidName::Idna)), "{text}: {refused:?}");
        }
    }

    #[test]
    fn a_refused_text_has_a_reason() {
        let label = "a".repeat(63);
        let longest = [&label[..], &label, &label, &label[..61]].join(".");
        assert_eq!(longest.len(), MAX_NAME_BYTES);
        assert_eq!(canonical(&longest), Ok(longest.clone()));
        assert_eq!(canonical(&format!("{longest}.")), Ok(longest.clone()));
        let cases = [
            ("", InvalidName::Empty),
            (".", InvalidName::Empty),
            ("a..b", InvalidName::EmptyLabel),
            (".a", InvalidName::EmptyLabel),
            ("a.b..", InvalidName::EmptyLabel),
            ("\u{ad}", InvalidName::Empty),
            ("-a.example", InvalidName::Hyphen),
            ("a-.example", InvalidName::Hyphen),
            ("a b.example", InvalidName::Character),
            ("a\0.example", InvalidName::Character),
            ("a\r\n.example", InvalidName::Character),
            ("a%2eb.example", InvalidName::Character),
            ("user@example.com", InvalidName::Character),
            ("user:password@example.com", InvalidName::Character),
            ("example.com/path", InvalidName::Character),
            ("example.com:443", InvalidName::Character),
            ("*.example.com", InvalidName::Character),
            ("[::1]", InvalidName::Character),
            ("::1", InvalidName::Character),
            ("[::ffff:127.0.0.1]", InvalidName::Character),
            ("fe80::1%eth0", InvalidName::Character),
            ("example.com#", InvalidName::Character),
            ("example.com\\", InvalidName::Character),
            ("a℀b.example", InvalidName::Idna),
            ("xn--a.example", InvalidName::Idna),
            ("\u{200d}a.example", InvalidName::Idna),
            (&format!("{label}a.example"), InvalidName::LongLabel),
            (&format!("{longest}a"), InvalidName::TooLong),
            (&"a".repeat(65_536), InvalidName::TooLong),
        ];
        for (text, expected) in cases {
            assert_eq!(canonical(text), Err(expected), "{text:.80}");
        }
    }

    #[test]
    fn labels_of_a_message_make_a_name_without_conversion() {
        let name = |labels: &[&[u8]]| Name::from_labels(labels.iter().copied()).map(|name| name.to_string());
        assert_eq!(name(&[b"API", b"Example", b"com"]).as_deref(), Ok("api.example.com"));
        assert_eq!(name(&[b"a.b", b"com"]), Err(InvalidName::Character));
        assert_eq!(name(&["ä".as_bytes(), b"com"]), Err(InvalidName::Character));
        assert_eq!(name(&[b"\xff", b"com"]), Err(InvalidName::Character));
        assert_eq!(name(&[b"127", b"0", b"0", b"1"]), Err(InvalidName::Address));
        assert_eq!(name(&[]), Err(InvalidName::Empty));
        assert_eq!(name(&[b"", b"com"]).as_deref(), Ok("com"), "hickory passes no empty label");
    }

    #[test]
    fn a_name_is_below_its_parents_only() {
        let name = Name::parse("a.example.com").unwrap();
        assert!(name.is_at_or_below("a.example.com") && name.is_at_or_below("example.com") && name.is_at_or_below("com"));
        assert!(!name.is_at_or_below("ample.com") && !name.is_at_or_below("b.a.example.com") && !name.is_at_or_below("net"));
    }

    proptest! {
        #[test]
        fn canonical_text_needs_no_conversion(text in "[a-z0-9_.-]{1,40}") {
            prop_assume!(!text.contains("xn--"));
            prop_assert_eq!(Name::checked(&text), Name::convert(&text));
        }

        #[test]
        fn a_canonical_name_stays_unchanged(text in "\\PC{1,40}") {
            if let Ok(name) = Name::parse(&text) {
                prop_assert_eq!(Name::parse(name.as_str()), Ok(name.clone()));
                prop_assert_eq!(Name::parse(&format!("{name}.")), Ok(name.clone()));
                prop_assert_eq!(Name::parse(&name.as_str().to_ascii_uppercase()), Ok(name));
            }
        }
    }
}
