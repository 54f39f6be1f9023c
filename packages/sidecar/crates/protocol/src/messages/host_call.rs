//! Host calls: requests of a runtime's programs to the embedder. `bindings.set` declares the
//! bindings that programs may call.
//!
//! The id of a `host.*` message is the number of the call in its runtime. The sidecar counts the
//! calls of each runtime. The numbers are independent of the ids of requests.

use std::borrow::Cow;

use coldframe_ids::{Pid, RuntimeId};
use serde::{Deserialize, Serialize};

use super::Empty;
use crate::declare::{events, requests};

requests! {
    /// Messages about host calls and bindings.
    pub enum HostCallRequest<'a> {
        /// The result of a host call. The SDK sends at most one result for each call, also after
        /// `host.cancel`.
        HostResult(HostResult<'a>) = 41 "host.result",
        /// Replaces the bindings of a runtime.
        BindingsSet(BindingsSet<'a>) = 43 "bindings.set" -> Empty,
    }
}

events! {
    EVENTS {
        /// A program calls a service of the embedder.
        HostCall(HostCall<'a>) = 40 "host.call",
        /// The calling program has ended or has cancelled the call.
        HostCancel(HostCancel) = 42 "host.cancel",
    }
}

/// `host.call`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCall<'a> {
    /// The runtime of the program.
    pub runtime: RuntimeId,
    /// The calling process.
    pub pid: Pid,
    /// The service of the SDK: `binding`, `binding.describe` or `filesystem`.
    pub service: &'a str,
    /// The name of the binding, or of the app file system's operation.
    pub name: &'a str,
    /// The input of the call, in the format of the service.
    #[serde(borrow, with = "serde_bytes")]
    pub input: &'a [u8],
}

/// `host.result`: either `ok` or `failure`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostResult<'a> {
    /// The runtime of the calling program.
    pub runtime: RuntimeId,
    /// The result of the call, in the format of the service.
    #[serde(borrow, default, with = "serde_bytes", skip_serializing_if = "Option::is_none")]
    pub ok: Option<&'a [u8]>,
    /// The reason of the failure.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<HostFailure<'a>>,
}

/// `failure` of `host.result`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostFailure<'a> {
    /// The name of a Linux error number. The guest's call fails with `EIO` for any other code.
    #[serde(borrow)]
    pub code: Cow<'a, str>,
    /// A sentence for people.
    #[serde(borrow)]
    pub message: Cow<'a, str>,
}

/// `host.cancel`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCancel {
    /// The runtime of the calling program.
    pub runtime: RuntimeId,
}

/// `bindings.set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindingsSet<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// All bindings that the runtime has from now on.
    #[serde(borrow)]
    pub bindings: Vec<Binding<'a>>,
}

/// An entry of `bindings`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Binding<'a> {
    /// The name.
    pub name: &'a str,
    /// The commands that call the binding.
    #[serde(borrow)]
    pub commands: Vec<&'a str>,
    /// The largest input of one call, in bytes.
    pub input_bytes: u64,
}
