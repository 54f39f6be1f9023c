//! The patterns of paths: `*` matches any text of one segment, `**` any number of segments. Next:
//! `table.rs`.

use super::path::RequestPath;
use crate::invalid_entry::Fault;

/// The maximum length of a pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1_024;

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern(Vec<Segment>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    /// `**`.
    Any,
    /// A text, in which `*` is any text.
    Text(Box<[u8]>),
}

impl PathPattern {
    /// Parses a pattern. A pattern that no normalised path matches is refused.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let normal = RequestPath::parse(text).filter(|path| path.as_str() == text && text.len() <= MAX_PATTERN_BYTES);
        let normal = normal.ok_or(Fault::Path)?;
        let segment = |segment: &str| match segment {
            "**" => Ok(Segment::Any),
            text if text.contains("**") => Err(Fault::PathStars),
            text => Ok(Segment::Text(text.as_bytes().into())),
        };
        normal.segments().map(segment).collect::<Result<_, _>>().map(Self)
    }

    /// Returns whether a path matches.
    pub(crate) fn matches(&self, path: &RequestPath) -> bool {
        let segments: Vec<&[u8]> = path.segments().map(str::as_bytes).collect();
        let is_equal = |pattern: &Segment, segment: &&[u8]| match pattern {
            Segment::Any => false,
            Segment::Text(text) => wildcard(text, segment, |byte| *byte == b'*', |pattern, byte| pattern == byte),
        };
        wildcard(&self.0, &segments, |segment| *segment == Segment::Any, is_equal)
    }
}

/// Returns whether items match a pattern in which a star matches any number of items. Only the last
/// star is tried again, so the number of steps is at most the product of both lengths.
fn wildcard<P, I>(pattern: &[P], items: &[I], is_star: impl Fn(&P) -> bool, is_equal: impl Fn(&P, &I) -> bool) -> bool {
    let (mut at, mut item) = (0, 0);
    // The place after the last star, and the first item that the star does not match.
    let mut star: Option<(usize, usize)> = None;
    while let Some(next) = items.get(item) {
        match pattern.get(at) {
            Some(part) if is_star(part) => {
                at += 1;
                star = Some((at, item));
            }
            Some(part) if is_equal(part, next) => {
                at += 1;
                item += 1;
            }
            _ => {
                let Some((after, from)) = star else { return false };
                star = Some((after, from + 1));
                (at, item) = (after, from + 1);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(is_star)
}
