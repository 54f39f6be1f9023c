//! Messages about connections out of a runtime.
//!
//! The edge process answers most of these requests, on another thread. Like permission decisions,
//! events wait in a bounded queue, from which the SDK takes events with requests.

use std::borrow::Cow;
use std::sync::Arc;

use coldframe_core as core;
use coldframe_core::{CloseReason, Done, Existing, FlowInfo, OutsideConnections, OutsideDecision, QueueListener, Rule};
use coldframe_ids::{RequestId, RuntimeId};
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{
    OutsideEvent, OutsideEventType, OutsideExisting, OutsideFlow, OutsideFlowList, OutsidePending, OutsideProtocol,
    OutsideRequest, OutsideTaken, OutsideVerdict, OutsideWalls, SecretsKey, SecretsRequest, WallPart,
};

use crate::convert;
use crate::message::{Message, Outlet};
use crate::outside_options;
use crate::replies::Reply;
use crate::session::{Handled, Job, Session};
use crate::table::ErrorContext;

/// The largest number of events in the reply to a request without `all`.
pub(crate) const MAX_EVENTS: usize = 128;

impl Session {
    /// Handles a message about connections out of a runtime.
    pub(crate) fn outside(&mut self, id: RequestId, request: OutsideRequest<'_>, may_run_here: bool) -> Handled {
        match request {
            OutsideRequest::OutsideUpdate(update) => {
                let runtime = update.runtime;
                let existing = match update.existing {
                    Some(OutsideExisting::Keep) => Existing::Keep,
                    Some(OutsideExisting::Recheck) | None => Existing::Recheck,
                };
                match outside_options::change(&update.change, &update.clear.unwrap_or_default()) {
                    Ok(change) => {
                        return Ok(self.on_outside(
                            id,
                            runtime,
                            may_run_here,
                            |(), reply| reply.done(),
                            move |outside, done| {
                                outside.update(change, existing, done);
                            },
                        ));
                    }
                    Err(error) => self.refuse(id, &convert::failure(&error, ErrorContext::runtime(runtime))),
                }
            }
            OutsideRequest::OutsideCheck(check) => {
                let (url, method) = (check.url.to_owned(), check.method.unwrap_or("GET").to_owned());
                return Ok(self.on_outside(id, check.runtime, may_run_here, verdict, move |outside, done| {
                    outside.check(url, method, done);
                }));
            }
            OutsideRequest::OutsideFlows(about) => {
                return Ok(self.on_outside(id, about.runtime, may_run_here, flow_list, |outside, done| outside.flows(done)));
            }
            OutsideRequest::OutsideWalls(about) => {
                return Ok(self.on_outside(id, about.runtime, may_run_here, edge_walls, |outside, done| {
                    done(Ok(outside.edge_walls()));
                }));
            }
            OutsideRequest::OutsideWatch(watch) => {
                let sender = EventSender { runtime: watch.runtime, outlet: Arc::clone(&self.replies.outlet) };
                let listener = watch.on.then(|| Arc::new(sender) as Arc<dyn QueueListener>);
                return Ok(self.on_runtime(id, watch.runtime, may_run_here, move |runtime, reply| {
                    runtime.outside().listen(listener);
                    Ok(reply.done())
                }));
            }
            OutsideRequest::OutsideTake(take) => {
                let most = if take.all == Some(true) { usize::MAX } else { MAX_EVENTS };
                match self.live_or_pausing(take.runtime) {
                    Some(live) => self.send(taken(Reply(id), &live.runtime.outside().take(most))),
                    None => self.refuse(id, &self.no_runtime(take.runtime)),
                }
            }
            OutsideRequest::OutsideRoots(roots) => match self.core.set_roots(roots.pem) {
                Ok(()) => self.send(Reply(id).done()),
                Err(error) => self.refuse(id, &convert::failure(&error, ErrorContext::NONE)),
            },
        }
        Ok(None)
    }

    /// Handles a message about the values of a runtime's secrets.
    pub(crate) fn secrets(&mut self, id: RequestId, request: SecretsRequest<'_>, may_run_here: bool) -> Handled {
        match request {
            SecretsRequest::SecretsKey(about) => Ok(self.on_outside(
                id,
                about.runtime,
                may_run_here,
                |key: Option<core::SecretsKey>, reply| reply.body(&SecretsKey { key: key.as_ref().map(|key| &key[..]) }, 64),
                |outside, done| outside.secrets_key(done),
            )),
            SecretsRequest::SecretsPut(put) => {
                let Ok(key) = core::SecretsKey::try_from(put.key) else {
                    let (what, expected) = ("secrets.put.key".to_owned(), "32 bytes".to_owned());
                    let error = core::Error::InvalidRequest { what, expected, received: format!("{} bytes", put.key.len()) };
                    self.refuse(id, &convert::failure(&error, ErrorContext::runtime(put.runtime)));
                    return Ok(None);
                };
                let sealed = put.sealed.to_vec();
                Ok(self.on_outside(
                    id,
                    put.runtime,
                    may_run_here,
                    |(), reply| reply.done(),
                    move |outside, done| {
                        outside.put_secrets(key, sealed, done);
                    },
                ))
            }
        }
    }

