//! The messages about permissions: what the SDK sends, then what the sidecar sends. They are part of [`crate::messages`], in the order of
//! `docs/internals/protocol.md`.

use serde::{Deserialize, Serialize};

/// `default` and `mode` in a policy, `decision` in an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionMode {
    /// It may be done.
    Allow,
    /// It may not.
    Deny,
}

/// `permissions`: what a runtime's programs may do. A scope that is left out is as by default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(missing_docs, reason = "`docs/permissions.md` documents the scopes")]
pub struct PermissionsPolicy<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub fs: Option<PermissionsScope<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub network: Option<PermissionsScope<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub child_process: Option<PermissionsScope<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub process: Option<PermissionsScope<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub env: Option<PermissionsScope<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<PermissionsScope<'a>>,
}

/// What a policy says in one scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionsScope<'a> {
    /// Where no rule says anything.
    pub default: PermissionMode,
    /// See `docs/permissions.md` for which of them counts.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<PermissionsRule<'a>>>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionsRule<'a> {
    /// What it says.
    pub mode: PermissionMode,
    /// Operations that it is about; all when left out.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<Vec<&'a str>>,
    /// Paths or patterns that it is about; everything when left out.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub patterns: Option<Vec<&'a str>>,
}

/// `permissions.set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionsSet<'a> {
    /// Whose.
    pub runtime: u32,
    /// The whole policy.
    #[serde(borrow)]
    pub permissions: PermissionsPolicy<'a>,
}

/// `permissions.watch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionsWatch {
    /// Whose decisions.
    pub runtime: u32,
    /// Whether to hear of them from now on.
    pub on: bool,
}

/// `permissions.taken`: the next `permissions.events` may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionsTaken {
    /// Whose decisions.
    pub runtime: u32,
}

/// `permissions.events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionsEvents<'a> {
    /// Whose decisions.
    pub runtime: u32,
    /// In the order in which they were made.
    #[serde(borrow)]
    pub events: Vec<PermissionEvent<'a>>,
    /// Decisions after the last of these of which nobody will hear.
    pub lost: u64,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PermissionEvent<'a> {
    /// The kind of permission.
    pub scope: &'a str,
    /// Its operation.
    pub operation: &'a str,
    /// What it was about.
    pub resource: &'a str,
    /// What came of it.
    pub decision: PermissionMode,
    /// The place of the rule that decided in its scope's list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<u32>,
    /// The process that asked.
    pub pid: u32,
    /// Microseconds since 1970.
    pub time_us: u64,
}
