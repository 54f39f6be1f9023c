//! Glob patterns: `*` matches any text, and `?` matches one character.
//!
//! In a path, a pattern is matched with one name, so `*` does not match a slash. All other
//! characters match themselves, also `[` and `{`. Next: `tree.rs`.

use crate::steps;

/// A compiled glob pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob(Vec<Part>);

/// The comparisons of a byte that cost one step.
const COMPARED_PER_STEP: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Byte(u8),
    /// `?`: one character.
    One,
    /// `*`: any text.
    Any,
}

/// Returns whether a text contains a wildcard.
pub(super) fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Returns the length in bytes of the character at `at`: the first byte and at most three
/// continuation bytes.
fn width(text: &[u8], at: usize) -> usize {
    1 + text[at + 1..].iter().take(3).take_while(|byte| *byte & 0xc0 == 0x80).count()
}

impl Glob {
    pub(super) fn new(text: &str) -> Self {
        let mut parts: Vec<Part> = Vec::with_capacity(text.len());
        for byte in text.bytes() {
            match byte {
                // Two stars in a row match exactly the texts that one star matches.
                b'*' if parts.last() == Some(&Part::Any) => {}
                b'*' => parts.push(Part::Any),
                b'?' => parts.push(Part::One),
                byte => parts.push(Part::Byte(byte)),
            }
        }
        Self(parts)
    }

    /// Returns whether the pattern matches the whole text. Charges steps, because the time is at
    /// most proportional to the product of both lengths. If the steps are used up, the result is
    /// false, and the caller must refuse.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        let mut compared = 0;
        let matches = self.compare(text, &mut compared);
        steps::take(1 + compared / COMPARED_PER_STEP).is_ok() && matches
    }

    fn compare(&self, text: &[u8], compared: &mut usize) -> bool {
        let (mut part, mut at) = (0, 0);
        // The position to continue from after a mismatch: the last `*` then matches one byte more.
        let mut retry = None;
        loop {
            *compared += 1;
            match self.0.get(part) {
                Some(Part::Any) => {
                    part += 1;
                    retry = Some((part, at));
                    continue;
                }
                Some(Part::Byte(byte)) if text.get(at) == Some(byte) => (part, at) = (part + 1, at + 1),
                Some(Part::One) if at < text.len() => (part, at) = (part + 1, at + width(text, at)),
                None if at == text.len() => return true,
                _ => match retry {
                    Some((after, from)) if from < text.len() => {
                        retry = Some((after, from + 1));
                        (part, at) = (after, from + 1);
                    }
                    _ => return false,
                },
            }
        }
    }

    /// Returns the number of bytes in the pattern that match only themselves. A pattern with more
    /// such bytes is more specific.
    pub(super) fn literal_bytes(&self) -> u32 {
        let count = self.0.iter().filter(|part| matches!(part, Part::Byte(_))).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A reference implementation, which tries every length for each `*`.
    fn slow(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|taken| slow(rest, &text[taken..])),
            Some((one, rest)) => {
                text.split_first().is_some_and(|(first, left)| (*one == '?' || one == first) && slow(rest, left))
            }
        }
    }

    #[test]
    fn matches_wildcards_and_literal_text() {
        let of = |pattern: &str, text: &str| Glob::new(pattern).matches(text.as_bytes());
        assert!(of("*.js", ".js") && of("*.js", "a.js") && !of("*.js", "a.jsx") && !of("*.js", "js"));
        assert!(of("a?c", "aßc") && of("???", "日本語") && !of("?", "") && !of("?", "ab"));
        assert!(of("[id]", "[id]") && !of("[id]", "i") && of("{a,b}", "{a,b}"));
        assert!(of("**", "") && of("a**b", "ab") && Glob::new("?").matches(b"\xff"));
    }

    proptest! {
        #[test]
        fn agrees_with_the_reference_implementation(pattern in "[ab*?ß]{0,8}", text in "[abß]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(Glob::new(&pattern).matches(text.as_bytes()), slow(&chars(&pattern), &chars(&text)), "{} {}", pattern, text);
        }
    }
}