    /// Answers a request with the result that the edge process sends later. `call` runs after the
    /// earlier calls on the runtime.
    fn on_outside<T: Send + 'static>(
        &self,
        id: RequestId,
        runtime: RuntimeId,
        may_run_here: bool,
        encode: impl FnOnce(T, Reply) -> Message + Send + 'static,
        call: impl FnOnce(&OutsideConnections, Done<T>) + Send + 'static,
    ) -> Option<Job> {
        let Some(live) = self.open_runtime(runtime) else {
            self.refuse(id, &self.no_runtime(runtime));
            return None;
        };
        let (handle, outlet) = (live.runtime.clone(), Arc::clone(&self.replies.outlet));
        let context = ErrorContext::runtime(runtime);
        let call: Job = Box::new(move || {
            let for_done = Arc::clone(&outlet);
            let done: Done<T> = Box::new(move |result| {
                for_done.send(match result {
                    Ok(value) => encode(value, Reply(id)),
                    Err(error) => Message::failed(id, &convert::failure(&error, context)),
                });
            });
            let called = handle.contain(|runtime| {
                call(&runtime.outside(), done);
                Ok(())
            });
            if let Err(error) = called {
                outlet.send(Message::failed(id, &convert::failure(&error, context)));
            }
        });
        self.call(live, &live.calls, may_run_here, call)
    }
}

/// Notifies the SDK of the events of one runtime.
struct EventSender {
    runtime: RuntimeId,
    outlet: Arc<dyn Outlet>,
}

impl QueueListener for EventSender {
    fn pending(&self) {
        let body = OutsidePending { runtime: self.runtime };
        self.outlet.send(Message::event(Kind::OutsidePending, 0, &body, 0));
    }
}

fn verdict(decision: OutsideDecision, reply: Reply) -> Message {
    let (reason, rule) = match &decision {
        OutsideDecision::Allowed { rule } => (None, rule.as_ref()),
        OutsideDecision::Refused(denied) => (Some(denied.reason.as_str()), denied.rule.as_ref()),
    };
    let (text, pattern) = texts(rule);
    let body = OutsideVerdict { allowed: reason.is_none(), reason, rule: text.as_deref(), pattern };
    reply.body(&body, 256)
}

/// Returns the place of a rule, and its text.
fn texts(rule: Option<&Rule>) -> (Option<String>, Option<&str>) {
    (rule.map(core::rule_text), rule.map(|rule| rule.entry.as_str()))
}

fn edge_walls(parts: Vec<core::WallPart>, reply: Reply) -> Message {
    let walls =
        parts.iter().map(|core::WallPart { name, missing }| WallPart { name, missing: missing.as_deref().map(Cow::Borrowed) });
    reply.body(&OutsideWalls { walls: walls.collect() }, 512)
}

fn flow_list(flows: Vec<FlowInfo>, reply: Reply) -> Message {
    let now_us = core::now_us();
    let parts: Vec<(FlowInfo, String, Option<String>)> = flows
        .into_iter()
        .filter(|flow| flow.connected)
        .map(|flow| (flow.peer.ip().to_string(), flow.rule.as_ref().map(core::rule_text), flow))
        .map(|(address, rule, flow)| (flow, address, rule))
        .collect();
    let flows = parts.iter().map(|(flow, address, rule)| OutsideFlow {
        protocol: protocol(flow.protocol),
        host: flow.host.as_deref(),
        address,
        port: flow.peer.port(),
        rule: rule.as_deref(),
        pattern: flow.rule.as_ref().map(|rule| rule.entry.as_str()),
        sent: flow.sent,
        received: flow.received,
        dropped: dropped(flow.protocol, flow.dropped),
        since_us: now_us.saturating_sub(flow.age_ms.saturating_mul(1_000)),
    });
    reply.body(&OutsideFlowList { flows: flows.collect() }, 64 + 192 * parts.len())
}

/// Encodes the reply that has the events.
fn taken(reply: Reply, taken: &core::OutsideEvents) -> Message {
    let parts: Vec<Parts> = taken.events.iter().map(|one| Parts::of(&one.event)).collect();
    let events = taken.events.iter().zip(&parts).map(|(one, parts)| event(one, parts)).collect();
    reply.body(&OutsideTaken { events, lost: taken.lost }, 64 + 192 * parts.len())
}

/// The texts of an event that the event does not have itself.
#[derive(Default)]
struct Parts {
    address: Option<String>,
    addresses: Option<Vec<String>>,
    rule: Option<String>,
}

impl Parts {
    fn of(event: &core::OutsideEvent) -> Self {
        match event {
            core::OutsideEvent::Open { peer, rule, .. } => {
                let rule = rule.as_ref().map(core::rule_text);
                Self { address: Some(peer.ip().to_string()), rule, ..Self::default() }
            }
            core::OutsideEvent::Close { peer, .. } => Self { address: Some(peer.ip().to_string()), ..Self::default() },
            core::OutsideEvent::Denied { refused, denied } => {
                let address = peer_of(refused).map(|peer| peer.ip().to_string());
                Self { address, rule: denied.rule.as_ref().map(core::rule_text), ..Self::default() }
            }
            core::OutsideEvent::Dns { addresses, .. } => {
                Self { addresses: Some(addresses.iter().map(ToString::to_string).collect()), ..Self::default() }
            }
            core::OutsideEvent::Request { denied, .. } => {
                let rule = denied.as_ref().and_then(|denied| denied.rule.as_ref());
                Self { rule: rule.map(core::rule_text), ..Self::default() }
            }
            core::OutsideEvent::Limit { .. } => Self::default(),
        }
    }
}

