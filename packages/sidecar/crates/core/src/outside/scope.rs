//! The permission scope `network` of a runtime with options of outside connections. Next:
//! `options.rs`.

use coldframe_kernel::PermissionPolicy;
use std::borrow::Cow;

/// Returns the policy with the scope `network` that options of outside connections need, unless the
/// embedder has given the scope.
pub(crate) fn with_outside(policy: PermissionPolicy, has_outside: bool) -> Cow<'static, PermissionPolicy> {
    let derived = PermissionPolicy::of_outside();
    match policy.network {
        None if has_outside && policy == PermissionPolicy::default() => Cow::Borrowed(derived),
        None if has_outside => Cow::Owned(PermissionPolicy { network: derived.network.clone(), ..policy }),
        _ => Cow::Owned(policy),
    }
}

/// Returns the policy that the embedder has given.
pub(crate) fn without_outside(policy: PermissionPolicy) -> PermissionPolicy {
    let is_derived = policy.network == PermissionPolicy::of_outside().network;
    if is_derived { PermissionPolicy { network: None, ..policy } } else { policy }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coldframe_kernel::{ScopePolicy, Verdict};

    #[test]
    fn a_given_scope_is_kept_and_a_derived_scope_is_recognized() {
        let none = PermissionPolicy::default();
        let with = |policy: &PermissionPolicy, has_outside| with_outside(policy.clone(), has_outside).into_owned();
        assert_eq!(with(&none, false), none);
        let only_env = PermissionPolicy { env: Some(ScopePolicy::always(Verdict::Deny)), ..none.clone() };
        for given in [&none, &only_env] {
            let derived = with(given, true);
            assert!(derived.network.is_some());
            assert_eq!(derived.env, given.env);
            assert_eq!(without_outside(derived), *given);
        }
        let given = PermissionPolicy { network: Some(ScopePolicy::always(Verdict::Deny)), ..none };
        assert_eq!(with(&given, true), given);
        assert_eq!(without_outside(given.clone()), given);
    }
}
