//! Changes of a policy: each field of the options is left, cleared or replaced.
//!
//! An update that names one list must not remove the rules of another list, so a change is not a
//! whole policy. Next: `check.rs`.

use crate::http::HttpRule;
use crate::policy::{EgressOptions, Outside};

/// The change of one field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// The field stays unchanged.
    #[default]
    Leave,
    /// The field has its default again.
    Clear,
    /// The field has a new value.
    Replace(T),
}

impl<T: Clone + Default> Change<T> {
    fn apply(self, present: &T) -> T {
        match self {
            Self::Leave => present.clone(),
            Self::Clear => T::default(),
            Self::Replace(value) => value,
        }
    }
}

/// The change of a policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyChange {
    /// The hosts that a runtime reaches without a rule.
    pub outside: Change<Outside>,
    /// Hosts that are allowed.
    pub allow: Change<Vec<String>>,
    /// Hosts that are denied.
    pub deny: Change<Vec<String>>,
    /// Addresses that are allowed although they are not public.
    pub private: Change<Vec<String>>,
    /// Rules about HTTP requests.
    pub http: Change<Vec<HttpRule>>,
}

impl PolicyChange {
    /// Returns the changed options.
    pub fn apply(self, present: &EgressOptions) -> EgressOptions {
        EgressOptions {
            outside: self.outside.apply(&present.outside),
            allow: self.allow.apply(&present.allow),
            deny: self.deny.apply(&present.deny),
            private: self.private.apply(&present.private),
            http: self.http.apply(&present.http),
        }
    }
}
