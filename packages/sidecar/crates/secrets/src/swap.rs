//! Placeholders in the value of one header, replaced by the values of secrets. Next: `table.rs`.
//!
//! The credentials of the scheme `Basic` are decoded first, because a client encodes the name and
//! the password.

use crate::placeholder::Placeholder;
use crate::value::SecretValue;
use base64ct::{Base64, Encoding};
use zeroize::{Zeroize, Zeroizing};

/// The result for one header.
#[derive(Default)]
pub struct Swapped {
    /// The new value of the header. `None` if the header has no placeholder.
    pub value: Option<Zeroizing<Vec<u8>>>,
    /// The places of the used secrets in the list of the caller, each once, in ascending order.
    pub used: Vec<usize>,
}

/// A header would be longer than [`MAX_HEADER_BYTES`] with the values of its secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

/// The maximum length of a header with the values of its secrets, in bytes.
pub const MAX_HEADER_BYTES: usize = 64 << 10;

/// Replaces the placeholders in the value of a header. `secrets` are the secrets of the host that
/// have the header as a place. Values are not searched for placeholders.
///
/// # Errors
/// Fails if the new value is too long.
pub fn swap_header(header: &[u8], secrets: &[(&Placeholder, &SecretValue)]) -> Result<Swapped, TooLong> {
    let mut used = Vec::new();
    let mut value = None;
    if let Some((scheme, credentials)) = basic(header) {
        value = replace(&credentials, secrets, &mut used)?.map(|plain| encode(scheme, &plain));
    }
    let value = match value {
        Some(value) => Some(value),
        None => replace(header, secrets, &mut used)?,
    };
    used.sort_unstable();
    used.dedup();
    Ok(Swapped { value, used })
}

/// Splits `Basic <credentials>` into the scheme with its space, and the decoded credentials.
fn basic(header: &[u8]) -> Option<(&[u8], Zeroizing<Vec<u8>>)> {
    let scheme = header.get(..6).filter(|scheme| scheme.eq_ignore_ascii_case(b"basic "))?;
    let text = str::from_utf8(header.get(6..)?).ok()?.trim();
    Some((scheme, Zeroizing::new(Base64::decode_vec(text).ok()?)))
}

fn encode(scheme: &[u8], plain: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut encoded = Base64::encode_string(plain);
    let value = Zeroizing::new([scheme, encoded.as_bytes()].concat());
    encoded.zeroize();
    value
}

type Found<'a> = (usize, usize, &'a SecretValue);

/// Returns the text with values, or `None` if the text has no placeholder.
fn replace(
    text: &[u8],
    secrets: &[(&Placeholder, &SecretValue)],
    used: &mut Vec<usize>,
) -> Result<Option<Zeroizing<Vec<u8>>>, TooLong> {
    let mut found: Vec<Found<'_>> = Vec::new();
    let (mut at, mut length) = (0, text.len());
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let place = secrets.iter().position(|(placeholder, _)| rest.starts_with(placeholder.as_str().as_bytes()));
        match place.and_then(|index| Some((index, secrets.get(index)?))) {
            Some((index, (placeholder, value))) => {
                let end = at + placeholder.as_str().len();
                length = length - (end - at) + value.expose().len();
                found.push((at, end, value));
                used.push(index);
                at = end;
            }
            None => at += 1,
        }
    }
    if found.is_empty() {
        return Ok(None);
    }
    if length > MAX_HEADER_BYTES {
        return Err(TooLong);
    }
    // The result is allocated at once, so that no part of a value stays in a freed buffer.
    let mut new = Zeroizing::new(Vec::with_capacity(length));
    let mut copied = 0;
    for (start, end, value) in found {
        new.extend_from_slice(text.get(copied..start).unwrap_or_default());
        new.extend_from_slice(value.expose());
        copied = end;
    }
    new.extend_from_slice(text.get(copied..).unwrap_or_default());
    Ok(Some(new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secrets() -> Vec<(Placeholder, SecretValue)> {
        [("cfs_AAAAAAAAAAAAAAAAAAAA", "real-value-one"), ("sk-BBBBBBBBBBBBBBBBBBBB", "cfs_AAAAAAAAAAAAAAAAAAAA")]
            .map(|(placeholder, value)| {
                (Placeholder::parse(placeholder).unwrap(), SecretValue::new(value.as_bytes().to_vec()).unwrap())
            })
            .into()
    }

    fn swap(header: &str) -> (Option<String>, Vec<usize>) {
        let secrets = secrets();
        let secrets: Vec<_> = secrets.iter().map(|(placeholder, value)| (placeholder, value)).collect();
        let swapped = swap_header(header.as_bytes(), &secrets).unwrap_or_else(|TooLong| panic!("{header:?}"));
        (swapped.value.map(|value| String::from_utf8(value.to_vec()).unwrap()), swapped.used)
    }

    #[test]
    fn replaces_placeholders_wherever_they_are_in_the_header() {
        assert_eq!(swap("Bearer cfs_AAAAAAAAAAAAAAAAAAAA"), (Some("Bearer real-value-one".to_owned()), vec![0]));
        let two = swap("cfs_AAAAAAAAAAAAAAAAAAAA,cfs_AAAAAAAAAAAAAAAAAAAA;x");
        assert_eq!(two, (Some("real-value-one,real-value-one;x".to_owned()), vec![0]));
        for inert in ["Bearer cfs_AAAA", "", "Bearer cfs_aaaaaaaaaaaaaaaaaaaa", "Basic", "Basic %%%"] {
            assert_eq!(swap(inert), (None, vec![]), "{inert}");
        }
    }

    #[test]
    fn a_header_does_not_grow_without_bound() {
        let placeholder = Placeholder::parse("cfs_AAAAAAAAAAAAAAAAAAAA").unwrap();
        let value = SecretValue::new(vec![b'x'; 1_024]).unwrap();
        let swapped =
            |count: usize| swap_header(placeholder.as_str().repeat(count).as_bytes(), &[(&placeholder, &value)]).is_ok();
        assert!(swapped(64) && !swapped(65));
    }

    #[test]
    fn does_not_search_values_for_placeholders() {
        assert_eq!(swap("sk-BBBBBBBBBBBBBBBBBBBB"), (Some("cfs_AAAAAAAAAAAAAAAAAAAA".to_owned()), vec![1]));
    }

    #[test]
    fn decodes_basic_credentials() {
        let header = |plain: &str| format!("Basic {}", Base64::encode_string(plain.as_bytes()));
        assert_eq!(swap(&header("user:cfs_AAAAAAAAAAAAAAAAAAAA")), (Some(header("user:real-value-one")), vec![0]));
        assert_eq!(swap(&header("user:password")), (None, vec![]));
        let lower = header("a:cfs_AAAAAAAAAAAAAAAAAAAA").replace("Basic", "bAsIc");
        assert_eq!(swap(&lower).0, Some(header("a:real-value-one").replace("Basic", "bAsIc")));
    }

    proptest! {
        #[test]
        fn equals_the_replacement_of_texts(
            parts in prop::collection::vec(prop_oneof!["[a-z_ ]{0,6}", Just("cfs_AAAAAAAAAAAAAAAAAAAA".to_owned())], 0..8),
        ) {
            let header = parts.concat();
            let expected = header.replace("cfs_AAAAAAAAAAAAAAAAAAAA", "real-value-one");
            let (value, used) = swap(&header);
            prop_assert_eq!(value.clone().unwrap_or_else(|| header.clone()), expected);
            prop_assert_eq!(value.is_some(), !used.is_empty());
        }
    }
}
