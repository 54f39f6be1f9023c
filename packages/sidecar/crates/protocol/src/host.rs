//! Messages in which the sidecar asks the SDK: what a runtime's programs want of the caller. `id` is the call's number in its runtime, not a
//! request's: both sides count on their own. And what a runtime may ask for by name.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// `host.call`. Answered once, with `host.result`, also when it was cancelled meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCall<'a> {
    /// The runtime that asks.
    pub runtime: u32,
    /// The process in it.
    pub pid: u32,
    /// Which of the SDK's services is meant.
    pub service: &'a str,
    /// What is called in it.
    pub name: &'a str,
    /// What it is given.
    #[serde(borrow, with = "serde_bytes")]
    pub input: &'a [u8],
}

/// `host.result`: one of `ok` and `failure`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostResult<'a> {
    /// The runtime that asked.
    pub runtime: u32,
    /// What came of it.
    #[serde(borrow, default, with = "serde_bytes", skip_serializing_if = "Option::is_none")]
    pub ok: Option<&'a [u8]>,
    /// Why nothing came of it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<HostFailure<'a>>,
}

/// `failure` of `host.result`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostFailure<'a> {
    /// The name of a Linux error number, where one says it.
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
    /// The runtime that had asked.
    pub runtime: u32,
}

/// `bindings.set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindingsSet<'a> {
    /// Which runtime.
    pub runtime: u32,
    /// All that it has from now on.
    #[serde(borrow)]
    pub bindings: Vec<Binding<'a>>,
}

/// An entry of `bindings.set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Binding<'a> {
    /// Its name.
    pub name: &'a str,
    /// The commands that call it.
    #[serde(borrow)]
    pub commands: Vec<&'a str>,
    /// Bytes of input that one call may have.
    pub input_bytes: u64,
}