fn peer_of(refused: &core::Refused) -> Option<std::net::SocketAddr> {
    match refused {
        core::Refused::LookUp { .. } => None,
        core::Refused::Connect { peer } | core::Refused::Datagrams { peer } | core::Refused::Flow { peer, .. } => Some(*peer),
    }
}

fn protocol(protocol: core::Protocol) -> OutsideProtocol {
    match protocol {
        core::Protocol::Tcp => OutsideProtocol::Tcp,
        core::Protocol::Udp => OutsideProtocol::Udp,
    }
}

fn dropped(protocol: core::Protocol, count: u64) -> Option<u64> {
    (protocol == core::Protocol::Udp).then_some(count)
}

/// Returns the event for the SDK.
fn event<'a>(timed: &'a core::TimedEvent, parts: &'a Parts) -> OutsideEvent<'a> {
    let empty = OutsideEvent {
        kind: OutsideEventType::Limit,
        time_us: timed.time_us,
        protocol: None,
        host: None,
        address: parts.address.as_deref(),
        port: None,
        addresses: parts.addresses.as_ref().map(|all| all.iter().map(String::as_str).collect()),
        rule: parts.rule.as_deref(),
        pattern: None,
        reason: None,
        limit: None,
        sent: None,
        received: None,
        dropped: None,
        duration_us: None,
        method: None,
        path: None,
        status: None,
        secrets: None,
        placeholders: None,
    };
    match &timed.event {
        core::OutsideEvent::Open { protocol: of, host, peer, rule, .. } => OutsideEvent {
            kind: OutsideEventType::Open,
            protocol: Some(protocol(*of)),
            host: host.as_deref(),
            port: Some(peer.port()),
            pattern: rule.as_ref().map(|rule| rule.entry.as_str()),
            ..empty
        },
        core::OutsideEvent::Close { protocol: of, host, peer, sent, received, dropped: lost, duration_ms, reason, .. } => {
            OutsideEvent {
                kind: OutsideEventType::Close,
                protocol: Some(protocol(*of)),
                host: host.as_deref(),
                port: Some(peer.port()),
                sent: Some(*sent),
                received: Some(*received),
                dropped: dropped(*of, *lost),
                duration_us: Some(duration_ms.saturating_mul(1_000)),
                reason: close_reason(*reason),
                ..empty
            }
        }
        core::OutsideEvent::Denied { refused, denied } => OutsideEvent {
            kind: OutsideEventType::Denied,
            protocol: match refused {
                core::Refused::LookUp { .. } => None,
                core::Refused::Datagrams { .. } => Some(OutsideProtocol::Udp),
                core::Refused::Connect { .. } | core::Refused::Flow { .. } => Some(OutsideProtocol::Tcp),
            },
            host: match refused {
                core::Refused::LookUp { name } => Some(name),
                _ => denied.host.as_deref(),
            },
            port: peer_of(refused).map(|peer| peer.port()),
            pattern: denied.rule.as_ref().map(|rule| rule.entry.as_str()),
            reason: Some(&denied.reason),
            ..empty
        },
        core::OutsideEvent::Dns { name, code, duration_ms, .. } => OutsideEvent {
            kind: OutsideEventType::Dns,
            host: Some(name),
            reason: code.as_deref(),
            duration_us: Some(duration_ms.saturating_mul(1_000)),
            ..empty
        },
        core::OutsideEvent::Request { host, method, path, status, secrets, placeholders, denied, .. } => OutsideEvent {
            kind: OutsideEventType::Request,
            host: Some(host),
            method: Some(method),
            path: Some(path),
            status: Some(*status),
            secrets: Some(secrets.iter().map(String::as_str).collect()),
            placeholders: Some(placeholders.iter().map(String::as_str).collect()),
            pattern: denied.as_ref().and_then(|denied| denied.rule.as_ref()).map(|rule| rule.entry.as_str()),
            reason: denied.as_ref().map(|denied| denied.reason.as_str()),
            ..empty
        },
        core::OutsideEvent::Limit { name } => OutsideEvent { limit: Some(name), ..empty },
    }
}

/// Returns the stable text of the reason. A connection that both sides have ended has no reason.
fn close_reason(reason: CloseReason) -> Option<&'static str> {
    Some(match reason {
        CloseReason::Ended => return None,
        CloseReason::Closed => "closed",
        CloseReason::Reset => "reset",
        CloseReason::Failed => "failed",
        CloseReason::Denied => "denied",
        CloseReason::Limit => "limit",
        CloseReason::RuntimeEnded => "runtime-ended",
        CloseReason::Idle => "idle",
    })
}
