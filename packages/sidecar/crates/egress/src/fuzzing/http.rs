//! The target `http-heads`: rules about HTTP, requests with any methods and paths, and the bytes of
//! requests (`heads.rs`).
//!
//! A normalised path is normal. The decision about a request equals the decision of a reference
//! evaluator, which tries all ways to match a pattern.
#![expect(clippy::expect_used, reason = "a target panics on a broken promise")]

use super::{heads::heads, text};
use crate::{EgressOptions, HttpRule, Name, Policy, RequestPath};
use arbitrary::{Result, Unstructured};

const PARTS: &[&str] = &["a", "b", "*", "**", "a*", "*b", "ab", "a*b", ""];
const PATHS: &[&str] = &["a", "b", "ab", "aab", "", ".", "..", "%2e", "%2e%2E", "a%2fb", "%61", "..;x", "c%C3", "%c3%a9"];
const METHODS: &[&str] = &["GET", "POST", "TRACE", "CONNECT", "get"];

/// Returns whether the segments match, by trying every number of segments for `**`.
fn matches(pattern: &[&str], path: &[&str]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((&"**", rest)) => (0..=path.len()).any(|count| matches(rest, &path[count..])),
        Some((part, rest)) => path
            .split_first()
            .is_some_and(|(segment, others)| is_text(part.as_bytes(), segment.as_bytes()) && matches(rest, others)),
    }
}

fn is_text(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|count| is_text(rest, &text[count..])),
        Some((byte, rest)) => text.split_first().is_some_and(|(first, others)| byte == first && is_text(rest, others)),
    }
}

fn joined(of: &[&str], input: &mut Unstructured<'_>) -> Result<String> {
    let mut path = String::new();
    for _ in 0..input.int_in_range(1..=5)? {
        path.push('/');
        path.push_str(input.choose(of)?);
    }
    Ok(path)
}

fn compare(input: &mut Unstructured<'_>) -> Result<()> {
    let mut http = Vec::new();
    for _ in 0..input.int_in_range(1..=3)? {
        let methods = if input.arbitrary()? { Some(vec!["GET".to_owned()]) } else { None };
        let pattern = joined(PARTS, input)?;
        let paths = (!pattern.contains("//") && input.arbitrary()?).then(|| vec![pattern]);
        http.push(HttpRule { host: "a.test".to_owned(), methods, paths, ..HttpRule::default() });
    }
    let policy = Policy::compile(EgressOptions { http: http.clone(), ..EgressOptions::default() }).expect("a valid policy");
    let name = Name::parse("a.test").expect("a name");
    for _ in 0..4 {
        let (path, method) = (joined(PATHS, input)?, *input.choose(METHODS)?);
        let judged = policy.judge_request(&name, 443, method, &path);
        let normal = RequestPath::parse(&path);
        let is_allowed = |rule: &HttpRule| {
            let has_path = rule.paths.as_ref().is_none_or(|paths| {
                let pattern: Vec<&str> = paths.iter().flat_map(|pattern| pattern.split('/').skip(1)).collect();
                normal.as_ref().is_some_and(|path| matches(&pattern, &path.segments().collect::<Vec<_>>()))
            });
            has_path && rule.methods.as_ref().is_none_or(|methods| methods.iter().any(|known| known == method))
        };
        let is_ambiguous = normal.is_none() && http.iter().any(|rule| rule.paths.is_some());
        let expected = !["TRACE", "CONNECT"].contains(&method) && !is_ambiguous && http.iter().any(is_allowed);
        assert_eq!(judged.decision.is_allowed(), expected, "{method} {path} {http:?}");
    }
    Ok(())
}

fn check_any(input: &mut Unstructured<'_>) -> Result<()> {
    let host = text(input)?;
    let rule = HttpRule { host, methods: Some(vec![text(input)?]), paths: Some(vec![text(input)?]), ..HttpRule::default() };
    let policy = Policy::compile(EgressOptions { http: vec![rule], ..EgressOptions::default() }).unwrap_or_default();
    let name = Name::parse("a.test").expect("a name");
    while !input.is_empty() {
        let path = text(input)?;
        if let Some(normal) = RequestPath::parse(&path) {
            assert_eq!(RequestPath::parse(normal.as_str()).as_ref(), Some(&normal), "{path:?}");
            assert!(normal.segments().all(|segment| segment != "." && segment != ".."), "{path:?}");
        }
        let _ = policy.judge_request(&name, 443, &text(input)?, &path);
    }
    Ok(())
}

/// Compiles rules about HTTP, and judges requests. Or checks the bytes of a request.
///
/// # Panics
/// Panics if the policy decides otherwise than the reference evaluator, or if a checked request has
/// another meaning for the parser of hyper.
pub fn http(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else { return };
    let mut input = Unstructured::new(data);
    // The input may end in the middle of a value.
    let _ = match kind % 4 {
        0 | 2 => compare(&mut input),
        1 => check_any(&mut input),
        _ => heads(&mut input),
    };
}
