//! The results of checks: allowed or refused, the rule, and a stable reason.

use crate::entry::List;
use crate::name::InvalidName;
use crate::registry::AddressKind;
use crate::special_names::SpecialName;

/// The place of a rule in the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId {
    /// The list that has the entry.
    pub list: List,
    /// The index of the entry in the list.
    pub index: usize,
}

/// The reason why a lookup or a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No rule allows the host and the port.
    NotAllowed,
    /// A rule denies the host and the port.
    Denied,
    /// The host is allowed, but the port is 25, 53 or 853 and no rule names the port.
    Port,
    /// The address is not public, and no entry of `private` opens the address and the port.
    PrivateAddress(AddressKind),
    /// Names are allowed, and no allowed name has been looked up with this address.
    NameNotPinned,
    /// The name is never looked up.
    SpecialName(SpecialName),
    /// The text is no host name.
    InvalidName(InvalidName),
    /// No rule about the host allows the method.
    Method,
    /// No rule about the host allows the path.
    Path,
    /// Servers could read the path in different ways, so that rules cannot judge the path.
    InvalidPath,
    /// A limit is reached.
    Limit(Limit),
}

/// A limit of a runtime's connections and lookups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// New connections per second.
    ConnectsPerSecond,
    /// Different names below one wildcard per minute.
    WildcardNames,
    /// Bytes of queries for names below one wildcard per hour.
    WildcardBytes,
}

impl Limit {
    /// Returns the stable text of the limit.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConnectsPerSecond => "connectsPerSecond",
            Self::WildcardNames => "wildcardNames",
            Self::WildcardBytes => "wildcardBytes",
        }
    }
}

impl Reason {
    /// Returns the stable text of the reason.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAllowed => "not-allowed",
            Self::Denied => "denied",
            Self::Port => "port",
            Self::PrivateAddress(_) => "private-address",
            Self::NameNotPinned => "name-not-pinned",
            Self::SpecialName(_) => "special-name",
            Self::InvalidName(_) => "invalid-name",
            Self::Method => "method",
            Self::Path => "path",
            Self::InvalidPath => "invalid-path",
            Self::Limit(_) => "limit",
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The lookup or the connection is allowed.
    Allowed {
        /// The rule that allows. `None` if `outside: 'public'` allows.
        rule: Option<RuleId>,
    },
    /// The lookup or the connection is refused.
    Refused {
        /// The reason.
        reason: Reason,
        /// The rule that denies, for [`Reason::Denied`]. For [`Reason::Method`] a rule that allows
        /// the path with other methods.
        rule: Option<RuleId>,
    },
}

impl Decision {
    pub(crate) fn refused(reason: Reason) -> Self {
        Self::Refused { reason, rule: None }
    }

    /// Returns whether the check allows.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed { .. })
    }

    /// Returns the rule that decides. `None` means the default.
    pub fn rule(&self) -> Option<RuleId> {
        match self {
            Self::Allowed { rule } | Self::Refused { rule, .. } => *rule,
        }
    }

    /// Returns the reason of a refusal.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Self::Allowed { .. } => None,
            Self::Refused { reason, .. } => Some(*reason),
        }
    }
}
