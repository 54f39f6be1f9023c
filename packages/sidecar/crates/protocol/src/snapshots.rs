//! Messages about snapshots: runtimes as values, and the store that keeps them. `snapshot` is an id, a digest or a name; a tenant sees its own alone.

use serde::{Deserialize, Serialize};

use crate::maps::Pairs;
use crate::messages::{Binding, Failure, Mount, PermissionsPolicy, Stream};

/// `snapshot.take`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SnapshotTake<'a> {
    /// Of which runtime.
    pub runtime: u32,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// What the caller wants to remember of it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Pairs<'a>>,
    /// Whether it is written to disk before it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<bool>,
    /// How long programs may take to come to a quiet point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// `runtime.rollback`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeRollback<'a> {
    /// The runtime.
    pub runtime: u32,
    /// To which of its tenant's snapshots.
    pub snapshot: &'a str,
}

/// `runtime.clone`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RuntimeClone<'a> {
    /// The runtime.
    pub runtime: u32,
    /// How many copies of it.
    pub count: u32,
    /// How long programs may take to come to a quiet point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether copies that can be made stay when another cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<bool>,
    /// Whether the copies send `limit.warning`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn: Option<bool>,
    /// The mounts of the runtime, for the copies.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub mounts: Option<Vec<Mount<'a>>>,
    /// What programs may call from the first moment on.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub bindings: Option<Vec<Binding<'a>>>,
}

/// `runtime.pause`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RuntimePause {
    /// The runtime.
    pub runtime: u32,
    /// How long programs may take to come to a quiet point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What it sleeps on is of no use without this sidecar: when that has ended, it may make room for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary: Option<bool>,
}

/// `runtime.resume`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeResume<'a> {
    /// The runtime.
    pub runtime: u32,
    /// Whether it sends `limit.warning`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn: Option<bool>,
    /// Its mounts.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub mounts: Option<Vec<Mount<'a>>>,
    /// What programs may call from the first moment on.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub bindings: Option<Vec<Binding<'a>>>,
}

/// `snapshot.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotList<'a> {
    /// Whose.
    pub tenant: &'a str,
    /// Those that follow this one, which came last in the reply before.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub after: Option<SnapshotPlace<'a>>,
}

/// A snapshot's place in a list, which is there when the snapshot is not any more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SnapshotPlace<'a> {
    /// Milliseconds since 1970.
    pub created_ms: u64,
    /// Its id.
    pub id: &'a str,
}

/// `snapshot.get`, `snapshot.delete`, `snapshot.persist` and `snapshot.digest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotNamed<'a> {
    /// Whose.
    pub tenant: &'a str,
    /// Which of them.
    pub snapshot: &'a str,
}

/// `snapshot.export`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotExport<'a> {
    /// Whose.
    pub tenant: &'a str,
    /// Which of them.
    pub snapshot: &'a str,
    /// The file on the host.
    pub path: &'a str,
}

/// `snapshot.import`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotImport<'a> {
    /// Whose it will be.
    pub tenant: &'a str,
    /// The file on the host.
    pub path: &'a str,
}

/// `process.attach`: answered as `process.start` is, when the program has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessAttach {
    /// The runtime.
    pub runtime: u32,
    /// Which of its programs.
    pub pid: u32,
    /// Which descriptors are sent on while it runs; what was captured so far comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
}

/// Where a snapshot lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stored {
    /// In the sidecar's memory.
    Memory,
    /// In a file.
    Disk,
    /// In both.
    Both,
}

/// The reply to `snapshot.take`, `snapshot.get`, `snapshot.import` and `runtime.pause`, and an entry of that to `snapshot.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SnapshotEntry<'a> {
    /// Its id.
    pub id: &'a str,
    /// That of the snapshot from which its runtime had come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<&'a str>,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// What the caller wants to remember of it.
    #[serde(borrow)]
    pub labels: Pairs<'a>,
    /// Whose it is.
    pub tenant: &'a str,
    /// Milliseconds since 1970.
    pub created_ms: u64,
    /// The content hash of the guest image that it needs.
    pub image: &'a str,
    /// Bytes that it has for itself.
    pub size: u64,
    /// Programs that live in it.
    pub programs: u32,
    /// Where it lies.
    pub stored: Stored,
}

/// The reply to `snapshot.list`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotEntries<'a> {
    /// The tenant's, the oldest first.
    #[serde(borrow)]
    pub snapshots: Vec<SnapshotEntry<'a>>,
    /// What lies in its folder and cannot be used. Told once, with the first ones.
    #[serde(borrow)]
    pub damaged: Vec<DamagedSnapshot<'a>>,
    /// Whether others follow that did not fit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// Something on disk that is no snapshot, or no longer one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DamagedSnapshot<'a> {
    /// The file.
    pub path: &'a str,
    /// What is wrong with it.
    pub reason: &'a str,
}

/// The reply to `snapshot.digest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotDigest<'a> {
    /// SHA-256 of what it holds, in hex.
    pub digest: &'a str,
}

/// A program that goes on in a runtime that came from a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestoredProgram {
    /// Its number in the runtime.
    pub pid: u32,
    /// The number of the runner, of one that is resident.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<u32>,
}

/// The reply to `runtime.rollback` and `runtime.resume`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestoredPrograms {
    /// The runners that there are now, and the programs that can be attached to.
    pub programs: Vec<RestoredProgram>,
}

/// `restored` of the reply to `runtime.create`: what the snapshot has brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restored<'a> {
    /// The runners that there are now, and the programs that can be attached to.
    pub programs: Vec<RestoredProgram>,
    /// The working directory of programs that are started.
    pub cwd: &'a str,
    /// What programs may do.
    #[serde(borrow)]
    pub permissions: PermissionsPolicy<'a>,
}

/// An entry of the reply to `runtime.clone`: a runtime, or why there is none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeCopy<'a> {
    /// Its number from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<u32>,
    /// Its runners, and the programs that can be attached to.
    #[serde(default)]
    pub programs: Vec<RestoredProgram>,
    /// Why it could not be made.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure<'a>>,
}

/// The reply to `runtime.clone`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeCopies<'a> {
    /// As many as were asked for.
    #[serde(borrow)]
    pub copies: Vec<RuntimeCopy<'a>>,
}
