//! Messages about connections out of a runtime: the policy, the dry run, the open connections, and
//! the events.

use coldframe_ids::RuntimeId;
use serde::{Deserialize, Serialize};

use super::{Empty, InRuntime, WallPart};
use crate::declare::{events, requests};
use crate::maps::{Numbers, Pairs};

requests! {
    /// Messages about connections out of a runtime.
    pub enum OutsideRequest<'a> {
        /// Changes the policy of a runtime. After the reply, no byte moves that the new policy
        /// denies.
        OutsideUpdate(OutsideUpdate<'a>) = 90 "outside.update" -> Empty,
        /// Judges a URL, without a lookup and without a connection.
        OutsideCheck(OutsideCheck<'a>) = 91 "outside.check" -> OutsideVerdict<'a>,
        /// Lists the open connections of a runtime.
        OutsideFlows(InRuntime) = 92 "outside.flows" -> OutsideFlowList<'a>,
        /// Starts or stops the recording of a runtime's outside events.
        OutsideWatch(OutsideWatch) = 93 "outside.watch" -> Empty,
        /// Removes events from the queue of a runtime and returns the events.
        OutsideTake(OutsideTake) = 95 "outside.take" -> OutsideTaken<'a>,
        /// Replaces the authorities that sessions of TLS trust by default, in all runtimes of the
        /// sidecar. Without the request, sessions trust the authorities of the host machine's
        /// system.
        OutsideRoots(OutsideRoots<'a>) = 99 "outside.roots" -> Empty,
        /// Returns the parts of the wall around the edge process, without a start of the process.
        OutsideWalls(InRuntime) = 112 "outside.walls" -> OutsideWalls<'a>,
    }
}

events! {
    EVENTS {
        /// The queue of a runtime has outside events. Sent again only after an `outside.take` has
        /// returned no events. The frame's id is 0.
        OutsidePending(OutsidePending) = 94 "outside.pending",
    }
}

/// The hosts that a runtime reaches without a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutsideMode {
    /// No host.
    Deny,
    /// Every public host, except ports that need a rule.
    Public,
}

/// The protocol of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutsideProtocol {
    /// A connection.
    Tcp,
    /// Datagrams between a socket and one peer.
    Udp,
}

/// The policy for connections out of a runtime. An omitted field has its default in a new policy,
/// and stays unchanged in a change.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OutsideOptions<'a> {
    /// The hosts that a runtime reaches without a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideMode>,
    /// Hosts that are allowed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<&'a str>>,
    /// Hosts that are denied.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub deny: Option<Vec<&'a str>>,
    /// Addresses that are allowed although they are not public.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub private: Option<Vec<&'a str>>,
    /// Rules about HTTP requests. A host with a rule is denied except for what a rule allows.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Vec<OutsideHttpRule<'a>>>,
    /// The secrets, without their values.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<OutsideSecret<'a>>>,
    /// Certificates in PEM of authorities that are trusted besides the default authorities.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub authorities: Option<Vec<&'a str>>,
    /// The addresses of the DNS servers, with or without a port. Default: the host machine's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub dns_servers: Option<Vec<&'a str>>,
    /// Names with fixed addresses, which need no DNS server.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub dns_hosts: Option<Vec<OutsideHost<'a>>>,
    /// The address of the host machine from which connections are opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_address: Option<&'a str>,
    /// The URL of the proxy through which connections are opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<&'a str>,
    /// Limits by name. An omitted limit has its default in a new policy, and stays unchanged in a
    /// change.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Numbers<'a>>,
}

/// A rule about HTTP requests.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideHttpRule<'a> {
    /// A name or `*.name`, with or without a port.
    pub host: &'a str,
    /// The methods. Omitted: every method.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<&'a str>>,
    /// The patterns of paths. Omitted: every path.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<&'a str>>,
    /// The headers that the edge process sets. `${NAME}` in a value is the value of a secret.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub inject: Option<Pairs<'a>>,
    /// The function of the app that responds to the requests. Omitted: the requests are sent to the
    /// host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<OutsideHandler>,
}

/// A function of the app that responds to requests in place of their host.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OutsideHandler {
    /// The number of the function, which the head of each request names.
    pub id: u32,
    /// The time until the head of the response, in milliseconds.
    pub timeout_ms: u32,
}

/// A secret without its value.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideSecret<'a> {
    /// The name. With a placeholder, also the name of an environment variable.
    pub name: &'a str,
    /// The text that programs have. A restored runtime keeps the placeholder of its snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<&'a str>,
    /// The hosts that may receive the value.
    #[serde(borrow)]
    pub hosts: Vec<&'a str>,
    /// The places of the value. Omitted: the default headers.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub places: Option<Vec<&'a str>>,
    /// Whether connections without TLS may carry the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure: Option<bool>,
    /// The scope of signatures, if the value is a key of AWS that signs requests.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub sign: Option<OutsideSigning<'a>>,
}

