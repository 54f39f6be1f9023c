//! Messages about permissions: the policy of a runtime, and the decisions of its kernel.

use coldframe_ids::{Pid, RuntimeId};
use serde::{Deserialize, Serialize};

use super::Empty;
use crate::declare::{events, requests};

requests! {
    /// Messages about permissions.
    pub enum PermissionRequest<'a> {
        /// Replaces the policy of a runtime, from the next system call on.
        PermissionsSet(PermissionsSet<'a>) = 60 "permissions.set" -> Empty,
        /// Starts or stops the recording of a runtime's permission decisions.
        PermissionsWatch(PermissionsWatch) = 61 "permissions.watch" -> Empty,
        /// Removes decisions from the queue of a runtime and returns the decisions. The runtime may
        /// be paused.
        PermissionsTake(PermissionsTake) = 63 "permissions.take" -> PermissionsTaken<'a>,
    }
}

events! {
    EVENTS {
        /// The queue of a runtime has permission decisions. Sent again only after a
        /// `permissions.take` has returned no decisions. The frame's id is 0.
        PermissionsPending(PermissionsPending) = 62 "permissions.pending",
    }
}

/// Whether an operation is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionMode {
    /// The operation is allowed.
    Allow,
    /// The operation is denied.
    Deny,
}

/// A policy. An omitted scope has its default, which `docs/permissions.md` documents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Permissions<'a> {
    /// Files and directories.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub fs: Option<PermissionScope<'a>>,
    /// Sockets and host names.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub network: Option<PermissionScope<'a>>,
    /// Starting children.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub child_process: Option<PermissionScope<'a>>,
    /// Signals and other operations on processes.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub process: Option<PermissionScope<'a>>,
    /// Variables of the environment.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub env: Option<PermissionScope<'a>>,
    /// App bindings.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<PermissionScope<'a>>,
}

/// The rules of one scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionScope<'a> {
    /// The result when no rule matches.
    pub default: PermissionMode,
    /// The rules. `docs/permissions.md` says which of several matching rules decides.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<PermissionRule<'a>>>,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionRule<'a> {
    /// The result when the rule decides.
    pub mode: PermissionMode,
    /// The operations that the rule matches. Omitted: all operations.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<Vec<&'a str>>,
    /// The paths or patterns that the rule matches. Omitted: every resource.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub patterns: Option<Vec<&'a str>>,
}

/// `permissions.set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionsSet<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The whole policy.
    #[serde(borrow)]
    pub permissions: Permissions<'a>,
}

/// `permissions.watch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionsWatch {
    /// The runtime.
    pub runtime: RuntimeId,
    /// Whether decisions are recorded from now on. Decisions in the queue are dropped.
    pub on: bool,
}

/// `permissions.pending`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionsPending {
    /// The runtime.
    pub runtime: RuntimeId,
}

/// `permissions.take`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionsTake {
    /// The runtime.
    pub runtime: RuntimeId,
    /// Whether the reply has all decisions in the queue. Default: at most 128 decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
}

/// The reply to `permissions.take`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionsTaken<'a> {
    /// Decisions, oldest first.
    #[serde(borrow)]
    pub events: Vec<PermissionEvent<'a>>,
    /// The number of dropped decisions that followed the last decision of `events`.
    pub lost: u64,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PermissionEvent<'a> {
    /// The scope.
    pub scope: &'a str,
    /// The operation.
    pub operation: &'a str,
    /// The resource.
    pub resource: &'a str,
    /// The result.
    pub decision: PermissionMode,
    /// The index of the deciding rule in its scope. Omitted if the scope's default decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<u32>,
    /// The pattern of the deciding rule that matched. Omitted if no rule decided, or if the rule
    /// applies to every resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<&'a str>,
    /// The sentence that explains a denied operation, as in the program's error. Omitted for an
    /// allowed operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// The process that made the call, or that receives the environment variable. Absent if the
    /// SDK made the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<Pid>,
    /// The time of the decision, in microseconds since 1970.
    pub time_us: u64,
}
