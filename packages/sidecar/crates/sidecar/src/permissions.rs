//! Requests about a runtime's permissions, and the messages that tell of decisions: one at a time is on its way, and the next one leaves when
//! the SDK has taken it, so that a busy guest fills no queue but the core's own, which is bounded.

use std::sync::Arc;

use coldframe_core as core;
use coldframe_core::{Decisions, PermissionListener, PermissionPolicy, Runtime, ScopePolicy, Verdict};
use coldframe_protocol::messages::{
    Kind, PermissionEvent, PermissionMode, PermissionsEvents, PermissionsPolicy, PermissionsRule, PermissionsScope,
    PermissionsSet, PermissionsWatch,
};

use crate::outgoing::Outgoing;
use crate::wire;

/// Decisions in one message.
pub const MOST: usize = 128;

/// A policy as the core takes it.
pub fn policy(given: &PermissionsPolicy<'_>) -> PermissionPolicy {
    PermissionPolicy {
        fs: given.fs.as_ref().map(scope),
        network: given.network.as_ref().map(scope),
        child_process: given.child_process.as_ref().map(scope),
        process: given.process.as_ref().map(scope),
        env: given.env.as_ref().map(scope),
        binding: given.binding.as_ref().map(scope),
    }
}

fn scope(given: &PermissionsScope<'_>) -> ScopePolicy {
    let texts = |texts: &Vec<&str>| texts.iter().map(|text| (*text).to_owned()).collect();
    let rule = |rule: &PermissionsRule<'_>| core::PermissionRule {
        verdict: verdict(rule.mode),
        operations: rule.operations.as_ref().map(texts),
        patterns: rule.patterns.as_ref().map(texts),
    };
    ScopePolicy { default: verdict(given.default), rules: given.rules.iter().flatten().map(rule).collect() }
}

fn verdict(mode: PermissionMode) -> Verdict {
    match mode {
        PermissionMode::Allow => Verdict::Allow,
        PermissionMode::Deny => Verdict::Deny,
    }
}

/// The same back.
pub fn told(policy: &PermissionPolicy) -> PermissionsPolicy<'_> {
    PermissionsPolicy {
        fs: policy.fs.as_ref().map(scope_told),
        network: policy.network.as_ref().map(scope_told),
        child_process: policy.child_process.as_ref().map(scope_told),
        process: policy.process.as_ref().map(scope_told),
        env: policy.env.as_ref().map(scope_told),
        binding: policy.binding.as_ref().map(scope_told),
    }
}

fn scope_told(scope: &ScopePolicy) -> PermissionsScope<'_> {
    fn texts(texts: &[String]) -> Vec<&str> {
        texts.iter().map(String::as_str).collect()
    }
    let rules = scope.rules.iter().map(|rule| PermissionsRule {
        mode: mode(rule.verdict),
        operations: rule.operations.as_deref().map(texts),
        patterns: rule.patterns.as_deref().map(texts),
    });
    PermissionsScope { default: mode(scope.default), rules: (!scope.rules.is_empty()).then(|| rules.collect()) }
}

fn mode(verdict: Verdict) -> PermissionMode {
    match verdict {
        Verdict::Allow => PermissionMode::Allow,
        Verdict::Deny => PermissionMode::Deny,
    }
}

/// `permissions.set`.
pub fn set(set: &PermissionsSet<'_>, runtime: &Runtime) -> Result<(), core::Error> {
    runtime.permissions().set(&policy(&set.permissions))
}

/// `permissions.watch`.
pub fn watch(watch: PermissionsWatch, runtime: &Runtime, outgoing: &Arc<Outgoing>) {
    let listener = || Listener { runtime: watch.runtime, outgoing: Arc::clone(outgoing) };
    runtime.permissions().listen(watch.on.then(|| Arc::new(listener()) as Arc<dyn PermissionListener>));
}

/// Tells of decisions, if there are any.
pub fn send(runtime: u32, taken: &Decisions, outgoing: &Outgoing) {
    if taken.decisions.is_empty() && taken.lost == 0 {
        return;
    }
    let body = PermissionsEvents { runtime, events: taken.decisions.iter().map(event).collect(), lost: taken.lost };
    outgoing.push(wire::frame(Kind::PermissionsEvents, 0, &body, 64 + 160 * taken.decisions.len()));
}

fn event(decision: &core::Decision) -> PermissionEvent<'_> {
    PermissionEvent {
        scope: decision.scope.name(),
        operation: decision.operation,
        resource: &decision.resource,
        decision: mode(decision.verdict),
        rule: decision.rule,
        pid: decision.pid,
        time_us: decision.time_us,
    }
}

struct Listener {
    runtime: u32,
    outgoing: Arc<Outgoing>,
}

impl PermissionListener for Listener {
    fn pending(&self, take: &dyn Fn(usize) -> Decisions) {
        send(self.runtime, &take(MOST), &self.outgoing);
    }
}
