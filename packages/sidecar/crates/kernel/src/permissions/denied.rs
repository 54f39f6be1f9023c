//! The reason of a denied operation, and the one sentence that explains the denial.
//!
//! The sentence appears in the error of the program and in the permission event of the app. The
//! sentence names the position of the rule in the app's option. The sentence has no pattern,
//! because a pattern can contain names that the program must not learn. The permission event also
//! has the pattern. `bootstrap/errors/denials.js` of the guest reads the sentence. Next: `mod.rs`,
//! which makes the value.

use crate::permissions::policy::Scope;
use coldframe_error::Errno;
use std::fmt::{Display, Formatter, Result};

/// The first denied operation of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Denied {
    pub(crate) scope: Scope,
    pub(crate) operation: &'static str,
    pub(crate) by: DeniedBy,
    /// Whether the resource is outside a runtime without the option `network`.
    pub(crate) is_outside: bool,
}

/// The part of the policy that denies an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeniedBy {
    /// The rule with this index in the scope's list.
    Rule(u32),
    /// The default of a scope that is in the policy.
    ScopeDefault,
    /// The default of a scope that the policy omits.
    DefaultPolicy,
    /// The comparison of the two paths of a rename or a link.
    Move,
    /// The steps of the call (`steps.rs`), which do not suffice for the comparison with the rules.
    Steps,
    /// No part of the policy: the resource is outside the runtime.
    Boundary,
}

impl Denied {
    /// Returns `EACCES`, the error number of a denied system call.
    pub(crate) fn errno(self) -> Errno {
        Errno::EACCES
    }
}

impl Display for Denied {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let scope = self.scope.name();
        write!(f, "the permission {scope}.{} is denied ", self.operation)?;
        match self.by {
            DeniedBy::Rule(index) => write!(f, "by the rule permissions.{scope}.rules[{index}]")?,
            DeniedBy::ScopeDefault => write!(f, "by the default of permissions.{scope}")?,
            DeniedBy::DefaultPolicy => f.write_str("by the default policy")?,
            DeniedBy::Move => f.write_str("because the two paths have different rules")?,
            DeniedBy::Steps => f.write_str("because the comparison with the rules takes too many steps")?,
            DeniedBy::Boundary => f.write_str("because the address is outside the runtime")?,
        }
        let remedy = match self.by {
            _ if self.is_outside => return f.write_str("; the app can open hosts outside the runtime with the option network"),
            DeniedBy::Rule(_) => "a deeper rule",
            DeniedBy::Move => "equal rules for both paths",
            DeniedBy::Steps => "fewer patterns with wildcards",
            _ => "a rule",
        };
        write!(f, "; the app can allow it with {remedy} in the option permissions.{scope}")
    }
}
