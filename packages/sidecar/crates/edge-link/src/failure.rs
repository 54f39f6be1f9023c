//! Failures and decisions. Next: `event.rs`.

use serde::{Deserialize, Serialize};

/// The failure of a request or of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The facts.
    pub kind: FailureKind,
    /// A sentence for a developer.
    pub message: String,
}

/// The facts of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureKind {
    /// The operating system's error number (positive), such as `ECONNREFUSED`.
    Errno(i32),
    /// The code of a failed look-up: `ENOTFOUND`, `EAI_AGAIN` or `EAI_FAIL` for `LookUp`, a code of
    /// c-ares such as `ENODATA` and `ESERVFAIL` for `Query`.
    Dns(String),
    /// The policy refuses the look-up or the connection.
    Denied(Denied),
    /// A limit of the runtime is reached: `connections`, `connecting`, `connectsPerSecond`,
    /// `bytes`, `scan`, `lookups`, `wildcardNames`, `wildcardBytes`, `pins`.
    Limit {
        /// The name of the limit.
        name: String,
    },
    /// An entry of the options cannot take effect. The former policy is in force.
    InvalidEntry {
        /// `allow`, `deny`, `private`, `http`, `dns.servers` or `dns.hosts`.
        list: String,
        /// The index in the list.
        index: u32,
        /// The entry, at most 100 characters.
        entry: String,
        /// The expected form.
        fault: String,
    },
    /// Another value of the request is wrong.
    Invalid {
        /// The value: `runtime`, `url`, or a field of the options.
        what: String,
        /// The expected form.
        expected: String,
        /// The received value, at most 100 characters.
        received: String,
    },
}

/// A refusal by the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    /// `not-allowed`, `denied`, `port`, `private-address`, `name-not-pinned`, `special-name`,
    /// `invalid-name`, `method`, `path`, `invalid-path`, `host`, `malformed-request`,
    /// `secret-missing`, `secret-too-long`, `upgrade`, `rules-changed`, `sni`, `opaque-tls`,
    /// `handler-failed`, `handler-timeout`, `limit`.
    pub reason: String,
    /// The rule that denies, for `denied`.
    pub rule: Option<Rule>,
    /// The name of the host, if the name is known.
    pub host: Option<String>,
    /// A further fact of the reason, such as `link-local` for `private-address`.
    pub detail: Option<String>,
}

/// A rule of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// `allow`, `deny` or `private`.
    pub list: String,
    /// The index in the list.
    pub index: u32,
    /// The entry.
    pub entry: String,
}

/// The result of a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decision {
    /// The connection is allowed.
    Allowed {
        /// The rule that allows. `None` if `outside: 'public'` allows.
        rule: Option<Rule>,
    },
    /// The connection is refused.
    Refused(Denied),
}
