//! Masks the values of secrets in a response. A mask is no wall: a server that encodes the value
//! is not noticed. The host of a secret is trusted with the secret. Next: `sigv4.rs`.
//!
//! Each occurrence of a value becomes as many `*`. Only bytes that can be the begin of a value are
//! held back, so that a stream of events is not delayed.

use zeroize::Zeroizing;

/// Shorter values are not masked, because they occur by chance.
pub const LEAST_MASKED_BYTES: usize = 12;

/// The state of one stream.
pub struct Mask {
    /// The values, the longest first.
    values: Vec<Zeroizing<Vec<u8>>>,
    /// The bytes with which a value begins.
    begins: [bool; 256],
    /// The bytes that can be the begin of a value.
    held: Zeroizing<Vec<u8>>,
}

impl Mask {
    /// Makes the state for values. Values below [`LEAST_MASKED_BYTES`] are ignored.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let long = values.into_iter().filter(|value| value.len() >= LEAST_MASKED_BYTES);
        let mut values: Vec<_> = long.map(|value| Zeroizing::new(value.to_vec())).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        let mut begins = [false; 256];
        for first in values.iter().filter_map(|value| value.first()) {
            if let Some(begin) = begins.get_mut(usize::from(*first)) {
                *begin = true;
            }
        }
        Self { values, begins, held: Zeroizing::default() }
    }

    /// Returns whether no value is masked.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds bytes of the stream. Returns the bytes that can be forwarded.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut held = std::mem::take(&mut self.held);
        let mut joined = Zeroizing::new(Vec::with_capacity(held.len() + bytes.len()));
        joined.append(&mut held);
        joined.extend_from_slice(bytes);
        self.scan(&joined, true)
    }

    /// Ends the stream. Returns the last bytes.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.scan(&held, false)
    }

    /// Masks the values of a whole text, such as a header.
    pub fn mask(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.scan(bytes, false)
    }

    fn scan(&mut self, bytes: &[u8], holds: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        let (mut at, mut copied) = (0, 0);
        while let Some(first) = bytes.get(at) {
            if !self.begins.get(usize::from(*first)).is_some_and(|begins| *begins) {
                at += 1;
                continue;
            }
            let rest = bytes.get(at..).unwrap_or_default();
            if holds && self.values.iter().any(|value| value.len() > rest.len() && value.starts_with(rest)) {
                self.held = Zeroizing::new(rest.to_vec());
                break;
            }
            match self.values.iter().find(|value| rest.starts_with(value)) {
                Some(value) => {
                    out.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
                    out.resize(out.len() + value.len(), b'*');
                    at += value.len();
                    copied = at;
                }
                None => at += 1,
            }
        }
        out.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LONG: &str = "abcabcabcabcX";
    const SHORT: &str = "abcabcabcabc";

    fn masked(values: &[&str], pieces: &[&str]) -> String {
        let mut mask = Mask::new(values.iter().map(|value| value.as_bytes()));
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| mask.push(piece.as_bytes())).collect();
        out.extend(mask.finish());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn masks_values_in_one_piece_and_in_many() {
        assert_eq!(masked(&[SHORT], &["x=abcabcabcabc."]), "x=************.");
        assert_eq!(masked(&[SHORT], &["x=abc", "abcab", "cabc."]), "x=************.");
        assert_eq!(masked(&[SHORT, LONG], &["abcabcabcabc", "X"]), "*************");
        assert_eq!(masked(&[SHORT, LONG], &["abcabcabcabc", "Y"]), "************Y");
        assert_eq!(masked(&[SHORT, LONG], &["abcabcabcabc"]), "************");
        assert_eq!(masked(&["short"], &["short"]), "short");
        assert_eq!(masked(&[SHORT], &["abcabcabcab"]), "abcabcabcab");
    }

    #[test]
    fn holds_back_only_what_can_be_the_begin_of_a_value() {
        let mut mask = Mask::new([SHORT.as_bytes()]);
        assert_eq!(mask.push(b"data: hello\n\n"), b"data: hello\n\n");
        assert_eq!(mask.push(b"data: xab"), b"data: x");
        assert_eq!(mask.push(b"d"), b"abd");
        assert_eq!(mask.push(b"abcabcabcabc"), b"************");
        assert!(mask.finish().is_empty());
    }

    proptest! {
        #[test]
        fn pieces_do_not_change_the_result(text in "[abcX]{0,60}", cuts in prop::collection::vec(0_usize..60, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            let whole = masked(&[SHORT, LONG], &[&text]);
            prop_assert_eq!(masked(&[SHORT, LONG], &pieces), whole.clone());
            prop_assert_eq!(whole.len(), text.len());
            prop_assert!(!whole.contains(SHORT));
        }

        #[test]
        fn other_bytes_stay(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut mask = Mask::new([b"\xff\xfe0123456789".as_slice()]);
            let mut out = mask.push(&text);
            out.extend(mask.finish());
            prop_assert_eq!(out, text);
        }
    }
}
