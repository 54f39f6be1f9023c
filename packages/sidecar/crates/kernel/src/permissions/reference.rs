//! The reference evaluator: follows the sentences of `docs/permissions.md` one by one, on lists of
//! names. Tests and the fuzz target compare the tree of rules with the evaluator.
//!
//! A pattern covers its path and everything below. The depth of a match is the number of the path's
//! names up to the pattern's last name. If a pattern matches several times, the deepest match
//! counts. The deepest rule decides. If several rules have that depth, a denying rule decides.
//! Without a match the default applies. `stat` is allowed on directories that lead to an allowed
//! path. All names are ASCII.

use crate::permissions::policy::Verdict;

/// Returns the depth of each match of a pattern with the path or with a parent of the path. A `**`
/// at the end of the pattern adds no depth.
fn depths(pattern: &[&str], path: &[&str]) -> Vec<usize> {
    match pattern.split_first() {
        None => vec![0],
        Some((&"**", rest)) if rest.iter().all(|name| *name == "**") => vec![0],
        Some((&"**", rest)) => (0..=path.len())
            .flat_map(|skipped| depths(rest, &path[skipped..]).into_iter().map(move |depth| depth + skipped))
            .collect(),
        Some((name, rest)) => match path.split_first() {
            Some((first, left)) if one(name, first) => depths(rest, left).into_iter().map(|depth| depth + 1).collect(),
            _ => vec![],
        },
    }
}

/// Returns whether a pattern matches a name.
pub(super) fn one(pattern: &str, name: &str) -> bool {
    match pattern.chars().next() {
        None => name.is_empty(),
        Some('*') => (0..=name.len()).any(|taken| one(&pattern[1..], &name[taken..])),
        Some('?') => !name.is_empty() && one(&pattern[1..], &name[1..]),
        Some(_) => name.starts_with(&pattern[..1]) && one(&pattern[1..], &name[1..]),
    }
}

fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

/// Rules: the effect, the names of the operations, and the pattern.
pub(super) type Rules = Vec<(Verdict, Vec<&'static str>, String)>;

/// Returns whether the rules allow an operation on a path.
pub(super) fn allows(default: Verdict, rules: &Rules, path: &str, operation: &str) -> bool {
    let path = names(path);
    let mut best: Option<(usize, bool)> = None;
    for (verdict, operations, pattern) in rules.iter().filter(|(_, operations, _)| operations.contains(&operation)) {
        assert!(!operations.is_empty());
        let deepest = depths(&names(pattern), &path).into_iter().max();
        let Some(depth) = deepest else { continue };
        let denies = *verdict == Verdict::Deny;
        best = Some(match best {
            Some((known, _)) if depth > known => (depth, denies),
            Some((known, denied)) if depth == known => (depth, denied || denies),
            Some(known) => known,
            None => (depth, denies),
        });
    }
    let allowed = best.map_or(default == Verdict::Allow, |(_, denies)| !denies);
    allowed
        || (operation == "stat" && rules.iter().any(|(verdict, _, pattern)| *verdict == Verdict::Allow && leads(pattern, &path)))
}

/// Returns whether the path is a directory above a path that the pattern covers. Only the pattern's
/// names before `**` count.
fn leads(pattern: &str, path: &[&str]) -> bool {
    let mut pattern = names(pattern);
    while pattern.last() == Some(&"**") {
        pattern.pop();
    }
    pattern.len() > path.len() && follows(&pattern, path)
}

fn follows(pattern: &[&str], path: &[&str]) -> bool {
    path.iter().zip(pattern).all(|(name, pattern)| *pattern != "**" && one(pattern, name))
}
