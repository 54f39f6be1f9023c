//! The permission policies that the embedder passes, and the decisions that the embedder receives.
//!
//! `docs/permissions.md` explains policies to users. Next: `compiled.rs`, the form in which a
//! policy is checked.

use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The effect of a rule or a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The operation is allowed.
    Allow,
    /// The operation fails with `EACCES`. A denied environment variable does not exist for the
    /// program.
    Deny,
}

/// A scope: a kind of resource with its own operations and rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Files.
    Fs,
    /// Sockets and lookups of host names.
    Network,
    /// Starting programs.
    ChildProcess,
    /// Signals to other processes, changes of the working directory, and process groups.
    Process,
    /// Environment variables.
    Env,
    /// Functions of the app, which guests call by name.
    Binding,
}

/// One rule of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRule {
    /// The effect of the rule.
    pub verdict: Verdict,
    /// The operations that the rule covers. `None` means all operations of the scope.
    pub operations: Option<Vec<String>>,
    /// The resources that the rule covers: paths in `fs`, patterns in the other scopes. `None`
    /// means all resources.
    pub patterns: Option<Vec<String>>,
}

/// The policy of one scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopePolicy {
    /// The effect where no rule matches.
    pub default: Verdict,
    /// The rules. The most specific matching rule decides; among equally specific rules a denying
    /// rule decides.
    pub rules: Vec<PermissionRule>,
}

/// The policy of a runtime, by scope. `None` is a scope's default: `network` allows only peers
/// inside the runtime, and every other scope allows everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of the scopes")]
pub struct PermissionPolicy {
    pub fs: Option<ScopePolicy>,
    pub network: Option<ScopePolicy>,
    pub child_process: Option<ScopePolicy>,
    pub process: Option<ScopePolicy>,
    pub env: Option<ScopePolicy>,
    pub binding: Option<ScopePolicy>,
}

impl PermissionPolicy {
    /// Returns the policy of a runtime whose embedder sets options of outside connections, but no
    /// policy. The scope `network` allows connections inside the runtime, and what the options
    /// allow. The SDK has an equal policy (`permissions/policy.ts`).
    pub fn of_outside() -> &'static Self {
        static POLICY: LazyLock<PermissionPolicy> = LazyLock::new(|| {
            let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
            let rule = |operations, patterns| PermissionRule { verdict: Verdict::Allow, operations, patterns };
            let rules = vec![rule(None, texts(&["localhost", "unix:*"])), rule(texts(&["connect", "dns", "udp"]), None)];
            PermissionPolicy { network: Some(ScopePolicy { default: Verdict::Deny, rules }), ..PermissionPolicy::default() }
        });
        &POLICY
    }
}

/// A permission decision, for a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The scope of the operation.
    pub scope: Scope,
    /// The name of the operation.
    pub operation: &'static str,
    /// The resource of the operation.
    pub resource: String,
    /// The result of the check.
    pub verdict: Verdict,
    /// The index of the deciding rule in the scope's list. `None` if no rule decided.
    pub rule: Option<u32>,
    /// The pattern of the rule that matched, as the embedder wrote the pattern. `None` if no rule
    /// decided, or if the rule applies to every resource.
    pub pattern: Option<String>,
    /// The sentence that explains a denied operation, as in the program's error. `None` for an
    /// allowed operation.
    pub reason: Option<String>,
    /// The process that made the call, or that receives the environment variable. `None` means the
    /// embedder.
    pub pid: Option<Pid>,
    /// The time of the decision in microseconds since 1970.
    pub time_us: u64,
}

/// Decisions in their order, and the number of decisions that were dropped after the last decision
/// in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the type's comment describes the fields")]
pub struct Decisions {
    pub decisions: Vec<Decision>,
    pub lost: u64,
}

/// Receives notifications of permission decisions.
pub trait PermissionListener: Send + Sync {
    /// Notifies the listener that the queue has decisions, which [`crate::Permissions::take`]
    /// returns. The next notification follows after a `take` has returned no decisions. The method
    /// runs inside system calls and must not block.
    fn pending(&self);
}

impl Scope {
    /// All scopes, in the order of their bits.
    pub const ALL: [Self; 6] = [Self::Fs, Self::Network, Self::ChildProcess, Self::Process, Self::Env, Self::Binding];

    /// Returns the name of the scope in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fs => "fs",
            Self::Network => "network",
            Self::ChildProcess => "childProcess",
            Self::Process => "process",
            Self::Env => "env",
            Self::Binding => "binding",
        }
    }

    /// Returns the name of a rule's field for the patterns.
    pub(crate) fn patterns(self) -> &'static str {
        if self == Self::Fs { "paths" } else { "patterns" }
    }
}

impl ScopePolicy {
    /// Returns a policy without rules, whose default allows or denies everything.
    pub fn always(default: Verdict) -> Self {
        Self { default, rules: Vec::new() }
    }
}

impl PermissionPolicy {
    /// Returns the policy of one scope. Returns `None` if the scope has its default.
    pub(crate) fn scope(&self, scope: Scope) -> Option<&ScopePolicy> {
        match scope {
            Scope::Fs => self.fs.as_ref(),
            Scope::Network => self.network.as_ref(),
            Scope::ChildProcess => self.child_process.as_ref(),
            Scope::Process => self.process.as_ref(),
            Scope::Env => self.env.as_ref(),
            Scope::Binding => self.binding.as_ref(),
        }
    }
}
