//! Messages about permissions, and the decisions that the kernel reports.
//!
//! The SDK is notified of decisions and takes the decisions with requests. A busy guest therefore
//! fills only the kernel's queue, which is bounded. All decisions are in replies, whose order is
//! the order of the requests. An event could arrive after a later reply.

use std::sync::Arc;

use coldframe_core as core;
use coldframe_core::{Decisions, Error, PermissionListener, PermissionPolicy, ScopePolicy, Verdict};
use coldframe_ids::RuntimeId;
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{
    PermissionEvent, PermissionMode, PermissionRequest, PermissionRule, PermissionScope, Permissions, PermissionsPending,
    PermissionsTaken,
};

use crate::convert;
use crate::message::{Message, Outlet};
use crate::replies::Reply;
use crate::session::{FrameId, Handled, Session};
use crate::table::ErrorContext;

/// The largest number of decisions in the reply to a request without `all`.
const MAX_EVENTS: usize = 128;

impl Session {
    /// Handles a message about permissions.
    pub(crate) fn permission(&mut self, id: FrameId, request: PermissionRequest<'_>, may_run_here: bool) -> Handled {
        match request {
            PermissionRequest::PermissionsSet(set) => {
                let policy = policy(&set.permissions);
                return Ok(self.on_runtime(id.request()?, set.runtime, may_run_here, move |runtime, reply| {
                    runtime.permissions().set(&policy)?;
                    Ok(reply.done())
                }));
            }
            PermissionRequest::PermissionsWatch(watch) => {
                let subscriber = DecisionSender { runtime: watch.runtime, outlet: Arc::clone(&self.replies.outlet) };
                let subscriber = watch.on.then(|| Arc::new(subscriber) as Arc<dyn PermissionListener>);
                return Ok(self.on_runtime(id.request()?, watch.runtime, may_run_here, move |runtime, reply| {
                    runtime.permissions().listen(subscriber);
                    Ok(reply.done())
                }));
            }
            PermissionRequest::PermissionsTake(take) => {
                let most = if take.all == Some(true) { usize::MAX } else { MAX_EVENTS };
                let id = id.request()?;
                match self.take_decisions(take.runtime, most) {
                    Some(Ok(decisions)) => self.send(taken(Reply(id), &decisions)),
                    Some(Err(error)) => self.refuse(id, &convert::failure(&error, ErrorContext::runtime(take.runtime))),
                    None => self.refuse(id, &self.no_runtime(take.runtime)),
                }
            }
        }
        Ok(None)
    }

    /// Takes decisions of a live, pausing or paused runtime.
    fn take_decisions(&self, runtime: RuntimeId, most: usize) -> Option<Result<Decisions, Error>> {
        match self.live_or_pausing(runtime) {
            Some(live) => Some(live.runtime.contain(|runtime| Ok(runtime.permissions().take(most)))),
            None => Some(Ok(self.carryover(runtime)?.take_decisions(most))),
        }
    }
}

/// Notifies the SDK of the decisions of one runtime.
struct DecisionSender {
    runtime: RuntimeId,
    outlet: Arc<dyn Outlet>,
}

impl PermissionListener for DecisionSender {
    fn pending(&self) {
        let body = PermissionsPending { runtime: self.runtime };
        self.outlet.send(Message::event(Kind::PermissionsPending, 0, &body, 0));
    }
}

/// Encodes the reply that has the decisions.
fn taken(reply: Reply, taken: &Decisions) -> Message {
    let body = PermissionsTaken { events: taken.decisions.iter().map(event).collect(), lost: taken.lost };
    Message::reply(reply.0, &body, 64 + 320 * taken.decisions.len())
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
