//! Messages about private networks. A network belongs to one session, so no runtime of another
//! embedder can be a member.

use std::sync::Arc;

use coldframe_core::{
    AddressPool, Error, MemberEvent, MemberEventKind, MemberInfo, NetworkRule, PrivateNetwork, QueueListener, TakenEvents,
};
use coldframe_ids::{NetworkId, RequestId};
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{
    InNetwork, NetworkCreated, NetworkFlow, NetworkFlowList, NetworkMember, NetworkMemberEvent, NetworkMemberEventType,
    NetworkMemberList, NetworkRuleOptions, NetworkTaken, PrivateNetworkRequest,
};

use crate::convert;
use crate::message::{Message, Outlet};
use crate::outside::MAX_EVENTS;
use crate::replies::Reply;
use crate::session::{Handled, Session};
use crate::table::{ErrorContext, IdTable};

/// The largest number of networks of a session.
const MAX_NETWORKS: usize = 4_096;
/// The largest number of rules of a network.
const MAX_RULES: usize = 1_024;
/// The largest number of tags of a member, and of ranges of ports of a rule.
const MAX_LIST: usize = 64;
/// The longest name of a network, a member or a tag, like a label of DNS.
const MAX_NAME: usize = 63;

/// The networks of a session.
pub(crate) struct PrivateNetworks {
    table: IdTable<NetworkId, Arc<PrivateNetwork>>,
    pool: Arc<AddressPool>,
}

impl Default for PrivateNetworks {
    fn default() -> Self {
        Self { table: IdTable::new("networks", MAX_NETWORKS), pool: Arc::default() }
    }
}

impl PrivateNetworks {
    fn get(&self, id: NetworkId) -> Result<&Arc<PrivateNetwork>, Error> {
        self.table.get(id).ok_or_else(|| invalid("network", "a network that was not disposed", &id.to_string()))
    }

    fn create(&mut self, name: &str, rules: Option<Vec<NetworkRule>>) -> Result<NetworkId, Error> {
        check_name("name", name)?;
        self.table.check_room()?;
        let id = self.table.reserve();
        self.table.insert(id, PrivateNetwork::new(name.to_owned(), rules, Arc::clone(&self.pool)));
        Ok(id)
    }
}

impl Session {
    /// Handles a message about private networks.
    pub(crate) fn private_network(&mut self, id: RequestId, request: PrivateNetworkRequest<'_>, may_run_here: bool) -> Handled {
        let reply = Reply(id);
        let handled = match request {
            PrivateNetworkRequest::NetworkCreate(create) => rules(create.rules)
                .and_then(|rules| self.networks.create(create.name, rules))
                .map(|network| reply.body(&NetworkCreated { network }, 32)),
            PrivateNetworkRequest::NetworkJoin(join) => {
                let tags: Vec<String> = join.tags.unwrap_or_default().into_iter().map(str::to_owned).collect();
                let checked = check_name("as", join.name).and_then(|()| check_tags(&tags));
                match checked.and_then(|()| self.networks.get(join.network).cloned()) {
                    Ok(network) => {
                        let name = join.name.to_owned();
                        return Ok(self.on_runtime(id, join.runtime, may_run_here, move |runtime, reply| {
                            let number = runtime.join(&network, &name, tags)?;
                            let members = network.members();
                            let own = members.iter().find(|member| member.number == number);
                            own.map(|own| joined(reply, own)).ok_or(Error::RuntimeDisposed)
                        }));
                    }
                    Err(error) => Err(error),
                }
            }
            PrivateNetworkRequest::NetworkLeave(leave) => match self.networks.get(leave.network).cloned() {
                Ok(network) => {
                    return Ok(self.on_runtime(id, leave.runtime, may_run_here, move |runtime, reply| {
                        runtime.leave(&network);
                        Ok(reply.done())
                    }));
                }
                Err(error) => Err(error),
            },
            PrivateNetworkRequest::NetworkRules(change) => rules(change.rules).and_then(|rules| {
                self.networks.get(change.network)?.set_rules(rules);
                Ok(reply.done())
            }),
            PrivateNetworkRequest::NetworkMembers(of) => {
                self.networks.get(of.network).map(|network| members(reply, &network.members()))
            }
            PrivateNetworkRequest::NetworkFlows(of) => self.networks.get(of.network).map(|network| flows(reply, network)),
            PrivateNetworkRequest::NetworkDispose(of) => {
                if let Some(network) = self.networks.table.remove(of.network) {
                    network.dispose();
                }
                Ok(reply.done())
            }
            PrivateNetworkRequest::NetworkWatch(watch) => self.networks.get(watch.network).map(|network| {
                let sender = EventSender { network: watch.network, outlet: Arc::clone(&self.replies.outlet) };
                network.listen(watch.on.then(|| Arc::new(sender) as Arc<dyn QueueListener>));
                reply.done()
            }),
            PrivateNetworkRequest::NetworkTake(take) => {
                let most = if take.all == Some(true) { usize::MAX } else { MAX_EVENTS };
                self.networks.get(take.network).map(|network| taken(reply, &network.take(most)))
            }
        };
        match handled {
            Ok(message) => self.send(message),
            Err(error) => self.refuse(id, &convert::failure(&error, ErrorContext::NONE)),
        }
        Ok(None)
    }
}

