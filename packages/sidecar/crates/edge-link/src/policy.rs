//! The options of a runtime's outside connections, and changes of the options. Next: `failure.rs`.
//!
//! The sidecar stores the options of each runtime, and sends them again after the edge has been
//! restarted. [`Options::changed`] applies a change in both processes.

use serde::{Deserialize, Serialize};

/// The default of [`Limits::connections`].
pub const DEFAULT_CONNECTIONS: u32 = 256;
/// The default of [`Limits::connecting`].
pub const DEFAULT_CONNECTING: u32 = 64;
/// The default of [`Limits::connects_per_second`].
pub const DEFAULT_CONNECTS_PER_SECOND: u32 = 50;
/// The default of [`Limits::connects_burst`].
pub const DEFAULT_CONNECTS_BURST: u32 = 200;
/// The default of [`Limits::bytes_per_second`].
pub const DEFAULT_BYTES_PER_SECOND: u64 = 50_000_000;

/// The hosts that a runtime reaches without a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutsideMode {
    /// No host.
    #[default]
    Deny,
    /// Every public host.
    Public,
}

/// The options of a runtime. The forms of the entries are the forms of crate `egress`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// The hosts that a runtime reaches without a rule.
    pub outside: OutsideMode,
    /// Hosts that are allowed.
    pub allow: Vec<String>,
    /// Hosts that are denied.
    pub deny: Vec<String>,
    /// Addresses that are allowed although they are not public.
    pub private: Vec<String>,
    /// Rules about HTTP requests. A host with a rule is refused except for what a rule allows.
    pub http: Vec<HttpRule>,
    /// The secrets, without their values. At most 256.
    pub secrets: Vec<SecretEntry>,
    /// Certificates in PEM of authorities that are trusted besides the default authorities.
    pub authorities: Vec<String>,
    /// At most 8 DNS servers, such as `192.0.2.1`, `192.0.2.1:5353` and `[2001:db8::1]:5353`.
    /// Empty means the servers of the host machine.
    pub dns_servers: Vec<String>,
    /// Names with fixed addresses, at most 1,024.
    pub dns_hosts: Vec<DnsHost>,
    /// The address of the host machine from which connections are opened. `None` means the
    /// system's choice.
    pub local_address: Option<String>,
    /// The proxy through which connections are opened. Its form is the form of crate `egress`.
    pub proxy: Option<String>,
    /// The limits.
    pub limits: Limits,
}

/// A rule about HTTP requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpRule {
    /// A name or `*.name`, with or without a port. Without a port the rule is about port 443.
    pub host: String,
    /// The methods, in capitals. `None` means every method except `CONNECT` and `TRACE`.
    pub methods: Option<Vec<String>>,
    /// The patterns of paths, such as `/repos/acme/**`. `None` means every path.
    pub paths: Option<Vec<String>>,
    /// The headers that the edge sets. `${NAME}` in a value is the value of a secret.
    pub inject: Vec<InjectedHeader>,
    /// The function of the app that responds to the requests. `None` means that the requests are
    /// sent to the host.
    pub handler: Option<Handler>,
}

/// A function of the app that responds to requests in place of their host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handler {
    /// The number of the function, which the embedder has chosen.
    pub id: u32,
    /// The time until the head of the response, in milliseconds.
    pub timeout_ms: u32,
}

/// A header that the edge sets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectedHeader {
    /// The name.
    pub name: String,
    /// The template of the value.
    pub value: String,
}

/// A secret without its value, which arrives sealed (`secrets.rs`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretEntry {
    /// The name.
    pub name: String,
    /// The text that the guest has. `None` if only rules use the secret.
    pub placeholder: Option<String>,
    /// The hosts, such as `api.example.com` and `*.example.com:8443`.
    pub hosts: Vec<String>,
    /// The places, such as `header:authorization`. `None` means the default headers.
    pub places: Option<Vec<String>>,
    /// Whether connections without TLS may carry the value.
    pub insecure: bool,
    /// The scope of signatures, if the value is a key of AWS that signs requests.
    pub sign: Option<SigningEntry>,
}

/// The scope of signatures of AWS. `None` means the scope that the guest has signed for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SigningEntry {
    /// The region, such as `eu-central-1`.
    pub region: Option<String>,
    /// The service, such as `s3`.
    pub service: Option<String>,
}

/// A name with fixed addresses. The look-up of the name needs no rule and asks no server, but a
/// rule of `deny` refuses the name. Connections are judged as for every other name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsHost {
    /// The name.
    pub name: String,
    /// The addresses, 1 to 64.
    pub addresses: Vec<String>,
}

