//! The permission scope `network` of a runtime with options of outside connections. Next:
//! `options.rs`.

use coldframe_kernel::{PermissionPolicy, PermissionRule, ScopePolicy, Verdict};

/// The scope `network` of a runtime whose embedder sets options of outside connections, but not the
/// scope. The scope allows connections inside the runtime, and what the options allow.
/// The SDK has an equal policy (`permissions/policy.ts`).
fn derived() -> ScopePolicy {
    let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
    let rule = |operations, patterns| PermissionRule { verdict: Verdict::Allow, operations, patterns };
    let inside = rule(None, texts(&["localhost", "unix:*"]));
    ScopePolicy { default: Verdict::Deny, rules: vec![inside, rule(texts(&["connect", "dns", "udp"]), None)] }
}

/// Returns the policy with the scope `network` that options of outside connections need, unless the
/// embedder has given the scope.
pub(crate) fn with_outside(policy: PermissionPolicy, has_outside: bool) -> PermissionPolicy {
    match policy.network {
        None if has_outside => PermissionPolicy { network: Some(derived()), ..policy },
        _ => policy,
    }
}

/// Returns the policy that the embedder has given.
pub(crate) fn without_outside(policy: PermissionPolicy) -> PermissionPolicy {
    let is_derived = policy.network.as_ref() == Some(&derived());
    if is_derived { PermissionPolicy { network: None, ..policy } } else { policy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_scope_is_kept_and_a_derived_scope_is_recognized() {
        let none = PermissionPolicy::default();
        assert_eq!(with_outside(none.clone(), false), none);
        let derived = with_outside(none.clone(), true);
        assert!(derived.network.is_some());
        assert_eq!(without_outside(derived), none);
        let given = PermissionPolicy { network: Some(ScopePolicy::always(Verdict::Deny)), ..none };
        assert_eq!(with_outside(given.clone(), true), given);
        assert_eq!(without_outside(given.clone()), given);
    }
}
