//! Compares the tree of rules with the reference evaluator (`../reference.rs`).

use super::*;
use crate::permissions::reference::{Rules, allows};
use proptest::prelude::*;

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
                let expected = allows(default, &rules, path, operation);
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
                let before = allows(default, &rules, &inside(&from), operation);
                let after = allows(default, &rules, &inside(&to), operation);
                prop_assert!(before || !after, "{} {} {} {:?} {:?}", operation, inside(&from), inside(&to), default, rules);
            }
        }
    }
}