/// The limits of a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The largest number of flows, from `Connect` until the edge has closed the socket.
    pub connections: u32,
    /// The largest number of connections that are not established yet.
    pub connecting: u32,
    /// The rate of new connections.
    pub connects_per_second: u32,
    /// The largest number of new connections at once.
    pub connects_burst: u32,
    /// The rate of bytes in each direction.
    pub bytes_per_second: u64,
    /// The bytes of both directions in the life of the runtime. `None` means no limit.
    pub bytes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: DEFAULT_CONNECTIONS,
            connecting: DEFAULT_CONNECTING,
            connects_per_second: DEFAULT_CONNECTS_PER_SECOND,
            connects_burst: DEFAULT_CONNECTS_BURST,
            bytes_per_second: DEFAULT_BYTES_PER_SECOND,
            bytes: None,
        }
    }
}

/// The effect of an update on open flows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Existing {
    /// Each open flow is judged again before its next byte, and an idle flow within 10 ms.
    #[default]
    Recheck,
    /// Open flows stay open.
    Keep,
}

/// The change of one field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change<T> {
    /// The field stays unchanged.
    #[default]
    Leave,
    /// The field has its default again.
    Clear,
    /// The field has a new value.
    Replace(T),
}

impl<T: Clone> Change<T> {
    /// Returns the changed value of a field.
    pub fn apply(&self, present: &T, default: T) -> T {
        match self {
            Self::Leave => present.clone(),
            Self::Clear => default,
            Self::Replace(value) => value.clone(),
        }
    }
}

/// A change of [`Options`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionsChange {
    /// The hosts that a runtime reaches without a rule.
    pub outside: Change<OutsideMode>,
    /// Hosts that are allowed.
    pub allow: Change<Vec<String>>,
    /// Hosts that are denied.
    pub deny: Change<Vec<String>>,
    /// Addresses that are allowed although they are not public.
    pub private: Change<Vec<String>>,
    /// Rules about HTTP requests.
    pub http: Change<Vec<HttpRule>>,
    /// The secrets.
    pub secrets: Change<Vec<SecretEntry>>,
    /// Further authorities.
    pub authorities: Change<Vec<String>>,
    /// DNS servers.
    pub dns_servers: Change<Vec<String>>,
    /// Names with fixed addresses.
    pub dns_hosts: Change<Vec<DnsHost>>,
    /// The address of the host machine from which connections are opened.
    pub local_address: Change<Option<String>>,
    /// The proxy through which connections are opened.
    pub proxy: Change<Option<String>>,
    /// The limits.
    pub limits: LimitsChange,
}

/// A change of [`Limits`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitsChange {
    /// The largest number of flows.
    pub connections: Change<u32>,
    /// The largest number of connections that are not established yet.
    pub connecting: Change<u32>,
    /// The rate of new connections.
    pub connects_per_second: Change<u32>,
    /// The largest number of new connections at once.
    pub connects_burst: Change<u32>,
    /// The rate of bytes in each direction.
    pub bytes_per_second: Change<u64>,
    /// The bytes of both directions. `Clear` and `Replace(None)` mean no limit.
    pub bytes: Change<Option<u64>>,
}

impl Options {
    /// Returns the changed options.
    pub fn changed(&self, change: &OptionsChange) -> Self {
        Self {
            outside: change.outside.apply(&self.outside, OutsideMode::default()),
            allow: change.allow.apply(&self.allow, Vec::new()),
            deny: change.deny.apply(&self.deny, Vec::new()),
            private: change.private.apply(&self.private, Vec::new()),
            http: change.http.apply(&self.http, Vec::new()),
            secrets: change.secrets.apply(&self.secrets, Vec::new()),
            authorities: change.authorities.apply(&self.authorities, Vec::new()),
            dns_servers: change.dns_servers.apply(&self.dns_servers, Vec::new()),
            dns_hosts: change.dns_hosts.apply(&self.dns_hosts, Vec::new()),
            local_address: change.local_address.apply(&self.local_address, None),
            proxy: change.proxy.apply(&self.proxy, None),
            limits: self.limits.changed(&change.limits),
        }
    }
}

impl Limits {
    /// Returns the changed limits.
    pub fn changed(&self, change: &LimitsChange) -> Self {
        let default = Self::default();
        Self {
            connections: change.connections.apply(&self.connections, default.connections),
            connecting: change.connecting.apply(&self.connecting, default.connecting),
            connects_per_second: change.connects_per_second.apply(&self.connects_per_second, default.connects_per_second),
            connects_burst: change.connects_burst.apply(&self.connects_burst, default.connects_burst),
            bytes_per_second: change.bytes_per_second.apply(&self.bytes_per_second, default.bytes_per_second),
            bytes: change.bytes.apply(&self.bytes, default.bytes),
        }
    }
}
