//! What the sidecar sends: its `hello`, failures, output, and the replies that belong to no family of their own. `messages.rs` has the requests.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::maps::Details;
use crate::snapshots::Restored;

/// `hello` of the sidecar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SidecarHello<'a> {
    /// The sidecar's version.
    pub version: &'a str,
    /// Its process.
    pub pid: u32,
    /// The content hash of the guest image.
    pub image: &'a str,
    /// Nanoseconds that loading the precompiled module took.
    pub load_ns: u64,
}

/// `error`, and the `failure` of an outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure<'a> {
    /// The stable code.
    #[serde(borrow)]
    pub code: Cow<'a, str>,
    /// A sentence for people; never parsed.
    #[serde(borrow)]
    pub message: Cow<'a, str>,
    /// The facts by name.
    pub details: Details,
}

/// `output`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output<'a> {
    /// 1 or 2.
    pub fd: u8,
    /// What was written, at most [`MAX_OUTPUT_BYTES`].
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
}

/// The reply to `runtime.create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RuntimeCreated<'a> {
    /// Its number from now on.
    pub runtime: u32,
    /// Nanoseconds that it took.
    pub configure_ns: u64,
    /// What came with the snapshot that it goes on from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Restored<'a>>,
}

/// Nanoseconds spent in each step of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(missing_docs, reason = "the core's `Timings` documents them")]
pub struct Timings {
    pub memory_map_ns: u64,
    pub instantiate_ns: u64,
    pub guest_start_ns: u64,
    pub guest_run_ns: u64,
}

/// The reply to `process.start` and `runner.eval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Outcome<'a> {
    /// How the program ended.
    pub exit_code: i32,
    /// Captured output of descriptor 1.
    #[serde(borrow, with = "serde_bytes")]
    pub stdout: &'a [u8],
    /// Captured output of descriptor 2.
    #[serde(borrow, with = "serde_bytes")]
    pub stderr: &'a [u8],
    /// The JSON text that it handed back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<&'a str>,
    /// Why the sandbox ended it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure<'a>>,
    /// More was written than captured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stdout_truncated: bool,
    /// More was written than captured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stderr_truncated: bool,
    /// Where the time went.
    pub timings: Timings,
}

/// The reply to `resources`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(missing_docs, reason = "the core's `Resources` documents them")]
pub struct Resources {
    pub runtimes: u64,
    pub processes: u64,
    pub warm_slots: u64,
    pub memory_bytes: u64,
    pub buffered_bytes: u64,
}
