//! The reference evaluator: follows the sentences of `docs/permissions.md` one by one, on lists of
//! names.
//!
//! A pattern covers its path and everything below. The depth of a match is the number of the path's
//! names up to the pattern's last name. If a pattern matches several times, the deepest match
//! counts. The deepest rule decides. If several rules have that depth, a denying rule decides.
//! Without a match the default applies. `stat` is allowed on directories that lead to an allowed
//! path.

use super::*;
use proptest::prelude::*;

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

fn one(pattern: &str, name: &str) -> bool {
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

type Rules = Vec<(Verdict, Vec<&'static str>, String)>;

fn slow(default: Verdict, rules: &Rules, path: &str, operation: &str) -> bool {
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

fn pattern() -> impl Strategy<Value = String> {
    let text = |text: &str| Just(text.to_owned());
    let name = prop_oneof![4 => "[ab]", 1 => text("*"), 1 => text("a*"), 1 => text("?b"), 1 => text("**")];
    prop::collection::vec(name, 0..5).prop_map(|names| format!("/{}", names.join("/")))
}

fn rules() -> impl Strategy<Value = Rules> {
    let operations = prop_oneof![Just(vec!["read", "write", "stat"]), Just(vec!["read"]), Just(vec!["write", "stat"])];
    let verdict = prop_oneof![Just(Verdict::Allow), Just(Verdict::Deny)];
    prop::collection::vec((verdict, operations, pattern()), 0..6)
}

pub(super) fn path() -> impl Strategy<Value = String> {
    prop::collection::vec("[ab]|ab|bb", 0..6).prop_map(|names| format!("/{}", names.join("/")))
}

fn fast(default: Verdict, rules: &Rules) -> Compiled {
    let rules = rules.iter().map(|(verdict, operations, pattern)| PermissionRule {
        verdict: *verdict,
        operations: Some(operations.iter().map(|name| (*name).to_owned()).collect()),
        patterns: Some(vec![pattern.clone()]),
    });
    let scope = ScopePolicy { default, rules: rules.collect() };
    Compiled::new(&PermissionPolicy { fs: Some(scope), ..PermissionPolicy::default() }).expect("a good policy")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_tree_agrees_with_the_reference_evaluator(
        deny in any::<bool>(),
        rules in rules(),
        paths in prop::collection::vec(path(), 1..8),
    ) {
        let default = if deny { Verdict::Deny } else { Verdict::Allow };
        let policy = fast(default, &rules);
        for path in &paths {
            let allowed = policy.allowed(About::Path(path.as_bytes()));
            for (operation, bit) in [("read", files::READ), ("write", files::WRITE), ("stat", files::STAT)] {
                let expected = slow(default, &rules, path, operation);
                prop_assert_eq!(allowed & bit != 0, expected, "{} {} {:?} {:?}", operation, path, default, rules);
                if let Some(effect) = policy.decider(About::Path(path.as_bytes()), bit) {
                    prop_assert!(rules[effect.rule as usize].1.contains(&operation));
                }
            }
        }
    }

    /// A rename must not allow a denied operation on a file, on a directory, or below a directory.
    #[test]
    fn a_move_never_allows_a_denied_operation(
        deny in any::<bool>(),
        rules in rules(),
        from in path(),
        to in path(),
        below in prop::collection::vec("[ab]|ab|bb", 0..4),
    ) {
        let default = if deny { Verdict::Deny } else { Verdict::Allow };
        let policy = fast(default, &rules);
        let (one, other) = (policy.judge(from.as_bytes()), policy.judge(to.as_bytes()));
        if policy.keeps(&one, &other, true) {
            let inside = |path: &str| format!("{path}/{}", below.join("/"));
            // A new path may allow `stat` of directories that lead to an allowed path, because
            // `stat` shows no content.
            for operation in ["read", "write"] {
                let before = slow(default, &rules, &inside(&from), operation);
                let after = slow(default, &rules, &inside(&to), operation);
                prop_assert!(before || !after, "{} {} {} {:?} {:?}", operation, inside(&from), inside(&to), default, rules);
            }
        }
    }
}
