//! The target `names`: texts that a guest passes as host names.
//!
//! A canonical name has one form, and no parser of URLs reads the name as an address.
#![expect(clippy::expect_used, clippy::panic, reason = "a target panics on a broken promise")]

use crate::{MAX_LABEL_BYTES, MAX_NAME_BYTES, Name, SpecialName};
use url::Host;

/// Converts a text to a name.
///
/// # Panics
/// Panics if the name has a second form, or is an address for the parser of URLs.
pub fn names(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(name) = Name::parse(&text) else { return };
    let form = name.as_str();
    assert!(!form.is_empty() && form.len() <= MAX_NAME_BYTES, "{form:?}");
    for label in name.labels() {
        assert!(!label.is_empty() && label.len() <= MAX_LABEL_BYTES, "{form:?}");
        let is_canonical = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
        assert!(label.bytes().all(is_canonical), "{form:?}");
    }
    for other in [form.to_owned(), format!("{form}."), form.to_ascii_uppercase()] {
        assert_eq!(Name::parse(&other).as_ref(), Ok(&name), "{other:?}");
    }
    let labels = Name::from_labels(form.split('.').map(str::as_bytes));
    assert_eq!(labels, Ok(name.clone()), "the labels of {form:?}");
    assert!(form.parse::<std::net::IpAddr>().is_err(), "{form:?}");
    let special = SpecialName::of(&name);
    assert!(special.is_some() || form.contains('.'), "{form:?}");
    assert!(
        !form.ends_with("localhost") || special.is_some() || form.contains("localhost.") || !name.is_at_or_below("localhost")
    );
    if let Ok(host) = Host::parse(&text) {
        let Host::Domain(domain) = host else { panic!("{text:?} is the name {form:?} and an address") };
        assert_eq!(domain.strip_suffix('.').unwrap_or(&domain), form, "{text:?}");
    }
    // The parser of URLs accepts every name that it has not converted.
    let domain = Host::parse(form).expect("a canonical name is a host");
    assert_eq!(domain, Host::Domain(form.to_owned()));
}
