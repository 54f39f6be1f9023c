//! Messages about the values of a runtime's secrets. Values are sealed for the edge process, so the
//! sidecar passes on bytes that it cannot read.

use coldframe_ids::RuntimeId;
use serde::{Deserialize, Serialize};

use super::{Empty, InRuntime};
use crate::declare::{events, requests};

requests! {
    /// Messages about the values of a runtime's secrets.
    pub enum SecretsRequest<'a> {
        /// Requests a key for one message of values.
        SecretsKey(InRuntime) = 96 "secrets.key" -> SecretsKey<'a>,
        /// Passes sealed values to the edge process.
        SecretsPut(SecretsPut<'a>) = 97 "secrets.put" -> Empty,
    }
}

events! {
    EVENTS {
        /// The edge process needs the values of a runtime's secrets. The frame's id is 0.
        SecretsWanted(InRuntime) = 98 "secrets.wanted",
    }
}

/// The reply to `secrets.key`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretsKey<'a> {
    /// The public key (X25519) of the edge process. Omitted if no edge process has the runtime. The
    /// sidecar then sends `secrets.wanted` with the first use.
    #[serde(borrow, default, with = "serde_bytes", skip_serializing_if = "Option::is_none")]
    pub key: Option<&'a [u8]>,
}

/// `secrets.put`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretsPut<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The key of `secrets.key`.
    #[serde(with = "serde_bytes")]
    pub key: &'a [u8],
    /// The values, sealed to the key with HPKE (RFC 9180).
    #[serde(with = "serde_bytes")]
    pub sealed: &'a [u8],
}
