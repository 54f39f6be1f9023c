//! Permissions: the operations that the programs of a runtime may use. System calls check the
//! permissions.
//!
//! ```text
//! fs/guard.rs, net/calls.rs, processes/ ── About, operations ──► Permissions
//!     Permissions ──► compiled.rs ──► tree.rs, ranked.rs, hosts.rs
//!     Permissions ──► audit.rs ──► the listener
//! ```
//!
//! Each runtime has one policy. The embedder can replace the policy while programs run. The next
//! check uses the new policy. If a scope needs no checks, a check reads only one number
//! ([`Permissions::checks`]). The embedder's own operations are not checked. Next: `operations.rs`.

mod audit;
mod compiled;
mod denied;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod glob;
mod hosts;
pub(crate) mod operations;
pub mod policy;
mod ranked;
#[cfg(any(test, feature = "fuzzing"))]
mod reference;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use compiled::About;
pub(crate) use denied::{Denied, DeniedBy};
pub(crate) use hosts::{Peer, is_local_name};

use crate::caller_scope::{current_caller, is_repeated};
use crate::control::check_may_wait;
use crate::permissions::policy::{Decision, Decisions, PermissionListener, PermissionPolicy, Scope, Verdict};
use crate::steps;
use crate::text::{Text, Variables};
pub use audit::Audit;
use coldframe_error::Error;
use coldframe_ids::Pid;
use coldframe_panics::runtime::{RwLock, RwLockWriteGuard};
use coldframe_sys as sys;
use compiled::{Compiled, bit};
use operations::{Operations, each, env, files};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The bit that is set while a listener is attached. All scopes are then checked, so that the
/// listener receives every decision.
const LISTENED: u8 = 0x80;

/// A runtime's policy, and the listener of its decisions.
pub struct Permissions {
    /// The scopes that need checks, as bits. The field can be read without the lock.
    checked: AtomicU8,
    policy: RwLock<Arc<Compiled>>,
    audit: RwLock<Arc<Audit>>,
}

impl Default for Permissions {
    fn default() -> Self {
        Self { checked: AtomicU8::new(0), policy: RwLock::new(compiled::default()), audit: RwLock::default() }
    }
}

/// A snapshot of a policy. The policy has been validated.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "PermissionPolicy", into = "PermissionPolicy")]
pub(crate) struct PolicySnapshot(Arc<Compiled>);

impl TryFrom<PermissionPolicy> for PolicySnapshot {
    type Error = Error;

    fn try_from(policy: PermissionPolicy) -> Result<Self, Error> {
        Self::of(&policy)
    }
}

impl From<PolicySnapshot> for PermissionPolicy {
    fn from(saved: PolicySnapshot) -> Self {
        saved.0.source.clone()
    }
}

impl PolicySnapshot {
    pub(crate) fn of(policy: &PermissionPolicy) -> Result<Self, Error> {
        Ok(Self(compiled::of(policy)?))
    }
}

impl Permissions {
    pub(crate) fn snapshot(&self) -> PolicySnapshot {
        PolicySnapshot(self.policy.read().clone())
    }

    /// Restores a policy from a snapshot, without a listener.
    pub(crate) fn restore(PolicySnapshot(policy): PolicySnapshot) -> Self {
        Self { checked: AtomicU8::new(policy.checked_scopes), policy: RwLock::new(policy), audit: RwLock::default() }
    }

    /// Takes the policy, the listener and its queue from `before`, the permissions that this value
    /// replaces. The listener receives no further decisions of `before`. `take` of both values
    /// returns decisions of the queue, because the session may still refer to `before`.
    pub(crate) fn take_over(&self, before: &Self) {
        *self.replace() = before.policy.read().clone();
        self.continue_audit(before.audit());
        let held = before.replace();
        before.checked.store(held.checked_scopes, Ordering::Release);
    }

    /// Replaces the policy for all later checks. Fails without a change if the policy is invalid.
    pub fn set(&self, policy: &PermissionPolicy) -> Result<(), Error> {
        let compiled = compiled::of(policy)?;
        let mut held = self.replace();
        self.checked.store(compiled.checked_scopes | self.checked.load(Ordering::Acquire) & LISTENED, Ordering::Release);
        *held = compiled;
        Ok(())
    }

    /// Returns the policy of the last call of `set`.
    pub fn policy(&self) -> PermissionPolicy {
        check_may_wait();
        self.policy.read().source.clone()
    }

    /// Sends all further decisions to `listener`, or to no listener.
    pub fn listen(&self, listener: Option<Arc<dyn PermissionListener>>) {
        let held = self.replace();
        let listened = if listener.is_some() { LISTENED } else { 0 };
        self.audit.read().listen(listener);
        self.checked.store(held.checked_scopes | listened, Ordering::Release);
    }

