//! Messages about private networks, which connect runtimes of one connection.

use coldframe_ids::{NetworkId, RuntimeId};
use serde::{Deserialize, Serialize};

use super::Empty;
use crate::declare::{events, requests};

requests! {
    /// Messages about private networks.
    pub enum PrivateNetworkRequest<'a> {
        /// Makes a network without members.
        NetworkCreate(NetworkCreate<'a>) = 100 "network.create" -> NetworkCreated,
        /// Makes a runtime a member of a network.
        NetworkJoin(NetworkJoin<'a>) = 101 "network.join" -> NetworkMember<'a>,
        /// Removes a member, and resets its connections of the network.
        NetworkLeave(NetworkLeave) = 102 "network.leave" -> Empty,
        /// Replaces the rules. After the reply, no connection is open that the rules do not allow.
        NetworkRules(NetworkRules<'a>) = 103 "network.rules" -> Empty,
        /// Lists the members.
        NetworkMembers(InNetwork) = 104 "network.members" -> NetworkMemberList<'a>,
        /// Lists the open connections.
        NetworkFlows(InNetwork) = 105 "network.flows" -> NetworkFlowList<'a>,
        /// Removes all members, and the network.
        NetworkDispose(InNetwork) = 106 "network.dispose" -> Empty,
        /// Starts or stops the recording of a network's events.
        NetworkWatch(NetworkWatch) = 107 "network.watch" -> Empty,
        /// Removes events from the queue of a network and returns the events.
        NetworkTake(NetworkTake) = 109 "network.take" -> NetworkTaken<'a>,
    }
}

events! {
    EVENTS {
        /// The queue of a network has events. Sent again only after a `network.take` has returned
        /// no events. The frame's id is 0.
        NetworkPending(InNetwork) = 108 "network.pending",
    }
}

/// Allows connections of some members to some members.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkRuleOptions<'a> {
    /// The name or a tag of the connecting members. Omitted means every member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<&'a str>,
    /// The name or a tag of the listening members. Omitted means every member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<&'a str>,
    /// The first and the last port of each range. Omitted means every port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<Vec<NetworkPorts>>,
}

/// A range of ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkPorts {
    /// The first port.
    pub first: u16,
    /// The last port.
    pub last: u16,
}

/// `network.create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkCreate<'a> {
    /// The name, which is a part of the members' full names.
    pub name: &'a str,
    /// The rules. Omitted means that each member reaches each member.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<NetworkRuleOptions<'a>>>,
}

/// The reply to `network.create`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkCreated {
    /// The network.
    pub network: NetworkId,
}

/// `network.join`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkJoin<'a> {
    /// The network.
    pub network: NetworkId,
    /// The runtime.
    pub runtime: RuntimeId,
    /// The name of the member.
    pub name: &'a str,
    /// The tags, which rules name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<&'a str>>,
}

/// `network.leave`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkLeave {
    /// The network.
    pub network: NetworkId,
    /// The runtime.
    pub runtime: RuntimeId,
}

/// `network.rules`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkRules<'a> {
    /// The network.
    pub network: NetworkId,
    /// The rules. Omitted means that each member reaches each member.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<NetworkRuleOptions<'a>>>,
}

/// A body that names only the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InNetwork {
    /// The network.
    pub network: NetworkId,
}

/// A member of a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkMember<'a> {
    /// The name.
    pub name: &'a str,
    /// The tags.
    #[serde(borrow)]
    pub tags: Vec<&'a str>,
    /// The IPv4 address.
    pub v4: &'a str,
    /// The IPv6 address.
    pub v6: &'a str,
}

/// The reply to `network.members`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkMemberList<'a> {
    /// The members, in the order of their addresses.
    #[serde(borrow)]
    pub members: Vec<NetworkMember<'a>>,
}

/// A connection between two members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NetworkFlow<'a> {
    /// The name of the connecting member.
    pub from: &'a str,
    /// The name of the listening member.
    pub to: &'a str,
    /// The port of the listener.
    pub port: u16,
    /// The number of bytes that the connecting member has sent.
    pub sent: u64,
    /// The number of bytes that the listening member has sent.
    pub received: u64,
    /// The time at which the connection was begun, in microseconds since 1970.
    pub since_us: u64,
}

/// The reply to `network.flows`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkFlowList<'a> {
    /// The open connections, the oldest first.
    #[serde(borrow)]
    pub flows: Vec<NetworkFlow<'a>>,
}

/// `network.watch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkWatch {
    /// The network.
    pub network: NetworkId,
    /// Whether events are recorded from now on. Events in the queue are dropped.
    pub on: bool,
}

/// `network.take`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkTake {
    /// The network.
    pub network: NetworkId,
    /// Whether the reply has all events in the queue. Default: at most 128 events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
}

/// The reply to `network.take`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkTaken<'a> {
    /// Events, oldest first.
    #[serde(borrow)]
    pub events: Vec<NetworkMemberEvent<'a>>,
    /// The number of dropped events.
    pub lost: u64,
}

/// The type of an event of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkMemberEventType {
    /// A connection was opened.
    Open,
    /// A connection was closed.
    Close,
    /// The rules have not allowed a connection or a datagram.
    Denied,
}

/// An event of a network. The type determines the fields that are present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NetworkMemberEvent<'a> {
    /// The type.
    pub kind: NetworkMemberEventType,
    /// The time, in microseconds since 1970.
    pub time_us: u64,
    /// The name of the connecting member.
    pub from: &'a str,
    /// The name of the listening member.
    pub to: &'a str,
    /// The port of the listener.
    pub port: u16,
    /// The number of bytes that the connecting member has sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// The number of bytes that the listening member has sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<u64>,
    /// The time between the connect and the end, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
    /// The reason of a denial, or of a close by a reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}
