//! What a runtime's programs may do, as the caller says it, and what the caller hears of it. How a policy is carried out is in
//! `kernel/permissions/`; `docs/permissions.md` is the page for people.

use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};

/// Whether something may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// It may.
    Allow,
    /// It is `EACCES`; of an environment variable: it is not there.
    Deny,
}

/// A kind of permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Files.
    Fs,
    /// Sockets and names of hosts.
    Network,
    /// Starting programs.
    ChildProcess,
    /// Signals to others, the working directory, process groups.
    Process,
    /// Environment variables.
    Env,
    /// The caller's own functions.
    Binding,
}

/// One rule of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRule {
    /// What it says.
    pub verdict: Verdict,
    /// The operations it is about; all of the scope when left out.
    pub operations: Option<Vec<String>>,
    /// What it is about: paths in `fs`, patterns elsewhere; everything when left out.
    pub patterns: Option<Vec<String>>,
}

/// What a policy says in one scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopePolicy {
    /// Where no rule says anything.
    pub default: Verdict,
    /// The deepest one counts, and among those of one depth one that denies.
    pub rules: Vec<PermissionRule>,
}

/// What a runtime's programs may do. A scope that is left out is as by default: all is allowed, and of the network what stays inside the
/// runtime.
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

/// A decision, for who subscribes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What kind of permission was asked for.
    pub scope: Scope,
    /// Its operation.
    pub operation: &'static str,
    /// What it was to be done with.
    pub resource: String,
    /// What came of it.
    pub verdict: Verdict,
    /// The rule that decided, by its place in the scope's list; none when no rule did.
    pub rule: Option<u32>,
    /// The process that asked, or that gets a variable. `None`: the embedder.
    pub pid: Option<Pid>,
    /// Microseconds since 1970.
    pub time_us: u64,
}

/// Decisions in the order in which they were made, and how many were lost after the last of them because nobody took them in time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "said above")]
pub struct Decisions {
    pub decisions: Vec<Decision>,
    pub lost: u64,
}

/// Who wants to hear of decisions.
pub trait PermissionListener: Send + Sync {
    /// There are some to be taken: with `take`, or later with [`crate::Permissions::take`]. Called once, and again only for those that come
    /// after a `take` that gave none. Calls come from within system calls: they must not block.
    fn pending(&self, take: &dyn Fn(usize) -> Decisions);
}

impl Scope {
    /// All, in the order of their bits.
    pub const ALL: [Self; 6] = [Self::Fs, Self::Network, Self::ChildProcess, Self::Process, Self::Env, Self::Binding];

    /// Its name in a policy.
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

    /// What its patterns are called.
    pub(crate) fn patterns(self) -> &'static str {
        if self == Self::Fs { "paths" } else { "patterns" }
    }
}

impl ScopePolicy {
    /// Everything, or nothing.
    pub fn always(default: Verdict) -> Self {
        Self { default, rules: Vec::new() }
    }
}

impl PermissionPolicy {
    /// What it says in a scope, if it says something.
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