    /// Locks the policy for a change. A guest's call holds the policy during a check, so the caller
    /// may wait for a guest.
    fn replace(&self) -> RwLockWriteGuard<'_, Arc<Compiled>> {
        check_may_wait();
        self.policy.write()
    }

    /// Returns the listener and its queue, for the permissions that replace this value.
    pub fn audit(&self) -> Arc<Audit> {
        self.audit.read().clone()
    }

    /// Sends all further decisions to the listener of `audit`, after the decisions in its queue.
    pub fn continue_audit(&self, audit: Arc<Audit>) {
        let held = self.replace();
        let listened = if audit.has_listener() { LISTENED } else { 0 };
        *self.audit.write() = audit;
        self.checked.store(held.checked_scopes | listened, Ordering::Release);
    }

    /// Removes and returns at most `most` decisions of the listener's queue.
    pub fn take(&self, most: usize) -> Decisions {
        self.audit.read().take(most)
    }

    /// Returns whether operations of a scope need a check.
    #[inline]
    pub(crate) fn checks(&self, scope: Scope) -> bool {
        self.checked.load(Ordering::Acquire) & (bit(scope) | LISTENED) != 0
    }

    /// Checks that the caller may use all these operations on a resource. Returns the first denied
    /// operation as the error.
    pub(crate) fn check(&self, about: About<'_>, operations: Operations) -> Result<(), Denied> {
        if self.checks(about.scope()) { self.check_as(current_caller(), about, operations) } else { Ok(()) }
    }

    /// Checks that the process `pid` may use all these operations. The process need not be the
    /// caller.
    fn check_as(&self, pid: Option<Pid>, about: About<'_>, operations: Operations) -> Result<(), Denied> {
        let policy = self.policy.read();
        let allowed = policy.allowed(about);
        self.report_decisions(&policy, pid, about, operations, |operation| {
            (allowed & operation == 0).then(|| policy.denied(about, operation))
        });
        match operations & !allowed {
            0 => Ok(()),
            denied => Err(policy.denied(about, denied)),
        }
    }

    /// Reports the decision about each operation to the listener, if any. `denied` returns the
    /// reason of a denied operation, and `None` for an allowed operation.
    fn report_decisions(
        &self,
        policy: &Compiled,
        pid: Option<Pid>,
        about: About<'_>,
        operations: Operations,
        denied: impl Fn(Operations) -> Option<Denied>,
    ) {
        // A call that waits for an app file system runs again after each reply, and must report
        // each decision once.
        if self.checked.load(Ordering::Acquire) & LISTENED == 0 || is_repeated() {
            return;
        }
        let time_us = sys::wall_ns() / 1_000;
        for (operation, name) in each(about.scope(), operations) {
            let denied = denied(operation);
            let decided_by_rule =
                !matches!(denied.map(|denied| denied.by), Some(DeniedBy::Move | DeniedBy::Steps | DeniedBy::Boundary));
            let decider = decided_by_rule.then(|| policy.decider(about, operation)).flatten();
            self.audit.read().add(Decision {
                scope: about.scope(),
                operation: name,
                resource: about.to_string(),
                verdict: if denied.is_none() { Verdict::Allow } else { Verdict::Deny },
                rule: decider.map(|effect| effect.rule),
                pattern: decider.and_then(|effect| policy.pattern(about.scope(), effect)).map(str::to_owned),
                reason: denied.map(|denied| denied.to_string()),
                pid,
                time_us,
            });
        }
    }

    /// Checks that a program may call the app binding `name`.
    pub(crate) fn check_binding(&self, name: &str) -> Result<(), Denied> {
        self.check(About::Binding(name), operations::binding::CALL)
    }

    /// Returns the reason why an operation on a peer outside the runtime is denied. Reports the
    /// decision to the listener.
    pub(crate) fn deny_outside(&self, peer: Peer<'_>, operation: Operations) -> Denied {
        let (policy, about) = (self.policy.read(), About::Peer(peer));
        let is_allowed = policy.allowed(about) & operation == operation;
        let denied = policy.denied(about, operation);
        let by = if is_allowed { DeniedBy::Boundary } else { denied.by };
        let denied = Denied { by, is_outside: true, ..denied };
        self.report_decisions(&policy, current_caller(), about, operation, |_| Some(denied));
        denied
    }

    /// Checks that a file may be renamed from `from` to `to`, or linked if `both` is set. An
    /// operation that is denied at the old path must not become allowed at the new path. After a
    /// link, the file has both paths, so the reverse must hold too. The error names the rename or
    /// the link.
    pub(crate) fn check_move(&self, from: &[u8], to: &[u8], is_directory: bool, both: bool) -> Result<(), Denied> {
        if !self.checks(Scope::Fs) {
            return Ok(());
        }
        let policy = self.policy.read();
        let (one, other) = (policy.judge(from), policy.judge(to));
        let kept = !steps::are_used_up()
            && policy.keeps(&one, &other, is_directory)
            && (!both || policy.keeps(&other, &one, is_directory));
        if kept {
            return Ok(());
        }
        let operation = if both { files::LINK } else { files::RENAME };
        let by = if steps::are_used_up() { DeniedBy::Steps } else { DeniedBy::Move };
        let denied = Denied { by, ..policy.denied(About::Path(to), operation) };
        self.report_decisions(&policy, current_caller(), About::Path(to), operation, |_| Some(denied));
        Err(denied)
    }

    /// Returns whether all `operations` on a path are allowed. The listener receives no report,
    /// because an earlier check has reported the decision.
    pub(crate) fn sees(&self, path: &[u8], operations: Operations) -> bool {
        !self.checks(Scope::Fs) || operations & !self.policy.read().judge(path).allowed == 0
    }

    /// Removes the environment variables that the process `pid` must not receive. `given` is the
    /// environment that the parent received. A variable that the parent added or changed also needs
    /// the permission to set variables.
    pub fn filter_env(&self, pid: Option<Pid>, env: &mut Variables, given: Option<&[(Text, Text)]>) {
        if !self.checks(Scope::Env) {
            return;
        }
        // Most programs pass their own environment on.
        let changed = given.filter(|given| *given != env.as_slice());
        let given: Option<HashSet<_>> = changed.map(|given| given.iter().collect());
        env.retain(|pair| {
            let set = given.as_ref().is_some_and(|given| !given.contains(pair));
            let operations = if set { env::READ | env::WRITE } else { env::READ };
            self.check_as(pid, About::Variable(&pair.0), operations).is_ok()
        });
    }
}
