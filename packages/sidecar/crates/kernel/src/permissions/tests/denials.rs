//! Tests of the sentence that explains a denial, and of the pattern in the listener's decision.

use super::*;
use crate::permissions::hosts::Peer;
use crate::permissions::policy::{Decision, PermissionListener};
use std::sync::Arc;

struct SilentListener;

impl PermissionListener for SilentListener {
    fn pending(&self) {}
}

fn listened(policy: &PermissionPolicy) -> Permissions {
    let permissions = Permissions::default();
    permissions.set(policy).expect("a good policy");
    permissions.listen(Some(Arc::new(SilentListener)));
    permissions
}

fn only_decision(permissions: &Permissions) -> Decision {
    let taken = permissions.take(usize::MAX).decisions;
    let [decision] = taken.as_slice() else { panic!("{taken:?}") };
    decision.clone()
}

const READ_BY_RULE: &str = "the permission fs.read is denied by the rule permissions.fs.rules[1]; \
                            the app can allow it with a deeper rule in the option permissions.fs";

#[test]
fn a_denial_names_the_rule_but_not_the_pattern() {
    let permissions = listened(&policy(Scope::Fs, Verdict::Allow, &["+/data", "-/other /data/secret-*"]));
    let denied = permissions.check(About::Path(b"/data/secret-plan"), files::READ).expect_err("denied");
    assert_eq!(denied.to_string(), READ_BY_RULE);
    let decision = only_decision(&permissions);
    assert_eq!((decision.verdict, decision.rule, decision.pattern.as_deref()), (Verdict::Deny, Some(1), Some("/data/secret-*")));
    assert_eq!(decision.reason.as_deref(), Some(READ_BY_RULE));
}

#[test]
fn an_allowed_operation_has_a_rule_and_no_reason() {
    let permissions = listened(&policy(Scope::Env, Verdict::Deny, &["+HOME NODE_*"]));
    assert_eq!(permissions.check(About::Variable("NODE_ENV"), env_read()), Ok(()));
    let decision = only_decision(&permissions);
    assert_eq!((decision.rule, decision.pattern.as_deref(), decision.reason), (Some(0), Some("NODE_*"), None));
}

fn env_read() -> Operations {
    bit(Scope::Env, "read")
}

#[test]
fn a_rule_without_patterns_has_no_pattern_in_the_decision() {
    let rule = PermissionRule { verdict: Verdict::Deny, operations: None, patterns: None };
    let fs = ScopePolicy { default: Verdict::Allow, rules: vec![rule] };
    let permissions = listened(&PermissionPolicy { fs: Some(fs), ..PermissionPolicy::default() });
    permissions.check(About::Path(b"/x"), files::READ).expect_err("denied");
    let decision = only_decision(&permissions);
    assert_eq!((decision.rule, decision.pattern), (Some(0), None));
}

#[test]
fn a_denial_without_a_rule_names_the_default() {
    let permissions = Permissions::default();
    permissions.set(&policy(Scope::ChildProcess, Verdict::Deny, &["+node"])).expect("a good policy");
    let denied = permissions.check(About::Program(b"/bin/ls", "ls"), bit(Scope::ChildProcess, "spawn")).expect_err("denied");
    let remedy = "the app can allow it with a rule in the option permissions.childProcess";
    let expected = format!("the permission childProcess.spawn is denied by the default of permissions.childProcess; {remedy}");
    assert_eq!(denied.to_string(), expected);
}

#[test]
fn a_denied_rename_names_both_paths_as_the_cause() {
    let permissions = listened(&policy(Scope::Fs, Verdict::Allow, &["-/a | write"]));
    let denied = permissions.check_move(b"/a/x", b"/b", false, false).expect_err("denied");
    let expected = "the permission fs.rename is denied because the two paths have different rules; \
                    the app can allow it with equal rules for both paths in the option permissions.fs";
    assert_eq!(denied.to_string(), expected);
    let decision = only_decision(&permissions);
    assert_eq!((decision.rule, decision.pattern, decision.reason.as_deref()), (None, None, Some(expected)));
}

#[test]
fn a_peer_outside_the_runtime_is_denied_by_every_policy() {
    const REMEDY: &str = "the app can open hosts outside the runtime with the option network";
    let network = |default, rules: &[&str]| policy(Scope::Network, default, rules);
    let cases = [
        (PermissionPolicy::default(), "by the default policy", None),
        (network(Verdict::Deny, &[]), "by the default of permissions.network", None),
        (network(Verdict::Allow, &["-*.com"]), "by the rule permissions.network.rules[0]", Some("*.com")),
        (network(Verdict::Allow, &[]), "because the address is outside the runtime", None),
    ];
    for (policy, by, pattern) in cases {
        let permissions = listened(&policy);
        let denied = permissions.deny_outside(Peer::Name("example.com"), bit(Scope::Network, "dns"));
        assert_eq!(denied.to_string(), format!("the permission network.dns is denied {by}; {REMEDY}"));
        let decision = only_decision(&permissions);
        assert_eq!((decision.verdict, decision.resource.as_str()), (Verdict::Deny, "example.com"));
        assert_eq!((decision.pattern.as_deref(), decision.reason), (pattern, Some(denied.to_string())));
    }
}
