//! Messages about permissions, and the decisions that the kernel reports.
//!
//! The next `permissions.events` is sent after the SDK has handled the previous message. A busy
//! guest therefore fills only the core's own queue, which is bounded.

use std::sync::Arc;

use coldframe_core as core;
use coldframe_core::{Decisions, PermissionListener, PermissionPolicy, ScopePolicy, Verdict};
use coldframe_ids::RuntimeId;
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{
    PermissionEvent, PermissionMode, PermissionRequest, PermissionRule, PermissionScope, Permissions, PermissionsEvents,
};

use crate::message::{Message, Outlet};
use crate::session::{FrameId, Handled, Session};

/// The largest number of decisions in one message.
const MAX_EVENTS: usize = 128;

impl Session {
    /// Handles a message about permissions.
    pub(crate) fn permission(&mut self, id: FrameId, request: PermissionRequest<'_>) -> Handled {
        match request {
            PermissionRequest::PermissionsSet(set) => self.on_runtime(id.request()?, set.runtime, |runtime, reply| {
                runtime.permissions().set(&policy(&set.permissions))?;
                Ok(reply.done())
            }),
            PermissionRequest::PermissionsWatch(watch) => {
                self.on_runtime(id.request()?, watch.runtime, |runtime, reply| {
                    let subscriber = DecisionSender { runtime: watch.runtime, outlet: Arc::clone(&self.replies.outlet) };
                    let subscriber = watch.on.then(|| Arc::new(subscriber) as Arc<dyn PermissionListener>);
                    runtime.permissions().listen(subscriber);
                    Ok(reply.done())
                });
            }
            PermissionRequest::PermissionsTaken(taken) => {
                if let Some(runtime) = self.live_or_pausing(taken.runtime) {
                    send(taken.runtime, &runtime.permissions().take(MAX_EVENTS), &*self.replies.outlet);
                }
            }
        }
        Ok(None)
    }
}

/// Sends the decisions of one runtime.
struct DecisionSender {
    runtime: RuntimeId,
    outlet: Arc<dyn Outlet>,
}

impl PermissionListener for DecisionSender {
    fn pending(&self, take: &dyn Fn(usize) -> Decisions) {
        send(self.runtime, &take(MAX_EVENTS), &*self.outlet);
    }
}

/// Sends decisions, if there are any.
fn send(runtime: RuntimeId, taken: &Decisions, outlet: &dyn Outlet) {
    if taken.decisions.is_empty() && taken.lost == 0 {
        return;
    }
    let body = PermissionsEvents { runtime, events: taken.decisions.iter().map(event).collect(), lost: taken.lost };
    outlet.send(Message::event(Kind::PermissionsEvents, 0, &body, 64 + 320 * taken.decisions.len()));
}

fn event(decision: &core::Decision) -> PermissionEvent<'_> {
    PermissionEvent {
        scope: decision.scope.name(),
        operation: decision.operation,
        resource: &decision.resource,
        decision: mode(decision.verdict),
        rule: decision.rule,
        pattern: decision.pattern.as_deref(),
        reason: decision.reason.as_deref(),
        pid: decision.pid,
        time_us: decision.time_us,
    }
}

/// Converts the policy of a message.
pub(crate) fn policy(given: &Permissions<'_>) -> PermissionPolicy {
    PermissionPolicy {
        fs: given.fs.as_ref().map(scope),
        network: given.network.as_ref().map(scope),
        child_process: given.child_process.as_ref().map(scope),
        process: given.process.as_ref().map(scope),
        env: given.env.as_ref().map(scope),
        binding: given.binding.as_ref().map(scope),
    }
}

fn scope(given: &PermissionScope<'_>) -> ScopePolicy {
    let texts = |texts: &Vec<&str>| texts.iter().map(|text| (*text).to_owned()).collect();
    let rule = |rule: &PermissionRule<'_>| core::PermissionRule {
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

/// Converts a policy for a message.
pub(crate) fn permissions(policy: &PermissionPolicy) -> Permissions<'_> {
    Permissions {
        fs: policy.fs.as_ref().map(scope_of),
        network: policy.network.as_ref().map(scope_of),
        child_process: policy.child_process.as_ref().map(scope_of),
        process: policy.process.as_ref().map(scope_of),
        env: policy.env.as_ref().map(scope_of),
        binding: policy.binding.as_ref().map(scope_of),
    }
}

fn scope_of(scope: &ScopePolicy) -> PermissionScope<'_> {
    fn texts(texts: &[String]) -> Vec<&str> {
        texts.iter().map(String::as_str).collect()
    }
    let rules = scope.rules.iter().map(|rule| PermissionRule {
        mode: mode(rule.verdict),
        operations: rule.operations.as_deref().map(texts),
        patterns: rule.patterns.as_deref().map(texts),
    });
    PermissionScope { default: mode(scope.default), rules: (!scope.rules.is_empty()).then(|| rules.collect()) }
}

fn mode(verdict: Verdict) -> PermissionMode {
    match verdict {
        Verdict::Allow => PermissionMode::Allow,
        Verdict::Deny => PermissionMode::Deny,
    }
}
