//! Tests of the policy: tables of decisions, and random policies compared with an evaluator written
//! from the sentences of `docs/permissions.md`. `fs/tests/permissions.rs` and the SDK's tests cover
//! the effect on programs.

mod denials;
mod listening;
mod paths;
mod reference;
mod tables;

use super::Permissions;
use super::compiled::{About, Compiled};
use super::operations::{Operations, all, each, files};
use crate::permissions::policy::{PermissionPolicy, PermissionRule, Scope, ScopePolicy, Verdict};
use coldframe_error::Error;

/// Parses a rule: `+` or `-` for allowing or denying, patterns, and after `|` the operations.
pub(super) fn rule(text: &str) -> PermissionRule {
    let verdict = if text.starts_with('+') { Verdict::Allow } else { Verdict::Deny };
    let (patterns, operations) = text[1..].split_once(" | ").unwrap_or((&text[1..], ""));
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let given = |words: Vec<String>| (!words.is_empty()).then_some(words);
    PermissionRule { verdict, operations: given(words(operations)), patterns: given(words(patterns)) }
}

pub(super) fn scope_policy(default: Verdict, rules: &[&str]) -> ScopePolicy {
    ScopePolicy { default, rules: rules.iter().map(|text| rule(text)).collect() }
}

pub(super) fn policy(scope: Scope, default: Verdict, rules: &[&str]) -> PermissionPolicy {
    let of = |other| (other == scope).then(|| scope_policy(default, rules));
    PermissionPolicy {
        fs: of(Scope::Fs),
        network: of(Scope::Network),
        child_process: of(Scope::ChildProcess),
        process: of(Scope::Process),
        env: of(Scope::Env),
        binding: of(Scope::Binding),
    }
}

fn compiled(scope: Scope, default: Verdict, rules: &[&str]) -> Compiled {
    Compiled::new(&policy(scope, default, rules)).expect("a good policy")
}

fn refused(policy: &PermissionPolicy) -> (String, String) {
    match Compiled::new(policy) {
        Err(Error::InvalidRequest { what, expected, .. }) => (what, expected),
        other => panic!("{other:?}"),
    }
}

fn bit(scope: Scope, name: &str) -> Operations {
    each(scope, all(scope)).find(|(_, known)| *known == name).expect(name).0
}