fn rules(given: Option<Vec<NetworkRuleOptions<'_>>>) -> Result<Option<Vec<NetworkRule>>, Error> {
    let Some(given) = given else { return Ok(None) };
    if given.len() > MAX_RULES {
        return Err(invalid("rules", &format!("at most {MAX_RULES} rules"), &given.len().to_string()));
    }
    given.into_iter().map(rule).collect::<Result<Vec<_>, _>>().map(Some)
}

fn rule(given: NetworkRuleOptions<'_>) -> Result<NetworkRule, Error> {
    for name in given.from.iter().chain(&given.to) {
        check_name("rules", name)?;
    }
    let ports = given.ports.unwrap_or_default();
    if ports.len() > MAX_LIST || ports.iter().any(|range| range.first == 0 || range.first > range.last) {
        let expected = format!("at most {MAX_LIST} ranges of ports from 1 to 65535");
        return Err(invalid("rules", &expected, &format!("{ports:?}")));
    }
    Ok(NetworkRule {
        from: given.from.map(str::to_owned),
        to: given.to.map(str::to_owned),
        ports: ports.into_iter().map(|range| range.first..=range.last).collect(),
    })
}

fn check_tags(tags: &[String]) -> Result<(), Error> {
    if tags.len() > MAX_LIST {
        return Err(invalid("tags", &format!("at most {MAX_LIST} tags"), &tags.len().to_string()));
    }
    tags.iter().try_for_each(|tag| check_name("tags", tag))
}

/// Checks that a name is a label of DNS in lower case, so that a member can be looked up.
fn check_name(what: &str, name: &str) -> Result<(), Error> {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let has_ends = !name.starts_with('-') && !name.ends_with('-');
    if (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_inner) && has_ends && name != "localhost" {
        return Ok(());
    }
    let expected = "a name of 1 to 63 lower-case letters, digits and inner hyphens, except localhost";
    Err(invalid(what, expected, &name.chars().take(100).collect::<String>()))
}

fn joined(reply: Reply, own: &MemberInfo) -> Message {
    let (v4, v6) = (own.v4.to_string(), own.v6.to_string());
    reply.body(&member(own, &v4, &v6), 256)
}

fn member<'a>(info: &'a MemberInfo, v4: &'a str, v6: &'a str) -> NetworkMember<'a> {
    NetworkMember { name: &info.name, tags: info.tags.iter().map(String::as_str).collect(), v4, v6 }
}

fn members(reply: Reply, members: &[MemberInfo]) -> Message {
    let texts: Vec<(String, String)> = members.iter().map(|info| (info.v4.to_string(), info.v6.to_string())).collect();
    let all = members.iter().zip(&texts).map(|(info, (v4, v6))| member(info, v4, v6));
    reply.body(&NetworkMemberList { members: all.collect() }, 64 + 192 * members.len())
}

fn flows(reply: Reply, network: &PrivateNetwork) -> Message {
    let flows = network.flows();
    let all = flows.iter().map(|flow| NetworkFlow {
        from: &flow.from,
        to: &flow.to,
        port: flow.port,
        sent: flow.sent,
        received: flow.received,
        since_us: flow.since_us,
    });
    reply.body(&NetworkFlowList { flows: all.collect() }, 64 + 128 * flows.len())
}

/// Notifies the SDK that a network has events.
struct EventSender {
    network: NetworkId,
    outlet: Arc<dyn Outlet>,
}

impl QueueListener for EventSender {
    fn pending(&self) {
        self.outlet.send(Message::event(Kind::NetworkPending, 0, &InNetwork { network: self.network }, 0));
    }
}

/// Encodes the reply that has the events.
fn taken(reply: Reply, taken: &TakenEvents<MemberEvent>) -> Message {
    let events = taken.events.iter().map(|one| member_event(&one.event, one.time_us)).collect();
    reply.body(&NetworkTaken { events, lost: taken.lost }, 64 + 192 * taken.events.len())
}

fn member_event(event: &MemberEvent, time_us: u64) -> NetworkMemberEvent<'_> {
    let MemberEvent { from, to, port, kind } = event;
    let bare = |kind, reason| {
        let (sent, received, duration_us) = (None, None, None);
        NetworkMemberEvent { kind, time_us, from, to, port: *port, sent, received, duration_us, reason }
    };
    match *kind {
        MemberEventKind::Open => bare(NetworkMemberEventType::Open, None),
        MemberEventKind::Denied => bare(NetworkMemberEventType::Denied, Some("not-allowed")),
        MemberEventKind::Close { sent, received, duration_us, reason } => {
            let (sent, received, duration_us) = (Some(sent), Some(received), Some(duration_us));
            NetworkMemberEvent {
                sent,
                received,
                duration_us,
                ..bare(NetworkMemberEventType::Close, reason.map(|reason| reason.as_str()))
            }
        }
    }
}

fn invalid(what: &str, expected: &str, received: &str) -> Error {
    Error::InvalidRequest { what: what.to_owned(), expected: expected.to_owned(), received: received.to_owned() }
}
