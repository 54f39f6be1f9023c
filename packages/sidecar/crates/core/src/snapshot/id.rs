//! Ids of snapshots. An id is random and not a digest of the content, so that a snapshot has its id
//! before its content is hashed. Next: `bytes.rs`.

use coldframe_error::Error;
use coldframe_sys as sys;

const PREFIX: &str = "snap-";
/// The digits of Crockford's base 32 in lower case, without the letters that resemble a digit.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LEN: usize = 26;

/// Returns whether `text` has the form of an id: `snap-` and 26 lower-case letters or digits.
pub(crate) fn is_id(text: &str) -> bool {
    let random = text.strip_prefix(PREFIX).unwrap_or_default().as_bytes();
    random.len() == LEN && random.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Returns a new id. Fails if the system has no entropy.
pub(crate) fn fresh_id() -> Result<String, Error> {
    let mut bytes = [0; 16];
    sys::entropy(&mut bytes).map_err(|error| Error::Snapshot { reason: format!("there is no entropy: {error}") })?;
    Ok(text(u128::from_le_bytes(bytes)))
}

fn text(number: u128) -> String {
    let digit = |at: usize| char::from(DIGITS[(number >> (5 * at)) as usize % 32]);
    PREFIX.chars().chain((0..LEN).rev().map(digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_own_id() {
        assert_eq!(text(0), "snap-00000000000000000000000000");
        assert_eq!(text(33), "snap-00000000000000000000000011");
        assert_eq!(text(u128::MAX), "snap-7zzzzzzzzzzzzzzzzzzzzzzzzz");
        assert_ne!(fresh_id(), fresh_id());
        assert!(is_id(&text(0)) && is_id(&text(u128::MAX)));
        for other in ["", "snap-", "snap-first", &text(0)[1..], &text(0).to_uppercase(), &format!("{}0", text(0))] {
            assert!(!is_id(other), "{other}");
        }
    }
}
