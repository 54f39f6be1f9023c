//! Messages about runtimes: their creation, their end, and the use of their limits.

use coldframe_ids::{FileSystemId, Pid, RuntimeId};
use serde::{Deserialize, Serialize};

use super::{Binding, Empty, OutsideOptions, Permissions, RestoredProgram};
use crate::declare::{events, requests};
use crate::maps::{Blobs, Numbers, Pairs};

requests! {
    /// Requests about whole runtimes.
    pub enum RuntimeRequest<'a> {
        /// Makes a runtime, new or from a snapshot.
        RuntimeCreate(RuntimeCreate<'a>) = 11 "runtime.create" -> RuntimeCreated<'a>,
        /// Ends a runtime and every program in it.
        RuntimeDispose(RuntimeDispose) = 12 "runtime.dispose" -> Empty,
        /// Returns the present and the highest use of a runtime's limits.
        RuntimeResources(RuntimeResources) = 65 "runtime.resources" -> RuntimeUsage<'a>,
    }
}

events! {
    EVENTS {
        /// The use of a limit has reached 80 % of the limit. The frame's id is 0. The sidecar sends
        /// warnings only for runtimes that were created with `warn`.
        LimitWarning(LimitWarning<'a>) = 64 "limit.warning",
    }
}

/// `runtime.create`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RuntimeCreate<'a> {
    /// The environment of the runtime's processes. With `snapshot`, variables that extend or
    /// replace the snapshot's environment.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Pairs<'a>>,
    /// The working directory of the runtime's processes. Default with `snapshot`: the snapshot's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
    /// Limits by name. A named limit replaces the limit of `profile` or of the snapshot.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Numbers<'a>>,
    /// The set of limits for names that `limits` omits: `default` or `hardened`. Default with
    /// `snapshot`: the snapshot's limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<&'a str>,
    /// Whether the sidecar sends `limit.warning`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn: Option<bool>,
    /// Files that exist from the start, by absolute guest path. Ignored with `snapshot`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Blobs<'a>>,
    /// Mounts that exist from the start. A mount that contains another mount precedes that mount.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub mounts: Option<Vec<Mount<'a>>>,
    /// The permissions of the runtime's programs. Default with `snapshot`: the snapshot's
    /// permissions.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions<'a>>,
    /// The policy for connections out of the runtime. Omitted: no connection leaves the runtime.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideOptions<'a>>,
    /// Bindings that exist from the start.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub bindings: Option<Vec<Binding<'a>>>,
    /// The snapshot that the runtime is restored from: an id, a name, or the beginning of a digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<&'a str>,
    /// The owner of the runtime. Default: the tenant `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<&'a str>,
    /// The share of processor time relative to other runtimes, 1 to 10,000. Default: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u64>,
}

/// An entry of `mounts`: a host directory, or an app file system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Mount<'a> {
    /// The mount point in the guest.
    pub guest_path: &'a str,
    /// The directory on the host machine. Empty for an app file system.
    pub host_path: &'a str,
    /// Whether every change by the guest fails with `EROFS`.
    pub read_only: bool,
    /// Whether the host directory is never written and the guest's changes stay in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay: Option<bool>,
    /// The id of the app file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<FileSystemId>,
}

/// The reply to `runtime.create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RuntimeCreated<'a> {
    /// The new runtime.
    pub runtime: RuntimeId,
    /// The time in which the sidecar made the runtime, in nanoseconds.
    pub configure_ns: u64,
    /// The programs, the working directory and the permissions of a restored runtime. Omitted for a
    /// new runtime.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Restored<'a>>,
}

/// `restored` of the reply to `runtime.create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restored<'a> {
    /// Resident runners, and programs that a request can attach to.
    pub programs: Vec<RestoredProgram>,
    /// The default working directory of programs.
    pub cwd: &'a str,
    /// The permissions of programs.
    #[serde(borrow)]
    pub permissions: Permissions<'a>,
    /// The secrets of the snapshot and of the request.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<RestoredSecret<'a>>>,
}

/// A secret of a restored runtime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestoredSecret<'a> {
    /// The name.
    pub name: &'a str,
    /// The hosts that may receive the value.
    #[serde(borrow)]
    pub hosts: Vec<&'a str>,
}

/// `runtime.dispose`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeDispose {
    /// The runtime.
    pub runtime: RuntimeId,
}

/// `runtime.resources`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeResources {
    /// The runtime.
    pub runtime: RuntimeId,
}

/// The reply to `runtime.resources`. The first four lists have one length and one order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RuntimeUsage<'a> {
    /// Names of limits.
    #[serde(borrow)]
    pub limits: Vec<&'a str>,
    /// The present use of each limit.
    pub used: Vec<u64>,
    /// The highest use of each limit so far.
    pub high: Vec<u64>,
    /// The bound of each limit.
    pub max: Vec<u64>,
    /// The number of open descriptors of all processes.
    pub descriptors: u64,
    /// The number of pending operations of all processes.
    pub operations: u64,
    /// The number of processes that wait for a timer.
    pub timers: u64,
    /// The CPU time of all processes, in milliseconds.
    pub cpu_ms: u64,
    /// The number of bytes that wait in pipes, sockets and standard streams.
    pub buffered_bytes: u64,
}

/// `limit.warning`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitWarning<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The name of the limit.
    pub limit: &'a str,
    /// The present use.
    pub used: u64,
    /// The bound of the limit.
    pub max: u64,
    /// The process whose use is reported. Omitted for a limit of the whole runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<Pid>,
}