/// The scope of signatures of AWS. An omitted field has the value that the program has signed for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideSigning<'a> {
    /// The region, such as `eu-central-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<&'a str>,
    /// The service, such as `s3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<&'a str>,
}

/// A name with fixed addresses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideHost<'a> {
    /// The name.
    pub name: &'a str,
    /// The addresses.
    #[serde(borrow)]
    pub addresses: Vec<&'a str>,
}

/// The effect of a change on open connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutsideExisting {
    /// Open connections are judged by the new policy.
    Recheck,
    /// Open connections stay open.
    Keep,
}

/// `outside.update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideUpdate<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The fields that are replaced.
    #[serde(borrow)]
    pub change: OutsideOptions<'a>,
    /// The fields that have their defaults again: names of fields of `change`, and `limits.NAME`
    /// for a limit.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub clear: Option<Vec<&'a str>>,
    /// The effect on open connections. Default: `recheck`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing: Option<OutsideExisting>,
}

/// `outside.check`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideCheck<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The URL.
    pub url: &'a str,
    /// The method of the request. Default: `GET`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<&'a str>,
}

/// The reply to `outside.check`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideVerdict<'a> {
    /// Whether a connection is allowed.
    pub allowed: bool,
    /// The stable text of the reason, if a connection is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// The rule that decides, such as `deny[3]`. Omitted if the default decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'a str>,
    /// The text of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<&'a str>,
}

/// The reply to `outside.flows`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideFlowList<'a> {
    /// The open connections.
    #[serde(borrow)]
    pub flows: Vec<OutsideFlow<'a>>,
}

/// An open connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OutsideFlow<'a> {
    /// The protocol.
    pub protocol: OutsideProtocol,
    /// The name that admitted the connection. Omitted if a rule about addresses admitted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<&'a str>,
    /// The address of the peer.
    pub address: &'a str,
    /// The port of the peer.
    pub port: u16,
    /// The rule that admitted the connection, such as `allow[1]`. Omitted if the default decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'a str>,
    /// The text of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<&'a str>,
    /// The number of bytes that the runtime has sent.
    pub sent: u64,
    /// The number of bytes that the runtime has received.
    pub received: u64,
    /// The number of datagrams of both directions that were dropped, for UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    /// The time at which the connection was opened, in microseconds since 1970.
    pub since_us: u64,
}

/// `outside.watch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideWatch {
    /// The runtime.
    pub runtime: RuntimeId,
    /// Whether events are recorded from now on. Events in the queue are dropped.
    pub on: bool,
}

/// `outside.pending`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsidePending {
    /// The runtime.
    pub runtime: RuntimeId,
}

/// `outside.roots`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideRoots<'a> {
    /// Certificates in PEM, at most 1,000,000 bytes.
    pub pem: &'a str,
}

/// The reply to `outside.walls`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideWalls<'a> {
    /// The parts. Empty before the first start of the edge process.
    #[serde(borrow)]
    pub walls: Vec<WallPart<'a>>,
}

/// `outside.take`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideTake {
    /// The runtime.
    pub runtime: RuntimeId,
    /// Whether the reply has all events in the queue. Default: at most 128 events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
}

/// The reply to `outside.take`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideTaken<'a> {
    /// Events, oldest first.
    #[serde(borrow)]
    pub events: Vec<OutsideEvent<'a>>,
    /// The number of dropped events.
    pub lost: u64,
}

/// The type of an outside event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutsideEventType {
    /// A connection was opened.
    Open,
    /// A connection was closed.
    Close,
    /// A lookup or a connection was denied.
    Denied,
    /// A name was looked up.
    Dns,
    /// A limit was reached.
    Limit,
    /// A request to a host with rules about HTTP or with secrets was answered.
    Request,
}

/// An outside event. The type determines the fields that are present.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OutsideEvent<'a> {
    /// The type.
    pub kind: OutsideEventType,
    /// The time, in microseconds since 1970.
    pub time_us: u64,
    /// The protocol of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<OutsideProtocol>,
    /// The name of the host, if the name is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<&'a str>,
    /// The address of the peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<&'a str>,
    /// The port of the peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The addresses that a lookup has found.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<Vec<&'a str>>,
    /// The rule that decided, such as `deny[3]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'a str>,
    /// The text of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<&'a str>,
    /// The reason of a denial, of a close, or of a failed lookup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// The name of the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<&'a str>,
    /// The number of bytes that the runtime has sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// The number of bytes that the runtime has received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<u64>,
    /// The number of datagrams of both directions that were dropped, for UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    /// The duration of a connection or of a lookup, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
    /// The method of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<&'a str>,
    /// The path of a request, without the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<&'a str>,
    /// The status of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The names of the secrets whose values the request contained.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<&'a str>>,
    /// The names of the secrets whose placeholder is in the request in a place without effect.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub placeholders: Option<Vec<&'a str>>,
}
